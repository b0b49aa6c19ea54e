//! Adding and removing keys.

use super::CuckooFilter;
use crate::filter::InsertError;
use crate::hash::{Digest, Key, in_chunks, try_in_chunks};

impl CuckooFilter {
    /// Adds a key: once more, if it is there already. True if it was new: certainly not in the set before.
    ///
    /// False means that it was there already, or that it looks so; a copy was added all the same, so that the key can be
    /// removed as often as it was added.
    ///
    /// # Errors
    /// [`InsertError::Full`] when no room could be made, and [`InsertError::TooManyCopies`] when both buckets of the
    /// key hold nothing but its copies. The filter is as it was then, byte for byte.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, InsertError> {
        let digest = self.hash(key);
        self.insert_hash(digest)
    }

    /// [`insert`](Self::insert) for a key that was hashed already.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&mut self, digest: Digest) -> Result<bool, InsertError> {
        self.table.insert(digest.get(), false, self.search)
    }

    /// Adds a key if it isn't there. True if it was new, and has been added.
    ///
    /// Never follow it with [`remove`](Self::remove) unless it said true: a new key that looks like an old one is not
    /// added, and removing it would remove the other.
    ///
    /// ```
    /// use mayhap::CuckooFilter;
    ///
    /// let mut filter = CuckooFilter::with_rate(1_000, 0.0001)?;
    /// assert!(filter.insert_unique("apple")?);
    /// assert!(!filter.insert_unique("apple")?);
    /// assert_eq!(filter.len(), 1);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`InsertError::Full`] when no room could be made. The filter is as it was then, byte for byte.
    #[inline]
    pub fn insert_unique<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, InsertError> {
        let digest = self.hash(key);
        self.insert_unique_hash(digest)
    }

    /// [`insert_unique`](Self::insert_unique) for a key that was hashed already.
    ///
    /// # Errors
    /// As [`insert_unique`](Self::insert_unique).
    #[inline]
    pub fn insert_unique_hash(&mut self, digest: Digest) -> Result<bool, InsertError> {
        self.table.insert(digest.get(), true, self.search)
    }

    /// Adds many keys at once: `new[i]` tells whether `keys[i]` was new. The same as adding them one by one in order,
    /// and faster when the filter is larger than the cache.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), at the first key that is refused. The keys before it are in the filter, those from it
    /// on are not, and `new` is false for them.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_each<K: Key>(&mut self, keys: &[K], new: &mut [bool]) -> Result<(), InsertError> {
        assert_eq!(keys.len(), new.len(), "one answer for each key");
        let Self { table, search, hasher, .. } = self;
        // For those that a refusal leaves out.
        new.fill(false);
        try_in_chunks(hasher, keys, new, |digests, new| table.insert_many(digests, new, *search))
    }

    /// [`insert_each`](Self::insert_each) for keys that were hashed already.
    ///
    /// # Errors
    /// As [`insert_each`](Self::insert_each).
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_hashes(&mut self, digests: &[Digest], new: &mut [bool]) -> Result<(), InsertError> {
        assert_eq!(digests.len(), new.len(), "one answer for each digest");
        new.fill(false);
        self.table.insert_many(digests, new, self.search)
    }

    /// Removes a key, once. False if it certainly wasn't there; nothing is changed then.
    ///
    /// Remove only what was added: [`Remove`](crate::filter::Remove) says why.
    ///
    /// ```
    /// use mayhap::CuckooFilter;
    ///
    /// let mut filter = CuckooFilter::with_rate(1_000, 0.0001)?;
    /// filter.insert("apple")?;
    /// assert!(filter.remove("apple"));
    /// assert!(!filter.remove("apple"));
    /// assert!(filter.is_empty());
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[inline]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        let digest = self.hash(key);
        self.remove_hash(digest)
    }

    /// [`remove`](Self::remove) for a key that was hashed already.
    #[inline]
    pub fn remove_hash(&mut self, digest: Digest) -> bool {
        self.table.remove(digest.get())
    }

    /// Removes many keys at once: `removed[i]` tells whether `keys[i]` was there. The same as removing them one by one
    /// in order, and faster when the filter is larger than the cache.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn remove_each<K: Key>(&mut self, keys: &[K], removed: &mut [bool]) {
        assert_eq!(keys.len(), removed.len(), "one answer for each key");
        let Self { table, hasher, .. } = self;
        in_chunks(hasher, keys, removed, |digests, removed| table.remove_many(digests, removed));
    }

    /// [`remove_each`](Self::remove_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn remove_hashes(&mut self, digests: &[Digest], removed: &mut [bool]) {
        assert_eq!(digests.len(), removed.len(), "one answer for each digest");
        self.table.remove_many(digests, removed);
    }

    /// Empties the filter. Its size and plan stay.
    pub fn clear(&mut self) {
        self.table.clear();
    }
}
