//! The Bloom filters of other crates.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;
use parquet::bloom_filter::Sbbf;

use super::Contestant;
use crate::Failure;
use crate::keys::BenchKey;

/// fastbloom as it comes: SipHash-1-3.
pub(crate) struct FastBloomDefault(fastbloom::BloomFilter);

impl<K: Hash> Contestant<K> for FastBloomDefault {
    const NAME: &'static str = "fastbloom";

    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure> {
        Ok(Self(fastbloom::BloomFilter::with_false_pos(p).seed(&u128::from(seed)).expected_items(n)))
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        !self.0.insert(key)
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.0.contains(key)
    }

    fn bits(&self) -> u64 {
        self.0.num_bits() as u64
    }
}

/// fastbloom with the fastest hasher in use: the yardstick of every ratio.
pub(crate) struct FastBloomFold(fastbloom::BloomFilter<FixedState>);

/// The name of the contestant all ratios refer to.
pub(crate) const YARDSTICK: &str = "fastbloom + foldhash";

impl<K: Hash> Contestant<K> for FastBloomFold {
    const NAME: &'static str = YARDSTICK;

    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure> {
        let hasher = FixedState::with_seed(seed);
        Ok(Self(fastbloom::BloomFilter::with_false_pos(p).hasher(hasher).expected_items(n)))
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        !self.0.insert(key)
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.0.contains(key)
    }

    fn bits(&self) -> u64 {
        self.0.num_bits() as u64
    }
}

/// fastbloom's filter for many threads, here used by one.
pub(crate) struct FastBloomAtomic(pub(crate) fastbloom::AtomicBloomFilter<FixedState>);

impl<K: Hash> Contestant<K> for FastBloomAtomic {
    const NAME: &'static str = "fastbloom atomic + foldhash";

    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure> {
        let hasher = FixedState::with_seed(seed);
        Ok(Self(fastbloom::AtomicBloomFilter::with_false_pos(p).hasher(hasher).expected_items(n)))
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        !self.0.insert(key)
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.0.contains(key)
    }

    fn bits(&self) -> u64 {
        self.0.num_bits() as u64
    }
}

/// The crate `bloomfilter`, through the call that answers as `insert` does elsewhere.
pub(crate) struct BloomFilterCrate<K>(bloomfilter::Bloom<K>);

impl<K: Hash> Contestant<K> for BloomFilterCrate<K> {
    const NAME: &'static str = "bloomfilter";

    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure> {
        let mut key = [0x5A; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Ok(Self(bloomfilter::Bloom::new_for_fp_rate_with_seed(n, p, &key)?))
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        !self.0.check_and_set(key)
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.0.check(key)
    }

    fn bits(&self) -> u64 {
        self.0.len()
    }
}

/// growable-bloom-filter, told the number of keys beforehand (grown from small it is three times slower).
pub(crate) struct Growable {
    filter: growable_bloom_filter::GrowableBloom,
    bits: u64,
}

impl<K: Hash> Contestant<K> for Growable {
    const NAME: &'static str = "growable-bloom-filter";

    fn new(n: usize, p: f64, _seed: u64) -> Result<Self, Failure> {
        let filter = growable_bloom_filter::GrowableBloom::new(p, n);
        Ok(Self { filter, bits: growable_bits(n, p) })
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        self.filter.insert(key)
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.filter.contains(key)
    }

    fn bits(&self) -> u64 {
        self.bits
    }
}

/// The crate doesn't tell its size: this is the formula in its source, for the one layer that `n` keys fill.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small positive numbers")]
fn growable_bits(n: usize, p: f64) -> u64 {
    let slices = (1.0 / p).log2().ceil() as u64;
    let bits_per_slice = (n as f64 / std::f64::consts::LN_2).ceil() as u64;
    slices * bits_per_slice
}

/// Parquet's split block filter. It rounds to a power of two, holds at most 128 MiB, and its insert doesn't
/// answer.
pub(crate) struct ParquetSbbf(Sbbf);

impl<K: BenchKey> Contestant<K> for ParquetSbbf {
    const NAME: &'static str = "parquet Sbbf";

    fn new(n: usize, p: f64, _seed: u64) -> Result<Self, Failure> {
        let sized = Sbbf::new_with_ndv_fpp(n as u64, p)?;
        // Copied from bytes, so that its pages have been touched as everybody else's.
        Ok(Self(Sbbf::new(&vec![0; sized.num_blocks() * 32])))
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        self.0.insert(key);
        true
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.0.check(key)
    }

    fn bits(&self) -> u64 {
        self.0.num_blocks() as u64 * 256
    }
}

/// sbbf-rs: the same shape as Parquet's with AVX2, over memory and hashes the caller brings.
pub(crate) struct SbbfRs<H> {
    filter: sbbf_rs::FilterFn,
    lines: Vec<Line>,
    hash: H,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "sbbf-rs reads and writes it through a pointer")] [u8; 64]);

