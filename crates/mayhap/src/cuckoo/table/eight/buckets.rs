//! The kinds of buckets, eight at a time: the formulas of [`packed`](super::super::packed) and
//! [`sorted`](super::super::sorted), in lanes.

use core::array;

use super::super::sorted::{CODE_MASK, CODES, GATHER, GATHERED_AT, NIBBLE, NIBBLES, Sorted};
use super::register::{Eight, Lanes, Loads};
use crate::cpu::Avx512;

/// A kind of buckets as it is told to the CPU.
pub(super) trait IntoLanes {
    /// With their words loaded together, or singly.
    type Lanes<const TOGETHER: bool>: InLanes;

    fn into_lanes<const TOGETHER: bool>(self, avx512: Avx512) -> Self::Lanes<TOGETHER>;
}

/// What can be done with eight buckets, or parts of them. Each stands in the lowest bits of its lane; what stands above it
/// means nothing.
pub(super) trait InLanes: Copy {
    /// What the fingerprints are compared with.
    type Wanted: Copy;
    /// Whether to look at them, and to change them, takes a few instructions, so that the CPU starts the loads of later ones by
    /// itself.
    const ARE_SIMPLE: bool;

    /// How their words are loaded.
    const LOADS: Loads;

    fn wanted(self, fingerprints: Eight) -> Self::Wanted;
    /// Where the buckets hold what is wanted.
    fn look(self, buckets: Eight, wanted: Self::Wanted) -> Seen;
    /// The bits of the buckets that change when what was seen first in each is taken out.
    fn change_without(self, buckets: Eight, seen: Seen, wanted: Self::Wanted) -> Eight;
}

/// What a look at eight buckets found.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    /// One bit of each fingerprint that is equal, and perhaps bits above the first; zero where there is none.
    pub(super) equal: Eight,
    /// The nibbles of semi-sorted buckets; of others, anything.
    nibbles: Eight,
}

impl Seen {
    /// These, but in some of the lanes those of the other.
    #[inline(always)]
    pub(super) fn or_in(self, lanes: Lanes, other: Self) -> Self {
        Self {
            equal: self.equal.or_in(lanes, other.equal),
            nibbles: self.nibbles.or_in(lanes, other.nibbles),
        }
    }
}

/// Fingerprints side by side.
#[derive(Clone, Copy)]
pub(super) struct Packed<const TOGETHER: bool> {
    /// Bits of a fingerprint.
    bits: u32,
    /// The lowest bit of every fingerprint.
    ones: Eight,
    /// The highest bit of every fingerprint.
    tops: Eight,
}

/// So many fingerprints of so many bits.
#[derive(Clone, Copy)]
pub(super) struct SideBySide {
    pub(super) entries: u32,
    pub(super) bits: u32,
}

impl SideBySide {
    /// The lowest bit of each.
    pub(super) fn ones(self) -> u64 {
        (0..self.entries).fold(0, |ones, entry| ones | 1 << (entry * self.bits))
    }
}

impl IntoLanes for SideBySide {
    type Lanes<const TOGETHER: bool> = Packed<TOGETHER>;

    #[inline(always)]
    fn into_lanes<const TOGETHER: bool>(self, avx512: Avx512) -> Packed<TOGETHER> {
        let (bits, ones) = (self.bits, self.ones());
        Packed { bits, ones: Eight::all(avx512, ones), tops: Eight::all(avx512, ones << (bits - 1)) }
    }
}

impl<const TOGETHER: bool> InLanes for Packed<TOGETHER> {
    /// The fingerprint in every place.
    type Wanted = Eight;
    const LOADS: Loads = Loads::those(TOGETHER);
    const ARE_SIMPLE: bool = true;

    #[inline(always)]
    fn wanted(self, fingerprints: Eight) -> Eight {
        fingerprints.times(self.ones)
    }

    #[inline(always)]
    fn look(self, buckets: Eight, wanted: Eight) -> Seen {
        let differences = buckets ^ wanted;
        let equal = differences.minus(self.ones) & !differences & self.tops;
        Seen { equal, nibbles: equal }
    }

