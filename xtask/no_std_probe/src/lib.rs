//! Proof that the library needs no `std`.
//!
//! This static library brings its own panic handler. If any crate below it pulled in `std`, which has one too, the
//! compiler would stop with "found duplicate lang item `panic_impl`". It is built, never run; the functions are here so
//! that the generic code of the library is compiled too, not only parsed.

#![no_std]

extern crate alloc;

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

use mayhap::{BloomFilter, ClassicBloom};

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

struct NoMemory;

// SAFETY: it never hands out memory, which every caller has to expect.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ALLOCATOR: NoMemory = NoMemory;

/// Uses what a program would use.
#[unsafe(no_mangle)]
pub extern "C" fn blocked(key: u64) -> bool {
    let Ok(mut filter) = BloomFilter::with_rate(1_000, 0.01) else { return false };
    let mut answers = [false; 2];
    filter.insert(&key);
    filter.insert_each(&["one", "two"], &mut answers);
    let Ok(bytes) = filter.to_bytes() else { return false };
    BloomFilter::from_bytes(&bytes).is_ok_and(|again| again.contains("one"))
}

/// The same for the other kind.
#[unsafe(no_mangle)]
pub extern "C" fn classic(key: u64) -> bool {
    let Ok(mut filter) = ClassicBloom::with_rate(1_000, 0.01) else { return false };
    filter.insert(&key);
    filter.contains(&key)
}
