//! Buckets whose fingerprints stand side by side, compared all at once in a register.

use core::hint::select_unpredictable;

use super::buckets::{Buckets, Entries, Grid, NOWHERE};
use super::register::Register;
use crate::bits::{Block, Line};

/// Buckets of up to 64 (`u64`) or 128 (`u128`) bits.
///
/// A constant of this type, passed to inlined code, compiles to that one layout: the widths are then known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed<R> {
    grid: Grid,
    entries: u32,
    /// Bits of a fingerprint: the width of a lane.
    bits: u32,
    /// Bits of all lanes.
    width: u32,
    /// The lowest bit of every lane.
    ones: R,
    /// The highest bit of every lane.
    tops: R,
}

macro_rules! constructor {
    ($register:ty) => {
        impl Packed<$register> {
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
                Self { grid, entries, bits, width: entries * bits, ones, tops: ones << (bits - 1) }
            }
        }
    };
}

constructor!(u64);
constructor!(u128);

impl<R: Register> Packed<R> {
    #[inline(always)]
    fn load<L: Line>(self, line: &L, at: u32) -> R {
        R::load(line, at, self.width)
    }

    /// Zero in the lanes that hold the fingerprint.
    #[inline(always)]
    fn differences<L: Line>(self, line: &L, at: u32, fingerprint: u32) -> R {
        self.load(line, at) ^ self.ones.times(R::from_u32(fingerprint))
    }

    /// The highest bit of the lowest lane that is zero, and perhaps of lanes above it; nothing when no lane is zero.
    /// A borrow out of a zero lane can make the lanes above it look like zeros, never those below.
    #[inline(always)]
    fn lowest_zero(self, lanes: R) -> R {
        lanes.minus(self.ones) & !lanes & self.tops
    }

    /// The highest bit of every lane that is zero, and of no other.
    #[inline(always)]
    fn all_zeros(self, lanes: R) -> R {
        let rest = self.tops.minus(self.ones);
        !((lanes & rest).plus(rest) | lanes) & self.tops
    }

    /// The lowest bit of the lane whose highest bit is the lowest of `tops`. There is one.
    #[inline(always)]
    fn lane_of(self, tops: R) -> u32 {
        tops.lowest() + 1 - self.bits
    }
}

impl<R: Register> Buckets for Packed<R> {
    /// As [`lowest_zero`](Self::lowest_zero) has it.
    type Found = R;

    #[inline(always)]
    fn grid(self) -> Grid {
        self.grid
    }

    #[inline(always)]
    fn entries(self) -> u32 {
        self.entries
    }

    #[inline(always)]
    fn has<L: Line>(self, line: &L, at: u32, fingerprint: u32) -> bool {
        self.lowest_zero(self.differences(line, at, fingerprint)) != R::ZERO
    }

    #[inline(always)]
    fn count<L: Line>(self, line: &L, at: u32, fingerprint: u32) -> u32 {
        self.all_zeros(self.differences(line, at, fingerprint)).ones()
    }

    #[inline(always)]
    fn free<L: Line>(self, line: &L, at: u32) -> u32 {
        let free = self.lowest_zero(self.load(line, at));
        select_unpredictable(free == R::ZERO, NOWHERE, self.lane_of(free))
    }

    #[inline(always)]
    fn put(self, block: &mut Block, at: u32, place: u32, fingerprint: u32) {
        let lanes = self.load(block, at) | R::from_u32(fingerprint) << place;
        lanes.store(block, at, self.width);
    }

    #[inline(always)]
    fn find<L: Line>(self, line: &L, at: u32, fingerprint: u32) -> R {
        self.lowest_zero(self.differences(line, at, fingerprint))
    }

    #[inline(always)]
    fn is_found(found: R) -> bool {
        found != R::ZERO
    }

    #[inline(always)]
    fn take(self, block: &mut Block, at: u32, found: R) {
        let lane = R::from_u32(u32::MAX >> (32 - self.bits)) << self.lane_of(found);
        (self.load(block, at) & !lane).store(block, at, self.width);
    }

