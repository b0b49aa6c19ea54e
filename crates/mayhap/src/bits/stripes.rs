//! Deciding, among threads that add the same key at the same time, which one was first.
//!
//! Setting bits needs no lock: `fetch_or` never loses one. But "was this key new?" can't be answered from the words
//! one by one. Two threads adding one key each flip a different word first, and both see a bit that was unset: both
//! would answer "new", and a nickname would be given away twice. So the answer is decided under a short spin lock,
//! chosen by the key's digest: callers with one key always meet at one lock, others rarely.

use alloc::boxed::Box;
use core::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// Locks beside a shared filter: one for each of its blocks, up to 256. On two cores so many collide once in hundreds of
/// inserts, and 16 KiB is little beside a filter of 256 blocks; a server of many small filters wants few.
pub(crate) struct Stripes(Box<[Stripe]>);

/// A power of two.
const MOST_STRIPES: usize = 256;

/// A lock on a cache line of its own, so that neighbours don't slow each other down.
#[derive(Default)]
#[repr(align(64))]
struct Stripe(AtomicBool);

impl Stripes {
    /// The locks for so many blocks.
    pub(super) fn new(blocks: usize) -> Self {
        let count = blocks.clamp(1, MOST_STRIPES).next_power_of_two();
        Self((0..count).map(|_| Stripe::default()).collect())
    }

    /// Bytes of memory that they take.
    #[cfg(feature = "std")]
    pub(crate) fn len_bytes(&self) -> u64 {
        size_of_val(&*self.0) as u64
    }

    /// The lock for a digest. The lowest bits: the highest choose the block.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "only the lowest bits are used")]
    pub(crate) fn of(&self, digest: u64) -> &impl Flag {
        &self.0[digest as usize & (self.0.len() - 1)].0
    }

    /// Waits for the lock of a digest.
    #[cfg(feature = "std")]
    pub(crate) fn hold(&self, digest: u64) -> impl Drop {
        Held::take(self.of(digest))
    }

    /// Waits for all the locks. Two who do so don't wait for each other: both begin with the first.
    #[cfg(feature = "std")]
    pub(crate) fn hold_all(&self) -> alloc::vec::Vec<impl Drop> {
        self.0.iter().map(|stripe| Held::take(&stripe.0)).collect()
    }
}

/// What an insert wants to do to shared bits.
pub(crate) trait Target {
    /// Whether every bit is set.
    fn is_set(&self) -> bool;
    /// Sets every bit, never clears one, and tells whether any was unset just before.
    fn set(&self) -> bool;
}

/// Sets the bits of `target`, and tells whether this call was the one that made them complete: of any number of calls
/// for one key, on any threads, exactly one is told so.
#[inline(always)]
pub(crate) fn insert_exactly_once<T: Target>(target: &T, flag: &impl Flag) -> bool {
    // Most adds to a busy filter are repeats, and this answers them without touching the lock.
    if target.is_set() {
        return false;
    }
    let _held = Held::take(flag);
    // Whoever held the lock before us may have added the same key; we see all it wrote, and then nothing is unset.
    target.set()
}

/// The flag of a spin lock. A trait so that a model checker's atomics can stand in.
pub(crate) trait Flag {
    /// Raises the flag if it was down, acquiring what the last holder released.
    fn try_raise(&self) -> bool;
    /// Whether it is up right now.
    fn is_raised(&self) -> bool;
    /// Takes it down, releasing what we wrote.
    fn lower(&self);
    /// What a waiting thread does on its nth round.
    fn wait(round: u32);
}

impl Flag for AtomicBool {
    #[inline(always)]
    fn try_raise(&self) -> bool {
        self.compare_exchange_weak(false, true, Acquire, Relaxed).is_ok()
    }

    #[inline(always)]
    fn is_raised(&self) -> bool {
        self.load(Relaxed)
    }

    #[inline(always)]
    fn lower(&self) {
        self.store(false, Release);
    }

    #[cold]
    fn wait(round: u32) {
        // The lock is held for nanoseconds, unless its holder lost its core: then let it have ours.
        #[cfg(feature = "std")]
        if round > 100 {
            return std::thread::yield_now();
        }
        let _ = round;
        core::hint::spin_loop();
    }
}

/// Lowers the flag when dropped, even if setting the bits should panic.
struct Held<'a, F: Flag>(&'a F);

impl<'a, F: Flag> Held<'a, F> {
    #[inline(always)]
    fn take(flag: &'a F) -> Self {
        let mut round = 0;
        while !flag.try_raise() {
            while flag.is_raised() {
                F::wait(round);
                round = round.saturating_add(1);
            }
        }
        Self(flag)
    }
}

impl<F: Flag> Drop for Held<'_, F> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.lower();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicBool as LoomBool, AtomicU64 as LoomU64};

    impl Flag for LoomBool {
        fn try_raise(&self) -> bool {
            self.compare_exchange(false, true, Acquire, Relaxed).is_ok()
        }
        fn is_raised(&self) -> bool {
            self.load(Relaxed)
        }
        fn lower(&self) {
            self.store(false, Release);
        }
        fn wait(_: u32) {
            loom::thread::yield_now();
        }
    }

    /// Two words stand for a block's eight: more would only make the model slower.
    struct TwoWords {
        words: [LoomU64; 2],
        flag: LoomBool,
    }

    struct Mask<'a>(&'a TwoWords, [u64; 2]);

    impl Target for Mask<'_> {
        fn is_set(&self) -> bool {
            self.0.words.iter().zip(self.1).all(|(word, mask)| word.load(Relaxed) & mask == mask)
        }
        fn set(&self) -> bool {
            let mut any_unset = false;
            for (word, mask) in self.0.words.iter().zip(self.1) {
                if word.load(Relaxed) & mask != mask {
                    any_unset = true;
                    word.fetch_or(mask, Relaxed);
                }
            }
            any_unset
        }
    }

    impl TwoWords {
        fn new() -> Arc<Self> {
            Arc::new(Self { words: [LoomU64::new(0), LoomU64::new(0)], flag: LoomBool::new(false) })
        }
        fn insert(&self, mask: [u64; 2]) -> bool {
            insert_exactly_once(&Mask(self, mask), &self.flag)
        }
        fn contains(&self, mask: [u64; 2]) -> bool {
            Mask(self, mask).is_set()
        }
    }

    #[test]
    fn of_two_threads_adding_one_key_exactly_one_is_first() {
        loom::model(|| {
            let block = TwoWords::new();
            let other = Arc::clone(&block);
            let thread = loom::thread::spawn(move || other.insert([1, 2]));
            let here = block.insert([1, 2]);
            let there = thread.join().unwrap();
            assert!(here ^ there, "new for {} callers", u8::from(here) + u8::from(there));
            assert!(block.contains([1, 2]));
        });
    }

    #[test]
    fn no_bit_is_lost_beside_a_lock_free_writer() {
        loom::model(|| {
            let block = TwoWords::new();
            let other = Arc::clone(&block);
            let thread = loom::thread::spawn(move || {
                Mask(&other, [4, 1]).set();
            });
            block.insert([1, 2]);
            thread.join().unwrap();
            assert!(block.contains([1, 2]) && block.contains([4, 1]));
        });
    }

    #[test]
    fn a_key_that_was_added_stays_visible_to_who_saw_it() {
        loom::model(|| {
            let block = TwoWords::new();
            let other = Arc::clone(&block);
            let thread = loom::thread::spawn(move || other.insert([1, 2]));
            let first = block.contains([1, 2]);
            let second = block.contains([1, 2]);
            assert!(!first || second, "a key vanished");
            thread.join().unwrap();
        });
    }
}
