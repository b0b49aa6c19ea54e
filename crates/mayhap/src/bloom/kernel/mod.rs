//! The inner loop of the blocked filter: from a digest to a block and a mask, and the mask against the block.
//!
//! **The recipe** (frozen; `docs/formats.md` has it for other languages). With N blocks a digest picks block
//! ⌊digest · N / 2⁶⁴⌋. Inside the block its positions come from the product of the digest and an odd constant: the
//! highest bits of the product choose the first position, the next ones the second, and so on. They don't depend on N,
//! so OR-ing neighbouring blocks gives exactly the smaller filter of the same keys ("folding").
//!
//! The algorithm is written once, generic over [`Simd`], the few operations on a mask; [`portable`] and [`avx2`] are
//! its two implementations, and [`Kernel`] the choice between them, made once per filter.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

use super::shape::Shape;
use crate::bits::{
    AtomicBlock, BLOCK_WORDS, Block, Line, Stripes, Target, insert_exactly_once, prefetch_read, prefetch_write,
};
use core::marker::PhantomData;

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

/// What a CPU can do with a block-wide mask.
pub(crate) trait Simd: Copy {
    type Mask: Copy;
    /// The bits of a digest inside its block.
    fn mask<D: Draw>(self, digest: u64) -> Self::Mask;
    /// Whether the block has all bits of the mask.
    fn covers<L: Line>(self, line: &L, mask: Self::Mask) -> bool;
    /// Sets the bits of the mask; true if any was unset.
    fn set(self, block: &mut Block, mask: Self::Mask) -> bool;
    /// The mask as plain words.
    fn words(self, mask: Self::Mask) -> [u64; BLOCK_WORDS];
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
        debug_assert!(lines.len() >= 1 + usize::from(two), "a filter has a block for every line");
        debug_assert!(!two || lines.len().is_multiple_of(2), "two lines need two equal halves");
        Self { start: lines, count: lines.len() >> u32::from(two) }
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn first(self, digest: u64) -> &'a L {
        // SAFETY: `fast_range` is below `count`, and `count` is at most the number of lines, which is above zero.
        unsafe { self.start.get_unchecked(fast_range(digest, self.count)) }
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn second(self, second_digest: u64) -> &'a L {
        // SAFETY: as in `first`; with two regions there are 2 · count lines, and the index is below that.
        unsafe { self.start.get_unchecked(self.count + fast_range(second_digest, self.count)) }
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
    fn first_mut(&mut self, digest: u64) -> &mut Block {
        // SAFETY: as in `Regions::first`.
        unsafe { self.start.get_unchecked_mut(fast_range(digest, self.count)) }
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn second_mut(&mut self, second_digest: u64) -> &mut Block {
        // SAFETY: as in `Regions::second`.
        unsafe { self.start.get_unchecked_mut(self.count + fast_range(second_digest, self.count)) }
    }

    #[inline(always)]
    fn shared(&self) -> Regions<&[Block]> {
        Regions { start: self.start, count: self.count }
    }
}

#[inline(always)]
fn contains_one<V: Simd, D: Draw, const TWO: bool, L: Line>(simd: V, regions: Regions<&[L]>, digest: u64) -> bool {
    let found = simd.covers(regions.first(digest), simd.mask::<D>(digest));
    if !TWO {
        return found;
    }
    // Both lines are asked whatever the first says: a branch here is mispredicted for every false positive of one
    // half, and waiting for the first line before asking for the second would take two trips to memory, not one.
    let digest = second_digest(digest);
    found & simd.covers(regions.second(digest), simd.mask::<D>(digest))
}

#[inline(always)]
fn insert_one<V: Simd, D: Draw, const TWO: bool>(
    simd: V,
    regions: &mut Regions<&mut [Block]>,
    digest: u64,
) -> bool {
    let new = simd.set(regions.first_mut(digest), simd.mask::<D>(digest));
    if !TWO {
        return new;
    }
    let digest = second_digest(digest);
    simd.set(regions.second_mut(digest), simd.mask::<D>(digest)) | new
}

#[inline(always)]
fn prefetch_one<const TWO: bool, L: Line>(
    regions: Regions<&[L]>,
    digest: u64,
    prefetch: impl Fn(&L),
) {
    prefetch(regions.first(digest));
    if TWO {
        prefetch(regions.second(second_digest(digest)));
    }
}

/// A key's bits in shared blocks.
struct SharedTarget<'a, V: Simd, D: Draw, const TWO: bool> {
    simd: V,
    regions: Regions<&'a [AtomicBlock]>,
    digest: u64,
    draw: PhantomData<D>,
}

impl<'a, V: Simd, D: Draw, const TWO: bool> SharedTarget<'a, V, D, TWO> {
    #[inline(always)]
    fn new(simd: V, regions: Regions<&'a [AtomicBlock]>, digest: u64) -> Self {
        Self { simd, regions, digest, draw: PhantomData }
    }
}

