//! MurmurHash2 (Appleby): 32 bits, and the 64-bit variant "64A" that Redis uses.

use super::bytes::{rest64, tail64, word32};

const MULTIPLIER_32: u32 = 0x5bd1_e995;
pub(crate) const MULTIPLIER_64: u64 = 0xc6a4_a793_5bd1_e995;

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
    let mut hash = begin_64(bytes, seed);
    for word in bytes.as_chunks().0 {
        hash = mix_64(hash, scramble_64(*word));
    }
    finish_64(hash, Rest::of(bytes))
}

/// [`murmur64a`], and once more with the first answer as the seed.
///
/// Words are scrambled alike whatever the seed is. What became of those of a short key is kept for the second time.
#[inline]
#[must_use]
pub fn murmur64a_twice(bytes: &[u8], seed: u64) -> [u64; 2] {
    let mut scrambled = [0; 8];
    let words = bytes.as_chunks().0;
    let Some(scrambled) = scrambled.get_mut(..words.len()) else {
        let first = murmur64a(bytes, seed);
        return [first, murmur64a(bytes, first)];
    };
    let mut hash = begin_64(bytes, seed);
    for (word, scrambled) in words.iter().zip(&mut *scrambled) {
        *scrambled = scramble_64(*word);
        hash = mix_64(hash, *scrambled);
    }
    let rest = Rest::of(bytes);
    let first = finish_64(hash, rest);
    let second = scrambled.iter().fold(begin_64(bytes, first), |hash, scrambled| mix_64(hash, *scrambled));
    [first, finish_64(second, rest)]
}

#[inline(always)]
pub(crate) const fn begin_64(bytes: &[u8], seed: u64) -> u64 {
    seed ^ (bytes.len() as u64).wrapping_mul(MULTIPLIER_64)
}

#[inline(always)]
const fn scramble_64(word: [u8; 8]) -> u64 {
    let k = u64::from_le_bytes(word).wrapping_mul(MULTIPLIER_64);
    (k ^ (k >> 47)).wrapping_mul(MULTIPLIER_64)
}

#[inline(always)]
pub(crate) const fn mix_64(hash: u64, scrambled: u64) -> u64 {
    (hash ^ scrambled).wrapping_mul(MULTIPLIER_64)
}

/// What is left after the last whole word.
#[derive(Clone, Copy)]
struct Rest {
    bytes: u64,
    /// 1 where nothing is left: whether something is can't be predicted.
    factor: u64,
}

impl Rest {
    #[inline(always)]
    fn of(bytes: &[u8]) -> Self {
        Self { bytes: rest64(bytes), factor: if bytes.len().is_multiple_of(8) { 1 } else { MULTIPLIER_64 } }
    }
}

#[inline(always)]
const fn finish_64(hash: u64, rest: Rest) -> u64 {
    let mut hash = (hash ^ rest.bytes).wrapping_mul(rest.factor);
    hash ^= hash >> 47;
    hash = hash.wrapping_mul(MULTIPLIER_64);
    hash ^ (hash >> 47)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_answer_is_seeded_by_the_first() {
        let bytes: [u8; 100] = core::array::from_fn(|at| (at * 37) as u8);
        for length in 0..=bytes.len() {
            for seed in [0, 1, u64::MAX, MULTIPLIER_64] {
                let bytes = &bytes[..length];
                let first = murmur64a(bytes, seed);
                assert_eq!(murmur64a_twice(bytes, seed), [first, murmur64a(bytes, first)], "{length}");
            }
        }
    }
}
