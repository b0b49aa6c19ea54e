//! mayhap's own contestants: one key per call and in batches, with the CPU's kernel and with the portable
//! one.

use mayhap::{BloomFilter, SharedBloomFilter};

use crate::Failure;
use crate::contestants::Contestant;
use crate::keys::BenchKey;
use crate::shared::SharedContestant;

/// Keys handed over in one batch call.
pub(crate) const BATCH: usize = 1024;

/// One key per call.
pub(crate) struct Calls<const PORTABLE: bool>(BloomFilter);

impl<K: BenchKey, const PORTABLE: bool> Contestant<K> for Calls<PORTABLE> {
    const NAME: &'static str = if PORTABLE { "mayhap portable, per call" } else { "mayhap, per call" };

    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure> {
        Ok(Self(build(n, p, seed, PORTABLE)?))
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        self.0.insert(key)
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.0.contains(key)
    }

    fn bits(&self) -> u64 {
        self.0.len_bytes() * 8
    }
}

/// Batches of [`BATCH`] keys.
pub(crate) struct Batches<const PORTABLE: bool>(BloomFilter);

impl<K: BenchKey, const PORTABLE: bool> Contestant<K> for Batches<PORTABLE> {
    const NAME: &'static str = if PORTABLE { "mayhap portable, batches" } else { "mayhap, batches" };

    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure> {
        Ok(Self(build(n, p, seed, PORTABLE)?))
    }

    fn insert(&mut self, key: &K) -> bool {
        self.0.insert(key)
    }

    fn contains(&self, key: &K) -> bool {
        self.0.contains(key)
    }

    fn bits(&self) -> u64 {
        self.0.len_bytes() * 8
    }

    fn insert_all(&mut self, keys: &[K]) -> u64 {
        batches(keys, |keys, answers| self.0.insert_each(keys, answers))
    }

    fn count_present(&self, keys: &[K]) -> u64 {
        batches(keys, |keys, answers| self.0.contains_each(keys, answers))
    }
}

fn build(n: usize, p: f64, seed: u64, portable: bool) -> Result<BloomFilter, Failure> {
    let builder = BloomFilter::builder().keys(n as u64).rate(p).seed(seed);
    let mut filter = if portable { builder.portable() } else { builder }.build()?;
    // Large filters come as pages nobody has touched; writing the zeros here keeps their faults out of the
    // inserts.
    filter.clear();
    Ok(filter)
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

/// `insert` answers "new" to exactly one of two racing callers.
pub(crate) struct SharedCalls(SharedBloomFilter);

impl<K: BenchKey> SharedContestant<K> for SharedCalls {
    const NAME: &'static str = "mayhap shared, per call";

    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure> {
        Ok(Self(build_shared(n, p, seed)?))
    }

    fn insert_all(&self, keys: &[K]) -> u64 {
        keys.iter().map(|key| u64::from(self.0.insert(key))).sum()
    }

    fn count_present(&self, keys: &[K]) -> u64 {
        keys.iter().map(|key| u64::from(self.0.contains(key))).sum()
    }

    fn bits(&self) -> u64 {
        self.0.len_bytes() * 8
    }
}

/// The same in batches.
pub(crate) struct SharedBatches(SharedBloomFilter);

impl<K: BenchKey> SharedContestant<K> for SharedBatches {
    const NAME: &'static str = "mayhap shared, batches";

    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure> {
        Ok(Self(build_shared(n, p, seed)?))
    }

    fn insert_all(&self, keys: &[K]) -> u64 {
        batches(keys, |keys, answers| self.0.insert_each(keys, answers))
    }

    fn count_present(&self, keys: &[K]) -> u64 {
        batches(keys, |keys, answers| self.0.contains_each(keys, answers))
    }

    fn bits(&self) -> u64 {
        self.0.len_bytes() * 8
    }
}

/// `set`, lock-free and without an answer, in batches.
pub(crate) struct SharedSets(SharedBloomFilter);

impl<K: BenchKey> SharedContestant<K> for SharedSets {
    const NAME: &'static str = "mayhap shared, batches of `set`";

    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure> {
        Ok(Self(build_shared(n, p, seed)?))
    }

    fn insert_all(&self, keys: &[K]) -> u64 {
        keys.chunks(BATCH).for_each(|batch| self.0.set_each(batch));
        0
    }

    fn count_present(&self, keys: &[K]) -> u64 {
        batches(keys, |keys, answers| self.0.contains_each(keys, answers))
    }

    fn bits(&self) -> u64 {
        self.0.len_bytes() * 8
    }
}

fn build_shared(n: usize, p: f64, seed: u64) -> Result<SharedBloomFilter, Failure> {
    Ok(build(n, p, seed, false)?.into_shared())
}