impl<V: Simd, D: Draw, const TWO: bool> Target for SharedTarget<'_, V, D, TWO> {
    #[inline(always)]
    fn is_set(&self) -> bool {
        contains_one::<V, D, TWO, _>(self.simd, self.regions, self.digest)
    }

    #[inline(always)]
    fn set(&self) {
        self.regions.first(self.digest).or(&self.simd.words(self.simd.mask::<D>(self.digest)));
        if TWO {
            let digest = second_digest(self.digest);
            self.regions.second(digest).or(&self.simd.words(self.simd.mask::<D>(digest)));
        }
    }
}

/// How far ahead of the probe its line is asked for. Far enough to cover a trip to memory at 3 to 5 ns per key, and
/// not more lines than a core can have under way.
const AHEAD: usize = 24;

/// A filter below this size answers from the core's own cache, where a prefetch is one more instruction and no gain.
const PREFETCH_FROM_BYTES: usize = 1 << 20;

#[inline(always)]
fn wants_prefetch(blocks: usize) -> bool {
    blocks >= PREFETCH_FROM_BYTES / size_of::<Block>()
}

/// Runs `probe` on the digests of a batch, each some time after `prefetch`.
///
/// A ring of digests keeps hashing, prefetching and probing in one steady flow: in groups, each group would wait for
/// its last line before the next one asks for its first.
#[inline(always)]
fn pipelined<B>(
    blocks: &mut B,
    len: usize,
    ahead: bool,
    mut digest_at: impl FnMut(usize) -> u64,
    prefetch: impl Fn(&B, u64),
    mut probe: impl FnMut(&mut B, usize, u64),
) {
    if !ahead || len <= AHEAD {
        for i in 0..len {
            probe(blocks, i, digest_at(i));
        }
        return;
    }
    let mut ring = [0; AHEAD];
    for (i, slot) in ring.iter_mut().enumerate() {
        *slot = digest_at(i);
        prefetch(blocks, *slot);
    }
    let mut at = 0;
    for i in 0..len - AHEAD {
        let next = digest_at(i + AHEAD);
        prefetch(blocks, next);
        probe(blocks, i, core::mem::replace(&mut ring[at], next));
        at = if at + 1 == AHEAD { 0 } else { at + 1 };
    }
    for i in len - AHEAD..len {
        probe(blocks, i, ring[at]);
        at = if at + 1 == AHEAD { 0 } else { at + 1 };
    }
}

/// One operation of the filter, to be run by whichever implementation of [`Simd`] the CPU allows.
///
/// The indirection is what lets one generic body be compiled both for the baseline and inside a function with AVX2
/// enabled.
pub(crate) trait Operation {
    type Output;
    fn run<V: Simd, D: Draw, const TWO: bool>(self, simd: V) -> Self::Output;
}

pub(crate) struct ContainsOne<'a, L>(pub(crate) &'a [L], pub(crate) u64);

impl<L: Line> Operation for ContainsOne<'_, L> {
    type Output = bool;
    #[inline(always)]
    fn run<V: Simd, D: Draw, const TWO: bool>(self, simd: V) -> bool {
        contains_one::<V, D, TWO, L>(simd, Regions::new(self.0, TWO), self.1)
    }
}

pub(crate) struct InsertOne<'a>(pub(crate) &'a mut [Block], pub(crate) u64);

impl Operation for InsertOne<'_> {
    type Output = bool;
    #[inline(always)]
    fn run<V: Simd, D: Draw, const TWO: bool>(self, simd: V) -> bool {
        insert_one::<V, D, TWO>(simd, &mut Regions::new_mut(self.0, TWO), self.1)
    }
}

/// Answers `len` questions: `digest_at(i)` in, `answer(i, found)` out.
pub(crate) struct ContainsBatch<'a, L, In, Out> {
    pub(crate) lines: &'a [L],
    pub(crate) len: usize,
    pub(crate) digest_at: In,
    pub(crate) answer: Out,
}

impl<L: Line, In: FnMut(usize) -> u64, Out: FnMut(usize, bool)> Operation for ContainsBatch<'_, L, In, Out> {
    type Output = ();
    #[inline(always)]
    fn run<V: Simd, D: Draw, const TWO: bool>(mut self, simd: V) {
        pipelined(
            &mut Regions::new(self.lines, TWO),
            self.len,
            wants_prefetch(self.lines.len()),
            self.digest_at,
            |regions, digest| prefetch_one::<TWO, L>(*regions, digest, prefetch_read),
            |regions, i, digest| (self.answer)(i, contains_one::<V, D, TWO, L>(simd, *regions, digest)),
        );
    }
}

