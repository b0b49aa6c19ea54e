//! One sub-filter: buckets of one-byte fingerprints, back to back.

use super::word::{equal, first_bytes};
use crate::bits::{AllocError, BLOCK_BYTES, Owned, prefetch_line};

/// Spreads a fingerprint over the hash, to find a key's other bucket from the one it is in.
const SPREAD: u64 = 0x5bd1_e995;

/// What a filter looks for: a fingerprint, and the two hashes that pick its buckets in every sub-filter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Places {
    fingerprint: u8,
    first: u64,
    second: u64,
}

impl Places {
    /// Where a key belongs, by its hash.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "1 to 255")]
    pub(super) fn of(hash: u64) -> Self {
        Self::of_entry((hash % 255 + 1) as u8, hash)
    }

    /// Where an entry of bucket `bucket` may be, in its own sub-filter and in every one with no more buckets.
    #[inline(always)]
    pub(super) fn of_entry(fingerprint: u8, bucket: u64) -> Self {
        Self { fingerprint, first: bucket, second: other(fingerprint, bucket) }
    }
}

/// The other bucket of a fingerprint, before it is cut to the number of buckets. Twice is once.
#[inline(always)]
fn other(fingerprint: u8, bucket: u64) -> u64 {
    bucket ^ (u64::from(fingerprint) * SPREAD)
}

/// Buckets of fingerprints; 0 is a free slot.
pub(super) struct Table {
    /// The slots, and behind them at least seven bytes more: the last bucket is looked at in whole words, too.
    memory: Owned,
    /// A power of two.
    buckets: u64,
    /// 1 to 255.
    bucket_size: usize,
}

impl Table {
    /// An empty sub-filter. The number of buckets is a power of two.
    pub(super) fn new(buckets: u64, bucket_size: u8) -> Result<Self, AllocError> {
        debug_assert!(buckets.is_power_of_two() && bucket_size > 0);
        let blocks = blocks(buckets, bucket_size).ok_or(AllocError { bytes: u64::MAX })?;
        Ok(Self { memory: Owned::zeroed(blocks)?, buckets, bucket_size: usize::from(bucket_size) })
    }

    /// The memory that one takes, this struct included; `None` if that is beyond counting.
    pub(super) fn memory_for(buckets: u64, bucket_size: u8) -> Option<u64> {
        blocks(buckets, bucket_size)?.checked_mul(BLOCK_BYTES as u64)?.checked_add(size_of::<Self>() as u64)
    }

    /// The memory that this one takes.
    pub(super) fn memory(&self) -> u64 {
        (self.memory.len() * BLOCK_BYTES + size_of::<Self>()) as u64
    }

