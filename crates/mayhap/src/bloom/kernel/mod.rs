//! The inner loop of the blocked filter: from a digest to a block and a mask, and the mask against the block.
//!
//! **The recipe** (frozen; `docs/formats.md` has it for other languages). With N blocks a digest picks block
//! ⌊digest · N / 2⁶⁴⌋. Inside the block its positions come from the product of the digest and an odd constant: the
//! highest bits of the product choose the first position, the next ones the second, and so on. They don't depend on N,
//! so OR-ing neighbouring blocks gives exactly the smaller filter of the same keys ("folding").
//!
//! The algorithm is written once, generic over [`Simd`], the few operations on a block; [`portable`], [`avx2`] and
//! [`avx512`] are its implementations, and [`Kernel`] the choice between them, made once per filter. [`one`] has what is done with
//! a single key, [`batch`] what is done with many, of which questions are in [`ask`].

mod ask;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
mod batch;
mod one;
mod portable;

pub(crate) use ask::{LineQuestion, ask_each};
#[cfg(feature = "std")]
pub(crate) use batch::FillPart;
pub(crate) use batch::{Answers, Batch, ContainsBatch, InsertBatch, Keys, SharedBatch, Source, Unasked};
pub(crate) use batch::{GROUP, Pace, Parted, Step, count_true, in_groups};
#[cfg(feature = "std")]
pub(crate) use one::SharedSetLocked;
pub(crate) use one::{Contains, Insert, OneKey, Parts, SharedInsert, SharedSet};

use super::shape::Shape;
use crate::bits::{AtomicBlock, BLOCK_WORDS, Block, Line, prefetch_line};
#[cfg(target_arch = "x86_64")]
use crate::cpu::Avx2;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
use crate::hash::fetch_following;
use crate::hash::{Digester, Key};
#[cfg(target_arch = "x86_64")]
use crate::hash::{MediumKey, eight_made_bytes, holds_its_bytes};

/// 2⁶⁴ / φ, odd: the multiplier of the first (or only) position in each group.
pub(crate) const FIRST_DRAW: u64 = 0x9e37_79b9_7f4a_7c15;
/// The multiplier of the second position in each group. An odd constant with no small relation to the first.
pub(crate) const SECOND_DRAW: u64 = 0xd1b5_4a32_d192_ed03;
/// The multiplier that makes the digest of the second line.
pub(crate) const SECOND_LINE: u64 = 0xaef1_7502_108e_f2d9;

/// The digest by which a key of two lines finds its place in the second half of the filter.
///
/// The rotation brings the low half, which had no say in the first line's block, to the top.
#[inline(always)]
pub(crate) fn second_digest(digest: u64) -> u64 {
    digest.rotate_left(32).wrapping_mul(SECOND_LINE)
}

/// ⌊digest · count / 2⁶⁴⌋: an even spread over 0..count without division. Always below `count`.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the high half of the product is below count, a usize")]
pub(crate) fn fast_range(digest: u64, count: usize) -> usize {
    ((u128::from(digest) * count as u128) >> 64) as usize
}

/// Bits drawn in one block for one digest.
pub(crate) trait Draw {
    /// One of 128 bits in each of four pairs of words, instead of one of 64 in each of eight words.
    const IN_PAIRS: bool;
    /// A second draw in each group.
    const TWICE: bool;
    /// Groups in a block.
    const GROUPS: usize = if Self::IN_PAIRS { 4 } else { 8 };
}

pub(crate) struct Four;
pub(crate) struct Eight;
pub(crate) struct Sixteen;

impl Draw for Four {
    const IN_PAIRS: bool = true;
    const TWICE: bool = false;
}
impl Draw for Eight {
    const IN_PAIRS: bool = false;
    const TWICE: bool = false;
}
impl Draw for Sixteen {
    const IN_PAIRS: bool = false;
    const TWICE: bool = true;
}

