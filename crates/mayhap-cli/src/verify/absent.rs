//! Asking for keys that were never added.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mayhap::Digest;
use mayhap::bits::Mapped;
use mayhap::formats::KeyForm;

use crate::failure::Failure;
use crate::filter_file::FilterFile;
use crate::keys::Pending;
use crate::numbers::format_count;
use crate::progress::Progress;

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    /// Keys asked about.
    pub(super) keys: u64,
    /// Those that were answered "mayhap".
    pub(super) hits: u64,
}

/// The bits that the bytes of an absent key may have, so that it is a key of this filter; nothing where none is certain to
/// be absent, as of numbers.
pub(super) fn usable_bits(filter: &FilterFile<Mapped>) -> Option<u8> {
    match filter {
        FilterFile::Filter(_) => Some(u8::MAX),
        FilterFile::Bitmap(_) => None,
        FilterFile::Foreign(file) => match file.keys {
            KeyForm::Text => Some(u8::MAX),
            // It is made of UTF-8, which few random bytes are. ASCII is.
            KeyForm::Utf16 => Some(0x7f),
            _ => None,
        },
    }
}

/// Keys that one thread asks about before it looks at the clock.
const CHUNK: u64 = 1 << 16;

/// Asks for `keys` fresh keys on all cores, or for as many as there is time for. Which keys they are follows from the
/// seed, whatever the number of cores.
///
/// # Errors
/// When the filter can't be asked for keys with these bits (see [`usable_bits`]).
pub(super) fn ask(
    filter: &FilterFile<Mapped>,
    bits: u8,
    keys: u64,
    seed: u64,
    time: Option<Duration>,
    threads: usize,
    progress: &Progress,
) -> Result<Sample, Failure> {
    let (start, next) = (Instant::now(), AtomicU64::new(0));
    let run = || {
        let mut sample = Sample::default();
        let (mut digests, mut found) = (Vec::with_capacity(Pending::MOST), vec![false; Pending::MOST]);
        loop {
            let first = next.fetch_add(CHUNK, Ordering::Relaxed);
            if first >= keys || time.is_some_and(|time| first > 0 && start.elapsed() > time) {
                return Ok(sample);
            }
            let last = keys.min(first.saturating_add(CHUNK));
            let mut random = AbsentKeys::new(bits, seed, first);
            for number in first..last {
                digests.push(filter.hash(random.next_key())?);
                if digests.len() == Pending::MOST || number + 1 == last {
                    sample.hits += hits(filter, &mut digests, &mut found);
                }
            }
            sample.keys += last - first;
            progress.advance(last - first, || format!("{} absent keys", format_count(last)));
        }
    };
    let samples: Result<Vec<Sample>, Failure> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut samples = vec![run()];
        for other in others {
            samples.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        samples.into_iter().collect()
    });
    Ok(samples?.iter().fold(Sample::default(), |sum, sample| Sample {
        keys: sum.keys + sample.keys,
        hits: sum.hits + sample.hits,
    }))
}

fn hits(filter: &FilterFile<Mapped>, digests: &mut Vec<Digest>, found: &mut [bool]) -> u64 {
    let found = &mut found[..digests.len()];
    filter.contains_hashes(digests, found);
    digests.clear();
    found.iter().map(|found| u64::from(*found)).sum()
}

/// Keys that no source has: they begin with a mark that starts with NUL, and end in 16 random bytes.
struct AbsentKeys {
    /// Those that a byte may have.
    bits: u8,
    state: u64,
    key: [u8; MARK.len() + 16],
}

const MARK: [u8; 8] = *b"\0absent\0";

impl AbsentKeys {
    /// Those from number `first` on.
    fn new(bits: u8, seed: u64, first: u64) -> Self {
        let mut key = [0; MARK.len() + 16];
        key[..MARK.len()].copy_from_slice(&MARK);
        Self { bits, state: mix(seed).wrapping_add(first.wrapping_mul(STEP.wrapping_mul(2))), key }
    }

    fn next_key(&mut self) -> &[u8] {
        for place in [MARK.len(), MARK.len() + 8] {
            self.state = self.state.wrapping_add(STEP);
            let random = mix(self.state) & u64::from_le_bytes([self.bits; 8]);
            self.key[place..place + 8].copy_from_slice(&random.to_le_bytes());
        }
        &self.key
    }
}

/// SplitMix64: a counter with odd steps, well mixed.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn keys_follow_from_seed_and_number() {
        let mut all = AbsentKeys::new(u8::MAX, 7, 0);
        let keys: Vec<Vec<u8>> = (0..1_000).map(|_| all.next_key().to_vec()).collect();
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 1_000);
        assert!(keys.iter().all(|key| key.starts_with(b"\0absent\0") && key.len() == 24));
        let mut later = AbsentKeys::new(u8::MAX, 7, 600);
        assert!(keys[600..].iter().all(|key| later.next_key() == key.as_slice()));
        assert_ne!(AbsentKeys::new(u8::MAX, 8, 0).next_key(), keys[0].as_slice());
    }
}
