//! The kernel in plain words: the definition that every other implementation must agree with.

use super::one::one_key;
use super::{Change, Contains, Count, Insert, Layout, OneKey, Question, Remove, Simd};
use crate::bits::{BLOCK_WORDS, Block, Blocks, Line};
use crate::bloom::kernel::{FIRST_DRAW, Regions, second_digest};
use crate::counting::CountingBloom;

one_key!(Portable => Portable);

#[derive(Clone, Copy)]
pub(super) struct Portable;

// Where there are two lines both are looked at whatever the first says: a branch would be mispredicted for every false
// positive of one half, and waiting for the first line before asking for the second takes two trips to memory, not one.

impl Simd for Portable {
    #[inline(always)]
    fn contains<C: Layout, L: Line>(self, regions: Regions<&[L]>, digest: u64) -> bool {
        let found = line_contains::<C, L>(regions.first(digest), digest);
        if !C::TWO {
            return found;
        }
        let digest = second_digest(digest);
        found & line_contains::<C, L>(regions.second(digest), digest)
    }

    #[inline(always)]
    fn count<C: Layout, L: Line>(self, regions: Regions<&[L]>, digest: u64) -> u64 {
        let lowest = lowest::<C>(&look::<C, L>(regions.first(digest), digest));
        if !C::TWO {
            return lowest;
        }
        let digest = second_digest(digest);
        lowest.min(self::lowest::<C>(&look::<C, L>(regions.second(digest), digest)))
    }

    #[inline(always)]
    fn insert<C: Layout>(self, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool {
        let old = raise::<C>(regions.first_mut(digest), digest);
        if !C::TWO {
            return !old;
        }
        let digest = second_digest(digest);
        !(old & raise::<C>(regions.second_mut(digest), digest))
    }

    #[inline(always)]
    fn remove<C: Layout>(self, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool {
        let seen = look::<C, _>(regions.shared().first(digest), digest);
        let mut found = all_above_zero::<C>(&seen);
        let second = second_digest(digest);
        let mut seen_there = Seen::default();
        if C::TWO {
            seen_there = look::<C, _>(regions.shared().second(second), second);
            found &= all_above_zero::<C>(&seen_there);
        }
        // The only branch. Who removes keys that were added takes it always.
        if found {
            lower::<C>(regions.first_mut(digest), &seen);
            if C::TWO {
                lower::<C>(regions.second_mut(second), &seen_there);
            }
        }
        found
    }

    /// Everything is usual here.
    #[inline(always)]
    fn remove_usual<C: Layout>(self, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool {
        self.remove::<C>(regions, digest)
    }

    fn remove_otherwise<C: Layout>(self, _: &mut [Block], _: u64) -> bool {
        false
    }
}

/// One counter of a key.
#[derive(Clone, Copy, Default)]
struct Counter {
    value: u64,
    word: usize,
    shift: u64,
}

/// The counters of a key in a line, as they were when looked at: one for each group; with four groups the rest is unused.
type Seen = [Counter; BLOCK_WORDS];

#[inline(always)]
fn look<C: Layout, L: Line>(line: &L, digest: u64) -> Seen {
    let product = digest.wrapping_mul(FIRST_DRAW);
    let mut seen = Seen::default();
    for (group, counter) in seen.iter_mut().take(C::GROUPS).enumerate() {
        let (word, shift) = place::<C>(product, group);
        *counter = Counter { value: line.word(word) >> shift & C::MAX, word, shift };
    }
    seen
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

#[inline(always)]
fn all_above_zero<C: Layout>(seen: &Seen) -> bool {
    // Without a branch for each, which none of the first few counters of an absent key would let predict.
    seen[..C::GROUPS].iter().fold(true, |all, counter| all & (counter.value != 0))
}

#[inline(always)]
fn lowest<C: Layout>(seen: &Seen) -> u64 {
    seen[..C::GROUPS].iter().fold(C::MAX, |lowest, counter| lowest.min(counter.value))
}

/// Raises the counters in one line, but for stuck ones; true if none of them was zero.
#[inline(always)]
fn raise<C: Layout>(line: &mut Block, digest: u64) -> bool {
    let seen = look::<C, _>(line, digest);
    for counter in &seen[..C::GROUPS] {
        line.0[counter.word] += u64::from(counter.value != C::MAX) << counter.shift;
    }
    all_above_zero::<C>(&seen)
}

/// Lowers the counters, but for stuck ones. All are above zero, and `line` is the line that was looked at, unchanged.
#[inline(always)]
fn lower<C: Layout>(line: &mut Block, seen: &Seen) {
    for counter in &seen[..C::GROUPS] {
        line.0[counter.word] -= u64::from(counter.value != C::MAX) << counter.shift;
    }
}

#[inline(always)]
fn line_contains<C: Layout, L: Line>(line: &L, digest: u64) -> bool {
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
