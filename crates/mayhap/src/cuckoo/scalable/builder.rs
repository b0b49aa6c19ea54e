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
use crate::sizing::SizingError;
use crate::sizing::cuckoo::CuckooPlan;
use crate::sizing::layers::MAX_LAYERS;

/// Every choice a [`ScalableCuckoo`] has.
///
/// ```
/// use mayhap::{InsertError, ScalableCuckoo};
///
/// let mut filter = ScalableCuckoo::builder().keys(1_000).rate(0.001).expansion(4).max_layers(2).build()?;
/// let refused = (0..100_000u32).find_map(|number| filter.insert(&number).err());
/// assert_eq!(refused, Some(InsertError::Full));
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
    max_bytes: u64,
});

impl ScalableCuckooBuilder {
    /// The most layers; then inserts fail with [`InsertError::Full`](crate::InsertError::Full). With 1 the filter never
    /// grows, and its only layer has all of the rate.
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
    /// When the choices ask for what can't be.
    pub fn plan(&self) -> Result<CuckooPlan, SizingError> {
        Ok(self.choose()?.0)
    }

    fn choose(&self) -> Result<(CuckooPlan, Settings), SizingError> {
        crate::sizing::check_rate(self.rate)?;
        let keys = self.keys.unwrap_or(0);
        if self.expansion == 0 {
            return Err(SizingError::ZeroExpansion);
        }
        let expansion_bits = self.expansion.checked_next_power_of_two().map_or(63, u64::trailing_zeros);
        let mut settings = Settings {
            keys,
            rate: self.rate,
            layout: FIRST_GUESS,
            first_buckets: 1,
            expansion_bits,
            max_layers: self.max_layers,
            max_bytes: self.max_bytes,
        };
        let plan = match self.layout {
            Some(layout) => CuckooPlan::for_rate_with(Some(layout), keys, settings.layer_rate(0))?,
            // Short fingerprints in small buckets don't find their way in the large layers to come.
            None => CuckooPlan::for_growing(keys, settings.layer_rate(0))?,
        };
        (settings.layout, settings.first_buckets) = (plan.layout(), plan.buckets());
        Ok((plan.within(self.max_bytes.unwrap_or(u64::MAX))?, settings))
    }

    /// Makes the filter.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and when the memory can't be had.
    pub fn build(self) -> Result<ScalableCuckoo, Error> {
        let (_, settings) = self.choose()?;
        let first = settings.new_layer(0)?;
        Ok(ScalableCuckoo::from_parts(vec![first], settings, self.hasher, Search::new(self.max_kicks)))
    }
}

/// Replaced by what the plan says.
const FIRST_GUESS: CuckooLayout = match CuckooLayout::new(4, 16) {
    Some(layout) => layout,
    None => unreachable!(),
};
