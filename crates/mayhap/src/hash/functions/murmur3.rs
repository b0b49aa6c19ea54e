//! MurmurHash3 (Appleby): 32 bits ("`x86_32`") and 128 bits ("`x64_128`", which Guava uses).

use super::bytes::{rest128, tail64, word32, word64};

/// MurmurHash3 `x86_32`.
#[must_use]
#[allow(clippy::cast_possible_truncation, reason = "the function takes the length modulo 2^32")]
pub fn murmur3_32(bytes: &[u8], seed: u32) -> u32 {
    let mut hash = seed;
    let words = bytes.chunks_exact(4);
    let tail = words.remainder();
    for word in words {
        hash = mix_32(hash, word32(word, 0));
    }
    hash ^= scramble_32(tail64(tail) as u32);
    finish_32(hash ^ bytes.len() as u32)
}

/// Takes in one word.
#[inline(always)]
pub(crate) const fn mix_32(hash: u32, word: u32) -> u32 {
    (hash ^ scramble_32(word)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

#[inline(always)]
const fn scramble_32(word: u32) -> u32 {
    word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
}

/// The finaliser `fmix32`.
#[inline(always)]
pub(crate) const fn finish_32(mut hash: u32) -> u32 {
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85eb_ca6b);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// MurmurHash3 `x64_128`: the two halves `h1` and `h2`.
///
/// The seed is 32 bits wide in the original. Guava extends a negative one with ones, which is why it is 64 bits here.
#[inline]
#[must_use]
pub fn murmur3_128(bytes: &[u8], seed: u64) -> [u64; 2] {
    let mut state = State128::new(seed);
    for pair in bytes.as_chunks().0 {
        state.mix(pair);
    }
    state.finish(rest128(bytes), bytes.len() as u64)
}

/// MurmurHash3 `x64_128` under way: what has been taken in so far, sixteen bytes at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State128 {
    h1: u64,
    h2: u64,
}

impl State128 {
    #[inline(always)]
    pub(crate) const fn new(seed: u64) -> Self {
        Self { h1: seed, h2: seed }
    }

    /// Takes in sixteen bytes.
    #[inline(always)]
    pub(crate) fn mix(&mut self, pair: &[u8; 16]) {
        let Self { mut h1, mut h2 } = *self;
        h1 ^= scramble_first(word64(pair, 0));
        h1 = h1.rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= scramble_second(word64(pair, 8));
        h2 = h2.rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
        *self = Self { h1, h2 };
    }

    /// The answer, after the last bytes (fewer than sixteen, as two words) of `length` in all.
    #[inline(always)]
    pub(crate) fn finish(self, [first, second]: [u64; 2], length: u64) -> [u64; 2] {
        let mut h1 = self.h1 ^ scramble_first(first) ^ length;
        let mut h2 = self.h2 ^ scramble_second(second) ^ length;
        h1 = h1.wrapping_add(h2);
        h2 = h2.wrapping_add(h1);
        (h1, h2) = (finish_64(h1), finish_64(h2));
        h1 = h1.wrapping_add(h2);
        [h1, h2.wrapping_add(h1)]
    }
}

#[inline(always)]
const fn scramble_first(word: u64) -> u64 {
    word.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

#[inline(always)]
const fn scramble_second(word: u64) -> u64 {
    word.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

/// The finaliser `fmix64`: a bijection that spreads every input bit over the whole word.
#[inline(always)]
pub(crate) const fn finish_64(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}
