//! Eight digests at a time, one in each lane of AVX-512's registers: questions and deletes in batches.
//!
//! What [`many`](super::many) does with one digest after another takes some 180 instructions for each, and more than half
//! of the time goes into those instead of into waiting for memory. Here eight digests share them: the recipe of their
//! [`places`], and what their buckets are asked, in a [`register`] that loads eight bytes for every lane. There is a file for
//! each kind of buckets: [`packed`], [`semi_sorted`], and [`words`] of eight bytes, which are looked at one after another, and
//! share their places only.
//!
//! Deletes are worked out from what was read, and written later, one digest after another. By then an earlier one
//! may have changed the same bytes: who finds others than were read starts again, by itself. That keeps the order: taking
//! one fingerprint out never brings in another, so what wasn't there when it was looked for isn't there later.

mod packed;
mod places;
mod register;
mod semi_sorted;
#[cfg(test)]
mod tests;
mod words;

use super::Remove;
use super::access::{fits_64, index};
use super::buckets::{Format, Grid};
use super::places::Places;
use super::sorted::Sorted;
use crate::bits::{BLOCK_BYTES, Block, Line, prefetch_address, set_eight_bytes};
use crate::cpu::{Avx2, Avx512, Work, gathers_quickly};
use crate::cuckoo::layout::CuckooLayout;
use crate::hash::Digest;
use packed::{Packed, SideBySide};
use places::{PlacesOfEight, has_places_of_eight};
use register::{Eight, InRow, Loads, Numbers};
use semi_sorted::SemiSorted;
use words::Words;

type Group = [Digest; 8];
type Answers = [bool; 8];

/// Groups to be removed come in twos: [`packed`] removes two in a turn.
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
        let together = matches!(self.loads, Loads::Together);
        match (self.kind, together, self.places.is_first) {
            (Kind::Sorted(buckets), true, true) => self.on::<SemiSorted<'_, true, true>>(buckets, batch),
            (Kind::Sorted(buckets), true, false) => self.on::<SemiSorted<'_, true, false>>(buckets, batch),
            (Kind::Sorted(buckets), false, true) => self.on::<SemiSorted<'_, false, true>>(buckets, batch),
            (Kind::Sorted(buckets), false, false) => self.on::<SemiSorted<'_, false, false>>(buckets, batch),
            (Kind::Packed(buckets), true, _) => self.on::<Packed<'_, 1, true>>(buckets, batch),
            (Kind::Packed(buckets), false, _) => self.on::<Packed<'_, 1, false>>(buckets, batch),
            (Kind::Halves(half), true, _) => self.on::<Packed<'_, 2, true>>(half, batch),
            (Kind::Halves(half), false, _) => self.on::<Packed<'_, 2, false>>(half, batch),
            (Kind::Words(buckets), _, true) => match buckets.bits {
                u8::BITS => self.on::<Words<'_, u8, true>>(buckets, batch),
                u16::BITS => self.on::<Words<'_, u16, true>>(buckets, batch),
                _ => self.on::<Words<'_, u32, true>>(buckets, batch),
            },
            (Kind::Words(buckets), _, false) => match buckets.bits {
                u8::BITS => self.on::<Words<'_, u8, false>>(buckets, batch),
                u16::BITS => self.on::<Words<'_, u16, false>>(buckets, batch),
                _ => self.on::<Words<'_, u32, false>>(buckets, batch),
            },
        }
    }

    fn on<T: InLanes<'a>>(self, buckets: T::Buckets, batch: impl Batch) {
        self.avx512.run(On::<T, _> { table: self, buckets, batch });
    }

    /// Where digests are.
    #[inline(always)]
    fn places_of_eight(self) -> PlacesOfEight<'a> {
        PlacesOfEight::new(self.avx512, self.places, self.grid)
    }
}

/// A table with its numbers in registers.
trait InLanes<'a>: Sized {
    /// What is told of its buckets.
    type Buckets;

    fn new(table: InEights<'a>, buckets: Self::Buckets) -> Self;
    fn contains<L: Line>(self, lines: &[L], digests: &[Group], found: &mut [Answers]);
    fn remove(self, blocks: &mut [Block], digests: &[Pair<Group>], removed: &mut [Pair<Answers>]);
}

