//! Zeroed, aligned memory for blocks, and what to do when there isn't any.
//!
//! Large pieces come straight from the operating system: their pages are zero without being touched, and they are
//! aligned to and advised for huge pages, which is worth 1.15 to 1.4 times on random reads because fewer lookups miss
//! the TLB. Only the last part of a piece is in ordinary pages where a huge one would be mostly empty. Small ones, and
//! all without `std`, come from the global allocator.

#![allow(unsafe_code)]

use alloc::alloc::{alloc_zeroed, dealloc};
use core::alloc::Layout;
use core::fmt;
use core::ptr::NonNull;

use super::block::{BLOCK_BYTES, Block};

/// The memory a filter needs could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocError {
    /// What was asked for.
    pub bytes: u64,
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "could not allocate {} bytes for the filter: plan fewer keys, a higher rate, or free memory",
            self.bytes
        )
    }
}

impl core::error::Error for AllocError {}

/// `len` blocks of our own, at a fixed address.
pub(super) struct BlockMemory {
    start: NonNull<Block>,
    len: usize,
    backing: Backing,
}

enum Backing {
    Heap,
    /// Held only to be unmapped when dropped; `start` points into it.
    #[cfg(all(feature = "std", unix))]
    Pages {
        _map: memmap2::MmapMut,
    },
}

// SAFETY: `BlockMemory` owns its blocks as a `Box<[Block]>` would; `start` is no alias of anything else.
unsafe impl Send for BlockMemory {}
// SAFETY: as above; through `&self` blocks are only read, or accessed as atomics (see `Shared`).
unsafe impl Sync for BlockMemory {}

impl BlockMemory {
    /// `len` blocks of zeros. `len` is at least 1: an empty filter would have no block to pick.
    pub(super) fn zeroed(len: u64, pages: Pages) -> Result<Self, AllocError> {
        let error = AllocError { bytes: len.saturating_mul(BLOCK_BYTES as u64) };
        let len = usize::try_from(len).ok().filter(|len| *len > 0).ok_or(error)?;
        let layout = Layout::array::<Block>(len).map_err(|_| error)?;
        #[cfg(all(feature = "std", unix))]
        if layout.size() >= HUGE_PAGE {
            return Self::pages(len, layout.size(), pages).ok_or(error);
        }
        #[cfg(not(all(feature = "std", unix)))]
        let _ = pages;
        // SAFETY: `len` is at least 1, so the layout has a size above zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(error)?.cast::<Block>();
        Ok(Self { start, len, backing: Backing::Heap })
    }

    #[cfg(all(feature = "std", unix))]
    fn pages(len: usize, bytes: usize, pages: Pages) -> Option<Self> {
        // Room to start at a multiple of the huge page. What is never touched costs address space, not memory.
        let mut map = memmap2::MmapMut::map_anon(bytes.checked_add(HUGE_PAGE)?).ok()?;
        let offset = map.as_ptr().align_offset(HUGE_PAGE).min(HUGE_PAGE);
        #[cfg(target_os = "linux")]
        if pages == Pages::Huge {
            // Refused by kernels built without huge pages; ordinary pages do as well.
            let _ = map.advise_range(memmap2::Advice::HugePage, offset, in_huge_pages(bytes));
        }
        #[cfg(not(target_os = "linux"))]
        let _ = pages;
        let start = NonNull::from(map.get_mut(offset..offset + bytes)?).cast::<Block>();
        Some(Self { start, len, backing: Backing::Pages { _map: map } })
    }

    #[inline(always)]
    pub(super) fn as_ptr(&self) -> *const Block {
        self.start.as_ptr()
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(super) fn blocks(&self) -> &[Block] {
        // SAFETY: `start` points to `len` blocks that we own: aligned, and initialised because they came zeroed.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    #[inline(always)]
    pub(super) fn blocks_mut(&mut self) -> &mut [Block] {
        // SAFETY: as in `blocks`, and `&mut self` makes the borrow exclusive.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for BlockMemory {
    fn drop(&mut self) {
        match self.backing {
            Backing::Heap => {
                if let Ok(layout) = Layout::array::<Block>(self.len) {
                    // SAFETY: `zeroed` allocated `start` with this very layout.
                    unsafe { dealloc(self.start.as_ptr().cast(), layout) }
                }
            }
            #[cfg(all(feature = "std", unix))]
            Backing::Pages { .. } => {}
        }
    }
}

/// The pages that large memory is asked for in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pages {
    /// Huge ones, where the system has them: random access is then up to 1.4 times faster.
    #[default]
    Huge,
    /// Ordinary ones. A filter that is filled part by part and then saved gains nothing by huge pages, and a virtual machine
    /// that has given back its free memory waits 4 ms for each megabyte of them.
    Ordinary,
}

/// The huge page of x86-64 and most of AArch64.
#[cfg(all(feature = "std", unix))]
const HUGE_PAGE: usize = 2 << 20;

/// How many bytes of a piece, from its start on, are asked for in huge pages. A huge page is taken whole when the first of
/// its bytes is written: the last would make a filter of 2.1 MB take 4.2. So it is asked for only if what it adds is little
/// beside the piece; the rest, less than a huge page, is in ordinary ones, few enough for the TLB.
#[cfg(all(feature = "std", target_os = "linux"))]
fn in_huge_pages(bytes: usize) -> usize {
    const MOST_ADDED: usize = 16;
    let whole = bytes - bytes % HUGE_PAGE;
    let added = (HUGE_PAGE - bytes % HUGE_PAGE) % HUGE_PAGE;
    if added <= bytes / MOST_ADDED { bytes } else { whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_zero_aligned_and_writable_small_and_large() {
        let sizes = [1u64, 2, 1000, (2 << 20) / 64, (5 << 20) / 64 + 3];
        for (len, pages) in sizes.into_iter().flat_map(|len| [(len, Pages::Huge), (len, Pages::Ordinary)]) {
            let mut memory = BlockMemory::zeroed(len, pages).unwrap();
            assert_eq!(memory.blocks().len() as u64, len);
            assert_eq!(memory.as_ptr() as usize % 64, 0);
            assert!(memory.blocks().iter().all(|block| *block == Block::default()));
            memory.blocks_mut().fill(Block([u64::MAX; 8]));
            assert!(memory.blocks().iter().all(|block| *block == Block([u64::MAX; 8])));
        }
    }

    #[cfg(all(feature = "std", target_os = "linux"))]
    #[test]
    fn the_last_huge_page_adds_little() {
        for bytes in
            [HUGE_PAGE, HUGE_PAGE + 64, 2_150_000, 3 << 20, 5_000_000, 33_000_000, 1 << 30, (1 << 30) + 64]
        {
            let huge = in_huge_pages(bytes);
            assert!(huge >= HUGE_PAGE && huge <= bytes && bytes - huge < HUGE_PAGE, "{bytes}: {huge}");
            let taken = huge.next_multiple_of(HUGE_PAGE) + (bytes - huge);
            assert!(taken <= bytes + bytes / 16, "{bytes}: {taken}");
        }
        // Of a large filter all, and of one that ends just below the end of a page.
        for bytes in [HUGE_PAGE, (4 << 20) - 64, (64 << 20) + 64] {
            assert_eq!(in_huge_pages(bytes), bytes);
        }
    }

    #[test]
    fn impossible_sizes_are_errors() {
        for len in [0, u64::MAX, u64::MAX / 64, 1 << 57, 1 << 50] {
            assert!(BlockMemory::zeroed(len, Pages::Huge).is_err(), "{len}");
        }
    }
}
