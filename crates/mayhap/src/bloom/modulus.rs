//! Remainders without division.

/// A number to take remainders by, with its reciprocal.
///
/// The recipes of other systems place a key's bits by `x % m`, once for each bit. A division of 64 bits takes a core
/// longer than fetching the word that it points to. As m is the same for all keys of a filter, two multiplications do:
///
/// ```text
/// reciprocal = ⌊(2⁶⁴ − 1) / m⌋        quotient' = ⌊x · reciprocal / 2⁶⁴⌋        remainder' = x − quotient' · m
/// ```
///
/// `quotient'` is the quotient or one less: x · reciprocal / 2⁶⁴ falls short of x / m by less than 1, since the reciprocal
/// falls short of 2⁶⁴ / m by at most 1 and x is below 2⁶⁴. So one conditional subtraction finishes it.
///
/// ```
/// use mayhap::bloom::Modulus;
///
/// assert_eq!(Modulus::new(10_007).remainder(u64::MAX), u64::MAX % 10_007);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modulus {
    divisor: u64,
    reciprocal: u64,
}

impl Modulus {
    /// Remainders by `divisor`, where 0 is taken for 1: then the remainder is always 0.
    #[must_use]
    pub const fn new(divisor: u64) -> Self {
        let divisor = if divisor == 0 { 1 } else { divisor };
        Self { divisor, reciprocal: u64::MAX / divisor }
    }

    /// `x % divisor`.
    #[inline(always)]
    #[must_use]
    pub fn remainder(self, x: u64) -> u64 {
        let remainder = self.remainder_or_more(x);
        // Where nothing is to be subtracted, subtracting wraps to something larger. An `if` may become a branch, which
        // no core can predict.
        remainder.min(remainder.wrapping_sub(self.divisor))
    }

    /// The remainder, or that and the divisor: before the conditional subtraction.
    #[inline(always)]
    pub(crate) fn remainder_or_more(self, x: u64) -> u64 {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the high half of a product of two 64-bit numbers"
        )]
        let quotient = ((u128::from(x) * u128::from(self.reciprocal)) >> 64) as u64;
        x.wrapping_sub(quotient.wrapping_mul(self.divisor))
    }

    /// The number that remainders are taken by.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.divisor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn remainders_at_the_edges_are_those_of_division() {
        let edges = [0, 1, 2, 3, 63, 64, 65, (1 << 31) - 1, 1 << 31, u64::from(u32::MAX), 1 << 32, 1 << 63];
        let edges = edges.into_iter().chain([(1 << 63) - 1, (1 << 63) + 1, u64::MAX - 1, u64::MAX]);
        for divisor in edges.clone().filter(|divisor| *divisor > 0) {
            let modulus = Modulus::new(divisor);
            for x in edges.clone().chain(edges.clone().map(|x| x.wrapping_mul(divisor))) {
                assert_eq!(modulus.remainder(x), x % divisor, "{x} % {divisor}");
                assert_eq!(modulus.remainder(x.wrapping_sub(1)), x.wrapping_sub(1) % divisor);
            }
        }
        assert_eq!(Modulus::new(0).remainder(5), 0);
    }

    proptest! {
        #[test]
        fn remainders_are_those_of_division(x: u64, divisor in 1u64.., shift in 0u32..64) {
            let divisor = (divisor >> shift).max(1);
            prop_assert_eq!(Modulus::new(divisor).remainder(x), x % divisor);
        }
    }
}
