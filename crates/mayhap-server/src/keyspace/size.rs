//! How many bytes a value takes.

use std::sync::PoisonError;

use mayhap_commands::Value;

/// What the vectors and nodes of trees inside of a value take beside what they hold. They have room for more than the one
/// layer, link or container that most values have. Measured: `tests/memory.rs` compares with what the system gave.
mod reserve {
    pub(super) const BLOOM: u64 = 200;
    pub(super) const REDIS_BLOOM: u64 = 700;
    pub(super) const CUCKOO: u64 = 350;
    pub(super) const BITMAP: u64 = 450;
}

/// The bytes of a value in memory, without its key. Takes its lock, if it has one, for a moment.
#[must_use]
pub fn size_of(value: &Value) -> u64 {
    match value {
        Value::Bloom(filter) => filter.memory_bytes() + reserve::BLOOM,
        Value::RedisBloom(filter) => {
            filter.read().unwrap_or_else(PoisonError::into_inner).memory_usage() + reserve::REDIS_BLOOM
        }
        Value::Cuckoo(filter) => {
            filter.read().unwrap_or_else(PoisonError::into_inner).filter.len_bytes() + reserve::CUCKOO
        }
        Value::RedisCuckoo(filter) => filter.read().unwrap_or_else(PoisonError::into_inner).memory_bytes(),
        Value::Bitmap(bits) => {
            bits.read().unwrap_or_else(PoisonError::into_inner).set.len_bytes() + reserve::BITMAP
        }
    }
}
