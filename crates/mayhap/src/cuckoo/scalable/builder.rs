//! Choosing a growing filter before making it.

use alloc::vec;

use super::ScalableCuckoo;
use super::layer::Settings;
use crate::choices::{DEFAULT_RATE, choices};
use crate::cuckoo::filter::{DEFAULT_KICKS, MAX_KICKS};
use crate::cuckoo::layout::CuckooLayout;
use crate::cuckoo::table::Search;
use crate::error::Error;
use crate::hash::KeyHasher;
use crate::sizing::cuckoo::CuckooPlan;
use crate::sizing::layers::MAX_LAYERS;
use crate::sizing::{SizingError, advised_rate};

/// Every choice a [`ScalableCuckoo`] has.
///
/// ```
/// use mayhap::{InsertError, ScalableCuckoo};
///
/// let mut filter = ScalableCuckoo::builder().keys(1_000).rate(0.001).expansion(4).max_layers(2).build()?;
/// let refused = (0..100_000u32).find_map(|number| filter.insert(&number).err());
/// assert_eq!(refused, Some(InsertError::TooManyLayers { limit: 2 }));
/// assert!(filter.len() > 4_800 && filter.layers().len() == 2);
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it is told to build"]
pub struct ScalableCuckooBuilder {
    keys: Option<u64>,
    rate: f64,
    expansion: u64,
    max_layers: u32,
    layout: Option<CuckooLayout>,
    hasher: KeyHasher,
    max_bytes: Option<u64>,
    max_kicks: u32,
}

impl Default for ScalableCuckooBuilder {
    fn default() -> Self {
        Self {
            keys: None,
            rate: DEFAULT_RATE,
            expansion: 2,
            max_layers: MAX_LAYERS,
            layout: None,
            hasher: KeyHasher::default(),
            max_bytes: None,
            max_kicks: DEFAULT_KICKS,
        }
    }
}

choices!(ScalableCuckooBuilder {
    /// How many keys the first layer is for.
    keys: u64,

    /// Of the keys that are not in the set, the part that is answered "mayhap" at most. 1 % if not given.
    rate: f64,

    /// How many times as many buckets a layer has as the one before it: a power of two, or it is rounded up to one. 2
    /// if not given.
    ///
    /// Layers are refinements of each other, which needs a power of two. With 1 all layers are of one size.
    expansion: u64,

    /// The layout of the first layer, instead of the one that `sizing` would choose. Later layers have as many places in
    /// a bucket, and longer fingerprints.
    layout: CuckooLayout,

    /// Refuse to be larger than this, at the beginning and when growing.
    ///
    /// The limit is that of this filter and isn't kept in files, because it says something about a machine: one that was
    /// read grows without it until [`set_max_bytes`](ScalableCuckoo::set_max_bytes) sets it again.
    max_bytes: u64,
});

impl ScalableCuckooBuilder {
    /// The most layers; then inserts fail with [`InsertError::TooManyLayers`](crate::InsertError::TooManyLayers). With 1 the
    /// filter never grows, and its only layer has all of the rate.
    pub fn max_layers(mut self, layers: u32) -> Self {
        self.max_layers = layers.clamp(1, MAX_LAYERS);
        self
    }

    /// The most buckets to look at from each of a key's two, when room must be made for it; 500 if not given, at most
    /// [`MAX_KICKS`].
    pub fn max_kicks(mut self, kicks: u32) -> Self {
        self.max_kicks = kicks.min(MAX_KICKS);
        self
    }

    /// The plan of the first layer, without making the filter.
    ///
    /// # Errors
    /// When the choices ask for what can't be: a rate, for example, at which the filter couldn't grow a hundredfold (or to
    /// its [`max_layers`](Self::max_layers), if that is less). The error names the lowest at which it can.
    pub fn plan(&self) -> Result<CuckooPlan, SizingError> {
        Ok(self.choose()?.0)
    }

