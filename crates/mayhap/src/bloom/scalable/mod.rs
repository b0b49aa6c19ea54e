//! The filter that grows: no need to know the number of keys.
//!
//! # The idea
//!
//! A [`BloomFilter`] is made for so many keys; with more its rate rises. Here, when the filter is full, another one is
//! put on top of it, larger by the *expansion*, and new keys go there. A key is in the set if any *layer* has it.
//!
//! ```text
//!                                       digest of a key, hashed once
//!                              asks     │
//!   newest   ┌──────────────────────────▼──────────────────────────────────┐  40 000 keys at p · 0.097   takes new keys
//!            └─────────────────────────────────────────────────────────────┘
//!   older    ┌──────────────────────────▼───┐                                 20 000 keys at p · 0.112   full
//!            └──────────────────────────────┘
//!   first    ┌───────────────▼─┐                                              10 000 keys at p · 0.129   full
//!            └─────────────────┘
//! ```
//!
//! A layer is full when it has taken the number of *new* keys it was made for. Adding a key that is there already
//! never fills, grows or fails.
//!
//! # The maths
//!
//! An absent key is wrongly found if any layer errs, so their rates add up. Layer i gets a share of the promised rate p, and
//! all shares there could ever be add up to 1: the promise holds however far the filter grows.
//!
//! ```text
//! share of layer i     0.95 · 0.13 · 0.87^i  +  0.05 · 8 / ((i + 8)(i + 9))
//! of the first L       0.95 · (1 − 0.87^L)   +  0.05 · L / (L + 8)   < 1
//! ```
//!
//! Why these shares is in [docs/maths.md]; [`sizing::layers`](crate::sizing::layers) computes what a filter will need.
//!
//! # When to choose it, and how it fails
//!
//! Choose it when the number of keys can't be known within a factor of two or so. Where it can be known, one
//! [`BloomFilter`] of the right size is half the memory (10.1 against 21.7 bits a key, when 10 000 were reserved and a
//! million came, at 1 %) and one cache line a question instead of one for each layer. Reserve as many keys as are
//! certain to come: the first layers are what growth costs.
//!
//! What happens when it is full is a choice, [`Growth`]: grow, refuse, or go on with a rising rate. Growing ends at
//! [`max_bytes`](ScalableBuilder::max_bytes), if that was set, at 1024 layers, or where 64-bit digests can't give the next
//! layer its share of the rate ([`InsertError::RateSpent`](crate::InsertError::RateSpent): 100 keys at 1 % have grown to
//! 5 · 10¹³ before), always with an error that says so and an unchanged filter. There is no
//! `merge`: two filters that each promise p promise 2 p together, and nothing can be taken from either. Ask both, or
//! give both half the rate. It can't forget a key.
//!
//! [docs/maths.md]: https://github.com/mayhap/mayhap/blob/main/docs/maths.md#14-growing-how-to-share-a-rate-among-layers

mod builder;
mod file;
mod insert;
mod layer;
mod lookup;
#[cfg(feature = "std")]
mod shared;
#[cfg(test)]
mod tests;

pub use builder::{Growth, ScalableBuilder};
pub use layer::LayerInfo;
#[cfg(feature = "std")]
pub use shared::SharedScalableBloom;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::BloomFilter;
use crate::bits::{Blocks, Owned};
use crate::error::Error;
use crate::hash::{Digest, Key, KeyHasher};
use builder::{Coming, Settings};
use layer::Layer;

