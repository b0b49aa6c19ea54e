//! Which filters take part, and how they are built.

use mayhap::counting::CounterWidth;
use mayhap::cuckoo::{CuckooLayout, ScalableCuckoo};
use mayhap::{BloomFilter, CountingBloom, CuckooFilter, DLeftCounting, DualBloom, ScalableBloom};

use super::kinds::Dual;
use super::{RemovingSetup, Setup};
use crate::Failure;

/// The blocked Bloom filter, with the CPU's kernel or the portable one.
pub(crate) struct Bloom<const PORTABLE: bool>;

impl<const PORTABLE: bool> Setup for Bloom<PORTABLE> {
    type Filter = BloomFilter;
    const NAMES: [&'static str; 2] = if PORTABLE {
        ["mayhap portable, per call", "mayhap portable, batches"]
    } else {
        ["mayhap, per call", "mayhap, batches"]
    };

    fn build(n: usize, p: f64, seed: u64) -> Result<BloomFilter, Failure> {
        let builder = BloomFilter::builder().keys(n as u64).rate(p).seed(seed);
        let mut filter = if PORTABLE { builder.portable() } else { builder }.build()?;
        filter.clear();
        Ok(filter)
    }
}

/// A chain that has `LAYERS` layers, each twice as large as the one before it, when all the keys are in.
pub(crate) struct Layers<const LAYERS: usize>;

impl<const LAYERS: usize> Layers<LAYERS> {
    /// The keys the first layer is reserved for.
    pub(crate) fn reserved(n: usize) -> u64 {
        (n as u64).div_ceil((1 << LAYERS) - 1)
    }
}

impl<const LAYERS: usize> Setup for Layers<LAYERS> {
    type Filter = ScalableBloom;
    const NAMES: [&'static str; 2] = [
        ["mayhap ScalableBloom, 1 layer, per call", "mayhap ScalableBloom, 1 layer, batches"],
        ["mayhap ScalableBloom, 2 layers, per call", "mayhap ScalableBloom, 2 layers, batches"],
        ["mayhap ScalableBloom, 3 layers, per call", "mayhap ScalableBloom, 3 layers, batches"],
        ["mayhap ScalableBloom, 4 layers, per call", "mayhap ScalableBloom, 4 layers, batches"],
        ["mayhap ScalableBloom, 5 layers, per call", "mayhap ScalableBloom, 5 layers, batches"],
        ["mayhap ScalableBloom, 6 layers, per call", "mayhap ScalableBloom, 6 layers, batches"],
        ["mayhap ScalableBloom, 7 layers, per call", "mayhap ScalableBloom, 7 layers, batches"],
        ["mayhap ScalableBloom, 8 layers, per call", "mayhap ScalableBloom, 8 layers, batches"],
        ["mayhap ScalableBloom, 9 layers, per call", "mayhap ScalableBloom, 9 layers, batches"],
        ["mayhap ScalableBloom, 10 layers, per call", "mayhap ScalableBloom, 10 layers, batches"],
    ][LAYERS - 1];

    fn build(n: usize, p: f64, seed: u64) -> Result<ScalableBloom, Failure> {
        let reserved = Self::reserved(n);
        let mut filter = ScalableBloom::builder().keys(reserved).rate(p).expansion(2).seed(seed).build()?;
        filter.clear();
        Ok(filter)
    }
}

/// Counters of `BITS` bits.
pub(crate) struct Counting<const BITS: u32>;

impl<const BITS: u32> Setup for Counting<BITS> {
    type Filter = CountingBloom;
    const NAMES: [&'static str; 2] = match BITS {
        4 => ["mayhap CountingBloom 4-bit, per call", "mayhap CountingBloom 4-bit, batches"],
        8 => ["mayhap CountingBloom 8-bit, per call", "mayhap CountingBloom 8-bit, batches"],
        _ => ["mayhap CountingBloom 16-bit, per call", "mayhap CountingBloom 16-bit, batches"],
    };

    fn build(n: usize, p: f64, seed: u64) -> Result<CountingBloom, Failure> {
        let width = CounterWidth::ALL.into_iter().find(|width| width.bits() == BITS);
        let width = width.ok_or("there are no counters of this width")?;
        let mut filter = CountingBloom::builder().keys(n as u64).rate(p).width(width).seed(seed).build()?;
        filter.clear();
        Ok(filter)
    }
}

impl<const BITS: u32> RemovingSetup for Counting<BITS> {
    const WHEN_FULL: &'static str = "rate rises; full counters stick";
}

/// Two Bloom filters, planned for what is done here: half of the keys are removed.
pub(crate) struct DualForHalf;

