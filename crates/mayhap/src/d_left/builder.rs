//! Choosing a filter before making it.

use super::DLeftCounting;
use super::place::Geometry;
use crate::bits::{AllocError, Owned};
use crate::choices::{DEFAULT_RATE, NO_KEYS, choices};
use crate::error::Error;
use crate::hash::KeyHasher;
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

choices!(DLeftBuilder {
    /// How many distinct keys the filter is for.
    keys: u64,

    /// Of the keys that are not in the set, the part that is answered "mayhap" at most. 1 % if not given.
    rate: f64,

    /// Bits of a counter, 1 to 16; 2 if not given. A cell of c bits counts 2ᶜ copies, and a key of more copies takes
    /// several cells, each like another planned key. One bit is enough for a set, where copies are rare.
    counter_bits: u32,

    /// Refuse, instead of allocating more than this.
    max_bytes: u64,
});

impl DLeftBuilder {
    /// The plan that these choices lead to, without making the filter.
    ///
    /// # Errors
    /// When the choices ask for what can't be.
    pub fn plan(&self) -> Result<DLeftPlan, SizingError> {
        let rate = self.rate.unwrap_or(DEFAULT_RATE);
        check_rate(rate)?;
        let keys = self.keys.ok_or(NO_KEYS)?;
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