    #[inline(always)]
    fn change_without(self, _: Eight, seen: Seen, wanted: Eight) -> Eight {
        let top = seen.equal.lowest_one();
        // From the highest bit of the place to all of its bits; to none, where there is none.
        wanted & (top << 1).minus(top >> (self.bits - 1))
    }
}

/// Semi-sorted buckets.
#[derive(Clone, Copy)]
pub(super) struct SemiSorted<const TOGETHER: bool> {
    avx512: Avx512,
    /// Bits of the rest of a fingerprint.
    rest: u32,
    /// The lowest bit of every rest.
    ones: Eight,
    /// All bits of the rests but the highest of each.
    low: Eight,
    /// By nibbles that differ: the highest bits of the rests of the others.
    others: [Eight; 2],
    /// The bits where the first three rests have ended.
    ends: [Eight; 3],
}

impl IntoLanes for Sorted<u64> {
    type Lanes<const TOGETHER: bool> = SemiSorted<TOGETHER>;

    #[inline(always)]
    fn into_lanes<const TOGETHER: bool>(self, avx512: Avx512) -> SemiSorted<TOGETHER> {
        let Self { rest, ones, low, tables, .. } = self;
        let [lower, upper] = [0, 8].map(|from: usize| array::from_fn(|i| tables.others[from + i]));
        let [first, second, third] = [0b1110, 0b1101, 0b1011].map(|differing| tables.others[differing] << 1);
        SemiSorted {
            avx512,
            rest,
            ones: Eight::all(avx512, ones),
            low: Eight::all(avx512, low),
            others: [Eight::new(avx512, lower), Eight::new(avx512, upper)],
            ends: [Eight::all(avx512, first), Eight::all(avx512, second), Eight::all(avx512, third)],
        }
    }
}

impl<const TOGETHER: bool> SemiSorted<TOGETHER> {
    #[inline(always)]
    fn all(self, number: u64) -> Eight {
        Eight::all(self.avx512, number)
    }
}

impl<const TOGETHER: bool> InLanes for SemiSorted<TOGETHER> {
    /// The lowest nibble of the fingerprint four times, and its rest in every place.
    type Wanted = [Eight; 2];
    const LOADS: Loads = Loads::those(TOGETHER);
    const ARE_SIMPLE: bool = false;

    #[inline(always)]
    fn wanted(self, fingerprints: Eight) -> [Eight; 2] {
        let nibbles = (fingerprints & self.all(15)).halves_times(self.all(0x1111));
        [nibbles, (fingerprints >> NIBBLE).times(self.ones)]
    }

    #[inline(always)]
    fn look(self, buckets: Eight, [wanted_nibbles, wanted_rests]: [Eight; 2]) -> Seen {
        let nibbles = buckets.looked_up(&NIBBLES, Self::LOADS);
        let (sevens, eights) = (self.all(0x7777), self.all(0x8888));
        let differences = nibbles ^ wanted_nibbles;
        let differing = ((differences & sevens).plus(sevens) | differences) & eights;
        let others =
            (differing.halves_times(self.all(u64::from(GATHER))) >> GATHERED_AT).chosen_from(self.others);
        let differences = buckets ^ wanted_rests;
        let equal = others & !((differences & self.low).plus(self.low) | differences);
        Seen { equal, nibbles }
    }

    #[inline(always)]
    fn change_without(self, buckets: Eight, Seen { equal, nibbles }: Seen, _: [Eight; 2]) -> Eight {
        let through = equal ^ equal.minus(self.all(1));
        // As many nibbles of ones as there are rests before the one that goes.
        let [first, second, third] = self.ends;
        let before = self
            .all(0)
            .or_in(through.above(first), self.all(0xf))
            .or_in(through.above(second), self.all(0xff))
            .or_in(through.above(third), self.all(0xfff));
        let behind = nibbles >> NIBBLE;
        let code = (behind ^ (behind ^ nibbles) & before).looked_up(&CODES, Self::LOADS);
        let rests = buckets & self.all(!u64::from(CODE_MASK));
        (buckets ^ rests << self.rest) & through ^ code
    }
}
