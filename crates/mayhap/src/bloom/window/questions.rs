//! Was it seen lately?

use super::WindowBloom;
use crate::bits::Blocks;
use crate::bloom::BloomFilter;
use crate::bloom::chunks::{CHUNK, Hashed, contains_wanted};
use crate::hash::{Digest, Key};

/// An instant before every other: a question at it goes by the newest one seen.
pub(super) const NEWEST_SEEN: u64 = 0;

impl<S: Blocks> WindowBloom<S> {
    /// Whether the key may have been seen within the window that ends now. `false` is certain: it was not.
    ///
    /// `now` doesn't move the clock. Before the newest instant seen it counts as that one; by count it is ignored.
    #[inline]
    pub fn contains_at<K: Key + ?Sized>(&self, key: &K, now: u64) -> bool {
        self.contains_hash_at(self.hash(key), now)
    }

    /// [`contains_at`](Self::contains_at) for a key that was hashed already.
    #[inline]
    pub fn contains_hash_at(&self, digest: Digest, now: u64) -> bool {
        self.live_at(now).any(|generation| generation.contains_hash(digest))
    }

    /// Asks for many keys at once: `found[i]` tells whether `keys[i]` may have been seen.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each_at<K: Key>(&self, keys: &[K], now: u64, found: &mut [bool]) {
        assert_eq!(keys.len(), found.len(), "one answer for each key");
        for (keys, found) in keys.chunks(CHUNK).zip(found.chunks_mut(CHUNK)) {
            self.contains_chunk(Hashed::new(self.hasher(), keys).digests(), now, found);
        }
    }

    /// [`contains_each_at`](Self::contains_each_at) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hashes_at(&self, digests: &[Digest], now: u64, found: &mut [bool]) {
        assert_eq!(digests.len(), found.len(), "one answer for each digest");
        for (digests, found) in digests.chunks(CHUNK).zip(found.chunks_mut(CHUNK)) {
            self.contains_chunk(digests, now, found);
        }
    }

    fn contains_chunk(&self, digests: &[Digest], now: u64, found: &mut [bool]) {
        found.fill(false);
        find_in(self.live_at(now), digests, found);
    }

    /// [`contains_at`](Self::contains_at) the newest instant seen.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_at(key, NEWEST_SEEN)
    }

    /// [`contains`](Self::contains) for a key that was hashed already.
    #[inline]
    pub fn contains_hash(&self, digest: Digest) -> bool {
        self.contains_hash_at(digest, NEWEST_SEEN)
    }

    /// [`contains_each_at`](Self::contains_each_at) the newest instant seen.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
        self.contains_each_at(keys, NEWEST_SEEN, found);
    }

    /// [`contains_hashes_at`](Self::contains_hashes_at) the newest instant seen.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hashes(&self, digests: &[Digest], found: &mut [bool]) {
        self.contains_hashes_at(digests, NEWEST_SEEN, found);
    }
}

/// Asks one generation after the other for those digests of a chunk that are not found yet.
pub(super) fn find_in<'a, S: Blocks + 'a>(
    generations: impl Iterator<Item = &'a BloomFilter<S>>,
    digests: &[Digest],
    found: &mut [bool],
) {
    let (mut missing, mut answers) = ([false; CHUNK], [false; CHUNK]);
    let (missing, answers) = (&mut missing[..digests.len()], &mut answers[..digests.len()]);
    for generation in generations {
        for (missing, found) in missing.iter_mut().zip(&*found) {
            *missing = !found;
        }
        contains_wanted(generation, digests, missing, answers);
        // Where it was found before, the answer means nothing.
        for (found, answer) in found.iter_mut().zip(&*answers) {
            *found |= answer;
        }
    }
}
