//! Adding keys.

use super::CountingBloom;
use super::kernel::{Change as _, Insert};
use crate::bits::Block;
use crate::bloom::kernel::{Answers, Source, Unasked};
use crate::hash::{Digest, Digester as _, Key, collected_in_chunks, eight_made_bytes};

impl CountingBloom {
    /// Adds a key, or another copy of it. True if it was new: certainly not in the set before.
    ///
    /// False means that it was there already, or that it looks so: with the filter's error rate a new key is taken for
    /// an old one. Either way it is counted. Counters at their maximum stay there: the key is in the set all the same.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        if let Some(key) = eight_made_bytes(key) {
            return self.insert_eight(key);
        }
        match self.hasher.as_xxh3() {
            Some(xxh3) => {
                let digest = xxh3.digest_bytes(key.key_bytes().as_ref());
                self.insert_hash(digest)
            }
            None => self.insert_by_another_hash(key.key_bytes().as_ref()),
        }
    }

    /// Out of line as a whole, so that a loop of inserts keeps nothing in registers for it.
    #[cold]
    #[inline(never)]
    fn insert_by_another_hash(&mut self, key: &[u8]) -> bool {
        let digest = self.hasher.digest_bytes(key);
        self.insert_hash(digest)
    }

    /// [`insert`](Self::insert) for a key that was hashed already.
    #[inline]
    pub fn insert_hash(&mut self, digest: Digest) -> bool {
        let is_new = self.one_key.insert(&mut self.blocks, digest.get());
        self.len = Insert::len_after(self.len, is_new);
        is_new
    }

    /// Adds many keys at once: `new[i]` tells whether `keys[i]` was new. The same as adding them one by one in order,
    /// and faster when the filter is larger than the cache.
    ///
    /// ```
    /// use mayhap::CountingBloom;
    ///
    /// let mut filter = CountingBloom::with_rate(1_000, 0.001)?;
    /// let mut new = [false; 3];
    /// filter.insert_each(&["apple", "pear", "apple"], &mut new);
    /// assert_eq!(new, [true, true, false]);
    /// assert_eq!(filter.count("apple"), 2);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_each<K: Key>(&mut self, keys: &[K], new: &mut [bool]) {
        assert_eq!(keys.len(), new.len(), "one answer for each key");
        self.len = self.len.saturating_add(keys.len() as u64);
        self.change_keys(keys, new, Insert);
    }

    /// [`insert_each`](Self::insert_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_hashes(&mut self, digests: &[Digest], new: &mut [bool]) {
        assert_eq!(digests.len(), new.len(), "one answer for each digest");
        self.insert_batch(digests, new);
    }

    fn insert_batch(&mut self, source: impl Source, answers: impl Answers) {
        self.len = self.len.saturating_add(source.len() as u64);
        self.change_batch(source, answers, Insert);
    }

    /// Empties the filter, stuck counters too. Its size and plan stay.
    pub fn clear(&mut self) {
        self.blocks.fill(Block::default());
        self.len = 0;
    }
}

/// Adds every key, in batches.
impl<K: Key> Extend<K> for CountingBloom {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let hasher = self.hasher.clone();
        self.extend(keys.into_iter().map(|key| hasher.digest(&key)));
    }
}

/// Adds every digest, in batches.
impl Extend<Digest> for CountingBloom {
    fn extend<I: IntoIterator<Item = Digest>>(&mut self, digests: I) {
        collected_in_chunks(digests, |digests| self.insert_batch(digests, Unasked::default()));
    }
}
