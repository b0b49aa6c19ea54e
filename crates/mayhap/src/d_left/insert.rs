//! Adding keys.

use super::DLeftCounting;
use super::batch::InsertStep;
use super::place::Place;
use super::table::{self, Added};
use super::tags::{Baseline, Compare};
use crate::bits::Block;
use crate::bloom::kernel::Keys;
use crate::filter::InsertError;
use crate::hash::{Digest, Key};

impl DLeftCounting {
    /// Adds a copy of a key. True if it was new: certainly not in the set before.
    ///
    /// False means that it was there already, or that it looks so: with the filter's error rate a new key is taken for
    /// an old one, and shares its count from then on.
    ///
    /// # Errors
    /// [`Full`](InsertError::Full) when there is no room for the key, and
    /// [`TooManyCopies`](InsertError::TooManyCopies) when most of the room it could have is taken by itself: a larger
    /// filter wouldn't help, [wider counters](super::DLeftBuilder::counter_bits) would. Nothing is changed then.
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
        self.insert_at(Baseline, &self.geometry.place(digest.get()))
    }

    #[inline(always)]
    pub(super) fn insert_at(&mut self, compare: impl Compare, place: &Place) -> Result<bool, InsertError> {
        let added = table::insert(compare, &self.geometry, &mut self.blocks, place)?;
        self.len += 1;
        self.used_cells += u64::from(added != Added::Raised);
        Ok(added == Added::Took { new: true })
    }

    /// Adds many keys at once: `new[i]` tells whether `keys[i]` was new. The same as adding them one by one in order,
    /// and faster when the filter is larger than the cache.
    ///
    /// ```
    /// use mayhap::DLeftCounting;
    ///
    /// let mut filter = DLeftCounting::with_rate(1_000, 0.001)?;
    /// let mut new = [false; 3];
    /// filter.insert_each(&["apple", "pear", "apple"], &mut new)?;
    /// assert_eq!(new, [true, true, false]);
    /// assert_eq!(filter.len(), 3);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a key was refused on the way. The keys before it are in the filter, those from it on are not, and `new` is
    /// false for them; [`len`](Self::len) tells how many were taken.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_each<K: Key>(&mut self, keys: &[K], new: &mut [bool]) -> Result<(), InsertError> {
        assert_eq!(keys.len(), new.len(), "one answer for each key");
        // A copy, because the filter changes while its hasher is in use.
        let hasher = self.hasher.clone();
        match hasher.as_xxh3() {
            Some(xxh3) => InsertStep::run(self, &Keys(xxh3, keys), new),
            None => InsertStep::run(self, &Keys(&hasher, keys), new),
        }
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
        InsertStep::run(self, &digests, new)
    }

    /// Empties the filter. Its size and plan stay.
    pub fn clear(&mut self) {
        self.blocks.fill(Block::default());
        (self.len, self.used_cells) = (0, 0);
    }
}