/// Something to be compiled for each kind.
trait Batch {
    fn run<'a>(self, table: impl InLanes<'a>);
}

/// A batch on buckets of one kind, in a function of its own: with the loops of all kinds in one, the compiler keeps what
/// they have in common, and too little of what one of them needs, in registers.
struct On<'a, T: InLanes<'a>, B> {
    table: InEights<'a>,
    buckets: T::Buckets,
    batch: B,
}

impl<'a, T: InLanes<'a>, B: Batch> Work for On<'a, T, B> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.batch.run(T::new(self.table, self.buckets));
    }
}

struct Contains<'a, L> {
    lines: &'a [L],
    digests: &'a [Group],
    found: &'a mut [Answers],
}

impl<L: Line> Batch for Contains<'_, L> {
    #[inline(always)]
    fn run<'a>(self, table: impl InLanes<'a>) {
        table.contains(self.lines, self.digests, self.found);
    }
}

struct RemoveEach<'a> {
    blocks: &'a mut [Block],
    digests: &'a [Pair<Group>],
    removed: &'a mut [Pair<Answers>],
}

impl Batch for RemoveEach<'_> {
    #[inline(always)]
    fn run<'a>(self, table: impl InLanes<'a>) {
        table.remove(self.blocks, self.digests, self.removed);
    }
}

/// One of a row, or the last where there are no more.
#[inline(always)]
fn at_most_last<T>(row: &[T], number: usize) -> &T {
    &row[number.min(row.len() - 1)]
}

/// The bytes from which on buckets are read that begin with these bits of the lines, and the bits before them, as
/// [`Window`](super::access::Window) has it.
#[inline(always)]
fn place_in_row<L>(lines: &[L], bit: Eight) -> (InRow, Eight) {
    let (byte, in_line) = (bit >> 3, bit.same(BLOCK_BYTES as u64 - 1));
    let byte = byte & !in_line | (byte & in_line).min(bit.same(BLOCK_BYTES as u64 - 8));
    (InRow::new(byte, lines), bit.minus(byte << 3))
}

/// Asks for the lines of these bytes.
#[inline(always)]
fn prefetch_each<L>(lines: &[L], bytes: Eight) {
    for byte in bytes.one_by_one() {
        prefetch_address(lines.as_ptr().cast::<u8>().wrapping_add(index(byte)));
    }
}

/// Eight deletes that are worked out, in memory, for one after the other.
#[derive(Default)]
struct OneByOne {
    /// Where.
    bytes: Numbers,
    /// What stood there, and what shall stand there then.
    before: Numbers,
    after: Numbers,
}

impl OneByOne {
    /// Early: later they would have to be waited for.
    #[inline(always)]
    fn store(&mut self, bytes: InRow, before: Eight, after: Eight) {
        bytes.numbers().store_to(&mut self.bytes);
        before.store_to(&mut self.before);
        after.store_to(&mut self.after);
    }
}

/// Writes what was worked out, for each digest in order.
#[inline(always)]
fn take_out_each(
    format: &Format,
    places: &Places,
    blocks: &mut [Block],
    removals: &OneByOne,
    digests: &Group,
    removed: &mut Answers,
) {
    for lane in 0..8 {
        let byte = index(removals.bytes.read(lane));
        if Block::eight_bytes_of(blocks, byte) == removals.before.read(lane) {
            set_eight_bytes(blocks, byte, removals.after.read(lane));
        } else {
            removed[lane] = remove_one(format, places, blocks, digests[lane]);
        }
    }
}

/// A delete by itself, where one shortly before it has changed the same bytes: rare in all but small tables. (It takes no table:
/// the registers in it would be stored for every digest, should it be called.)
#[cold]
#[inline(never)]
fn remove_one(format: &Format, places: &Places, blocks: &mut [Block], digest: Digest) -> bool {
    // How many are left is counted by the answers.
    format.run(Remove { blocks, len: &mut 1, spot: places.of(digest.get()) })
}
