//! Asking: one key, or many.

use core::iter;

use super::{BloomFilter, ScalableBloom};
use crate::bits::Blocks;
use crate::hash::{Digest, Key};

/// Keys of a batch that are asked together: each layer sees all of them, less those found in a newer one, before the
/// next layer does. Small enough for the first-level cache, large enough for the layers' own batches.
pub(super) const CHUNK: usize = 512;

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
        let mut digests = [Digest::new(0); CHUNK];
        for (keys, found) in keys.chunks(CHUNK).zip(found.chunks_mut(CHUNK)) {
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
        for (digests, found) in digests.chunks(CHUNK).zip(found.chunks_mut(CHUNK)) {
            self.contains_chunk(digests, found);
        }
    }

    fn contains_chunk(&self, digests: &[Digest], found: &mut [bool]) {
        self.newest.filter.contains_hashes(digests, found);
        look_in(self.older.iter().rev().map(|layer| &layer.filter), digests, found);
    }
}

/// Asks one layer after another for the keys of a chunk that are not `found` yet.
pub(super) fn look_in<'a, S: Blocks + 'a>(
    mut layers: impl Iterator<Item = &'a BloomFilter<S>>,
    digests: &[Digest],
    found: &mut [bool],
) {
    let mut answers = [false; CHUNK];
    let answers = &mut answers[..digests.len()];
    while let Some(layer) = layers.next() {
        if is_worth_leaving_out(count(found), found.len()) {
            let mut missing = Missing::new();
            missing.start(digests, found);
            return missing.look_in(iter::once(layer).chain(layers), found);
        }
        layer.contains_hashes(digests, answers);
        for (found, answer) in found.iter_mut().zip(&*answers) {
            *found |= answer;
        }
    }
}

/// Whether so many of the keys were found that it takes less time to make a list of the others than to ask for all again.
/// (Of a filter that doubles, the newest layer has half of the keys.)
fn is_worth_leaving_out(found: usize, keys: usize) -> bool {
    found > keys * 3 / 8
}

fn count(found: &[bool]) -> usize {
    found.iter().filter(|found| **found).count()
}

/// Keys of a chunk: all that no layer had so far, and perhaps some that one had.
pub(super) struct Missing {
    pub(super) digests: [Digest; CHUNK],
    /// Where in the chunk each of them stands.
    pub(super) places: [u16; CHUNK],
    pub(super) len: usize,
}

impl Missing {
    pub(super) const fn new() -> Self {
        Self { digests: [Digest::new(0); CHUNK], places: [0; CHUNK], len: 0 }
    }

    /// The keys of a chunk that were not found.
    #[allow(clippy::cast_possible_truncation, reason = "a place is below CHUNK")]
    pub(super) fn start(&mut self, digests: &[Digest], found: &[bool]) {
        self.len = 0;
        for (place, (digest, found)) in digests.iter().zip(found).enumerate() {
            // Written always and kept if missing: a branch here would be as unpredictable as the answers.
            self.digests[self.len] = *digest;
            self.places[self.len] = place as u16;
            self.len += usize::from(!*found);
        }
    }

    /// Asks one layer after another, and says who was `found`. Leaves them out where that is worth it.
    fn look_in<'a, S: Blocks + 'a>(
        &mut self,
        layers: impl Iterator<Item = &'a BloomFilter<S>>,
        found: &mut [bool],
    ) {
        let mut answers = [false; CHUNK];
        for layer in layers {
            if self.len == 0 {
                return;
            }
            let answers = &mut answers[..self.len];
            layer.contains_hashes(&self.digests[..self.len], answers);
            let answered = count(answers);
            if is_worth_leaving_out(answered, self.len) {
                self.leave_out(answers, found);
            } else if answered > 0 {
                for (place, answer) in self.places.iter().zip(&*answers) {
                    // A branch, which is mostly foreseen: few were found.
                    if *answer {
                        found[usize::from(*place)] = true;
                    }
                }
            }
        }
    }

    /// Keeps those that were not found, and says who was.
    pub(super) fn leave_out(&mut self, answers: &[bool], found: &mut [bool]) {
        let mut kept = 0;
        for (i, answer) in answers.iter().enumerate() {
            let place = self.places[i];
            found[usize::from(place)] |= answer;
            self.digests[kept] = self.digests[i];
            self.places[kept] = place;
            kept += usize::from(!*answer);
        }
        self.len = kept;
    }

    /// Leaves out the first `count`.
    pub(super) fn drop_first(&mut self, count: usize) {
        self.digests.copy_within(count..self.len, 0);
        self.places.copy_within(count..self.len, 0);
        self.len -= count;
    }
}
