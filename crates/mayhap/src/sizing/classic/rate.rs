//! How often a classic filter is wrong.

use libm::{expm1, log1p, pow};

use super::occupancy::Occupancy;
use crate::sizing::limits::shared_digests;

/// The expected rate of false positives of a filter of `bits` bits that holds `keys` keys with `hashes` bits each.
///
/// It is the expectation of fill^k over the number of bits that happen to be set, plus n / 2^64 for digests that an
/// absent key shares with a present one. An empty filter has rate 0; one without bits, or without hashes, answers yes to
/// everything.
///
/// ```
/// use mayhap::sizing::classic;
///
/// // One bit per key is not enough, and more hashes make it worse.
/// let rates = [1, 2, 3].map(|hashes| classic::rate(1_000_000, 1_000_000, hashes));
/// assert_eq!(rates.map(|rate| (rate * 100.0).round()), [63.0, 75.0, 86.0]);
/// ```
#[must_use]
pub fn rate(keys: u64, bits: u64, hashes: u32) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    if bits == 0 {
        return 1.0;
    }
    (Occupancy::new(keys, bits, hashes).expected_power(hashes) + shared_digests(keys)).min(1.0)
}

/// The standard deviation of the rate among filters of `bits` bits that hold `keys` keys with `hashes` bits each, and
/// differ by their seeds.
///
/// [`rate`] is their mean. A filter's own rate is fill^k, so it differs by k · fill^(k-1) times what the fill does. (To the
/// first order, which is within 1 % from a thousand bits on.)
///
/// ```
/// use mayhap::sizing::classic;
///
/// // Ten bits per key: filters of a thousand keys differ by 4 % of their rate, those of a million by 0.12 %.
/// let of_rate = |keys| classic::rate_deviation(keys, 10 * keys, 7) / classic::rate(keys, 10 * keys, 7);
/// assert!((of_rate(1_000) - 0.04).abs() < 0.002);
/// assert!((of_rate(1_000_000) - 0.0012).abs() < 0.0001);
/// ```
#[must_use]
pub fn rate_deviation(keys: u64, bits: u64, hashes: u32) -> f64 {
    if keys == 0 || bits == 0 || hashes == 0 {
        return 0.0;
    }
    let occupancy = Occupancy::new(keys, bits, hashes);
    let k = f64::from(hashes);
    k * pow(occupancy.expected_fill(), k - 1.0) * occupancy.fill_deviation()
}

/// The [`rate`] of a filter whose positions are remainders: of numbers that are equally likely below `numbers`, modulo
/// the number of bits.
///
/// Recipes that calculate in 31 or 32 bits are such, and large filters feel it. Where `numbers` is no multiple of the
/// bits, the first bits are met more often than the others; where it is less, the last bits are never met. What a
/// recipe's steps from one position to the next add to that isn't counted, so the true rate may be higher still.
///
/// ```
/// use mayhap::sizing::classic;
///
/// // A thousand million keys at 1 % by the textbook, and what comes of it in 31 bits.
/// let (keys, bits) = (1_000_000_000, 9_585_058_432);
/// assert!(classic::rate(keys, bits, 7) < 0.0101);
/// assert!(classic::rate_of_remainders(keys, bits, 7, 1 << 31) > 0.75);
/// ```
#[must_use]
pub fn rate_of_remainders(keys: u64, bits: u64, hashes: u32, numbers: u64) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    if bits == 0 || numbers == 0 {
        return 1.0;
    }
    // Each of the first `often` bits is the remainder of `turns` + 1 numbers, each of the others of `turns`.
    let (turns, often) = (numbers / bits, numbers % bits);
    if often == 0 {
        return rate(keys, bits, hashes);
    }
    let throws = keys as f64 * f64::from(hashes);
    let meets = |bits: u64, turns: u64| {
        let chance = turns as f64 / numbers as f64;
        bits as f64 * chance * -expm1(throws * log1p(-chance))
    };
    let met = meets(often, turns + 1) + meets(bits - often, turns);
    (rate_of_fill(met, hashes) + shared_digests(keys)).min(1.0)
}

