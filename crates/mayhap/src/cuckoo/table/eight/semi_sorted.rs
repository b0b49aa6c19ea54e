//! Semi-sorted buckets: the formulas of [`sorted`](super::super::sorted), in lanes.
//!
//! A look at such buckets goes to memory twice, for their bytes and for the nibbles that their codes stand for, and a delete once
//! more, for the code that is left. Each time numbers are taken out of their lanes, which is a store and eight loads, and words
//! are put into lanes. One after the other these ways are longer than all that a core does for a group meanwhile, and it
//! has room for little more than one group. So several groups are under way, each of them one step further in every turn: a step
//! leaves in memory what the next one loads, a turn later (decision 153).

use super::super::buckets::Format;
use super::super::sorted::{CODE_MASK, CODES, GATHER, GATHERED_AT, NIBBLE, NIBBLES, Sorted};
use super::places::{Begun, Located, PlacesOfEight};
use super::register::{Eight, InRow, Lanes, Loads, ToLoad, ToLookUp};
use super::{
    Answers, Group, InEights, InLanes, OneByOne, Pair, at_most_last, place_in_row, prefetch_each,
    take_out_each,
};
use crate::bits::{Block, Line};
use crate::cpu::Avx512;

/// From how many bytes of lines on they are asked for two turns before they are read. In smaller tables a turn or two is time
/// enough for what is read, and addresses that are taken out of their lanes twice are not free (deletes take up to a fourth more).
const PREFETCH: usize = 24 << 20;

/// A table of such buckets. How words are loaded, and whether it is a filter by itself or the first of its layers, is told to the
/// compiler.
#[derive(Clone, Copy)]
pub(super) struct SemiSorted<'a, const TOGETHER: bool, const IS_FIRST: bool> {
    avx512: Avx512,
    format: &'a Format,
    places: PlacesOfEight<'a>,
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

/// Where the buckets of eight digests are.
#[derive(Clone, Copy)]
struct Placed {
    buckets: [Place; 2],
    fingerprints: Eight,
}

/// Where one bucket of each is: the bytes from which on it is read, and the bits before it.
#[derive(Clone, Copy)]
struct Place {
    bytes: InRow,
    before: Eight,
}

/// The same digests when their buckets have been read.
#[derive(Clone, Copy)]
struct Read {
    placed: Placed,
    /// All that was read.
    words: [Eight; 2],
}

/// What the steps leave in memory for those after them.
struct Left {
    /// By [`leave`](SemiSorted::leave).
    bytes: [ToLoad; 2],
    /// By [`read`](SemiSorted::read).
    nibbles: [ToLookUp; 2],
    /// By [`find`](SemiSorted::find).
    code: ToLookUp,
}

/// What a look at one bucket of each of eight digests found.
#[derive(Clone, Copy)]
struct Seen {
    place: Place,
    words: Eight,
    nibbles: Eight,
    /// One bit of each fingerprint that is equal; zero where there is none.
    equal: Eight,
}

/// Eight deletes of which it is known what to take out.
#[derive(Clone, Copy)]
struct Found {
    /// Whether there is something.
    lanes: Lanes,
    place: Place,
    words: Eight,
    /// The bits of the buckets that change, but for their codes.
    change: Eight,
}