/// What is done with one block. `D` says which bits of it a digest means.
pub(crate) trait Simd: Copy {
    /// Whether the block has all bits of the digest.
    fn contains<D: Draw, L: Line>(self, line: &L, digest: u64) -> bool;
    /// Sets the bits of the digest; true if any was unset.
    fn insert<D: Draw>(self, block: &mut Block, digest: u64) -> bool;
    /// [`insert`](Self::insert), for a caller that is the only one to write to the block, while others read it.
    fn insert_alone<D: Draw>(self, block: &AtomicBlock, digest: u64) -> bool;
    /// The bits of the digest.
    fn mask<D: Draw>(self, digest: u64) -> [u64; BLOCK_WORDS];
}

/// The blocks of a filter, as one or two regions of which each holds one line of every key.
///
/// Picking a block is without a bounds check. What makes that sound is established by `new`: there is at least one
/// block, and with two regions an even number of them.
#[derive(Clone, Copy)]
pub(crate) struct Regions<T> {
    start: T,
    /// Blocks in one region.
    count: usize,
}

impl<'a, L: Line> Regions<&'a [L]> {
    #[inline(always)]
    pub(crate) fn new(lines: &'a [L], two: bool) -> Self {
        debug_assert!(lines.len() > usize::from(two), "a filter has a block for every line");
        debug_assert!(!two || lines.len().is_multiple_of(2), "two lines need two equal halves");
        Self { start: lines, count: lines.len() >> u32::from(two) }
    }

    /// Each of two regions by itself.
    #[inline(always)]
    pub(crate) fn halves(self) -> [Self; 2] {
        let (first, second) = self.start.split_at(self.count);
        [Self::new(first, false), Self::new(second, false)]
    }

    /// Starts loading the lines of a digest.
    #[inline(always)]
    pub(crate) fn prefetch(self, two: bool, digest: u64) {
        prefetch_line(self.first(digest));
        if two {
            prefetch_line(self.second(second_digest(digest)));
        }
    }

    /// The number of the line in the first region.
    #[inline(always)]
    pub(crate) fn first_place(self, digest: u64) -> usize {
        fast_range(digest, self.count)
    }

    /// The number of the line in the second region.
    #[inline(always)]
    pub(crate) fn second_place(self, second_digest: u64) -> usize {
        self.count + fast_range(second_digest, self.count)
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) fn first(self, digest: u64) -> &'a L {
        // SAFETY: `fast_range` is below `count`, and `count` is at most the number of lines, which is above zero.
        unsafe { self.start.get_unchecked(self.first_place(digest)) }
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) fn second(self, second_digest: u64) -> &'a L {
        // SAFETY: as in `first`; with two regions there are 2 · count lines, and the index is below that.
        unsafe { self.start.get_unchecked(self.second_place(second_digest)) }
    }
}

impl<'a> Regions<&'a mut [Block]> {
    #[inline(always)]
    pub(crate) fn new_mut(blocks: &'a mut [Block], two: bool) -> Self {
        let count = Regions::new(&*blocks, two).count;
        Self { start: blocks, count }
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) fn first_mut(&mut self, digest: u64) -> &mut Block {
        // SAFETY: as in `Regions::first`.
        unsafe { self.start.get_unchecked_mut(fast_range(digest, self.count)) }
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) fn second_mut(&mut self, second_digest: u64) -> &mut Block {
        // SAFETY: as in `Regions::second`.
        unsafe { self.start.get_unchecked_mut(self.count + fast_range(second_digest, self.count)) }
    }

    /// Both lines of a key, to be changed together.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) fn both_mut(&mut self, digest: u64, second_digest: u64) -> (&mut Block, &mut Block) {
        // SAFETY: two regions of `count` blocks are all the blocks; in each of them the place is below `count`.
        unsafe {
            let (first, second) = self.start.split_at_mut_unchecked(self.count);
            let place = |digest| fast_range(digest, self.count);
            (first.get_unchecked_mut(place(digest)), second.get_unchecked_mut(place(second_digest)))
        }
    }

    /// All blocks.
    #[inline(always)]
    pub(crate) fn blocks(&mut self) -> &mut [Block] {
        self.start
    }

    #[inline(always)]
    pub(crate) fn shared(&self) -> Regions<&[Block]> {
        Regions { start: self.start, count: self.count }
    }
}

/// Which implementation a filter uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
}

