//! Asking for a cache line before it is needed.
//!
//! One that will be written is asked for like one that will be read: owning it at once, by `prefetchw`, gained nothing, not
//! for deletes of one thread nor for inserts of two threads into one filter.

#![allow(unsafe_code)]

use super::BLOCK_BYTES;

/// Whether a filter of this size is worth it. A smaller one answers from the core's own cache, where a prefetch is one
/// more instruction and no gain (measured at 130, 250, 500 KiB and more: it pays from 500 KiB on).
#[inline(always)]
pub(crate) fn is_worth_prefetching(bytes: u64) -> bool {
    bytes >= 256 << 10
}

/// Starts loading the line of `line`. Does nothing where the target has no such instruction.
#[inline(always)]
pub(crate) fn prefetch_line<T>(line: &T) {
    prefetch_address(core::ptr::from_ref(line));
}

/// Starts loading the line at an address. There need not be anything at it, which spares the caller a check.
#[inline(always)]
pub(crate) fn prefetch_address<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint; it cannot fault and changes no memory, and every x86-64 CPU has SSE.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Starts loading the line at an address that will be read once: past the second-level cache, so that it takes no other
/// line's place there. There need not be anything at it.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn prefetch_once<T>(address: *const T) {
    // SAFETY: as in `prefetch_address`.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_NTA, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_NTA>(address.cast());
    }
}

/// Starts loading `count` values of a row from number `from` on, each line of them once. There need not be so many.
#[inline(always)]
pub(crate) fn prefetch_row<T>(row: &[T], from: usize, count: usize) {
    let start = row.as_ptr().wrapping_add(from);
    for value in (0..count).step_by((BLOCK_BYTES / size_of::<T>().max(1)).max(1)) {
        prefetch_address(start.wrapping_add(value));
    }
}
