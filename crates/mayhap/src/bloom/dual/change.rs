//! Adding and removing keys.

use super::DualBloom;
use crate::bloom::chunks::{CHUNK, Hashed, Picked};
use crate::filter::InsertError;
use crate::hash::{Digest, Key};

/// What [`DualBloom::insert`] answers: `Ok(true)` new, `Ok(false)` present already, or why it was refused.
type Inserted = Result<bool, InsertError>;

impl DualBloom {
    /// Adds a key. `Ok(true)` if it was new: certainly not added before. `Ok(false)` if it was present, or looked so.
    ///
    /// Either way the key is visible now: [`contains`](Self::contains) says "mayhap" for it, until it is removed or a
    /// later removal hides it.
    ///
    /// # Errors
    /// [`InsertError::Removed`] when the key was removed before, or the removed side takes it for a removed one. To
    /// add it would have no effect that anyone could see, so nothing is changed and the caller is told.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Inserted {
        let digest = self.hash(key);
        self.insert_hash(digest)
    }

    /// [`insert`](Self::insert) for a key that was hashed already.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&mut self, digest: Digest) -> Inserted {
        if self.removed.contains_hash(digest) {
            return Err(InsertError::Removed);
        }
        Ok(self.added.insert_hash(digest))
    }

    /// Adds many keys: `outcomes[i]` is what [`insert`](Self::insert) says of `keys[i]`. A key that is refused doesn't
    /// stop those after it.
    ///
    /// ```
    /// use mayhap::{DualBloom, InsertError};
    ///
    /// let mut filter = DualBloom::with_rate(1_000, 0.001)?;
    /// filter.insert("quince")?;
    /// filter.remove("quince");
    /// let mut outcomes = [const { Ok(false) }; 4];
    /// filter.insert_each(&["apple", "quince", "pear", "apple"], &mut outcomes);
    /// assert_eq!(outcomes, [Ok(true), Err(InsertError::Removed), Ok(true), Ok(false)]);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_each<K: Key>(&mut self, keys: &[K], outcomes: &mut [Inserted]) {
        assert_eq!(keys.len(), outcomes.len(), "one answer for each key");
        for (keys, outcomes) in keys.chunks(CHUNK).zip(outcomes.chunks_mut(CHUNK)) {
            let digests = Hashed::new(self.hasher(), keys);
            self.insert_chunk(digests.digests(), outcomes);
        }
    }

    /// [`insert_each`](Self::insert_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_hashes(&mut self, digests: &[Digest], outcomes: &mut [Inserted]) {
        assert_eq!(digests.len(), outcomes.len(), "one answer for each digest");
        for (digests, outcomes) in digests.chunks(CHUNK).zip(outcomes.chunks_mut(CHUNK)) {
            self.insert_chunk(digests, outcomes);
        }
    }

    /// Adding changes nothing on the removed side, so that can be asked for all of them first.
    fn insert_chunk(&mut self, digests: &[Digest], outcomes: &mut [Inserted]) {
        let (mut fit, mut new) = ([false; CHUNK], [false; CHUNK]);
        let fit = &mut fit[..digests.len()];
        self.removed.contains_hashes(digests, fit);
        fit.iter_mut().for_each(|removed| *removed = !*removed);
        let picked = Picked::those(digests, fit);
        self.added.insert_hashes(picked.digests(), &mut new[..picked.len()]);
        outcomes.fill(Err(InsertError::Removed));
        for (index, new) in picked.indexes().zip(new) {
            outcomes[index] = Ok(new);
        }
    }

    /// Removes a key, for good. False when it isn't in the set as far as anyone can see (absent, removed before, or
    /// hidden); nothing is changed then.
    ///
    /// A key that was never added, but is answered "mayhap", is removed like any other. No other key goes with it.
    #[inline]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        let digest = self.hash(key);
        self.remove_hash(digest)
    }

    /// [`remove`](Self::remove) for a key that was hashed already.
    #[inline]
    pub fn remove_hash(&mut self, digest: Digest) -> bool {
        self.added.contains_hash(digest) && self.removed.insert_hash(digest)
    }

    /// Removes many keys: `removed[i]` is what [`remove`](Self::remove) says of `keys[i]`.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn remove_each<K: Key>(&mut self, keys: &[K], removed: &mut [bool]) {
        assert_eq!(keys.len(), removed.len(), "one answer for each key");
        for (keys, removed) in keys.chunks(CHUNK).zip(removed.chunks_mut(CHUNK)) {
            let digests = Hashed::new(self.hasher(), keys);
            self.remove_chunk(digests.digests(), removed);
        }
    }

    /// [`remove_each`](Self::remove_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn remove_hashes(&mut self, digests: &[Digest], removed: &mut [bool]) {
        assert_eq!(digests.len(), removed.len(), "one answer for each digest");
        for (digests, removed) in digests.chunks(CHUNK).zip(removed.chunks_mut(CHUNK)) {
            self.remove_chunk(digests, removed);
        }
    }

    /// Removing changes nothing on the added side, so that can be asked for all of them first.
    fn remove_chunk(&mut self, digests: &[Digest], removed: &mut [bool]) {
        self.added.contains_hashes(digests, removed);
        // Who removes keys that were added has nothing to pick.
        if removed.iter().fold(true, |all, found| all & found) {
            return self.removed.insert_hashes(digests, removed);
        }
        let picked = Picked::those(digests, removed);
        let mut new = [false; CHUNK];
        self.removed.insert_hashes(picked.digests(), &mut new[..picked.len()]);
        for (index, new) in picked.indexes().zip(new) {
            removed[index] = new;
        }
    }
}
