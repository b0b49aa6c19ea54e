//! The recipe from a key to bit positions.

use core::fmt;

use super::kernel::second_digest;
use super::modulus::Modulus;
use crate::hash::{Digest, Key, KeyHasher};

/// A frozen recipe: how a key is hashed, and which of m bits its hash means.
///
/// A recipe is part of a filter's type, so the bits of two recipes can't be merged by mistake. Once published a recipe
/// never changes; new behaviour is a new recipe.
pub trait Scheme: Clone + PartialEq + fmt::Debug {
    /// What a key is reduced to: 64 bits here, 32 in LevelDB's recipe, 128 in Guava's.
    type Hash: Copy;

    /// What is worked out once from the number of bits: the number itself, or a [`Modulus`] for recipes that take remainders.
    type Range: Copy + Send + Sync;

    /// Whether dividing a position in m bits by d gives the position in m/d bits, so that filters can be folded.
    const FOLDS: bool = false;

    /// The hash of a key.
    fn hash<K: Key + ?Sized>(&self, key: &K) -> Self::Hash;

    /// The hashes of many keys: `hashes[i]` gets that of `keys[i]`. A recipe may have a shorter way to them than one by one.
    #[inline]
    fn hash_each<K: Key>(&self, keys: &[K], hashes: &mut [Self::Hash]) {
        for (hash, key) in hashes.iter_mut().zip(keys) {
            *hash = self.hash(key);
        }
    }

    /// The range of positions in `bits` bits, of which there is at least one.
    fn range(bits: u64) -> Self::Range;

    /// The range of a recipe whose positions are remainders of numbers at equal distances. Batches then work on several keys
    /// side by side.
    #[inline(always)]
    fn strides(_range: Self::Range) -> Option<Strides> {
        None
    }

    /// The first of these numbers and the distance; not asked for in other recipes.
    #[inline(always)]
    fn stride(_hash: Self::Hash) -> (u64, u64) {
        (0, 0)
    }

    /// The positions of a hash, each in the range. They have no end: a filter takes as many as it sets bits for a key.
    fn positions(&self, hash: Self::Hash, range: Self::Range) -> impl Iterator<Item = u64> + Clone;
}

/// Remainders of start, start + step, start + 2 · step …, where each sum is first taken modulo a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides {
    /// What remainders are taken by.
    pub modulus: Modulus,
    /// The bits of a sum that count: the lowest, 1 to 64 of them.
    pub width: u32,
}

/// mayhap's own recipe: double hashing on 64 bits that can't degenerate.
///
/// Plain double hashing takes positions x, x + d, x + 2d …, from a start and a step. When the step is zero, or too small
/// to reach the next position, they fall together; and a stranger whose start and step are both close to a member's
/// shares *all* of that member's positions, which in small filters and at low rates is more than the whole promise. Here
/// x is multiplied on the way:
///
/// ```text
/// x₀ = digest        d = rotate(digest, 32) · constant, made odd
/// xᵢ₊₁ = xᵢ · 0xd1342543de82ef95 + d             position i = ⌊xᵢ · m / 2⁶⁴⌋
/// ```
///
/// With a multiplier of 1 modulo 4 and an odd step no x comes again before all 2⁶⁴ have been (Hull and Dobell), and two
/// keys that are close are far apart after one multiplication. `docs/maths.md`, section 7, has the measurements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Native(KeyHasher);

impl Native {
    /// The recipe over this hasher.
    #[must_use]
    pub const fn new(hasher: KeyHasher) -> Self {
        Self(hasher)
    }

    /// What turns keys into digests.
    #[must_use]
    pub const fn hasher(&self) -> &KeyHasher {
        &self.0
    }
}

impl Scheme for Native {
    type Hash = Digest;
    type Range = u64;
    const FOLDS: bool = true;

    #[inline]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> Digest {
        self.0.digest(key)
    }

    #[inline]
    fn hash_each<K: Key>(&self, keys: &[K], hashes: &mut [Digest]) {
        self.0.digest_each(keys, hashes);
    }

    fn range(bits: u64) -> u64 {
        bits
    }

    #[inline(always)]
    fn positions(&self, digest: Digest, bits: u64) -> impl Iterator<Item = u64> + Clone {
        positions_by_steps(digest.get(), second_digest(digest.get()), bits)
    }
}

/// One of the multipliers that Steele and Vigna found to spread tuples of consecutive numbers best; 1 modulo 4.
const MULTIPLIER: u64 = 0xd134_2543_de82_ef95;

/// The positions from a start and a step, whatever they are.
#[inline(always)]
fn positions_by_steps(mut at: u64, step: u64, bits: u64) -> impl Iterator<Item = u64> + Clone {
    let step = step | 1;
    core::iter::from_fn(move || {
        #[allow(clippy::cast_possible_truncation, reason = "the high half of the product is below bits")]
        let position = ((u128::from(at) * u128::from(bits)) >> 64) as u64;
        at = at.wrapping_mul(MULTIPLIER).wrapping_add(step);
        Some(position)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    #[test]
    fn a_zero_even_or_tiny_step_keeps_the_positions_apart() {
        for step in [0, 1, 2, 4, 1 << 20, 1 << 32, 1 << 63, u64::MAX, MULTIPLIER, MULTIPLIER.wrapping_neg()] {
            for start in [0, 1, 1 << 20, 1 << 40, u64::MAX] {
                let positions: BTreeSet<u64> = positions_by_steps(start, step, 1 << 20).take(12).collect();
                assert!(positions.len() >= 11, "step {step:#x} from {start:#x}: {positions:?}");
            }
        }
    }

    #[test]
    fn positions_are_below_the_size_and_reach_all_of_it() {
        for bits in [1u64, 2, 64, 1000, (1 << 33) + 7, 1 << 36] {
            let scheme = Native::default();
            let positions: Vec<u64> = (0..2000u64)
                .flat_map(|key| scheme.positions(scheme.hash(&key), bits).take(7).collect::<Vec<_>>())
                .collect();
            assert!(positions.iter().all(|position| *position < bits));
            let beyond = positions.iter().filter(|position| **position >= bits / 2).count();
            assert!(
                bits == 1 || (beyond > 6_000 && beyond < 8_000),
                "{beyond} of 14000 in the upper half of {bits}"
            );
        }
    }
}
