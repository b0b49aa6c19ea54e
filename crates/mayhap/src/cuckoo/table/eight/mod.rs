//! Eight digests at a time, one in each lane of AVX-512's registers: questions and deletes in batches.
//!
//! What [`many`](super::many) does with one digest after another takes some 180 instructions for each, and more than half
//! of the time goes into those instead of into waiting for memory. Here eight digests share them: the recipe of their
//! [`places`], and what their [`buckets`] are asked, in a [`register`] that loads eight bytes for every lane.
//!
//! Sixteen deletes are worked out from what was read, and written later, one digest after another. By then an earlier one
//! may have changed the same bytes: who finds others than were read starts again, by itself. That keeps the order: taking
//! one fingerprint out never brings in another, so what wasn't there when it was looked for isn't there later.
//!
//! Buckets that are [`words`] of eight bytes are looked at one after another, and share their places only.

mod buckets;
mod places;
mod register;
#[cfg(test)]
mod tests;
mod words;

use core::marker::PhantomData;

use super::Remove;
use super::access::{fits_64, index};
use super::buckets::{Format, Grid};
use super::places::Places;
use super::sorted::Sorted;
use crate::bits::{BLOCK_BYTES, Block, Line, prefetch_address, set_eight_bytes};
use crate::cpu::{Avx2, Avx512, Work, gathers_quickly};
use crate::cuckoo::layout::CuckooLayout;
use crate::hash::Digest;
use buckets::{InLanes, IntoLanes, Seen, SideBySide};
use places::{Located, PlacesOfEight, has_places_of_eight};
use register::{Eight, InRow, Lanes, Loads, Numbers};
use words::{Fingerprint, Words};

/// The lines of digests are asked for so many turns before they are looked at.
const AHEAD: usize = 2;

type Group = [Digest; 8];
type Answers = [bool; 8];

/// Two groups are removed in a turn: there is more to be done between reading and writing then.
type Pair<T> = [T; 2];

/// A table whose batches are done so.
#[derive(Clone, Copy)]
pub(super) struct InEights<'a> {
    avx512: Avx512,
    loads: Loads,
    format: &'a Format,
    kind: Kind,
    places: &'a Places,
    grid: Grid,
}

/// How buckets are put into lanes of 64 bits.
#[derive(Clone, Copy)]
enum Kind {
    Sorted(Sorted<u64>),
    Packed(SideBySide),
    /// Buckets of 64 bits, which are put there for their places only.
    Words(SideBySide),
    /// The halves of buckets that are too wide.
    Halves(SideBySide),
}

impl<'a> InEights<'a> {
    /// Nothing on other CPUs, for tables of 2³² buckets and more, for the widest buckets, and for a few digests.
    pub(super) fn of(
        layout: CuckooLayout,
        format: &'a Format,
        places: &'a Places,
        digests: usize,
    ) -> Option<Self> {
        if digests < size_of::<Pair<Answers>>() || !has_places_of_eight(places) {
            return None;
        }
        let avx512 = Avx2::detect()?.avx512()?;
        let (entries, bits) = (layout.entries_per_bucket(), layout.fingerprint_bits());
        let kind = match *format {
            Format::Sorted(buckets) => Kind::Sorted(buckets),
            Format::SortedWide(_) => return None,
            _ if entries * bits == u64::BITS => Kind::Words(SideBySide { entries, bits }),
            _ if fits_64(entries * bits) => Kind::Packed(SideBySide { entries, bits }),
            _ if fits_64(entries / 2 * bits) => Kind::Halves(SideBySide { entries: entries / 2, bits }),
            _ => return None,
        };
        let loads = Loads::those(gathers_quickly());
        Some(Self { avx512, loads, format, kind, places, grid: Grid::new(layout.bucket_bits()) })
    }

    /// `found[i]` for the i-th digest, in whole groups: for as many of the first digests as it tells.
    pub(super) fn contains<L: Line>(self, lines: &[L], digests: &[Digest], found: &mut [bool]) -> usize {
        let (digests, found) = (digests.as_chunks().0, found.as_chunks_mut().0);
        self.run(Contains { lines, digests, found });
        size_of_val(found)
    }

    /// `removed[i]` for the i-th digest, likewise.
    pub(super) fn remove(self, blocks: &mut [Block], digests: &[Digest], removed: &mut [bool]) -> usize {
        let digests = digests.as_chunks().0.as_chunks().0;
        let removed = removed.as_chunks_mut().0.as_chunks_mut().0;
        self.run(RemoveEach { blocks, digests, removed });
        size_of_val(removed)
    }

