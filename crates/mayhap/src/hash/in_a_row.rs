//! Fetching the keys that come next, where the caller gives one at a time.
//!
//! Keys are often read in the order they stand in: lines of a buffer, names in an arena. The CPU notices and fetches
//! ahead, but into the second-level cache, where a million URLs push out a filter that would just have had room (and
//! between the random lines of a larger filter it doesn't notice any more). So each thread remembers where its last key
//! stood, and while they come in a row asks for the bytes ahead itself, past that cache.

use core::cell::Cell;
use std::thread_local;

use crate::bits::prefetch_once;

/// How far ahead. The CPU's own requests reach some 1 KiB; what they have fetched is in the second-level cache already.
/// (256 bytes ahead made no difference, 768 most of it, 2048 no more.)
const AHEAD: usize = 1280;

/// A key that starts within so many bytes of the last one comes after it in a row.
const NEAR: usize = 256;

thread_local! {
    /// The address of the last key.
    static LAST: Cell<usize> = const { Cell::new(0) };
}

/// Takes note of a key, and fetches what stands after it if it came in a row.
#[inline(always)]
pub(crate) fn fetch_following(key: &[u8]) {
    let here = key.as_ptr().addr();
    let last = LAST.replace(here);
    if here.wrapping_sub(last) < NEAR {
        prefetch_once(key.as_ptr().wrapping_add(AHEAD));
    }
}
