//! The counting Bloom filter one would write without a library: the yardstick of ours.

use std::hash::{BuildHasher, Hash};
use std::hint::black_box;

use foldhash::fast::FixedState;

use super::fold_hash::independent_pair;
use super::{Contestant, Removing};
use crate::Failure;
use crate::keys::multiply_high;

/// One array of 4-bit counters, `HASHES` positions by double hashing as a textbook has it: two hashes of the
/// key, here by the fastest function in use, and remainders. 0 stands for the number of positions that needs
/// the fewest counters at the rate.
///
/// What it lacks is locality: every position is a cache line of its own. It is no straw man: it leaves at the
/// first zero, saturated counters stick, nothing is allocated. `TUNED` is what somebody would make of it who
/// has measured: the second hash from the first, and multiply-high in place of a division.
pub(crate) struct NaiveCounting<const HASHES: u32, const TUNED: bool = false> {
    /// Sixteen counters each.
    words: Vec<u64>,
    counters: u64,
    hashes: u32,
    hashers: [FixedState; 2],
}

const MAXIMUM: u64 = 15;

impl<const HASHES: u32, const TUNED: bool> NaiveCounting<HASHES, TUNED> {
    /// The word, and how far its counter must be shifted, of each of a key's positions.
    #[inline(always)]
    fn positions<K: Hash>(&self, key: &K) -> impl Iterator<Item = (usize, u32)> + use<K, HASHES, TUNED> {
        let first = self.hashers[0].hash_one(key);
        let step = if TUNED {
            // Odd, and from all the bits, so that a key's positions don't fall together.
            first.rotate_left(32).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1
        } else {
            self.hashers[1].hash_one(key)
        };
        let counters = self.counters;
        (0..u64::from(self.hashes)).map(move |index| {
            let hash = first.wrapping_add(index.wrapping_mul(step));
            let position = if TUNED { multiply_high(hash, counters) } else { hash % counters };
            let shift = 4 * (position & 15);
            #[expect(clippy::cast_possible_truncation, reason = "an index into a slice; a shift below 64")]
            ((position >> 4) as usize, shift as u32)
        })
    }
}

impl<K: Hash, const HASHES: u32, const TUNED: bool> Contestant<K> for NaiveCounting<HASHES, TUNED> {
    const NAME: &'static str = match (HASHES, TUNED) {
        (0, false) => "naive counting, best k",
        (0, true) => "naive counting, best k, tuned",
        (_, false) => "naive counting, four counters",
        (_, true) => "naive counting, four counters, tuned",
    };

    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure> {
        let hashes = if HASHES == 0 { best_hashes(p) } else { HASHES };
        let counters = counters_needed(n, p, hashes);
        let mut words = vec![0; usize::try_from(counters.div_ceil(16))?];
        // Touches the pages.
        black_box(&mut words).fill(0);
        Ok(Self { words, counters, hashes, hashers: independent_pair(seed) })
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        let mut new = false;
        for (word, shift) in self.positions(key) {
            let word = &mut self.words[word];
            let count = (*word >> shift) & MAXIMUM;
            new |= count == 0;
            *word += u64::from(count < MAXIMUM) << shift;
        }
        new
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.positions(key).all(|(word, shift)| (self.words[word] >> shift) & MAXIMUM != 0)
    }

    fn bits(&self) -> u64 {
        self.words.len() as u64 * 64
    }
}

impl<K: Hash, const HASHES: u32, const TUNED: bool> Removing<K> for NaiveCounting<HASHES, TUNED> {
    const WHEN_FULL: &'static str = "rate rises, counters stick";

    #[inline(always)]
    fn remove(&mut self, key: &K) -> bool {
        if !self.contains(key) {
            return false;
        }
        for (word, shift) in self.positions(key) {
            let word = &mut self.words[word];
            let count = (*word >> shift) & MAXIMUM;
            // Zero is met here by a key that has one position twice and was never added.
            *word -= u64::from((1..MAXIMUM).contains(&count)) << shift;
        }
        true
    }
}

/// log2(1/p), rounded.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive number")]
fn best_hashes(p: f64) -> u32 {
    (-p.log2()).round().max(1.0) as u32
}

/// The counters at which `n` keys of `hashes` positions each give rate `p`: −k·n / ln(1 − p^(1/k)).
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive number of counters")]
fn counters_needed(n: usize, p: f64, hashes: u32) -> u64 {
    let k = f64::from(hashes);
    (-k * n as f64 / (-p.powf(k.recip())).ln_1p()).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestants::tests::forgets;

    #[test]
    fn naive_is_not_wrong() {
        forgets::<NaiveCounting<0>>(0.0115);
        forgets::<NaiveCounting<4>>(0.0115);
        forgets::<NaiveCounting<0, true>>(0.0115);
        forgets::<NaiveCounting<4, true>>(0.0115);
    }

    #[test]
    fn counters_stick_at_their_maximum() {
        let mut filter = <NaiveCounting<0> as Contestant<u64>>::new(100, 0.01, 1).expect("a small filter");
        for _ in 0..20 {
            filter.insert(&1_u64);
        }
        for _ in 0..20 {
            assert!(filter.remove(&1_u64));
        }
        assert!(filter.contains(&1_u64));
    }

    #[test]
    fn sizes_are_the_textbook_s() {
        assert_eq!(best_hashes(0.01), 7);
        assert_eq!(counters_needed(1_000_000, 0.01, 7).div_ceil(100_000), 96);
    }
}
