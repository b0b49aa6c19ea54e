//! LevelDB's hash of eight keys side by side, in 256-bit registers.
//!
//! The hash of one key is one chain: a word can't be taken in before the one before it. Eight chains take no longer than
//! one. Keys of different lengths stay side by side: one that has ended keeps its hash while the others go on.

#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm_shuffle_epi8, _mm256_add_epi32, _mm256_and_si256,
    _mm256_blendv_epi8, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32, _mm256_loadu_si256, _mm256_mullo_epi32,
    _mm256_set_m128i, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_srli_epi32, _mm256_storeu_si256,
    _mm256_sub_epi32, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32,
    _mm256_unpacklo_epi64, _mm256_xor_si256,
};

use super::hash::{MULTIPLIER, SEED, hash_key};
use crate::cpu::Avx2;
use crate::hash::Key;

/// Keys side by side.
const LANES: usize = 8;

/// Bytes that are read at a time. Shorter keys are hashed one by one.
const PIECE: usize = 16;

/// Keys that are longer are hashed one by one.
const LONGEST: usize = 64;

/// `hashes[i]` gets the hash of `keys[i]`.
pub(super) fn hash_each<K: Key>(avx2: Avx2, keys: &[K], hashes: &mut [u32]) {
    // SAFETY: `avx2` is the proof that the CPU has what it takes.
    unsafe { hash_all(avx2, keys, hashes) }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn hash_all<K: Key>(_: Avx2, keys: &[K], hashes: &mut [u32]) {
    let (groups, rest) = keys.as_chunks::<LANES>();
    let (places, last_places) = hashes.as_chunks_mut();
    for ([a, b, c, d, e, f, g, h], hashes) in groups.iter().zip(places) {
        // Bytes that a key computes live here; those that it borrows are known by their address alone.
        let bytes = [a, b, c, d, e, f, g, h].map(Key::key_bytes);
        let [a, b, c, d, e, f, g, h] = &bytes;
        let bytes: [&[u8]; LANES] =
            [a.as_ref(), b.as_ref(), c.as_ref(), d.as_ref(), e.as_ref(), f.as_ref(), g.as_ref(), h.as_ref()];
        if !hash_eight(&bytes, hashes) {
            for (hash, bytes) in hashes.iter_mut().zip(bytes) {
                *hash = super::hash(bytes, SEED);
            }
        }
    }
    for (hash, key) in last_places.iter_mut().zip(rest) {
        *hash = hash_key(key);
    }
}

/// Whether all keys have a length for which this is the way.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "a length is at most LONGEST")]
fn hash_eight(keys: &[&[u8]; LANES], hashes: &mut [u32; LANES]) -> bool {
    let mut lengths = [0; LANES];
    let (mut shortest, mut longest) = (LONGEST, PIECE);
    for (length, key) in lengths.iter_mut().zip(keys) {
        *length = key.len() as i32;
        shortest = shortest.min(key.len());
        longest = longest.max(key.len());
    }
    if shortest < PIECE || longest > LONGEST {
        return false;
    }
    // SAFETY: eight numbers of 32 bits are a register's bytes, and an unaligned load needs no alignment.
    let lengths = unsafe { _mm256_loadu_si256(lengths.as_ptr().cast::<__m256i>()) };
    let zero = _mm256_setzero_si256();
    let multiplier = _mm256_set1_epi32(MULTIPLIER.cast_signed());
    let mut hash = _mm256_mullo_epi32(lengths, multiplier);
    hash = _mm256_xor_si256(hash, _mm256_set1_epi32(SEED.cast_signed()));

    // Every key has the first piece.
    for words in words_of(keys, 0) {
        hash = mix::<16>(hash, words, multiplier);
    }
    let mut left = _mm256_sub_epi32(_mm256_srli_epi32::<2>(lengths), _mm256_set1_epi32(4));
    let mut rest = zero;
    let mut at = PIECE;
    while at < longest {
        for words in words_of(keys, at) {
            // The word after the last whole one is what is left, and zeros.
            rest = _mm256_blendv_epi8(rest, words, _mm256_cmpeq_epi32(left, zero));
            let mixed = mix::<16>(hash, words, multiplier);
            hash = _mm256_blendv_epi8(hash, mixed, _mm256_cmpgt_epi32(left, zero));
            left = _mm256_add_epi32(left, _mm256_set1_epi32(-1));
        }
        at += PIECE;
    }
    let with_rest = mix::<24>(hash, rest, multiplier);
    let whole = _mm256_cmpeq_epi32(_mm256_and_si256(lengths, _mm256_set1_epi32(3)), zero);
    let hash = _mm256_blendv_epi8(with_rest, hash, whole);
    // SAFETY: as above, and the borrow is exclusive.
    unsafe { _mm256_storeu_si256(hashes.as_mut_ptr().cast::<__m256i>(), hash) }
    true
}

#[target_feature(enable = "avx2")]
#[inline]
fn mix<const SHIFT: i32>(hash: __m256i, words: __m256i, multiplier: __m256i) -> __m256i {
    let hash = _mm256_mullo_epi32(_mm256_add_epi32(hash, words), multiplier);
    _mm256_xor_si256(hash, _mm256_srli_epi32::<SHIFT>(hash))
}

/// The four words from `at` on, of each key.
#[target_feature(enable = "avx2")]
#[inline]
fn words_of([a, b, c, d, e, f, g, h]: &[&[u8]; LANES], at: usize) -> [__m256i; 4] {
    let ae = _mm256_set_m128i(piece(e, at), piece(a, at));
    let bf = _mm256_set_m128i(piece(f, at), piece(b, at));
    let cg = _mm256_set_m128i(piece(g, at), piece(c, at));
    let dh = _mm256_set_m128i(piece(h, at), piece(d, at));
    let (ab_low, ab_high) = (_mm256_unpacklo_epi32(ae, bf), _mm256_unpackhi_epi32(ae, bf));
    let (cd_low, cd_high) = (_mm256_unpacklo_epi32(cg, dh), _mm256_unpackhi_epi32(cg, dh));
    [
        _mm256_unpacklo_epi64(ab_low, cd_low),
        _mm256_unpackhi_epi64(ab_low, cd_low),
        _mm256_unpacklo_epi64(ab_high, cd_high),
        _mm256_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// The sixteen bytes from `at` on, and zeros for those that the key doesn't have. It has at least sixteen, and `at` is below
/// [`LONGEST`].
#[target_feature(enable = "avx2")]
#[inline]
fn piece(key: &[u8], at: usize) -> __m128i {
    /// Which byte goes where: each to a lower place by as many as one starts late, and zeros after the last.
    const DOWN: [u8; LONGEST + PIECE] = {
        let mut places = [0x80; LONGEST + PIECE];
        let mut place = 0;
        while place < PIECE {
            #[allow(clippy::cast_possible_truncation, reason = "below sixteen")]
            {
                places[place] = place as u8;
            }
            place += 1;
        }
        places
    };
    debug_assert!(key.len() >= PIECE && at < LONGEST);
    // The last sixteen bytes where there are no sixteen from `at` on.
    let from = at.min(key.len() - PIECE);
    // SAFETY: `from` is at most sixteen before the end; it is at most `at` and that is below `LONGEST`, so that sixteen
    // places follow those that are skipped. Unaligned loads need no alignment.
    unsafe {
        let bytes = _mm_loadu_si128(key.as_ptr().add(from).cast::<__m128i>());
        if at == 0 {
            return bytes;
        }
        _mm_shuffle_epi8(bytes, _mm_loadu_si128(DOWN.as_ptr().add(at - from).cast::<__m128i>()))
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
        let mut hashes = std::vec![0; keys.len()];
        hash_each(avx2, keys, &mut hashes);
        for (key, hash) in keys.iter().zip(hashes) {
            assert_eq!(hash, super::super::hash(key, SEED), "{key:?}");
        }
    }

    #[test]
    fn keys_of_every_length_hash_as_one_by_one() {
        let key = |length: usize| -> Vec<u8> { (0..length).map(|at| 255 - (at * 7 % 256) as u8).collect() };
        for length in 0..LONGEST + 20 {
            check(&[length; 17].map(key));
            for other in [15, 16, 17, 31, 32, 33, 63, 64, 65] {
                check(&[length, other, 20, other, 40, 16, length, 64, other].map(key));
            }
        }
        check(&(0..100).map(key).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn keys_of_mixed_lengths_hash_as_one_by_one(keys in vec(vec(any::<u8>(), 16..=64), 0..40)) {
            check(&keys);
        }

        #[test]
        fn keys_of_any_length_hash_as_one_by_one(keys in vec(vec(any::<u8>(), 0..80), 0..40)) {
            check(&keys);
        }
    }
}
