//! Choosing a counting filter before making it.

use super::CountingBloom;
use super::layout::{CounterLayout, CounterShape, CounterWidth};
use crate::bits::Owned;
use crate::bloom::kernel::Kernel;
use crate::choices::{DEFAULT_RATE, NEITHER_KEYS_NOR_BYTES, choices};
use crate::error::Error;
use crate::hash::KeyHasher;
use crate::plan::Plan;
use crate::sizing::{CountingPlan, SizingError};

/// Every choice a [`CountingBloom`] has.
///
/// Give two of keys, rate and bytes; the third follows. Keys and bytes together fix the rate.
///
/// ```
/// use mayhap::CountingBloom;
/// use mayhap::counting::CounterWidth;
///
/// // Words of a text: few are distinct, some come thousands of times.
/// let filter = CountingBloom::builder().keys(50_000).rate(0.01).width(CounterWidth::Sixteen).build()?;
/// assert_eq!(filter.max_count(), 65_535);
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until it is told to build"]
pub struct CountingBuilder {
    keys: Option<u64>,
    rate: Option<f64>,
    bytes: Option<u64>,
    width: CounterWidth,
    shape: Option<CounterShape>,
    hasher: KeyHasher,
    max_bytes: Option<u64>,
    portable: bool,
}

choices!(CountingBuilder {
    /// How many distinct keys the filter is for.
    keys: u64,

    /// Of the keys that are not in the set, the part that is answered "mayhap" at most. 1 % if not given.
    rate: f64,

    /// The most memory the counters may take.
    bytes: u64,

    /// How wide the counters are. 4 bits if not given.
    width: CounterWidth,

    /// The shape, instead of the one that `sizing` would choose: one cache line for speed, or two for less memory.
    shape: CounterShape,

    /// Refuse, instead of allocating more than this.
    max_bytes: u64,
});

impl CountingBuilder {
    /// Use the portable code even where the CPU has better: for tests and comparisons.
    pub fn portable(mut self) -> Self {
        self.portable = true;
        self
    }

    /// The plan that these choices lead to, without making the filter.
    ///
    /// # Errors
    /// When the choices contradict each other or ask for what can't be.
    pub fn plan(&self) -> Result<CountingPlan, SizingError> {
        let rate = self.rate.unwrap_or(DEFAULT_RATE);
        crate::sizing::check_rate(rate)?;
        let width = self.width;
        let layout = self.shape.map(|shape| CounterLayout { shape, width });
        let for_rate = |keys, rate| match layout {
            None => CountingPlan::for_rate(keys, rate, width),
            Some(layout) => CountingPlan::for_rate_with_layout(layout, keys, rate),
        };
        let plan = match (self.keys, self.bytes, layout) {
            (Some(keys), Some(bytes), layout) => {
                let plan = match layout {
                    None => CountingPlan::for_bytes(keys, bytes, width)?,
                    Some(layout) => CountingPlan::for_bytes_with_layout(layout, keys, bytes)?,
                };
                match self.rate {
                    Some(rate) if rate < plan.expected_rate() => {
                        let needed = for_rate(keys, rate)?.bytes();
                        return Err(SizingError::TooLarge { bytes: needed, limit: bytes });
                    }
                    _ => plan,
                }
            }
            (Some(keys), None, _) => for_rate(keys, rate)?,
            (None, Some(bytes), None) => CountingPlan::for_capacity(bytes, rate, width)?,
            (None, Some(bytes), Some(layout)) => CountingPlan::for_capacity_with_layout(layout, bytes, rate)?,
            (None, None, _) => return Err(NEITHER_KEYS_NOR_BYTES),
        };
        plan.within(self.max_bytes.unwrap_or(u64::MAX))
    }

    /// Makes the filter.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and when the memory can't be had.
    pub fn build(self) -> Result<CountingBloom, Error> {
        let plan = self.plan()?;
        let blocks = Owned::zeroed(plan.blocks())?;
        let kernel = if self.portable { Kernel::Portable } else { Kernel::detect() };
        let promise = Plan { keys: plan.keys(), rate: plan.rate() };
        Ok(CountingBloom::from_parts(blocks, self.hasher, plan.layout(), kernel, promise, 0))
    }
}
