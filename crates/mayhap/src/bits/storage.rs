//! Who owns the blocks.

#![allow(unsafe_code)]

use core::fmt;
use core::ops::{Deref, DerefMut};

use super::block::{AtomicBlock, Block, Line};
use super::memory::{AllocError, BlockMemory, Pages};
use super::row;
use super::stripes::Stripes;

/// Something that lends blocks. There is always at least one.
///
/// Sealed: filters pick blocks without a bounds check, which is sound because no storage here is ever empty.
pub trait Blocks: private::Sealed + fmt::Debug {
    /// The kind of block: plain, or racing with other writers.
    type Line: Line;

    /// The blocks, at least one.
    fn lines(&self) -> &[Self::Line];

    /// How many there are.
    #[inline]
    fn block_count(&self) -> u64 {
        self.lines().len() as u64
    }

    /// 1 if the bit at `position` of all blocks in a row is set, otherwise 0.
    #[inline(always)]
    fn bit_at(&self, position: u64) -> u64 {
        let (block, lane) = super::words::place(position / 64);
        (self.lines()[block].word(lane) >> (position % 64)) & 1
    }
}

/// Blocks with one owner.
pub struct Owned(BlockMemory);

impl Owned {
    /// `blocks` blocks of zeros.
    ///
    /// # Errors
    /// When `blocks` is 0 or that much memory can't be had.
    pub fn zeroed(blocks: u64) -> Result<Self, AllocError> {
        Self::zeroed_in(Pages::Huge, blocks)
    }

    /// [`zeroed`](Self::zeroed) in pages of one's choice.
    ///
    /// # Errors
    /// As `zeroed`.
    pub fn zeroed_in(pages: Pages, blocks: u64) -> Result<Self, AllocError> {
        Ok(Self(BlockMemory::zeroed(blocks, pages)?))
    }

    /// A copy of the blocks.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn try_clone(&self) -> Result<Self, AllocError> {
        let mut copy = Self::zeroed(self.len() as u64)?;
        copy.copy_from_slice(self);
        Ok(copy)
    }

    /// The bytes of the blocks, as they lie in memory: for filters whose unit is the byte.
    #[cfg(feature = "formats")]
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        let blocks: &[Block] = self;
        // SAFETY: a block is 64 initialised bytes without padding (its size is asserted in `block`), and bytes need no
        // alignment. The borrow is that of `self`.
        unsafe { core::slice::from_raw_parts(blocks.as_ptr().cast(), size_of_val(blocks)) }
    }

    /// The bytes of the blocks, to be written.
    #[cfg(feature = "formats")]
    #[inline(always)]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let blocks: &mut [Block] = self;
        // SAFETY: as in `bytes`; any bytes are a valid block, and the borrow is exclusive.
        unsafe { core::slice::from_raw_parts_mut(blocks.as_mut_ptr().cast(), size_of_val(blocks)) }
    }
}

impl Deref for Owned {
    type Target = [Block];
    #[inline(always)]
    fn deref(&self) -> &[Block] {
        self.0.blocks()
    }
}

impl DerefMut for Owned {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Block] {
        self.0.blocks_mut()
    }
}

impl Blocks for Owned {
    type Line = Block;
    #[inline(always)]
    fn lines(&self) -> &[Block] {
        self
    }

    /// By its word in a row of words: a shorter way than by block and word, which a recipe of many positions a key goes
    /// often.
    #[inline(always)]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "an index into memory we hold fits the machine's word"
    )]
    fn bit_at(&self, position: u64) -> u64 {
        (row::words(self)[(position / 64) as usize] >> (position % 64)) & 1
    }
}

/// Blocks that many threads write.
///
/// The striped locks beside them decide which of two threads adding one key at the same time was first, and say how bits
/// are written so that none is ever lost.
pub struct Shared {
    memory: BlockMemory,
    pub(crate) stripes: Stripes,
}

impl Shared {
    /// `blocks` blocks of zeros.
    ///
    /// # Errors
    /// When `blocks` is 0 or that much memory can't be had.
    pub fn zeroed(blocks: u64) -> Result<Self, AllocError> {
        Ok(Self::from(Owned::zeroed(blocks)?))
    }

    #[inline(always)]
    pub(crate) fn blocks(&self) -> &[AtomicBlock] {
        // SAFETY: the memory holds `len` initialised blocks; `AtomicBlock` has the size and alignment of `Block`
        // (asserted in `block`) and the representation of its atomics is that of `u64`. `Shared` never lends the same
        // memory as plain blocks through `&self`, so all concurrent access is atomic.
        unsafe { core::slice::from_raw_parts(self.memory.as_ptr().cast(), self.memory.len()) }
    }
}

/// Hands the blocks over without copying them.
impl From<Owned> for Shared {
    fn from(owned: Owned) -> Self {
        Self { stripes: Stripes::new(owned.len()), memory: owned.0 }
    }
}

/// Takes the blocks back without copying them. The caller owns the `Shared`, so no thread is writing any more.
impl From<Shared> for Owned {
    fn from(shared: Shared) -> Self {
        Self(shared.memory)
    }
}

impl Blocks for Shared {
    type Line = AtomicBlock;
    #[inline(always)]
    fn lines(&self) -> &[AtomicBlock] {
        self.blocks()
    }
}

