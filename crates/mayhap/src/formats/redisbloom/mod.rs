//! The two filters of RedisBloom, Redis's module `bf`: bit for bit, step by step.
//!
//! [`RedisBloom`] is what the commands `BF.*` work on, [`RedisCuckoo`] what `CF.*` work on. Added to in the same order, a
//! filter here and one in Redis have the same bytes after every step. They can be carried over in three ways, each in both
//! directions:
//!
//! | way | Redis | here |
//! |---|---|---|
//! | in chunks, of any size of filter | `BF.SCANDUMP`, `BF.LOADCHUNK` | [`scan_dump`](RedisBloom::scan_dump), [`RedisBloomLoader`] |
//! | one value | `DUMP`, `RESTORE` | [`to_dump`](RedisBloom::to_dump), [`from_dump`](RedisBloom::from_dump), [`RedisValue`] |
//! | everything | an `.rdb` file | [`rdb::RdbFile`], which finds the filters among all keys |
//!
//! The cuckoo filter has the same methods. The pages [`bloom`], [`cuckoo`] and [`rdb`] have the layouts.
//!
//! ```
//! use mayhap::formats::redisbloom::{RdbVersion, RedisBloom, RedisValue};
//!
//! let mut seen = RedisBloom::reserve(0.001, 500, 2, true)?;       // BF.RESERVE seen 0.001 500 EXPANSION 2
//! seen.add("https://example.org/")?;                              // BF.ADD seen https://example.org/
//! let payload = seen.to_dump(RdbVersion::REDIS_7_0)?;             // DUMP seen; for RESTORE on Redis 7.0 and later
//!
//! match RedisValue::from_dump(&payload)? {
//!     RedisValue::Bloom(filter) => assert!(filter == seen),
//!     RedisValue::Cuckoo(_) => unreachable!("the payload says which of the two it is"),
//! }
//! # Ok::<(), mayhap::Error>(())
//! ```
//!
//! # Checked against
//!
//! RedisBloom at b28c2945 (June 2026) in Redis 8.0.6, and RedisBloom 2.8.20 in Redis 7.0.15: answers, `INFO` and `DEBUG`
//! figures, chunks, payloads of RDB versions 10 and 12, and a whole file. `docs/formats.md` tells how. Valkey's module of
//! the same commands, and Dragonfly, have formats of their own.
//!
//! # Beware
//!
//! The hash functions and their seeds are public and fixed. Whoever chooses the items can choose some that the filter will
//! take for each other, and so make absent items look present. Where strangers send the keys, use one of this crate's own
//! filters with a [secret key](crate::hash::SecretKey).

pub mod bloom;
mod chunk;
pub mod cuckoo;
pub mod rdb;
mod value;

pub use bloom::{RedisBloom, RedisBloomLoader, RedisHash};
pub use chunk::{CHUNK_BYTES, Chunk};
pub use cuckoo::{Added, CuckooInfo, CuckooLimits, RedisCuckoo};
pub use rdb::RdbVersion;
pub use value::RedisValue;