    #[inline(always)]
    fn all<L: Line>(self, line: &L, at: u32) -> Entries {
        let lanes = self.load(line, at);
        let mask = u32::MAX >> (32 - self.bits);
        let mut entries = Entries::default();
        for (lane, entry) in (0..self.entries).zip(&mut entries) {
            *entry = (lanes >> (lane * self.bits)).low() & mask;
        }
        entries
    }

    #[inline(always)]
    fn set_all(self, block: &mut Block, at: u32, entries: &Entries) {
        let mut lanes = R::ZERO;
        for (lane, entry) in (0..self.entries).zip(entries) {
            lanes = lanes | R::from_u32(*entry) << (lane * self.bits);
        }
        lanes.store(block, at, self.width);
    }
}

/// Buckets of more than 128 bits: eight fingerprints of 17 bits and more, as two times four.
#[derive(Clone, Copy, Debug)]
pub(super) struct Halves(Packed<u128>);

impl Halves {
    pub(super) const fn new(bits: u32) -> Self {
        Self(Packed::<u128>::part(Grid::new(8 * bits), 4, bits))
    }

    /// Where the halves of a bucket begin.
    #[inline(always)]
    fn halves(self, at: u32) -> [u32; 2] {
        [at, at + self.0.width]
    }
}

impl Buckets for Halves {
    type Found = [u128; 2];

    #[inline(always)]
    fn grid(self) -> Grid {
        self.0.grid
    }

    #[inline(always)]
    fn entries(self) -> u32 {
        8
    }

    #[inline(always)]
    fn has<L: Line>(self, line: &L, at: u32, fingerprint: u32) -> bool {
        let [low, high] = self.halves(at);
        self.0.has(line, low, fingerprint) | self.0.has(line, high, fingerprint)
    }

    #[inline(always)]
    fn count<L: Line>(self, line: &L, at: u32, fingerprint: u32) -> u32 {
        self.halves(at).map(|half| self.0.count(line, half, fingerprint)).iter().sum()
    }

    #[inline(always)]
    fn free<L: Line>(self, line: &L, at: u32) -> u32 {
        let [low, high] = self.halves(at);
        let (low, high) = (self.0.free(line, low), self.0.free(line, high));
        select_unpredictable(low == NOWHERE, high.saturating_add(self.0.width), low)
    }

    #[inline(always)]
    fn put(self, block: &mut Block, at: u32, place: u32, fingerprint: u32) {
        let [low, high] = self.halves(at);
        if place < self.0.width {
            self.0.put(block, low, place, fingerprint);
        } else {
            self.0.put(block, high, place - self.0.width, fingerprint);
        }
    }

    #[inline(always)]
    fn find<L: Line>(self, line: &L, at: u32, fingerprint: u32) -> [u128; 2] {
        self.halves(at).map(|half| self.0.find(line, half, fingerprint))
    }

    #[inline(always)]
    fn is_found([low, high]: [u128; 2]) -> bool {
        low | high != 0
    }

    #[inline(always)]
    fn take(self, block: &mut Block, at: u32, found: [u128; 2]) {
        let half = usize::from(found[0] == 0);
        self.0.take(block, self.halves(at)[half], found[half]);
    }

    #[inline(always)]
    fn all<L: Line>(self, line: &L, at: u32) -> Entries {
        let [low, high] = self.halves(at).map(|half| self.0.all(line, half));
        core::array::from_fn(|lane| if lane < 4 { low[lane] } else { high[lane - 4] })
    }

    #[inline(always)]
    fn set_all(self, block: &mut Block, at: u32, entries: &Entries) {
        let [low, high] = self.halves(at);
        let half = |from: usize| core::array::from_fn(|lane| if lane < 4 { entries[from + lane] } else { 0 });
        self.0.set_all(block, low, &half(0));
        self.0.set_all(block, high, &half(4));
    }
}