/// The rate of false positives of a filter whose share of set bits is `fill`: fill^k.
///
/// ```
/// assert_eq!(mayhap::sizing::classic::rate_of_fill(0.5, 7), 1.0 / 128.0);
/// ```
#[must_use]
pub fn rate_of_fill(fill: f64, hashes: u32) -> f64 {
    pow(fill.clamp(0.0, 1.0), f64::from(hashes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_filters_agree_with_the_textbook() {
        for (n, m, k) in [(1_000_000_u64, 10_000_000_u64, 7), (1 << 33, 1 << 36, 6), (1 << 56, 1 << 60, 11)] {
            let usual = pow(-libm::expm1(-f64::from(k) * n as f64 / m as f64), f64::from(k));
            assert!(((rate(n, m, k) - shared_digests(n)) / usual - 1.0).abs() < 1e-5, "{n} {m} {k}");
        }
    }

    #[test]
    fn remainders_of_many_numbers_are_even() {
        for bits in [10_000_000, 9_585_059, 1 << 24] {
            let even = rate(1_000_000, bits, 7);
            assert!((rate_of_remainders(1_000_000, bits, 7, 1 << 60) / even - 1.0).abs() < 1e-6, "{bits}");
            assert_eq!(rate_of_remainders(1_000_000, bits, 7, bits), even);
        }
        // Half of the bits are never met: as if they weren't there.
        let (half, all) = (rate(100_000, 1_000_000, 7), rate_of_remainders(100_000, 2_000_000, 7, 1_000_000));
        assert!((all / half - 1.0).abs() < 1e-3, "{half} {all}");
        assert_eq!(rate_of_remainders(0, 64, 3, 64), 0.0);
        assert_eq!(rate_of_remainders(5, 0, 3, 64), 1.0);
    }

    /// Guava's issue 1119: 3·10⁻⁶ where 10⁻⁶ was asked for.
    #[test]
    fn uneven_positions_cost_what_was_reported() {
        let (keys, hashes) = (56_000_000, 20);
        let bits = 28 * keys + keys * 3 / 4;
        let (even, uneven) = (rate(keys, bits, hashes), rate_of_remainders(keys, bits, hashes, 1 << 31));
        assert!(even < 1.1e-6 && uneven > 2.5e-6, "{even} {uneven}");
    }

    #[test]
    fn the_usual_formula_is_low_for_a_tiny_filter() {
        let usual = pow(1.0 - pow(0.9, 7.0), 7.0);
        assert!(usual < 0.0106 && rate(1, 10, 7) > 0.016, "{usual} {}", rate(1, 10, 7));
    }

    #[test]
    fn extremes_stay_in_range() {
        assert_eq!(rate(0, 0, 0), 0.0);
        assert_eq!(rate(1, 0, 3), 1.0);
        assert_eq!(rate(1, 1, 3), 1.0);
        assert_eq!(rate(5, 100, 0), 1.0);
        assert_eq!(rate(u64::MAX, u64::MAX, u32::MAX), 1.0);
        assert_eq!(rate(u64::MAX, 1, 1), 1.0);
        let lonely = rate(1, u64::MAX, 1);
        assert!(lonely > 0.0 && lonely < 2e-19, "{lonely}");
        assert_eq!(rate_of_fill(2.0, 3), 1.0);
        assert_eq!(rate_of_fill(-1.0, 3), 0.0);
    }

    #[test]
    fn more_keys_never_help_and_more_bits_never_hurt() {
        for k in [1, 3, 7, 20] {
            for (a, b) in [(1, 2), (30, 31), (100, 101), (5_000, 5_050)] {
                assert!(rate(a, 1_000, k) <= rate(b, 1_000, k), "{a} {b} {k}");
                assert!(rate(50, 10 * a, k) >= rate(50, 10 * b, k), "{a} {b} {k}");
            }
        }
    }
}
