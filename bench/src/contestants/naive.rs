//! The counting Bloom filter one would write without a library: the yardstick of ours.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::hint::black_box;

use foldhash::fast::FixedState;

use super::fold_hash::independent_pair;
use super::{Contestant, Removing};
use crate::Failure;
use crate::keys::multiply_high;

/// One array of counters of `BITS` bits, `HASHES` positions by double hashing as a textbook has it: two hashes
/// of the key and remainders. 0 stands for the number of positions that needs the fewest counters at the rate.
/// The hash function is the fastest in use, or with `RandomState` that of the standard library, which is what
/// one would take without a thought.
///
/// What it lacks is locality: every position is a cache line of its own. It is no straw man: it leaves at the
/// first zero, saturated counters stick, nothing is allocated. `TUNED` is what somebody would make of it who
/// has measured: the second hash from the first, and multiply-high in place of a division.
pub(crate) struct NaiveCounting<
    const HASHES: u32,
    const TUNED: bool = false,
    const BITS: u32 = 4,
    S = FixedState,
> {
    words: Vec<u64>,
    counters: u64,
    hashes: u32,
    hashers: [S; 2],
}

/// Two hash functions that know nothing of each other.
pub(crate) trait Pair: BuildHasher + Sized {
    /// Whether a program has it without asking for it.
    const IS_STANDARD: bool;
    fn pair(seed: u64) -> [Self; 2];
}

impl Pair for FixedState {
    const IS_STANDARD: bool = false;
    fn pair(seed: u64) -> [Self; 2] {
        independent_pair(seed)
    }
}

impl Pair for RandomState {
    const IS_STANDARD: bool = true;
    fn pair(_seed: u64) -> [Self; 2] {
        [Self::new(), Self::new()]
    }
}

impl<const HASHES: u32, const TUNED: bool, const BITS: u32, S: Pair> NaiveCounting<HASHES, TUNED, BITS, S> {
    const MAXIMUM: u64 = (1 << BITS) - 1;
    const IN_A_WORD: u64 = 64 / BITS as u64;

    /// The word, and how far its counter must be shifted, of each of a key's positions.
    #[inline(always)]
    fn positions<K: Hash>(
        &self,
        key: &K,
    ) -> impl Iterator<Item = (usize, u32)> + use<K, HASHES, TUNED, BITS, S> {
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
            let shift = u64::from(BITS) * (position % Self::IN_A_WORD);
            #[expect(clippy::cast_possible_truncation, reason = "an index into a slice; a shift below 64")]
            ((position / Self::IN_A_WORD) as usize, shift as u32)
        })
    }
}

impl<K: Hash, const HASHES: u32, const TUNED: bool, const BITS: u32, S: Pair> Contestant<K>
    for NaiveCounting<HASHES, TUNED, BITS, S>
{
    const NAME: &'static str = match (HASHES, TUNED, BITS) {
        (_, _, 4) if S::IS_STANDARD => "naive counting, four counters, std's hasher",
        (_, _, 8) if S::IS_STANDARD => "naive counting, four 8-bit counters, std's hasher",
        _ if S::IS_STANDARD => "naive counting, four 16-bit counters, std's hasher",
        (0, false, _) => "naive counting, best k",
        (0, true, _) => "naive counting, best k, tuned",
        (_, true, _) => "naive counting, four counters, tuned",
        (_, false, 4) => "naive counting, four counters",
        (_, false, 8) => "naive counting, four 8-bit counters",
        (_, false, _) => "naive counting, four 16-bit counters",
    };

    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure> {
        let hashes = if HASHES == 0 { best_hashes(p) } else { HASHES };
        let counters = counters_needed(n, p, hashes);
        let mut words = vec![0; usize::try_from(counters.div_ceil(Self::IN_A_WORD))?];
        // Touches the pages.
        black_box(&mut words).fill(0);
        Ok(Self { words, counters, hashes, hashers: S::pair(seed) })
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        let mut new = false;
        for (word, shift) in self.positions(key) {
            let word = &mut self.words[word];
            let count = (*word >> shift) & Self::MAXIMUM;
            new |= count == 0;
            *word += u64::from(count < Self::MAXIMUM) << shift;
        }
        new
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.positions(key).all(|(word, shift)| (self.words[word] >> shift) & Self::MAXIMUM != 0)
    }

    fn bits(&self) -> u64 {
        self.words.len() as u64 * 64
    }
}

impl<K: Hash, const HASHES: u32, const TUNED: bool, const BITS: u32, S: Pair> Removing<K>
    for NaiveCounting<HASHES, TUNED, BITS, S>
{
    const WHEN_FULL: &'static str = "rate rises, counters stick";

    #[inline(always)]
    fn remove(&mut self, key: &K) -> bool {
        if !self.contains(key) {
            return false;
        }
        for (word, shift) in self.positions(key) {
            let word = &mut self.words[word];
            let count = (*word >> shift) & Self::MAXIMUM;
            // Zero is met here by a key that has one position twice and was never added.
            *word -= u64::from((1..Self::MAXIMUM).contains(&count)) << shift;
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
        forgets::<NaiveCounting<4, false, 4, RandomState>>(0.0115);
        forgets::<NaiveCounting<4, false, 8>>(0.0115);
        forgets::<NaiveCounting<4, false, 16>>(0.0115);
    }

    #[test]
    fn counters_stick_at_their_maximum() {
        sticks_at::<NaiveCounting<0>>(15);
        sticks_at::<NaiveCounting<4, false, 8>>(255);
        sticks_at::<NaiveCounting<4, false, 16>>(65_535);
    }

    /// One copy less than the highest number is forgotten again.
    fn sticks_at<C: Removing<u64>>(highest: u32) {
        for copies in [highest - 1, highest] {
            let mut filter = C::new(100, 0.01, 1).expect("a small filter");
            for _ in 0..copies {
                filter.insert(&1);
            }
            for _ in 0..copies {
                assert!(filter.remove(&1));
            }
            assert_eq!(filter.contains(&1), copies == highest, "{}", C::NAME);
        }
    }

    #[test]
    fn sizes_are_the_textbook_s() {
        assert_eq!(best_hashes(0.01), 7);
        assert_eq!(counters_needed(1_000_000, 0.01, 7).div_ceil(100_000), 96);
    }
}
