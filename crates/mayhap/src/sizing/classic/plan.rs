//! The parameters of one classic filter.

use core::f64::consts::LN_2;

use libm::round;

use super::size::{MAX_BITS, best_capacity, bits, bits_for_hashes, capacity, foldable, hashes};
use crate::bits::{BLOCK_BITS, BLOCK_BYTES};
use crate::sizing::error::SizingError;
use crate::sizing::limits::{
    BEYOND_COUNTING, MAX_BYTES, check_bytes, check_hashes, check_promise, check_rate, lowest_rate,
};
use crate::sizing::search::rounded_up;

/// A classic filter on paper: keys, rate, bits and hashes that go together.
///
/// ```
/// use mayhap::sizing::ClassicPlan;
///
/// let plan = ClassicPlan::for_rate(1_000_000, 0.01)?;
/// assert_eq!((plan.bits(), plan.hashes(), plan.bytes()), (9_592_957, 7, 1_205_824));
/// assert!(plan.expected_rate() <= plan.rate());
/// # Ok::<(), mayhap::sizing::SizingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassicPlan {
    keys: u64,
    rate: f64,
    bits: u64,
    hashes: u32,
}

impl ClassicPlan {
    /// The least memory in which `keys` keys have a rate of at most `rate`.
    ///
    /// Fails for 0 keys, a rate outside (0, 1) or below [`lowest_rate`], and sizes above
    /// [`MAX_BYTES`].
    pub fn for_rate(keys: u64, rate: f64) -> Result<Self, SizingError> {
        let bits = bits(keys, rate)?;
        Ok(Self { keys, rate, bits, hashes: hashes(keys, bits) })
    }

    /// The least memory in which `keys` keys have a rate of at most `rate` when each sets `hashes` bits.
    ///
    /// Fails as [`for_rate`](Self::for_rate) does, and for a number of hashes outside 1 to 64.
    pub fn for_rate_with_hashes(keys: u64, rate: f64, hashes: u32) -> Result<Self, SizingError> {
        Ok(Self { keys, rate, bits: bits_for_hashes(keys, rate, hashes)?, hashes })
    }

    /// `keys` keys in `bits` bits, with the best number of hashes. The promised rate is the expected one.
    ///
    /// Fails for 0 keys, sizes above [`MAX_BYTES`], and so many keys that every answer would be yes.
    pub fn for_bits(keys: u64, bits: u64) -> Result<Self, SizingError> {
        Self::for_bits_with_hashes(keys, bits, hashes(keys, bits))
    }

    /// `keys` keys in `bits` bits with `hashes` bits each. The promised rate is the expected one.
    ///
    /// Fails as [`for_bits`](Self::for_bits) does, and for a number of hashes outside 1 to 64.
    pub fn for_bits_with_hashes(keys: u64, bits: u64, hashes: u32) -> Result<Self, SizingError> {
        if keys == 0 {
            return Err(SizingError::ZeroKeys);
        }
        check_hashes(hashes)?;
        check_bytes(bits.div_ceil(8), MAX_BYTES)?;
        // With memory in plenty it is the digest that limits what can be promised.
        let rate = super::rate(keys, bits, hashes).max(lowest_rate(keys));
        if rate >= 1.0 {
            check_promise(keys, 0.5)?;
            return Err(too_small(bits, bits_for_hashes(keys, 0.5, hashes)?));
        }
        Ok(Self { keys, rate, bits, hashes })
    }

    /// As many keys as `bits` bits hold at a rate of at most `rate`, with the best number of hashes.
    ///
    /// Fails for a rate outside (0, 1), sizes above [`MAX_BYTES`], and too few bits for one key.
    pub fn for_capacity(bits: u64, rate: f64) -> Result<Self, SizingError> {
        check_rate(rate)?;
        check_bytes(bits.div_ceil(8), MAX_BYTES)?;
        let keys = best_capacity(bits, rate);
        if keys == 0 {
            return Err(too_small(bits, self::bits(1, rate)?));
        }
        Ok(Self { keys, rate, bits, hashes: hashes(keys, bits) })
    }

    /// As many keys as `bits` bits hold at a rate of at most `rate` when each sets `hashes` bits.
    ///
    /// Fails as [`for_capacity`](Self::for_capacity) does, and for a number of hashes outside 1 to 64.
    pub fn for_capacity_with_hashes(bits: u64, rate: f64, hashes: u32) -> Result<Self, SizingError> {
        check_rate(rate)?;
        check_hashes(hashes)?;
        check_bytes(bits.div_ceil(8), MAX_BYTES)?;
        let keys = capacity(bits, hashes, rate);
        if keys == 0 {
            return Err(too_small(bits, bits_for_hashes(1, rate, hashes)?));
        }
        Ok(Self { keys, rate, bits, hashes })
    }

