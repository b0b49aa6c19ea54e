//! The digests of all keys, on all cores.

use std::num::NonZeroUsize;
use std::thread;

use mayhap::Digest;

use crate::failure::Failure;
use crate::keys::{Batch, KeyReader};
use crate::numbers::format_count;
use crate::progress::Progress;

/// Digests handed on at once: enough to hide the latency of memory and to make a lock cheap, few enough to stay in the
/// innermost cache.
const TOGETHER: usize = 1024;

/// What was read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Records, each with a key.
    pub(crate) lines: u64,
    /// Bytes of the input, packed as they may be.
    pub(crate) bytes: u64,
}

/// Reads every key, hashes it with `hash`, and hands digests to `take` in pieces; on several threads in no certain
/// order, on one in that of the input. Each thread has a state of its own, from `start`; all of them are returned.
pub(crate) fn stream<T: Send>(
    reader: KeyReader<'_>,
    threads: usize,
    progress: &Progress,
    hash: impl Fn(&[u8]) -> Result<Digest, Failure> + Sync,
    start: impl Fn() -> T + Sync,
    take: impl Fn(&mut T, &[Digest]) -> Result<(), Failure> + Sync,
) -> Result<(Tally, Vec<T>), Failure> {
    let parts = reader.share(threads, |next| {
        let (mut state, mut tally) = (start(), Tally::default());
        let (mut batch, mut digests) = (Batch::default(), Vec::with_capacity(TOGETHER));
        while next(&mut batch)? {
            batch.for_each(|key, _| {
                digests.push(hash(key)?);
                tally.lines += 1;
                if digests.len() == TOGETHER {
                    take(&mut state, &digests)?;
                    digests.clear();
                }
                Ok(())
            })?;
            tally.bytes += batch.read_bytes();
            progress.advance(batch.read_bytes(), || {
                // The threads share the work about evenly, which is as exact as a moving number can be read.
                format!("{} keys", format_count(tally.lines.saturating_mul(threads as u64)))
            });
        }
        take(&mut state, &digests)?;
        Ok((tally, state))
    })?;
    let mut total = Tally::default();
    let states = parts.into_iter().map(|(tally, state)| {
        total.lines += tally.lines;
        total.bytes += tally.bytes;
        state
    });
    let states = states.collect();
    Ok((total, states))
}

/// As many as there are cores.
pub(crate) fn default_threads() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Reads a number of threads.
pub(crate) fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads) if (1..=1024).contains(&threads) => Ok(threads),
        _ => Err("give a number of threads from 1 to 1024".to_owned()),
    }
}
