//! Keys: any number of sets of them, all different.

use std::ops::Range;

use mayhap::filter::Filter;

/// The keys of one experiment. Every seed is another set, so experiments with different seeds are independent
/// even where the hash function has no seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    set: u64,
}

/// A key: its number in its set, and the number of the set.
pub(crate) type KeyBytes = [u8; 16];

/// Absent keys are numbered from here on.
const ABSENT: u64 = 1 << 63;

impl Keys {
    pub(crate) const fn of(seed: u64) -> Self {
        Self { set: scattered(!seed) }
    }

    /// The key with this number.
    pub(crate) fn key(self, number: u64) -> KeyBytes {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        bytes[8..].copy_from_slice(&self.set.to_le_bytes());
        bytes
    }

    /// The hashes of the keys with these numbers.
    pub(crate) fn hashes<F: Filter>(self, filter: &F, numbers: Range<u64>) -> Vec<F::Hash> {
        numbers.map(|number| filter.hash_bytes(&self.key(number))).collect()
    }

    /// The hashes of the first `count` keys: the ones a check inserts.
    pub(crate) fn present<F: Filter>(self, filter: &F, count: u64) -> Vec<F::Hash> {
        self.hashes(filter, 0..count)
    }

    /// The hashes of `count` keys that no check ever inserts.
    pub(crate) fn absent<F: Filter>(self, filter: &F, count: u64) -> Vec<F::Hash> {
        self.hashes(filter, ABSENT..ABSENT + count)
    }

    /// How many of `count` absent keys the filter answers "mayhap" to.
    pub(crate) fn false_positives<F: Filter>(self, filter: &F, count: u64) -> u64 {
        const BATCH: usize = 4096;
        let mut hashes = Vec::with_capacity(BATCH);
        let mut found = [false; BATCH];
        let mut positives = 0;
        for from in (0..count).step_by(BATCH) {
            let numbers = ABSENT + from..ABSENT + count.min(from + BATCH as u64);
            hashes.clear();
            hashes.extend(numbers.map(|number| filter.hash_bytes(&self.key(number))));
            let found = &mut found[..hashes.len()];
            filter.contains_hashes(&hashes, found);
            positives += found.iter().filter(|found| **found).count() as u64;
        }
        positives
    }
}

/// Seeds 0, 1, 2 … far apart from each other (SplitMix64).
///
/// XXH3 combines seed and key by addition and exclusive or before it mixes: with neighbouring seeds, and the
/// same numbers in the keys, many digests of one experiment come again in the next, and the two are not
/// independent.
pub(crate) const fn scattered(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