const _: () = assert!(align_of::<Line>() == sbbf_rs::ALIGNMENT);

impl<H> SbbfRs<H> {
    fn with_hash(n: usize, p: f64, hash: H) -> Self {
        let lines = sbbf_blocks(n, p).div_ceil(2);
        Self { filter: sbbf_rs::FilterFn::new(), lines: vec![Line([0; 64]); lines], hash }
    }

    fn blocks(&self) -> usize {
        self.lines.len() * (size_of::<Line>() / sbbf_rs::BUCKET_SIZE)
    }

    #[inline(always)]
    fn insert_hash(&mut self, hash: u64) -> bool {
        let blocks = self.blocks();
        // SAFETY: `lines` is aligned to 64 bytes, holds exactly `blocks` blocks, and is never empty.
        !unsafe { self.filter.insert(self.lines.as_mut_ptr().cast(), blocks, hash) }
    }

    #[inline(always)]
    fn contains_hash(&self, hash: u64) -> bool {
        // SAFETY: as in `insert_hash`.
        unsafe { self.filter.contains(self.lines.as_ptr().cast(), self.blocks(), hash) }
    }

    fn memory_bits(&self) -> u64 {
        size_of_val(self.lines.as_slice()) as u64 * 8
    }
}

/// The hash sbbf-rs shows in its own documentation.
pub(crate) struct Xxh3;

impl<K: BenchKey> Contestant<K> for SbbfRs<Xxh3> {
    const NAME: &'static str = "sbbf-rs + xxh3";

    fn new(n: usize, p: f64, _seed: u64) -> Result<Self, Failure> {
        Ok(Self::with_hash(n, p, Xxh3))
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        self.insert_hash(xxhash_rust::xxh3::xxh3_64(key.as_bytes()))
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.contains_hash(xxhash_rust::xxh3::xxh3_64(key.as_bytes()))
    }

    fn bits(&self) -> u64 {
        self.memory_bits()
    }
}

impl<K: Hash> Contestant<K> for SbbfRs<FixedState> {
    const NAME: &'static str = "sbbf-rs + foldhash";

    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure> {
        Ok(Self::with_hash(n, p, FixedState::with_seed(seed)))
    }

    #[inline(always)]
    fn insert(&mut self, key: &K) -> bool {
        self.insert_hash(self.hash.hash_one(key))
    }

    #[inline(always)]
    fn contains(&self, key: &K) -> bool {
        self.contains_hash(self.hash.hash_one(key))
    }

    fn bits(&self) -> u64 {
        self.memory_bits()
    }
}

/// The smallest number of 256-bit blocks that meets rate `p` for `n` keys. sbbf-rs leaves sizing to its user,
/// and the user of a benchmark should be a good one: the rate is the Poisson mixture over the load of a
/// block.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive number of blocks")]
fn sbbf_blocks(n: usize, p: f64) -> usize {
    let (mut too_few_bits, mut enough_bits) = (1.0, 1000.0);
    while enough_bits - too_few_bits > 1e-4 {
        let bits_per_key = f64::midpoint(too_few_bits, enough_bits);
        if sbbf_rate(bits_per_key) <= p {
            enough_bits = bits_per_key;
        } else {
            too_few_bits = bits_per_key;
        }
    }
    (n as f64 * enough_bits / 256.0).ceil() as usize
}

fn sbbf_rate(bits_per_key: f64) -> f64 {
    let mean_load = 256.0 / bits_per_key;
    let mut probability = (-mean_load).exp();
    let mut clear = 1.0_f64;
    let mut rate = 0.0;
    for load in 1..=1000_u32 {
        probability *= mean_load / f64::from(load);
        clear *= 31.0 / 32.0;
        rate += probability * (1.0 - clear).powi(8);
    }
    rate
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestants::tests::keeps_its_promise;

    #[test]
    fn every_peer_is_driven_correctly() {
        keeps_its_promise::<FastBloomDefault>(0.0115);
        keeps_its_promise::<FastBloomFold>(0.0115);
        keeps_its_promise::<FastBloomAtomic>(0.0115);
        keeps_its_promise::<BloomFilterCrate<u64>>(0.0115);
        keeps_its_promise::<Growable>(0.0115);
        keeps_its_promise::<ParquetSbbf>(0.0115);
        keeps_its_promise::<SbbfRs<Xxh3>>(0.0115);
        keeps_its_promise::<SbbfRs<FixedState>>(0.0115);
    }

    #[test]
    fn sbbf_sizes_agree_with_the_literature() {
        assert!((sbbf_rate(10.53) - 0.01).abs() < 1e-4);
        assert!((sbbf_rate(16.89) - 0.001).abs() < 1e-5);
    }
}
