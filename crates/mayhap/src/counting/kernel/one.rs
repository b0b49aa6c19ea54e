//! What is done with one key: questions and changes.

use core::marker::PhantomData;

use super::{Layout, Simd};
use crate::bits::{Block, Line};
use crate::bloom::kernel::{Regions, second_digest};

/// A question about a key.
pub(in crate::counting) trait Question {
    type Answer;
    fn ask<V: Simd, C: Layout, L: Line>(simd: V, regions: Regions<&[L]>, digest: u64) -> Self::Answer;
}

/// Whether the key may be there.
pub(in crate::counting) struct Contains;

/// How often the key is there, at most.
pub(in crate::counting) struct Count;

/// A change to the counters of a key.
pub(in crate::counting) trait Change {
    fn apply<V: Simd, C: Layout>(simd: V, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool;
}

/// Adds the key; true if it was new.
pub(in crate::counting) struct Insert;

/// Removes the key; false if it certainly wasn't there.
pub(in crate::counting) struct Remove;

// Where there are two lines both are looked at whatever the first says: a branch would be mispredicted for every false
// positive of one half, and waiting for the first line before asking for the second takes two trips to memory, not one.

impl Question for Contains {
    type Answer = bool;
    #[inline(always)]
    fn ask<V: Simd, C: Layout, L: Line>(simd: V, regions: Regions<&[L]>, digest: u64) -> bool {
        let found = simd.contains::<C, L>(regions.first(digest), digest);
        if !C::TWO {
            return found;
        }
        let digest = second_digest(digest);
        found & simd.contains::<C, L>(regions.second(digest), digest)
    }
}

impl Question for Count {
    type Answer = u64;
    #[inline(always)]
    fn ask<V: Simd, C: Layout, L: Line>(simd: V, regions: Regions<&[L]>, digest: u64) -> u64 {
        let count = simd.lowest::<C>(simd.look::<C, L>(regions.first(digest), digest));
        if !C::TWO {
            return count;
        }
        let digest = second_digest(digest);
        count.min(simd.lowest::<C>(simd.look::<C, L>(regions.second(digest), digest)))
    }
}

impl Change for Insert {
    #[inline(always)]
    fn apply<V: Simd, C: Layout>(simd: V, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool {
        let old = insert_line::<V, C>(simd, regions.first_mut(digest), digest);
        if !C::TWO {
            return !old;
        }
        let digest = second_digest(digest);
        let old_there = insert_line::<V, C>(simd, regions.second_mut(digest), digest);
        !(old & old_there)
    }
}

/// Raises the counters in one line; true if none of them was zero.
#[inline(always)]
fn insert_line<V: Simd, C: Layout>(simd: V, line: &mut Block, digest: u64) -> bool {
    let seen = simd.look::<C, _>(line, digest);
    simd.raise::<C>(line, seen);
    simd.all_above_zero::<C>(seen)
}

impl Change for Remove {
    #[inline(always)]
    fn apply<V: Simd, C: Layout>(simd: V, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool {
        if !C::TWO {
            return simd.remove::<C>(regions.first_mut(digest), digest);
        }
        let seen = simd.look::<C, _>(regions.shared().first(digest), digest);
        let found = simd.all_above_zero::<C>(seen);
        let second = second_digest(digest);
        let seen_there = simd.look::<C, _>(regions.shared().second(second), second);
        let found = found & simd.all_above_zero::<C>(seen_there);
        if found {
            simd.lower::<C>(regions.first_mut(digest), seen);
            simd.lower::<C>(regions.second_mut(second), seen_there);
        }
        found
    }
}

/// Something done with one key, to be compiled for each [`Simd`] and each layout.
///
/// Not a value but a function: its arguments travel in registers through the one call that can't be inlined, from a
/// baseline caller into AVX2 code.
pub(in crate::counting) trait OneKey {
    type Blocks;
    type Answer;
    fn run<V: Simd, C: Layout>(simd: V, blocks: Self::Blocks, digest: u64) -> Self::Answer;
}

/// Asks a question.
pub(in crate::counting) struct Ask<'a, L, Q>(PhantomData<(&'a L, Q)>);

impl<'a, L: Line, Q: Question> OneKey for Ask<'a, L, Q> {
    type Blocks = &'a [L];
    type Answer = Q::Answer;
    #[inline(always)]
    fn run<V: Simd, C: Layout>(simd: V, lines: &'a [L], digest: u64) -> Q::Answer {
        Q::ask::<V, C, L>(simd, Regions::new(lines, C::TWO), digest)
    }
}

/// Makes a change.
pub(in crate::counting) struct Apply<'a, H>(PhantomData<(&'a mut Block, H)>);

impl<'a, H: Change> OneKey for Apply<'a, H> {
    type Blocks = &'a mut [Block];
    type Answer = bool;
    #[inline(always)]
    fn run<V: Simd, C: Layout>(simd: V, blocks: &'a mut [Block], digest: u64) -> bool {
        H::apply::<V, C>(simd, &mut Regions::new_mut(blocks, C::TWO), digest)
    }
}
