//! What a new filter is to be, and making it.

use std::sync::RwLock;

use mayhap::formats::redisbloom::RedisBloom;
use mayhap::formats::redisbloom::bloom::MAX_ERROR_RATE;
use mayhap::hash::KeyHasher;
use mayhap::sizing::{GrowthPlan, SizingError, classic};
use mayhap::{Error, Growth, ScalableBloom};

use super::errors;
use crate::settings::{Layout, Settings};
use crate::{Keyspace, Reply, Value};

/// A filter on paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Recipe {
    /// Above 0 and below 1.
    pub(super) rate: f64,
    /// At least 1.
    pub(super) capacity: u64,
    /// 0: as if not scaling.
    pub(super) expansion: u32,
    pub(super) scaling: bool,
    /// The ratio between the rates of layers; none: the shares that the layout has. For native filters that scale.
    pub(super) tightening: Option<f64>,
    /// What a native filter hashes with instead of the server's secret key.
    pub(super) seed: Option<Seed>,
}

/// A seed that a client chose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seed(u64);

/// The bytes of a seed as clients give it.
const SEED_BYTES: usize = 32;
/// Filters in redisbloom layout start at half the rate, and each link has half of the one before.
pub(super) const TIGHTENING: f64 = 0.5;
/// Native layers, and links of RedisBloom's, that are looked at before growing counts as impossible.
const MOST_LAYERS: u32 = 4096;

impl Recipe {
    /// What `BF.ADD` makes.
    pub(super) fn from_settings(settings: &Settings) -> Self {
        let expansion = u32::try_from(settings.bf_expansion_factor()).unwrap_or(u32::MAX);
        let (rate, capacity) = (settings.bf_error_rate(), settings.bf_initial_size());
        Self { rate, capacity, expansion, scaling: true, tightening: None, seed: None }
    }

    /// Makes the filter, in the layout that is set, if it is within the limits.
    ///
    /// # Errors
    /// What the client is answered.
    pub(super) fn make<K: Keyspace>(&self, host: &K) -> Result<Value, Reply> {
        let settings = host.settings();
        let max_bytes = max_bytes(host);
        match settings.bf_layout() {
            Layout::Native => {
                let builder = ScalableBloom::builder()
                    .keys(self.capacity)
                    .rate(self.rate())
                    .expansion(self.expansion.max(1))
                    .growth(if self.scales() { Growth::Grow } else { Growth::Refuse })
                    .hasher(self.seed.map_or_else(|| settings.hasher.clone(), Seed::hasher))
                    .max_bytes(max_bytes);
                let filter = match self.native_tightening() {
                    Some(ratio) => builder.tightening(ratio),
                    None => builder,
                };
                let filter = filter.build().map_err(|error| self.refusal(&error))?;
                Ok(Value::native_bloom(filter))
            }
            Layout::RedisBloom => {
                if self.first_link_rate() == 0.0 {
                    // Half of the lowest number that there is.
                    return Err(Reply::error(errors::NOT_CREATED));
                }
                // Its maker knows no limit.
                let bytes = redisbloom_bytes(self.capacity, self.first_link_rate());
                if bytes > max_bytes {
                    return Err(errors::too_large(bytes, max_bytes));
                }
                let filter = RedisBloom::reserve(self.rate, self.capacity, self.expansion, self.scaling);
                filter
                    .map(|filter| Value::RedisBloom(RwLock::new(filter)))
                    .map_err(|error| self.refusal(&error))
            }
        }
    }

