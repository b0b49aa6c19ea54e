//! Choosing a dual filter before making it.

use super::DualBloom;
use crate::bloom::BloomFilter;
use crate::choices::{DEFAULT_RATE, NO_KEYS, choices};
use crate::error::Error;
use crate::hash::KeyHasher;
use crate::sizing::{BlockedPlan, SizingError};

/// Every choice a [`DualBloom`] has.
///
/// ```
/// use mayhap::DualBloom;
///
/// // A wrong "no" loses a sale, a wrong "mayhap" costs a query: the two rates differ.
/// let builder = DualBloom::builder().keys(1_000_000).rate(0.01).removals(50_000).hidden_rate(0.0001);
/// let plan = builder.plan()?;
/// assert!(plan.bits_per_key() < 11.3, "10.1 for the keys, 1.1 for the removals");
///
/// let filter = builder.build()?;
/// assert_eq!((filter.planned_keys(), filter.planned_rate()), (1_000_000, 0.01));
/// assert_eq!((filter.planned_removals(), filter.planned_hidden_rate()), (50_000, 0.0001));
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until it is told to build"]
pub struct DualBuilder {
    keys: Option<u64>,
    rate: Option<f64>,
    removals: Option<u64>,
    hidden_rate: Option<f64>,
    hasher: KeyHasher,
    max_bytes: Option<u64>,
}

/// One removal is planned for so many keys. It is a filter for few deletes; with many, others are smaller.
const KEYS_PER_REMOVAL: u64 = 10;

choices!(DualBuilder {
    /// How many distinct keys will ever be added, those that are removed later among them.
    keys: u64,

    /// Of the keys that are not in the set, the part that is answered "mayhap" at most. 1 % if not given.
    rate: f64,

    /// How many keys will ever be removed. A tenth of the keys if not given.
    removals: u64,

    /// Of the keys that are in the set, the part that is hidden at most, answered "no" although present. As
    /// [`rate`](Self::rate) if not given.
    hidden_rate: f64,

    /// Refuse, instead of allocating more than this for both sides together.
    max_bytes: u64,
});

impl DualBuilder {
    /// The plan that these choices lead to, without making the filter.
    ///
    /// # Errors
    /// When the choices ask for what can't be: no keys, no removals, or a rate that isn't one.
    pub fn plan(&self) -> Result<DualPlan, SizingError> {
        let rate = self.rate.unwrap_or(DEFAULT_RATE);
        let keys = self.keys.ok_or(NO_KEYS)?;
        let removals = self.removals.unwrap_or(keys.div_ceil(KEYS_PER_REMOVAL));
        let added = BlockedPlan::for_rate(keys, rate)?;
        if removals == 0 {
            return Err(SizingError::ZeroRemovals);
        }
        let plan =
            DualPlan { added, removed: BlockedPlan::for_rate(removals, self.hidden_rate.unwrap_or(rate))? };
        match self.max_bytes {
            Some(limit) if plan.bytes() > limit => Err(SizingError::TooLarge { bytes: plan.bytes(), limit }),
            _ => Ok(plan),
        }
    }

    /// Makes the filter.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and when the memory can't be had.
    pub fn build(self) -> Result<DualBloom, Error> {
        let plan = self.plan()?;
        Ok(DualBloom {
            added: BloomFilter::with_plan(plan.added, self.hasher.clone())?,
            removed: BloomFilter::with_plan(plan.removed, self.hasher)?,
        })
    }
}

/// A [`DualBloom`] on paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPlan {
    added: BlockedPlan,
    removed: BlockedPlan,
}

impl DualPlan {
    /// The filter of added keys. Its rate is that of wrong "mayhaps".
    #[must_use]
    pub fn added(&self) -> BlockedPlan {
        self.added
    }

    /// The filter of removed keys. Its rate is that of wrong "noes".
    #[must_use]
    pub fn removed(&self) -> BlockedPlan {
        self.removed
    }

    /// The bytes of both.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.added.bytes().saturating_add(self.removed.bytes())
    }

    /// The bits of both for each key that is ever added.
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        self.bytes() as f64 * 8.0 / self.added.keys() as f64
    }
}
