//! An allocator that notices when a few bytes of input ask for gigabytes.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::watch;

struct Limited;

#[global_allocator]
static ALLOCATOR: Limited = Limited;

impl Limited {
    fn check(bytes: usize) {
        if !watch::allows(bytes) {
            // Unwinding out of an allocator is not allowed, so this ends the program.
            watch::give_up(&format!("asked for {bytes} bytes at once"));
        }
    }
}

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::check(layout.size());
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::check(layout.size());
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        Self::check(new_size);
        // SAFETY: the caller's promises are the same.
        unsafe { System.realloc(pointer, layout, new_size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}
