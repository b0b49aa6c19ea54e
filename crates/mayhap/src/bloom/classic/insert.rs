//! Adding keys, by the one owner of the filter.

use super::{ClassicBloom, in_groups};
use crate::bits::{Block, Owned, WordsMut};
use crate::bloom::scheme::Scheme;
use crate::hash::{Digest, Key};

impl<C: Scheme, S: WordsMut> ClassicBloom<C, S> {
    /// Adds a key. True if it was new: certainly not in the set before.
    ///
    /// False means that it was there already, or that it looks so: with the filter's error rate a new key is taken for
    /// an old one.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        let hash = self.hash(key);
        self.insert_hash(hash)
    }

    /// [`insert`](Self::insert) for a key that was hashed already.
    #[inline]
    pub fn insert_hash(&mut self, hash: C::Hash) -> bool {
        let mut new = false;
        for position in self.scheme.positions(hash, self.range).take(self.hashes as usize) {
            let bit = 1 << (position % 64);
            new |= self.words.or(position / 64, bit) & bit == 0;
        }
        new
    }

    /// Adds many keys at once: `new[i]` tells whether `keys[i]` was new. The same as adding them one by one in order.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_each<K: Key>(&mut self, keys: &[K], new: &mut [bool]) {
        assert_eq!(keys.len(), new.len(), "one answer for each key");
        let scheme = self.scheme.clone();
        let mut answers = new.iter_mut();
        self.insert_batch(keys.iter().map(|key| scheme.hash(key)), |is_new| {
            if let Some(answer) = answers.next() {
                *answer = is_new;
            }
        });
    }

    /// [`insert_each`](Self::insert_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_hashes(&mut self, hashes: &[C::Hash], new: &mut [bool]) {
        assert_eq!(hashes.len(), new.len(), "one answer for each hash");
        let mut answers = new.iter_mut();
        self.insert_batch(hashes.iter().copied(), |is_new| {
            if let Some(answer) = answers.next() {
                *answer = is_new;
            }
        });
    }

    pub(crate) fn insert_batch(
        &mut self,
        hashes: impl Iterator<Item = C::Hash>,
        mut answer: impl FnMut(bool),
    ) {
        let ahead = self.wants_prefetch();
        in_groups(
            self,
            hashes,
            ahead,
            |filter, hash| {
                filter.positions(hash).for_each(|position| filter.words.prefetch(position / 64));
            },
            |filter, hash| answer(filter.insert_hash(hash)),
        );
    }
}

impl<C: Scheme> ClassicBloom<C, Owned> {
    /// Empties the filter. Its size and plan stay.
    pub fn clear(&mut self) {
        self.words.fill(Block::default());
    }
}

/// Adds every key, in batches.
impl<K: Key, C: Scheme, S: WordsMut> Extend<K> for ClassicBloom<C, S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let scheme = self.scheme.clone();
        self.insert_batch(keys.into_iter().map(|key| scheme.hash(&key)), |_| ());
    }
}

/// Adds every digest, in batches.
impl<C: Scheme<Hash = Digest>, S: WordsMut> Extend<Digest> for ClassicBloom<C, S> {
    fn extend<I: IntoIterator<Item = Digest>>(&mut self, digests: I) {
        self.insert_batch(digests.into_iter(), |_| ());
    }
}
