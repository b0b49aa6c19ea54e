//! The hashes of eight items side by side.
//!
//! The hash of one item is one chain of multiplications, and how many they are can't be predicted. A core has one queue for
//! all multiplications that wait: those of one item fill it, and the next item doesn't begin. So eight chains are gone along
//! in step, all as long as the longest, and what comes before the chain, the same for every word, is done in registers, four
//! words of an item at once.

#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m256i, _mm256_add_epi64, _mm256_loadu_si256, _mm256_maskload_epi64, _mm256_mul_epu32,
    _mm256_set1_epi64x, _mm256_slli_epi64, _mm256_srli_epi64, _mm256_storeu_si256, _mm256_xor_si256,
};
use core::hint::select_unpredictable;

use super::RedisHash;
use crate::cpu::Avx2;
use crate::hash::Key;
use crate::hash::functions::murmur2::{MULTIPLIER_64, begin_64, mix_64, murmur64a_twice};

/// Keys side by side.
const LANES: usize = 8;

/// Keys of other lengths are hashed one by one.
const LENGTHS: core::ops::RangeInclusive<usize> = 16..=8 * WORDS;

/// Words of the longest key.
const WORDS: usize = 8;

/// `hashes[i]` gets the hash of `keys[i]`.
pub(super) fn hash_each<K: Key>(_: Avx2, seed: u64, keys: &[K], hashes: &mut [RedisHash]) {
    // SAFETY: whoever has an `Avx2` has found that the CPU has it.
    unsafe { hash_all(seed, keys, hashes) }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn hash_all<K: Key>(seed: u64, keys: &[K], hashes: &mut [RedisHash]) {
    let (groups, rest) = keys.as_chunks::<LANES>();
    let (places, last_places) = hashes.as_chunks_mut::<LANES>();
    let mut scratch = [Scrambled::default(); LANES];
    for ([a, b, c, d, e, f, g, h], hashes) in groups.iter().zip(places) {
        // Bytes that a key computes live here; those that it borrows are known by their address alone.
        let bytes = [a, b, c, d, e, f, g, h].map(Key::key_bytes);
        let [a, b, c, d, e, f, g, h] = &bytes;
        let bytes: [&[u8]; LANES] =
            [a.as_ref(), b.as_ref(), c.as_ref(), d.as_ref(), e.as_ref(), f.as_ref(), g.as_ref(), h.as_ref()];
        let (mut shortest, mut longest) = (*LENGTHS.end(), *LENGTHS.start());
        for key in bytes {
            shortest = shortest.min(key.len());
            longest = longest.max(key.len());
        }
        if shortest >= *LENGTHS.start() && longest <= *LENGTHS.end() {
            hash_eight(seed, &bytes, longest, &mut scratch, hashes);
        } else {
            for (hash, key) in hashes.iter_mut().zip(bytes) {
                hash.0 = murmur64a_twice(key, seed);
            }
        }
    }
    for (hash, key) in last_places.iter_mut().zip(rest) {
        hash.0 = murmur64a_twice(key.key_bytes().as_ref(), seed);
    }
}

/// A key under way.
///
/// A word of 0 is scrambled to 0, and taking that in is a multiplication. So a key that is shorter than the longest has
/// words of 0 at its end, and one more multiplication takes theirs back.
#[derive(Clone, Copy, Default)]
struct Scrambled {
    words: [u64; WORDS],
    take_back: u64,
    length: u64,
    rest: u64,
    rest_factor: u64,
}

/// The hashes of eight keys of [`LENGTHS`], the longest of which has `longest` bytes.
///
/// They are written where they stay: two words that are copied at once would wait until both are written.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn hash_eight(
    seed: u64,
    keys: &[&[u8]; LANES],
    longest: usize,
    scratch: &mut [Scrambled; LANES],
    hashes: &mut [RedisHash; LANES],
) {
    let most = longest / 8;
    for (key, lane) in keys.iter().zip(&mut *scratch) {
        let words = key.len() / 8;
        let (first, second) = lane.words.split_at_mut(4);
        store(first, scramble(whole_words(key, 0, words)));
        if most > 4 {
            store(second, scramble(whole_words(key, 4, words)));
        }
        lane.take_back = INVERSE_POWERS[(most - words) % WORDS];
        lane.length = begin_64(key, 0);
        lane.rest = rest_of_words(key);
        lane.rest_factor = select_unpredictable(key.len().is_multiple_of(8), 1, MULTIPLIER_64);
    }
    let mut states = [seed; LANES];
    for pass in 0..2 {
        for (state, lane) in states.iter_mut().zip(&*scratch) {
            *state ^= lane.length;
        }
        for word in 0..most.min(WORDS) {
            for (state, lane) in states.iter_mut().zip(&*scratch) {
                *state = mix_64(*state, lane.words[word]);
            }
        }
        for (state, lane) in states.iter_mut().zip(&*scratch) {
            *state = state.wrapping_mul(lane.take_back);
        }
        for (state, lane) in states.iter_mut().zip(&*scratch) {
            *state = (*state ^ lane.rest).wrapping_mul(lane.rest_factor);
        }
        for state in &mut states {
            *state = (*state ^ (*state >> 47)).wrapping_mul(MULTIPLIER_64);
        }
        for (state, hash) in states.iter_mut().zip(&mut *hashes) {
            *state ^= *state >> 47;
            hash.0[pass] = *state;
        }
    }
}

