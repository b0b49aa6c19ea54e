//! Choosing a growing filter before making it.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::ScalableBloom;
use super::layer::Layer;
use crate::bits::AllocError;
use crate::choices::{DEFAULT_RATE, NO_KEYS, choices};
use crate::error::Error;
use crate::filter::InsertError;
use crate::hash::KeyHasher;
use crate::sizing::layers::{MAX_LAYERS, plan_for_new_keys};
use crate::sizing::{BlockedPlan, GrowthPlan, SizingError};

/// What happens when a filter has taken all the keys it was made for and a new one comes.
///
/// ```
/// use mayhap::{Growth, InsertError, ScalableBloom};
///
/// let mut coupons = ScalableBloom::builder().keys(2).rate(0.001).growth(Growth::Refuse).build()?;
/// coupons.insert("A7K2")?;
/// coupons.insert("Q9X1")?;
/// assert_eq!(coupons.insert("third"), Err(InsertError::Full));
/// assert_eq!(coupons.insert("A7K2"), Ok(false), "what is there already needs no room");
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Growth {
    /// Put another layer on top. The rate stays at or below the promise, and where 64-bit digests can't keep it any
    /// longer the key is refused, with [`InsertError::RateSpent`](crate::InsertError::RateSpent).
    #[default]
    Grow,
    /// Refuse the key, with [`InsertError::Full`](crate::InsertError::Full). There is one layer, and it has all of the
    /// rate: no more memory than a [`BloomFilter`](crate::BloomFilter).
    Refuse,
    /// Take the key all the same. There is one layer; its rate rises, and
    /// [`is_over_plan`](ScalableBloom::is_over_plan) tells.
    Saturate,
}

impl Growth {
    /// The number that stands for it in files.
    pub(super) const fn id(self) -> u64 {
        match self {
            Self::Grow => 0,
            Self::Refuse => 1,
            Self::Saturate => 2,
        }
    }

    pub(super) const fn from_id(id: u64) -> Option<Self> {
        match id {
            0 => Some(Self::Grow),
            1 => Some(Self::Refuse),
            2 => Some(Self::Saturate),
            _ => None,
        }
    }
}

/// All that a filter needs to know to grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settings {
    /// Keys of the first layer.
    pub(super) keys: u64,
    /// The promise, over all layers.
    pub(super) rate: f64,
    pub(super) expansion: u32,
    /// The ratio between the rates of layers; none: the usual shares.
    pub(super) tightening: Option<f64>,
    pub(super) growth: Growth,
    pub(super) max_bytes: u64,
}

impl Settings {
    /// The layer with this number: the new keys it is made for, and its filter.
    pub(super) fn layer(&self, layer: u32) -> Result<(u64, BlockedPlan), SizingError> {
        let plan = self.plan()?;
        // A filter that will never have a second layer needs to save no part of the rate for it.
        if self.growth != Growth::Grow {
            return Ok((self.keys, plan_for_new_keys(self.keys, self.rate)?));
        }
        let filter = plan.layer(layer)?;
        Ok((plan.layer_keys(layer).unwrap_or(filter.keys()), filter))
    }

    pub(super) fn plan(&self) -> Result<GrowthPlan, SizingError> {
        let plan = GrowthPlan::new(self.keys, self.rate, self.expansion)?;
        self.tightening.map_or(Ok(plan), |ratio| plan.with_tightening(ratio))
    }

    /// The layer to put on top of `layers` of `bytes` bytes, or why there is none. What is known of the layer to come is
    /// kept from one time to the next.
    pub(super) fn next_layer(
        &self,
        layers: usize,
        bytes: u64,
        hasher: &KeyHasher,
        coming: &mut Option<Box<Coming>>,
    ) -> Result<Layer, InsertError> {
        if self.growth != Growth::Grow {
            return Err(InsertError::Full);
        }
        let number = u32::try_from(layers).unwrap_or(MAX_LAYERS);
        if number >= MAX_LAYERS {
            return Err(InsertError::TooManyLayers { limit: u64::from(MAX_LAYERS) });
        }
        let known = coming.take().filter(|coming| coming.number == number);
        let work_out = || Box::new(Coming { number, plan: self.layer(number).map_err(end_of_growth) });
        let (keys, plan) = coming.insert(known.unwrap_or_else(work_out)).plan.clone()?;
        let bytes = bytes.saturating_add(plan.bytes());
        if bytes > self.max_bytes {
            return Err(InsertError::TooLarge { bytes, limit: self.max_bytes });
        }
        Ok(Layer::new(plan, keys, hasher.clone())?)
    }
}

