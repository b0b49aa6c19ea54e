//! Sizing of filters that grow by layers: which part of the promised rate each layer may use, and what that costs.
//!
//! A filter of layers answers "mayhap" when any of them does, so their rates add up. For the sum to stay at or below
//! the promised p however many layers there will be, each layer gets a share of p, and the shares of infinitely many
//! layers add up to 1:
//!
//! ```text
//! share of layer i    = 0.95 · 0.13 · 0.87^i     +  0.05 · 8 / ((i + 8)(i + 9))
//! shares of L layers  = 0.95 · (1 − 0.87^L)      +  0.05 · L / (L + 8)             < 1
//! ```
//!
//! The first term falls slowly, because a blocked filter pays dearly for low rates (halving the rate with each layer,
//! as is usual, needs 47 bits a key where this needs 21.2: 100 keys grown to 100 million at 1 %). The second term falls more
//! slowly still, so that hundreds of layers, as an expansion of 1 makes, have rates that can be had. `docs/maths.md`
//! compares schedules.
//!
//! Who wants other shares gives the ratio of each to the one before it: [`tightened_rate`].

use super::blocked::{BlockedPlan, rate};
use super::error::SizingError;
use super::limits::{check_rate, lowest_rate};
use super::search::rounded_up;

/// The most layers of any filter. Reached only by growing evenly: doubling runs out of keys to count before that.
pub const MAX_LAYERS: u32 = 1024;

const GEOMETRIC_PART: f64 = 0.95;
const RATIO: f64 = 0.87;
const HARMONIC_OFFSET: f64 = 8.0;

/// The rate of layer `layer` (the first is 0) of a filter that promises `rate` over all of its layers.
///
/// ```
/// use mayhap::sizing::layers::layer_rate;
///
/// let sum: f64 = (0..1_000).map(|layer| layer_rate(0.01, layer)).sum();
/// assert!(sum < 0.01);
/// assert!(layer_rate(0.01, 0) > 0.001 && layer_rate(0.01, 30) > 0.000_02);
/// ```
#[must_use]
pub fn layer_rate(rate: f64, layer: u32) -> f64 {
    let i = f64::from(layer);
    let geometric = (1.0 - RATIO) * libm::pow(RATIO, i);
    let harmonic = HARMONIC_OFFSET / ((i + HARMONIC_OFFSET) * (i + HARMONIC_OFFSET + 1.0));
    rate * (GEOMETRIC_PART * geometric + (1.0 - GEOMETRIC_PART) * harmonic)
}

/// The rate of layer `layer` of a filter whose layers have `ratio` of the rate of the one before: `rate · (1 − ratio) ·
/// ratio^layer`. The rates of infinitely many layers add up to `rate`.
///
/// ```
/// use mayhap::sizing::layers::tightened_rate;
///
/// assert_eq!((tightened_rate(0.01, 0.5, 0), tightened_rate(0.01, 0.5, 1)), (0.005, 0.0025));
/// ```
#[must_use]
pub fn tightened_rate(rate: f64, ratio: f64, layer: u32) -> f64 {
    rate * (1.0 - ratio) * libm::pow(ratio, f64::from(layer))
}

/// The sum of the rates of the first `layers` layers: below `rate`, however many there are.
///
/// ```
/// use mayhap::sizing::layers::rate_of_layers;
///
/// assert!((rate_of_layers(0.01, 7) - 0.0061).abs() < 0.0001);
/// assert!(rate_of_layers(0.01, 1_000_000) < 0.01);
/// ```
#[must_use]
pub fn rate_of_layers(rate: f64, layers: u32) -> f64 {
    let count = f64::from(layers);
    let geometric = 1.0 - libm::pow(RATIO, count);
    let harmonic = count / (count + HARMONIC_OFFSET);
    rate * (GEOMETRIC_PART * geometric + (1.0 - GEOMETRIC_PART) * harmonic)
}

/// The standard deviation of the rate of several Bloom filters that are all asked, layers or the generations of a window,
/// from that of each.
///
/// Their rates add up and are independent of each other, so their variances add up. (Keys for which two of them err are
/// counted twice; at the rates of layers that is next to nothing. The layers of a cuckoo filter vary so little that it
/// isn't: [`cuckoo::rate_deviation_of_layers`](super::cuckoo::rate_deviation_of_layers).)
///
/// ```
/// assert_eq!(mayhap::sizing::layers::rate_deviation([3e-5, 4e-5]), 5e-5);
/// ```
#[must_use]
pub fn rate_deviation(deviations: impl IntoIterator<Item = f64>) -> f64 {
    libm::sqrt(deviations.into_iter().map(|deviation| deviation * deviation).sum())
}

