//! The digests of all keys, on all cores.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
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

/// Reads every key, hashes it with `hash`, which gets some keys at a time, and hands digests to `take` in pieces; on
/// several threads in no certain order, on one in that of the input. Each thread has a state of its own, from `start`; all
/// of them are returned.
pub(crate) fn stream<T: Send>(
    reader: KeyReader<'_>,
    threads: usize,
    progress: &Progress,
    hash: impl Fn(&[&[u8]], &mut [Digest]) -> Result<(), Failure> + Sync,
    start: impl Fn() -> T + Sync,
    take: impl Fn(&mut T, &[Digest]) -> Result<(), Failure> + Sync,
) -> Result<(Tally, Vec<T>), Failure> {
    let all_lines = AtomicU64::new(0);
    let parts = reader.share(threads, |next| {
        let (mut state, mut tally) = (start(), Tally::default());
        let mut batch = Batch::default();
        let mut digests = [Digest::new(0); TOGETHER];
        let mut filled = 0;
        while next(&mut batch)? {
            let before = tally.lines;
            batch.in_groups(|keys, _| {
                hash(keys, &mut digests[filled..filled + keys.len()])?;
                filled += keys.len();
                tally.lines += keys.len() as u64;
                // There is room for another group, or what there is is handed on.
                if filled + Batch::GROUP > TOGETHER {
                    take(&mut state, &digests[..filled])?;
                    filled = 0;
                }
                Ok(())
            })?;
            tally.bytes += batch.read_bytes();
            let new = tally.lines - before;
            let lines = all_lines.fetch_add(new, Ordering::Relaxed) + new;
            progress.advance(batch.read_bytes(), || format!("{} keys", format_count(lines)));
        }
        take(&mut state, &digests[..filled])?;
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

/// Hashes keys one by one: for what isn't plain hashing.
pub(crate) fn one_by_one(
    hash: impl Fn(&[u8]) -> Result<Digest, Failure> + Sync,
) -> impl Fn(&[&[u8]], &mut [Digest]) -> Result<(), Failure> + Sync {
    move |keys, digests| {
        for (digest, key) in digests.iter_mut().zip(keys) {
            *digest = hash(key)?;
        }
        Ok(())
    }
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
