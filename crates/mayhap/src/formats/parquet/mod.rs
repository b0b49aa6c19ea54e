//! Parquet's split-block Bloom filter, and finding it in a `.parquet` file.
//!
//! A column of a Parquet file may carry a filter for each row group: whoever looks for one value reads a few hundred
//! bytes, and leaves out the row groups that say no. A [`SplitBlockBloom`] holds the same bits for the same values as
//! the writers of Parquet, and is written as the same bytes; [`ParquetFooter`] finds the filters in a file.
//!
//! ```
//! use mayhap::formats::parquet::SplitBlockBloom;
//!
//! let mut filter = SplitBlockBloom::with_rate(1_000, 0.01)?;
//! filter.insert("apple"); // a BYTE_ARRAY
//! filter.insert(&7i64); // an INT64
//! filter.insert(&1.5f64.to_le_bytes()); // a DOUBLE
//! let bytes = filter.to_bytes()?; // as they stand in a file
//! assert!(SplitBlockBloom::view(&bytes)?.contains("apple"));
//! # Ok::<(), mayhap::Error>(())
//! ```
//!
//! # From value to bits
//!
//! A value is its bytes in Parquet's plain encoding, without the length of a `BYTE_ARRAY`; numbers are little-endian.
//! Its hash is XXH64 with seed 0. The filter is a row of Z blocks of eight words of 32 bits. The hash's upper half chooses
//! the block, its lower half, x, one bit in each word:
//!
//! ```text
//! hash   ┌────────── upper ──────────┬────────────── x ──────────────┐
//!        └───────────────────────────┴───────────────────────────────┘
//! block = upper · Z / 2³²              bit of word i = (x · salt[i] mod 2³²) / 2²⁷
//!
//! block  │ word 0 │ word 1 │ word 2 │ word 3 │ word 4 │ word 5 │ word 6 │ word 7 │    32 bytes, words little-endian
//! salt   47b6137b 44974d91 8824ad5b a2b7289d 705495c7 2df1424b 9efc4947 5c6bfb31
//! ```
//!
//! One question touches half a cache line, whatever the rate. In exchange the rate is higher than that of a filter whose
//! bits lie anywhere: 1.3 % at 10 bits a key where [`ClassicBloom`](crate::ClassicBloom) has 0.8 %.
//!
//! # The bytes
//!
//! A header in Thrift's compact encoding, and the blocks. The header has four fields, of which only the number of bytes
//! ever differs:
//!
//! ```text
//! 15 ‹numBytes: zigzag varint›    field 1, i32: the length of the blocks, a multiple of 32
//! 1c 1c 00 00                     field 2, union: its field 1, an empty struct (BLOCK)
//! 1c 1c 00 00                     field 3, union: its field 1, an empty struct (XXHASH)
//! 1c 1c 00 00                     field 4, union: its field 1, an empty struct (UNCOMPRESSED)
//! 00                              the end
//! ```
//!
//! In a file it stands where the column's metadata says (`bloom_filter_offset`, field 14, and `bloom_filter_length`,
//! field 15, which old writers left out). The metadata is the file's footer, again in Thrift's compact encoding:
//!
//! ```text
//! PAR1 │ pages … filters … │ FileMetaData │ its length, u32 little-endian │ PAR1
//! ```
//!
//! [`ParquetFooter`] reads the few fields that lead to the filters and passes over all others. There is a crate,
//! `parquet`, that reads everything else, too; for this one purpose it would bring in more code than the rest of mayhap.
//! Nothing is allocated by a length that a file claims, lists and structs may nest only so deep, and encrypted files are
//! refused by name.
//!
//! ```no_run
//! use mayhap::{ReadOptions, formats::parquet::ParquetFooter};
//!
//! let mut file = std::fs::File::open("users.parquet")?;
//! let footer = ParquetFooter::read(&mut file, &ReadOptions::new())?;
//! for chunk in footer.column("address.city") {
//!     // A row group without a filter may hold anything.
//!     let filter = chunk.read_filter(&mut file, &ReadOptions::new())?;
//!     if filter.is_none_or(|filter| filter.contains("Lisboa")) {
//!         println!("look into row group {}", chunk.row_group());
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Sizes and folding
//!
//! The crate `parquet` makes filters of a power of two of bytes, 32 bytes to 128 MiB:
//! ⌊⌊−8n / ln(1 − p^⅛)⌋ / 8⌋ bytes, rounded up ([`SplitBlockBloom::optimal_bytes`]); pyarrow chose the same sizes. The
//! formula is that of a filter whose bits lie anywhere: where there is next to nothing to round up, 1 % becomes 1.5 %.
//!
//! A filter may be larger than its values need, because nobody knew how many would come. As the block is chosen by
//! multiplication, OR-ing blocks 2i and 2i + 1 gives the filter of half the size, exactly as if it had been made so:
//! [`fold`](SplitBlockBloom::fold). Writers with version 60 of the crate fold before they write, as
//! [`fold_to_rate`](SplitBlockBloom::fold_to_rate) does. Readers need not know.
//!
//! # Checked against
//!
//! The crate `parquet` 60.1.0: bits, answers, headers, sizes, folding and its `estimated_fpp` to the last bit; whole files
//! of that crate and of pyarrow 26.0.1.
//!
//! # Traps
//!
//! - **The width of a key counts.** An `INT64` column must be asked with an `i64`, an `INT32` one with an `i32`; with the
//!   other, every answer is a "no" that is wrong. [`PhysicalType::key_bytes`] tells the width; logical types (dates,
//!   decimals, small integers) are stored as their physical one, and [`ColumnChunk::logical_type`] tells what they mean:
//!   a UUID is asked for by its 16 bytes, a decimal by its digits without the point. A zero and a negative zero are different doubles.
//! - **128 MiB is the end** of the crate's sizes, for about 110 million values at 1 %. More values get the same filter,
//!   without a word: 200 million have a rate of 14 %, a thousand million one of 99.5 %. Overfilled by less, it is the same
//!   story: nothing fails, the rate rises. [`expected_rate`](SplitBlockBloom::expected_rate) tells.
//! - **`estimated_fpp` is low**: it takes all blocks for equally full, and they aren't. `expected_rate` goes through them:
//!   0.12 % where the other says 0.05 %, for 1000 values in 2 KiB.
//! - **A column that isn't there** has no chunks, and so no filter says no. Compare the name with
//!   [`ParquetFooter::columns`].
//! - **The seed is public**, and 0: whoever can choose values can find such that all answer "mayhap". Where keys come from
//!   strangers, use [`BloomFilter`](crate::BloomFilter) with a secret key.

mod blocks;
mod bytes;
mod column;
mod compact;
#[cfg(feature = "std")]
mod file;
mod filter;
mod fold;
mod footer;
mod header;
mod insert;
mod logical;

pub use blocks::SplitBlocks;
pub use column::{ColumnChunk, PhysicalType};
pub use filter::SplitBlockBloom;
pub use footer::ParquetFooter;
pub use logical::{LogicalType, TimeUnit};
