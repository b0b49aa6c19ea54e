//! Adding keys, and other filters.

use super::blocks::{SplitBlocks, set_all};
use super::filter::SplitBlockBloom;
use crate::bits::Block;
use crate::hash::Key;
use crate::merge_error::MergeError;

impl SplitBlockBloom {
    /// Adds a key. True if it was new: certainly not in the set before.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        let hash = self.hash(key);
        self.insert_hash(hash)
    }

    /// [`insert`](Self::insert) for a key that was hashed already.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "the lower half is what is wanted")]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        let index = self.index(hash);
        set_all(&mut self.storage, index, hash as u32)
    }

    /// Adds many keys at once: `new[i]` tells whether `keys[i]` was new. The same as adding them one by one in order.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_each<K: Key>(&mut self, keys: &[K], new: &mut [bool]) {
        assert_eq!(keys.len(), new.len(), "one answer for each key");
        let mut answers = new.iter_mut();
        self.insert_batch(keys.iter(), |is_new| {
            if let Some(answer) = answers.next() {
                *answer = is_new;
            }
        });
    }

    fn insert_batch<K: Key>(&mut self, mut keys: impl Iterator<Item = K>, mut answer: impl FnMut(bool)) {
        loop {
            let mut hashes = keys.by_ref().map(|key| self.hash(&key));
            let (group, count) = self.gather(&mut hashes, |index| self.storage.prefetch_block(index));
            if count == 0 {
                return;
            }
            group.into_iter().take(count).for_each(|hash| answer(self.insert_hash(hash)));
        }
    }

    /// Empties the filter.
    pub fn clear(&mut self) {
        self.storage.fill(Block::default());
    }

    /// Adds every key of `other`. Filters of different sizes can be [folded](Self::fold) to one.
    ///
    /// # Errors
    /// When their numbers of blocks differ. Nothing is changed then.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.combine(other, |word, theirs| word | theirs)
    }

    /// Keeps what may be in both filters.
    ///
    /// # Errors
    /// As [`merge`](Self::merge).
    pub fn intersect(&mut self, other: &Self) -> Result<(), MergeError> {
        self.combine(other, |word, theirs| word & theirs)
    }

    fn combine(&mut self, other: &Self, operation: impl Fn(u64, u64) -> u64) -> Result<(), MergeError> {
        if self.blocks != other.blocks {
            return Err(MergeError::Different { what: "numbers of blocks; fold the larger first" });
        }
        for (block, others) in self.storage.iter_mut().zip(other.storage.iter()) {
            for (word, theirs) in block.0.iter_mut().zip(others.0) {
                *word = operation(*word, theirs);
            }
        }
        Ok(())
    }
}

/// Adds every key, in batches.
impl<K: Key> Extend<K> for SplitBlockBloom {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        self.insert_batch(keys.into_iter(), |_| ());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn batches_are_as_one_by_one_small_and_large() {
        for (blocks, count) in [(1u64, 5usize), (3, 100), (16_384, 100_000)] {
            let keys: Vec<u64> = (0..2 * count as u64).collect();
            let mut one_by_one = SplitBlockBloom::with_blocks(blocks).unwrap();
            let (mut batch, mut extended) = (one_by_one.clone(), one_by_one.clone());
            let mut new = vec![false; count];
            batch.insert_each(&keys[..count], &mut new);
            extended.extend(&keys[..count]);
            for (key, new) in keys.iter().zip(&new) {
                assert_eq!(one_by_one.insert(key), *new);
            }
            assert!(batch == one_by_one && extended == one_by_one);
            let mut found = vec![false; keys.len()];
            batch.contains_each(&keys, &mut found);
            assert!(keys.iter().zip(&found).all(|(key, found)| batch.contains(key) == *found));
            let hashes: Vec<u64> = keys.iter().map(|key| batch.hash(key)).collect();
            let mut by_hash = vec![false; keys.len()];
            batch.contains_hashes(&hashes, &mut by_hash);
            assert_eq!(by_hash, found);
            assert!(found[..count].iter().all(|found| *found));
        }
    }

    #[test]
    fn merging_is_building_with_both_and_intersecting_keeps_the_common() {
        let built = |keys: core::ops::Range<i32>| {
            let mut filter = SplitBlockBloom::with_blocks(7).unwrap();
            filter.extend(keys);
            filter
        };
        let mut merged = built(0..60);
        merged.merge(&built(40..100)).unwrap();
        assert!(merged == built(0..100));
        let mut common = built(0..60);
        common.intersect(&built(40..100)).unwrap();
        assert!((40..60).all(|key| common.contains(&key)));
        assert!(common.bits_set() < built(0..60).bits_set());
        assert!(merged.merge(&SplitBlockBloom::with_blocks(8).unwrap()).is_err());
        merged.clear();
        assert_eq!(merged.bits_set(), 0);
    }

    #[test]
    fn the_expected_rate_is_met() {
        let mut filter = SplitBlockBloom::with_bytes(1 << 16).unwrap();
        filter.extend(0..50_000u64);
        let expected = filter.expected_rate();
        let asked = 1_000_000u64;
        let found = (0..asked).filter(|key| filter.contains(&(key + (1 << 40)))).count();
        let rate = found as f64 / asked as f64;
        // Four standard deviations of a binomial count.
        let tolerance = 4.0 * libm::sqrt(expected / asked as f64);
        assert!((rate - expected).abs() < tolerance, "{rate} of {expected}");
        assert!(filter.estimated_fpp() < expected);
        let planned = SplitBlockBloom::planned_rate(50_000, 1 << 16);
        assert!((planned / expected - 1.0).abs() < 0.02, "{planned} was planned, {expected} came of it");
    }
}
