//! Deciding, among threads that add the same key at the same time, which one was first.
//!
//! "Was this key new?" can't be answered from the words one by one. Two threads adding one key each flip a different
//! word first, and both see a bit that was unset: both would answer "new", and a nickname would be given away twice. So
//! the answer is decided under short spin locks, chosen by the key's blocks (or, where a key has bits in many blocks, by
//! its digest): callers with one key always meet at one lock, others rarely.
//!
//! Who holds the locks of a block is the only one to write to it, and writes plain words. But setting bits without
//! asking needs no lock, if all do it by `fetch_or`, which never loses one. Beside plain writes it would be lost. So the
//! first who sets bits without a lock [opens](Stripes::open) the blocks, and from then on everybody uses `fetch_or`.
//! (That is an instruction of some 18 cycles for each word: two threads that fill a filter under locks alone are twice as
//! fast as two that don't.)

use alloc::boxed::Box;
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// Locks beside a shared filter: one for each of its blocks, up to 256. On two cores so many collide once in hundreds of
/// inserts, and 16 KiB is little beside a filter of 256 blocks; a server of many small filters wants few.
pub(crate) struct Stripes {
    locks: Box<[Stripe]>,
    writers: AtomicU8,
}

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
        Self { locks: (0..count).map(|_| Stripe::default()).collect(), writers: AtomicU8::new(UNDER_LOCKS) }
    }

    /// Bytes of memory that they take.
    #[cfg(feature = "std")]
    pub(crate) fn len_bytes(&self) -> u64 {
        size_of_val(&*self.locks) as u64
    }

    /// The lock for a number, which is a block's or a digest. Its lowest bits choose: a digest's highest choose blocks.
    #[inline(always)]
    pub(crate) fn of(&self, number: usize) -> &impl Flag {
        &self.locks[self.index(number)].0
    }

    #[inline(always)]
    fn index(&self, number: usize) -> usize {
        number & (self.locks.len() - 1)
    }

    /// Waits for the lock of a number.
    #[inline(always)]
    pub(crate) fn hold(&self, number: usize) -> impl Drop {
        Held::take(self.of(number))
    }

    /// Waits for the locks of two numbers. Two who do so don't wait for each other: both begin with the lower.
    #[inline(always)]
    pub(crate) fn hold_both(&self, numbers: [usize; 2]) -> (impl Drop, Option<impl Drop>) {
        let [a, b] = numbers.map(|number| self.index(number));
        let first = self.hold(a.min(b));
        (first, (a != b).then(|| self.hold(a.max(b))))
    }

    /// Waits for all the locks, from the first to the last.
    #[cfg(feature = "std")]
    pub(crate) fn hold_all(&self) -> alloc::vec::Vec<impl Drop> {
        (0..self.locks.len()).map(|number| self.hold(number)).collect()
    }

    /// Lets the caller write without a lock, by `fetch_or`: it and everybody else, from now on. The first to come waits
    /// for those who hold a lock, because they may be writing plain words.
    #[inline(always)]
    pub(crate) fn open(&self) {
        open(&self.writers, self.locks.iter().map(|stripe| &stripe.0));
    }

    /// [`insert_exactly_once`], where `lock` takes the locks of the target.
    #[inline(always)]
    pub(crate) fn insert<H>(&self, target: &impl Target, lock: impl FnOnce() -> H) -> bool {
        insert_exactly_once(target, lock, &self.writers)
    }

    /// Sets the bits of a target whose locks the caller holds.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(crate) fn set_locked(&self, target: &impl Target) -> bool {
        set_locked(target, &self.writers)
    }
}

/// What an insert wants to do to shared bits.
pub(crate) trait Target {
    /// Whether every bit is set.
    fn is_set(&self) -> bool;
    /// Sets every bit, never clears one, and tells whether any was unset just before.
    fn set(&self) -> bool;
    /// [`set`](Self::set) for a caller that is the only one to write to these blocks, while others read them. A target
    /// that has bits in blocks of other locks can do no better.
    #[inline(always)]
    fn set_alone(&self) -> bool {
        self.set()
    }
}

/// Sets the bits of `target`, and tells whether this call was the one that made them complete: of any number of calls
/// for one key, on any threads, exactly one is told so.
#[inline(always)]
fn insert_exactly_once<H>(target: &impl Target, lock: impl FnOnce() -> H, writers: &impl Writers) -> bool {
    // Most adds to a busy filter are repeats, and this answers them without touching the lock.
    if target.is_set() {
        return false;
    }
    let _held = lock();
    // Whoever held the lock before us may have added the same key; we see all it wrote, and then nothing is unset.
    set_locked(target, writers)
}

/// Sets the bits of a target whose locks the caller holds.
#[inline(always)]
fn set_locked(target: &impl Target, writers: &impl Writers) -> bool {
    // If somebody opens the blocks after we looked, it waits for our lock before it writes. If it has had our lock
    // before us, we see here that it came.
    if writers.get() == UNDER_LOCKS { target.set_alone() } else { target.set() }
}

#[inline(always)]
fn open<'a, F: Flag + 'a>(writers: &impl Writers, locks: impl Iterator<Item = &'a F>) {
    if writers.get() != ANYBODY {
        wait_and_open(writers, locks);
    }
}

#[cold]
fn wait_and_open<'a, F: Flag + 'a>(writers: &impl Writers, locks: impl Iterator<Item = &'a F>) {
    writers.raise(SOON_ANYBODY);
    for lock in locks {
        drop(Held::take(lock));
    }
    writers.raise(ANYBODY);
}

