//! The table of fingerprints under [`CuckooFilter`](super::CuckooFilter) and each layer of
//! [`ScalableCuckoo`](super::ScalableCuckoo): digests in, answers out.
//!
//! [`places`] is the recipe from a digest to two buckets. [`buckets`] is what is done with one bucket; [`packed`] and
//! [`sorted`] are the ways to do it, in a [`register`], which [`access`] fills; [`lanes`] has two buckets of 16-bit
//! fingerprints in one. [`search`] makes room in full buckets. [`many`] does all of it for many digests at once, and
//! [`eight`], where the CPU has AVX-512, most of it for eight of them in each instruction.

mod access;
mod buckets;
#[cfg_attr(not(target_arch = "x86_64"), path = "eight/nowhere.rs")]
mod eight;
mod lanes;
mod many;
mod packed;
mod places;
mod register;
mod search;
mod sorted;

pub(super) use places::Places;
pub(super) use search::Search;

use core::slice;

use super::layout::CuckooLayout;
use crate::bits::{AllocError, BLOCK_BYTES, Block, Blocks, Line, Owned, prefetch_address};
use crate::codec::FormatError;
use crate::filter::InsertError;
use access::{At, Place};
use buckets::{Buckets, Format, NOWHERE, Operation, Survey};
use places::Spot;

/// Buckets of fingerprints.
#[derive(Debug)]
pub(super) struct Table<S> {
    lines: S,
    layout: CuckooLayout,
    format: Format,
    places: Places,
    /// Fingerprints in it.
    len: u64,
}

/// Lines of a table of so many buckets.
pub(super) fn lines_of(layout: CuckooLayout, buckets: u64) -> u64 {
    buckets.div_ceil(u64::from(layout.buckets_per_line()))
}

impl Table<Owned> {
    /// An empty table.
    pub(super) fn new(layout: CuckooLayout, places: Places) -> Result<Self, AllocError> {
        Ok(Self::from_parts(Owned::zeroed(lines_of(layout, places.buckets()))?, layout, places, 0))
    }

    pub(super) fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(Self::from_parts(self.lines.try_clone()?, self.layout, self.places, self.len))
    }

    /// To write what no table writes.
    #[cfg(test)]
    pub(super) fn lines_mut(&mut self) -> &mut [Block] {
        &mut self.lines
    }

    pub(super) fn clear(&mut self) {
        self.lines.fill(Block::default());
        self.len = 0;
    }

    /// Adds a fingerprint of the digest, or, if `unless_there`, only where there is none. True if there was none.
    #[inline]
    pub(super) fn insert(
        &mut self,
        digest: u64,
        unless_there: bool,
        search: Search,
    ) -> Result<bool, InsertError> {
        let Self { lines, format, places, len, .. } = self;
        let spot = places.of(digest);
        format.run(Insert { blocks: lines, places, len, spot, unless_there, search })
    }

    /// Adds a fingerprint that belongs into a bucket.
    pub(super) fn insert_entry(
        &mut self,
        bucket: u64,
        fingerprint: u32,
        search: Search,
    ) -> Result<bool, InsertError> {
        let Self { lines, format, places, len, .. } = self;
        let spot = Spot { first: bucket, second: places.other(bucket, fingerprint), fingerprint };
        format.run(Insert { blocks: lines, places, len, spot, unless_there: false, search })
    }

    /// Takes one fingerprint of the digest out; false if there is none.
    #[inline]
    pub(super) fn remove(&mut self, digest: u64) -> bool {
        let Self { lines, format, places, len, .. } = self;
        format.run(Remove { blocks: lines, len, spot: places.of(digest) })
    }

    /// Takes a fingerprint out of a bucket; false if it isn't there.
    pub(super) fn remove_entry(&mut self, bucket: u64, fingerprint: u32) -> bool {
        let Self { lines, format, len, .. } = self;
        format.run(Remove { blocks: lines, len, spot: Spot { first: bucket, second: bucket, fingerprint } })
    }
}

