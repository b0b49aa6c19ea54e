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
//! [`Simd`] is what can be done with the counters of a digest; [`portable`], [`avx2`] and [`avx512`] are its implementations.
//! [`one`] and [`batch`] bring it to one key and to many. The choice of CPU is that of the blocked filter.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod batch;
mod one;
mod portable;

pub(super) use batch::{ApplyBatch, AskBatch, Batch};
pub(super) use one::{Change, Contains, Count, Insert, OneKey, Question, Remove};

use super::layout::{CounterLayout, CounterShape, CounterWidth};
use crate::bits::{Block, Blocks, Line};
use crate::bloom::kernel::{Kernel, Regions};
use crate::cpu::Work;
use crate::hash::KeyHasher;

/// A layout known at compile time.
pub(super) trait Layout {
    /// Bits of a counter.
    const WIDTH: u32;
    /// One counter in each of four pairs of words, instead of one in each of eight words.
    const IN_PAIRS: bool;
    /// A key has counters in a line of each half.
    const TWO: bool;
    /// The same in one line.
    type OneLine: Layout;

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
    type OneLine = Counters<W, P, false>;
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

/// What is done with one key, whose counters are in one line or, in two regions, in two.
pub(super) trait Simd: Copy {
    /// Whether all counters of the digest are above zero.
    fn contains<C: Layout, L: Line>(self, regions: Regions<&[L]>, digest: u64) -> bool;
    /// The lowest of them.
    fn count<C: Layout, L: Line>(self, regions: Regions<&[L]>, digest: u64) -> u64;
    /// Raises each by one, unless it is stuck; true if one of them was zero.
    fn insert<C: Layout>(self, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool;
    /// Lowers each by one, unless it is stuck; but none if one of them is zero, and then the answer is false.
    #[inline(always)]
    fn remove<C: Layout>(self, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool {
        self.remove_usual::<C>(regions, digest) || self.remove_otherwise::<C>(regions.blocks(), digest)
    }
    /// Lowers each by one if none of them is stuck or zero, and else does nothing, and says false.
    fn remove_usual<C: Layout>(self, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool;
    /// [`remove`](Self::remove) after that. Out of the way of what is usual.
    fn remove_otherwise<C: Layout>(self, blocks: &mut [Block], digest: u64) -> bool;
}

/// Chooses what is done with one key.
pub(super) fn one_key<S: Blocks>(kernel: Kernel, layout: CounterLayout, hasher: &KeyHasher) -> OneKey<S> {
    let one_key = match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(proof) => match proof.avx512() {
            Some(proof) => for_layout!(layout, C => avx512::one_key::<C, S>(proof)),
            None => for_layout!(layout, C => avx2::one_key::<C, S>(proof)),
        },
        Kernel::Portable => for_layout!(layout, C => portable::one_key::<C, S>(portable::Portable)),
    };
    if hasher.as_xxh3().is_some() { one_key } else { one_key.by_another_hash() }
}

/// Does something with many.
#[inline(always)]
pub(super) fn batch(kernel: Kernel, layout: CounterLayout, batch: impl Batch) {
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(proof) => match proof.avx512() {
            Some(proof) => proof.run(OfLayout { simd: avx512::WideLanes::by(proof), layout, batch }),
            None => proof.run_without_avx512(OfLayout { simd: avx2::Lanes::by(proof), layout, batch }),
        },
        Kernel::Portable => OfLayout { simd: portable::Portable, layout, batch }.run(),
    }
}

/// A batch on the counters of a filter.
struct OfLayout<V, B> {
    simd: V,
    layout: CounterLayout,
    batch: B,
}

impl<V: Simd, B: Batch> Work for OfLayout<V, B> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for_layout!(self.layout, C => self.batch.run::<V, C>(self.simd));
    }
}

#[cfg(test)]
mod tests;