    /// The memory in which `hashes` is the best number of hashes for `keys` keys: n k / ln 2 bits, half of them set.
    ///
    /// Fails for 0 keys, a number of hashes outside 1 to 64, and sizes above [`MAX_BYTES`].
    pub fn for_hashes(keys: u64, hashes: u32) -> Result<Self, SizingError> {
        check_hashes(hashes)?;
        let bits = rounded_up(keys as f64 * f64::from(hashes) / LN_2);
        if bits > MAX_BITS {
            return Err(BEYOND_COUNTING);
        }
        Self::for_bits_with_hashes(keys, bits, hashes)
    }

    /// The keys for which `hashes` is the best number of hashes in `bits` bits: (m/k) ln 2 of them set half the bits.
    ///
    /// Fails for a number of hashes outside 1 to 64, sizes above [`MAX_BYTES`], and fewer bits than one key sets.
    pub fn for_half_full(bits: u64, hashes: u32) -> Result<Self, SizingError> {
        check_hashes(hashes)?;
        #[allow(clippy::cast_possible_truncation)] // Below the number of bits.
        let keys = round(bits as f64 * LN_2 / f64::from(hashes)) as u64;
        if keys == 0 {
            return Err(too_small(bits, rounded_up(f64::from(hashes) / LN_2)));
        }
        Self::for_bits_with_hashes(keys, bits, hashes)
    }

    /// The plan of a filter that exists already, such as one read from a file, where all four numbers are given.
    ///
    /// Fails when a number alone is out of range; that the rate is kept is the filter's own business.
    pub fn from_parts(keys: u64, rate: f64, bits: u64, hashes: u32) -> Result<Self, SizingError> {
        check_promise(keys, rate)?;
        check_hashes(hashes)?;
        check_bytes(bits.div_ceil(8), MAX_BYTES)?;
        if bits == 0 {
            return Err(SizingError::TooSmall { bytes: 0, needed: 1 });
        }
        Ok(Self { keys, rate, bits, hashes })
    }

    /// This plan, if it needs at most `limit` bytes.
    ///
    /// ```
    /// use mayhap::sizing::{ClassicPlan, SizingError};
    ///
    /// let plan = ClassicPlan::for_rate(1_000_000, 0.01)?;
    /// assert_eq!(plan.within(1_000_000), Err(SizingError::TooLarge { bytes: 1_205_824, limit: 1_000_000 }));
    /// # Ok::<(), SizingError>(())
    /// ```
    pub fn within(self, limit: u64) -> Result<Self, SizingError> {
        check_bytes(self.bytes(), limit).map(|()| self)
    }

    /// The keys it is planned for.
    #[must_use]
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// The promised rate: with the planned keys inserted, false positives are at most this frequent.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The rate the model expects with the planned keys inserted.
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        super::rate(self.keys, self.bits, self.hashes)
    }

    /// The bits of the filter (m).
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// The bits set for each key (k).
    #[must_use]
    pub fn hashes(&self) -> u32 {
        self.hashes
    }

    /// The memory that [`ClassicBloom::with_plan`](crate::ClassicBloom::with_plan) takes for it: the bits rounded up to a
    /// number that [folds well](super::foldable), in whole cache lines.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        foldable(self.bits).div_ceil(BLOCK_BITS) * BLOCK_BYTES as u64
    }

    /// The bits of the filter for each planned key.
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        self.bits as f64 / self.keys as f64
    }
}

