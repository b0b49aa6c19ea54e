//! Adding keys, by the one owner of the filter.

use super::BloomFilter;
use crate::bits::Block;
use crate::bloom::kernel::{Answers, Insert, InsertBatch, Keys, Parts, Unasked};
use crate::hash::{Digest, Key, KeyHasher, collected_in_chunks};

impl BloomFilter {
    /// Adds a key. True if it was new: certainly not in the set before.
    ///
    /// False means that it was there already, or that it looks so: with the filter's error rate a new key is taken for
    /// an old one.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.kernel.one_key(self.shape, self, key)
    }

    /// [`insert`](Self::insert) for a key that was hashed already.
    #[inline]
    pub fn insert_hash(&mut self, digest: Digest) -> bool {
        self.kernel.one::<Insert<'_>>(self.shape, &mut self.blocks, digest.get())
    }

    /// Adds many keys at once: `new[i]` tells whether `keys[i]` was new. The same as adding them one by one in order,
    /// and faster when the filter is larger than the cache.
    ///
    /// ```
    /// use mayhap::BloomFilter;
    ///
    /// let mut filter = BloomFilter::with_rate(1_000, 0.001)?;
    /// let mut new = [false; 3];
    /// filter.insert_each(&["apple", "pear", "apple"], &mut new);
    /// assert_eq!(new, [true, true, false]);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_each<K: Key>(&mut self, keys: &[K], new: &mut [bool]) {
        assert_eq!(keys.len(), new.len(), "one answer for each key");
        let (kernel, shape, blocks, answers) = (self.kernel, self.shape, &mut self.blocks, new);
        match self.hasher.as_xxh3() {
            Some(xxh3) => kernel.batch(shape, InsertBatch { blocks, source: Keys(xxh3, keys), answers }),
            None => kernel.batch(shape, InsertBatch { blocks, source: Keys(&self.hasher, keys), answers }),
        }
    }

    /// [`insert_each`](Self::insert_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_hashes(&mut self, digests: &[Digest], new: &mut [bool]) {
        assert_eq!(digests.len(), new.len(), "one answer for each digest");
        self.insert_batch(digests, new);
    }

    pub(super) fn insert_batch(&mut self, digests: &[Digest], answers: impl Answers) {
        self.kernel.batch(self.shape, InsertBatch { blocks: &mut self.blocks, source: digests, answers });
    }

    /// Empties the filter. Its size and plan stay.
    pub fn clear(&mut self) {
        self.blocks.fill(Block::default());
    }
}

/// A filter that is borrowed for change is added to.
impl<'a> Parts<'a> for &'a mut BloomFilter {
    type Work = Insert<'a>;
    #[inline(always)]
    fn hasher(&self) -> &KeyHasher {
        &self.hasher
    }
    #[inline(always)]
    fn blocks(self) -> &'a mut [Block] {
        &mut self.blocks
    }
}

/// Adds every key, in batches.
impl<K: Key> Extend<K> for BloomFilter {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let hasher = self.hasher.clone();
        self.extend(keys.into_iter().map(|key| hasher.digest(&key)));
    }
}

/// Adds every digest, in batches.
impl Extend<Digest> for BloomFilter {
    fn extend<I: IntoIterator<Item = Digest>>(&mut self, digests: I) {
        collected_in_chunks(digests, |digests| self.insert_batch(digests, Unasked::default()));
    }
}
