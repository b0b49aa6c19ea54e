//! What is done with one bucket, and which of the ways to do it a layout has.

use core::hint::select_unpredictable;

use super::access::{At, Place, Whole, Window, fits_64};
use super::packed::{Halves, Packed};
use super::places::multiply_high;
use super::sorted::Sorted;
use crate::bits::{BLOCK_BITS, Block, Line};
use crate::cuckoo::layout::CuckooLayout;

/// The fingerprints of a bucket; 0 stands for none, and for what a smaller bucket doesn't have.
pub(super) type Entries = [u32; 8];

/// What is said instead of a free place when there is none: higher than all places. No `Option`, of which the compiler
/// makes a branch, and how full a bucket is can't be predicted.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Where something is in two buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Whether it is in the first of them.
    pub(super) is_first: bool,
    /// Its place there, or [`NOWHERE`].
    pub(super) from: u32,
}

/// What an insert has to know of the two buckets of a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Survey {
    /// Whether one of them holds the fingerprint.
    pub(super) is_there: bool,
    /// Where there is room for it, in the emptier of the two, as far as the lowest free place tells: buckets that fill
    /// evenly are less often both full.
    pub(super) free: Found,
}

impl Survey {
    /// From what [`free`](Buckets::free) said of each.
    #[inline(always)]
    pub(super) fn new(is_there: bool, in_first: u32, in_second: u32) -> Self {
        let is_first = in_first <= in_second;
        Self { is_there, free: Found { is_first, from: select_unpredictable(is_first, in_first, in_second) } }
    }
}

/// What can be done with one bucket of a row of lines. Fingerprints are never 0.
pub(super) trait Buckets: Copy {
    /// Where buckets lie in lines.
    fn grid(self) -> Grid;
    /// Fingerprints in a bucket.
    fn entries(self) -> u32;
    /// Where a bucket is, to be kept.
    fn place(self, bucket: u64) -> Place;
    /// The same, to be used.
    fn at(self, place: Place) -> At;
    /// Where a bucket is, to be used.
    #[inline(always)]
    fn locate(self, bucket: u64) -> At {
        self.at(self.place(bucket))
    }
    /// An address in the bucket's line, for a prefetch.
    fn address<L: Line>(self, lines: &[L], place: Place) -> *const L;
    /// Whether the bucket holds the fingerprint.
    fn has<L: Line>(self, lines: &[L], at: At, fingerprint: u32) -> bool;
    /// How often it holds the fingerprint.
    fn count<L: Line>(self, lines: &[L], at: At, fingerprint: u32) -> u32;
    /// Something free, for [`put`](Self::put), or [`NOWHERE`]; usually the lower, the emptier the bucket is.
    fn free<L: Line>(self, lines: &[L], at: At) -> u32;
    /// Whether one of two buckets holds the fingerprint. Both are looked at, always: which of the two holds a key can't be
    /// predicted.
    #[inline(always)]
    fn either_has<L: Line>(self, lines: &[L], [first, second]: [At; 2], fingerprint: u32) -> bool {
        self.has(lines, first, fingerprint) | self.has(lines, second, fingerprint)
    }
    /// What an insert has to know of both.
    #[inline(always)]
    fn survey<L: Line>(self, lines: &[L], places: [At; 2], fingerprint: u32) -> Survey {
        let [in_first, in_second] = places.map(|at| self.free(lines, at));
        Survey::new(self.either_has(lines, places, fingerprint), in_first, in_second)
    }
    /// Puts a fingerprint where [`free`](Self::free) found room.
    fn put(self, blocks: &mut [Block], at: At, free: u32, fingerprint: u32);
    /// Takes the fingerprint out of one of two buckets, which may be the same, once; false if neither has it. Both are looked
    /// at, as in a question: who waits for the first before asking for the second makes two trips to memory.
    fn remove(self, blocks: &mut [Block], places: [At; 2], fingerprint: u32) -> bool;
    /// All fingerprints.
    fn all<L: Line>(self, lines: &[L], at: At) -> Entries;
    /// Writes all fingerprints, in any order.
    fn set_all(self, blocks: &mut [Block], at: At, entries: &Entries);
    /// Whether the bits are those of a bucket that was written here.
    fn is_valid<L: Line>(self, _: &[L], _: At) -> bool {
        true
    }
}

