//! How many bytes a value takes.

use std::sync::PoisonError;

use mayhap_commands::Value;

/// The bytes of a value in memory, without its key. Takes its lock, if it has one, for a moment.
#[must_use]
pub fn size_of(value: &Value) -> u64 {
    match value {
        Value::Bloom(filter) => filter.len_bytes(),
        Value::RedisBloom(filter) => filter.read().unwrap_or_else(PoisonError::into_inner).memory_usage(),
        Value::Cuckoo(filter) => filter.read().unwrap_or_else(PoisonError::into_inner).filter.len_bytes(),
        Value::RedisCuckoo(filter) => filter.read().unwrap_or_else(PoisonError::into_inner).memory_bytes(),
        Value::Bitmap(bits) => bits.read().unwrap_or_else(PoisonError::into_inner).set.len_bytes(),
    }
}
