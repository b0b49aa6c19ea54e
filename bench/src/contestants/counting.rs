//! The counting Bloom filters of other crates: 4-bit counters, and the number of hashes each crate chooses
//! for the rate.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};

use bloom::{ASMS, CountingBloomFilter as BloomFilter};
use bloomcraft::{CountingBloomFilter as BloomcraftFilter, WyHasher};
use fastbloom_rs::{CountingBloomFilter as FastBloomRsFilter, Deletable, FilterBuilder, Membership};
use foldhash::fast::FixedState;
use rustywallet_bloom::CountingBloomFilter as RustywalletFilter;

use super::fold_hash::independent_pair;
use super::{Contestant, Removing};
use crate::Failure;
use crate::keys::BenchKey;

const COUNTER_BITS: usize = 4;

/// The crate `bloom`, whose counters lie in a vector of bits; two hashes of each key.
pub(crate) struct BloomCounting<H> {
    filter: BloomFilter<H, H>,
    bits: u64,
}

/// Which hash the crate is given.
pub(crate) trait BloomHash: BuildHasher + Sized {
    const NAME: &'static str;
    fn pair(seed: u64) -> [Self; 2];
}

impl BloomHash for RandomState {
    const NAME: &'static str = "bloom counting";

    fn pair(_seed: u64) -> [Self; 2] {
        [Self::new(), Self::new()]
    }
}

impl BloomHash for FixedState {
    const NAME: &'static str = "bloom counting + foldhash";

    fn pair(seed: u64) -> [Self; 2] {
        independent_pair(seed)
    }
}

impl<K: Hash, H: BloomHash> Contestant<K> for BloomCounting<H> {
    const NAME: &'static str = H::NAME;

    #[expect(clippy::cast_possible_truncation, reason = "the crate takes its rate as f32")]
    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure> {
        let [first, second] = H::pair(seed);
        let keys = u32::try_from(n)?;
        let filter = BloomFilter::with_rate_and_hashers(COUNTER_BITS, p as f32, keys, first, second);
        // The crate doesn't tell its size: this is how it computes it, in words of 32 bits.
        let bits = bloom::needed_bits(p as f32, keys) * COUNTER_BITS;
        Ok(Self { filter, bits: bits.next_multiple_of(32) as u64 })
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        !self.filter.insert(key)
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.filter.contains(key)
    }

    fn bits(&self) -> u64 {
        self.bits
    }
}

impl<K: Hash, H: BloomHash> Removing<K> for BloomCounting<H> {
    const WHEN_FULL: &'static str = "rate rises, full counters lose count";
    const LOSES: Option<&'static str> = Some("it lowers counters that have overflowed");

    #[inline(always)]
    fn remove(&mut self, key: &K) -> bool {
        self.filter.remove(key) > 0
    }
}

/// fastbloom-rs (not fastbloom): XXH3, twice, with fixed seeds.
pub(crate) struct FastBloomRs(FastBloomRsFilter);

impl<K: BenchKey> Contestant<K> for FastBloomRs {
    const NAME: &'static str = "fastbloom-rs counting";

    fn new(n: usize, p: f64, _seed: u64) -> Result<Self, Failure> {
        Ok(Self(FilterBuilder::new(n as u64, p).build_counting_bloom_filter()))
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        self.0.add(key.as_bytes());
        true
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.0.contains(key.as_bytes())
    }

    fn bits(&self) -> u64 {
        size_of_val(self.0.get_u64_array()) as u64 * 8
    }
}

impl<K: BenchKey> Removing<K> for FastBloomRs {
    const WHEN_FULL: &'static str = "rate rises, full counters lose count";
    const LOSES: Option<&'static str> = Some("it lowers counters that have overflowed");

    #[inline(always)]
    fn remove(&mut self, key: &K) -> bool {
        self.0.remove(key.as_bytes());
        true
    }
}

/// bloomcraft, with the fastest of its hashes. Its counters are atomic, and it lists a key's positions on the
/// heap.
pub(crate) struct Bloomcraft<K: Hash + Send + Sync>(BloomcraftFilter<K, WyHasher>);

impl<K: BenchKey> Contestant<K> for Bloomcraft<K> {
    const NAME: &'static str = "bloomcraft counting + wyhash";

    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure> {
        Ok(Self(BloomcraftFilter::with_hasher(n, p, WyHasher::with_seed(seed))))
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        self.0.insert(key);
        true
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.0.contains(key)
    }

    fn bits(&self) -> u64 {
        self.0.memory_usage() as u64 * 8
    }
}

impl<K: BenchKey> Removing<K> for Bloomcraft<K> {
    const WHEN_FULL: &'static str = "rate rises, full counters lose count";
    const LOSES: Option<&'static str> = Some("it lowers counters that have overflowed");

    #[inline(always)]
    fn remove(&mut self, key: &K) -> bool {
        self.0.delete(key)
    }
}

/// rustywallet-bloom: FNV-1a, twice.
pub(crate) struct Rustywallet(RustywalletFilter);

impl<K: BenchKey> Contestant<K> for Rustywallet {
    const NAME: &'static str = "rustywallet-bloom counting";

    fn new(n: usize, p: f64, _seed: u64) -> Result<Self, Failure> {
        let mut filter = RustywalletFilter::new(n, p);
        // Touches the pages.
        filter.clear();
        Ok(Self(filter))
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        self.0.insert(key.as_bytes());
        true
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.0.contains(key.as_bytes())
    }

    fn bits(&self) -> u64 {
        self.0.memory_usage() as u64 * 8
    }
}

impl<K: BenchKey> Removing<K> for Rustywallet {
    const WHEN_FULL: &'static str = "rate rises, full counters lose count";
    const LOSES: Option<&'static str> = Some("it lowers counters that have overflowed");

    #[inline(always)]
    fn remove(&mut self, key: &K) -> bool {
        self.0.remove(key.as_bytes()).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestants::tests::forgets;

    #[test]
    fn every_peer_is_driven_correctly() {
        // At some sizes `bloom` is at 2 % and rustywallet-bloom at 3: their positions depend on each other.
        forgets::<BloomCounting<RandomState>>(0.03);
        forgets::<BloomCounting<FixedState>>(0.03);
        forgets::<FastBloomRs>(0.0115);
        forgets::<Bloomcraft<u64>>(0.0115);
        forgets::<Rustywallet>(0.03);
    }
}
