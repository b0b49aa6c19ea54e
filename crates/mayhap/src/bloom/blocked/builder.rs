//! Choosing a filter before making it.

use super::BloomFilter;
use crate::bits::{BLOCK_BYTES, Owned, Pages, Shared};
use crate::bloom::kernel::Kernel;
use crate::bloom::shape::Shape;
use crate::choices::{DEFAULT_RATE, NEITHER_KEYS_NOR_BYTES, choices};
use crate::error::Error;
use crate::hash::KeyHasher;
use crate::plan::Plan;
use crate::sizing::SizingError;
use crate::sizing::blocked::BlockedPlan;

/// Every choice a [`BloomFilter`] has.
///
/// Give two of keys, rate and bytes; the third follows. Keys and bytes together fix the rate.
///
/// ```
/// use mayhap::{BloomFilter, hash::SecretKey};
///
/// let key = SecretKey::new([7; 16]); // take it from the operating system's random source
/// let filter = BloomFilter::builder().keys(10_000).rate(0.001).secret_key(key).max_bytes(1 << 20).build()?;
/// assert!(filter.hasher().key_id().is_some());
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until it is told to build"]
pub struct BloomBuilder {
    keys: Option<u64>,
    rate: Option<f64>,
    bytes: Option<u64>,
    shape: Option<Shape>,
    hasher: KeyHasher,
    max_bytes: Option<u64>,
    portable: bool,
    pages: Pages,
}

choices!(BloomBuilder {
    /// How many distinct keys the filter is for.
    keys: u64,

    /// Of the keys that are not in the set, the part that is answered "mayhap" at most. 1 % if not given.
    rate: f64,

    /// The most memory the blocks may take.
    bytes: u64,

    /// The shape, instead of the one that `sizing` would choose.
    shape: Shape,

    /// Refuse, instead of allocating more than this.
    max_bytes: u64,

    /// The pages its memory is in: huge ones, if not given.
    pages: Pages,
});

impl BloomBuilder {
    /// Use the portable code even where the CPU has better: for tests and comparisons.
    pub fn portable(mut self) -> Self {
        self.portable = true;
        self
    }

    /// The plan that these choices lead to, without making the filter.
    ///
    /// # Errors
    /// When the choices contradict each other or ask for what can't be.
    pub fn plan(&self) -> Result<BlockedPlan, SizingError> {
        let rate = self.rate.unwrap_or(DEFAULT_RATE);
        crate::sizing::check_rate(rate)?;
        let plan = match (self.keys, self.bytes, self.shape) {
            (Some(keys), Some(bytes), shape) => {
                let plan = match shape {
                    None => BlockedPlan::for_bytes(keys, bytes)?,
                    Some(shape) => BlockedPlan::for_bytes_with_shape(shape, keys, bytes)?,
                };
                match self.rate {
                    Some(rate) if rate < plan.expected_rate() => {
                        let needed = match shape {
                            None => BlockedPlan::for_rate(keys, rate)?,
                            Some(shape) => BlockedPlan::for_rate_with_shape(shape, keys, rate)?,
                        };
                        return Err(SizingError::TooLarge { bytes: needed.bytes(), limit: bytes });
                    }
                    _ => plan,
                }
            }
            (Some(keys), None, None) => BlockedPlan::for_rate(keys, rate)?,
            (Some(keys), None, Some(shape)) => BlockedPlan::for_rate_with_shape(shape, keys, rate)?,
            (None, Some(bytes), None) => BlockedPlan::for_capacity(bytes, rate)?,
            (None, Some(bytes), Some(shape)) => BlockedPlan::for_capacity_with_shape(shape, bytes, rate)?,
            (None, None, _) => return Err(NEITHER_KEYS_NOR_BYTES),
        };
        plan.within(self.max_bytes.unwrap_or(u64::MAX))
    }

    /// Makes the filter.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and when the memory can't be had.
    pub fn build(self) -> Result<BloomFilter, Error> {
        let plan = self.plan()?;
        let blocks = Owned::zeroed_in(self.pages, plan.blocks())?;
        debug_assert_eq!(plan.blocks() * BLOCK_BYTES as u64, plan.bytes());
        let kernel = if self.portable { Kernel::Portable } else { Kernel::detect() };
        let promise = Plan { keys: plan.keys(), rate: plan.rate() };
        Ok(BloomFilter::from_parts(blocks, self.hasher, plan.shape(), kernel, promise))
    }

    /// Makes a filter that many threads can add to.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_shared(self) -> Result<BloomFilter<Shared>, Error> {
        self.build().map(BloomFilter::into_shared)
    }
}
