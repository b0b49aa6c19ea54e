//! A second value like the first.

use std::sync::{PoisonError, RwLock};

use mayhap::{Error, ReadOptions, ScalableBloom};
use mayhap_commands::{Bits, NativeCuckoo, Value};

/// A copy of a value, with every bit where it is.
///
/// A native Bloom filter is copied by way of its file: that is how its bits can be read while others add to it.
///
/// # Errors
/// When the memory can't be had; the others would be faults of ours.
pub(super) fn copy(value: &Value) -> Result<Value, Error> {
    Ok(match value {
        Value::Bloom(filter) => {
            // How far it may grow is decided when it does.
            let file = filter.to_bytes_without_limit()?;
            let options = ReadOptions::new().hasher(filter.hasher().clone());
            Value::native_bloom(ScalableBloom::from_bytes_with(&file, &options)?)
        }
        Value::RedisBloom(filter) => {
            Value::RedisBloom(RwLock::new(filter.read().unwrap_or_else(PoisonError::into_inner).clone()))
        }
        Value::Cuckoo(filter) => {
            let held = filter.read().unwrap_or_else(PoisonError::into_inner);
            Value::Cuckoo(RwLock::new(NativeCuckoo { filter: held.filter.clone(), deleted: held.deleted }))
        }
        Value::RedisCuckoo(filter) => Value::RedisCuckoo(RwLock::new(
            filter.read().unwrap_or_else(PoisonError::into_inner).try_clone()?,
        )),
        Value::Bitmap(bits) => {
            let held = bits.read().unwrap_or_else(PoisonError::into_inner);
            Value::Bitmap(RwLock::new(Bits { set: held.set.clone(), bytes: held.bytes }))
        }
    })
}