/// The buckets in a line, as many as fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    bucket_bits: u32,
    per_line: u32,
    /// Bits at the end of a line.
    pub(super) unused: u64,
    /// 2⁶⁴ / per_line, rounded up: a multiplication instead of a division. Exact for bucket numbers below 2⁵⁷, because
    /// the rounding adds less than `per_line` ≤ 128 = 2⁷ to 2⁶⁴.
    pub(super) reciprocal: u64,
}

impl Grid {
    pub(super) const fn new(bucket_bits: u32) -> Self {
        #[allow(clippy::cast_possible_truncation, reason = "512")]
        Self::of(bucket_bits, BLOCK_BITS as u32 / bucket_bits)
    }

    const fn of(bucket_bits: u32, per_line: u32) -> Self {
        let unused = BLOCK_BITS - (per_line * bucket_bits) as u64;
        Self { bucket_bits, per_line, unused, reciprocal: u64::MAX / per_line as u64 + 1 }
    }

    /// The halves of the buckets.
    pub(super) const fn halved(self) -> Self {
        Self::of(self.bucket_bits / 2, 2 * self.per_line)
    }

    #[inline(always)]
    pub(super) fn bucket_bits(self) -> u32 {
        self.bucket_bits
    }

    /// Buckets in a line.
    #[inline(always)]
    pub(super) fn per_line(self) -> u32 {
        self.per_line
    }

    /// The first bit of a bucket, among those of all lines in a row. (Of a table that is in memory: of one with 2⁵⁶ buckets
    /// it would not fit the number.)
    #[inline(always)]
    pub(super) fn bit(self, bucket: u64) -> u64 {
        let line = multiply_high(bucket, self.reciprocal);
        bucket.wrapping_mul(u64::from(self.bucket_bits)).wrapping_add(line.wrapping_mul(self.unused))
    }
}

/// Something to be compiled for each kind of bucket.
pub(super) trait Operation {
    type Output;
    fn run<B: Buckets>(self, buckets: B) -> Self::Output;
}

/// The kind of bucket, chosen once for each table.
#[derive(Clone, Copy, Debug)]
pub(super) enum Format {
    FourOfEight,
    FourOfTwelve,
    FourOfSixteen,
    Narrow(Packed<u64, Window>),
    Wide(Packed<u128, Window>),
    Halves(Halves),
    Sorted(Sorted<u64>),
    SortedWide(Sorted<u128>),
}

impl Format {
    pub(super) fn of(layout: CuckooLayout) -> Self {
        let (entries, bits) = (layout.entries_per_bucket(), layout.fingerprint_bits());
        match (layout.bucket_bits(), layout.is_semi_sorted()) {
            (0..=64, true) => Self::Sorted(Sorted::<u64>::new(bits)),
            (_, true) => Self::SortedWide(Sorted::<u128>::new(bits)),
            (32, _) if entries == 4 => Self::FourOfEight,
            (48, _) if entries == 4 => Self::FourOfTwelve,
            (64, _) if entries == 4 => Self::FourOfSixteen,
            (width, _) if fits_64(width) => Self::Narrow(Packed::<u64, Window>::new(entries, bits)),
            (0..=128, _) => Self::Wide(Packed::<u128, Window>::new(entries, bits)),
            _ => Self::Halves(Halves::new(bits)),
        }
    }

