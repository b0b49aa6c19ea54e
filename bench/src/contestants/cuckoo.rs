//! The cuckoo filters of other crates: buckets of four, and 16-bit fingerprints where the crate leaves the
//! choice.
//!
//! All of them have a power of two of buckets, so they get the smallest one that can hold the keys (unless
//! their names say otherwise), whatever the rate asked for.

use std::collections::hash_map::DefaultHasher;
use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::{FixedState, FoldHasher};
use pdatastructs::filters::Filter;
use pdatastructs::filters::cuckoofilter::CuckooFilter as PdatastructsFilter;
use pdatastructs::rand::SeedableRng;
use pdatastructs::rand::rngs::StdRng;
use probabilistic_collections::cuckoo::CuckooFilter as ProbabilisticFilter;
use scalable_cuckoo_filter::{
    DefaultHasher as SipHasher13, ScalableCuckooFilter, ScalableCuckooFilterBuilder,
};

use super::fold_hash::{DefaultFold, SeededFold, independent_pair};
use super::{Contestant, Removing};
use crate::Failure;

const SLOTS_PER_BUCKET: usize = 4;
const FINGERPRINT_BITS: usize = 16;

/// The rate at which scalable_cuckoo_filter chooses 16 bits: it halves the rate for its first layer, and
/// needs 3 bits more than log2 of the rest.
const RATE_OF_16_BITS: f64 = 1.0 / 4096.0;

/// The smallest power of two of buckets for `n` keys.
fn buckets(n: usize) -> usize {
    n.div_ceil(SLOTS_PER_BUCKET).next_power_of_two().max(2)
}

/// A crate's own choice of a hash.
pub(crate) struct Sip;

/// The fastest hash in use.
pub(crate) struct Fold;

/// The same with twice the slots: where a crate's fingerprints have 8 bits only, this is the memory of 16.
pub(crate) struct FoldTwice;

/// How cuckoofilter is set up.
pub(crate) trait CuckooFilterSetup {
    type Hasher: Hasher + Default;
    const NAME: &'static str;
    const TIMES: usize = 1;
}

impl CuckooFilterSetup for Sip {
    type Hasher = DefaultHasher;
    const NAME: &'static str = "cuckoofilter";
}

impl CuckooFilterSetup for Fold {
    type Hasher = DefaultFold;
    const NAME: &'static str = "cuckoofilter + foldhash";
}

impl CuckooFilterSetup for FoldTwice {
    type Hasher = DefaultFold;
    const NAME: &'static str = "cuckoofilter + foldhash, twice the slots";
    const TIMES: usize = 2;
}

/// The crate `cuckoofilter`: 8-bit fingerprints, always. Its hash functions have one fixed seed.
pub(crate) struct CuckooFilterCrate<S: CuckooFilterSetup>(cuckoofilter::CuckooFilter<S::Hasher>);

impl<K: Hash, S: CuckooFilterSetup> Contestant<K> for CuckooFilterCrate<S> {
    const NAME: &'static str = S::NAME;

    fn new(n: usize, _p: f64, _seed: u64) -> Result<Self, Failure> {
        Ok(Self(cuckoofilter::CuckooFilter::with_capacity(buckets(n) * SLOTS_PER_BUCKET * S::TIMES)))
    }

    /// `add`, the cheaper of its two ways: it doesn't look whether the key was there.
    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        self.0.add(key).is_ok()
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.0.contains(key)
    }

    fn bits(&self) -> u64 {
        self.0.memory_usage() as u64 * 8
    }
}

impl<K: Hash, S: CuckooFilterSetup> Removing<K> for CuckooFilterCrate<S> {
    const WHEN_FULL: &'static str = "error, and another key is lost";
    const LOSES: Option<&'static str> = Some("its insert that fails drops another key");

    fn slots(&self) -> Option<u64> {
        // One byte each; what remains is the struct itself.
        Some((self.0.memory_usage() - size_of_val(&self.0)) as u64)
    }

    #[inline(always)]
    fn insert_until_full(&mut self, keys: &[K]) -> usize {
        keys.iter().position(|key| self.0.add(key).is_err()).unwrap_or(keys.len())
    }

    #[inline(always)]
    fn remove(&mut self, key: &K) -> bool {
        self.0.delete(key)
    }
}

/// How scalable_cuckoo_filter is set up.
pub(crate) trait ScalableSetup {
    type Hasher: Hasher + Clone;
    const NAME: &'static str;
    fn hasher(seed: u64) -> Self::Hasher;
}

impl ScalableSetup for Sip {
    type Hasher = SipHasher13;
    const NAME: &'static str = "scalable_cuckoo_filter";

    fn hasher(seed: u64) -> SipHasher13 {
        SipHasher13::new_with_keys(seed, 0)
    }
}

impl ScalableSetup for Fold {
    type Hasher = FoldHasher<'static>;
    const NAME: &'static str = "scalable_cuckoo_filter + foldhash";

    fn hasher(seed: u64) -> FoldHasher<'static> {
        FixedState::with_seed(seed).build_hasher()
    }
}

/// scalable_cuckoo_filter, reserved so that one layer of 16-bit fingerprints should do. It grows when a key
/// finds no place, and its memory and speed then show it.
pub(crate) struct ScalableCuckooCrate<K, S: ScalableSetup> {
    filter: ScalableCuckooFilter<K, S::Hasher>,
    reserved_slots: u64,
}

