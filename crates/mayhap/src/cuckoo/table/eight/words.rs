//! Buckets of eight bytes with fingerprints of whole bytes, such as four of 16 bits.
//!
//! Here eight digests share the recipe of their places, and nothing else. For two buckets of such fingerprints side by side there
//! are instructions that find one without further arithmetic, so that to look at them one digest after another takes fewer
//! instructions than in lanes, from and to which each bucket must be moved. And a delete need not be worked out from what was read earlier:
//! it looks, and writes a zero in place of the fingerprint, before the next one looks (decision 151).

#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m128i, _mm_cmpeq_epi8, _mm_cmpeq_epi16, _mm_cmpeq_epi32, _mm_movemask_epi8, _mm_set1_epi64x,
};
use core::hint::select_unpredictable;
use core::marker::PhantomData;
use core::ptr;

use super::super::access::index;
use super::packed::SideBySide;
use super::places::{Begun, Located, PlacesOfEight};
use super::register::{Eight, Numbers};
use super::{Answers, Group, InEights, InLanes, Pair, at_most_last};
use crate::bits::{Block, Line, prefetch_address};

/// The places of a group are worked out so many groups before it is looked at.
const AHEAD: usize = 3;

/// The lines of a group are asked for so many groups before. Earlier would be no gain from memory, and a loss where they come from a
/// cache: deletes take a sixth longer with three.
const LINES_AHEAD: usize = 1;

/// From how many bytes of lines on they are asked for. In smaller tables the CPU runs ahead of the loads by itself.
const PREFETCH_TO_READ: usize = 32 << 20;
const PREFETCH_TO_WRITE: usize = 1 << 20;

/// A fingerprint in its slot; zero where there is none.
pub(super) trait Fingerprint: Copy + Default {
    /// All bits of those that are equal in both.
    fn equal(buckets: __m128i, wanted: __m128i) -> __m128i;
}

macro_rules! fingerprints {
    ($($of:ty: $equal:ident;)+) => {
        $(
            impl Fingerprint for $of {
                #[inline(always)]
                fn equal(buckets: __m128i, wanted: __m128i) -> __m128i {
                    // SAFETY: it needs SSE2, which every x86-64 CPU has.
                    unsafe { $equal(buckets, wanted) }
                }
            }
        )+
    };
}

fingerprints! {
    u8: _mm_cmpeq_epi8;
    u16: _mm_cmpeq_epi16;
    u32: _mm_cmpeq_epi32;
}

/// A table of such buckets. Whether it is a filter by itself, or the first of its layers, is told to the compiler: the recipe is
/// shorter then.
#[derive(Clone, Copy)]
pub(super) struct Words<'a, F, const IS_FIRST: bool> {
    places: PlacesOfEight<'a>,
    /// The lowest bit of every fingerprint of a bucket.
    ones: Eight,
    of: PhantomData<F>,
}

/// What is known of eight digests before their buckets are read.
#[derive(Clone, Copy, Default)]
struct Kept {
    /// The addresses of the first buckets.
    first: Numbers,
    /// Those of the second ones, less eight: a slot of either is as many bytes further as before it in both buckets side by side.
    second: Numbers,
    /// Buckets full of the fingerprint.
    wanted: Numbers,
}

/// That of the groups which come next, in a circle.
type Ahead = [Kept; AHEAD + 1];

impl<'a, F: Fingerprint, const IS_FIRST: bool> InLanes<'a> for Words<'a, F, IS_FIRST> {
    type Buckets = SideBySide;

    #[inline(always)]
    fn new(table: InEights<'a>, buckets: SideBySide) -> Self {
        let ones = Eight::all(table.avx512, buckets.ones());
        Self { places: table.places_of_eight(), ones, of: PhantomData }
    }

    #[inline(always)]
    fn contains<L: Line>(self, lines: &[L], digests: &[Group], found: &mut [Answers]) {
        let prefetch = size_of_val(lines) >= PREFETCH_TO_READ;
        let mut ahead = self.begin(lines, digests);
        let mut begun = self.places.begin(at_most_last(digests, AHEAD));
        for (number, found) in found.iter_mut().enumerate() {
            self.keep(lines, begun, number + AHEAD, &mut ahead);
            // Half of the recipe a turn before the other: from the third-level cache, hits take a sixth to a third less
            // (decision 153).
            begun = self.places.begin(at_most_last(digests, number + AHEAD + 1));
            if prefetch {
                ahead[(number + LINES_AHEAD) % ahead.len()].prefetch();
            }
            let kept = &ahead[number % ahead.len()];
            for (lane, found) in found.iter_mut().enumerate() {
                // SAFETY: what is kept is of these lines.
                *found = unsafe { kept.look::<F>(lane) }.slots != 0;
            }
        }
    }

    #[inline(always)]
    fn remove(self, blocks: &mut [Block], digests: &[Pair<Group>], removed: &mut [Pair<Answers>]) {
        let (digests, removed) = (digests.as_flattened(), removed.as_flattened_mut());
        let prefetch = size_of_val(blocks) >= PREFETCH_TO_WRITE;
        let mut ahead = self.begin(blocks, digests);
        // Whether one of the group before wasn't there.
        let mut expect_absent = false;
        for (number, removed) in removed.iter_mut().enumerate() {
            // The whole recipe: with half of it a turn before, deletes from the third-level cache take a third longer.
            let begun = self.places.begin(at_most_last(digests, number + AHEAD));
            self.keep(blocks, begun, number + AHEAD, &mut ahead);
            if prefetch {
                ahead[(number + LINES_AHEAD) % ahead.len()].prefetch();
            }
            let kept = &ahead[number % ahead.len()];
            let _ = blocks.as_mut_ptr().expose_provenance();
            if expect_absent {
                // Which ones are absent can't be predicted, so they write a zero, too: nowhere.
                expect_absent = false;
                let mut nowhere = F::default();
                for (lane, removed) in removed.iter_mut().enumerate() {
                    // SAFETY: what is kept is of these blocks, which are borrowed exclusively.
                    unsafe {
                        let seen = kept.look::<F>(lane);
                        *removed = seen.slots != 0;
                        expect_absent |= seen.slots == 0;
                        let slot = select_unpredictable(seen.slots == 0, &raw mut nowhere, seen.first_slot());
                        slot.write_volatile(F::default());
                    }
                }
            } else {
                *removed = [true; 8];
                for (lane, removed) in removed.iter_mut().enumerate() {
                    // SAFETY: as above; and there is a slot.
                    unsafe {
                        let seen = kept.look::<F>(lane);
                        if seen.slots == 0 {
                            *removed = false;
                            expect_absent = true;
                        } else {
                            seen.first_slot::<F>().write_volatile(F::default());
                        }
                    }
                }
            }
        }
    }
}

