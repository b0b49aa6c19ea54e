//! mayhap's own contestants: every kind of filter, one key per call and in batches.
//!
//! A [`Setup`] says which filter is built and what it is called; [`Own`] runs it in either way.

mod kinds;
mod setups;
mod shared;

use crate::Failure;
use crate::contestants::{Contestant, Removing};
use crate::keys::BenchKey;

pub(crate) use kinds::{Kind, RemovingKind};
pub(crate) use setups::*;
pub(crate) use shared::{SharedBatches, SharedCalls, SharedSets};

/// Keys handed over in one batch call.
pub(crate) const BATCH: usize = 1024;

/// A filter of ours as it takes part.
pub(crate) trait Setup {
    type Filter: Kind;

    /// Called this when it is given one key per call, and when it is given batches.
    const NAMES: [&'static str; 2];

    /// An empty filter whose pages have been touched: large filters come as pages nobody has written to, and
    /// their faults must not count as the cost of an insert.
    fn build(n: usize, p: f64, seed: u64) -> Result<Self::Filter, Failure>;
}

/// One of ours that forgets.
pub(crate) trait RemovingSetup: Setup<Filter: RemovingKind> {
    const WHEN_FULL: &'static str;
    const LOSES: Option<&'static str> = None;

    /// As [`Removing::slots`].
    fn slots(_filter: &Self::Filter) -> Option<u64> {
        None
    }
}

/// One of ours, called key by key or, with `BATCHES`, in batches of [`BATCH`] keys.
pub(crate) struct Own<S: Setup, const BATCHES: bool>(S::Filter);

pub(crate) type Calls<S> = Own<S, false>;
pub(crate) type Batches<S> = Own<S, true>;

impl<K: BenchKey, S: Setup, const BATCHES: bool> Contestant<K> for Own<S, BATCHES> {
    const NAME: &'static str = S::NAMES[BATCHES as usize];

    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure> {
        Ok(Self(S::build(n, p, seed)?))
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        self.0.insert(key).unwrap_or(false)
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.0.contains(key)
    }

    fn bits(&self) -> u64 {
        self.0.len_bytes() * 8
    }

    #[inline(always)]
    fn insert_all(&mut self, keys: &[K]) -> u64 {
        if BATCHES {
            // A refused key shows as a lost one.
            batches(keys, |keys, new| self.0.insert_each(keys, new).unwrap_or(()))
        } else {
            keys.iter().map(|key| u64::from(Contestant::insert(self, key))).sum()
        }
    }

    #[inline(always)]
    fn count_present(&self, keys: &[K]) -> u64 {
        if BATCHES {
            batches(keys, |keys, found| self.0.contains_each(keys, found))
        } else {
            keys.iter().map(|key| u64::from(self.0.contains(key))).sum()
        }
    }
}

impl<K: BenchKey, S: RemovingSetup, const BATCHES: bool> Removing<K> for Own<S, BATCHES> {
    const WHEN_FULL: &'static str = S::WHEN_FULL;
    const LOSES: Option<&'static str> = S::LOSES;

    fn slots(&self) -> Option<u64> {
        S::slots(&self.0)
    }

    #[inline(always)]
    fn insert_until_full(&mut self, keys: &[K]) -> usize {
        if !BATCHES {
            return keys.iter().position(|key| self.0.insert(key).is_err()).unwrap_or(keys.len());
        }
        let before = self.0.len();
        let mut new = [false; BATCH];
        for batch in keys.chunks(BATCH) {
            if self.0.insert_each(batch, &mut new[..batch.len()]).is_err() {
                // Those before the refused one are in.
                return usize::try_from(self.0.len() - before).unwrap_or(0);
            }
        }
        keys.len()
    }

    #[inline(always)]
    fn remove(&mut self, key: &K) -> bool {
        self.0.remove(key)
    }

    #[inline(always)]
    fn remove_all(&mut self, keys: &[K]) -> u64 {
        if BATCHES {
            batches(keys, |keys, removed| self.0.remove_each(keys, removed))
        } else {
            keys.iter().map(|key| u64::from(self.0.remove(key))).sum()
        }
    }
}

/// Hands the keys over in batches and counts the answers `true`.
#[inline(always)]
fn batches<K>(keys: &[K], mut ask: impl FnMut(&[K], &mut [bool])) -> u64 {
    let mut answers = [false; BATCH];
    let mut count = 0;
    for batch in keys.chunks(BATCH) {
        let answers = &mut answers[..batch.len()];
        ask(batch, answers);
        count += answers.iter().map(|&answer| u64::from(answer)).sum::<u64>();
    }
    count
}