    /// Whether the filter could grow to hold so many items and keep its promises.
    ///
    /// # Errors
    /// What the client is answered if it couldn't.
    pub(super) fn check_scale_to<K: Keyspace>(&self, host: &K, items: u64) -> Result<(), Reply> {
        let too_large = Err(Reply::error(errors::SCALE_TO_NO_MEMORY));
        let max_bytes = max_bytes(host);
        if host.settings().bf_layout() == Layout::Native {
            let plan = GrowthPlan::new(self.capacity, self.rate(), self.expansion.max(1))
                .and_then(|plan| self.tightening.map_or(Ok(plan), |ratio| plan.with_tightening(ratio)));
            return match plan.and_then(|plan| plan.grown_to(items)) {
                Ok(grown) if grown.bytes > max_bytes => too_large,
                Ok(_) => Ok(()),
                // Where 64-bit digests can't give the rate for so many.
                Err(SizingError::RateTooLow { .. }) => Err(Reply::error(errors::SCALE_TO_RATE)),
                Err(_) => too_large,
            };
        }
        let (mut capacity, mut entries, mut rate) = (0_u64, self.capacity, self.first_link_rate());
        let mut bytes = 0_u64;
        for _ in 0..MOST_LAYERS {
            bytes = bytes.saturating_add(redisbloom_bytes(entries, rate));
            if bytes > max_bytes {
                return too_large;
            }
            capacity = capacity.saturating_add(entries);
            if capacity >= items {
                return Ok(());
            }
            entries = entries.saturating_mul(u64::from(self.expansion));
            rate *= TIGHTENING;
            if rate == 0.0 {
                return Err(Reply::error(errors::SCALE_TO_RATE));
            }
        }
        too_large
    }

    pub(super) const fn scales(&self) -> bool {
        self.scaling && self.expansion > 0
    }

    /// Higher rates are lowered to this in both layouts.
    fn rate(&self) -> f64 {
        self.rate.min(MAX_ERROR_RATE)
    }

    fn first_link_rate(&self) -> f64 {
        if self.scales() { self.rate() * TIGHTENING } else { self.rate() }
    }

    /// A filter that doesn't scale has one layer, and nothing between layers.
    fn native_tightening(&self) -> Option<f64> {
        self.tightening.filter(|_| self.scales())
    }

    fn refusal(&self, error: &Error) -> Reply {
        match error {
            Error::Sizing(SizingError::TooLarge { bytes, limit }) => errors::too_large(*bytes, *limit),
            Error::Alloc(_) => Reply::error(errors::NO_MEMORY),
            Error::Sizing(SizingError::RateTooLow { .. }) if self.native_tightening().is_some() => {
                Reply::error(errors::RATE_DEGRADES)
            }
            Error::Sizing(error @ SizingError::RateTooLow { .. }) => errors::rate_too_low(error),
            _ => Reply::error(errors::NOT_CREATED),
        }
    }
}

impl Seed {
    /// The seed of 32 bytes: their XXH3-64, with seed 0. It stands behind the bits of every filter made with it, and
    /// never changes.
    pub(super) fn new(bytes: &[u8]) -> Option<Self> {
        (bytes.len() == SEED_BYTES).then(|| Self(KeyHasher::xxh3(0).digest(bytes).get()))
    }

    fn hasher(self) -> KeyHasher {
        KeyHasher::xxh3(self.0)
    }
}

/// Bytes that a new filter may take.
pub(super) fn max_bytes<K: Keyspace>(host: &K) -> u64 {
    host.settings().filter_max_bytes().min(host.room())
}

/// The bytes of a link, up to the rounding to 8.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, and nothing is negative"
)]
fn redisbloom_bytes(entries: u64, rate: f64) -> u64 {
    classic::bits_per_key(rate).map_or(u64::MAX, |bits| (entries as f64 * bits / 8.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the reference implementation of XXH3.
    #[test]
    fn seeds_are_frozen() {
        let known = [
            (*b"0123456789abcdef0123456789abcdef", 0x0112_1d5b_6c0a_c055),
            ([0; 32], 0xa057_271c_9071_c99d),
            ([0xff; 32], 0x36f6_a79e_eaf6_03f2),
        ];
        for (bytes, seed) in known {
            assert_eq!(Seed::new(&bytes), Some(Seed(seed)), "{bytes:x?}");
        }
        assert_eq!((Seed::new(b"short"), Seed::new(&[0; 33])), (None, None));
    }
}