impl Kernel {
    /// The fastest this CPU has.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = Avx2::detect() {
            return Self::Avx2(avx2);
        }
        Self::Portable
    }

    /// Every one that this CPU can run.
    #[cfg(test)]
    pub(crate) fn all() -> std::vec::Vec<Self> {
        let mut kernels = std::vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = Avx2::detect() {
            kernels.extend([Some(avx2), avx2.by_itself()].into_iter().flatten().map(Self::Avx2));
        }
        kernels
    }

    /// Does something with one key, and hashes it first.
    #[inline(always)]
    pub(crate) fn one_key<'a, P: Parts<'a>, K: Key + ?Sized>(self, shape: Shape, filter: P, key: &K) -> bool {
        // Keys under the default hash and in the most common shape are hashed on the far side of the one call that
        // can't be inlined. All it needs hangs on one pointer, so it has registers to spare and saves none.
        #[cfg(target_arch = "x86_64")]
        if let Self::Avx2(avx2) = self
            && shape == Shape::Eight
            && filter.hasher().as_xxh3().is_some()
        {
            if let Some(key) = eight_made_bytes(key) {
                return avx2.one_eight_bytes(filter, key);
            }
            if holds_its_bytes::<K>()
                && let Some(key) = MediumKey::new(key.key_bytes().as_ref())
            {
                #[cfg(feature = "std")]
                fetch_following(key.bytes());
                return avx2.one_medium(filter, key);
            }
        }
        self.any_key(shape, filter, key)
    }

    /// [`one_key`](Self::one_key) whatever the key, the hash and the shape are. Out of line where there is a shorter way,
    /// so that the loops of callers are small enough to be compiled once for each way.
    #[cfg_attr(all(feature = "std", target_arch = "x86_64", not(target_feature = "avx2")), inline(never))]
    #[cfg_attr(not(all(feature = "std", target_arch = "x86_64", not(target_feature = "avx2"))), inline)]
    fn any_key<'a, P: Parts<'a>, K: Key + ?Sized>(self, shape: Shape, filter: P, key: &K) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(avx2) => avx2.any_key(shape, filter, key),
            Self::Portable => any_key(portable::Portable, shape, filter, key),
        }
    }

    /// Does something with one digest.
    #[inline(always)]
    pub(crate) fn one<O: OneKey>(self, shape: Shape, blocks: O::Blocks, digest: u64) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(avx2) => avx2.one::<O>(shape, blocks, digest),
            Self::Portable => portable::one::<O>(shape, blocks, digest),
        }
    }

    /// Does something with many.
    #[inline(always)]
    pub(crate) fn batch(self, shape: Shape, batch: impl Batch) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(avx2) => avx2.batch(shape, batch),
            Self::Portable => batch_shape(portable::Portable, shape, batch),
        }
    }
}

/// Does something with one key, whatever the key, the hash and the shape are.
#[inline(always)]
fn any_key<'a, V: Simd, P: Parts<'a>, K: Key + ?Sized>(simd: V, shape: Shape, filter: P, key: &K) -> bool {
    let digest = filter.hasher().digest_bytes(key.key_bytes().as_ref());
    one_shape::<V, P::Work>(simd, shape, filter.blocks(), digest.get())
}

#[inline(always)]
fn one_shape<V: Simd, O: OneKey>(simd: V, shape: Shape, blocks: O::Blocks, digest: u64) -> bool {
    match shape {
        Shape::Four => O::run::<V, Four, false>(simd, blocks, digest),
        Shape::Eight => O::run::<V, Eight, false>(simd, blocks, digest),
        Shape::Sixteen => O::run::<V, Sixteen, false>(simd, blocks, digest),
        Shape::SixteenTwoLines => O::run::<V, Eight, true>(simd, blocks, digest),
    }
}

#[inline(always)]
fn batch_shape<V: Simd>(simd: V, shape: Shape, batch: impl Batch) {
    match shape {
        Shape::Four => batch.run::<V, Four, false>(simd),
        Shape::Eight => batch.run::<V, Eight, false>(simd),
        Shape::Sixteen => batch.run::<V, Sixteen, false>(simd),
        Shape::SixteenTwoLines => batch.run::<V, Eight, true>(simd),
    }
}

#[cfg(test)]
mod tests;