impl<const TOGETHER: bool, const IS_FIRST: bool> SemiSorted<'_, TOGETHER, IS_FIRST> {
    const LOADS: Loads = Loads::those(TOGETHER);

    #[inline(always)]
    fn all(self, number: u64) -> Eight {
        Eight::all(self.avx512, number)
    }

    #[inline(always)]
    fn begin(self, digests: &[Group], number: usize) -> Begun {
        self.places.begin(at_most_last(digests, number))
    }

    /// Where the buckets of a group are. Their lines are asked for if that is said.
    #[inline(always)]
    fn place<L>(self, lines: &[L], begun: Begun, prefetch: bool) -> Placed {
        let Located { first, second, fingerprints } = self.places.first_bits(begun, IS_FIRST);
        let (first, second) = (self.place_of(lines, first), self.place_of(lines, second));
        if prefetch {
            prefetch_each(lines, first.bytes.numbers());
            prefetch_each(lines, second.bytes.numbers());
        }
        Placed { buckets: [first, second], fingerprints }
    }

    #[inline(always)]
    fn place_of<L>(self, lines: &[L], bit: Eight) -> Place {
        let (bytes, before) = place_in_row(lines, bit);
        Place { bytes, before }
    }

    /// With nothing in it yet.
    #[inline(always)]
    fn left<L>(self, lines: &[L]) -> Left {
        let (bytes, nothing) = (InRow::new(self.all(0), lines), ToLookUp::nothing(self.ones));
        Left { bytes: [ToLoad::new(bytes); 2], nibbles: [nothing; 2], code: nothing }
    }

    /// Leaves in memory what is read next.
    #[inline(always)]
    fn leave(self, placed: Placed, left: &mut Left) -> Placed {
        left.bytes[0].set(placed.buckets[0].bytes, Self::LOADS);
        left.bytes[1].set(placed.buckets[1].bytes, Self::LOADS);
        placed
    }

    #[inline(always)]
    fn read<L: Line>(self, lines: &[L], placed: Placed, left: &mut Left) -> Read {
        let [first, second] = placed.buckets;
        let words = [left.bytes[0].load(lines, Self::LOADS), left.bytes[1].load(lines, Self::LOADS)];
        left.nibbles[0].set(words[0].each_down(first.before), Self::LOADS);
        left.nibbles[1].set(words[1].each_down(second.before), Self::LOADS);
        Read { placed, words }
    }

    /// What is in the first bucket of each, and in the second.
    #[inline(always)]
    fn look(self, read: Read, left: &Left) -> [Seen; 2] {
        let fingerprints = read.placed.fingerprints;
        let nibbles = (fingerprints & self.all(15)).halves_times(self.all(0x1111));
        let wanted = [nibbles, (fingerprints >> NIBBLE).times(self.ones)];
        [self.look_at(read, left, wanted, 0), self.look_at(read, left, wanted, 1)]
    }

    /// By the lowest nibble of the wanted fingerprint four times, and its rest in every place.
    #[inline(always)]
    fn look_at(self, read: Read, left: &Left, [nibble, rest]: [Eight; 2], number: usize) -> Seen {
        let (place, words) = (read.placed.buckets[number], read.words[number]);
        let nibbles = left.nibbles[number].look_up(&NIBBLES, Self::LOADS);
        let (sevens, eights) = (self.all(0x7777), self.all(0x8888));
        let differences = nibbles ^ nibble;
        let differing = ((differences & sevens).plus(sevens) | differences) & eights;
        let others =
            (differing.halves_times(self.all(u64::from(GATHER))) >> GATHERED_AT).chosen_from(self.others);
        let differences = words.each_down(place.before) ^ rest;
        let equal = others & !((differences & self.low).plus(self.low) | differences);
        Seen { place, words, nibbles, equal }
    }

    /// What to take out: from the first bucket, where that has it.
    #[inline(always)]
    fn find(self, read: Read, left: &mut Left) -> Found {
        let [first, second] = self.look(read, left);
        let in_second = first.equal.zero();
        let place = Place {
            bytes: first.place.bytes.or_in(in_second, second.place.bytes),
            before: first.place.before.or_in(in_second, second.place.before),
        };
        let words = first.words.or_in(in_second, second.words);
        let nibbles = first.nibbles.or_in(in_second, second.nibbles);
        let equal = first.equal.or_in(in_second, second.equal);
        let lanes = equal.not_zero();
        let mut change = equal;
        if !lanes.are_none() {
            let through = equal ^ equal.minus(self.all(1));
            // As many nibbles of ones as there are rests before the one that goes.
            let [first, second, third] = self.ends;
            let before = self
                .all(0)
                .or_in(through.above(first), self.all(0xf))
                .or_in(through.above(second), self.all(0xff))
                .or_in(through.above(third), self.all(0xfff));
            let behind = nibbles >> NIBBLE;
            left.code.set(behind ^ (behind ^ nibbles) & before, Self::LOADS);
            let bucket = words.each_down(place.before);
            let rests = bucket & self.all(!u64::from(CODE_MASK));
            change = (bucket ^ rests << self.rest) & through;
        }
        Found { lanes, place, words, change }
    }

    /// Eight deletes, to be made one after the other.
    #[inline(always)]
    fn work_out(self, found: Found, left: &Left, one_by_one: &mut OneByOne) {
        let Found { lanes, place, words, change } = found;
        let change = change ^ left.code.look_up(&CODES, Self::LOADS);
        // Who isn't there is written as it was: which lanes those are can't be predicted.
        let after = words.or_in(lanes, words ^ change.each_up(place.before));
        one_by_one.store(place.bytes, words, after);
    }
}