impl<S: Blocks> Table<S> {
    /// Puts a table together from lines that are as many as it needs.
    pub(super) fn from_parts(lines: S, layout: CuckooLayout, places: Places, len: u64) -> Self {
        debug_assert_eq!(lines.block_count(), lines_of(layout, places.buckets()));
        Self { lines, layout, format: Format::of(layout), places, len }
    }

    pub(super) fn lines(&self) -> &S {
        &self.lines
    }

    pub(super) fn layout(&self) -> CuckooLayout {
        self.layout
    }

    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    pub(super) fn buckets(&self) -> u64 {
        self.places.buckets()
    }

    pub(super) fn slots(&self) -> u64 {
        self.buckets() * u64::from(self.layout.entries_per_bucket())
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn len_bytes(&self) -> u64 {
        self.lines.block_count() * BLOCK_BYTES as u64
    }

    /// Whether there is a fingerprint of the digest.
    #[inline]
    pub(super) fn contains(&self, digest: u64) -> bool {
        self.format.run(Contains { lines: self.lines.lines(), spot: self.places.of(digest) })
    }

    /// How many fingerprints of the digest there are.
    #[inline]
    pub(super) fn count(&self, digest: u64) -> u64 {
        self.format.run(Count { lines: self.lines.lines(), spot: self.places.of(digest) })
    }

    /// The fingerprints in a bucket, without the empty places.
    pub(super) fn entries(&self, bucket: u64) -> impl Iterator<Item = u32> + use<S> {
        let all = self.format.run(All { lines: self.lines.lines(), bucket });
        all.into_iter().filter(|fingerprint| *fingerprint != 0)
    }

    /// Whether a bucket, or the other one of this fingerprint, has a free place.
    pub(super) fn has_place(&self, bucket: u64, fingerprint: u32) -> bool {
        let places = self.layout.entries_per_bucket() as usize;
        [bucket, self.places.other(bucket, fingerprint)]
            .into_iter()
            .any(|bucket| self.entries(bucket).count() < places)
    }

    /// How many buckets hold 0, 1, 2 … fingerprints.
    pub(super) fn bucket_loads(&self) -> [u64; 9] {
        let mut loads = [0; 9];
        for bucket in 0..self.buckets() {
            loads[self.entries(bucket).count()] += 1;
        }
        loads
    }

    /// Counts the fingerprints in all lines. Nothing if there is something that was never written here: a bucket that
    /// is none, a fingerprint that no digest has, or a bit where no bucket is.
    pub(super) fn recount(&self) -> Option<u64> {
        self.format.run(Recount { lines: self.lines.lines(), places: &self.places })
    }

    /// Whether all lines are as this table writes them and hold as many fingerprints as it says.
    pub(super) fn check(&self) -> Result<(), FormatError> {
        match self.recount() {
            Some(len) if len == self.len => Ok(()),
            Some(value) => {
                let must_be = "the inserted count of the header";
                Err(FormatError::BadField { field: "fingerprints in the body", value, must_be })
            }
            None => {
                let must_be = "made of buckets of this layout, and zeros between them";
                Err(FormatError::BadField { field: "body", value: self.buckets(), must_be })
            }
        }
    }
}

/// A fingerprint, and where its two buckets are.
#[derive(Clone, Copy, Debug, Default)]
struct Located {
    first: Place,
    second: Place,
    fingerprint: u32,
}

impl Located {
    #[inline(always)]
    fn new<B: Buckets>(buckets: B, spot: Spot) -> Self {
        let (first, second) = (buckets.place(spot.first), buckets.place(spot.second));
        Self { first, second, fingerprint: spot.fingerprint }
    }

    #[inline(always)]
    fn open<B: Buckets>(self, buckets: B) -> (At, At, u32) {
        (buckets.at(self.first), buckets.at(self.second), self.fingerprint)
    }

    #[inline(always)]
    fn is_in<B: Buckets, L: Line>(self, buckets: B, lines: &[L]) -> bool {
        let (first, second, fingerprint) = self.open(buckets);
        buckets.either_has(lines, [first, second], fingerprint)
    }

