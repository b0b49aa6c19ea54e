//! The recipe from a key to bit positions.

use core::fmt;

use super::kernel::{FIRST_DRAW, second_digest};
use crate::hash::{Digest, Key, KeyHasher};

/// A frozen recipe: how a key is hashed, and which of m bits its hash means.
///
/// A recipe is part of a filter's type, so the bits of two recipes can't be merged by mistake. Once published a recipe
/// never changes; new behaviour is a new recipe.
pub trait Scheme: Clone + PartialEq + fmt::Debug {
    /// What a key is reduced to: 64 bits here, 32 in LevelDB's recipe, 128 in Guava's.
    type Hash: Copy;

    /// Whether dividing a position in m bits by d gives the position in m/d bits, so that filters can be folded.
    const FOLDS: bool = false;

    /// The hash of a key.
    fn hash<K: Key + ?Sized>(&self, key: &K) -> Self::Hash;

    /// The `hashes` positions of a hash, each below `bits`, which is above 0.
    fn positions(&self, hash: Self::Hash, hashes: u32, bits: u64) -> impl Iterator<Item = u64>;
}

/// mayhap's own recipe: double hashing on 64 bits that can't degenerate.
///
/// Plain double hashing takes positions x, x + d, x + 2d …; when the step d is zero, or too small to reach the next
/// position, all of them fall together and the key is one bit. Here the step itself grows, by multiples 1, 2, 3 … of a
/// large odd constant g = 2⁶⁴/φ ("enhanced" double hashing), so that no step stays small:
///
/// ```text
/// x₀ = digest              d₀ = rotate(digest, 32) · constant
/// xᵢ₊₁ = xᵢ + dᵢ           dᵢ₊₁ = dᵢ + (i + 1) · g              position i = ⌊xᵢ · m / 2⁶⁴⌋
/// ```
///
/// Growth by g alone would not do: the positions are then a parabola in i, and for d₀ = -j·g its two arms coincide,
/// which halves the bits of the key. A cubic has no such axis.
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
    const FOLDS: bool = true;

    #[inline]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> Digest {
        self.0.digest(key)
    }

    #[inline(always)]
    fn positions(&self, digest: Digest, hashes: u32, bits: u64) -> impl Iterator<Item = u64> {
        positions_by_steps(digest.get(), second_digest(digest.get()), hashes, bits)
    }
}

/// The positions from a start and a first step, whatever they are.
#[inline(always)]
fn positions_by_steps(mut at: u64, mut step: u64, hashes: u32, bits: u64) -> impl Iterator<Item = u64> {
    let mut growth = FIRST_DRAW;
    (0..hashes).map(move |_| {
        #[allow(clippy::cast_possible_truncation, reason = "the high half of the product is below bits")]
        let position = ((u128::from(at) * u128::from(bits)) >> 64) as u64;
        at = at.wrapping_add(step);
        step = step.wrapping_add(growth);
        growth = growth.wrapping_add(FIRST_DRAW);
        position
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    #[test]
    fn a_zero_even_or_tiny_step_keeps_the_positions_apart() {
        let unlucky = (0..100).map(|times| FIRST_DRAW.wrapping_mul(times).wrapping_neg());
        for step in [1, 2, 4, 1 << 20, 1 << 32, 1 << 63, u64::MAX].into_iter().chain(unlucky) {
            for start in [0, 1, 1 << 40, u64::MAX] {
                let positions: BTreeSet<u64> = positions_by_steps(start, step, 12, 1 << 20).collect();
                assert!(positions.len() >= 10, "step {step:#x} from {start:#x}: {positions:?}");
            }
        }
    }

    #[test]
    fn positions_are_below_the_size_and_reach_all_of_it() {
        for bits in [1u64, 2, 64, 1000, (1 << 33) + 7, 1 << 36] {
            let scheme = Native::default();
            let positions: Vec<u64> = (0..2000u64)
                .flat_map(|key| scheme.positions(scheme.hash(&key), 7, bits).collect::<Vec<_>>())
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
