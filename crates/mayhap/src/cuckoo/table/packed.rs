//! Buckets whose fingerprints stand side by side, compared all at once in a register.

use core::hint::select_unpredictable;
use core::marker::PhantomData;

use super::access::{Access, At, Place, Whole, Window, low_bits};
use super::buckets::{Buckets, Entries, Found, Grid, NOWHERE, Survey};
use super::register::Register;
use crate::bits::{Block, Line};

/// Buckets in registers of type `R`, that come there by way of `A`.
///
/// A constant of this type, passed to inlined code, compiles to that one layout: the widths are then known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed<R, A> {
    grid: Grid,
    entries: u32,
    /// Bits of a fingerprint: the width of a lane.
    bits: u32,
    /// The number of the highest bit of a fingerprint.
    top: u32,
    /// Bits of all lanes.
    width: u32,
    /// The lowest bit of every lane.
    ones: R,
    /// The highest bit of every lane.
    tops: R,
    access: PhantomData<A>,
}

macro_rules! constructor {
    ($register:ty) => {
        impl<A> Packed<$register, A> {
            pub(super) const fn new(entries: u32, bits: u32) -> Self {
                Self::part(Grid::new(entries * bits), entries, bits)
            }

            /// `entries` lanes of a bucket that may have more.
            const fn part(grid: Grid, entries: u32, bits: u32) -> Self {
                let mut ones: $register = 0;
                let mut lane = 0;
                while lane < entries {
                    ones |= 1 << (lane * bits);
                    lane += 1;
                }
                let (top, width) = (bits - 1, entries * bits);
                let tops = ones << top;
                Self { grid, entries, bits, top, width, ones, tops, access: PhantomData }
            }
        }
    };
}

constructor!(u32);
constructor!(u64);
constructor!(u128);

impl<R: Register, A: Access<R>> Packed<R, A> {
    /// Zero in the lanes that hold the fingerprint.
    #[inline(always)]
    fn differences<L: Line>(self, lines: &[L], at: At, fingerprint: u32) -> R {
        A::load(lines, at) ^ self.ones.times(R::from_u32(fingerprint))
    }

    /// The highest bit of the lowest lane that is zero, and perhaps of lanes above it; nothing when no lane is zero.
    /// A borrow out of a zero lane can make the lanes above it look like zeros, never those below.
    #[inline(always)]
    fn lowest_zero(self, lanes: R) -> R {
        lanes.minus(self.ones) & !lanes & self.tops
    }

    /// The first bit of the lowest lane that is zero, or [`NOWHERE`].
    #[inline(always)]
    fn free_in(self, lanes: R) -> u32 {
        let top = self.top;
        let free = self.lowest_zero(lanes);
        select_unpredictable(free == R::ZERO, NOWHERE, free.lowest().wrapping_sub(top))
    }

    /// The highest bit of every lane that is zero, and of no other.
    #[inline(always)]
    fn all_zeros(self, lanes: R) -> R {
        let rest = self.tops.minus(self.ones);
        !((lanes & rest).plus(rest) | lanes) & self.tops
    }
}

impl<R: Register, A: Access<R> + Copy> Buckets for Packed<R, A> {
    #[inline(always)]
    fn grid(self) -> Grid {
        self.grid
    }

    #[inline(always)]
    fn entries(self) -> u32 {
        self.entries
    }

    #[inline(always)]
    fn place(self, bucket: u64) -> Place {
        A::place(self.grid, bucket)
    }

    #[inline(always)]
    fn at(self, place: Place) -> At {
        A::at(place)
    }

    #[inline(always)]
    fn address<L: Line>(self, lines: &[L], place: Place) -> *const L {
        A::address(lines, place)
    }

    #[inline(always)]
    fn has<L: Line>(self, lines: &[L], at: At, fingerprint: u32) -> bool {
        self.lowest_zero(self.differences(lines, at, fingerprint)) != R::ZERO
    }

    #[inline(always)]
    fn count<L: Line>(self, lines: &[L], at: At, fingerprint: u32) -> u32 {
        self.all_zeros(self.differences(lines, at, fingerprint)).ones()
    }

    #[inline(always)]
    fn free<L: Line>(self, lines: &[L], at: At) -> u32 {
        self.free_in(A::load(lines, at))
    }

    #[inline(always)]
    fn either_has<L: Line>(self, lines: &[L], places: [At; 2], fingerprint: u32) -> bool {
        let [first, second] = places.map(|at| A::load(lines, at));
        if let Some(lanes) = A::lanes(first, second) {
            return lanes.have(fingerprint);
        }
        let wanted = self.ones.times(R::from_u32(fingerprint));
        let [first, second] = [first, second].map(|lanes| self.lowest_zero(lanes ^ wanted));
        first | second != R::ZERO
    }

    #[inline(always)]
    fn survey<L: Line>(self, lines: &[L], places: [At; 2], fingerprint: u32) -> Survey {
        let [first, second] = places.map(|at| A::load(lines, at));
        if let Some(lanes) = A::lanes(first, second) {
            return lanes.survey(fingerprint);
        }
        let is_there = self.either_has(lines, places, fingerprint);
        Survey::new(is_there, self.free_in(first), self.free_in(second))
    }

    #[inline(always)]
    fn put(self, blocks: &mut [Block], at: At, free: u32, fingerprint: u32) {
        A::flip_from(blocks, at, free, fingerprint);
    }

