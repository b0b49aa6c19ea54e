//! The inner loop of the counting filter: from a digest to a line and its counters, and what is done with them.
//!
//! **The recipe** (frozen; `docs/formats.md` has it for other languages). A digest picks its line, or its two lines, as
//! in the blocked filter: ⌊digest · N / 2⁶⁴⌋. Inside the line it picks bits, also as there: the highest bits of the
//! product of the digest and an odd constant choose the first, the next ones the second, and so on. The counters of the
//! key are those that cover these bits. So positions depend neither on N nor on the counters' width, and adding up
//! neighbouring lines gives exactly the smaller filter of the same keys.
//!
//! ```text
//! Eight   product  aaaaaa bbbbbb cccccc …      a: bit of word 0    b: bit of word 1    c: bit of word 2
//! Four    product  Aaaaaaa Bbbbbbb Ccccccc …   A: word 0 or 4, a: bit of it    B: word 1 or 5    C: word 2 or 6
//! ```
//!
//! Pairs are half a line apart so that a vector of words 0 to 3 and one of words 4 to 7 become, by one blend, a vector
//! of the four words that count.
//!
//! The algorithm is written once ([`one`], [`batch`]), generic over [`Simd`], the few operations on a line;
//! [`portable`] and [`avx2`] are its two implementations. The choice of CPU is that of the blocked filter.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod batch;
mod one;
mod portable;

pub(super) use batch::{ApplyBatch, AskBatch, Batch};
pub(super) use one::{Apply, Ask, Change, Contains, Count, Insert, OneKey, Question, Remove};

use super::layout::{CounterLayout, CounterShape, CounterWidth};
use crate::bits::{Block, Line};
use crate::bloom::kernel::Kernel;

/// A layout known at compile time.
pub(super) trait Layout {
    /// Bits of a counter.
    const WIDTH: u32;
    /// One counter in each of four pairs of words, instead of one in each of eight words.
    const IN_PAIRS: bool;
    /// A key has counters in a line of each half.
    const TWO: bool;

    /// The highest number of a counter.
    const MAX: u64 = (1 << Self::WIDTH) - 1;
    /// What turns the place of a bit in its word into the place of the counter that covers it.
    const FIELD: u64 = 64 - Self::WIDTH as u64;
    /// Groups in a line.
    const GROUPS: usize = if Self::IN_PAIRS { 4 } else { 8 };
}

struct Counters<const WIDTH: u32, const IN_PAIRS: bool, const TWO: bool>;

impl<const W: u32, const P: bool, const T: bool> Layout for Counters<W, P, T> {
    const WIDTH: u32 = W;
    const IN_PAIRS: bool = P;
    const TWO: bool = T;
}

/// The layout for rates between 2 % and 10⁻⁴, unless another width is asked for.
type Usual = Counters<4, false, false>;

impl Usual {
    const LAYOUT: CounterLayout = CounterLayout { width: CounterWidth::Four, shape: CounterShape::Eight };
}

/// What is done with one line.
pub(super) trait Simd: Copy {
    /// The counters of a digest, as they were when looked at, and where they are.
    type Seen: Copy;

    /// Looks at the counters of a digest.
    fn look<C: Layout, L: Line>(self, line: &L, digest: u64) -> Self::Seen;
    /// Whether all of them are above zero.
    fn all_above_zero<C: Layout>(self, seen: Self::Seen) -> bool;
    /// The lowest of them.
    fn lowest<C: Layout>(self, seen: Self::Seen) -> u64;
    /// Raises each by one, unless it is stuck. `line` is the line that was looked at, unchanged.
    fn raise<C: Layout>(self, line: &mut Block, seen: Self::Seen);
    /// Lowers each by one, unless it is stuck. All are above zero, and `line` is the line that was looked at, unchanged.
    fn lower<C: Layout>(self, line: &mut Block, seen: Self::Seen);

    /// Looking and [`all_above_zero`](Self::all_above_zero) in one.
    #[inline(always)]
    fn contains<C: Layout, L: Line>(self, line: &L, digest: u64) -> bool {
        self.all_above_zero::<C>(self.look::<C, L>(line, digest))
    }

    /// Lowers the counters of a digest, unless one of them is zero; true if none is.
    #[inline(always)]
    fn remove<C: Layout>(self, line: &mut Block, digest: u64) -> bool {
        remove_step_by_step::<_, C>(self, line, digest)
    }
}

#[inline(always)]
fn remove_step_by_step<V: Simd, C: Layout>(simd: V, line: &mut Block, digest: u64) -> bool {
    let seen = simd.look::<C, _>(line, digest);
    let found = simd.all_above_zero::<C>(seen);
    // The only branch. Who removes keys that were added takes it always.
    if found {
        simd.lower::<C>(line, seen);
    }
    found
}

/// Does something with one key.
#[inline(always)]
pub(super) fn one<O: OneKey>(
    kernel: Kernel,
    layout: CounterLayout,
    blocks: O::Blocks,
    digest: u64,
) -> O::Answer {
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(proof) => avx2::one::<O>(proof, layout, blocks, digest),
        Kernel::Portable => portable::one::<O>(layout, blocks, digest),
    }
}

/// Does something with many.
#[inline(always)]
pub(super) fn batch(kernel: Kernel, layout: CounterLayout, batch: impl Batch) {
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(proof) => avx2::batch(proof, layout, batch),
        Kernel::Portable => batch_layout(portable::Portable, layout, batch),
    }
}

/// Calls `$call::<…, Counters<…>>` for the layout at hand: one compiled copy for each.
macro_rules! for_layout {
    ($layout:expr, $counters:ident => $call:expr) => {
        for_layout!(@widths $layout, $counters => $call,
            (CounterShape::Four, true, false),
            (CounterShape::Eight, false, false),
            (CounterShape::EightTwoLines, true, true),
            (CounterShape::SixteenTwoLines, false, true))
    };
    (@widths $layout:expr, $counters:ident => $call:expr, $(($shape:path, $pairs:literal, $two:literal)),*) => {
        match ($layout.width, $layout.shape) {
            $((CounterWidth::Four, $shape) => { type $counters = Counters<4, $pairs, $two>; $call })*
            $((CounterWidth::Eight, $shape) => { type $counters = Counters<8, $pairs, $two>; $call })*
            $((CounterWidth::Sixteen, $shape) => { type $counters = Counters<16, $pairs, $two>; $call })*
        }
    };
}

#[inline(always)]
fn one_layout<V: Simd, O: OneKey>(
    simd: V,
    layout: CounterLayout,
    blocks: O::Blocks,
    digest: u64,
) -> O::Answer {
    for_layout!(layout, C => O::run::<V, C>(simd, blocks, digest))
}

#[inline(always)]
fn batch_layout<V: Simd>(simd: V, layout: CounterLayout, batch: impl Batch) {
    for_layout!(layout, C => batch.run::<V, C>(simd));
}

#[cfg(test)]
mod tests;
