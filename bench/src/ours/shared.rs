//! The filter that threads share.

use mayhap::SharedBloomFilter;

use super::{BATCH, Bloom, Setup, batches};
use crate::Failure;
use crate::keys::BenchKey;
use crate::shared::SharedContestant;

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
    Ok(<Bloom<false>>::build(n, p, seed)?.into_shared())
}