    pub(super) fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(Self { memory: self.memory.try_clone()?, ..*self })
    }

    pub(super) fn buckets(&self) -> u64 {
        self.buckets
    }

    /// The slots: bucket after bucket, one byte each.
    #[inline(always)]
    pub(super) fn slots(&self) -> &[u8] {
        let bytes = self.memory.bytes();
        bytes.get(..self.len()).unwrap_or(bytes)
    }

    pub(super) fn slots_mut(&mut self) -> &mut [u8] {
        let len = self.len();
        self.memory.bytes_mut().get_mut(..len).unwrap_or_default()
    }

    /// The number of slots. It fits, for they are in memory.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "see above")]
    pub(super) fn len(&self) -> usize {
        self.buckets as usize * self.bucket_size
    }

    /// Whether one of the two buckets holds the fingerprint.
    #[inline(always)]
    pub(super) fn holds(&self, places: &Places) -> bool {
        let (first, second) = (self.start(places.first), self.start(places.second));
        if self.bucket_size <= 8 {
            // Both at once, without a branch between them: their lines are waited for together.
            let equal =
                equal(self.word(first), places.fingerprint) | equal(self.word(second), places.fingerprint);
            return equal & first_bytes(self.bucket_size) != 0;
        }
        self.find(first, places.fingerprint).is_some() || self.find(second, places.fingerprint).is_some()
    }

    /// How often the fingerprint is in the first bucket, plus how often in the second: twice as often as it is there
    /// if both are one bucket.
    #[inline]
    pub(super) fn count(&self, places: &Places) -> u64 {
        [places.first, places.second]
            .into_iter()
            .flat_map(|bucket| self.equals(self.start(bucket), places.fingerprint))
            .map(|(_, equal)| u64::from(equal.count_ones()))
            .sum()
    }

    /// The first free slot of the first bucket, or else of the second.
    #[inline(always)]
    pub(super) fn free(&self, places: &Places) -> Option<usize> {
        self.find(self.start(places.first), 0).or_else(|| self.find(self.start(places.second), 0))
    }

    /// Writes a slot.
    #[inline(always)]
    pub(super) fn put(&mut self, slot: usize, fingerprint: u8) {
        if let Some(byte) = self.memory.bytes_mut().get_mut(slot) {
            *byte = fingerprint;
        }
    }

    /// Puts the fingerprint into the first free slot of its buckets. False if there is none.
    #[inline(always)]
    pub(super) fn insert(&mut self, places: &Places) -> bool {
        let slot = self.free(places);
        if let Some(slot) = slot {
            self.put(slot, places.fingerprint);
        }
        slot.is_some()
    }

    /// Frees the first slot with the fingerprint. False if there is none.
    #[inline(always)]
    pub(super) fn remove(&mut self, places: &Places) -> bool {
        let slot = self
            .find(self.start(places.first), places.fingerprint)
            .or_else(|| self.find(self.start(places.second), places.fingerprint));
        if let Some(slot) = slot {
            self.put(slot, 0);
        }
        slot.is_some()
    }

    /// Puts the fingerprint where another one is, that one into its other bucket, and so on, until one finds a free
    /// slot. The one in the way is in slot 0 at first, then in 1, and so on around the bucket. If none of
    /// `max_iterations` steps ends at a free slot they are taken back, and every byte is as it was: that is exact,
    /// because the way back to a fingerprint's bucket is the way to its other one.
    ///
    /// Both buckets of the fingerprint must be full.
    pub(super) fn evict(&mut self, places: &Places, max_iterations: u16) -> bool {
        let mut fingerprint = places.fingerprint;
        let mut start = self.start(places.first);
        let mut bucket = places.first;
        let mut victim = 0;
        for _ in 0..max_iterations {
            self.swap(start + victim, &mut fingerprint);
            bucket = other(fingerprint, bucket);
            start = self.start(bucket);
            if let Some(slot) = self.find(start, 0) {
                self.put(slot, fingerprint);
                return true;
            }
            victim = if victim + 1 == self.bucket_size { 0 } else { victim + 1 };
        }
        for _ in 0..max_iterations {
            victim = if victim == 0 { self.bucket_size - 1 } else { victim - 1 };
            bucket = other(fingerprint, bucket);
            start = self.start(bucket);
            self.swap(start + victim, &mut fingerprint);
        }
        false
    }

    /// How many slots are taken.
    pub(super) fn taken(&self) -> u64 {
        let free: u64 = (0..self.len())
            .step_by(8)
            .map(|at| {
                let rest = (self.len() - at).min(8);
                u64::from((equal(self.word(at), 0) & first_bytes(rest)).count_ones())
            })
            .sum();
        self.len() as u64 - free
    }

    /// Starts loading both buckets.
    #[inline(always)]
    pub(super) fn prefetch(&self, places: &Places) {
        for bucket in [places.first, places.second] {
            if let Some(byte) = self.memory.bytes().get(self.start(bucket)) {
                prefetch_line(byte);
            }
        }
    }

    /// The first slot of a bucket. In 64 bits throughout: the original cuts it to 32, which makes two buckets of a
    /// sub-filter beyond 4 GiB one.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "a slot in memory has an index")]
    fn start(&self, bucket: u64) -> usize {
        (bucket & (self.buckets - 1)) as usize * self.bucket_size
    }

    #[inline(always)]
    fn swap(&mut self, slot: usize, fingerprint: &mut u8) {
        if let Some(byte) = self.memory.bytes_mut().get_mut(slot) {
            core::mem::swap(byte, fingerprint);
        }
    }

    /// The first slot of the bucket at `start` that has this byte.
    #[inline(always)]
    fn find(&self, start: usize, byte: u8) -> Option<usize> {
        self.equals(start, byte)
            .find(|(_, equal)| *equal != 0)
            .map(|(at, equal)| at + equal.trailing_zeros() as usize / 8)
    }

    /// The bucket at `start` eight slots at a time: where they begin, and the highest bit of each that has this byte.
    #[inline(always)]
    fn equals(&self, start: usize, byte: u8) -> impl Iterator<Item = (usize, u64)> {
        (0..self.bucket_size).step_by(8).map(move |offset| {
            let mask = first_bytes((self.bucket_size - offset).min(8));
            (start + offset, equal(self.word(start + offset), byte) & mask)
        })
    }

    /// Eight bytes from `at` on, the first one lowest.
    #[inline(always)]
    fn word(&self, at: usize) -> u64 {
        let bytes = self.memory.bytes().get(at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.bucket_size == other.bucket_size && self.slots() == other.slots()
    }
}

