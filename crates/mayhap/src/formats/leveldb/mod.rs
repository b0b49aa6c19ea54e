//! LevelDB's filters: single ones, the filter blocks of its tables, the table files; and badger's and corekv's.
//!
//! | to | use |
//! |---|---|
//! | make a filter of some keys, appended to a buffer | [`BloomPolicy::create_filter`] |
//! | ask a filter one question where it stands | [`BloomPolicy::key_may_match`] |
//! | ask it many, in batches | [`LevelDbFilter::view`] |
//! | fill a filter one by one, or extend one | [`LevelDbFilter`] |
//! | make or ask the filter block of a table | [`FilterBlockBuilder`], [`FilterBlock`] |
//! | ask a `.ldb` file | [`Table::filter`] |
//! | size a filter as badger or corekv does | [`badger`] |
//!
//! # A filter
//!
//! ```text
//! bits     ⌈max(64, keys · bits per key) / 8⌉ bytes; bit p is bit p mod 8 of byte p div 8
//! hashes   1 byte: k = ⌊bits per key · 0.69⌋, from 1 to 30
//! ```
//!
//! For each key, h is its [hash] of 32 bits and d is h rotated right by 17; its k bits are h mod m, h + d mod m,
//! h + 2d mod m …, where m is 8 times the bytes and the sums wrap at 2³². Nothing else is stored: neither the number of
//! keys nor the bits per key, which k doesn't tell (6 hashes are those of 9 and 10 bits per key).
//!
//! A last byte above 30 is kept for encodings to come, and matches every key. So does 0, which nobody writes. Less than
//! two bytes match none. There is no magic number and no checksum: any bytes are a filter.
//!
//! # The filter block
//!
//! LevelDB doesn't make one filter for a table, but one for each 2 KiB of the file's data, counted by where a data block
//! begins:
//!
//! ```text
//! filters       one after the other; none for a range in which no block begins
//! starts        u32 each, little-endian: where filter i begins. It ends where the next begins
//! starts at     u32: where the starts begin
//! lg            1 byte: 11. Filter i is for data blocks that begin at offsets i·2¹¹ to (i + 1)·2¹¹ − 1
//! ```
//!
//! To ask it one must know the block in which the key would be; the table's index says that. With the usual blocks of
//! 4 KiB every other filter is empty, and each of the others has the keys of one block: some forty. A filter is never
//! shorter than 9 bytes.
//!
//! # The table file
//!
//! ```text
//! block         its bytes; 1 byte: 0 as it is, 1 Snappy, 2 Zstandard; u32: CRC-32C of both, rotated right by 15, plus 0xa282ead8
//! …             data blocks, filter block (never compressed), metaindex, index
//! footer        varints: offset and size of the metaindex, of the index; zeros up to 40 bytes; magic number 0xdb4775248b80fb57
//! ```
//!
//! The metaindex has the key `filter.leveldb.BuiltinBloomFilter2` for the filter block. Both it and the index are
//! [sorted blocks](SortedBlock). [`Table`] reads them as they are or compressed by Snappy; of Zstandard, which LevelDB offers
//! since 1.24, it says that it doesn't know it. Checksums are compared before anything is read. In a database's tables 8
//! bytes follow each user's key, its sequence number and type. The filters don't have them.
//!
//! # Traps
//!
//! **Bits per key, not a rate.** k is cut, not rounded: 10 bits get 6 hashes where 7 would be best. That costs little
//! (0.84 % instead of 0.82 %) and less time.
//!
//! **Keys that come twice count twice**, in the size of the filter: versions of one key make it larger.
//!
//! **The same name, another number**: badger's and corekv's functions from a rate to bits per key differ; see [`badger`].
//!
//! **Overfilled**, a filter's rate rises as any Bloom filter's does. LevelDB never overfills one, because it has the keys
//! before it makes the filter; who fills a [`LevelDbFilter`] one by one can.
//!
//! # The 32-bit hash
//!
//! The recipe is made for the forty keys of a block. In filters of whole tables, as badger has them, it is worse than its
//! bits. With random keys, measured on 2 million absent ones each:
//!
//! | keys | 7 bits per key | 10 | 14 | 20 |
//! |---:|---:|---:|---:|---:|
//! | 10 thousand | 3.8 % | 0.90 % | 0.13 % | 0.0076 % |
//! | 100 thousand | 5.1 % | 1.45 % | 0.18 % | 0.014 % |
//! | 1 million | 5.5 % | 1.30 % | 0.22 % | 0.040 % |
//! | 10 million | 4.8 % | 1.22 % | 0.37 % | 0.24 % |
//! | by the formula | 3.6 % | 0.84 % | 0.12 % | 0.0068 % |
//!
//! There are two reasons. Ten million random keys take one in 430 of all 2³² hashes, so that 0.23 % of others have the
//! hash of a member, however large the filter. And the third bit is hardly one: rotating by 17 is multiplying by 2¹⁵ modulo 2³² − 1,
//! so h + 2d is h · 65537 modulo 65535 · 65537: one of 65535 multiples of 65537, less a carry of up to two. From some
//! hundred thousand keys on nearly all of these are set, and the bit tells nothing.
//! [`estimated_len`](LevelDbFilter::estimated_len) and [`expected_rate`](LevelDbFilter::expected_rate) know nothing of this
//! and come out low: 860 thousand, and 0.43 %, for the million keys of 10 bits. Beyond 2³² bits nothing is set at all;
//! [`Flavour`] tells what happens there.
//!
//! **The hash is public and without a secret**: whoever chooses keys can choose them so that a filter finds them all, or
//! that all set the same bits. Where strangers choose keys, use a filter of this crate with a
//! [secret key](crate::hash::SecretKey).
//!
//! # Checked against
//!
//! LevelDB 1.23: filters, hashes, filter blocks and table files, byte for byte, and its answers to malformed filters.
//! badger at 34dba21b. RocksDB's filters, its tables and their footer are others, though it began as LevelDB.

pub mod badger;
mod buffer;
mod crc32c;
mod filter;
mod filter_block;
mod hash;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod policy;
mod probe;
mod recipe;
mod snappy;
mod sorted_block;
mod table;
mod table_filter;

pub use filter::LevelDbFilter;
pub use filter_block::{FilterBlock, FilterBlockBuilder};
pub use hash::{SEED, hash, hash_key};
pub use policy::BloomPolicy;
pub use recipe::{Flavour, LevelDb, Remainder};
pub use sorted_block::{Entries, Entry, SortedBlock};
pub use table::{BlockHandle, Table};
pub use table_filter::TableFilter;
