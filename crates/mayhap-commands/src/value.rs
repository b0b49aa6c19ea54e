//! What a key can hold.

use std::sync::RwLock;

use mayhap::formats::redisbloom::{RedisBloom, RedisCuckoo};
use mayhap::{Bitmap, ScalableBloom, ScalableCuckoo, SharedScalableBloom};

/// A filter, or a bitmap, that many threads use.
///
/// Readers of a native Bloom filter take no lock, and its writers a short one of many; the other kinds have one lock,
/// held for a command's own work and never while waiting for anything else.
#[allow(
    clippy::large_enum_variant,
    reason = "a value has an allocation of its own, and a box would be one more way to it"
)]
#[derive(Debug)]
pub enum Value {
    /// `BF.*`, native: blocks, a secret key, growth that keeps the rate.
    Bloom(SharedScalableBloom),
    /// `BF.*`, with every bit where RedisBloom has it.
    RedisBloom(RwLock<RedisBloom>),
    /// `CF.*`, native.
    Cuckoo(RwLock<NativeCuckoo>),
    /// `CF.*`, with every byte where RedisBloom has it.
    RedisCuckoo(RwLock<RedisCuckoo>),
    /// `SETBIT` and its kin.
    Bitmap(RwLock<Bits>),
}

/// A native cuckoo filter, and what `CF.INFO` tells beyond what the filter knows itself.
#[derive(Debug)]
pub struct NativeCuckoo {
    /// The filter.
    pub filter: ScalableCuckoo,
    /// Items deleted since the last compaction.
    pub deleted: u64,
}

/// A bitmap, and how long it is as a string of Redis's: that has zeros at its end that nobody set.
#[derive(Debug)]
pub struct Bits {
    /// The bits that are 1.
    pub set: Bitmap,
    /// The length: up to the byte of the last bit that was ever set, to 0 or to 1.
    pub bytes: u64,
}

impl Value {
    /// A native Bloom filter. By itself it doesn't grow: each time that it is full, how far it may is decided anew.
    #[must_use]
    pub fn native_bloom(filter: ScalableBloom) -> Self {
        Self::Bloom(filter.with_max_bytes(0).into_shared())
    }

    /// What `TYPE` answers: the names that RedisBloom registers for its types.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Bloom(_) | Self::RedisBloom(_) => "MBbloom--",
            Self::Cuckoo(_) | Self::RedisCuckoo(_) => "MBbloomCF",
            Self::Bitmap(_) => "string",
        }
    }
}
