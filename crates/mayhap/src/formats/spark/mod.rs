//! Spark's `BloomFilter` (`org.apache.spark.util.sketch`), both versions of its stream.
//!
//! What `DataFrameStatFunctions.bloomFilter`, the runtime filters of Spark's joins and `BloomFilter.writeTo` make. A
//! [`SparkBloom`] holds the same bits for the same keys, gives the same answers and statistics, and writes the same
//! bytes.
//!
//! ```
//! use mayhap::formats::spark::{SparkBloom, SparkRecipe};
//!
//! let mut users = SparkBloom::with_rate(SparkRecipe::V2 { seed: 0 }, 1_000, 0.03)?;
//! users.insert(&42i64); // putLong(42)
//! users.insert("ada"); // putString("ada")
//! let stream = users.to_bytes()?; // writeTo(…)
//! assert!(SparkBloom::view(&stream)?.contains("ada"));
//! # Ok::<(), mayhap::Error>(())
//! ```
//!
//! # The stream
//!
//! Every number is big-endian and signed. Bit p is bit p mod 64, from the lowest, of word p div 64.
//!
//! ```text
//! version 1                                       version 2
//! offset  size                                    offset  size
//!      0     4  version: 1                             0     4  version: 2
//!      4     4  number of hashes (k)                   4     4  number of hashes (k)
//!      8     4  number of 64-bit words (W)             8     4  seed
//!     12  8·W  the words                              12     4  number of 64-bit words (W)
//!                                                     16  8·W  the words
//! ```
//!
//! The reader refuses other versions, a negative W, and a stream that ends early. It does not look at k: 0 and negative
//! ones are taken, and so is W = 0. They are taken here as well, keep their value, and are written back as they were.
//!
//! # From key to bits
//!
//! `h1 = hash(key, seed)` and `h2 = hash(key, h1)`, both by [`murmur3_32`], which is MurmurHash3 but for the last one to
//! three bytes of a key. The seed of version 1 is 0. In signed integers, with m = 64·W:
//!
//! ```text
//! version 1, 32 bits    c = h1                  k times:  c = c + h2;  position (c < 0 ? ~c : c) mod m
//! version 2, 64 bits    c = h1 · (2³¹ − 1)      k times:  c = c + h2;  position (c < 0 ? ~c : c) mod m
//! ```
//!
//! Sizes are those of Guava 31 ([`guava::Sizing::Guava31`](super::guava::Sizing::Guava31)): ⌊−n · ln p / (ln 2)²⌋ bits,
//! then rounded up to whole words. A number of bits that is given counts as it is for k, before it is rounded.
//!
//! # Checked against
//!
//! spark-sketch 4.3.0 (Spark 4.3, both versions; version 2 is what it makes) and 3.5.9 (Spark 3.5, version 1 only):
//! bytes, answers, what `put` returns, `cardinality`, `expectedFpp` to the last bit, merging, intersecting, sizes, and
//! streams made by hand.
//!
//! # Traps
//!
//! - **Integers are longs.** Spark widens every integer column: a `Byte`, `Short` or `Int` is hashed as eight bytes. Give
//!   an `i64`; an `i32` is another key here, and would not be found.
//! - **Version 1 reaches 2³¹ bits.** Its positions have 31 bits, so a larger filter leaves the rest empty and misses its
//!   rate; it has other weaknesses in large filters, too (SPARK-47547). Version 2 was made for that. The versions place
//!   keys differently, so each is read as what it says it is; their bits can't be combined.
//! - **Spark 4 reads ahead.** Its `readFrom(InputStream)` buffers up to 8 KiB of the caller's stream beyond the filter.
//!   [`SparkBloom::from_prefix`] leaves what follows to the caller.
//! - **A filter without bits** (W = 0) can be read, but Spark divides by zero when it is asked. Here it answers
//!   "mayhap" to every key, as one with k ≤ 0 does in Spark, too: no answer of "no" is ever wrong.
//! - **k is not checked.** One of 2³¹ − 1 in a stream from a stranger makes a question take seconds when all bits are set.
//!   Look at [`SparkBloom::hashes`] before you ask such a filter.
//! - **Overfilled**, it goes on and its rate rises: at twice the planned keys a filter for 3 % has 23 %.
//!   [`SparkBloom::expected_fpp`] says where it is.
//! - **The seed is public**, 0 unless somebody chose another, and it stands in the stream: whoever can choose keys can
//!   find such that all answer "mayhap". Where keys come from strangers, use [`BloomFilter`](crate::BloomFilter) with a
//!   secret key.

mod filter;
mod murmur;
mod recipe;
mod stream;
mod text;

pub use filter::SparkBloom;
pub use murmur::murmur3_32;
pub use recipe::{SparkHash, SparkRecipe};
pub use text::JavaText;