impl<F: Fingerprint, const IS_FIRST: bool> Words<'_, F, IS_FIRST> {
    /// With the first groups kept. All that is kept is in the lines then: each number of a bucket is below that of buckets (the
    /// first is a digest's part of it, rounded down, the second a difference modulo it), and so many buckets are there.
    #[inline(always)]
    fn begin<L>(self, lines: &[L], digests: &[Group]) -> Ahead {
        assert!(size_of_val(lines) as u64 >= self.places.places.buckets * 8, "lines for all buckets");
        let mut ahead = Ahead::default();
        for number in 0..AHEAD {
            self.keep(lines, self.places.begin(at_most_last(digests, number)), number, &mut ahead);
        }
        ahead
    }

    /// Keeps the group with this number, or the last.
    #[inline(always)]
    fn keep<L>(self, lines: &[L], begun: Begun, number: usize, ahead: &mut Ahead) {
        let kept = &mut ahead[number % ahead.len()];
        let Located { first, second, fingerprints } = self.places.buckets_of(begun, IS_FIRST);
        let (row, end) = (lines.as_ptr().expose_provenance() as u64, first.same(size_of_val(lines) as u64));
        let (first, second) = (first << 3, second << 3);
        debug_assert!((end.above(first) & end.above(second)).are_all(), "buckets of these lines");
        first.plus(first.same(row)).store_to(&mut kept.first);
        second.plus(first.same(row - 8)).store_to(&mut kept.second);
        fingerprints.times(self.ones).store_to(&mut kept.wanted);
    }
}

/// Two buckets that were looked at.
#[derive(Clone, Copy)]
struct Seen {
    /// The addresses of both, as they are [`Kept`].
    first: u64,
    second: u64,
    /// Which bytes of both, side by side, are those of an equal fingerprint: a bit for each.
    slots: u32,
}

impl Kept {
    /// Asks for the lines of all buckets.
    #[inline(always)]
    fn prefetch(&self) {
        for lane in 0..8 {
            for bucket in [index(self.first.read(lane)), index(self.second.read(lane)) + 8] {
                prefetch_address(ptr::without_provenance::<u8>(bucket));
            }
        }
    }

    /// Looks at the buckets of one of the digests.
    ///
    /// # Safety
    /// What is kept is of lines that are borrowed.
    #[inline(always)]
    unsafe fn look<F: Fingerprint>(&self, lane: usize) -> Seen {
        let (first, second) = (self.first.read(lane), self.second.read(lane));
        let buckets: __m128i;
        // SAFETY: both buckets are read, and only the register is written. (The compiler knows nothing of these loads, because
        // somebody may be writing to lines that are shared, to which the CPU gives the old or the new of each byte.)
        unsafe {
            core::arch::asm!(
                "vmovq {buckets}, [{first}]",
                "vmovhps {buckets}, {buckets}, [{second} + 8]",
                buckets = out(xmm_reg) buckets,
                first = in(reg) first,
                second = in(reg) second,
                options(nostack, preserves_flags, readonly)
            );
            let wanted = _mm_set1_epi64x(self.wanted.0[lane].cast_signed());
            let slots = _mm_movemask_epi8(F::equal(buckets, wanted)).cast_unsigned();
            Seen { first, second, slots }
        }
    }
}

impl Seen {
    /// The first of the slots: in the first bucket, if there is one in both.
    #[inline(always)]
    fn first_slot<F>(self) -> *mut F {
        let bucket = select_unpredictable(self.slots & 0xff == 0, self.second, self.first);
        ptr::with_exposed_provenance_mut(index(bucket) + self.slots.trailing_zeros() as usize)
    }
}