/// A Bloom filter that grows by layers, and keeps its rate. [Its page](self) tells how it works.
///
/// `S` is where its blocks live: [`Owned`] by default, or a mapped file
/// ([`MappedScalableBloom`](super::MappedScalableBloom)).
///
/// ```
/// use mayhap::ScalableBloom;
///
/// let mut seen = ScalableBloom::with_rate(1_000, 0.01)?; // a first guess
/// for number in 0..100_000u64 {
///     seen.insert(&number)?;
/// }
/// assert!(seen.contains(&99_999u64));
/// assert_eq!(seen.layers().len(), 7);
/// assert!(seen.expected_rate() <= 0.01, "as promised, though a hundred times as many keys came");
/// # Ok::<(), mayhap::Error>(())
/// ```
pub struct ScalableBloom<S = Owned> {
    /// Full, and never written to again; the first is the smallest.
    older: Vec<Layer<S>>,
    /// Takes new keys.
    newest: Layer<S>,
    settings: Settings,
    hasher: KeyHasher,
    /// What the layer after the newest will be, once somebody has asked for it. Few ever do: others shall not be larger for it.
    coming: Option<Box<Coming>>,
}

impl ScalableBloom {
    /// A filter whose first layer is for `keys` keys, and that answers "mayhap" for at most `rate` of the absent keys
    /// however many are added. Each layer is twice as large as the one before it.
    ///
    /// # Errors
    /// When `keys` is 0, `rate` isn't between 0 and 1, its share for the first layer is lower than a 64-bit digest can
    /// give for so many keys, or the memory can't be had.
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, Error> {
        Self::builder().keys(keys).rate(rate).build()
    }

    /// Every choice there is: expansion, what to do when full, hash, seed or secret key, limits.
    pub fn builder() -> ScalableBuilder {
        ScalableBuilder::default()
    }
}

impl<S: Blocks> ScalableBloom<S> {
    /// The digest of a key, for the `*_hash` methods of this filter and of others with an equal hasher.
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> Digest {
        self.hasher.digest(key)
    }

