//! Asking: one item, or many.

use super::{Link, RedisBloom, RedisHash};
use crate::bits::Words;
use crate::bloom::Scheme;
use crate::hash::Key;

/// Items of a batch that are asked together: each link sees all of them, less those found in a newer one, before the
/// next link does.
pub(super) const TOGETHER: usize = 256;

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
        if !older.is_empty() {
            let mut missing = Missing::new(hashes);
            missing.keep(found);
            missing.look_in(older);
            // Whoever was found in an older link is missing no more.
            found.fill(true);
            missing.places().iter().for_each(|place| found[usize::from(*place)] = false);
        }
    }
}

/// The items of a group that no link had so far, in order.
pub(super) struct Missing {
    hashes: [RedisHash; TOGETHER],
    /// Where in the group each of them stands.
    places: [u16; TOGETHER],
    len: usize,
}

impl Missing {
    /// All of at most [`TOGETHER`] items.
    #[allow(clippy::cast_possible_truncation, reason = "a place is below TOGETHER")]
    pub(super) fn new(hashes: &[RedisHash]) -> Self {
        let mut all = [RedisHash::default(); TOGETHER];
        all[..hashes.len()].copy_from_slice(hashes);
        Self { hashes: all, places: core::array::from_fn(|place| place as u16), len: hashes.len() }
    }

    pub(super) fn hashes(&self) -> &[RedisHash] {
        &self.hashes[..self.len]
    }

    pub(super) fn places(&self) -> &[u16] {
        &self.places[..self.len]
    }

    /// Asks one link after another, the newest first, and keeps what none has.
    pub(super) fn look_in<S: Words>(&mut self, links: &[Link<S>]) {
        let mut found = [false; TOGETHER];
        for link in links.iter().rev() {
            if self.len == 0 {
                return;
            }
            let found = &mut found[..self.len];
            link.filter.contains_hashes(&self.hashes[..self.len], found);
            self.keep(found);
        }
    }

    /// Leaves out the first `count`.
    pub(super) fn drop_first(&mut self, count: usize) {
        self.hashes.copy_within(count..self.len, 0);
        self.places.copy_within(count..self.len, 0);
        self.len -= count;
    }

    /// Keeps those that were not found. Each is written always and kept if missing: a branch would be as unpredictable
    /// as the answers.
    fn keep(&mut self, found: &[bool]) {
        let mut kept = 0;
        for (i, found) in found.iter().enumerate() {
            self.hashes[kept] = self.hashes[i];
            self.places[kept] = self.places[i];
            kept += usize::from(!*found);
        }
        self.len = kept;
    }
}
