//! Adding and removing keys.

use core::ops::ControlFlow;

use super::ScalableCuckoo;
use super::compact::Pass;
use super::layer::Layer;
use crate::bits::{BLOCK_BYTES, Owned};
use crate::filter::InsertError;
use crate::hash::{Digest, Key, in_chunks};
use crate::newest_first::{TOGETHER, do_in};

/// What became of a key.
struct Inserted {
    is_new: bool,
    /// The layer that took it, unless it was there already and is not to be there twice.
    layer: Option<usize>,
}

impl ScalableCuckoo {
    /// Adds a key: once more, if it is there already. True if it was new: certainly not in the set before.
    ///
    /// False means that it was there already, or that it looks so; a copy was added all the same, so that the key can be
    /// removed as often as it was added.
    ///
    /// # Errors
    /// [`InsertError::TooManyCopies`] when the filter holds as many copies of the key as two buckets have places: there are
    /// no more of a key, however large the filter is, though the copies it may have take room as other keys do, and can
    /// make it grow. [`InsertError::TooManyLayers`] at [`max_layers`](super::ScalableCuckooBuilder::max_layers)
    /// ([`InsertError::Full`] if that is one), [`InsertError::TooLarge`] at
    /// [`max_bytes`](super::ScalableCuckooBuilder::max_bytes), [`InsertError::RateSpent`] when fingerprints of 32 bits
    /// wouldn't keep the rate of another layer, [`InsertError::Alloc`] when there is no memory for it. The filter is as it
    /// was then, byte for byte.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, InsertError> {
        let digest = self.hash(key);
        self.insert_hash(digest)
    }

    /// [`insert`](Self::insert) for a key that was hashed already.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_hash(&mut self, digest: Digest) -> Result<bool, InsertError> {
        self.insert_one(digest).map(|inserted| inserted.is_new)
    }

    /// Adds a key if it isn't there. True if it was new, and has been added.
    ///
    /// Never follow it with [`remove`](Self::remove) unless it said true: a new key that looks like an old one is not
    /// added, and removing it would remove the other.
    ///
    /// # Errors
    /// When it can't grow, as [`insert`](Self::insert). The filter is as it was then.
    #[inline]
    pub fn insert_unique<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, InsertError> {
        let digest = self.hash(key);
        self.insert_unique_hash(digest)
    }

    /// [`insert_unique`](Self::insert_unique) for a key that was hashed already.
    ///
    /// # Errors
    /// As [`insert_unique`](Self::insert_unique).
    pub fn insert_unique_hash(&mut self, digest: Digest) -> Result<bool, InsertError> {
        self.insert_one_unique(digest).map(|inserted| inserted.is_new)
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
        // For those that a refusal leaves out.
        new.fill(false);
        let mut digests = [Digest::new(0); TOGETHER];
        for (keys, new) in keys.chunks(TOGETHER).zip(new.chunks_mut(TOGETHER)) {
            let digests = &mut digests[..keys.len()];
            self.hasher.digest_each(keys, digests);
            self.insert_some(digests, new)?;
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
            self.insert_some(digests, new)?;
        }
        Ok(())
    }

    /// A group of keys, up to the first that is refused.
    fn insert_some(&mut self, digests: &[Digest], new: &mut [bool]) -> Result<(), InsertError> {
        let mut refused = Ok(());
        self.insert_together(digests, Self::insert_one, |place, answer| match answer {
            Ok(is_new) => {
                new[place] = is_new;
                ControlFlow::Continue(())
            }
            Err(error) => {
                refused = Err(error);
                ControlFlow::Break(())
            }
        });
        refused
    }

    /// Adds many keys that were hashed already, each for itself: `answers[i]` is what [`insert_hash`](Self::insert_hash)
    /// says about `digests[i]`. A key that is refused doesn't end the batch.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn try_insert_hashes(&mut self, digests: &[Digest], answers: &mut [Result<bool, InsertError>]) {
        self.try_each(digests, answers, Self::insert_one);
    }

    /// The same with [`insert_unique_hash`](Self::insert_unique_hash): only the keys that aren't there are added.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn try_insert_unique_hashes(
        &mut self,
        digests: &[Digest],
        answers: &mut [Result<bool, InsertError>],
    ) {
        self.try_each(digests, answers, Self::insert_one_unique);
    }

    fn try_each(
        &mut self,
        digests: &[Digest],
        answers: &mut [Result<bool, InsertError>],
        insert: fn(&mut Self, Digest) -> Result<Inserted, InsertError>,
    ) {
        assert_eq!(digests.len(), answers.len(), "one answer for each digest");
        for (digests, answers) in digests.chunks(TOGETHER).zip(answers.chunks_mut(TOGETHER)) {
            self.insert_together(digests, insert, |place, answer| {
                answers[place] = answer;
                ControlFlow::Continue(())
            });
        }
    }

    /// Gives each key of a group to `insert`, in order, and tells what became of it, as long as somebody wants to know. But
    /// most keys need less: all layers are asked for the whole group at once, and while nothing but the newest of them
    /// changes, a key that wasn't found can only have come to that one since.
    fn insert_together(
        &mut self,
        digests: &[Digest],
        insert: fn(&mut Self, Digest) -> Result<Inserted, InsertError>,
        mut tell: impl FnMut(usize, Result<bool, InsertError>) -> ControlFlow<()>,
    ) {
        let mut found = [false; TOGETHER];
        let found = &mut found[..digests.len()];
        self.contains_hashes(digests, found);
        let newest = self.layers.len() - 1;
        let mut others_are_as_asked = true;
        for (place, (digest, found)) in digests.iter().zip(found).enumerate() {
            let answer = if others_are_as_asked && !*found && self.newest_takes(*digest) {
                Ok(true)
            } else {
                insert(self, *digest).map(|inserted| {
                    others_are_as_asked &= inserted.layer.is_none_or(|layer| layer == newest);
                    inserted.is_new
                })
            };
            if tell(place, answer).is_break() {
                return;
            }
        }
    }

    /// Adds a key to the newest layer, if it isn't there and there is room. True if it was added.
    fn newest_takes(&mut self, digest: Digest) -> bool {
        self.layers.last_mut().is_some_and(|layer| {
            layer.has_room() && matches!(layer.table.insert(digest.get(), true, self.search), Ok(true))
        })
    }

    /// Removes a key, once. False if it certainly wasn't there; nothing is changed then.
    ///
    /// Remove only what was added: [`Remove`](crate::filter::Remove) says why.
    #[inline]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        let digest = self.hash(key);
        self.remove_hash(digest)
    }

    /// [`remove`](Self::remove) for a key that was hashed already.
    #[inline]
    pub fn remove_hash(&mut self, digest: Digest) -> bool {
        // The newest first: who looks the same there looks the same in all older ones, and finds his there.
        self.layers.iter_mut().rev().any(|layer| layer.table.remove(digest.get()))
    }

    /// Removes many keys at once: `removed[i]` tells whether `keys[i]` was there. The same as removing them one by one
    /// in order, and faster when the filter is larger than the cache.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn remove_each<K: Key>(&mut self, keys: &[K], removed: &mut [bool]) {
        assert_eq!(keys.len(), removed.len(), "one answer for each key");
        let Self { layers, hasher, .. } = self;
        in_chunks(hasher, keys, removed, |digests, removed| remove_from(layers, digests, removed));
    }

    /// [`remove_each`](Self::remove_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn remove_hashes(&mut self, digests: &[Digest], removed: &mut [bool]) {
        assert_eq!(digests.len(), removed.len(), "one answer for each digest");
        remove_from(&mut self.layers, digests, removed);
    }

    /// Empties the filter. Its first layer stays.
    pub fn clear(&mut self) {
        self.layers.truncate(1);
        for layer in &mut self.layers {
            layer.table.clear();
        }
        self.pass = Pass::default();
    }

    /// [`insert`](Self::insert).
    fn insert_one(&mut self, digest: Digest) -> Result<Inserted, InsertError> {
        let copies = self.count_hash(digest);
        let limit = u64::from(2 * self.settings.layout.entries_per_bucket());
        if copies >= limit {
            return Err(InsertError::TooManyCopies { limit });
        }
        Ok(Inserted { is_new: copies == 0, layer: Some(self.add(digest.get())?) })
    }

    /// [`insert_unique`](Self::insert_unique).
    fn insert_one_unique(&mut self, digest: Digest) -> Result<Inserted, InsertError> {
        if self.contains_hash(digest) {
            return Ok(Inserted { is_new: false, layer: None });
        }
        Ok(Inserted { is_new: true, layer: Some(self.add(digest.get())?) })
    }

    /// Adds a fingerprint to the newest layer that takes it: the newest, or one in which keys were removed, or a new one.
    /// Tells its number.
    fn add(&mut self, digest: u64) -> Result<usize, InsertError> {
        for (number, layer) in self.layers.iter_mut().enumerate().rev().filter(|(_, layer)| layer.has_room())
        {
            match layer.table.insert(digest, false, self.search) {
                // No room could be made, or both places of the key are one bucket.
                Err(InsertError::Full | InsertError::TooManyCopies { .. }) => {}
                other => return other.map(|_| number),
            }
        }
        let mut layer = self.next_layer()?;
        layer.table.insert(digest, false, self.search)?;
        self.layers.try_reserve(1).map_err(|_| InsertError::Full)?;
        self.layers.push(layer);
        self.pass = Pass::default();
        Ok(self.layers.len() - 1)
    }

    fn next_layer(&self) -> Result<Layer<Owned>, InsertError> {
        let most = self.settings.max_layers;
        let number = u32::try_from(self.layers.len()).unwrap_or(most);
        if number >= most {
            // One layer is a filter of a fixed size.
            let limit = u64::from(most);
            return Err(if limit > 1 { InsertError::TooManyLayers { limit } } else { InsertError::Full });
        }
        let newest = self.layers.last().map_or(self.settings.layout, |newest| newest.table.layout());
        let design = self.settings.design(number, newest.fingerprint_bits())?;
        let bytes = design.lines().saturating_mul(BLOCK_BYTES as u64).saturating_add(self.len_bytes());
        if let Some(limit) = self.settings.max_bytes
            && bytes > limit
        {
            return Err(InsertError::TooLarge { bytes, limit });
        }
        design.new_layer()
    }
}

/// A key is looked for in the newest layer first, as [`ScalableCuckoo::remove_hash`] does, and each layer gets its keys in
/// their order: so no two keys come to each other's places in another order than one by one.
fn remove_from(layers: &mut [Layer<Owned>], digests: &[Digest], removed: &mut [bool]) {
    // One layer needs no list of those that are left.
    if let [layer] = layers {
        return layer.table.remove_many(digests, removed);
    }
    for (digests, removed) in digests.chunks(TOGETHER).zip(removed.chunks_mut(TOGETHER)) {
        do_in(layers.iter_mut().rev(), digests, removed, |layer, digests, removed| {
            layer.table.remove_many(digests, removed);
        });
    }
}
