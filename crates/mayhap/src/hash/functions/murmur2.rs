//! MurmurHash2 (Appleby): 32 bits, and the 64-bit variant "64A" that Redis uses.

use super::bytes::{rest64, tail64, word32};

const MULTIPLIER_32: u32 = 0x5bd1_e995;
const MULTIPLIER_64: u64 = 0xc6a4_a793_5bd1_e995;

/// MurmurHash2, 32 bits.
#[must_use]
#[allow(clippy::cast_possible_truncation, reason = "the function takes the length modulo 2^32")]
pub fn murmur2_32(bytes: &[u8], seed: u32) -> u32 {
    let mut hash = seed ^ bytes.len() as u32;
    let words = bytes.chunks_exact(4);
    let tail = words.remainder();
    for word in words {
        let mut k = word32(word, 0).wrapping_mul(MULTIPLIER_32);
        k ^= k >> 24;
        hash = hash.wrapping_mul(MULTIPLIER_32) ^ k.wrapping_mul(MULTIPLIER_32);
    }
    if !tail.is_empty() {
        hash = (hash ^ tail64(tail) as u32).wrapping_mul(MULTIPLIER_32);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(MULTIPLIER_32);
    hash ^ (hash >> 15)
}

/// MurmurHash64A: MurmurHash2 on 64-bit words.
#[inline]
#[must_use]
pub fn murmur64a(bytes: &[u8], seed: u64) -> u64 {
    let mut hash = seed ^ (bytes.len() as u64).wrapping_mul(MULTIPLIER_64);
    let (words, rest) = bytes.as_chunks();
    for word in words {
        let mut k = u64::from_le_bytes(*word).wrapping_mul(MULTIPLIER_64);
        k ^= k >> 47;
        hash = (hash ^ k.wrapping_mul(MULTIPLIER_64)).wrapping_mul(MULTIPLIER_64);
    }
    // A factor of 1 where nothing is left: whether something is can't be predicted.
    hash = (hash ^ rest64(bytes)).wrapping_mul(if rest.is_empty() { 1 } else { MULTIPLIER_64 });
    hash ^= hash >> 47;
    hash = hash.wrapping_mul(MULTIPLIER_64);
    hash ^ (hash >> 47)
}
