//! One filter, many threads: as `BloomFilter`'s, see there.

use super::{ClassicBloom, in_groups};
use crate::bits::{Owned, Shared, Target, place, prefetch_line};
use crate::bloom::scheme::Scheme;
use crate::hash::{Digest, Key};

impl<C: Scheme> ClassicBloom<C> {
    /// Lets many threads add to this filter. Nothing is copied.
    #[must_use]
    pub fn into_shared(self) -> ClassicBloom<C, Shared> {
        let Self { words, scheme, bits, range, hashes, plan } = self;
        ClassicBloom { words: Shared::from(words), scheme, bits, range, hashes, plan }
    }
}

impl<C: Scheme<Hash = Digest>> ClassicBloom<C, Shared> {
    /// Adds a key; true for exactly one of the threads that add it at the same time.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.insert_hash(self.hash(key))
    }

    /// [`insert`](Self::insert) for a key that was hashed already.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "only the lowest bits choose the lock")]
    pub fn insert_hash(&self, digest: Digest) -> bool {
        let stripes = &self.words.stripes;
        stripes.insert(&Positions { filter: self, digest }, || stripes.hold(digest.get() as usize))
    }

    /// Adds many keys: `new[i]` tells whether `keys[i]` was new, as by [`insert`](Self::insert) one by one.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_each<K: Key>(&self, keys: &[K], new: &mut [bool]) {
        assert_eq!(keys.len(), new.len(), "one answer for each key");
        let mut answers = new.iter_mut();
        self.batch(keys.iter().map(|key| self.hash(key)), |digest| {
            if let Some(answer) = answers.next() {
                *answer = self.insert_hash(digest);
            }
        });
    }

    /// [`insert_each`](Self::insert_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_hashes(&self, digests: &[Digest], new: &mut [bool]) {
        assert_eq!(digests.len(), new.len(), "one answer for each digest");
        let mut answers = new.iter_mut();
        self.batch(digests.iter().copied(), |digest| {
            if let Some(answer) = answers.next() {
                *answer = self.insert_hash(digest);
            }
        });
    }

    /// Adds a key without asking whether it was new. Lock-free.
    #[inline]
    pub fn set<K: Key + ?Sized>(&self, key: &K) {
        self.set_hash(self.hash(key));
    }

    /// [`set`](Self::set) for a key that was hashed already.
    #[inline]
    pub fn set_hash(&self, digest: Digest) {
        Positions { filter: self, digest }.set();
    }

    /// Adds many keys without asking whether they were new. Lock-free.
    pub fn set_each<K: Key>(&self, keys: &[K]) {
        self.batch(keys.iter().map(|key| self.hash(key)), |digest| self.set_hash(digest));
    }

    /// [`set_each`](Self::set_each) for keys that were hashed already.
    pub fn set_hashes(&self, digests: &[Digest]) {
        self.batch(digests.iter().copied(), |digest| self.set_hash(digest));
    }

    fn batch(&self, digests: impl Iterator<Item = Digest>, mut add: impl FnMut(Digest)) {
        in_groups(
            &mut &*self,
            digests,
            self.wants_prefetch(),
            |filter, digest| {
                for position in filter.positions(digest) {
                    prefetch_line(&filter.words.blocks()[place(position / 64).0]);
                }
            },
            |_, digest| add(digest),
        );
    }

    /// Takes the filter back from the threads. Nothing is copied.
    #[must_use]
    pub fn into_owned(self) -> ClassicBloom<C> {
        let Self { words, scheme, bits, range, hashes, plan } = self;
        ClassicBloom { words: Owned::from(words), scheme, bits, range, hashes, plan }
    }
}

/// A key's bits in shared words.
struct Positions<'a, C: Scheme> {
    filter: &'a ClassicBloom<C, Shared>,
    digest: C::Hash,
}

impl<C: Scheme> Target for Positions<'_, C> {
    #[inline(always)]
    fn is_set(&self) -> bool {
        self.filter.contains_hash(self.digest)
    }

    #[inline(always)]
    fn set(&self) -> bool {
        let mut any_unset = false;
        for position in self.filter.positions(self.digest) {
            let (block, lane) = place(position / 64);
            any_unset |= self.filter.words.blocks()[block].or_word(lane, 1 << (position % 64));
        }
        any_unset
    }
}
