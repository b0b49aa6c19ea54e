//! Exact sets, for scale.

use foldhash::fast::FixedState;

use super::{Contestant, Removing};
use crate::Failure;
use crate::keys::BenchKey;

/// A set. Its memory includes the text it refers to.
pub(crate) struct ExactSet<K>(hashbrown::HashSet<K, FixedState>);

impl<K: BenchKey> Contestant<K> for ExactSet<K> {
    const NAME: &'static str = "hashbrown set + foldhash (exact)";

    fn new(n: usize, _p: f64, seed: u64) -> Result<Self, Failure> {
        Ok(Self(hashbrown::HashSet::with_capacity_and_hasher(n, FixedState::with_seed(seed))))
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        self.0.insert(*key)
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.0.contains(key)
    }

    fn bits(&self) -> u64 {
        let elsewhere: usize = self.0.iter().map(BenchKey::bytes_elsewhere).sum();
        (self.0.allocation_size() + elsewhere) as u64 * 8
    }
}

impl<K: BenchKey> Removing<K> for ExactSet<K> {
    const WHEN_FULL: &'static str = "grows";

    #[inline(always)]
    fn remove(&mut self, key: &K) -> bool {
        self.0.remove(key)
    }
}

/// A map from keys to how often they were added: what a counting filter stands in for.
pub(crate) struct ExactMap<K>(hashbrown::HashMap<K, u32, FixedState>);

impl<K: BenchKey> Contestant<K> for ExactMap<K> {
    const NAME: &'static str = "hashbrown map of counts + foldhash (exact)";

    fn new(n: usize, _p: f64, seed: u64) -> Result<Self, Failure> {
        Ok(Self(hashbrown::HashMap::with_capacity_and_hasher(n, FixedState::with_seed(seed))))
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        let count = self.0.entry(*key).or_insert(0);
        *count += 1;
        *count == 1
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.0.contains_key(key)
    }

    fn bits(&self) -> u64 {
        let elsewhere: usize = self.0.keys().map(BenchKey::bytes_elsewhere).sum();
        (self.0.allocation_size() + elsewhere) as u64 * 8
    }
}

impl<K: BenchKey> Removing<K> for ExactMap<K> {
    const WHEN_FULL: &'static str = "grows";

    #[inline(always)]
    fn remove(&mut self, key: &K) -> bool {
        let hashbrown::hash_map::Entry::Occupied(mut entry) = self.0.entry(*key) else { return false };
        match entry.get_mut() {
            1 => drop(entry.remove()),
            count => *count -= 1,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestants::tests::forgets;

    #[test]
    fn exact_sets_are_exact() {
        forgets::<ExactSet<u64>>(0.0);
        forgets::<ExactMap<u64>>(0.0);
    }
}
