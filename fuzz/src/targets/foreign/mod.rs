//! The readers of other systems' filters, one target for each.

mod leveldb;
mod parquet;
mod redisbloom;
mod streams;

pub use leveldb::TARGET as LEVELDB;
pub use parquet::TARGET as PARQUET;
pub use redisbloom::{CHUNKS as REDIS_CHUNKS, RDB as REDIS_RDB};
pub use streams::{GUAVA, SPARK};

use mayhap::ReadOptions;

/// What a reader may take, whatever the bytes say.
const LIMIT: u64 = 1 << 20;

fn limited() -> ReadOptions {
    ReadOptions::new().max_bytes(LIMIT)
}