    fn choose(&self) -> Result<(CuckooPlan, Settings), SizingError> {
        crate::sizing::check_rate(self.rate)?;
        if self.expansion == 0 {
            return Err(SizingError::ZeroExpansion);
        }
        let keys = self.keys.ok_or(NO_KEYS)?;
        let (plan, settings) = match self.choose_at(keys, self.rate) {
            Ok((_, settings)) if !settings.can_grow() => return Err(self.out_of_reach(keys)),
            // What a layer may have is not what was asked for.
            Err(SizingError::RateTooLow { .. } | SizingError::RateOutOfReach { .. })
                if self.max_layers > 1 =>
            {
                return Err(self.out_of_reach(keys));
            }
            other => other?,
        };
        Ok((plan.within(self.max_bytes.unwrap_or(u64::MAX))?, settings))
    }

    /// The first layer at a rate, whether or not there can be others.
    fn choose_at(&self, keys: u64, rate: f64) -> Result<(CuckooPlan, Settings), SizingError> {
        let expansion_bits = self.expansion.checked_next_power_of_two().map_or(63, u64::trailing_zeros);
        let settings_of = |layout, first_buckets| Settings {
            keys,
            rate,
            layout,
            first_buckets,
            expansion_bits,
            max_layers: self.max_layers,
            max_bytes: self.max_bytes,
        };
        // A part of the lowest number is 0. That is too low for every filter, but nobody asked for it.
        let share = settings_of(FIRST_GUESS, 1).layer_rate(0).max(f64::MIN_POSITIVE);
        let can_grow = |plan: &CuckooPlan| settings_of(plan.layout(), plan.buckets()).can_grow();
        let plan = match self.layout {
            Some(layout) => CuckooPlan::for_rate_with(Some(layout), keys, share)?,
            // Short fingerprints in small buckets don't find their way in the large layers to come. The best of the others
            // nearly always can grow; at very low rates small buckets can, and the larger ones not.
            None => match CuckooPlan::for_growing(keys, share, |_| true)? {
                best if can_grow(&best) => best,
                best => CuckooPlan::for_growing(keys, share, can_grow).unwrap_or(best),
            },
        };
        Ok((plan, settings_of(plan.layout(), plan.buckets())))
    }

    /// The error for a rate at which the filter couldn't grow, with the lowest at which it can.
    fn out_of_reach(&self, keys: u64) -> SizingError {
        const STEPS: u32 = 32;
        let can_grow = |rate| self.choose_at(keys, rate).is_ok_and(|(_, settings)| settings.can_grow());
        // Between a rate that is too low and one that isn't, on a logarithmic scale.
        let (mut too_low, mut lowest) = (libm::log(self.rate), 0.0);
        for _ in 0..STEPS {
            let middle = f64::midpoint(too_low, lowest);
            if can_grow(libm::exp(middle)) {
                lowest = middle;
            } else {
                too_low = middle;
            }
        }
        let (asked, lowest) = (self.rate, advised_rate(libm::exp(lowest)));
        if lowest >= 1.0 && self.layout.is_none() {
            // At no rate: then it is the keys that are too many.
            return SizingError::RateTooLow { asked, lowest, keys };
        }
        SizingError::RateOutOfReach {
            asked,
            lowest,
            keys,
            of: if self.layout.is_some() { OF_LAYOUT } else { OF_ANY },
            instead: "use a ScalableBloom, or one that never grows (a CuckooFilter)",
        }
    }

    /// Makes the filter.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and when the memory can't be had.
    pub fn build(self) -> Result<ScalableCuckoo, Error> {
        let (_, settings) = self.choose()?;
        let first = settings.first_layer()?;
        Ok(ScalableCuckoo::from_parts(vec![first], settings, self.hasher, Search::new(self.max_kicks)))
    }
}

/// Replaced by what the plan says.
const FIRST_GUESS: CuckooLayout = match CuckooLayout::new(4, 16) {
    Some(layout) => layout,
    None => unreachable!(),
};

const NO_KEYS: SizingError = SizingError::Incomplete {
    missing: "nothing says how large the first layer is to be",
    give: "the number of keys that are certain to come",
};

const OF_ANY: &str = "in a cuckoo filter that grows, whose fingerprints have 32 bits at most";
const OF_LAYOUT: &str = "in a cuckoo filter that grows from this layout";
