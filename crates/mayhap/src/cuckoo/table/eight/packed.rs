//! Fingerprints side by side: the formulas of [`packed`](super::super::packed), in lanes.

use super::super::buckets::Format;
use super::places::{Located, PlacesOfEight};
use super::register::{Eight, InRow, Lanes, Loads};
use super::{
    Answers, Group, InEights, InLanes, OneByOne, Pair, at_most_last, place_in_row, prefetch_each,
    take_out_each,
};
use crate::bits::{Block, Line};
use crate::cpu::Avx512;

/// The places of digests are worked out so many turns before they are looked at.
const AHEAD: usize = 2;

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

/// A table of such buckets, each in so many parts. How words are loaded is told to the compiler.
#[derive(Clone, Copy)]
pub(super) struct Packed<'a, const PARTS: usize, const TOGETHER: bool> {
    avx512: Avx512,
    format: &'a Format,
    places: PlacesOfEight<'a>,
    /// Bits of a fingerprint.
    bits: u32,
    /// The lowest bit of every fingerprint of a part.
    ones: Eight,
    /// The highest bit of every fingerprint of a part.
    tops: Eight,
    /// The bits from the beginning of a part to that of the next.
    part_bits: u32,
}

/// A part of eight buckets that was looked at.
#[derive(Clone, Copy)]
struct Part {
    /// The bytes from which on it was read, and the bits before it.
    bytes: InRow,
    before: Eight,
    /// All that was read.
    words: Eight,
    /// One bit of each fingerprint that is equal, and perhaps bits above the first; zero where there is none.
    equal: Eight,
}

impl Part {
    /// These, but in some of the lanes those of the other.
    #[inline(always)]
    fn or_in(self, lanes: Lanes, other: Self) -> Self {
        Self {
            bytes: self.bytes.or_in(lanes, other.bytes),
            before: self.before.or_in(lanes, other.before),
            words: self.words.or_in(lanes, other.words),
            equal: self.equal.or_in(lanes, other.equal),
        }
    }
}

impl<const PARTS: usize, const TOGETHER: bool> Packed<'_, PARTS, TOGETHER> {
    /// From how many bytes of lines on they are asked for before they are looked at. Sixteen addresses taken out of their lanes
    /// for it take as long as a third of eight questions, and in smaller tables the CPU runs ahead of the loads by itself; where
    /// a look is short even far beyond the core's own cache, unless what is written holds it up (decision 145).
    const PREFETCH_TO_READ: usize = if PARTS == 1 { 32 << 20 } else { Self::PREFETCH_TO_WRITE };
    const PREFETCH_TO_WRITE: usize = 1 << 20;

    #[inline(always)]
    fn all(self, number: u64) -> Eight {
        Eight::all(self.avx512, number)
    }

    #[inline(always)]
    fn locate(self, group: &Group) -> Located {
        self.places.first_bits(self.places.begin(group), self.places.places.is_first)
    }

    #[inline(always)]
    fn locate_two(self, [first, second]: &Pair<Group>) -> Pair<Located> {
        [self.locate(first), self.locate(second)]
    }

    #[inline(always)]
    fn prefetch<L>(lines: &[L], located: Located) {
        prefetch_each(lines, located.first >> 3);
        prefetch_each(lines, located.second >> 3);
    }

    /// The fingerprints in every place of a part.
    #[inline(always)]
    fn wanted(self, located: Located) -> Eight {
        located.fingerprints.times(self.ones)
    }

    /// The part with this number of the buckets that begin with these bits.
    #[inline(always)]
    fn look_at<L: Line>(self, lines: &[L], bucket: Eight, number: usize, wanted: Eight) -> Part {
        let bit = bucket.plus(self.all(number as u64 * u64::from(self.part_bits)));
        let (bytes, before) = place_in_row(lines, bit);
        let words = bytes.eight_bytes_of(lines, Loads::those(TOGETHER));
        let differences = words.each_down(before) ^ wanted;
        Part { bytes, before, words, equal: differences.minus(self.ones) & !differences & self.tops }
    }

    /// What it takes to remove these: what was found, and the words that shall stand there then.
    #[inline(always)]
    fn work_out(self, blocks: &[Block], located: Located, one_by_one: &mut OneByOne) -> Lanes {
        let wanted = self.wanted(located);
        // The first part that has it, for each lane.
        let mut part = self.look_at(blocks, located.first, 0, wanted);
        for (bucket, numbers) in [(located.first, 1..PARTS), (located.second, 0..PARTS)] {
            for number in numbers {
                part = part.or_in(part.equal.zero(), self.look_at(blocks, bucket, number, wanted));
            }
        }
        let Part { bytes, before, words, equal } = part;
        let found = equal.not_zero();
        let top = equal.lowest_one();
        // From the highest bit of the place to all of its bits; to none, where there is none.
        let change = wanted & (top << 1).minus(top >> (self.bits - 1));
        // Who isn't there is written as it was: which lanes those are can't be predicted.
        one_by_one.store(bytes, words, words.or_in(found, words ^ change.each_up(before)));
        found
    }
}