impl Setup for DualForHalf {
    type Filter = Dual;
    const NAMES: [&'static str; 2] =
        ["mayhap DualBloom, half to be removed, per call", "mayhap DualBloom, half to be removed, batches"];

    fn build(n: usize, p: f64, seed: u64) -> Result<Dual, Failure> {
        let builder = DualBloom::builder().keys(n as u64).removals(n as u64 / 2);
        let mut filter = builder.rate(p).seed(seed).build()?;
        filter.clear();
        Ok(Dual::new(filter))
    }
}

impl RemovingSetup for DualForHalf {
    const WHEN_FULL: &'static str = "rate rises, more keys are hidden";
    const LOSES: Option<&'static str> = Some("a key that looks like a removed one is hidden");
}

pub(crate) struct DLeft;

impl Setup for DLeft {
    type Filter = DLeftCounting;
    const NAMES: [&'static str; 2] = ["mayhap DLeftCounting, per call", "mayhap DLeftCounting, batches"];

    fn build(n: usize, p: f64, seed: u64) -> Result<DLeftCounting, Failure> {
        let mut filter = DLeftCounting::builder().keys(n as u64).rate(p).seed(seed).build()?;
        filter.clear();
        Ok(filter)
    }
}

impl RemovingSetup for DLeft {
    const WHEN_FULL: &'static str = "error, nothing lost";
}

/// As `sizing` plans it.
pub(crate) struct Cuckoo;

impl Setup for Cuckoo {
    type Filter = CuckooFilter;
    const NAMES: [&'static str; 2] = ["mayhap CuckooFilter, per call", "mayhap CuckooFilter, batches"];

    fn build(n: usize, p: f64, seed: u64) -> Result<CuckooFilter, Failure> {
        let mut filter = CuckooFilter::builder().keys(n as u64).rate(p).seed(seed).build()?;
        filter.clear();
        Ok(filter)
    }
}

impl RemovingSetup for Cuckoo {
    const WHEN_FULL: &'static str = "error, nothing lost";
}

/// Buckets chosen by hand, with the fingerprints the rate needs.
pub(crate) struct CuckooByHand<const ENTRIES: u32, const SEMI_SORTED: bool>;

impl<const ENTRIES: u32, const SEMI_SORTED: bool> Setup for CuckooByHand<ENTRIES, SEMI_SORTED> {
    type Filter = CuckooFilter;
    const NAMES: [&'static str; 2] = match (ENTRIES, SEMI_SORTED) {
        (4, true) => [
            "mayhap CuckooFilter b = 4, semi-sorted, per call",
            "mayhap CuckooFilter b = 4, semi-sorted, batches",
        ],
        (2, _) => ["mayhap CuckooFilter b = 2, per call", "mayhap CuckooFilter b = 2, batches"],
        (4, _) => ["mayhap CuckooFilter b = 4, per call", "mayhap CuckooFilter b = 4, batches"],
        _ => ["mayhap CuckooFilter b = 8, per call", "mayhap CuckooFilter b = 8, batches"],
    };

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few bits")]
    fn build(n: usize, p: f64, seed: u64) -> Result<CuckooFilter, Failure> {
        let bits = (f64::from(2 * ENTRIES) / p).log2().ceil() as u32;
        let layout =
            if SEMI_SORTED { CuckooLayout::semi_sorted(bits) } else { CuckooLayout::new(ENTRIES, bits) };
        let layout = layout.ok_or("there are no such buckets")?;
        let mut filter = CuckooFilter::builder().layout(layout).keys(n as u64).rate(p).seed(seed).build()?;
        filter.clear();
        Ok(filter)
    }
}

impl<const ENTRIES: u32, const SEMI_SORTED: bool> RemovingSetup for CuckooByHand<ENTRIES, SEMI_SORTED> {
    const WHEN_FULL: &'static str = "error, nothing lost";
}

/// Buckets of four 16-bit fingerprints, as few as hold the keys at a load of 95 %.
pub(crate) struct Cuckoo16;

impl Setup for Cuckoo16 {
    type Filter = CuckooFilter;
    const NAMES: [&'static str; 2] =
        ["mayhap CuckooFilter 16-bit, per call", "mayhap CuckooFilter 16-bit, batches"];

    fn build(n: usize, _p: f64, seed: u64) -> Result<CuckooFilter, Failure> {
        let layout = CuckooLayout::new(4, 16).ok_or("there are no such buckets")?;
        // n / 0.95, in whole numbers.
        let buckets = (n as u64 * 100).div_ceil(95 * 4);
        let builder = CuckooFilter::builder().layout(layout).buckets(buckets).keys(n as u64);
        let mut filter = builder.seed(seed).build()?;
        filter.clear();
        Ok(filter)
    }
}

impl RemovingSetup for Cuckoo16 {
    const WHEN_FULL: &'static str = "error, nothing lost";

    fn slots(filter: &CuckooFilter) -> Option<u64> {
        Some(filter.capacity_slots())
    }
}

/// A cuckoo filter that can grow, reserved for a `PART`-th of the keys.
pub(crate) struct GrowingCuckoo<const PART: u64>;

impl<const PART: u64> Setup for GrowingCuckoo<PART> {
    type Filter = ScalableCuckoo;
    const NAMES: [&'static str; 2] = if PART == 1 {
        ["mayhap ScalableCuckoo, reserved right, per call", "mayhap ScalableCuckoo, reserved right, batches"]
    } else {
        [
            "mayhap ScalableCuckoo, grown from 1/100, per call",
            "mayhap ScalableCuckoo, grown from 1/100, batches",
        ]
    };

    fn build(n: usize, p: f64, seed: u64) -> Result<ScalableCuckoo, Failure> {
        let reserved = (n as u64).div_ceil(PART);
        let mut filter = ScalableCuckoo::builder().keys(reserved).rate(p).seed(seed).build()?;
        filter.clear();
        Ok(filter)
    }
}

impl<const PART: u64> RemovingSetup for GrowingCuckoo<PART> {
    const WHEN_FULL: &'static str = "grows, the rate holds";
}
