//! Adding keys, and growing when there is no room for a new one.

use super::{Growth, Layer, ScalableBloom};
use crate::bits::AllocError;
use crate::bloom::kernel::count_true;
use crate::filter::InsertError;
use crate::hash::{Digest, Key};
use crate::newest_first::{Growing, TOGETHER, add_to, look_in};

impl ScalableBloom {
    /// Adds a key. True if it was new: certainly not in the set before.
    ///
    /// False means that it was there already, or that it looks so: with the filter's error rate a new key is taken for
    /// an old one.
    ///
    /// # Errors
    /// When the key is new and there is no room for it: [`InsertError::Full`] if the filter doesn't grow
    /// ([`Growth::Refuse`]); [`InsertError::TooLarge`] ([`max_bytes`](super::ScalableBuilder::max_bytes)),
    /// [`InsertError::RateSpent`] (64-bit digests can't give the next layer its share of the rate) and
    /// [`InsertError::TooManyLayers`] if it doesn't grow any further; [`InsertError::Alloc`] if the memory for the next
    /// layer can't be had. The filter is unchanged then, byte for byte.
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
        if self.contains_hash(digest) {
            return Ok(false);
        }
        if self.room_in_newest() == 0 {
            self.grow()?;
        }
        // New in its layer too, because no layer has it.
        self.newest.filter.insert_hash(digest);
        self.newest.inserted += 1;
        Ok(true)
    }

    /// Adds many keys at once: `new[i]` tells whether `keys[i]` was new. The same as adding them one by one in order,
    /// and faster when the filter is larger than the cache.
    ///
    /// ```
    /// use mayhap::ScalableBloom;
    ///
    /// let mut filter = ScalableBloom::with_rate(2, 0.001)?;
    /// let mut new = [false; 4];
    /// filter.insert_each(&["apple", "pear", "apple", "quince"], &mut new)?;
    /// assert_eq!(new, [true, true, false, true]);
    /// assert_eq!((filter.len(), filter.layer_count()), (3, 2));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a key found no room, as in [`insert`](Self::insert). The keys before it are in the filter, and `new` tells
    /// of them; those after it are not, and `new` is false for it and for them.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_each<K: Key>(&mut self, keys: &[K], new: &mut [bool]) -> Result<(), InsertError> {
        assert_eq!(keys.len(), new.len(), "one answer for each key");
        new.fill(false);
        let mut digests = [Digest::new(0); TOGETHER];
        for (keys, new) in keys.chunks(TOGETHER).zip(new.chunks_mut(TOGETHER)) {
            let digests = &mut digests[..keys.len()];
            self.hasher().digest_each(keys, digests);
            add_to(self, digests, new).map_err(|(_, error)| error)?;
        }
        Ok(())
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
        for (digests, new) in digests.chunks(TOGETHER).zip(new.chunks_mut(TOGETHER)) {
            add_to(self, digests, new).map_err(|(_, error)| error)?;
        }
        Ok(())
    }

    /// Empties the filter. Its first layer and its settings stay; the memory of the others is given back.
    pub fn clear(&mut self) {
        if !self.older.is_empty() {
            self.newest = self.older.swap_remove(0);
            self.older.clear();
        }
        self.newest.clear();
    }
}

impl Growing for ScalableBloom {
    type Digest = Digest;

    fn ask_older(&self, digests: &[Digest], found: &mut [bool]) {
        look_in(self.older.iter().rev(), digests, found, |layer, digests, found| {
            layer.filter.contains_hashes(digests, found);
        });
    }

    fn ask_newest(&self, digests: &[Digest], found: &mut [bool]) {
        self.newest.filter.contains_hashes(digests, found);
    }

    #[inline]
    fn room_in_newest(&self) -> u64 {
        if self.settings.growth == Growth::Saturate { u64::MAX } else { self.newest.room() }
    }

    fn add_to_newest(&mut self, digests: &[Digest], new: &mut [bool]) {
        self.newest.filter.insert_hashes(digests, new);
        self.newest.inserted += count_true(new) as u64;
    }

    #[cold]
    fn grow(&mut self) -> Result<(), InsertError> {
        let (layers, bytes) = (self.layer_count(), self.len_bytes());
        let layer = self.settings.next_layer(layers, bytes, &self.hasher, &mut self.coming)?;
        self.older.try_reserve(1).map_err(|_| AllocError { bytes: size_of::<Layer>() as u64 })?;
        self.older.push(core::mem::replace(&mut self.newest, layer));
        Ok(())
    }
}