    /// Runs an operation. In the first three the widths are constants that the compiler knows.
    #[inline(always)]
    pub(super) fn run<O: Operation>(&self, operation: O) -> O::Output {
        match *self {
            Self::FourOfSixteen => operation.run(const { Packed::<u64, Whole>::new(4, 16) }),
            Self::FourOfTwelve => operation.run(const { Packed::<u64, Window>::new(4, 12) }),
            Self::FourOfEight => operation.run(const { Packed::<u32, Whole>::new(4, 8) }),
            Self::Sorted(buckets) => operation.run(buckets),
            Self::Narrow(buckets) => operation.run(buckets),
            Self::Wide(buckets) => operation.run(buckets),
            Self::Halves(buckets) => operation.run(buckets),
            Self::SortedWide(buckets) => operation.run(buckets),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::vec::Vec;

    /// Every one there is.
    pub(in super::super) fn layouts() -> Vec<CuckooLayout> {
        let packed =
            [1, 2, 4, 8].into_iter().flat_map(|b| (4..=32).filter_map(move |f| CuckooLayout::new(b, f)));
        packed.chain((5..=32).filter_map(CuckooLayout::semi_sorted)).collect()
    }

    /// Random fingerprints, many of them equal or close, in and out of one bucket, beside a list of numbers.
    struct Compare(CuckooLayout, u64);

    impl Operation for Compare {
        type Output = ();

        fn run<B: Buckets>(self, buckets: B) {
            let Self(layout, seed) = self;
            assert_eq!(
                (buckets.entries(), buckets.grid().bucket_bits()),
                (layout.entries_per_bucket(), layout.bucket_bits())
            );
            let mut state = seed;
            let mut random = |below: u64| {
                state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9_7f4a_7c15);
                multiply_high(state ^ state >> 32 ^ state << 32, below)
            };
            let mask = u32::MAX >> (32 - layout.fingerprint_bits());
            let (b, slots) = (layout.entries_per_bucket() as usize, u64::from(layout.buckets_per_line()));
            let noise =
                core::array::from_fn::<_, 3, _>(|_| Block(core::array::from_fn(|_| random(u64::MAX))));
            for _ in 0..20 {
                let place = buckets.locate(slots + random(slots));
                let mut blocks = noise;
                buckets.set_all(&mut blocks, place, &Entries::default());
                let other = buckets.locate(2 * slots);
                buckets.set_all(&mut blocks, other, &Entries::default());
                let empty = blocks;
                let mut model: Vec<u32> = Vec::new();
                for _ in 0..60 {
                    let fingerprint = [
                        random(3) as u32 + 1,
                        mask - random(3) as u32,
                        random(u64::from(mask)) as u32 + 1,
                        16,
                    ][random(4) as usize]
                        & mask;
                    if fingerprint == 0 {
                        continue;
                    }
                    let equal = model.iter().filter(|entry| **entry == fingerprint).count();
                    assert_eq!(buckets.count(&blocks, place, fingerprint) as usize, equal);
                    assert_eq!(buckets.has(&blocks, place, fingerprint), equal > 0);
                    assert_eq!(buckets.free(&blocks, place) != NOWHERE, model.len() < b);
                    assert!(buckets.is_valid(&blocks, place));
                    if random(3) > 0 {
                        let free = buckets.free(&blocks, place);
                        if free != NOWHERE {
                            buckets.put(&mut blocks, place, free, fingerprint);
                            model.push(fingerprint);
                        }
                    } else if let Some(index) = model.iter().position(|entry| *entry == fingerprint) {
                        let pair = if random(2) == 0 { [place, other] } else { [other, place] };
                        assert!(buckets.remove(&mut blocks, pair, fingerprint));
                        model.swap_remove(index);
                        assert!(buckets.is_valid(&blocks, place));
                    } else {
                        assert!(!buckets.remove(&mut blocks, [place, other], fingerprint));
                    }
                    let mut all: Vec<u32> =
                        buckets.all(&blocks, place).into_iter().filter(|entry| *entry != 0).collect();
                    all.sort_unstable();
                    model.sort_unstable();
                    assert_eq!(all, model, "{layout:?}");
                }
                for fingerprint in model {
                    assert!(buckets.remove(&mut blocks, [place, place], fingerprint));
                }
                assert_eq!(blocks, empty, "the rest of the lines stays as it is: {layout:?}");
            }
        }
    }

    #[test]
    fn registers_do_what_single_fingerprints_would() {
        for (number, layout) in layouts().into_iter().enumerate() {
            Format::of(layout).run(Compare(layout, number as u64));
        }
    }

    #[test]
    fn buckets_are_located_without_division() {
        for layout in layouts() {
            let (grid, per_line) = (Grid::new(layout.bucket_bits()), u64::from(layout.buckets_per_line()));
            let last = (1 << 54) / per_line * per_line;
            for bucket in (0..2000).chain([1 << 40, (1 << 54) - 1, last - 1, last]) {
                let bit = bucket % per_line * u64::from(layout.bucket_bits());
                assert_eq!(grid.bit(bucket), bucket / per_line * 512 + bit, "{layout:?} {bucket}");
            }
        }
    }
}
