//! Choosing a filter before making it.

use super::CuckooFilter;
use crate::choices::{DEFAULT_RATE, NO_SIZE, choices};
use crate::cuckoo::layout::CuckooLayout;
use crate::cuckoo::table::{Places, Search, Table};
use crate::error::Error;
use crate::hash::KeyHasher;
use crate::plan::Plan;
use crate::sizing::cuckoo::CuckooPlan;
use crate::sizing::{SizingError, advised_rate};

/// Every choice a [`CuckooFilter`] has.
///
/// Give two of keys, rate and bytes; the third follows. Or set the table by hand: a layout and a number of buckets.
///
/// ```
/// use mayhap::CuckooFilter;
/// use mayhap::cuckoo::CuckooLayout;
///
/// let layout = CuckooLayout::new(4, 16).unwrap();
/// let filter = CuckooFilter::builder().layout(layout).buckets(250_000).max_kicks(100).build()?;
/// assert_eq!(filter.capacity_slots(), 1_000_000);
/// assert!(filter.planned_keys() > 940_000 && filter.planned_rate() < 0.000_13);
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it is told to build"]
pub struct CuckooBuilder {
    keys: Option<u64>,
    rate: Option<f64>,
    bytes: Option<u64>,
    layout: Option<CuckooLayout>,
    buckets: Option<u64>,
    hasher: KeyHasher,
    max_bytes: Option<u64>,
    max_kicks: u32,
}

/// What the reference implementation allows.
pub(in crate::cuckoo) const DEFAULT_KICKS: u32 = 500;

/// The most kicks that can be asked for.
pub const MAX_KICKS: u32 = 1 << 20;

impl Default for CuckooBuilder {
    fn default() -> Self {
        Self {
            keys: None,
            rate: None,
            bytes: None,
            layout: None,
            buckets: None,
            hasher: KeyHasher::default(),
            max_bytes: None,
            max_kicks: DEFAULT_KICKS,
        }
    }
}

choices!(CuckooBuilder {
    /// How many distinct keys the filter is for.
    keys: u64,

    /// Of the keys that are not in the set, the part that is answered "mayhap" at most. 1 % if not given.
    rate: f64,

    /// The most memory the lines may take.
    bytes: u64,

    /// The layout, instead of the one that `sizing` would choose.
    layout: CuckooLayout,

    /// The number of buckets, instead of the one that `sizing` would choose. Needs a [`layout`](Self::layout).
    buckets: u64,

    /// Refuse, instead of allocating more than this.
    max_bytes: u64,
});

impl CuckooBuilder {
    /// The most buckets to look at from each of a key's two, when room must be made for it; 500 if not given, at most
    /// [`MAX_KICKS`].
    ///
    /// With 0, a key whose two buckets are full is refused at once.
    pub fn max_kicks(mut self, kicks: u32) -> Self {
        self.max_kicks = kicks.min(MAX_KICKS);
        self
    }

    /// The plan that these choices lead to, without making the filter.
    ///
    /// # Errors
    /// When the choices contradict each other or ask for what can't be.
    pub fn plan(&self) -> Result<CuckooPlan, SizingError> {
        let rate = self.rate.unwrap_or(DEFAULT_RATE);
        crate::sizing::check_rate(rate)?;
        let plan = match (self.layout, self.buckets, self.keys, self.bytes) {
            (Some(layout), Some(buckets), Some(keys), _) => CuckooPlan::with_buckets(layout, buckets, keys)?,
            (Some(layout), Some(buckets), None, _) => CuckooPlan::filled(layout, buckets)?,
            (None, Some(_), ..) => return Err(NO_LAYOUT),
            (layout, None, Some(keys), None) => CuckooPlan::for_rate_with(layout, keys, rate)?,
            (layout, None, Some(keys), Some(bytes)) => CuckooPlan::for_bytes_with(layout, keys, bytes)?,
            (layout, None, None, Some(bytes)) => CuckooPlan::for_capacity_with(layout, bytes, rate)?,
            (_, None, None, None) => return Err(NOTHING_GIVEN),
        };
        // Where the table was given, a rate is a condition and not a wish.
        if let Some(rate) = self.rate.filter(|rate| *rate < plan.rate()) {
            return Err(match (self.buckets, self.bytes) {
                (None, Some(bytes)) => {
                    let needed = CuckooPlan::for_rate_with(self.layout, plan.keys(), rate)?;
                    SizingError::TooLarge { bytes: needed.bytes(), limit: bytes }
                }
                _ => SizingError::RateOutOfReach {
                    asked: rate,
                    lowest: advised_rate(plan.rate()),
                    keys: plan.keys(),
                    of: "in so many buckets of this layout",
                    instead: "give more buckets, longer fingerprints or fewer keys",
                },
            });
        }
        plan.within(self.bytes.unwrap_or(u64::MAX).min(self.max_bytes.unwrap_or(u64::MAX)))
    }

    /// Makes the filter.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and when the memory can't be had.
    pub fn build(self) -> Result<CuckooFilter, Error> {
        let plan = self.plan()?;
        let bits = plan.layout().fingerprint_bits();
        let table = Table::new(plan.layout(), Places::new(plan.buckets(), 0, bits, bits))?;
        let promise = Plan { keys: plan.keys(), rate: plan.rate() };
        Ok(CuckooFilter::from_parts(table, self.hasher, promise, Search::new(self.max_kicks)))
    }
}

const NO_LAYOUT: SizingError = SizingError::Incomplete {
    missing: "a number of buckets alone is no size: how many fingerprints a bucket has, and how long they are, is missing",
    give: "a layout, or a number of keys instead of the buckets",
};

const NOTHING_GIVEN: SizingError = SizingError::Incomplete {
    missing: NO_SIZE,
    give: "a number of keys, or the bytes, or a layout and a number of buckets",
};