impl<'a, const TOGETHER: bool, const IS_FIRST: bool> InLanes<'a> for SemiSorted<'a, TOGETHER, IS_FIRST> {
    type Buckets = Sorted<u64>;

    #[inline(always)]
    fn new(table: InEights<'a>, buckets: Sorted<u64>) -> Self {
        let InEights { avx512, format, .. } = table;
        let Sorted { rest, ones, low, tables, .. } = buckets;
        let [mut lower, mut upper] = [[0; 8]; 2];
        lower.copy_from_slice(&tables.others[..8]);
        upper.copy_from_slice(&tables.others[8..]);
        Self {
            avx512,
            format,
            places: table.places_of_eight(),
            rest,
            ones: Eight::all(avx512, ones),
            low: Eight::all(avx512, low),
            others: [Eight::new(avx512, lower), Eight::new(avx512, upper)],
            ends: [
                Eight::all(avx512, tables.others[0b1110] << 1),
                Eight::all(avx512, tables.others[0b1101] << 1),
                Eight::all(avx512, tables.others[0b1011] << 1),
            ],
        }
    }

    #[inline(always)]
    fn contains<L: Line>(self, lines: &[L], digests: &[Group], found: &mut [Answers]) {
        let prefetch = size_of_val(lines) >= PREFETCH;
        let mut left = self.left(lines);
        let placed = self.leave(self.place(lines, self.begin(digests, 0), prefetch), &mut left);
        let mut read = self.read(lines, placed, &mut left);
        let mut placed = self.leave(self.place(lines, self.begin(digests, 1), prefetch), &mut left);
        let mut coming = self.place(lines, self.begin(digests, 2), prefetch);
        let mut begun = self.begin(digests, 3);
        for (number, found) in found.iter_mut().enumerate() {
            let [first, second] = self.look(read, &left);
            (first.equal | second.equal).not_zero().answer(found);
            read = self.read(lines, placed, &mut left);
            placed = self.leave(coming, &mut left);
            coming = self.place(lines, begun, prefetch);
            begun = self.begin(digests, number + 4);
        }
    }

    #[inline(always)]
    fn remove(self, blocks: &mut [Block], digests: &[Pair<Group>], removed: &mut [Pair<Answers>]) {
        let (digests, removed) = (digests.as_flattened(), removed.as_flattened_mut());
        let prefetch = size_of_val(blocks) >= PREFETCH;
        let (mut left, mut one_by_one) = (self.left(blocks), OneByOne::default());
        let placed = self.leave(self.place(blocks, self.begin(digests, 0), prefetch), &mut left);
        let read = self.read(blocks, placed, &mut left);
        let mut found = self.find(read, &mut left);
        let placed = self.leave(self.place(blocks, self.begin(digests, 1), prefetch), &mut left);
        let mut read = self.read(blocks, placed, &mut left);
        let mut placed = self.leave(self.place(blocks, self.begin(digests, 2), prefetch), &mut left);
        let mut coming = self.place(blocks, self.begin(digests, 3), prefetch);
        let mut begun = self.begin(digests, 4);
        for (number, (group, removed)) in digests.iter().zip(removed).enumerate() {
            // None are found where it isn't a layer that has these keys.
            let lanes = found.lanes;
            if !lanes.are_none() {
                self.work_out(found, &left, &mut one_by_one);
            }
            found = self.find(read, &mut left);
            read = self.read(blocks, placed, &mut left);
            placed = self.leave(coming, &mut left);
            coming = self.place(blocks, begun, prefetch);
            begun = self.begin(digests, number + 5);
            lanes.answer(removed);
            if !lanes.are_none() {
                take_out_each(self.format, self.places.places, blocks, &one_by_one, group, removed);
            }
        }
    }
}
