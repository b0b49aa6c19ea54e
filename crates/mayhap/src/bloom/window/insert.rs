//! Seeing keys, and forgetting them.

use super::clock::{Hand, MOST_INSERTIONS};
use super::questions::{NEWEST_SEEN, find_in};
use super::{Generation, WindowBloom};
use crate::bits::Owned;
use crate::bloom::BloomFilter;
use crate::bloom::chunks::{CHUNK, Hashed};
use crate::hash::{Digest, Key, collected_in_chunks};

impl WindowBloom {
    /// Sees a key now. True if it was new: certainly not seen within the window that ends now.
    ///
    /// New or not, from now on it is remembered for the whole window again. `now` moves the clock; before the newest
    /// instant seen it counts as that one; by count it is ignored.
    #[inline]
    pub fn insert_at<K: Key + ?Sized>(&mut self, key: &K, now: u64) -> bool {
        let digest = self.hash(key);
        self.insert_hash_at(digest, now)
    }

    /// [`insert_at`](Self::insert_at) for a key that was hashed already.
    #[inline]
    pub fn insert_hash_at(&mut self, digest: Digest, now: u64) -> bool {
        self.step(1, now);
        // A key that has nothing to set in the newest generation is in it; the others decide about the rest.
        self.newest_mut().insert_hash(digest) && !self.older().any(|older| older.contains_hash(digest))
    }

    /// Sees many keys now, in order: `new[i]` tells whether `keys[i]` was new.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_each_at<K: Key>(&mut self, keys: &[K], now: u64, new: &mut [bool]) {
        assert_eq!(keys.len(), new.len(), "one answer for each key");
        for (keys, new) in keys.chunks(CHUNK).zip(new.chunks_mut(CHUNK)) {
            let digests = Hashed::new(self.hasher(), keys);
            self.insert_chunk(digests.digests(), now, new);
        }
    }

    /// [`insert_each_at`](Self::insert_each_at) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_hashes_at(&mut self, digests: &[Digest], now: u64, new: &mut [bool]) {
        assert_eq!(digests.len(), new.len(), "one answer for each digest");
        for (digests, new) in digests.chunks(CHUNK).zip(new.chunks_mut(CHUNK)) {
            self.insert_chunk(digests, now, new);
        }
    }

    /// By count a slot may end within a chunk, so it is taken in parts.
    fn insert_chunk(&mut self, digests: &[Digest], now: u64, new: &mut [bool]) {
        let mut done = 0;
        while done < digests.len() {
            let part = done..done + self.step(digests.len() - done, now);
            done = part.end;
            let (digests, new) = (&digests[part.clone()], &mut new[part]);
            self.newest_mut().insert_hashes(digests, new);
            let mut found = [false; CHUNK];
            for (found, new) in found.iter_mut().zip(&*new) {
                *found = !new;
            }
            find_in(self.older(), digests, &mut found[..digests.len()]);
            for (new, found) in new.iter_mut().zip(found) {
                *new = !found;
            }
        }
    }

    /// [`insert_at`](Self::insert_at) the newest instant seen; by count, at the next one.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_at(key, NEWEST_SEEN)
    }

    /// [`insert`](Self::insert) for a key that was hashed already.
    #[inline]
    pub fn insert_hash(&mut self, digest: Digest) -> bool {
        self.insert_hash_at(digest, NEWEST_SEEN)
    }

    /// [`insert_each_at`](Self::insert_each_at) the newest instant seen; by count, at the next ones.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_each<K: Key>(&mut self, keys: &[K], new: &mut [bool]) {
        self.insert_each_at(keys, NEWEST_SEEN, new);
    }

    /// [`insert_hashes_at`](Self::insert_hashes_at) the newest instant seen; by count, at the next ones.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_hashes(&mut self, digests: &[Digest], new: &mut [bool]) {
        self.insert_hashes_at(digests, NEWEST_SEEN, new);
    }

    /// Moves the clock to `now` and empties the generations that are too old by then. By count it does nothing.
    ///
    /// Insertions do this by themselves. Call it to choose the moment, or to have the memory of a filter that nobody
    /// inserts into any more counted right: questions give the same answers either way.
    pub fn advance(&mut self, now: u64) {
        if self.clock.hand == Hand::Time {
            let slots = self.clock.advance(now);
            self.turn(slots);
        }
    }

    /// Empties the filter, and forgets the time: it is at instant 0 again, as when it was made, and by count no insertion
    /// has been. Its window, size and plan stay.
    pub fn clear(&mut self) {
        self.ring.iter_mut().for_each(Generation::clear);
        self.clock = self.clock.restarted();
    }

    /// Moves the clock on for up to `count` insertions now, and says how many of them belong to the newest slot: all of
    /// them, or by count those that still fit.
    #[inline]
    fn step(&mut self, count: usize, now: u64) -> usize {
        match self.clock.hand {
            Hand::Time => {
                self.advance(now);
                count
            }
            Hand::Insertions(inserted) => {
                // What can't be counted any more happens at the last instant that could.
                let instant = inserted.min(MOST_INSERTIONS - 1);
                let slots = self.clock.advance(instant);
                self.turn(slots);
                let fitting = usize::try_from(self.clock.room(instant)).unwrap_or(count).min(count);
                let inserted = instant.saturating_add(fitting as u64).min(MOST_INSERTIONS);
                self.clock.hand = Hand::Insertions(inserted);
                fitting
            }
        }
    }

    /// Lets so many slots begin: each takes the place of the oldest generation.
    #[inline]
    pub(super) fn turn(&mut self, slots: u64) {
        if slots > 0 {
            self.turn_ring(slots);
        }
    }

    // Out of line: it happens once in a slot.
    #[cold]
    fn turn_ring(&mut self, slots: u64) {
        for _ in 0..slots.min(self.ring.len() as u64) {
            self.newest = if self.newest + 1 == self.ring.len() { 0 } else { self.newest + 1 };
            self.ring[self.newest].clear();
        }
    }

    /// The generation of the current slot, to be added to.
    #[inline]
    fn newest_mut(&mut self) -> &mut BloomFilter {
        let newest = &mut self.ring[self.newest];
        newest.used = true;
        &mut newest.filter
    }

    /// All generations but the newest, newest first.
    #[inline]
    fn older(&self) -> impl Iterator<Item = &BloomFilter> {
        self.by_age().skip(1).map(|generation| &generation.filter)
    }
}

impl Generation<Owned> {
    fn clear(&mut self) {
        if self.used {
            self.filter.clear();
            self.used = false;
        }
    }
}

/// Sees every key, in batches, at the newest instant seen; by count, at the next ones.
impl<K: Key> Extend<K> for WindowBloom {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let hasher = self.hasher().clone();
        self.extend(keys.into_iter().map(|key| hasher.digest(&key)));
    }
}

/// Sees every digest, in batches, at the newest instant seen; by count, at the next ones.
impl Extend<Digest> for WindowBloom {
    fn extend<I: IntoIterator<Item = Digest>>(&mut self, digests: I) {
        collected_in_chunks(digests, |mut digests| {
            while !digests.is_empty() {
                let (now, later) = digests.split_at(self.step(digests.len(), NEWEST_SEEN));
                // Nobody asks what was new, so the older generations needn't be.
                self.newest_mut().extend(now.iter().copied());
                digests = later;
            }
        });
    }
}