/// A growing filter on paper: the keys of its first layer, the rate of all layers together, and by how much each layer
/// is larger than the one before it.
///
/// ```
/// use mayhap::sizing::GrowthPlan;
///
/// let plan = GrowthPlan::new(10_000, 0.01, 2)?;
/// let grown = plan.grown_to(1_000_000)?;
/// assert_eq!((grown.layers, grown.capacity), (7, 1_270_000));
/// assert!(grown.bits_per_key(1_000_000) < 22.0 && grown.rate < 0.01);
/// # Ok::<(), mayhap::sizing::SizingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrowthPlan {
    keys: u64,
    rate: f64,
    expansion: u32,
    tightening: Option<f64>,
}

impl GrowthPlan {
    /// A first layer of `keys` keys, each later one `expansion` times as large as the one before, at most `rate` over
    /// all. Fails for 0 keys, an expansion of 0, and a rate outside (0, 1).
    pub fn new(keys: u64, rate: f64, expansion: u32) -> Result<Self, SizingError> {
        check_rate(rate)?;
        if keys == 0 {
            return Err(SizingError::ZeroKeys);
        }
        if expansion == 0 {
            return Err(SizingError::ZeroExpansion);
        }
        Ok(Self { keys, rate, expansion, tightening: None })
    }

    /// The same with this ratio between the rates of a layer and the one before it ([`tightened_rate`]), instead of the
    /// usual shares. Fails for a ratio outside (0, 1).
    ///
    /// ```
    /// use mayhap::sizing::{GrowthPlan, SizingError};
    ///
    /// let halving = GrowthPlan::new(100, 0.01, 2)?.with_tightening(0.5)?;
    /// assert_eq!(halving.layer(3)?.rate(), 0.01 / 16.0);
    /// let steep = GrowthPlan::new(100, 0.01, 2)?.with_tightening(1e-6)?;
    /// assert!(matches!(steep.layer(3), Err(SizingError::RateTooLow { .. })));
    /// # Ok::<(), SizingError>(())
    /// ```
    pub fn with_tightening(self, ratio: f64) -> Result<Self, SizingError> {
        if ratio > 0.0 && ratio < 1.0 {
            Ok(Self { tightening: Some(ratio), ..self })
        } else {
            Err(SizingError::TighteningOutOfRange { got: ratio })
        }
    }

    /// The keys of the first layer.
    #[must_use]
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// The promised rate, over all layers.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// How many times larger each layer is than the one before it.
    #[must_use]
    pub fn expansion(&self) -> u32 {
        self.expansion
    }

    /// The ratio between the rates of a layer and the one before it, if one was chosen.
    #[must_use]
    pub fn tightening(&self) -> Option<f64> {
        self.tightening
    }

    /// The new keys that a layer takes; nothing when they are beyond counting, or there are [`MAX_LAYERS`] already.
    #[must_use]
    pub fn layer_keys(&self, layer: u32) -> Option<u64> {
        if layer >= MAX_LAYERS {
            return None;
        }
        u64::from(self.expansion).checked_pow(layer).and_then(|factor| self.keys.checked_mul(factor))
    }

    /// The filter of one layer, at its share of the rate. Fails when the layer is too large, and when a 64-bit digest
    /// can't give so low a rate for so many keys: then [`SizingError::RateTooLow`] names the lowest promise over all
    /// layers with which this one can be had. So a filter grows no further than it can keep its promise.
    ///
    /// ```
    /// use mayhap::sizing::{GrowthPlan, SizingError};
    ///
    /// let plan = GrowthPlan::new(1_000_000, 1e-13, 2)?;
    /// let Err(SizingError::RateTooLow { lowest, .. }) = plan.layer(0) else { panic!("a million keys") };
    /// assert!(GrowthPlan::new(1_000_000, lowest, 2)?.layer(0).is_ok());
    /// # Ok::<(), SizingError>(())
    /// ```
    pub fn layer(&self, layer: u32) -> Result<BlockedPlan, SizingError> {
        let keys = self.layer_keys(layer).ok_or(super::limits::BEYOND_COUNTING)?;
        plan_for_new_keys(keys, self.layer_rate(self.rate, layer))
            .map_err(|error| error.of_promise(self.rate, keys, self.layer_rate(1.0, layer)))
    }

