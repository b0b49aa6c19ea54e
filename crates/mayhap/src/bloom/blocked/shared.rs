//! One filter, many threads.
//!
//! Asking takes no lock. Adding comes in two kinds: [`insert`](BloomFilter::insert) answers whether the key was new,
//! and gives that answer to exactly one of the threads that add a key at the same time; it takes a short spin lock if
//! the key isn't there yet. [`set`](BloomFilter::set) answers nothing and is lock-free: nobody waits for a thread that
//! lost its core. It isn't faster: where a lock keeps other writers away, all bits of a key are written at once, while a
//! filter that is also set without one takes an atomic instruction for each of them, in `set` and in `insert`. The very
//! first `set` of a filter changes it from the one to the other, and waits until inserts under way are through. Where
//! not even that is wanted, set an empty batch before the threads start.
//!
//! What one thread has added another sees as soon as they have met otherwise (a channel, a join, a lock), as with any
//! memory in Rust; without that, soon. No bit is ever lost.

use super::BloomFilter;
use crate::bits::{Owned, Shared};
use crate::bloom::kernel::{Answers, Keys, SharedBatch, SharedInsert, SharedSet, Source, Unasked};
#[cfg(feature = "std")]
use crate::bloom::kernel::{Regions, SharedSetLocked, second_digest};
use crate::hash::{Digest, Key};

impl BloomFilter {
    /// Lets many threads add to this filter. Nothing is copied.
    ///
    /// ```
    /// use mayhap::BloomFilter;
    ///
    /// let taken = BloomFilter::with_rate(1_000_000, 0.001)?.into_shared();
    /// let winners: usize = std::thread::scope(|scope| {
    ///     let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| taken.insert("ada"))).collect();
    ///     threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
    /// });
    /// assert_eq!(winners, 1, "the nickname is given to one of them");
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[must_use]
    pub fn into_shared(self) -> BloomFilter<Shared> {
        BloomFilter {
            blocks: Shared::from(self.blocks),
            hasher: self.hasher,
            shape: self.shape,
            kernel: self.kernel,
            plan: self.plan,
        }
    }
}

impl BloomFilter<Shared> {
    /// Adds a key; true for exactly one of the threads that add it at the same time.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.insert_hash(self.hash(key))
    }

    /// [`insert`](Self::insert) for a key that was hashed already.
    #[inline]
    pub fn insert_hash(&self, digest: Digest) -> bool {
        self.kernel.one::<SharedInsert<'_>>(self.shape, &self.blocks, digest.get())
    }

    /// Adds many keys: `new[i]` tells whether `keys[i]` was new, as by [`insert`](Self::insert) one by one.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_each<K: Key>(&self, keys: &[K], new: &mut [bool]) {
        assert_eq!(keys.len(), new.len(), "one answer for each key");
        match self.hasher.as_xxh3() {
            Some(xxh3) => self.insert_batch(Keys(xxh3, keys), new),
            None => self.insert_batch(Keys(&self.hasher, keys), new),
        }
    }

    /// [`insert_each`](Self::insert_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_hashes(&self, digests: &[Digest], new: &mut [bool]) {
        assert_eq!(digests.len(), new.len(), "one answer for each digest");
        self.insert_batch(digests, new);
    }

    /// Adds a key without asking whether it was new. Lock-free, but for the first call on a filter, which waits for inserts
    /// under way, if there are any.
    ///
    /// ```
    /// use mayhap::BloomFilter;
    ///
    /// let filter = BloomFilter::with_rate(1_000, 0.01)?.into_shared();
    /// filter.set_hashes(&[]); // the first call, while nobody inserts: from here on no `set` ever waits
    /// filter.set("apple");
    /// assert!(filter.contains("apple") && !filter.insert("apple"));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[inline]
    pub fn set<K: Key + ?Sized>(&self, key: &K) {
        self.set_hash(self.hash(key));
    }

    /// [`set`](Self::set) for a key that was hashed already.
    #[inline]
    pub fn set_hash(&self, digest: Digest) {
        self.kernel.one::<SharedSet<'_>>(self.shape, &self.blocks, digest.get());
    }

    /// Adds many keys without asking whether they were new. Lock-free, as [`set`](Self::set) is.
    pub fn set_each<K: Key>(&self, keys: &[K]) {
        match self.hasher.as_xxh3() {
            Some(xxh3) => self.set_batch(Keys(xxh3, keys)),
            None => self.set_batch(Keys(&self.hasher, keys)),
        }
    }

    /// [`set_each`](Self::set_each) for keys that were hashed already.
    pub fn set_hashes(&self, digests: &[Digest]) {
        self.set_batch(digests);
    }

    /// Takes the filter back from the threads. Nothing is copied.
    #[must_use]
    pub fn into_owned(self) -> BloomFilter {
        BloomFilter {
            blocks: Owned::from(self.blocks),
            hasher: self.hasher,
            shape: self.shape,
            kernel: self.kernel,
            plan: self.plan,
        }
    }

    /// Holds the locks of a key's blocks, for a caller that has more to decide than whether the key is new.
    #[cfg(feature = "std")]
    #[inline]
    pub(in crate::bloom) fn lock_hash(&self, digest: Digest) -> (impl Drop, Option<impl Drop>) {
        let two = self.shape.lines() == 2;
        let regions = Regions::new(self.blocks.blocks(), two);
        let first = regions.first_place(digest.get());
        let second = if two { regions.second_place(second_digest(digest.get())) } else { first };
        self.blocks.stripes.hold_both([first, second])
    }

    /// Adds a key [whose locks](Self::lock_hash) the caller holds; true if it was new.
    #[cfg(feature = "std")]
    #[inline]
    pub(in crate::bloom) fn set_locked_hash(&self, digest: Digest) -> bool {
        self.kernel.one::<SharedSetLocked<'_>>(self.shape, &self.blocks, digest.get())
    }

    #[inline]
    fn insert_batch(&self, source: impl Source, answers: impl Answers) {
        let (blocks, stripes) = (self.blocks.blocks(), Some(&self.blocks.stripes));
        self.kernel.batch(self.shape, SharedBatch { blocks, stripes, source, answers });
    }

    #[inline]
    fn set_batch(&self, source: impl Source) {
        self.blocks.stripes.open();
        let blocks = self.blocks.blocks();
        self.kernel
            .batch(self.shape, SharedBatch { blocks, stripes: None, source, answers: Unasked::default() });
    }
}
