//! Taking keys out again.

use super::CountingBloom;
use super::kernel::{Change as _, Remove};
use crate::bloom::kernel::count_true;
use crate::hash::{Digest, Digester as _, Key, eight_made_bytes};

impl CountingBloom {
    /// Removes a key, once. False if it certainly wasn't there; nothing is changed then.
    ///
    /// A key that was added twice is there until it was removed twice. Counters that are stuck stay as they are: a key
    /// of which all counters are stuck stays in the set for ever, whatever is removed.
    ///
    /// **Only for keys that were added.** A key that was not, but looks like a member (with the filter's error rate),
    /// is "removed" as well: counters of other keys are lowered, and those keys may be answered "no" from then on.
    ///
    /// ```
    /// use mayhap::CountingBloom;
    ///
    /// let mut online = CountingBloom::with_rate(1_000, 0.001)?;
    /// online.insert("ada");
    /// assert!(online.remove("ada"));
    /// assert!(!online.remove("grace"), "was never there");
    /// assert!(online.is_empty());
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[inline]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        if let Some(key) = eight_made_bytes(key) {
            return self.remove_eight(key);
        }
        match self.hasher.as_xxh3() {
            Some(xxh3) => {
                let digest = xxh3.digest_bytes(key.key_bytes().as_ref());
                self.remove_hash(digest)
            }
            None => self.remove_by_another_hash(key.key_bytes().as_ref()),
        }
    }

    /// Out of line as a whole, so that a loop of removals keeps nothing in registers for it.
    #[cold]
    #[inline(never)]
    fn remove_by_another_hash(&mut self, key: &[u8]) -> bool {
        let digest = self.hasher.digest_bytes(key);
        self.remove_hash(digest)
    }

    /// [`remove`](Self::remove) for a key that was hashed already.
    #[inline]
    pub fn remove_hash(&mut self, digest: Digest) -> bool {
        let removed = self.one_key.remove(&mut self.blocks, digest.get());
        self.len = Remove::len_after(self.len, removed);
        removed
    }

    /// Removes many keys at once: `removed[i]` tells about `keys[i]`. The same as removing them one by one in order, and
    /// faster when the filter is larger than the cache.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn remove_each<K: Key>(&mut self, keys: &[K], removed: &mut [bool]) {
        assert_eq!(keys.len(), removed.len(), "one answer for each key");
        self.change_keys(keys, removed, Remove);
        self.forget(removed);
    }

    /// [`remove_each`](Self::remove_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn remove_hashes(&mut self, digests: &[Digest], removed: &mut [bool]) {
        assert_eq!(digests.len(), removed.len(), "one answer for each digest");
        self.change_batch(digests, &mut *removed, Remove);
        self.forget(removed);
    }

    /// Takes what was removed off the length.
    fn forget(&mut self, removed: &[bool]) {
        self.len = self.len.saturating_sub(count_true(removed) as u64);
    }
}
