//! From keys and rate to bits and hashes, and back.

use core::f64::consts::LN_2;

use libm::{log, log1p, pow, round};

use super::rate::rate;
use crate::sizing::divisible::divisible_from;
use crate::sizing::error::SizingError;
use crate::sizing::limits::{
    BEYOND_COUNTING, MAX_BYTES, MAX_HASHES, check_hashes, check_promise, check_rate, lowest_rate,
};
use crate::sizing::search::{least, most, rounded_up};

/// The most bits of a classic filter.
pub(super) const MAX_BITS: u64 = MAX_BYTES * 8;

/// The least number of bits with which `keys` keys have a rate of at most `rate`, with the best number of hashes.
///
/// Fails for 0 keys, a rate outside (0, 1) or below what a 64-bit digest gives, and sizes above
/// [`MAX_BYTES`](crate::sizing::MAX_BYTES).
///
/// ```
/// use mayhap::sizing::classic;
///
/// let bits = classic::bits(1_000_000, 0.01)?;
/// assert_eq!((bits, classic::hashes(1_000_000, bits)), (9_592_957, 7));
/// # Ok::<(), mayhap::sizing::SizingError>(())
/// ```
pub fn bits(keys: u64, rate: f64) -> Result<u64, SizingError> {
    check_promise(keys, rate)?;
    let guess = rounded_up(keys as f64 * -log(rate) / (LN_2 * LN_2));
    let meets = |bits| self::rate(keys, bits, hashes(keys, bits)) <= rate;
    least(guess, 1..=MAX_BITS, meets).ok_or(BEYOND_COUNTING)
}

/// The least number of bits with which `keys` keys have a rate of at most `rate` when each sets `hashes` bits.
///
/// Fails as [`bits`] does, and for a number of hashes outside 1 to 64.
pub fn bits_for_hashes(keys: u64, rate: f64, hashes: u32) -> Result<u64, SizingError> {
    check_promise(keys, rate)?;
    let guess = rounded_up(keys as f64 * bits_per_key_with_hashes(rate, hashes)?);
    let meets = |bits| self::rate(keys, bits, hashes) <= rate;
    least(guess, 1..=MAX_BITS, meets).ok_or(BEYOND_COUNTING)
}

/// The number of hashes with the lowest rate for `keys` keys in `bits` bits: (m/n) ln 2, rounded the better way.
///
/// At least 1 and at most [`MAX_HASHES`]. Filters of few bits want a little fewer than the formula says, and get them.
#[must_use]
pub fn hashes(keys: u64, bits: u64) -> u32 {
    let ideal = bits as f64 / keys.max(1) as f64 * LN_2;
    #[allow(clippy::cast_possible_truncation)] // Clamped to a small range before.
    let mut best = round(ideal).clamp(1.0, f64::from(MAX_HASHES)) as u32;
    let mut best_rate = rate(keys.max(1), bits, best);
    // The rate has one valley in k; walk down into it from the formula's answer.
    let walk_down = best > 1 && rate(keys.max(1), bits, best - 1) < best_rate;
    loop {
        let next = if walk_down { best - 1 } else { best + 1 };
        if next == 0 || next > MAX_HASHES {
            return best;
        }
        let next_rate = rate(keys.max(1), bits, next);
        if next_rate >= best_rate {
            return best;
        }
        (best, best_rate) = (next, next_rate);
    }
}

/// `bits` rounded up to a number with many divisors, at a cost below 0.8 %, so that the filter can be folded.
///
/// ```
/// assert_eq!(mayhap::sizing::classic::foldable(1_000_000), 1_003_000 / 5040 * 5040);
/// ```
#[must_use]
pub fn foldable(bits: u64) -> u64 {
    divisible_from(bits)
}

/// The most keys that a filter of `bits` bits with `hashes` bits per key holds at a rate of at most `rate`.
///
/// 0 if not even one key can be held at that rate, or if there are no bits, no hashes or no rate in (0, 1).
#[must_use]
pub fn capacity(bits: u64, hashes: u32, rate: f64) -> u64 {
    if bits == 0 || check_hashes(hashes).is_err() || check_rate(rate).is_err() {
        return 0;
    }
    let per_key = bits_per_key_with_hashes(rate, hashes).unwrap_or(f64::INFINITY);
    keys_within(bits, per_key, rate, |keys| self::rate(keys, bits, hashes))
}

/// The most keys at a rate of at most `rate`, with the best number of hashes for them.
pub(super) fn best_capacity(bits: u64, rate: f64) -> u64 {
    keys_within(bits, bits_per_key(rate).unwrap_or(f64::INFINITY), rate, |keys| {
        self::rate(keys, bits, hashes(keys, bits))
    })
}

fn keys_within(bits: u64, bits_per_key: f64, rate: f64, rate_of: impl Fn(u64) -> f64) -> u64 {
    let guess = rounded_up(bits as f64 / bits_per_key);
    most(guess, 1..=u64::MAX, |keys| lowest_rate(keys) <= rate && rate_of(keys) <= rate).unwrap_or(0)
}

/// The bits each key costs in a large filter with the best number of hashes: log2(1/p) / ln 2.
///
/// k is taken as a real number here; [`bits`] pays for its being whole. Fails for a rate outside (0, 1).
///
/// ```
/// let per_key = mayhap::sizing::classic::bits_per_key(0.01)?;
/// assert!((per_key - 9.585).abs() < 0.001);
/// # Ok::<(), mayhap::sizing::SizingError>(())
/// ```
pub fn bits_per_key(rate: f64) -> Result<f64, SizingError> {
    check_rate(rate)?;
    Ok(-log(rate) / (LN_2 * LN_2))
}

