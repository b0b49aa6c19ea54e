//! The filters of other systems, byte for byte.
//!
//! A filter that another program wrote can be read here, asked, added to, and written back so that the other program
//! takes it; one that is built here from the same keys has the same bytes as one that was built there.
//!
//! | format | the filter of | type | storage |
//! |---|---|---|---|
//! | [`leveldb`] | LevelDB's built-in policy; badger and corekv | [`BloomPolicy`](leveldb::BloomPolicy), [`LevelDbFilter`](leveldb::LevelDbFilter), filter blocks, table files | bytes, asked in place |
//! | [`guava`] | Guava's `BloomFilter`, both strategies | [`GuavaBloom`](guava::GuavaBloom) | big-endian words, asked in place |
//! | [`spark`] | Spark's `BloomFilterImpl`, versions 1 and 2 | [`SparkBloom`](spark::SparkBloom) | the same |
//! | [`parquet`] | Parquet's split block filter | [`SplitBlockBloom`](parquet::SplitBlockBloom), footers of `.parquet` files | bytes, asked in place |
//! | [`redisbloom`] | Redis's `BF.*` and `CF.*` | [`RedisBloom`](redisbloom::RedisBloom), [`RedisCuckoo`](redisbloom::RedisCuckoo), chunks, `DUMP`, `.rdb` files | bytes |
//! | [`crawler`] | the Go filter over FNV-1 that crawlers copy | [`CrawlerBloom`](crawler::CrawlerBloom) | bits |
//!
//! Each page has the byte layout, the versions it was checked against, and the traps. [`ForeignFilter`] is any of them,
//! for programs that learn the format when they run. Formats without a magic number are never guessed; a [`ForeignFile`]
//! keeps one of their filters together with the name of its format, under checksums.
//!
//! # What all have in common
//!
//! - A recipe is a [`Scheme`](crate::bloom::Scheme), part of the filter's type or compared before a merge: bits of two
//!   recipes can't be mixed by mistake.
//! - Keys are this crate's [`Key`](crate::Key)s: bytes, text as UTF-8, integers as little-endian bytes. Where a system has
//!   other forms (UTF-16, funnels) its page has a type for them.
//! - Lengths are compared with the input and with the caller's limit before anything is allocated; damaged bytes give an
//!   error, never a panic.
//!
//! # Beware
//!
//! All of these hash with public, fixed seeds. Whoever chooses the keys can choose ones that the filter will take for
//! each other, and make absent keys look present at will. Where strangers choose, use a filter of this crate's own with
//! a [secret key](crate::hash::SecretKey).

mod any;
mod correctly_rounded;
pub mod crawler;
mod file;
pub mod guava;
mod input;
mod key_form;
pub mod leveldb;
pub mod parquet;
pub mod redisbloom;
pub mod spark;
mod words;

pub use any::{ForeignFilter, Format};
pub use file::ForeignFile;
pub use key_form::KeyForm;
pub use words::{BigEndian, LittleEndian};
