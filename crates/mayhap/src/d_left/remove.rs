//! Forgetting keys.

use super::DLeftCounting;
use super::batch::RemoveStep;
use super::table::{self, Removed};
use super::tags::Baseline;
use crate::bloom::kernel::Keys;
use crate::hash::{Digest, Key};

impl DLeftCounting {
    /// Removes one copy of a key. False when the key certainly wasn't there; nothing is changed then.
    ///
    /// Remove only what was added. A key that was never added but is answered "mayhap" is taken for another one, and
    /// removing it removes a copy of that.
    #[inline]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        let digest = self.hash(key);
        self.remove_hash(digest)
    }

    /// [`remove`](Self::remove) for a key that was hashed already.
    #[inline]
    pub fn remove_hash(&mut self, digest: Digest) -> bool {
        let place = self.geometry.place(digest.get());
        let removed = table::remove(Baseline, self.geometry.cell, &mut self.blocks, &place);
        // Counted from the same cells, so neither falls below zero.
        match removed {
            Removed::Nothing => return false,
            Removed::Lowered => {}
            Removed::Freed => self.used_cells -= 1,
        }
        self.len -= 1;
        true
    }

    /// Removes one copy of each of many keys: `removed[i]` tells whether `keys[i]` was there. The same as removing them
    /// one by one in order, and faster when the filter is larger than the cache.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn remove_each<K: Key>(&mut self, keys: &[K], removed: &mut [bool]) {
        assert_eq!(keys.len(), removed.len(), "one answer for each key");
        let hasher = self.hasher.clone();
        match hasher.as_xxh3() {
            Some(xxh3) => RemoveStep::run(self, &Keys(xxh3, keys), removed),
            None => RemoveStep::run(self, &Keys(&hasher, keys), removed),
        }
    }

    /// [`remove_each`](Self::remove_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn remove_hashes(&mut self, digests: &[Digest], removed: &mut [bool]) {
        assert_eq!(digests.len(), removed.len(), "one answer for each digest");
        RemoveStep::run(self, &digests, removed);
    }
}