    /// Takes the fingerprint out of one of the two; false if neither has it.
    #[inline(always)]
    fn remove<B: Buckets>(self, buckets: B, blocks: &mut [Block]) -> bool {
        let (first, second, fingerprint) = self.open(buckets);
        buckets.remove(blocks, [first, second], fingerprint)
    }

    /// Starts loading both.
    #[inline(always)]
    fn prefetch<B: Buckets, L: Line>(self, buckets: B, lines: &[L]) {
        prefetch_address(buckets.address(lines, self.first));
        prefetch_address(buckets.address(lines, self.second));
    }
}

struct Contains<'a, L> {
    lines: &'a [L],
    spot: Spot,
}

impl<L: Line> Operation for Contains<'_, L> {
    type Output = bool;

    #[inline(always)]
    fn run<B: Buckets>(self, buckets: B) -> bool {
        Located::new(buckets, self.spot).is_in(buckets, self.lines)
    }
}

struct Count<'a, L> {
    lines: &'a [L],
    spot: Spot,
}

impl<L: Line> Operation for Count<'_, L> {
    type Output = u64;

    #[inline(always)]
    fn run<B: Buckets>(self, buckets: B) -> u64 {
        let Self { lines, spot } = self;
        let count = |bucket| u64::from(buckets.count(lines, buckets.locate(bucket), spot.fingerprint));
        let second = if spot.first == spot.second { 0 } else { count(spot.second) };
        count(spot.first) + second
    }
}

struct Insert<'a> {
    blocks: &'a mut [Block],
    places: &'a Places,
    len: &'a mut u64,
    spot: Spot,
    unless_there: bool,
    search: Search,
}

impl Operation for Insert<'_> {
    type Output = Result<bool, InsertError>;

    #[inline(always)]
    fn run<B: Buckets>(self, buckets: B) -> Result<bool, InsertError> {
        let Self { blocks, places, len, spot, unless_there, search } = self;
        let fingerprint = spot.fingerprint;
        let located = Located::new(buckets, spot);
        let (first, second, _) = located.open(buckets);
        let Survey { is_there, free } = buckets.survey(blocks, [first, second], fingerprint);
        if unless_there && is_there {
            return Ok(false);
        }
        match free.from {
            NOWHERE => search.make_room(buckets, blocks, places, spot)?,
            from => buckets.put(blocks, At::either(free.is_first, first, second), from, fingerprint),
        }
        *len += 1;
        Ok(!is_there)
    }
}

struct Remove<'a> {
    blocks: &'a mut [Block],
    len: &'a mut u64,
    spot: Spot,
}

impl Operation for Remove<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<B: Buckets>(self, buckets: B) -> bool {
        let removed = Located::new(buckets, self.spot).remove(buckets, self.blocks);
        if removed {
            *self.len -= 1;
        }
        removed
    }
}

struct All<'a, L> {
    lines: &'a [L],
    bucket: u64,
}

impl<L: Line> Operation for All<'_, L> {
    type Output = [u32; 8];

    fn run<B: Buckets>(self, buckets: B) -> [u32; 8] {
        buckets.all(self.lines, buckets.locate(self.bucket))
    }
}

struct Recount<'a, L> {
    lines: &'a [L],
    places: &'a Places,
}

impl<L: Line> Operation for Recount<'_, L> {
    type Output = Option<u64>;

    fn run<B: Buckets>(self, buckets: B) -> Option<u64> {
        let (mut len, mut left) = (0, self.places.buckets());
        for line in self.lines {
            // What is left when all buckets are taken out of a copy must be nothing.
            let mut rest = Block(line.words());
            let slots = left.min(u64::from(buckets.grid().per_line()));
            left -= slots;
            for at in (0..slots).map(|slot| buckets.locate(slot)) {
                let line = slice::from_ref(line);
                if !buckets.is_valid(line, at) {
                    return None;
                }
                for entry in buckets.all(line, at) {
                    if entry != 0 && !self.places.can_be(entry) {
                        return None;
                    }
                    len += u64::from(entry != 0);
                }
                buckets.set_all(slice::from_mut(&mut rest), at, &[0; 8]);
            }
            if rest != Block::default() {
                return None;
            }
        }
        Some(len)
    }
}