    /// The rate of one layer of a filter that promises `rate`.
    fn layer_rate(&self, rate: f64, layer: u32) -> f64 {
        match self.tightening {
            None => layer_rate(rate, layer),
            Some(ratio) => tightened_rate(rate, ratio, layer),
        }
    }

    /// What the filter is when `keys` new keys have been added. Fails when that is too large.
    pub fn grown_to(&self, keys: u64) -> Result<Grown, SizingError> {
        let mut grown = Grown { layers: 0, capacity: 0, bytes: 0, rate: 0.0 };
        let mut pass = 1.0;
        while grown.layers == 0 || grown.capacity < keys {
            let plan = self.layer(grown.layers)?;
            let layer_keys = self.layer_keys(grown.layers).unwrap_or(u64::MAX);
            grown.capacity = grown.capacity.saturating_add(layer_keys);
            grown.bytes = grown.bytes.saturating_add(plan.bytes());
            grown.layers += 1;
            pass *= 1.0 - plan.rate();
        }
        grown.rate = 1.0 - pass;
        Ok(grown)
    }
}

/// A growing filter at some number of keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grown {
    /// The layers it has.
    pub layers: u32,
    /// The new keys that fit into them.
    pub capacity: u64,
    /// The bytes of all layers.
    pub bytes: u64,
    /// The rate when all of them are full.
    pub rate: f64,
}

impl Grown {
    /// The bits it spends on each of `keys` keys.
    #[must_use]
    pub fn bits_per_key(&self, keys: u64) -> f64 {
        self.bytes as f64 * 8.0 / keys as f64
    }
}

/// The least memory in which `keys` keys, all of which were *new* when they were added, have a rate of at most `rate`.
/// Fails, with the lowest rate that can be had, where a digest can't give it.
///
/// A plan is usually for so many distinct keys. A few of those find their bits set already and are taken for old, so a
/// filter that counts the new ones has been offered somewhat more keys than it counted, and they left it somewhat
/// fuller. How many more follows from the mean of the rate while the filter fills up.
pub(crate) fn plan_for_new_keys(keys: u64, rate: f64) -> Result<BlockedPlan, SizingError> {
    plan_for_offered(keys, rate).map_err(|error| match error {
        SizingError::RateTooLow { .. } => {
            SizingError::RateTooLow { asked: rate, lowest: lowest_rate_for_new_keys(keys), keys }
        }
        error => error,
    })
}

/// Plans for as many keys as must be offered until so many were new.
fn plan_for_offered(keys: u64, rate: f64) -> Result<BlockedPlan, SizingError> {
    if rate < lowest_rate(keys) {
        // Said before anything else: a share of a rate can be 0, which is no rate that anybody asked for.
        return Err(SizingError::RateTooLow { asked: rate, lowest: lowest_rate(keys), keys });
    }
    let offered = |mean: f64| keys.saturating_add(rounded_up(keys as f64 * mean / (1.0 - mean)));
    let mut mean = 0.0;
    // The mean depends on the size, by way of whole blocks, and the size on the mean. A little more than was needed
    // last time settles it in two or three rounds.
    for _ in 0..ROUNDS {
        let candidate = BlockedPlan::for_rate(offered(mean), rate)?;
        let needed = mean_rate_while_filling(&candidate);
        if needed <= mean {
            return Ok(candidate);
        }
        mean = needed * 1.02;
    }
    // The mean is never higher than the rate at the end.
    BlockedPlan::for_rate(offered(rate), rate)
}

/// The lowest rate at which so many new keys can be had: somewhat above [`lowest_rate`], because more are offered. 1 if
/// there is none.
fn lowest_rate_for_new_keys(keys: u64) -> f64 {
    let mut rate = lowest_rate(keys);
    // A higher rate means that more keys are offered, which again need a higher rate, but by ever less.
    for _ in 0..ROUNDS {
        if rate >= 1.0 {
            return 1.0;
        }
        match plan_for_offered(keys, rate) {
            Err(SizingError::RateTooLow { lowest, .. }) => rate = lowest * 1.001,
            _ => return rate,
        }
    }
    1.0
}

const ROUNDS: usize = 8;