/// Who writes to the blocks: one of the three below, which only ever rises. A trait so that a model checker's atomics
/// can stand in.
trait Writers {
    /// Acquires what was released when it rose.
    fn get(&self) -> u8;
    /// Raises it, unless it is higher, releasing what we know.
    fn raise(&self, to: u8);
}

/// Who holds a block's lock, and nobody else.
const UNDER_LOCKS: u8 = 0;
/// Somebody without a lock will, as soon as all have let go of their locks who may not know it. All use `fetch_or`.
const SOON_ANYBODY: u8 = 1;
/// Anybody. All use `fetch_or`.
const ANYBODY: u8 = 2;

impl Writers for AtomicU8 {
    #[inline(always)]
    fn get(&self) -> u8 {
        self.load(Acquire)
    }

    fn raise(&self, to: u8) {
        self.fetch_max(to, Release);
    }
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
    use loom::sync::atomic::{AtomicBool as LoomBool, AtomicU8 as LoomU8, AtomicU64 as LoomU64};
    use loom::thread::spawn;

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

    impl Writers for LoomU8 {
        fn get(&self) -> u8 {
            self.load(Acquire)
        }
        fn raise(&self, to: u8) {
            self.fetch_max(to, Release);
        }
    }

    /// Two words stand for a block's eight: more would only make the model slower.
    struct TwoWords {
        words: [LoomU64; 2],
        lock: LoomBool,
        writers: LoomU8,
    }

    struct Mask<'a>(&'a TwoWords, [u64; 2]);

    impl Mask<'_> {
        fn for_each_lacking(&self, write: impl Fn(&LoomU64, u64, u64)) -> bool {
            let mut any_unset = false;
            for (word, mask) in self.0.words.iter().zip(self.1) {
                let before = word.load(Relaxed);
                if before & mask != mask {
                    any_unset = true;
                    write(word, before, mask);
                }
            }
            any_unset
        }
    }

    impl Target for Mask<'_> {
        fn is_set(&self) -> bool {
            self.0.words.iter().zip(self.1).all(|(word, mask)| word.load(Relaxed) & mask == mask)
        }
        fn set(&self) -> bool {
            self.for_each_lacking(|word, _, mask| _ = word.fetch_or(mask, Relaxed))
        }
        fn set_alone(&self) -> bool {
            self.for_each_lacking(|word, before, mask| word.store(before | mask, Relaxed))
        }
    }

    impl TwoWords {
        fn new() -> Arc<Self> {
            Arc::new(Self {
                words: [LoomU64::new(0), LoomU64::new(0)],
                lock: LoomBool::new(false),
                writers: LoomU8::new(UNDER_LOCKS),
            })
        }
        fn insert(&self, mask: [u64; 2]) -> bool {
            insert_exactly_once(&Mask(self, mask), || Held::take(&self.lock), &self.writers)
        }
        fn set(&self, mask: [u64; 2]) {
            open(&self.writers, [&self.lock].into_iter());
            Mask(self, mask).set();
        }
        fn contains(&self, mask: [u64; 2]) -> bool {
            Mask(self, mask).is_set()
        }
    }

    /// Does something with a block on a thread of its own.
    fn aside<T: 'static>(
        block: &Arc<TwoWords>,
        work: impl FnOnce(&TwoWords) -> T + 'static,
    ) -> loom::thread::JoinHandle<T> {
        let block = Arc::clone(block);
        spawn(move || work(&block))
    }

    #[test]
    fn of_two_threads_adding_one_key_exactly_one_is_first() {
        loom::model(|| {
            let block = TwoWords::new();
            let thread = aside(&block, |block| block.insert([1, 2]));
            let here = block.insert([1, 2]);
            let there = thread.join().unwrap();
            assert!(here ^ there, "new for {} callers", u8::from(here) + u8::from(there));
            assert!(block.contains([1, 2]));
        });
    }

    #[test]
    fn no_bit_is_lost_between_two_that_ask() {
        loom::model(|| {
            let block = TwoWords::new();
            let thread = aside(&block, |block| block.insert([4, 1]));
            assert!(block.insert([1, 2]));
            assert!(thread.join().unwrap());
            assert!(block.contains([1, 2]) && block.contains([4, 1]));
        });
    }

    #[test]
    fn no_bit_is_lost_beside_a_writer_without_a_lock() {
        loom::model(|| {
            let block = TwoWords::new();
            let thread = aside(&block, |block| block.set([4, 1]));
            block.insert([1, 2]);
            thread.join().unwrap();
            assert!(block.contains([1, 2]) && block.contains([4, 1]));
        });
    }

    /// The first who wants to write without a lock has said so, and still waits for the one with a lock, when the
    /// second comes.
    #[test]
    fn no_bit_is_lost_beside_the_second_writer_without_a_lock() {
        loom::model(|| {
            let block = TwoWords::new();
            let thread = aside(&block, |block| block.insert([1, 2]));
            block.writers.raise(SOON_ANYBODY);
            block.set([4, 1]);
            thread.join().unwrap();
            assert!(block.contains([1, 2]) && block.contains([4, 1]));
        });
    }

    #[test]
    fn a_key_that_was_added_stays_visible_to_who_saw_it() {
        loom::model(|| {
            let block = TwoWords::new();
            let thread = aside(&block, |block| block.insert([1, 2]));
            let first = block.contains([1, 2]);
            let second = block.contains([1, 2]);
            assert!(!first || second, "a key vanished");
            thread.join().unwrap();
        });
    }
}