/// What takes back so many multiplications by [`MULTIPLIER_64`], modulo 2⁶⁴.
const INVERSE_POWERS: [u64; WORDS] = {
    // An odd number is its own inverse in the lowest three bits. Each step doubles the bits that are right.
    let mut inverse = MULTIPLIER_64;
    let mut bits = 3;
    while bits < 64 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(MULTIPLIER_64.wrapping_mul(inverse)));
        bits *= 2;
    }
    let mut powers = [1u64; WORDS];
    let mut power = 1;
    while power < WORDS {
        powers[power] = powers[power - 1].wrapping_mul(inverse);
        power += 1;
    }
    powers
};

#[target_feature(enable = "avx2")]
#[inline]
fn scramble(words: __m256i) -> __m256i {
    let k = multiply(words);
    multiply(_mm256_xor_si256(k, _mm256_srli_epi64::<47>(k)))
}

/// Four words times [`MULTIPLIER_64`], out of products of 32 bits.
#[target_feature(enable = "avx2")]
#[inline]
fn multiply(words: __m256i) -> __m256i {
    let low = _mm256_set1_epi64x(MULTIPLIER_64.cast_signed());
    let high = _mm256_srli_epi64::<32>(low);
    let across = _mm256_add_epi64(
        _mm256_mul_epu32(words, high),
        _mm256_mul_epu32(_mm256_srli_epi64::<32>(words), low),
    );
    _mm256_add_epi64(_mm256_mul_epu32(words, low), _mm256_slli_epi64::<32>(across))
}

/// Four words from the word `from` on, 0 or 4, and zeros in place of those that aren't among the first `count`, which the
/// key has.
#[target_feature(enable = "avx2")]
#[inline]
fn whole_words(key: &[u8], from: usize, count: usize) -> __m256i {
    const FIRST: [i64; 2 * WORDS] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
    debug_assert!(from <= 4 && count <= WORDS && 8 * count <= key.len());
    // SAFETY: `count` is at most eight and `from` at most four, so that four numbers follow the place. Only those words are
    // read that lie before `count`, and the key has them. Neither load needs an alignment.
    unsafe {
        let mask = _mm256_loadu_si256(FIRST.as_ptr().add(WORDS + from - count).cast::<__m256i>());
        _mm256_maskload_epi64(key.as_ptr().wrapping_add(8 * from).cast::<i64>(), mask)
    }
}

/// The bytes after the last whole word, as a number.
#[inline(always)]
fn rest_of_words(key: &[u8]) -> u64 {
    let last = key.last_chunk().map_or(0, |last| u64::from_le_bytes(*last));
    // In two steps: where nothing is left, all 64 bits go.
    last >> (8 * (7 - key.len() % 8)) >> 8
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(words: &mut [u64], register: __m256i) {
    if let Some(four) = words.first_chunk_mut::<4>() {
        // SAFETY: four words are a register's bytes, the borrow is exclusive, and an unaligned store needs no alignment.
        unsafe { _mm256_storeu_si256(four.as_mut_ptr().cast::<__m256i>(), register) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn check(keys: &[Vec<u8>]) {
        let Some(avx2) = Avx2::detect() else { return };
        let mut hashes = std::vec![RedisHash::default(); keys.len()];
        for seed in [0, 1, u64::MAX, MULTIPLIER_64] {
            hash_each(avx2, seed, keys, &mut hashes);
            for (key, hash) in keys.iter().zip(&hashes) {
                assert_eq!(hash.0, murmur64a_twice(key, seed), "{key:?}");
            }
        }
    }

    #[test]
    fn keys_of_every_length_hash_as_one_by_one() {
        let key = |length: usize| -> Vec<u8> { (0..length).map(|at| 255 - (at * 7 % 256) as u8).collect() };
        for length in 0..8 * WORDS + 20 {
            check(&[length; 17].map(key));
            for other in [15, 16, 17, 31, 32, 33, 39, 40, 47, 48, 63, 64, 65] {
                check(&[length, other, 20, other, 40, 16, length, 64, other].map(key));
            }
        }
        check(&(0..100).map(key).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn keys_of_mixed_lengths_hash_as_one_by_one(keys in vec(vec(any::<u8>(), LENGTHS), 0..40)) {
            check(&keys);
        }

        #[test]
        fn keys_of_any_length_hash_as_one_by_one(keys in vec(vec(any::<u8>(), 0..80), 0..40)) {
            check(&keys);
        }
    }
}