    fn run(self, batch: impl Batch) {
        match self.kind {
            Kind::Sorted(buckets) => self.run_on::<_, 1>(buckets, 0, batch),
            Kind::Packed(buckets) => self.run_on::<_, 1>(buckets, 0, batch),
            Kind::Words(buckets) if buckets.bits == u8::BITS => self.run_on_words::<u8>(buckets, batch),
            Kind::Words(buckets) if buckets.bits == u16::BITS => self.run_on_words::<u16>(buckets, batch),
            Kind::Words(buckets) => self.run_on_words::<u32>(buckets, batch),
            Kind::Halves(half) => self.run_on::<_, 2>(half, half.entries * half.bits, batch),
        }
    }

    fn run_on_words<F: Fingerprint>(self, buckets: SideBySide, batch: impl Batch) {
        if self.places.is_first {
            self.avx512.run(OfWords::<F, _, true> { table: self, buckets, batch, of: PhantomData });
        } else {
            self.avx512.run(OfWords::<F, _, false> { table: self, buckets, batch, of: PhantomData });
        }
    }

    fn run_on<B: IntoLanes, const PARTS: usize>(self, buckets: B, part_bits: u32, batch: impl Batch) {
        match self.loads {
            Loads::Together => {
                self.avx512.run(OfKind::<_, _, PARTS, true> { table: self, buckets, part_bits, batch });
            }
            Loads::Singly => {
                self.avx512.run(OfKind::<_, _, PARTS, false> { table: self, buckets, part_bits, batch });
            }
        }
    }
}

/// One of a row, or the last where there are no more.
#[inline(always)]
fn at_most_last<T>(row: &[T], number: usize) -> &T {
    &row[number.min(row.len() - 1)]
}

/// Something to be compiled for each kind.
trait Batch {
    fn run<B: InLanes, const PARTS: usize>(self, table: Table<'_, B, PARTS>);
    fn run_on_words<F: Fingerprint, const IS_FIRST: bool>(self, words: Words<'_, F, IS_FIRST>);
}

/// A batch on buckets of one kind, in a function of its own: with the loops of all kinds in one, the compiler keeps what
/// they have in common, and too little of what one of them needs, in registers.
struct OfKind<'a, B, T, const PARTS: usize, const TOGETHER: bool> {
    table: InEights<'a>,
    buckets: B,
    part_bits: u32,
    batch: T,
}

impl<B: IntoLanes, T: Batch, const PARTS: usize, const TOGETHER: bool> Work
    for OfKind<'_, B, T, PARTS, TOGETHER>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { table: InEights { avx512, format, places, grid, .. }, buckets, part_bits, batch } = self;
        let places = PlacesOfEight::new(avx512, places, grid);
        let buckets = buckets.into_lanes::<TOGETHER>(avx512);
        batch.run(Table::<_, PARTS> { avx512, format, buckets, part_bits, places });
    }
}

/// The same on words.
struct OfWords<'a, F, T, const IS_FIRST: bool> {
    table: InEights<'a>,
    buckets: SideBySide,
    batch: T,
    of: PhantomData<F>,
}

impl<F: Fingerprint, T: Batch, const IS_FIRST: bool> Work for OfWords<'_, F, T, IS_FIRST> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { table: InEights { avx512, places, grid, .. }, buckets, batch, .. } = self;
        let places = PlacesOfEight::new(avx512, places, grid);
        batch.run_on_words(Words::<F, IS_FIRST>::new(places, Eight::all(avx512, buckets.ones())));
    }
}

/// A table of one kind, each of its buckets in so many parts.
#[derive(Clone, Copy)]
struct Table<'a, B, const PARTS: usize> {
    avx512: Avx512,
    format: &'a Format,
    buckets: B,
    /// The bits from the beginning of a part to that of the next.
    part_bits: u32,
    places: PlacesOfEight<'a>,
}

/// A part of eight buckets as it was read.
#[derive(Clone, Copy)]
struct Part {
    /// The bytes from which on it was read, and the bits before it.
    bytes: InRow,
    before: Eight,
    /// All that was read.
    words: Eight,
    seen: Seen,
}

impl Part {
    /// These, but in some of the lanes those of the other.
    #[inline(always)]
    fn or_in(self, lanes: Lanes, other: Self) -> Self {
        Self {
            bytes: self.bytes.or_in(lanes, other.bytes),
            before: self.before.or_in(lanes, other.before),
            words: self.words.or_in(lanes, other.words),
            seen: self.seen.or_in(lanes, other.seen),
        }
    }
}