/// Adds `len` keys: `digest_at(i)` in, `answer(i, new)` out.
pub(crate) struct InsertBatch<'a, In, Out> {
    pub(crate) blocks: &'a mut [Block],
    pub(crate) len: usize,
    pub(crate) digest_at: In,
    pub(crate) answer: Out,
}

impl<In: FnMut(usize) -> u64, Out: FnMut(usize, bool)> Operation for InsertBatch<'_, In, Out> {
    type Output = ();
    #[inline(always)]
    fn run<V: Simd, D: Draw, const TWO: bool>(mut self, simd: V) {
        let ahead = wants_prefetch(self.blocks.len());
        pipelined(
            &mut Regions::new_mut(self.blocks, TWO),
            self.len,
            ahead,
            self.digest_at,
            |regions, digest| prefetch_one::<TWO, _>(regions.shared(), digest, prefetch_write),
            |regions, i, digest| (self.answer)(i, insert_one::<V, D, TWO>(simd, regions, digest)),
        );
    }
}

/// Adds `len` keys to shared blocks, each new for exactly one caller: `digest_at(i)` in, `answer(i, new)` out.
pub(crate) struct SharedBatch<'a, In, Out> {
    pub(crate) blocks: &'a [AtomicBlock],
    pub(crate) stripes: &'a Stripes,
    pub(crate) len: usize,
    pub(crate) digest_at: In,
    pub(crate) answer: Out,
}

impl<In: FnMut(usize) -> u64, Out: FnMut(usize, bool)> Operation for SharedBatch<'_, In, Out> {
    type Output = ();
    #[inline(always)]
    fn run<V: Simd, D: Draw, const TWO: bool>(mut self, simd: V) {
        pipelined(
            &mut Regions::new(self.blocks, TWO),
            self.len,
            wants_prefetch(self.blocks.len()),
            self.digest_at,
            |regions, digest| prefetch_one::<TWO, _>(*regions, digest, prefetch_write),
            |regions, i, digest| {
                let target = SharedTarget::<V, D, TWO>::new(simd, *regions, digest);
                (self.answer)(i, insert_exactly_once(&target, self.stripes.of(digest)));
            },
        );
    }
}

/// Sets the bits of `len` keys in shared blocks, without a lock and without an answer.
pub(crate) struct SetBatch<'a, In> {
    pub(crate) blocks: &'a [AtomicBlock],
    pub(crate) len: usize,
    pub(crate) digest_at: In,
}

impl<In: FnMut(usize) -> u64> Operation for SetBatch<'_, In> {
    type Output = ();
    #[inline(always)]
    fn run<V: Simd, D: Draw, const TWO: bool>(self, simd: V) {
        pipelined(
            &mut Regions::new(self.blocks, TWO),
            self.len,
            wants_prefetch(self.blocks.len()),
            self.digest_at,
            |regions, digest| prefetch_one::<TWO, _>(*regions, digest, prefetch_write),
            |regions, _, digest| SharedTarget::<V, D, TWO>::new(simd, *regions, digest).set(),
        );
    }
}

/// Sets one line of every digest in a part of one region that starts at block `from`: the step of a bulk build.
#[cfg(feature = "std")]
pub(crate) struct FillPart<'a> {
    pub(crate) part: &'a mut [Block],
    pub(crate) from: usize,
    pub(crate) region_blocks: usize,
    pub(crate) digests: &'a [u64],
}

#[cfg(feature = "std")]
impl Operation for FillPart<'_> {
    type Output = ();
    #[inline(always)]
    fn run<V: Simd, D: Draw, const TWO: bool>(self, simd: V) {
        for digest in self.digests {
            let block = fast_range(*digest, self.region_blocks) - self.from;
            simd.set(&mut self.part[block], simd.mask::<D>(*digest));
        }
    }
}

/// Which implementation a filter uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
}

impl Kernel {
    /// The fastest this CPU has.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = avx2::Avx2::detect() {
            return Self::Avx2(avx2);
        }
        Self::Portable
    }

    /// Runs one operation: the way for single keys, inlined where it can be.
    #[inline(always)]
    pub(crate) fn run<O: Operation>(self, shape: Shape, operation: O) -> O::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(avx2) => avx2.run(shape, operation),
            Self::Portable => portable::run(shape, operation),
        }
    }
}

#[inline(always)]
fn run_shape<V: Simd, O: Operation>(simd: V, shape: Shape, operation: O) -> O::Output {
    match shape {
        Shape::Eight => operation.run::<V, Eight, false>(simd),
        Shape::Four => operation.run::<V, Four, false>(simd),
        Shape::Sixteen => operation.run::<V, Sixteen, false>(simd),
        Shape::SixteenTwoLines => operation.run::<V, Eight, true>(simd),
    }
}

#[cfg(test)]
mod tests;