/// The error for too few bits, in whole bytes: at least one more than they take, or it would advise what was given.
fn too_small(bits: u64, needed: u64) -> SizingError {
    let bytes = bits.div_ceil(8);
    SizingError::TooSmall { bytes, needed: needed.div_ceil(8).max(bytes + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClassicBloom;
    use crate::hash::KeyHasher;

    #[test]
    fn any_two_numbers_lead_to_the_same_plan() {
        let plan = ClassicPlan::for_rate(100_000, 0.01).unwrap();
        assert_eq!((plan.bits(), plan.hashes()), (959_298, 7));
        let by_bits = ClassicPlan::for_bits(100_000, plan.bits()).unwrap();
        assert_eq!(by_bits.hashes(), 7);
        assert_eq!(by_bits.rate(), plan.expected_rate());
        assert!(by_bits.rate() <= 0.01 && by_bits.rate() > 0.009_999);
        assert_eq!(ClassicPlan::for_capacity(plan.bits(), 0.01).unwrap(), plan);
        assert_eq!(ClassicPlan::for_capacity_with_hashes(plan.bits(), 0.01, 7).unwrap(), plan);
        assert_eq!(ClassicPlan::for_rate_with_hashes(100_000, 0.01, 7).unwrap(), plan);
        assert_eq!(ClassicPlan::from_parts(100_000, 0.01, plan.bits(), 7).unwrap(), plan);
    }

    #[test]
    fn the_memory_is_what_the_filter_takes() {
        for (keys, rate) in [(1, 0.01), (50, 0.01), (1_000, 1e-6), (123_456, 0.3), (1_000_000, 0.01)] {
            let plan = ClassicPlan::for_rate(keys, rate).unwrap();
            let filter = ClassicBloom::with_plan(plan, KeyHasher::default()).unwrap();
            assert_eq!(plan.bytes(), filter.len_bytes(), "{keys} {rate}");
            assert!(plan.within(filter.len_bytes() - 1).is_err(), "{keys} {rate}");
        }
    }

    #[test]
    fn hashes_alone_fix_the_ratio_at_which_they_are_best() {
        let plan = ClassicPlan::for_hashes(100_000, 7).unwrap();
        assert_eq!(plan.bits(), 1_009_887);
        assert_eq!(hashes(100_000, plan.bits()), 7);
        assert!((plan.rate() * 128.0 - 1.0).abs() < 1e-3);
        let back = ClassicPlan::for_half_full(plan.bits(), 7).unwrap();
        assert_eq!((back.keys(), back.rate()), (100_000, plan.rate()));
    }

    #[test]
    fn impossible_plans_are_refused_with_the_reason() {
        use SizingError::{HashesOutOfRange, RateOutOfRange, RateTooLow, TooLarge, TooSmall, ZeroKeys};
        assert_eq!(ClassicPlan::for_rate(0, 0.01), Err(ZeroKeys));
        assert_eq!(ClassicPlan::for_bits(0, 100), Err(ZeroKeys));
        assert_eq!(ClassicPlan::for_hashes(0, 7), Err(ZeroKeys));
        assert!(matches!(ClassicPlan::for_rate(10, f64::NAN), Err(RateOutOfRange { .. })));
        assert!(matches!(ClassicPlan::for_capacity(10, 0.0), Err(RateOutOfRange { .. })));
        assert!(matches!(ClassicPlan::for_rate(1 << 40, 1e-9), Err(RateTooLow { .. })));
        assert_eq!(ClassicPlan::for_bits_with_hashes(10, 100, 0), Err(HashesOutOfRange { got: 0 }));
        assert_eq!(ClassicPlan::for_half_full(100, 65), Err(HashesOutOfRange { got: 65 }));
        assert!(matches!(ClassicPlan::for_bits(10, MAX_BITS + 1), Err(TooLarge { .. })));
        assert!(matches!(ClassicPlan::for_bits(10, u64::MAX), Err(TooLarge { .. })));
        assert!(matches!(ClassicPlan::for_hashes(u64::MAX, 64), Err(TooLarge { .. })));
        assert!(matches!(ClassicPlan::for_capacity(u64::MAX, 0.5), Err(TooLarge { .. })));
        assert!(matches!(ClassicPlan::for_bits(1_000_000, 64), Err(TooSmall { bytes: 8, needed: 1.. })));
        assert!(matches!(ClassicPlan::for_bits(1, 0), Err(TooSmall { bytes: 0, needed: 1 })));
        assert!(matches!(ClassicPlan::for_capacity(0, 0.01), Err(TooSmall { bytes: 0, needed: 1.. })));
        assert!(matches!(ClassicPlan::for_capacity(8, 0.01), Err(TooSmall { bytes: 1, needed: 2 })));
        assert!(matches!(ClassicPlan::for_half_full(1, 7), Err(TooSmall { bytes: 1, needed: 2 })));
        assert_eq!(ClassicPlan::for_half_full(1, 1), Err(TooSmall { bytes: 1, needed: 2 }));
        assert_eq!(ClassicPlan::for_capacity(8, 1e-10), Err(TooSmall { bytes: 1, needed: 7 }));
        assert_eq!(ClassicPlan::for_capacity_with_hashes(9, 0.01, 6), Err(TooSmall { bytes: 2, needed: 3 }));
        assert!(matches!(ClassicPlan::from_parts(1, 0.5, 0, 1), Err(TooSmall { .. })));
    }

    #[test]
    fn memory_beyond_the_digest_promises_what_the_digest_gives() {
        let plan = ClassicPlan::for_bits(1_000_000, 1_000_000_000).unwrap();
        assert_eq!(plan.rate(), lowest_rate(1_000_000));
        assert!(plan.expected_rate() < plan.rate());
    }
}