impl<B: InLanes, const PARTS: usize> Table<'_, B, PARTS> {
    /// From how many bytes of lines on they are asked for before they are looked at. Sixteen addresses taken out of their lanes
    /// for it take as long as a third of eight questions, and in smaller tables the CPU runs ahead of the loads by itself; where
    /// a look is short even far beyond the core's own cache, unless what is written holds it up (decision 145).
    const PREFETCH_TO_READ: usize =
        if B::ARE_SIMPLE && PARTS == 1 { 32 << 20 } else { Self::PREFETCH_TO_WRITE };
    const PREFETCH_TO_WRITE: usize = 1 << 20;

    #[inline(always)]
    fn all(self, number: u64) -> Eight {
        Eight::all(self.avx512, number)
    }

    /// The places of a group, of which the lines are asked for if that is said.
    #[inline(always)]
    fn locate<L>(self, group: &Group, lines: *const L, prefetch: bool) -> Located {
        let located = self.places.of(group);
        if prefetch {
            Self::prefetch(located, lines);
        }
        located
    }

    #[inline(always)]
    fn locate_two(self, [first, second]: &Pair<Group>) -> Pair<Located> {
        [self.places.of(first), self.places.of(second)]
    }

    #[inline(always)]
    fn prefetch<L>(located: Located, lines: *const L) {
        for bucket in [located.first, located.second] {
            for byte in (bucket >> 3).one_by_one() {
                prefetch_address(lines.cast::<u8>().wrapping_add(index(byte)));
            }
        }
    }

    /// The part with this number of the buckets that begin with these bits, as [`Window`](super::access::Window) reads it.
    #[inline(always)]
    fn part<L: Line>(self, lines: &[L], bucket: Eight, number: usize, wanted: B::Wanted) -> Part {
        let bit = bucket.plus(self.all(number as u64 * u64::from(self.part_bits)));
        let (byte, in_line) = (bit >> 3, self.all(BLOCK_BYTES as u64 - 1));
        let byte = byte & !in_line | (byte & in_line).min(self.all(BLOCK_BYTES as u64 - 8));
        let (bytes, before) = (InRow::new(byte, lines), bit.minus(byte << 3));
        let words = bytes.eight_bytes_of(lines, B::LOADS);
        Part { bytes, before, words, seen: self.buckets.look(words.each_down(before), wanted) }
    }
}

struct Contains<'a, L> {
    lines: &'a [L],
    digests: &'a [Group],
    found: &'a mut [Answers],
}

impl<L: Line> Batch for Contains<'_, L> {
    #[inline(always)]
    fn run<B: InLanes, const PARTS: usize>(self, table: Table<'_, B, PARTS>) {
        let Self { lines, digests, found } = self;
        let prefetch = size_of_val(lines) >= Table::<B, PARTS>::PREFETCH_TO_READ;
        let (mut current, mut next) = (
            table.locate(at_most_last(digests, 0), lines.as_ptr(), prefetch),
            table.locate(at_most_last(digests, 1), lines.as_ptr(), prefetch),
        );
        for (number, found) in found.iter_mut().enumerate() {
            let wanted = table.buckets.wanted(current.fingerprints);
            let mut equal = table.all(0);
            for bucket in [current.first, current.second] {
                for part in 0..PARTS {
                    equal = equal | table.part(lines, bucket, part, wanted).seen.equal;
                }
            }
            // Between the loads and what waits for them: before the loads, hits in the cache take a fifth longer.
            let coming = table.locate(at_most_last(digests, number + AHEAD), lines.as_ptr(), prefetch);
            equal.not_zero().answer(found);
            (current, next) = (next, coming);
        }
    }

    #[inline(always)]
    fn run_on_words<F: Fingerprint, const IS_FIRST: bool>(self, words: Words<'_, F, IS_FIRST>) {
        words.contains(self.lines, self.digests, self.found);
    }
}

struct RemoveEach<'a> {
    blocks: &'a mut [Block],
    digests: &'a [Pair<Group>],
    removed: &'a mut [Pair<Answers>],
}

/// Eight deletes that are worked out.
struct Removal {
    /// Whether there is something to take out.
    found: Lanes,
    /// Where.
    bytes: InRow,
    /// What stood there, and what shall stand there then.
    before: Eight,
    after: Eight,
}

/// The same in memory, for one after the other.
#[derive(Default)]
struct OneByOne {
    bytes: Numbers,
    before: Numbers,
    after: Numbers,
}

impl OneByOne {
    /// Early: later they would have to be waited for.
    #[inline(always)]
    fn store(&mut self, removal: &Removal) {
        removal.bytes.numbers().store_to(&mut self.bytes);
        removal.before.store_to(&mut self.before);
        removal.after.store_to(&mut self.after);
    }
}

