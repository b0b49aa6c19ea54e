//! The kernel in plain words: the definition that every other implementation must agree with.

use super::{Layout, OneKey, Simd, one_layout};
use crate::bits::{BLOCK_WORDS, Block, Line};
use crate::bloom::kernel::FIRST_DRAW;
use crate::counting::layout::CounterLayout;

#[derive(Clone, Copy)]
pub(super) struct Portable;

/// One counter of a key.
#[derive(Clone, Copy, Default)]
pub(in crate::counting) struct Counter {
    value: u64,
    word: usize,
    shift: u64,
}

impl Simd for Portable {
    /// One for each group; with four groups the rest is unused.
    type Seen = [Counter; BLOCK_WORDS];

    #[inline(always)]
    fn look<C: Layout, L: Line>(self, line: &L, digest: u64) -> Self::Seen {
        let product = digest.wrapping_mul(FIRST_DRAW);
        let mut seen = [Counter::default(); BLOCK_WORDS];
        for (group, counter) in seen.iter_mut().take(C::GROUPS).enumerate() {
            let (word, shift) = place::<C>(product, group);
            *counter = Counter { value: line.word(word) >> shift & C::MAX, word, shift };
        }
        seen
    }

    #[inline(always)]
    fn all_above_zero<C: Layout>(self, seen: Self::Seen) -> bool {
        // Without a branch for each, which none of the first few counters of an absent key would let predict.
        seen[..C::GROUPS].iter().fold(true, |all, counter| all & (counter.value != 0))
    }

    #[inline(always)]
    fn lowest<C: Layout>(self, seen: Self::Seen) -> u64 {
        seen[..C::GROUPS].iter().fold(C::MAX, |lowest, counter| lowest.min(counter.value))
    }

    #[inline(always)]
    fn raise<C: Layout>(self, line: &mut Block, seen: Self::Seen) {
        for counter in &seen[..C::GROUPS] {
            line.0[counter.word] += u64::from(counter.value != C::MAX) << counter.shift;
        }
    }

    #[inline(always)]
    fn lower<C: Layout>(self, line: &mut Block, seen: Self::Seen) {
        for counter in &seen[..C::GROUPS] {
            line.0[counter.word] -= u64::from(counter.value != C::MAX) << counter.shift;
        }
    }

    #[inline(always)]
    fn contains<C: Layout, L: Line>(self, line: &L, digest: u64) -> bool {
        let product = digest.wrapping_mul(FIRST_DRAW);
        let above_zero = |group| {
            let (word, shift) = place::<C>(product, group);
            line.word(word) >> shift & C::MAX != 0
        };
        // Most absent keys are known by half of their counters. The branch is taken for nearly all of them, and for no
        // member, so it is predicted well.
        (0..C::GROUPS / 2).fold(true, |all, group| all & above_zero(group))
            && (C::GROUPS / 2..C::GROUPS).fold(true, |all, group| all & above_zero(group))
    }
}

/// The word of a group's counter, and the counter's place in it.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "one bit")]
fn place<C: Layout>(product: u64, group: usize) -> (usize, u64) {
    if C::IN_PAIRS {
        let drawn = product >> (57 - 7 * group);
        (group + 4 * (drawn >> 6 & 1) as usize, drawn & C::FIELD)
    } else {
        (group, product >> (58 - 6 * group) & C::FIELD)
    }
}

/// Out of line where AVX2 is the common way, so that callers inline one path only.
#[cfg_attr(all(feature = "std", target_arch = "x86_64"), inline(never))]
#[cfg_attr(not(all(feature = "std", target_arch = "x86_64")), inline(always))]
pub(super) fn one<O: OneKey>(layout: CounterLayout, blocks: O::Blocks, digest: u64) -> O::Answer {
    one_layout::<_, O>(Portable, layout, blocks, digest)
}
