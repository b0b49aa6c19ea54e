//! What can't be promised, whatever the filter: sizes beyond counting, and rates beyond a 64-bit digest.

use super::error::SizingError;

/// The most bytes any plan may have: 2^60, so that a bit's position fits in 63 bits and no rounding up can overflow.
pub const MAX_BYTES: u64 = 1 << 60;

/// The most bits that can be set for each key. No rate that a 64-bit digest can give wants more.
pub const MAX_HASHES: u32 = 64;

/// The lowest rate that can be promised for so many keys: four times what shared digests cost alone.
///
/// An absent key has the digest of one of n keys with a probability of n / 2^64, and no filter can tell the two apart.
/// A promise leaves three quarters of the rate to the filter itself. May exceed 1, which means that nothing can be
/// promised for so many keys.
///
/// ```
/// assert!(mayhap::sizing::lowest_rate(1_000_000_000) < 1e-9);
/// ```
#[must_use]
pub fn lowest_rate(keys: u64) -> f64 {
    4.0 * shared_digests(keys)
}

/// A rate with three digits that isn't below this one: what an error may advise, so that who follows it isn't refused
/// again for the digits that were left out.
pub(crate) fn advised_rate(rate: f64) -> f64 {
    let unit = libm::exp10(libm::floor(libm::log10(rate)) - 2.0);
    // A little more, because reading the digits again may round them down.
    libm::ceil(rate * (1.0 + 1e-9) / unit) * unit
}

/// The probability that an absent key has the digest of one of `keys`: n / 2^64.
pub(super) fn shared_digests(keys: u64) -> f64 {
    keys as f64 / 18_446_744_073_709_551_616.0
}

/// Refuses a promise that can't be kept by any filter.
pub(super) fn check_promise(keys: u64, rate: f64) -> Result<(), SizingError> {
    check_rate(rate)?;
    if keys == 0 {
        return Err(SizingError::ZeroKeys);
    }
    let lowest = lowest_rate(keys);
    if rate < lowest {
        return Err(SizingError::RateTooLow { asked: rate, lowest, keys });
    }
    Ok(())
}

/// Refuses a rate outside (0, 1), and NaN.
pub(crate) fn check_rate(rate: f64) -> Result<(), SizingError> {
    if rate > 0.0 && rate < 1.0 { Ok(()) } else { Err(SizingError::RateOutOfRange { got: rate }) }
}

/// Refuses a number of bytes above the limit.
pub(super) fn check_bytes(bytes: u64, limit: u64) -> Result<(), SizingError> {
    if bytes <= limit { Ok(()) } else { Err(SizingError::TooLarge { bytes, limit }) }
}

/// Refuses 0 bits per key, and more than [`MAX_HASHES`].
pub(super) fn check_hashes(hashes: u32) -> Result<(), SizingError> {
    if (1..=MAX_HASHES).contains(&hashes) {
        Ok(())
    } else {
        Err(SizingError::HashesOutOfRange { got: hashes })
    }
}

/// The error for a size that the search never reached.
pub(super) const BEYOND_COUNTING: SizingError = SizingError::TooLarge { bytes: u64::MAX, limit: MAX_BYTES };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_has_three_digits_and_is_not_below() {
        for rate in [1e-18, 3.141_59e-9, 1.0e-8, 9.999e-5, 0.001_234_5, 0.25] {
            let advised: f64 = std::format!("{:.2e}", advised_rate(rate)).parse().unwrap();
            assert!(advised >= rate && advised <= rate * 1.01, "{rate}: {advised}");
        }
    }

    #[test]
    fn promises_outside_what_a_digest_gives_are_refused() {
        for rate in [0.0, -0.1, 1.0, 1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(matches!(check_promise(10, rate), Err(SizingError::RateOutOfRange { .. })), "{rate}");
        }
        assert_eq!(check_promise(0, 0.01), Err(SizingError::ZeroKeys));
        assert_eq!(check_promise(1_000_000_000, 1e-9), Ok(()));
        assert!(matches!(check_promise(1_000_000_000, 1e-10), Err(SizingError::RateTooLow { .. })));
        assert_eq!(check_promise(1, lowest_rate(1)), Ok(()));
        assert!(check_promise(u64::MAX, 0.999).is_err());
    }
}