impl Batch for RemoveEach<'_> {
    #[inline(always)]
    fn run<B: InLanes, const PARTS: usize>(self, table: Table<'_, B, PARTS>) {
        let Self { blocks, digests, removed } = self;
        let prefetch = size_of_val(blocks) >= Table::<B, PARTS>::PREFETCH_TO_WRITE;
        let mut one_by_one = Pair::<OneByOne>::default();
        let (mut current, mut next) =
            (table.locate_two(at_most_last(digests, 0)), table.locate_two(at_most_last(digests, 1)));
        if prefetch {
            Table::<B, PARTS>::prefetch(current[0], blocks.as_ptr());
        }
        for (number, (groups, removed)) in digests.iter().zip(removed).enumerate() {
            // Eight digests at a time, and not before the eight that are looked at before them (decision 152).
            if prefetch {
                Table::<B, PARTS>::prefetch(current[1], blocks.as_ptr());
            }
            // One after the other in the text, too: in a loop over both, deletes from memory take 20 ns instead of 12.
            let first = table.work_out(blocks, current[0]);
            one_by_one[0].store(&first);
            if prefetch {
                Table::<B, PARTS>::prefetch(next[0], blocks.as_ptr());
            }
            let second = table.work_out(blocks, current[1]);
            one_by_one[1].store(&second);
            // Here and not before: with the writes right after they were worked out, deletes take a third longer.
            let coming = table.locate_two(at_most_last(digests, number + AHEAD));
            first.found.answer(&mut removed[0]);
            second.found.answer(&mut removed[1]);
            if Table::<B, PARTS>::goes_on(first.found | second.found) {
                for ((removals, group), removed) in one_by_one.iter().zip(groups).zip(removed) {
                    table.take_out_each(blocks, removals, group, removed);
                }
            }
            (current, next) = (next, coming);
        }
    }

    #[inline(always)]
    fn run_on_words<F: Fingerprint, const IS_FIRST: bool>(self, words: Words<'_, F, IS_FIRST>) {
        words.remove(self.blocks, self.digests.as_flattened(), self.removed.as_flattened_mut());
    }
}

impl<B: InLanes, const PARTS: usize> Table<'_, B, PARTS> {
    /// Whether to go on with deletes of which these were found. None are where it isn't a layer that has these keys; but to ask
    /// takes longer than to change simple buckets in vain (their deletes 5 to 8 %).
    #[inline(always)]
    fn goes_on(found: Lanes) -> bool {
        B::ARE_SIMPLE || !found.are_none()
    }

    /// What it takes to remove these.
    #[inline(always)]
    fn work_out(self, blocks: &[Block], located: Located) -> Removal {
        let wanted = self.buckets.wanted(located.fingerprints);
        // The first part that has it, for each lane.
        let mut part = self.part(blocks, located.first, 0, wanted);
        for (bucket, numbers) in [(located.first, 1..PARTS), (located.second, 0..PARTS)] {
            for number in numbers {
                part = part.or_in(part.seen.equal.zero(), self.part(blocks, bucket, number, wanted));
            }
        }
        let Part { bytes, before, words, seen } = part;
        let found = seen.equal.not_zero();
        let mut after = words;
        if Self::goes_on(found) {
            let change = self.buckets.change_without(words.each_down(before), seen, wanted);
            // Who isn't there is written as it was: which lanes those are can't be predicted.
            after = words.or_in(found, words ^ change.each_up(before));
        }
        Removal { found, bytes, before: words, after }
    }

    /// Writes what was worked out, for each digest in order.
    #[inline(always)]
    fn take_out_each(
        self,
        blocks: &mut [Block],
        removals: &OneByOne,
        digests: &Group,
        removed: &mut Answers,
    ) {
        for lane in 0..8 {
            let byte = index(removals.bytes.0[lane]);
            if Block::eight_bytes_of(blocks, byte) == removals.before.0[lane] {
                set_eight_bytes(blocks, byte, removals.after.0[lane]);
            } else {
                removed[lane] = remove_one(self.format, self.places.places, blocks, digests[lane]);
            }
        }
    }
}

/// A delete by itself, where two digests of a group have the same bytes: rare in all but small tables. (It takes no table:
/// the registers in it would be stored for every digest, should it be called.)
#[cold]
#[inline(never)]
fn remove_one(format: &Format, places: &Places, blocks: &mut [Block], digest: Digest) -> bool {
    // How many are left is counted by the answers.
    format.run(Remove { blocks, len: &mut 1, spot: places.of(digest.get()) })
}
