//! Throwing balls into cells: how many of m bits are set after some number of random settings.

use libm::{exp, expm1, log1p, pow, sqrt};

/// Up to this many bits the number of set bits is followed exactly, throw by throw.
const EXACT_BITS: usize = 256;

/// The most steps (throws times bits) to follow exactly. Past it a filter of so few bits is as good as full.
const EXACT_STEPS: f64 = 262_144.0;

/// Random settings of bits: `throws` of them into `bits` bits, independent and uniform.
#[derive(Clone, Copy, Debug)]
pub(in crate::sizing) struct Occupancy {
    throws: f64,
    bits: f64,
}

impl Occupancy {
    /// After `keys` keys of `hashes` settings each. `bits` must not be 0.
    pub(super) fn new(keys: u64, bits: u64, hashes: u32) -> Self {
        Self { throws: keys as f64 * f64::from(hashes), bits: bits as f64 }
    }

    /// After so many throws into so many cells: any that a key can fall into are bits here.
    pub(in crate::sizing) fn of_cells(throws: u64, cells: f64) -> Self {
        Self { throws: throws as f64, bits: cells }
    }

    /// The expected share of set bits: 1 - (1 - 1/m)^throws.
    pub(super) fn expected_fill(self) -> f64 {
        if self.throws == 0.0 { 0.0 } else { -expm1(self.throws * log1p(-1.0 / self.bits)) }
    }

    /// The variance of the number of set bits.
    ///
    /// Two bits are both unset with probability (1 - 2/m)^throws, a little less than if they were independent. The
    /// difference is taken inside `expm1`, because outside nothing would be left of it in a large filter.
    pub(super) fn variance(self) -> f64 {
        let m = self.bits;
        if m < 2.0 || self.throws == 0.0 {
            return 0.0;
        }
        let unset = exp(self.throws * log1p(-1.0 / m));
        let together = expm1(self.throws * log1p(-1.0 / ((m - 1.0) * (m - 1.0))));
        (m * unset * (1.0 - unset) + m * (m - 1.0) * unset * unset * together).max(0.0)
    }

    /// The standard deviation of the share of set bits.
    pub(in crate::sizing) fn fill_deviation(self) -> f64 {
        sqrt(self.variance()) / self.bits
    }

    /// The expectation of fill^k: the probability that k further throws all hit set bits.
    ///
    /// It is larger than expected_fill^k, because a filter that happens to be fuller errs more than an emptier one makes
    /// up for. In a small filter that is the difference between a kept and a broken promise.
    pub(super) fn expected_power(self, k: u32) -> f64 {
        let fill = self.expected_fill();
        if fill <= 0.0 || fill >= 1.0 || k == 0 {
            return if k == 0 { 1.0 } else { fill };
        }
        if self.bits <= EXACT_BITS as f64 && self.throws * self.bits <= EXACT_STEPS {
            return self.followed_power(k);
        }
        self.spread_power(k, fill)
    }

    /// The same for more bits: fill^k, raised by the spread of the fill around its expectation.
    ///
    /// ln E[(1 + e)^k] for a normal e of variance v is C(k,2) v - k(k-1)(2k-3)/4 v^2 up to terms in v^3. The variance
    /// is at most 0.5/m, so the first term is below 0.05 for k = 7 at 257 bits, and both vanish in a large filter. The
    /// real distribution leans a little to the low side, so what is left out only makes the answer too high.
    fn spread_power(self, k: u32, fill: f64) -> f64 {
        let k = f64::from(k);
        let mean = fill * self.bits;
        let v = self.variance() / (mean * mean);
        let raise = k * (k - 1.0) * v * (0.5 - 0.25 * (2.0 * k - 3.0) * v);
        (pow(fill, k) * exp(raise.max(0.0))).min(1.0)
    }

    /// The same, from the exact distribution of the number of set bits.
    #[allow(clippy::cast_possible_truncation)] // Both are small whole numbers here.
    fn followed_power(self, k: u32) -> f64 {
        let (bits, throws) = (self.bits as usize, self.throws as u64);
        let share = 1.0 / self.bits;
        let mut chance = [0.0; EXACT_BITS + 1];
        chance[0] = 1.0;
        let mut most = 0;
        for _ in 0..throws {
            most = bits.min(most + 1);
            for set in (1..=most).rev() {
                // The throw hits one of `set` set bits, or the last of them was unset until now.
                let (hit, new) = (set as f64 * share, (bits - set + 1) as f64 * share);
                chance[set] = chance[set] * hit + chance[set - 1] * new;
            }
            chance[0] = 0.0;
        }
        (1..=most).map(|set| chance[set] * pow(set as f64 * share, f64::from(k))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_cases_by_hand() {
        // Two throws into two bits: one bit set with probability 1/2, two with 1/2.
        let two = Occupancy { throws: 2.0, bits: 2.0 };
        assert!((two.expected_fill() - 0.75).abs() < 1e-15);
        assert!((two.variance() - 0.25).abs() < 1e-15);
        assert!((two.expected_power(2) - (0.5 * 0.25 + 0.5)).abs() < 1e-15);
        let full = Occupancy { throws: 1.0, bits: 1.0 };
        assert_eq!((full.expected_fill(), full.variance(), full.expected_power(5)), (1.0, 0.0, 1.0));
        let empty = Occupancy { throws: 0.0, bits: 1.0 };
        assert_eq!((empty.expected_fill(), empty.variance(), empty.expected_power(5)), (0.0, 0.0, 0.0));
    }

    #[test]
    fn the_approximation_meets_the_exact_value_where_it_takes_over() {
        for throws in [30.0, 90.0, 177.0, 350.0, 700.0] {
            for k in [1, 2, 4, 7, 10, 20, 30] {
                let last = Occupancy { throws, bits: 256.0 };
                let (near, exact) = (last.spread_power(k, last.expected_fill()), last.followed_power(k));
                let off = near / exact - 1.0;
                assert!(off > -1e-6, "k = {k}, {throws} throws: too low by {off}");
                // Where the filter is so empty that it is further off, shared digests outweigh the rate.
                assert!(off < 0.01 || exact < 1e-15, "k = {k}, {throws} throws: too high by {off}");
                assert!(off < 1e-3 || k > 7 || throws < 90.0, "k = {k}, {throws} throws: too high by {off}");
            }
        }
    }

    #[test]
    fn variance_survives_large_filters() {
        // Half full with ln 2 throws per bit: m e^-c (1 - (1 + c) e^-c), c = ln 2.
        for bits in [1e4, 1e9, 1e15] {
            let half = Occupancy { throws: bits * core::f64::consts::LN_2, bits };
            let expected = bits * 0.5 * (1.0 - 0.5 * (1.0 + core::f64::consts::LN_2));
            assert!((half.variance() / expected - 1.0).abs() < 1e-3, "{bits}");
        }
    }
}
