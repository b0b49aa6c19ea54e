//! Choosing a filter before making it.

use super::DLeftCounting;
use super::place::Geometry;
use crate::bits::{AllocError, Owned};
use crate::error::Error;
use crate::hash::{KeyHasher, SecretKey};
use crate::plan::Plan;
use crate::sizing::d_left::{COUNTER_BITS, DLeftPlan};
use crate::sizing::{SizingError, check_rate};

/// Every choice a [`DLeftCounting`] has.
///
/// ```
/// use mayhap::DLeftCounting;
///
/// let filter = DLeftCounting::builder().keys(10_000).rate(0.001).counter_bits(8).max_bytes(1 << 20).build()?;
/// assert_eq!(filter.cell().most(), 256, "copies in one cell");
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until it is told to build"]
pub struct DLeftBuilder {
    keys: Option<u64>,
    rate: Option<f64>,
    counter_bits: Option<u32>,
    hasher: KeyHasher,
    max_bytes: Option<u64>,
}

/// The rate of a filter that was given keys alone.
const DEFAULT_RATE: f64 = 0.01;

impl DLeftBuilder {
    /// How many distinct keys the filter is for.
    pub fn keys(mut self, keys: u64) -> Self {
        self.keys = Some(keys);
        self
    }

    /// Of the keys that are not in the set, the part that is answered "mayhap" at most. 1 % if not given.
    pub fn rate(mut self, rate: f64) -> Self {
        self.rate = Some(rate);
        self
    }

    /// Bits of a counter, 1 to 16; 2 if not given. A cell of c bits counts 2ᶜ copies, and a key of more copies takes
    /// several cells, each like another planned key. One bit is enough for a set, where copies are rare.
    pub fn counter_bits(mut self, bits: u32) -> Self {
        self.counter_bits = Some(bits);
        self
    }

    /// XXH3 with this seed.
    pub fn seed(self, seed: u64) -> Self {
        self.hasher(KeyHasher::xxh3(seed))
    }

    /// SipHash-1-3 with a secret key: for keys that come from strangers.
    pub fn secret_key(self, key: SecretKey) -> Self {
        self.hasher(KeyHasher::sip13(key))
    }

    /// Any hasher.
    pub fn hasher(mut self, hasher: KeyHasher) -> Self {
        self.hasher = hasher;
        self
    }

    /// Refuse, instead of allocating more than this.
    pub fn max_bytes(mut self, limit: u64) -> Self {
        self.max_bytes = Some(limit);
        self
    }

    /// The plan that these choices lead to, without making the filter.
    ///
    /// # Errors
    /// When the choices ask for what can't be.
    pub fn plan(&self) -> Result<DLeftPlan, SizingError> {
        let rate = self.rate.unwrap_or(DEFAULT_RATE);
        check_rate(rate)?;
        let keys = self.keys.ok_or(SizingError::ZeroKeys)?;
        let counter_bits = self.counter_bits.unwrap_or(COUNTER_BITS);
        DLeftPlan::for_rate_with_counters(keys, rate, counter_bits)?
            .within(self.max_bytes.unwrap_or(u64::MAX))
    }

    /// Makes the filter.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and when the memory can't be had.
    pub fn build(self) -> Result<DLeftCounting, Error> {
        let plan = self.plan()?;
        let buckets = usize::try_from(plan.buckets()).map_err(|_| AllocError { bytes: plan.bytes() })?;
        let blocks = Owned::zeroed(2 * plan.buckets())?;
        let promise = Plan { keys: plan.keys(), rate: plan.rate() };
        Ok(DLeftCounting::from_parts(blocks, self.hasher, Geometry { cell: plan.cell(), buckets }, promise))
    }
}