/// Blocks borrowed from the caller.
#[derive(Clone, Copy)]
pub struct View<'a>(&'a [Block]);

impl<'a> View<'a> {
    /// Borrows `blocks`; nothing if there are none.
    #[must_use]
    pub fn new(blocks: &'a [Block]) -> Option<Self> {
        (!blocks.is_empty()).then_some(Self(blocks))
    }

    /// Borrows bytes as blocks, in place: the bytes must be 64-byte aligned, a whole number of blocks and not empty,
    /// and the machine little-endian, as the file format is. Otherwise there is no view.
    #[must_use]
    pub fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        if cfg!(target_endian = "big") {
            return None;
        }
        // SAFETY: any bytes are a valid block: it is eight integers without padding.
        let (before, blocks, after) = unsafe { bytes.align_to::<Block>() };
        if !before.is_empty() || !after.is_empty() {
            return None;
        }
        Self::new(blocks)
    }
}

impl Blocks for View<'_> {
    type Line = Block;
    #[inline(always)]
    fn lines(&self) -> &[Block] {
        self.0
    }
}

/// Blocks of a mapped file, read when they are asked for and not before.
///
/// They are read by atomic loads. Files are replaced, not changed, so nobody should write to one that is mapped; if
/// somebody does all the same, answers are wrong but behaviour stays defined. (Cutting a mapped file short makes the
/// operating system stop the process at the next access: that no library can prevent.)
#[cfg(feature = "std")]
#[derive(Clone)]
pub struct Mapped {
    /// Held so that `start` stays mapped; shared by the sections of one file.
    _map: std::sync::Arc<memmap2::Mmap>,
    start: *const AtomicBlock,
    len: usize,
}

#[cfg(feature = "std")]
// SAFETY: the map is never written through this type and outlives `start`, which points into it.
unsafe impl Send for Mapped {}
#[cfg(feature = "std")]
// SAFETY: as above; all reads are atomic.
unsafe impl Sync for Mapped {}

#[cfg(feature = "std")]
impl Mapped {
    /// Maps a whole file.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn map(file: &std::fs::File) -> std::io::Result<std::sync::Arc<memmap2::Mmap>> {
        // SAFETY: the danger of a map is that another process changes the file under a plain reference to its bytes.
        // `new` makes no such reference that is read from: blocks are read by atomic loads only.
        unsafe { memmap2::Mmap::map(file) }.map(std::sync::Arc::new)
    }

    /// The blocks in `range` of a mapped file; nothing if the range lies outside the map, is empty, isn't aligned to
    /// whole blocks, or the machine isn't little-endian.
    #[must_use]
    pub fn new(map: &std::sync::Arc<memmap2::Mmap>, range: core::ops::Range<usize>) -> Option<Self> {
        let bytes = map.get(range)?;
        View::from_bytes(bytes)?;
        // The cast is sound because `View::from_bytes` accepted the bytes: aligned, and a whole number of blocks.
        let start = bytes.as_ptr().cast::<AtomicBlock>();
        Some(Self { start, len: bytes.len() / size_of::<AtomicBlock>(), _map: std::sync::Arc::clone(map) })
    }
}

#[cfg(feature = "std")]
impl Blocks for Mapped {
    type Line = AtomicBlock;
    #[inline(always)]
    fn lines(&self) -> &[AtomicBlock] {
        // SAFETY: `new` checked that `len` aligned blocks start at `start`, and `_map` keeps them mapped. The pages
        // are read-only; relaxed loads of at most 64 bits are allowed on read-only memory.
        unsafe { core::slice::from_raw_parts(self.start, self.len) }
    }
}

macro_rules! debug_without_bits {
    ($($type:ty),*) => {$(
        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({} blocks)", stringify!($type), self.block_count())
            }
        }
    )*};
}

debug_without_bits!(Owned, Shared, View<'_>);
#[cfg(feature = "std")]
debug_without_bits!(Mapped);

mod private {
    pub trait Sealed {}
    impl Sealed for super::Owned {}
    impl Sealed for super::Shared {}
    impl Sealed for super::View<'_> {}
    #[cfg(feature = "std")]
    impl Sealed for super::Mapped {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sharing_and_taking_back_keeps_the_bits() {
        let mut owned = Owned::zeroed(3).unwrap();
        owned[1].0[2] = 5;
        let shared = Shared::from(owned);
        assert_eq!(shared.lines()[1].word(2), 5);
        shared.blocks()[2].or(&[1; 8]);
        let owned = Owned::from(shared);
        assert_eq!(owned[1].0[2], 5);
        assert_eq!(owned[2].0, [1; 8]);
    }

    #[test]
    fn a_view_needs_whole_aligned_blocks() {
        let owned = Owned::zeroed(2).unwrap();
        let blocks: &[Block] = &owned;
        // SAFETY: two blocks are 128 bytes.
        let bytes = unsafe { core::slice::from_raw_parts(blocks.as_ptr().cast::<u8>(), 128) };
        assert_eq!(View::from_bytes(bytes).unwrap().block_count(), 2);
        assert_eq!(View::from_bytes(&bytes[64..]).unwrap().block_count(), 1);
        assert!(View::from_bytes(&bytes[8..72]).is_none());
        assert!(View::from_bytes(&bytes[..100]).is_none());
        assert!(View::from_bytes(&[]).is_none());
        assert!(View::new(&[]).is_none());
    }
}
