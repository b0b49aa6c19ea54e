//! Logarithms, exponentials and powers that are right in the last bit.
//!
//! Other programs size their filters by `⌊−n · ln p / (ln 2)²⌋` and report rates as `fill^k`, each with the mathematics
//! of its own language: those of Java and of C give the nearest double in all but very few cases. `libm`'s don't, one
//! time in 200 for `log` (of 0.01, say) and one in 11 for `pow`, and then a size next to a whole number, or the last
//! digit of a rate, comes out differently. So here both are worked out to about 100 bits, as the sum of two doubles, and
//! rounded once.

/// ln x, for a finite x above 0; otherwise what `libm` says.
pub(crate) fn ln(x: f64) -> f64 {
    if !(x > 0.0 && x.is_finite()) {
        return libm::log(x);
    }
    // x = m · 2^e with m around 1, so that the two parts of the sum never nearly cancel.
    let (mut m, mut e) = libm::frexp(x);
    if m < core::f64::consts::FRAC_1_SQRT_2 {
        (m, e) = (2.0 * m, e - 1);
    }
    // ln m = 2 (z + z³/3 + z⁵/5 + …) with z = (m − 1) / (m + 1), which is at most 0.172: 24 terms give 120 bits.
    let z = Sum::of(m, -1.0).divided_by(Sum::of(m, 1.0));
    let square = z.times(z);
    let series = (0..24).rev().fold(Sum::from(0.0), |rest, i| {
        rest.times(square).plus(Sum::from(1.0).divided_by(Sum::from(f64::from(2 * i + 1))))
    });
    let ln_m = z.times(series).times(Sum::from(2.0));
    LN_2.times(Sum::from(f64::from(e))).plus(ln_m).high
}

/// x^k as `pow` defines it, for an x that is not negative.
pub(crate) fn power(x: f64, k: i32) -> f64 {
    if k == 0 || x == 1.0 {
        return 1.0;
    }
    if !(x > 0.0 && x.is_finite()) {
        // Zero, infinity and NaN. The NaN of other languages has no sign.
        let power = libm::pow(x, f64::from(k));
        return if power.is_nan() { f64::NAN } else { power };
    }
    let (m, e) = libm::frexp(x);
    let (mut square, mut square_exponent) = (Sum::from(m), i64::from(e));
    let (mut power, mut exponent) = (Sum::from(1.0), 0);
    let mut rest = k.unsigned_abs();
    while rest > 0 {
        if rest % 2 == 1 {
            (power, exponent) = power.times(square).normalised(exponent + square_exponent);
        }
        (square, square_exponent) = square.times(square).normalised(2 * square_exponent);
        rest /= 2;
    }
    if k < 0 {
        (power, exponent) = (Sum::from(1.0).divided_by(power), -exponent);
    }
    // Beyond ± 3000 it is zero or infinite all the same.
    #[allow(clippy::cast_possible_truncation, reason = "clamped")]
    let exponent = exponent.clamp(-3000, 3000) as i32;
    libm::scalbn(power.high, exponent)
}

/// e^x, for an x from −708 to 0; otherwise what `libm` says.
pub(crate) fn exp(x: f64) -> f64 {
    if !(-708.0..=0.0).contains(&x) {
        return libm::exp(x);
    }
    // x = n · ln 2 + r with |r| at most 0.35. Then e^(r/256) by 12 terms of its series, squared eight times.
    let n = libm::rint(x / LN_2.high);
    let r = Sum::from(x).plus(LN_2.times(Sum::from(-n))).times(Sum::from(1.0 / 256.0));
    let one = Sum::from(1.0);
    let series =
        (1..=12).rev().fold(one, |rest, i| one.plus(rest.times(r).divided_by(Sum::from(f64::from(i)))));
    let power = (0..8).fold(series, |power, _| power.times(power));
    #[allow(clippy::cast_possible_truncation, reason = "at most 1022 by the range above")]
    libm::scalbn(power.high, n as i32)
}

/// The eighth root of x, for a finite x that is not negative.
pub(crate) fn eighth_root(x: f64) -> f64 {
    let root = libm::sqrt(libm::sqrt(libm::sqrt(x)));
    if root == 0.0 {
        return root;
    }
    // One step of Newton's on a value that is right to 52 bits.
    let power = |factor: Sum| factor.times(factor);
    let missing = Sum::from(x).plus(power(power(power(Sum::from(root)))).negated());
    let slope = 8.0 * x / root;
    Sum::from(root).plus(missing.divided_by(Sum::from(slope))).high
}

/// ln 2 to 107 bits.
const LN_2: Sum = Sum { high: core::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };

/// A number as the sum of two doubles, the lower at most half a unit in the last place of the higher.
#[derive(Clone, Copy)]
struct Sum {
    high: f64,
    low: f64,
}

