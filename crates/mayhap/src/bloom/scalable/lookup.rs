//! Asking: one key, or many.

use super::ScalableBloom;
use crate::bits::Blocks;
use crate::hash::{Digest, Key};
use crate::newest_first::{TOGETHER, look_in};

impl<S: Blocks> ScalableBloom<S> {
    /// Whether the key may be in the set. `false` is certain.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// [`contains`](Self::contains) for a key that was hashed already.
    #[inline]
    pub fn contains_hash(&self, digest: Digest) -> bool {
        self.newest.filter.contains_hash(digest)
            || self.older.iter().rev().any(|layer| layer.filter.contains_hash(digest))
    }

    /// Asks for many keys at once: `found[i]` tells whether `keys[i]` may be in the set.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
        assert_eq!(keys.len(), found.len(), "one answer for each key");
        let mut digests = [Digest::new(0); TOGETHER];
        for (keys, found) in keys.chunks(TOGETHER).zip(found.chunks_mut(TOGETHER)) {
            let digests = &mut digests[..keys.len()];
            self.hasher().digest_each(keys, digests);
            self.contains_chunk(digests, found);
        }
    }

    /// [`contains_each`](Self::contains_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hashes(&self, digests: &[Digest], found: &mut [bool]) {
        assert_eq!(digests.len(), found.len(), "one answer for each digest");
        for (digests, found) in digests.chunks(TOGETHER).zip(found.chunks_mut(TOGETHER)) {
            self.contains_chunk(digests, found);
        }
    }

    fn contains_chunk(&self, digests: &[Digest], found: &mut [bool]) {
        self.newest.filter.contains_hashes(digests, found);
        look_in(self.older.iter().rev(), digests, found, |layer, digests, found| {
            layer.filter.contains_hashes(digests, found);
        });
    }
}