impl<'a, const PARTS: usize, const TOGETHER: bool> InLanes<'a> for Packed<'a, PARTS, TOGETHER> {
    type Buckets = SideBySide;

    #[inline(always)]
    fn new(table: InEights<'a>, part: SideBySide) -> Self {
        let InEights { avx512, format, .. } = table;
        let (bits, ones) = (part.bits, part.ones());
        Self {
            avx512,
            format,
            places: table.places_of_eight(),
            bits,
            ones: Eight::all(avx512, ones),
            tops: Eight::all(avx512, ones << (bits - 1)),
            part_bits: part.entries * bits,
        }
    }

    #[inline(always)]
    fn contains<L: Line>(self, lines: &[L], digests: &[Group], found: &mut [Answers]) {
        let prefetch = size_of_val(lines) >= Self::PREFETCH_TO_READ;
        let mut current = self.locate(at_most_last(digests, 0));
        let mut next = self.locate(at_most_last(digests, 1));
        if prefetch {
            Self::prefetch(lines, current);
            Self::prefetch(lines, next);
        }
        let mut begun = self.places.begin(at_most_last(digests, AHEAD));
        for (number, found) in found.iter_mut().enumerate() {
            let wanted = self.wanted(current);
            let mut equal = self.all(0);
            for bucket in [current.first, current.second] {
                for part in 0..PARTS {
                    equal = equal | self.look_at(lines, bucket, part, wanted).equal;
                }
            }
            // Between the loads and what waits for them: before the loads, hits in the cache take a fifth longer. And half of the
            // recipe a turn before the other half: so they take up to a seventh less.
            let coming = self.places.first_bits(begun, self.places.places.is_first);
            if prefetch {
                Self::prefetch(lines, coming);
            }
            begun = self.places.begin(at_most_last(digests, number + AHEAD + 1));
            equal.not_zero().answer(found);
            (current, next) = (next, coming);
        }
    }

    #[inline(always)]
    fn remove(self, blocks: &mut [Block], digests: &[Pair<Group>], removed: &mut [Pair<Answers>]) {
        let prefetch = size_of_val(blocks) >= Self::PREFETCH_TO_WRITE;
        let mut one_by_one = Pair::<OneByOne>::default();
        let (mut current, mut next) =
            (self.locate_two(at_most_last(digests, 0)), self.locate_two(at_most_last(digests, 1)));
        if prefetch {
            Self::prefetch(blocks, current[0]);
        }
        for (number, (groups, removed)) in digests.iter().zip(removed).enumerate() {
            // Eight digests at a time, and not before the eight that are looked at before them (decision 152).
            if prefetch {
                Self::prefetch(blocks, current[1]);
            }
            // One after the other in the text, too: in a loop over both, deletes from memory take 20 ns instead of 12.
            let first = self.work_out(blocks, current[0], &mut one_by_one[0]);
            if prefetch {
                Self::prefetch(blocks, next[0]);
            }
            let second = self.work_out(blocks, current[1], &mut one_by_one[1]);
            // Here and not before: with the writes right after they were worked out, deletes take a third longer.
            let coming = self.locate_two(at_most_last(digests, number + AHEAD));
            first.answer(&mut removed[0]);
            second.answer(&mut removed[1]);
            for ((removals, group), removed) in one_by_one.iter().zip(groups).zip(removed) {
                take_out_each(self.format, self.places.places, blocks, removals, group, removed);
            }
            (current, next) = (next, coming);
        }
    }
}
