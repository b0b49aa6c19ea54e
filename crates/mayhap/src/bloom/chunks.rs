//! Batches for filters that ask several others: a few digests at a time, and of those the ones still to be asked for.
//!
//! Each filter inside is asked for a whole chunk at once, so that it can prefetch; digests that are decided already are
//! left out of the next one's chunk.

use super::BloomFilter;
use crate::bits::Blocks;
use crate::bloom::kernel::count_true;
use crate::hash::{Digest, Key, KeyHasher};

/// Digests in a chunk: enough to keep the memory busy, few enough for the stack and the first-level cache.
pub(super) const CHUNK: usize = 256;

/// Asks a filter for those digests of a chunk that are `wanted`. The other answers mean nothing.
///
/// Picking a few out costs about as much as asking for them, so where half or more are wanted all are asked for.
pub(super) fn contains_wanted<S: Blocks>(
    filter: &BloomFilter<S>,
    digests: &[Digest],
    wanted: &[bool],
    answers: &mut [bool],
) {
    let count = count_true(wanted);
    if 2 * count >= digests.len() {
        return filter.contains_hashes(digests, answers);
    }
    if count > 0 {
        let picked = Picked::those(digests, wanted);
        let mut found = [false; CHUNK];
        filter.contains_hashes(picked.digests(), &mut found[..picked.len()]);
        for (index, found) in picked.indexes().zip(found) {
            answers[index] = found;
        }
    }
}

/// The digests of a chunk of keys.
pub(super) struct Hashed {
    digests: [Digest; CHUNK],
    len: usize,
}

impl Hashed {
    /// Of at most [`CHUNK`] keys; more are left out.
    pub(super) fn new<K: Key>(hasher: &KeyHasher, keys: &[K]) -> Self {
        let (mut digests, len) = ([Digest::new(0); CHUNK], keys.len().min(CHUNK));
        hasher.digest_each(&keys[..len], &mut digests[..len]);
        Self { digests, len }
    }

    pub(super) fn digests(&self) -> &[Digest] {
        &self.digests[..self.len]
    }
}

/// Some digests of a chunk, and where in it they stand.
pub(super) struct Picked {
    digests: [Digest; CHUNK],
    indexes: [u16; CHUNK],
    len: usize,
}

impl Picked {
    /// Those of at most [`CHUNK`] digests that are `wanted`, in order.
    #[inline]
    pub(super) fn those(digests: &[Digest], wanted: &[bool]) -> Self {
        let mut picked = Self { digests: [Digest::new(0); CHUNK], indexes: [0; CHUNK], len: 0 };
        for (index, (digest, wanted)) in (0u16..).zip(digests.iter().zip(wanted).take(CHUNK)) {
            // Written always and kept only if wanted: the answers can't be predicted.
            picked.digests[picked.len] = *digest;
            picked.indexes[picked.len] = index;
            picked.len += usize::from(*wanted);
        }
        picked
    }

    pub(super) fn digests(&self) -> &[Digest] {
        &self.digests[..self.len]
    }

    pub(super) fn indexes(&self) -> impl Iterator<Item = usize> {
        self.indexes[..self.len].iter().map(|index| usize::from(*index))
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }
}