impl From<f64> for Sum {
    fn from(number: f64) -> Self {
        Self { high: number, low: 0.0 }
    }
}

impl Sum {
    /// a + b, exactly (Knuth).
    fn of(a: f64, b: f64) -> Self {
        let high = a + b;
        let from_b = high - a;
        Self { high, low: (a - (high - from_b)) + (b - from_b) }
    }

    /// a · b, exactly.
    fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Self { high, low: libm::fma(a, b, -high) }
    }

    fn plus(self, other: Self) -> Self {
        let sum = Self::of(self.high, other.high);
        Self::of(sum.high, sum.low + (self.low + other.low))
    }

    fn times(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        Self::of(product.high, product.low + (self.high * other.low + self.low * other.high))
    }

    fn divided_by(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self.plus(other.times(Self::from(first)).negated());
        let second = rest.high / other.high;
        let rest = rest.plus(other.times(Self::from(second)).negated());
        Self::of(first, second).plus(Self::from(rest.high / other.high))
    }

    fn negated(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }

    /// The same number times 2^exponent, with its higher part between ½ and 1, so that no power leaves the range.
    fn normalised(self, exponent: i64) -> (Self, i64) {
        let (high, by) = libm::frexp(self.high);
        (Self { high, low: libm::scalbn(self.low, -by) }, exponent + i64::from(by))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// True values, as their nearest doubles, from 200-bit arithmetic.
    #[test]
    fn logarithms_are_the_nearest_doubles() {
        for (x, expected) in LOGARITHMS {
            assert_eq!(ln(x).to_bits(), expected, "ln {x}");
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
        assert!(ln(-1.0).is_nan() && ln(f64::NAN).is_nan());
        assert_eq!(ln(f64::INFINITY), f64::INFINITY);
    }

    #[test]
    fn exponentials_are_the_nearest_doubles() {
        for (x, expected) in [
            (-0.003, 0x3fef_e775_f8c4_dce8),
            (-4.999850004499865e-05, 0x3fef_ff97_25ee_43a0),
            (-0.7302315877321093, 0x3fde_d5c4_c1c9_cf40),
            (-0.5, 0x3fe3_68b2_fc6f_960a),
            (-1.0, 0x3fd7_8b56_362c_ef38),
            (-1e-09, 0x3fef_ffff_ff76_8fa1),
            (-20.75, 0x3e10_ba06_b3d9_c887),
            (-700.25, 0x00ca_f5fe_9a48_5c8e),
            (-0.34657359027997264, 0x3fe6_a09e_667f_3bcd),
            (-0.0, 0x3ff0_0000_0000_0000),
        ] {
            assert_eq!(exp(x).to_bits(), expected, "e^{x}");
        }
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert!(exp(f64::NAN).is_nan());
    }

    #[test]
    fn powers_are_the_nearest_doubles() {
        for (numerator, denominator, k, expected) in POWERS {
            let x = f64::from(numerator) / f64::from(denominator);
            assert_eq!(power(x, k).to_bits(), expected, "({numerator}/{denominator})^{k}");
        }
    }

    #[test]
    fn powers_at_the_edges_are_those_of_pow() {
        assert_eq!(power(0.0, 0), 1.0);
        assert_eq!(power(f64::NAN, 0), 1.0);
        assert_eq!(power(f64::NAN, 5).to_bits(), 0x7ff8_0000_0000_0000);
        assert_eq!(power(-f64::NAN, 5).to_bits(), 0x7ff8_0000_0000_0000);
        assert_eq!(power(0.0, 3), 0.0);
        assert_eq!(power(0.0, -3), f64::INFINITY);
        assert_eq!(power(0.5, i32::MAX), 0.0);
        assert_eq!(power(0.5, i32::MIN), f64::INFINITY);
        assert_eq!(power(1.0, i32::MIN), 1.0);
        assert_eq!(power(2.0, 1023), libm::ldexp(1.0, 1023));
        assert_eq!(power(0.5, 1074).to_bits(), 1);
        assert_eq!(power(10.0 / 128.0, -1), 12.8);
    }

    #[test]
    fn eighth_roots_are_the_nearest_doubles() {
        for (x, expected) in ROOTS {
            assert_eq!(eighth_root(x).to_bits(), expected, "{x}^(1/8)");
        }
        assert_eq!(eighth_root(0.0), 0.0);
        assert_eq!(eighth_root(1.0), 1.0);
    }

    const LOGARITHMS: [(f64, u64); 24] = [
        (0.01, 0xc012_6bb1_bbb5_5515),
        (0.5, 0xbfe6_2e42_fefa_39ef),
        (0.03, 0xc00c_0d6e_3a14_28a6),
        (0.001, 0xc01b_a18a_998f_ffa0),
        (1e-06, 0xc02b_a18a_998f_ffa0),
        (0.1, 0xc002_6bb1_bbb5_5515),
        (0.9999, 0xbf1a_3738_d2cf_1cc2),
        (0.7071067811865475, 0xbfd6_2e42_fefa_39f1),
        (core::f64::consts::FRAC_1_SQRT_2, 0xbfd6_2e42_fefa_39ee),
        (0.999999999999, 0xbd71_9780_0000_09ac),
        (1.0000001, 0x3e7a_d7f2_847b_6492),
        (3.0, 0x3ff1_93ea_7aad_030b),
        (1e+300, 0x4085_9634_47f8_7fb5),
        (5e-324, 0xc087_4385_446d_71c3),
        (0.05571870066869194, 0xc007_1979_da9e_c4b1),
        (0.07320271404019085, 0xc004_ea8a_eb8e_af1d),
        (0.024016404717655582, 0xc00d_d507_7810_373d),
        (3.0563908022363654e-09, 0xc033_9b24_da8e_f6c0),
        (0.8004523514958085, 0xbfcc_7d71_def8_fc92),
        (0.00011947434518243945, 0xc022_1097_e60a_4ace),
        (0.021180965308213423, 0xc00e_d653_fa73_8c2d),
        (0.3865365680556921, 0xbfee_6abb_60dc_59e5),
        (0.2144004325789165, 0xbff8_a378_7dfe_cb02),
        (0.39134809076289656, 0xbfee_0563_a077_b9df),
    ];
    const POWERS: [(u32, u32, i32, u64); 24] = [
        (811328, 2279616, 6, 0x3f60_a63e_fc5f_bda4),
        (1214842, 2599232, 21, 0x3e7f_0bd9_9349_43fd),
        (3123860, 6139584, 3, 0x3fc0_dc43_0923_4983),
        (2830338, 5082304, 22, 0x3ec5_6b41_52ec_8d93),
        (2122124, 3254272, 8, 0x3fa0_bdee_5d56_a348),
        (518673, 1491456, 16, 0x3e68_91dc_1c47_49d0),
        (374746, 2348800, 30, 0x3af7_9e49_05c2_0377),
        (2518644, 4593984, 1, 0x3fe1_8b40_0e61_3689),
        (2400681, 2449024, 23, 0x3fe4_3af5_7dd0_e1a5),
        (2132269, 2615296, 7, 0x3fce_a6e5_9217_0580),
        (1777257, 3472448, 20, 0x3eb9_870f_1a14_2adf),
        (1807926, 2417664, 15, 0x3f8a_3019_bcda_f66e),
        (489109, 1353280, 10, 0x3f03_f0ee_1427_bd89),
        (181356, 2178176, 3, 0x3f42_e9cc_9c77_9e53),
        (242573, 388608, 21, 0x3f0a_6504_860f_746b),
        (2176308, 2352448, 18, 0x3fcf_8963_3e2f_ea79),
        (3953049, 5435840, 23, 0x3f45_90bc_f7af_3b12),
        (608438, 2876032, 22, 0x3cd9_ff24_3331_2b7e),
        (139332, 1640640, 14, 0x3cd2_4982_17b4_5904),
        (1331732, 1700160, 21, 0x3f78_41a8_ce0c_ef8b),
        (10, 128, -1, 0x4029_9999_9999_999a),
        (319, 640, 4, 0x3faf_9a14_3965_2bd2),
        (56, 640, 4, 0x3f0e_bb98_c7e2_823f),
        (3, 64, 1000, 0x0000_0000_0000_0000),
    ];
    const ROOTS: [(f64, u64); 17] = [
        (0.5, 0x3fed_5818_dcfb_a487),
        (0.1, 0x3fe7_ff22_2411_5d9a),
        (0.05, 0x3fe6_0147_33a3_46ee),
        (0.01, 0x3fe1_feb3_3c1c_381e),
        (0.001, 0x3fda_fd13_54c4_0d50),
        (0.0001, 0x3fd4_3d13_6248_490f),
        (1e-06, 0x3fc6_c310_e376_9f3f),
        (1e-50, 0x3ea2_de79_a6d2_a218),
        (0.99, 0x3fef_f5b7_04dd_3c19),
        (0.08585480938755984, 0x3fe7_8b21_2641_26af),
        (0.0020298357156126132, 0x3fdd_7c5b_eb65_69a0),
        (0.16200962979168268, 0x3fe9_7d07_d01e_c68f),
        (0.8177858028564038, 0x3fef_3495_e574_7415),
        (0.4965127082224246, 0x3fed_5187_1ff8_a24c),
        (0.005928149783081958, 0x3fe0_db3d_25a7_4d08),
        (0.0018223482273806728, 0x3fdd_174c_d9b2_416b),
        (0.29092425449951553, 0x3feb_6c68_ca09_65e1),
    ];
}