    /// An empty filter with the same settings, of one layer.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn empty_like(&self) -> Result<ScalableBloom, Error> {
        let newest = self.first().empty_like()?;
        Ok(ScalableBloom {
            older: Vec::new(),
            newest,
            settings: self.settings,
            hasher: self.hasher.clone(),
            coming: None,
        })
    }

    /// How many adds were new: the number of distinct keys, less the few that were taken for old ones.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.oldest_first().map(|layer| layer.inserted).sum()
    }

    /// Whether no key has been added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many new keys its layers are made for, as they are now.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.oldest_first().fold(0, |sum, layer| sum.saturating_add(layer.planned))
    }

    /// What each layer is and holds, the first and smallest first. Counts every bit of every layer.
    ///
    /// ```
    /// use mayhap::ScalableBloom;
    ///
    /// let mut filter = ScalableBloom::with_rate(100, 0.01)?;
    /// for number in 0..250u32 {
    ///     filter.insert(&number)?;
    /// }
    /// let layers = filter.layers();
    /// assert_eq!((layers[0].planned_keys, layers[0].keys), (100, 100));
    /// assert_eq!((layers[1].planned_keys, layers[1].keys), (200, filter.len() - 100));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[must_use]
    pub fn layers(&self) -> Vec<LayerInfo> {
        self.oldest_first().map(Layer::info).collect()
    }

    /// The filter of each layer, the first and smallest first: for what [`layers`](Self::layers) doesn't tell.
    pub fn layer_filters(&self) -> impl Iterator<Item = &BloomFilter<S>> {
        self.oldest_first().map(|layer| &layer.filter)
    }

    /// The number of layers: lines that a question for an absent key looks at, or twice that for rates so low that a
    /// layer has two lines a key.
    #[must_use]
    pub fn layer_count(&self) -> usize {
        self.older.len() + 1
    }

    /// How many times larger each layer is than the one before it.
    #[must_use]
    pub fn expansion(&self) -> u32 {
        self.settings.expansion
    }

    /// The ratio between the rates of a layer and the one before it, if one was
    /// [chosen](ScalableBuilder::tightening).
    #[must_use]
    pub fn tightening(&self) -> Option<f64> {
        self.settings.tightening
    }

    /// What happens when it is full.
    #[must_use]
    pub fn growth(&self) -> Growth {
        self.settings.growth
    }

    /// The most bytes it may grow to; `u64::MAX` when there is no limit.
    #[must_use]
    pub fn max_bytes(&self) -> u64 {
        self.settings.max_bytes
    }

    /// With another limit to its growth, such as that of a host that has read the filter from a file of somebody else.
    /// A limit below what it takes already keeps it as it is.
    #[must_use]
    pub fn with_max_bytes(mut self, limit: u64) -> Self {
        self.settings.max_bytes = limit.max(self.len_bytes());
        self
    }

    /// Bytes of memory its blocks take.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.oldest_first().map(|layer| layer.filter.len_bytes()).sum()
    }

    /// What turns keys into digests.
    #[must_use]
    pub fn hasher(&self) -> &KeyHasher {
        &self.hasher
    }

    /// The number of keys its first layer was made for.
    #[must_use]
    pub fn planned_keys(&self) -> u64 {
        self.settings.keys
    }

    /// The rate it keeps however far it grows.
    #[must_use]
    pub fn planned_rate(&self) -> f64 {
        self.settings.rate
    }

    /// The rate at which the filter, as it is now, answers "mayhap" for absent keys: computed from the bits really set
    /// in every block of every layer.
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        1.0 - self.oldest_first().map(|layer| 1.0 - layer.filter.expected_rate()).product::<f64>()
    }

    /// Distinct keys added, estimated from the bits. [`len`](Self::len) is a count, and better; this one sees keys
    /// that the count has missed, such as those of a damaged file.
    #[must_use]
    pub fn estimated_len(&self) -> u64 {
        self.oldest_first().fold(0, |sum, layer| sum.saturating_add(layer.filter.estimated_len()))
    }

    /// The part of all bits that is set.
    #[must_use]
    pub fn fill_ratio(&self) -> f64 {
        let bytes_set = |layer: &Layer<S>| layer.filter.fill_ratio() * layer.filter.len_bytes() as f64;
        self.oldest_first().map(bytes_set).sum::<f64>() / self.len_bytes() as f64
    }

    /// Whether the rate may have risen above the promise: a filter that goes on when full
    /// ([`Growth::Saturate`]) has taken more keys than it was made for, or an old file has layers whose rate 64-bit
    /// digests couldn't give, which are refused now.
    #[must_use]
    pub fn is_over_plan(&self) -> bool {
        let rates = self.oldest_first().map(|layer| layer.filter.planned_rate()).sum::<f64>();
        // The shares of a steep ratio add up to the whole rate: a rounding error isn't a broken promise.
        let promised = self.settings.rate * (1.0 + f64::EPSILON * 1024.0);
        self.newest.inserted > self.newest.planned || rates > promised
    }

    fn oldest_first(&self) -> impl Iterator<Item = &Layer<S>> {
        self.older.iter().chain([&self.newest])
    }

    fn first(&self) -> &Layer<S> {
        self.older.first().unwrap_or(&self.newest)
    }
}

impl Clone for ScalableBloom {
    /// # Panics
    /// When the memory can't be had, as `Vec` does.
    fn clone(&self) -> Self {
        Self {
            older: self.older.clone(),
            newest: self.newest.clone(),
            settings: self.settings,
            hasher: self.hasher.clone(),
            coming: self.coming.clone(),
        }
    }
}

/// Equal when they give the same answers: same hash, layers and bits. Their settings and counts may differ.
impl<S: Blocks, T: Blocks> PartialEq<ScalableBloom<T>> for ScalableBloom<S> {
    fn eq(&self, other: &ScalableBloom<T>) -> bool {
        self.layer_count() == other.layer_count()
            && self
                .oldest_first()
                .zip(other.oldest_first())
                .all(|(ours, theirs)| ours.filter == theirs.filter)
    }
}

impl<S: Blocks> fmt::Debug for ScalableBloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScalableBloom")
            .field("layers", &self.layer_count())
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .field("settings", &self.settings)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
