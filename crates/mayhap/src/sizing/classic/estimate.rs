//! How many keys a classic filter holds, from its set bits.

use libm::{expm1, log, log1p, round, sqrt};

use super::occupancy::Occupancy;

/// The number of keys that most likely set `bits_set` of `bits` bits: ln(1 - fill) / (k ln(1 - 1/m)).
///
/// Keys inserted twice count once, which is what a counter of insertions can't do. When every bit is set the count has
/// no upper bound; the answer is then the count at which half a bit would be expected unset, so a lower bound.
///
/// ```
/// use mayhap::sizing::classic;
///
/// assert_eq!(classic::estimated_keys(5_000, 10_000, 7), 990);
/// assert!(classic::standard_error(990, 10_000, 7) < 8.0);
/// ```
#[must_use]
pub fn estimated_keys(bits_set: u64, bits: u64, hashes: u32) -> u64 {
    if bits_set == 0 || bits == 0 || hashes == 0 {
        return 0;
    }
    if bits == 1 {
        return 1;
    }
    let m = bits as f64;
    let unset = if bits_set >= bits { 0.5 } else { (bits - bits_set) as f64 };
    let keys = round(log(unset / m) / (f64::from(hashes) * log1p(-1.0 / m)));
    #[allow(clippy::cast_possible_truncation)] // `as` saturates.
    let keys = keys as u64;
    keys.max(1)
}

/// The share of bits that `keys` keys are expected to set: 1 - (1 - 1/m)^(kn). What [`estimated_keys`] inverts.
///
/// ```
/// let fill = mayhap::sizing::classic::expected_fill(990, 10_000, 7);
/// assert!((fill - 0.5).abs() < 0.001);
/// ```
#[must_use]
pub fn expected_fill(keys: u64, bits: u64, hashes: u32) -> f64 {
    if bits == 0 {
        return 0.0;
    }
    -expm1(keys as f64 * f64::from(hashes) * log1p(-1.0 / bits as f64))
}

/// The standard error of [`estimated_keys`] when the filter holds `keys` keys, in keys.
///
/// It is the standard deviation of the number of set bits, divided by how many bits the next key is expected to set.
/// Infinite when a further key changes nothing.
#[must_use]
pub fn standard_error(keys: u64, bits: u64, hashes: u32) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    if bits < 2 || hashes == 0 {
        return f64::INFINITY;
    }
    let m = bits as f64;
    let occupancy = Occupancy::new(keys, bits, hashes);
    let bits_per_further_key = (1.0 - occupancy.expected_fill()) * m * -log1p(-1.0 / m) * f64::from(hashes);
    if bits_per_further_key > 0.0 { sqrt(occupancy.variance()) / bits_per_further_key } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sizing::search::rounded_up;

    #[test]
    fn the_expected_fill_gives_the_keys_back() {
        for keys in [1_u64, 10, 1_000, 100_000, 1 << 40] {
            for (bits_per_key, hashes) in [(10, 7), (3, 2), (30, 20), (1, 1)] {
                let bits = keys * bits_per_key;
                let fill = Occupancy::new(keys, bits, hashes).expected_fill();
                let estimate = estimated_keys(rounded_up(fill * bits as f64 - 0.5), bits, hashes);
                assert!(estimate.abs_diff(keys) <= 1 + keys / 1_000_000, "{keys} {bits_per_key}: {estimate}");
            }
        }
    }

    #[test]
    fn full_empty_and_absurd_filters() {
        assert_eq!(estimated_keys(0, 100, 7), 0);
        assert_eq!(estimated_keys(1, 1, 7), 1);
        assert_eq!(estimated_keys(100, 100, 1), 527);
        assert_eq!(estimated_keys(500, 100, 1), 527);
        assert!(estimated_keys(u64::MAX, u64::MAX, 1) > u64::MAX / 2);
        assert_eq!(standard_error(0, 100, 7), 0.0);
        assert_eq!(standard_error(1_000_000, 100, 7), f64::INFINITY);
        assert_eq!(standard_error(1, 1, 7), f64::INFINITY);
    }

    #[test]
    fn the_standard_error_is_that_of_linear_counting() {
        // Whang et al.: sqrt(m (e^t - t - 1)) for t balls per cell, here divided by k balls per key.
        let (keys, bits, hashes) = (1_000_000_u64, 10_000_000_u64, 7);
        let t = 0.7;
        let known = sqrt(bits as f64 * (libm::exp(t) - t - 1.0)) / f64::from(hashes);
        assert!((standard_error(keys, bits, hashes) / known - 1.0).abs() < 1e-4);
    }
}