/// The layer with this number: the new keys it is made for and its filter, or why it can't be. To work it out takes some
/// 200 µs, and a filter that may not grow any further needs it for each key that it refuses.
#[derive(Clone, Debug)]
pub(super) struct Coming {
    pub(super) number: u32,
    pub(super) plan: Result<(u64, BlockedPlan), InsertError>,
}

/// Why there is no layer, to whoever adds a key.
fn end_of_growth(error: SizingError) -> InsertError {
    match error {
        // More bytes than any machine has. Keys beyond counting are too many for digests first.
        SizingError::TooLarge { bytes, .. } if bytes < u64::MAX => AllocError { bytes }.into(),
        _ => InsertError::RateSpent,
    }
}

/// Every choice a [`ScalableBloom`] has.
///
/// ```
/// use mayhap::ScalableBloom;
///
/// let filter = ScalableBloom::builder().keys(10_000).rate(0.001).expansion(4).max_bytes(1 << 30).build()?;
/// assert_eq!((filter.expansion(), filter.layer_count()), (4, 1));
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it is told to build"]
pub struct ScalableBuilder {
    keys: Option<u64>,
    /// But for the keys.
    settings: Settings,
    hasher: KeyHasher,
}

/// 1 %, doubling, growing without limit. The number of keys must be given.
impl Default for ScalableBuilder {
    fn default() -> Self {
        let settings = Settings {
            keys: 0,
            rate: DEFAULT_RATE,
            expansion: 2,
            tightening: None,
            growth: Growth::Grow,
            max_bytes: u64::MAX,
        };
        Self { keys: None, settings, hasher: KeyHasher::default() }
    }
}

choices!(ScalableBuilder {
    /// How many distinct keys the first layer is for: as many as are certain to come.
    keys: u64,
});

impl ScalableBuilder {
    /// Of the keys that are not in the set, the part that is answered "mayhap" at most, over all layers. 1 % if not
    /// given.
    pub fn rate(mut self, rate: f64) -> Self {
        self.settings.rate = rate;
        self
    }

    /// How many times larger each layer is than the one before it; 2 if not given.
    ///
    /// More means fewer layers, so faster questions, and more memory that waits for keys. 1 grows evenly, and slows
    /// down with every layer: up to [`MAX_LAYERS`](crate::sizing::layers::MAX_LAYERS).
    pub fn expansion(mut self, expansion: u32) -> Self {
        self.settings.expansion = expansion;
        self
    }

    /// Gives each layer this part of the rate of the one before it: layer i has `rate · (1 − ratio) · ratio^i`, and all
    /// of them never more than the rate. If not given, the shares are those that need the least memory
    /// ([`sizing::layers`](crate::sizing::layers)); 0.5, which is usual elsewhere, needs half as much again and more,
    /// and comes sooner to a layer whose rate 64-bit digests can't give, where growth ends.
    pub fn tightening(mut self, ratio: f64) -> Self {
        self.settings.tightening = Some(ratio);
        self
    }

    /// What happens when it is full. [`Growth::Grow`] if not given.
    pub fn growth(mut self, growth: Growth) -> Self {
        self.settings.growth = growth;
        self
    }

    /// Refuse, instead of allocating more than this over all layers. A layer that doesn't fit as a whole is not made:
    /// [`InsertError::TooLarge`](crate::InsertError::TooLarge).
    pub fn max_bytes(mut self, limit: u64) -> Self {
        self.settings.max_bytes = limit;
        self
    }

    /// The plan of the first layer, without making the filter. [`GrowthPlan`] has that of all.
    ///
    /// # Errors
    /// When the choices ask for what can't be: no keys, a rate that isn't one, or one that 64-bit digests can't give
    /// for the keys of the first layer, which has only its share of it.
    pub fn plan(&self) -> Result<BlockedPlan, SizingError> {
        self.settings()?.layer(0)?.1.within(self.settings.max_bytes)
    }

    fn settings(&self) -> Result<Settings, SizingError> {
        Ok(Settings { keys: self.keys.ok_or(NO_KEYS)?, ..self.settings })
    }

    /// Makes the filter, with its first layer.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and when the memory can't be had.
    pub fn build(self) -> Result<ScalableBloom, Error> {
        let settings = self.settings()?;
        let newest = Layer::new(self.plan()?, settings.keys, self.hasher.clone())?;
        Ok(ScalableBloom { older: Vec::new(), newest, settings, hasher: self.hasher, coming: None })
    }
}