    #[inline(always)]
    fn remove(self, blocks: &mut [Block], places: [At; 2], fingerprint: u32) -> bool {
        let [first, second] = places.map(|at| A::load(blocks, at));
        let lanes = A::lanes(first, second);
        let found = lanes.map(|lanes| lanes.find(fingerprint)).unwrap_or_else(|| {
            let wanted = self.ones.times(R::from_u32(fingerprint));
            let [in_first, in_second] = [first, second].map(|lanes| self.lowest_zero(lanes ^ wanted));
            let is_first = in_first != R::ZERO;
            let found = select_unpredictable(is_first, in_first, in_second);
            let from = if found == R::ZERO { NOWHERE } else { found.lowest() - self.top };
            Found { is_first, from }
        });
        if found.from == NOWHERE {
            return false;
        }
        A::take_from(blocks, places, found.is_first, found.from, fingerprint);
        true
    }

    #[inline(always)]
    fn all<L: Line>(self, lines: &[L], at: At) -> Entries {
        let lanes = A::load(lines, at);
        let mask = u32::MAX >> (32 - self.bits);
        let mut entries = Entries::default();
        for (lane, entry) in (0..self.entries).zip(&mut entries) {
            *entry = (lanes >> (lane * self.bits)).low() & mask;
        }
        entries
    }

    #[inline(always)]
    fn set_all(self, blocks: &mut [Block], at: At, entries: &Entries) {
        let mut lanes = R::ZERO;
        for (lane, entry) in (0..self.entries).zip(entries) {
            lanes = lanes | R::from_u32(*entry) << (lane * self.bits);
        }
        A::flip(blocks, at, (A::load(blocks, at) ^ lanes) & low_bits(self.width));
    }
}

/// Buckets of more than 128 bits: eight fingerprints of 17 bits and more, as two times four.
#[derive(Clone, Copy, Debug)]
pub(super) struct Halves {
    grid: Grid,
    half: Packed<u128, Window>,
}

impl Halves {
    pub(super) const fn new(bits: u32) -> Self {
        let grid = Grid::new(8 * bits);
        Self { grid, half: Packed::<u128, Window>::part(grid.halved(), 4, bits) }
    }

    /// The halves of a bucket, which are numbered as buckets half as wide.
    #[inline(always)]
    fn halves(self, at: At) -> [At; 2] {
        let number = 2 * at.index as u64;
        [number, number + 1].map(|half| self.half.at(self.half.place(half)))
    }
}

impl Buckets for Halves {
    #[inline(always)]
    fn grid(self) -> Grid {
        self.grid
    }

    #[inline(always)]
    fn entries(self) -> u32 {
        8
    }

    #[inline(always)]
    fn place(self, bucket: u64) -> Place {
        bucket
    }

    #[inline(always)]
    fn at(self, place: Place) -> At {
        <Whole as Access<u64>>::at(place)
    }

    #[inline(always)]
    fn address<L: Line>(self, lines: &[L], place: Place) -> *const L {
        self.half.address(lines, self.half.place(2 * place))
    }

    #[inline(always)]
    fn has<L: Line>(self, lines: &[L], at: At, fingerprint: u32) -> bool {
        let [low, high] = self.halves(at);
        self.half.has(lines, low, fingerprint) | self.half.has(lines, high, fingerprint)
    }

    #[inline(always)]
    fn count<L: Line>(self, lines: &[L], at: At, fingerprint: u32) -> u32 {
        self.halves(at).map(|half| self.half.count(lines, half, fingerprint)).iter().sum()
    }

    #[inline(always)]
    fn free<L: Line>(self, lines: &[L], at: At) -> u32 {
        let [low, high] = self.halves(at);
        let (low, high) = (self.half.free(lines, low), self.half.free(lines, high));
        select_unpredictable(low == NOWHERE, high.saturating_add(self.half.width), low)
    }

    #[inline(always)]
    fn put(self, blocks: &mut [Block], at: At, free: u32, fingerprint: u32) {
        let [low, high] = self.halves(at);
        if free < self.half.width {
            self.half.put(blocks, low, free, fingerprint);
        } else {
            self.half.put(blocks, high, free - self.half.width, fingerprint);
        }
    }

    #[inline(always)]
    fn remove(self, blocks: &mut [Block], [first, second]: [At; 2], fingerprint: u32) -> bool {
        let is_first = self.has(blocks, first, fingerprint);
        if !(is_first | self.has(blocks, second, fingerprint)) {
            return false;
        }
        let halves = self.halves(At::either(is_first, first, second));
        self.half.remove(blocks, halves, fingerprint)
    }

    #[inline(always)]
    fn all<L: Line>(self, lines: &[L], at: At) -> Entries {
        let [low, high] = self.halves(at).map(|half| self.half.all(lines, half));
        core::array::from_fn(|lane| if lane < 4 { low[lane] } else { high[lane - 4] })
    }

    #[inline(always)]
    fn set_all(self, blocks: &mut [Block], at: At, entries: &Entries) {
        let [low, high] = self.halves(at);
        let half = |from: usize| core::array::from_fn(|lane| if lane < 4 { entries[from + lane] } else { 0 });
        self.half.set_all(blocks, low, &half(0));
        self.half.set_all(blocks, high, &half(4));
    }
}
