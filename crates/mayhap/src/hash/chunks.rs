//! Keys hashed a thousand at a time, for batches that are compiled for digests alone; and digests put together into batches.

use core::convert::Infallible;

use super::{Digest, Key, KeyHasher};
use crate::bits::prefetch_row;

/// Digests in a chunk: enough to keep the memory busy, few enough for the stack and the first-level cache. Filters of several
/// layers like them large: with 256, the few that are left for the oldest layers aren't worth a batch.
const CHUNK: usize = 1024;

/// Hands over the digests of the keys, a chunk at a time, with their part of the answers. The first error ends it.
#[inline]
pub(crate) fn try_in_chunks<K: Key, A, E>(
    hasher: &KeyHasher,
    keys: &[K],
    answers: &mut [A],
    mut each: impl FnMut(&[Digest], &mut [A]) -> Result<(), E>,
) -> Result<(), E> {
    let mut digests = [Digest::new(0); CHUNK];
    let mut coming = keys.chunks(CHUNK).skip(1);
    for (keys, answers) in keys.chunks(CHUNK).zip(answers.chunks_mut(CHUNK)) {
        // Not by the CPU itself, while it waits for the lines of a filter.
        prefetch_row(coming.next().unwrap_or_default(), 0, CHUNK);
        let digests = &mut digests[..keys.len()];
        hasher.digest_each(keys, digests);
        each(digests, answers)?;
    }
    Ok(())
}

/// [`try_in_chunks`] for what can't fail.
#[inline]
pub(crate) fn in_chunks<K: Key, A>(
    hasher: &KeyHasher,
    keys: &[K],
    answers: &mut [A],
    mut each: impl FnMut(&[Digest], &mut [A]),
) {
    let Ok(()) = try_in_chunks(hasher, keys, answers, |digests, answers| {
        each(digests, answers);
        Ok::<(), Infallible>(())
    });
}

/// Hands over the digests of an iterator, as many together as a batch is worth.
#[inline]
pub(crate) fn collected_in_chunks(
    digests: impl IntoIterator<Item = Digest>,
    mut each: impl FnMut(&[Digest]),
) {
    let mut digests = digests.into_iter();
    let mut chunk = [Digest::new(0); CHUNK];
    loop {
        let mut len = 0;
        for (slot, digest) in chunk.iter_mut().zip(digests.by_ref()) {
            *slot = digest;
            len += 1;
        }
        each(&chunk[..len]);
        if len < chunk.len() {
            return;
        }
    }
}
