//! Asking: one item, or many.

use super::{RedisBloom, RedisHash};
use crate::bits::Words;
use crate::bloom::Scheme;
use crate::hash::Key;
use crate::newest_first::{TOGETHER, look_in};

impl<S: Words> RedisBloom<S> {
    /// Whether the item may be in the set, as `BF.EXISTS` answers. `false` is certain.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, item: &K) -> bool {
        self.contains_hash(self.hash(item))
    }

    /// [`contains`](Self::contains) for an item that was hashed already.
    #[inline]
    pub fn contains_hash(&self, hash: RedisHash) -> bool {
        self.links.iter().rev().any(|link| link.filter.contains_hash(hash))
    }

    /// `BF.MEXISTS`: `found[i]` tells whether `items[i]` may be in the set.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each<K: Key>(&self, items: &[K], found: &mut [bool]) {
        assert_eq!(items.len(), found.len(), "one answer for each item");
        let mut hashes = [RedisHash::default(); TOGETHER];
        for (items, found) in items.chunks(TOGETHER).zip(found.chunks_mut(TOGETHER)) {
            self.contains_together(self.hash_each(items, &mut hashes), found);
        }
    }

    /// [`contains_each`](Self::contains_each) for items that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hashes(&self, hashes: &[RedisHash], found: &mut [bool]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        for (hashes, found) in hashes.chunks(TOGETHER).zip(found.chunks_mut(TOGETHER)) {
            self.contains_together(hashes, found);
        }
    }

    /// The hashes of at most [`TOGETHER`] items.
    pub(super) fn hash_each<'a, K: Key>(
        &self,
        items: &[K],
        hashes: &'a mut [RedisHash; TOGETHER],
    ) -> &'a [RedisHash] {
        let hashes = &mut hashes[..items.len()];
        self.recipe().hash_each(items, hashes);
        hashes
    }

    fn contains_together(&self, hashes: &[RedisHash], found: &mut [bool]) {
        let Some((newest, older)) = self.links.split_last() else { return };
        newest.filter.contains_hashes(hashes, found);
        look_in(older.iter().rev(), hashes, found, |link, hashes, found| {
            link.filter.contains_hashes(hashes, found);
        });
    }
}
