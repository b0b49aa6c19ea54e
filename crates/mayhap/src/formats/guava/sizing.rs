//! How Guava sizes a filter, which depends on how old the Guava is.

use core::f64::consts::LN_2;

use crate::formats::correctly_rounded::ln;
use crate::sizing::SizingError;

/// The arithmetic by which a Guava makes a filter for n keys and a rate p. They differ, so the one that is meant must be
/// named: two programs that should fill filters of one shape have to agree on it.
///
/// The number of bits is ⌊−n · ln p / (ln 2)²⌋ in all of them. A stream holds the outcome, so reading one needs none of
/// this.
///
/// | | number of hashes | p = 3 % | p = 1 % | the most bits |
/// |---|---|---:|---:|---|
/// | [`Int32`](Self::Int32) | round(⌊m / n⌋ · ln 2) | 5 | 6 | 2³¹ − 1 |
/// | [`WholeBitsPerKey`](Self::WholeBitsPerKey) | round(⌊m / n⌋ · ln 2) | 5 | 6 | |
/// | [`Guava31`](Self::Guava31) | round(m / n · ln 2) | 5 | 7 | |
/// | [`RateAlone`](Self::RateAlone) | round(−ln p / ln 2) | 5 | 7 | |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sizing {
    /// The first Guavas with a Bloom filter. Everything is in Java's `int`: bits per key are a whole number before they
    /// are multiplied, and the number of bits stops at 2³¹ − 1 without a word, whatever the rate then is.
    Int32,
    /// Later ones (14 among them), where the number of bits is a `long`, and bits per key are still a whole number.
    /// Guava's issue 1781 of 2014 reports it.
    WholeBitsPerKey,
    /// What followed, for ten years, 31.1 among them: in fractions. The number of bits is cut to a whole one first, which
    /// shows where keys are few: one key at 1 % gets 6 hashes, ten get 7.
    Guava31,
    /// Since Guava's pull request 7494 of 2024: the number of hashes follows from the rate alone.
    RateAlone,
}

impl Sizing {
    /// Guava's `optimalNumOfBits`: ⌊−n · ln p / (ln 2)²⌋. For no keys as for one, and for a rate of 0 as for the smallest
    /// number above it.
    ///
    /// ```
    /// use mayhap::formats::guava::Sizing;
    ///
    /// assert_eq!(Sizing::Guava31.optimal_num_of_bits(1_000, 0.01), 9_585);
    /// assert_eq!(Sizing::Guava31.optimal_num_of_bits(1_000_000_000, 0.01), 9_585_058_377);
    /// assert_eq!(Sizing::Int32.optimal_num_of_bits(1_000_000_000, 0.01), 2_147_483_647);
    /// ```
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "Java's casts stop at the ends, too"
    )]
    pub fn optimal_num_of_bits(self, keys: u64, rate: f64) -> u64 {
        let bits = -(keys.max(1) as f64) * ln(above_zero(rate)) / (LN_2 * LN_2);
        match self {
            Self::Int32 => bits as i32 as u64,
            _ => bits as i64 as u64,
        }
    }

    /// Guava's `optimalNumOfHashFunctions`, which is at least 1. The newest doesn't look at the number of bits, the others
    /// not at the rate.
    ///
    /// ```
    /// use mayhap::formats::guava::Sizing;
    ///
    /// assert_eq!(Sizing::Int32.optimal_num_of_hash_functions(1_000, 9_585, 0.01), 6);
    /// assert_eq!(Sizing::Guava31.optimal_num_of_hash_functions(1_000, 9_585, 0.01), 7);
    /// assert_eq!(Sizing::RateAlone.optimal_num_of_hash_functions(1_000, 9_585, 0.01), 7);
    /// ```
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "Java's casts stop at the ends, too"
    )]
    pub fn optimal_num_of_hash_functions(self, keys: u64, bits: u64, rate: f64) -> u32 {
        let keys = keys.max(1);
        let hashes = match self {
            Self::Int32 | Self::WholeBitsPerKey => (bits / keys) as f64 * LN_2,
            Self::Guava31 => bits as f64 / keys as f64 * LN_2,
            Self::RateAlone => -ln(above_zero(rate)) / LN_2,
        };
        // Java's `Math.round`: halves go up.
        libm::floor(hashes + 0.5).max(1.0) as u32
    }
}

