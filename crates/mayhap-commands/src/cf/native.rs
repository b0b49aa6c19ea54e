//! A native cuckoo filter, beyond what it does by itself: limits, removals that are counted, compaction in small steps.

use std::sync::RwLock;

use mayhap::codec::FormatError;
use mayhap::{Digest, InsertError, ScalableCuckoo};

use super::create::{MOST_NATIVE_KICKS, native_expansion};
use super::filter::{Answer, Mode, Refusal, write};
use crate::allowance::Allowance;
use crate::ask::TOGETHER;
use crate::{Keyspace, NativeCuckoo};

/// Buckets or fingerprints that one removal looks at to compact the filter, if that is due: some microseconds.
const STEP_OF_A_REMOVAL: u64 = 64;
/// Buckets or fingerprints that `CF.COMPACT` looks at between two breaks: a fraction of a millisecond.
const STEP: u64 = 1 << 12;

impl NativeCuckoo {
    /// A filter that came as a file, from which so many items were deleted since its last compaction.
    ///
    /// # Errors
    /// When one add could look at more buckets than in any filter that is made here: everybody would wait for it.
    pub fn loaded(filter: ScalableCuckoo, deleted: u64) -> Result<Self, FormatError> {
        let kicks = u64::from(filter.max_kicks());
        if kicks > MOST_NATIVE_KICKS {
            let must_be = "at most 16384 in a server: build the filter with fewer";
            return Err(FormatError::BadField { field: "most kicks", value: kicks, must_be });
        }
        Ok(Self { filter, deleted })
    }

    /// Says how far the filter may grow now.
    pub(super) fn set_limit<K: Keyspace>(&mut self, allowance: &Allowance<'_, K>) {
        let limit = allowance.most_bytes(self.filter.len_bytes());
        self.filter.set_max_bytes(Some(limit));
    }

    /// The digests of at most [`TOGETHER`] items.
    pub(super) fn hash_each<'d>(&self, items: &[&[u8]], digests: &'d mut [Digest; TOGETHER]) -> &'d [Digest] {
        for (digest, item) in digests.iter_mut().zip(items) {
            *digest = self.filter.hash(*item);
        }
        digests.get(..items.len()).unwrap_or_default()
    }

    pub(super) fn add(&mut self, item: &[u8], mode: Mode) -> Answer {
        let added = match mode {
            Mode::Always => self.filter.insert(item).map(|_| true),
            Mode::Unique => self.filter.insert_unique(item),
        };
        added.map_err(|error| self.refusal(&error))
    }

    /// Adds at most [`TOGETHER`] items, one after the other.
    pub(super) fn add_each(&mut self, items: &[&[u8]], mode: Mode, answers: &mut [Answer]) {
        let mut digests = [Digest::new(0); TOGETHER];
        let digests = self.hash_each(items, &mut digests);
        let mut added = [const { Ok(false) }; TOGETHER];
        let added = added.get_mut(..items.len()).unwrap_or_default();
        match mode {
            Mode::Always => self.filter.try_insert_hashes(digests, added),
            Mode::Unique => self.filter.try_insert_unique_hashes(digests, added),
        }
        for (answer, added) in answers.iter_mut().zip(added) {
            *answer = match added {
                // A copy is no less added than the first one.
                Ok(new) => Ok(*new || mode == Mode::Always),
                Err(error) => Err(self.refusal(error)),
            };
        }
    }

    fn refusal(&self, error: &InsertError) -> Refusal {
        let is_last = self.filter.layer_count() as u64 >= u64::from(self.filter.max_layers());
        match error {
            InsertError::TooManyCopies { limit } => Refusal::Copies { limit: *limit },
            InsertError::Full if is_last && native_expansion(&self.filter) == 0 => Refusal::Full,
            InsertError::Full | InsertError::TooManyLayers { .. } if is_last => Refusal::Expansions,
            InsertError::RateSpent => Refusal::Rate,
            _ => Refusal::Memory,
        }
    }

    pub(super) fn remove(&mut self, item: &[u8]) -> bool {
        let removed = self.filter.remove(item);
        self.count_removals(u64::from(removed));
        removed
    }

    /// Removes at most [`TOGETHER`] items, one after the other.
    pub(super) fn remove_each(&mut self, items: &[&[u8]], removed: &mut [bool]) {
        if self.is_compaction_due(items.len() as u64) {
            // Moving fingerprints may change what an item that isn't there is answered. Then the order of moves and
            // removals matters.
            for (item, removed) in items.iter().zip(removed) {
                *removed = self.remove(item);
            }
            return;
        }
        let mut digests = [Digest::new(0); TOGETHER];
        self.filter.remove_hashes(self.hash_each(items, &mut digests), removed);
        // Whoever restored it may have said any number.
        let removed = removed.iter().filter(|removed| **removed).count() as u64;
        self.deleted = self.deleted.saturating_add(removed);
    }

    /// Removals are followed by a little compaction when they are many, instead of one of them by all of it.
    fn count_removals(&mut self, removed: u64) {
        self.deleted = self.deleted.saturating_add(removed);
        if removed > 0 && self.is_compaction_due(0) && !self.filter.compact_step(STEP_OF_A_REMOVAL) {
            self.deleted = 0;
        }
    }

    /// Whether compaction is due, or would be after so many more removals: RedisBloom begins when removals since the last
    /// time are more than a tenth of the items.
    fn is_compaction_due(&self, more: u64) -> bool {
        self.filter.layer_count() > 1
            && self.deleted.saturating_add(more).saturating_mul(10) > self.filter.len().saturating_sub(more)
    }
}

/// Compacts a filter, and lets others at it every fraction of a millisecond; a step never comes between what the host
/// does alone.
pub(super) fn compact<K: Keyspace>(host: &K, filter: &RwLock<NativeCuckoo>) {
    let mut steps_left = u64::MAX;
    loop {
        let inside = host.hold();
        let mut held = write(filter);
        // Each bucket and each fingerprint there is now, looked at once: who adds keys meanwhile can't keep us here.
        let most =
            held.filter.capacity_slots().saturating_mul(2) / STEP + held.filter.layer_count() as u64 + 1;
        steps_left = steps_left.min(most);
        if !held.filter.compact_step(STEP) || steps_left == 0 {
            held.deleted = 0;
            return;
        }
        steps_left -= 1;
        drop(held);
        drop(inside);
        std::thread::yield_now();
    }
}
