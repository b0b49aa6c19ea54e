//! An allocator that counts what is held from it: for whoever compares that with what a set says of itself.

#![allow(dead_code, unreachable_pub)] // Whoever includes this uses a part.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Bytes held from the heap, as they were asked for: without what an allocator adds.
pub static HELD: AtomicI64 = AtomicI64::new(0);

/// In how many pieces.
pub static PIECES: AtomicI64 = AtomicI64::new(0);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: everything is passed on to the system's allocator; beside that two numbers are counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as i64, Relaxed);
        PIECES.fetch_add(1, Relaxed);
        // SAFETY: the caller keeps the same promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as i64, Relaxed);
        PIECES.fetch_add(1, Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as i64, Relaxed);
        PIECES.fetch_sub(1, Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(start, layout) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        HELD.fetch_add(size as i64 - layout.size() as i64, Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(start, layout, size) }
    }
}