fn above_zero(rate: f64) -> f64 {
    if rate == 0.0 { f64::from_bits(1) } else { rate }
}

/// The most words: what a Java array can be asked for.
const MOST_WORDS: u32 = i32::MAX.cast_unsigned();

/// The shape of a filter: how many words of 64 bits, and how many bits for each key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuavaPlan {
    words: u32,
    hashes: u8,
}

impl GuavaPlan {
    /// What `BloomFilter.create` makes of a number of keys and a rate. No keys are taken for one.
    ///
    /// ```
    /// use mayhap::formats::guava::{GuavaPlan, Sizing};
    ///
    /// let plan = GuavaPlan::for_rate(1_000, 0.01, Sizing::Guava31)?;
    /// assert_eq!((plan.bits(), plan.hashes()), (9_600, 7));
    /// # Ok::<(), mayhap::sizing::SizingError>(())
    /// ```
    ///
    /// # Errors
    /// Where Guava refuses: when the rate isn't between 0 and 1, when it is so high that no bit is left, so low that a key
    /// would have more than 255, and when the words are more than an array can have.
    pub fn for_rate(keys: u64, rate: f64, sizing: Sizing) -> Result<Self, SizingError> {
        if !(0.0..1.0).contains(&rate) {
            return Err(SizingError::RateOutOfRange { got: rate });
        }
        let bits = sizing.optimal_num_of_bits(keys, rate);
        Self::from_parts(bits.div_ceil(64), sizing.optimal_num_of_hash_functions(keys, bits, rate))
    }

    /// A shape that is known: 64-bit words, and hashes for each key.
    ///
    /// # Errors
    /// When there are no words or more than 2³¹ − 1, or not 1 to 255 hashes.
    pub fn from_parts(words: u64, hashes: u32) -> Result<Self, SizingError> {
        match (u32::try_from(words), u8::try_from(hashes)) {
            (Ok(words @ 1..=MOST_WORDS), Ok(hashes @ 1..)) => Ok(Self { words, hashes }),
            _ => Err(SizingError::ForeignPlan {
                bits: words.saturating_mul(64),
                hashes,
                takes: "64 to 137438953408 bits and 1 to 255 hashes",
            }),
        }
    }

