//! From key to positions, in both versions.

use super::murmur::murmur3_32;
use crate::bloom::{Modulus, Scheme};
use crate::hash::Key;

/// A version of Spark's filter, with all that decides where a key's bits are.
///
/// Two filters with different recipes can't be combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SparkRecipe {
    /// `BloomFilterImpl`: the only version before Spark 4. Positions have 31 bits.
    V1,
    /// `BloomFilterImplV2`: what Spark 4.3 makes. Positions have 62 bits.
    V2 {
        /// Where hashing starts; Spark's default is 0.
        seed: i32,
    },
}

/// The two hashes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SparkHash {
    first: i32,
    second: i32,
}

impl SparkRecipe {
    /// The number in the stream.
    #[must_use]
    pub const fn version(self) -> i32 {
        match self {
            Self::V1 => 1,
            Self::V2 { .. } => 2,
        }
    }

    /// The seed, which is 0 in version 1.
    #[must_use]
    pub const fn seed(self) -> i32 {
        match self {
            Self::V1 => 0,
            Self::V2 { seed } => seed,
        }
    }
}

impl Scheme for SparkRecipe {
    type Hash = SparkHash;
    type Range = Modulus;

    #[inline]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> SparkHash {
        let bytes = key.key_bytes();
        let first = murmur3_32(bytes.as_ref(), self.seed().cast_unsigned());
        let second = murmur3_32(bytes.as_ref(), first);
        SparkHash { first: first.cast_signed(), second: second.cast_signed() }
    }

    fn range(bits: u64) -> Modulus {
        Modulus::new(bits)
    }

    #[inline(always)]
    fn positions(&self, hash: SparkHash, range: Modulus) -> impl Iterator<Item = u64> + Clone {
        let (first, step) = (i64::from(hash.first), i64::from(hash.second));
        // One loop for both: version 1 drops the upper half after each step, by a shift that is 0 for version 2.
        let (mut at, drop) = match self {
            Self::V1 => (first, 32),
            Self::V2 { .. } => (first * i64::from(i32::MAX), 0),
        };
        core::iter::from_fn(move || {
            at = at.wrapping_add(step) << drop >> drop;
            // Turned over if it is negative: `at >> 63` is then all ones, and otherwise 0.
            Some(range.remainder((at ^ (at >> 63)).cast_unsigned()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// The arithmetic of the page above, word for word.
    fn as_described(recipe: SparkRecipe, h1: i32, h2: i32, hashes: u32, bits: u64) -> Vec<u64> {
        let mut wide = i64::from(h1) * 0x7fff_ffff;
        (1..=hashes)
            .map(|i| match recipe {
                SparkRecipe::V1 => {
                    let c = h1.wrapping_add(i.cast_signed().wrapping_mul(h2));
                    u64::try_from(if c < 0 { !c } else { c }).unwrap() % bits
                }
                SparkRecipe::V2 { .. } => {
                    wide = wide.wrapping_add(i64::from(h2));
                    u64::try_from(if wide < 0 { !wide } else { wide }).unwrap() % bits
                }
            })
            .collect()
    }

    proptest! {
        #[test]
        fn positions_are_as_described(first: i32, second: i32, hashes in 0u32..40, words in 1u64..1 << 31) {
            for recipe in [SparkRecipe::V1, SparkRecipe::V2 { seed: 7 }] {
                let bits = 64 * words;
                let positions = recipe.positions(SparkHash { first, second }, Modulus::new(bits)).take(hashes as usize);
                let expected = as_described(recipe, first, second, hashes, bits);
                prop_assert_eq!(positions.collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn the_seed_of_version_1_is_0() {
        assert_eq!(SparkRecipe::V1.hash("apple"), SparkRecipe::V2 { seed: 0 }.hash("apple"));
        assert_ne!(SparkRecipe::V1.hash("apple"), SparkRecipe::V2 { seed: 1 }.hash("apple"));
    }
}