/// At least the mean of the rates that the planned keys meet when they come one after another: a sum of steps that
/// each count as much as their end, where the rate is highest.
fn mean_rate_while_filling(plan: &BlockedPlan) -> f64 {
    let steps = plan.keys().min(64);
    let step = plan.keys().div_ceil(steps);
    let after = |steps| rate(plan.shape(), step.saturating_mul(steps).min(plan.keys()), plan.blocks());
    (1..=steps).map(after).sum::<f64>() / steps as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sizing::blocked;

    #[test]
    fn the_rates_of_all_layers_stay_below_the_promise() {
        for rate in [0.5, 0.01, 1e-6] {
            let mut sum = 0.0;
            for layer in 0..=MAX_LAYERS {
                assert!((sum - rate_of_layers(rate, layer)).abs() < rate * 1e-12, "{layer}");
                assert!(sum < rate, "{layer}");
                assert!(layer == 0 || layer_rate(rate, layer) < layer_rate(rate, layer - 1), "{layer}");
                sum += layer_rate(rate, layer);
            }
            assert!(rate_of_layers(rate, u32::MAX) < rate && rate_of_layers(rate, u32::MAX) > rate * 0.999);
        }
    }

    #[test]
    fn what_growing_costs() {
        let bits = |keys, rate, expansion, end| {
            GrowthPlan::new(keys, rate, expansion).unwrap().grown_to(end).unwrap().bits_per_key(end)
        };
        let table = [
            (10_000, 0.01, 2, 1_000_000, 21.7),
            (10_000, 0.01, 2, 10_000_000, 18.8),
            (100, 0.01, 2, 100_000_000, 21.2),
            (10_000, 0.001, 2, 1_000_000, 27.0),
            (100, 0.001, 2, 100_000_000, 26.5),
            (10_000, 0.01, 4, 10_000_000, 23.1),
        ];
        for (keys, rate, expansion, end, expected) in table {
            let got = bits(keys, rate, expansion, end);
            assert!((got / expected - 1.0).abs() < 0.01, "{keys} {rate} {expansion} {end}: {got}");
        }
    }

    /// The keys that a layer is offered until it has counted its own, one after another by the model.
    #[test]
    fn a_layer_of_new_keys_is_large_enough_and_not_much_larger() {
        for keys in [1, 10, 1_000] {
            for rate in [0.9, 0.5, 0.1, 0.01, 1e-3, 1e-6] {
                let plan = plan_for_new_keys(keys, rate).unwrap();
                let (mut offered, mut new) = (0, 0.0);
                while new < keys as f64 {
                    new += 1.0 - blocked::rate(plan.shape(), offered, plan.blocks());
                    offered += 1;
                }
                // The last one may be needed for a small part.
                let at_end = blocked::rate(plan.shape(), offered - 1, plan.blocks());
                assert!(at_end <= rate, "{keys} {rate}: {at_end}");
                assert!(plan.blocks() < 8 || at_end > rate * 0.85, "{keys} {rate}: {at_end}");
            }
        }
    }

    #[test]
    fn growth_ends_where_a_digest_can_t_give_the_rate() {
        let plan = GrowthPlan::new(1_000_000, 1e-9, 2).unwrap();
        let end = (0..).find(|layer| plan.layer(*layer).is_err()).unwrap();
        assert!(matches!(plan.layer(end), Err(SizingError::RateTooLow { .. })), "{end}");
        let before = plan.layer_keys(end).unwrap() - 1_000_000;
        let grown = plan.grown_to(before).unwrap();
        assert!((grown.layers, grown.capacity) == (end, before) && grown.rate < 1e-9, "{grown:?}");
        assert!(plan.grown_to(before + 1).is_err());
        // At everyday rates this is beyond 2^40 keys.
        for rate in [0.01, 0.002] {
            let plan = GrowthPlan::new(100, rate, 2).unwrap();
            let grown = plan.grown_to(1 << 40).unwrap();
            let last = grown.layers - 1;
            assert!(grown.rate < rate && plan.layer(last).unwrap().rate() == layer_rate(rate, last));
        }
        // Even growth: a thousand layers.
        let even = GrowthPlan::new(1_000, 0.01, 1).unwrap().grown_to(1_000_000).unwrap();
        assert!(even.layers == 1_000 && even.rate < 0.01, "{even:?}");
        assert!(even.bits_per_key(1_000_000) < 45.0, "{even:?}");
    }

    #[test]
    fn a_rate_that_is_named_as_the_lowest_can_be_had() {
        for keys in [1, 2, 10, 1_000, 1_000_000, 1 << 40, 1 << 55, 1 << 57] {
            for tightening in [None, Some(0.5), Some(0.999), Some(1e-3)] {
                let layer = |rate: f64| {
                    let plan = GrowthPlan::new(keys, rate, 2).unwrap();
                    tightening.map_or(plan, |ratio| plan.with_tightening(ratio).unwrap()).layer(0)
                };
                for asked in [f64::from_bits(1), 1e-300, 3e-19] {
                    let Err(error @ SizingError::RateTooLow { lowest, .. }) = layer(asked) else {
                        panic!("{keys} keys at {asked}")
                    };
                    if lowest < 1.0 {
                        assert!(layer(lowest).is_ok(), "{keys} {tightening:?}: {error}");
                        assert!(
                            layer(lowest * 0.99).is_err() || keys < 100,
                            "{keys} {tightening:?}: {error}"
                        );
                    } else {
                        assert!(layer(1.0 - f64::EPSILON).is_err(), "{keys} {tightening:?}");
                    }
                }
            }
        }
        for keys in [1, 1_000_000, 1 << 57] {
            let Err(SizingError::RateTooLow { lowest, .. }) = plan_for_new_keys(keys, 1e-300) else {
                panic!("{keys} keys")
            };
            assert!(plan_for_new_keys(keys, lowest).is_ok() && lowest <= 3.0 * lowest_rate(keys), "{keys}");
        }
    }

    #[test]
    fn too_many_keys_are_named_as_such() {
        for tightening in [None, Some(0.5)] {
            let plan = GrowthPlan::new(u64::MAX, 0.01, 2).unwrap();
            let plan = tightening.map_or(plan, |ratio| plan.with_tightening(ratio).unwrap());
            let error = plan.layer(0).unwrap_err();
            assert!(std::string::ToString::to_string(&error).contains("keys are too many"), "{error}");
        }
    }

    #[test]
    fn a_ratio_keeps_the_promise_or_says_that_it_can_t() {
        for ratio in [0.01, 0.1, 0.5, 0.85, 0.99, 1.0 - f64::EPSILON] {
            for rate in [0.25, 0.01, 1e-6] {
                let plan = GrowthPlan::new(100, rate, 2).unwrap().with_tightening(ratio).unwrap();
                assert_eq!(plan.tightening(), Some(ratio));
                let mut sum = 0.0;
                for layer in 0..64 {
                    let Ok(filter) = plan.layer(layer) else { break };
                    assert!(filter.rate() <= tightened_rate(rate, ratio, layer), "{rate} {ratio} {layer}");
                    sum += filter.rate();
                    assert!(sum <= rate * (1.0 + f64::EPSILON * 64.0), "{rate} {ratio} {layer}: {sum}");
                }
            }
        }
        for bad in [0.0, 1.0, -0.5, 2.0, f64::NAN, f64::INFINITY] {
            let plan = GrowthPlan::new(1, 0.01, 2).unwrap().with_tightening(bad);
            assert!(matches!(plan, Err(SizingError::TighteningOutOfRange { .. })), "{bad}");
        }
        // A power so small that it is 0.
        let steep = GrowthPlan::new(1, 0.01, 1).unwrap().with_tightening(1e-300).unwrap();
        assert!(steep.layer(0).is_ok() && matches!(steep.layer(2), Err(SizingError::RateTooLow { .. })));
    }

    #[test]
    fn impossible_plans_are_refused() {
        assert_eq!(GrowthPlan::new(0, 0.01, 2), Err(SizingError::ZeroKeys));
        assert_eq!(GrowthPlan::new(1, 0.01, 0), Err(SizingError::ZeroExpansion));
        assert!(matches!(GrowthPlan::new(1, 1.0, 2), Err(SizingError::RateOutOfRange { .. })));
        let plan = GrowthPlan::new(1, 0.5, 2).unwrap();
        assert_eq!((plan.layer_keys(63), plan.layer_keys(64)), (Some(1 << 63), None));
        assert!(matches!(plan.layer(64), Err(SizingError::TooLarge { .. })));
        assert!(matches!(plan.layer(63), Err(SizingError::RateTooLow { .. })));
        assert!(plan.grown_to(u64::MAX).is_err());
        let even = GrowthPlan::new(1, 0.5, 1).unwrap();
        assert_eq!((even.layer_keys(MAX_LAYERS - 1), even.layer_keys(MAX_LAYERS)), (Some(1), None));
    }
}