    /// Guava's `bitSize`: the bits, in whole words.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.words as u64 * 64
    }

    /// The number of 64-bit words.
    #[must_use]
    pub const fn words(self) -> u32 {
        self.words
    }

    /// Bits set for each key.
    #[must_use]
    pub const fn hashes(self) -> u8 {
        self.hashes
    }

    /// The length of the stream.
    #[must_use]
    pub const fn stream_bytes(self) -> u64 {
        super::stream::HEADER_BYTES + self.words as u64 * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_percent_has_six_hashes_by_the_old_arithmetic_and_seven_by_the_new() {
        let hashes = |sizing| GuavaPlan::for_rate(1_000_000, 0.01, sizing).unwrap().hashes();
        assert_eq!(hashes(Sizing::Int32), 6);
        assert_eq!(hashes(Sizing::WholeBitsPerKey), 6);
        assert_eq!(hashes(Sizing::Guava31), 7);
        assert_eq!(hashes(Sizing::RateAlone), 7);
        // Guava's issue 1781.
        assert_eq!(Sizing::WholeBitsPerKey.optimal_num_of_hash_functions(319, 3_072, 0.01), 6);
        assert_eq!(Sizing::Guava31.optimal_num_of_hash_functions(319, 3_072, 0.01), 7);
    }

    #[test]
    fn few_keys_tell_the_two_newest_apart() {
        assert_eq!(GuavaPlan::for_rate(1, 0.01, Sizing::Guava31).unwrap().hashes(), 6);
        assert_eq!(GuavaPlan::for_rate(1, 0.01, Sizing::RateAlone).unwrap().hashes(), 7);
    }

    #[test]
    fn ints_stop_and_longs_go_on() {
        let plan = GuavaPlan::for_rate(1 << 30, 0.01, Sizing::Int32).unwrap();
        assert_eq!(plan.bits(), 1 << 31);
        assert_eq!(plan.hashes(), 1, "two billion bits are one bit a key, in whole ones");
        let plan = GuavaPlan::for_rate(1 << 30, 0.01, Sizing::WholeBitsPerKey).unwrap();
        assert_eq!((plan.bits(), plan.hashes()), (10_291_878_080, 6));
        assert!(GuavaPlan::for_rate(u64::MAX, 0.01, Sizing::Guava31).is_err());
        assert_eq!(Sizing::Guava31.optimal_num_of_bits(u64::MAX, 1e-9), i64::MAX as u64);
    }

    /// Recorded from Guava 31.1 on OpenJDK 17. At these, a logarithm that is off by one unit in its last place (as those of
    /// `libm` and of Java's own `StrictMath` are here) gives one bit more or less.
    #[test]
    fn sizes_at_the_rounding_boundaries_are_guavas() {
        for (keys, rate, bits) in [
            (58_627_100_558_421, 0x3fe1_b89a_0945_c636, 72_114_097_881_317),
            (240_359_033_685_232, 0x3fe2_2c3d_cdfc_c9f9, 283_060_540_094_334),
            (259_736_343_776_065, 0x3fdd_4d15_8ebe_5436, 422_353_501_439_014),
            (313_993_113_417_958, 0x3fe0_d988_6888_5e02, 419_178_218_892_543),
            (466_532_247_665_985, 0x3fe5_c857_797f_08df, 373_480_891_955_336),
            (680_398_323_038_025, 0x3fd9_e831_93dd_d701, 1_280_732_063_255_730),
            (982_896_840_100_207, 0x3fe2_08d6_f6a1_de4a, 1_173_142_558_428_478),
            (1_030_329_078_639_129, 0x3fe7_d7c2_de95_f6f1, 631_023_858_600_436),
            (1_149_692_723_558_533, 0x3fe1_0d05_01cb_4c5d, 1_506_437_144_947_443),
            (1_159_519_750_103_439, 0x3fd9_8724_384f_6291, 2_218_172_470_813_005),
            (1_280_599_908_713_249, 0x3feb_80bd_3cb1_d005, 403_661_383_768_675),
            (1_467_042_666_924_954, 0x3fe4_0a87_2da1_da6a, 1_428_863_670_526_665),
        ] {
            assert_eq!(Sizing::Guava31.optimal_num_of_bits(keys, f64::from_bits(rate)), bits);
        }
    }

    #[test]
    fn what_guava_refuses_is_refused() {
        for sizing in [Sizing::Int32, Sizing::WholeBitsPerKey, Sizing::Guava31, Sizing::RateAlone] {
            for rate in [-0.1, 1.0, 2.0, f64::NAN, f64::INFINITY] {
                assert!(matches!(
                    GuavaPlan::for_rate(9, rate, sizing),
                    Err(SizingError::RateOutOfRange { .. })
                ));
            }
            let no_bits = GuavaPlan::for_rate(1, 0.99, sizing).unwrap_err();
            assert!(matches!(no_bits, SizingError::ForeignPlan { bits: 0, hashes: 1, .. }), "{no_bits}");
            for rate in [0.0, f64::from_bits(1)] {
                let too_low = GuavaPlan::for_rate(9, rate, sizing).unwrap_err();
                assert!(matches!(too_low, SizingError::ForeignPlan { hashes: 1073..=1074, .. }), "{too_low}");
            }
            assert_eq!(GuavaPlan::for_rate(0, 0.03, sizing), GuavaPlan::for_rate(1, 0.03, sizing));
        }
        assert!(GuavaPlan::from_parts(0, 1).is_err());
        assert!(GuavaPlan::from_parts(1, 0).is_err());
        assert!(GuavaPlan::from_parts(1, 256).is_err());
        assert!(GuavaPlan::from_parts(1 << 31, 1).is_err());
        assert_eq!(
            GuavaPlan::from_parts((1 << 31) - 1, 255).unwrap().stream_bytes(),
            6 + 8 * ((1 << 31) - 1)
        );
    }
}