/// The bits each key costs in a large filter when it sets `hashes` bits: -k / ln(1 - p^(1/k)).
///
/// Rate and hashes alone determine only this ratio of memory to keys. Fails for a rate outside (0, 1) and a number of
/// hashes outside 1 to 64.
pub fn bits_per_key_with_hashes(rate: f64, hashes: u32) -> Result<f64, SizingError> {
    check_rate(rate)?;
    check_hashes(hashes)?;
    let k = f64::from(hashes);
    Ok(-k / log1p(-pow(rate, 1.0 / k)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textbook_values() {
        for (rate, bits_per_key, k) in
            [(0.3, 2.521, 2), (0.1, 4.808, 3), (0.01, 9.593, 7), (1e-3, 14.378, 10), (1e-9, 43.133, 30)]
        {
            let m = bits(1_000_000, rate).unwrap();
            assert!((m as f64 / 1e6 - bits_per_key).abs() < 0.006, "{rate}: {m}");
            assert_eq!(hashes(1_000_000, m), k, "{rate}");
        }
        // k = 7 taken as it is, against k = 6.64: the price of a whole number.
        assert!((super::bits_per_key(0.01).unwrap() - 9.585).abs() < 0.001);
        assert!((bits_per_key_with_hashes(0.01, 7).unwrap() - 9.593).abs() < 0.001);
    }

    #[test]
    fn the_least_bits_keep_the_promise_and_one_fewer_does_not() {
        for keys in [1, 2, 3, 10, 100, 1_000, 123_456, 100_000_000] {
            for rate in [0.9, 0.5, 0.3, 0.1, 0.01, 1e-3, 1e-6, 1e-9] {
                let m = bits(keys, rate).unwrap();
                assert!(self::rate(keys, m, hashes(keys, m)) <= rate, "{keys} {rate}");
                if m > 1 {
                    assert!(self::rate(keys, m - 1, hashes(keys, m - 1)) > rate, "{keys} {rate}");
                }
                for k in [1, 4, 7, 13] {
                    let m = bits_for_hashes(keys, rate, k).unwrap();
                    assert!(self::rate(keys, m, k) <= rate, "{keys} {rate} {k}");
                    if m > 1 {
                        assert!(self::rate(keys, m - 1, k) > rate, "{keys} {rate} {k}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_best_number_of_hashes_is_the_best_of_all() {
        for (keys, bits) in
            [(1, 1), (1, 10), (1, 43), (3, 40), (10, 96), (100, 1_000), (10_000, 60_000), (5, 4)]
        {
            let all = (1..=MAX_HASHES).map(|k| rate(keys, bits, k)).fold(1.0, f64::min);
            assert_eq!(rate(keys, bits, hashes(keys, bits)), all, "{keys} {bits}");
        }
        assert_eq!(hashes(0, 1_000), hashes(1, 1_000));
        assert_eq!(hashes(u64::MAX, 1), 1);
    }

    #[test]
    fn capacity_is_the_inverse_of_bits() {
        for keys in [1, 10, 1_000, 1_000_000] {
            for rate in [0.3, 0.01, 1e-6] {
                let m = bits(keys, rate).unwrap();
                let k = hashes(keys, m);
                let held = capacity(m, k, rate);
                assert!(held >= keys && self::rate(held, m, k) <= rate, "{keys} {rate}: {held}");
                assert!(self::rate(held + 1, m, k) > rate, "{keys} {rate}: {held}");
                assert!(capacity(m - 1, k, rate) <= held);
                assert!(best_capacity(m, rate) >= held);
            }
        }
        assert_eq!(capacity(0, 3, 0.01), 0);
        assert_eq!(capacity(100, 0, 0.01), 0);
        assert_eq!(capacity(100, 65, 0.01), 0);
        assert_eq!(capacity(1, 1, 0.01), 0);
        assert_eq!(capacity(1_000, 7, f64::NAN), 0);
        assert_eq!(capacity(1_000, 7, 1.0), 0);
    }

    #[test]
    fn the_largest_sizes_are_right_or_refused() {
        // 2^36 bits and beyond: the ratio is that of a small filter, for what the digest leaves of the rate.
        for keys in [1 << 33, 1 << 40, 1 << 50, 1 << 54] {
            let m = bits(keys, 0.01).unwrap();
            let left = 0.01 - lowest_rate(keys) / 4.0;
            let expected = bits_per_key_with_hashes(left, hashes(keys, m)).unwrap();
            assert!((m as f64 / keys as f64 / expected - 1.0).abs() < 1e-9, "{keys}");
        }
        // 2^61 keys at 60 % take a bit or two each, below 2^63; 2^60 keys at 1 % are beyond the digest.
        assert_eq!(bits(1 << 61, 0.6).map(|m| m > 1 << 61), Ok(true));
        assert!(matches!(bits(1 << 60, 0.01), Err(SizingError::RateTooLow { .. })));
        assert!(matches!(bits(u64::MAX, 0.5), Err(SizingError::RateTooLow { .. })));
        assert!(matches!(bits(0, 0.5), Err(SizingError::ZeroKeys)));
        assert!(matches!(bits(1, 1.0), Err(SizingError::RateOutOfRange { .. })));
        // Far too many hashes for so high a rate want 17 bits for each of 2^60 keys.
        assert_eq!(bits_for_hashes(1 << 60, 0.26, 64), Err(BEYOND_COUNTING));
        assert_eq!(bits_for_hashes(1 << 60, 0.26, 8).map(|m| m > 1 << 61), Ok(true));
        assert_eq!(bits_for_hashes(10, 0.1, 0), Err(SizingError::HashesOutOfRange { got: 0 }));
        assert_eq!(bits_for_hashes(10, 0.1, 65), Err(SizingError::HashesOutOfRange { got: 65 }));
    }
}