/// Blocks for the slots and the seven bytes behind them.
fn blocks(buckets: u64, bucket_size: u8) -> Option<u64> {
    Some(buckets.checked_mul(u64::from(bucket_size))?.checked_add(7)?.div_ceil(BLOCK_BYTES as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9_7f4a_7c15);
        *state ^ (*state >> 32)
    }

    fn random_table(buckets: u64, bucket_size: u8, bytes: u64, state: &mut u64) -> Table {
        let mut table = Table::new(buckets, bucket_size).unwrap();
        table.slots_mut().iter_mut().for_each(|slot| *slot = (random(state) % bytes) as u8);
        table
    }

    #[test]
    fn words_find_what_single_bytes_would() {
        let mut state = 1;
        for bucket_size in 1..=255u8 {
            let table = random_table(8, bucket_size, 4, &mut state);
            let slots = table.slots();
            for bucket in 0..8u64 {
                for byte in [0, 1, 2, 3, 0x80, 0xff] {
                    let start = bucket as usize * usize::from(bucket_size);
                    let bytes = &slots[start..start + usize::from(bucket_size)];
                    let first = bytes.iter().position(|slot| *slot == byte).map(|index| start + index);
                    assert_eq!(table.find(start, byte), first);
                    let places = Places::of_entry(byte, bucket);
                    let both = [bucket, other(byte, bucket) % 8].map(|bucket| {
                        let start = bucket as usize * usize::from(bucket_size);
                        slots[start..start + usize::from(bucket_size)]
                            .iter()
                            .filter(|slot| **slot == byte)
                            .count()
                    });
                    assert_eq!(table.count(&places), (both[0] + both[1]) as u64);
                    assert_eq!(table.holds(&places), both[0] + both[1] > 0);
                }
            }
            assert_eq!(table.taken(), slots.iter().filter(|slot| **slot != 0).count() as u64);
        }
    }

    /// Full tables of every bucket size: no step can end, so all are taken back.
    #[test]
    fn an_eviction_that_fails_leaves_every_byte() {
        let mut state = 3;
        for bucket_size in 1..=40u8 {
            for buckets in [1, 2, 4, 64] {
                let mut table = random_table(buckets, bucket_size, 255, &mut state);
                table.slots_mut().iter_mut().for_each(|slot| *slot = (*slot).max(1));
                let before: Vec<u8> = table.slots().to_vec();
                for max_iterations in [1, 2, 3, 20, 500] {
                    let places = Places::of(random(&mut state));
                    assert!(!table.evict(&places, max_iterations));
                    assert_eq!(table.slots(), before);
                }
            }
        }
    }

    #[test]
    fn an_eviction_that_ends_keeps_all_fingerprints_within_reach() {
        let mut state = 4;
        for bucket_size in 1..=8u8 {
            let mut table = Table::new(64, bucket_size).unwrap();
            let mut held: Vec<Places> = Vec::new();
            for _ in 0..64 * usize::from(bucket_size) {
                let places = Places::of(random(&mut state));
                if table.insert(&places) || table.evict(&places, 100) {
                    held.push(places);
                }
                assert!(held.iter().all(|places| table.holds(places)));
            }
            assert_eq!(table.taken(), held.len() as u64);
            assert!(held.iter().all(|places| table.remove(places)));
            assert_eq!(table.taken(), 0);
        }
    }

    #[test]
    fn impossible_sizes_are_errors() {
        assert_eq!(Table::memory_for(1 << 63, 255), None);
        assert!(Table::new(1 << 63, 255).is_err());
        assert!(Table::new(1 << 56, 255).is_err());
    }
}