impl<K: Hash, S: ScalableSetup> Contestant<K> for ScalableCuckooCrate<K, S> {
    const NAME: &'static str = S::NAME;

    fn new(n: usize, _p: f64, seed: u64) -> Result<Self, Failure> {
        let filter = ScalableCuckooFilterBuilder::new()
            .initial_capacity(n)
            .false_positive_probability(RATE_OF_16_BITS)
            .hasher(S::hasher(seed))
            .finish();
        let reserved_slots = filter.capacity() as u64;
        Ok(Self { filter, reserved_slots })
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        self.filter.insert(key);
        true
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.filter.contains(key)
    }

    fn bits(&self) -> u64 {
        self.filter.bits()
    }
}

impl<K: Hash, S: ScalableSetup> Removing<K> for ScalableCuckooCrate<K, S> {
    const WHEN_FULL: &'static str = "grows, twice as large each time";

    fn slots(&self) -> Option<u64> {
        Some(self.reserved_slots)
    }

    #[inline(always)]
    fn remove(&mut self, key: &K) -> bool {
        self.filter.remove(key)
    }
}

/// The cuckoo filter of pdatastructs: three hashes for each key. It reserves 16 times the addresses that it
/// uses; counted is the memory it touches.
pub(crate) struct PdatastructsCuckoo<K: Hash>(PdatastructsFilter<K, StdRng, SeededFold>);

impl<K: Hash> Contestant<K> for PdatastructsCuckoo<K> {
    const NAME: &'static str = "pdatastructs cuckoo + foldhash";

    fn new(n: usize, _p: f64, seed: u64) -> Result<Self, Failure> {
        Ok(Self(PdatastructsFilter::with_params_and_hash(
            StdRng::seed_from_u64(seed),
            SLOTS_PER_BUCKET,
            buckets(n),
            FINGERPRINT_BITS,
            SeededFold::new(seed),
        )))
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        self.0.insert(key).is_ok()
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.0.query(key)
    }

    fn bits(&self) -> u64 {
        (self.0.n_buckets() * SLOTS_PER_BUCKET * FINGERPRINT_BITS) as u64
    }
}

impl<K: Hash> Removing<K> for PdatastructsCuckoo<K> {
    const WHEN_FULL: &'static str = "error, nothing lost";

    fn slots(&self) -> Option<u64> {
        Some((self.0.n_buckets() * SLOTS_PER_BUCKET) as u64)
    }

    #[inline(always)]
    fn insert_until_full(&mut self, keys: &[K]) -> usize {
        keys.iter().position(|key| self.0.insert(key).is_err()).unwrap_or(keys.len())
    }

    #[inline(always)]
    fn remove(&mut self, key: &K) -> bool {
        self.0.delete(key)
    }
}

/// The cuckoo filter of probabilistic-collections: allocates for every slot it looks at. It gets twice the
/// slots: at 95 % so many keys are in its list on the side, which it searches in order, that 1 M keys take
/// minutes.
pub(crate) struct ProbabilisticCuckoo<K>(ProbabilisticFilter<K, FixedState>);

impl<K: Hash> Contestant<K> for ProbabilisticCuckoo<K> {
    const NAME: &'static str = "probabilistic-collections cuckoo + foldhash, twice the slots";

    fn new(n: usize, _p: f64, seed: u64) -> Result<Self, Failure> {
        Ok(Self(ProbabilisticFilter::from_parameters_with_hashers(
            2 * n,
            FINGERPRINT_BITS,
            SLOTS_PER_BUCKET,
            independent_pair(seed),
        )))
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
        let outside = self.0.extra_items_len() * size_of::<(u64, usize)>() * 8;
        (self.0.capacity() * FINGERPRINT_BITS + outside) as u64
    }
}

impl<K: Hash> Removing<K> for ProbabilisticCuckoo<K> {
    const WHEN_FULL: &'static str = "a list on the side, searched in order";
    const LOSES: Option<&'static str> =
        Some("keys that look alike are kept once, and removing one removes them all");

    fn slots(&self) -> Option<u64> {
        Some(self.0.capacity() as u64)
    }

    #[inline(always)]
    fn remove(&mut self, key: &K) -> bool {
        self.0.remove(key);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestants::tests::forgets;

    #[test]
    fn every_peer_is_driven_correctly() {
        forgets::<CuckooFilterCrate<Sip>>(0.035);
        forgets::<CuckooFilterCrate<Fold>>(0.035);
        forgets::<CuckooFilterCrate<FoldTwice>>(0.02);
        forgets::<ScalableCuckooCrate<u64, Sip>>(0.0003);
        forgets::<ScalableCuckooCrate<u64, Fold>>(0.0003);
        forgets::<PdatastructsCuckoo<u64>>(0.0003);
        forgets::<ProbabilisticCuckoo<u64>>(0.0003);
    }

    #[test]
    fn fingerprints_have_16_bits() {
        let n = 1 << 14;
        let bits = [
            <ScalableCuckooCrate<u64, Fold> as Contestant<u64>>::new(n, 0.01, 1).map(|filter| filter.bits()),
            <PdatastructsCuckoo<u64> as Contestant<u64>>::new(n, 0.01, 1).map(|filter| filter.bits()),
            <ProbabilisticCuckoo<u64> as Contestant<u64>>::new(n / 2, 0.01, 1).map(|filter| filter.bits()),
        ];
        assert!(bits.into_iter().all(|bits| bits.is_ok_and(|bits| bits == 16 << 14)));
    }
}
