//! How many bytes a value takes.

use std::sync::PoisonError;

use mayhap_commands::Value;

/// What values can't know of themselves. Measured: `tests/counted.rs` compares with what the allocator was asked for, and
/// `tests/memory.rs` with what the system gave.
mod reserve {
    /// What an allocator adds to the blocks of a layer, which are aligned to cache lines.
    pub(super) const BLOCKS: u64 = 96;
    /// The room of the tree that most bitmaps have one map in.
    pub(super) const BITMAP: u64 = 310;
}

/// The bytes of a value in memory, without its key. Takes its lock, if it has one, for a moment.
#[must_use]
pub fn size_of(value: &Value) -> u64 {
    match value {
        // Blocks and locks.
        Value::Bloom(filter) => filter.memory_bytes() + 2 * reserve::BLOCKS * filter.layer_count() as u64,
        Value::RedisBloom(filter) => {
            let filter = filter.read().unwrap_or_else(PoisonError::into_inner);
            filter.memory_bytes() + reserve::BLOCKS * filter.links().len() as u64
        }
        Value::Cuckoo(filter) => {
            let filter = &filter.read().unwrap_or_else(PoisonError::into_inner).filter;
            filter.memory_bytes() + reserve::BLOCKS * filter.layer_count() as u64
        }
        Value::RedisCuckoo(filter) => {
            let filter = filter.read().unwrap_or_else(PoisonError::into_inner);
            filter.memory_bytes() + reserve::BLOCKS * filter.sub_filters()
        }
        Value::Bitmap(bits) => {
            bits.read().unwrap_or_else(PoisonError::into_inner).set.memory_bytes() + reserve::BITMAP
        }
    }
}
