//! What is done with one bucket, and which of the ways to do it a layout has.

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

/// One bucket of a line, which begins at bit `at`. Fingerprints are never 0.
pub(super) trait Buckets: Copy {
    /// Where a bucket holds a fingerprint, if it does.
    type Found: Copy;

    /// Where buckets lie in lines.
    fn grid(self) -> Grid;
    /// Fingerprints in a bucket.
    fn entries(self) -> u32;
    /// Whether the bucket holds the fingerprint.
    fn has<L: Line>(self, line: &L, at: u32, fingerprint: u32) -> bool;
    /// How often it holds the fingerprint.
    fn count<L: Line>(self, line: &L, at: u32, fingerprint: u32) -> u32;
    /// A free place, for [`put`](Self::put), or [`NOWHERE`]; usually the lower, the emptier the bucket is.
    fn free<L: Line>(self, line: &L, at: u32) -> u32;
    /// Puts a fingerprint into a place that [`free`](Self::free) found.
    fn put(self, block: &mut Block, at: u32, place: u32, fingerprint: u32);
    /// Looks where the bucket holds the fingerprint.
    fn find<L: Line>(self, line: &L, at: u32, fingerprint: u32) -> Self::Found;
    /// Whether [`find`](Self::find) found it.
    fn is_found(found: Self::Found) -> bool;
    /// Takes the fingerprint that [`find`](Self::find) found out, once.
    fn take(self, block: &mut Block, at: u32, found: Self::Found);
    /// All fingerprints.
    fn all<L: Line>(self, line: &L, at: u32) -> Entries;
    /// Writes all fingerprints, in any order.
    fn set_all(self, block: &mut Block, at: u32, entries: &Entries);
    /// Whether the bits are those of a bucket that was written here.
    fn is_valid<L: Line>(self, _: &L, _: u32) -> bool {
        true
    }
}

/// The buckets in a line, as many as fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    bucket_bits: u32,
    per_line: u32,
    /// 2⁶⁴ / per_line, rounded up: a multiplication instead of a division. Exact for bucket numbers below 2⁵⁷, because
    /// the rounding adds less than `per_line` ≤ 128 = 2⁷ to 2⁶⁴.
    reciprocal: u64,
}

impl Grid {
    pub(super) const fn new(bucket_bits: u32) -> Self {
        #[allow(clippy::cast_possible_truncation, reason = "512")]
        let per_line = BLOCK_BITS as u32 / bucket_bits;
        Self { bucket_bits, per_line, reciprocal: u64::MAX / per_line as u64 + 1 }
    }

    #[inline(always)]
    pub(super) fn bucket_bits(self) -> u32 {
        self.bucket_bits
    }

    /// The line that holds a bucket, and the bit in it where the bucket begins.
    #[inline(always)]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a line in memory has an index; a bucket's place is below 512"
    )]
    pub(super) fn locate(self, bucket: u64) -> (usize, u32) {
        let per_line = u64::from(self.per_line);
        let (line, slot) = if self.per_line.is_power_of_two() {
            (bucket >> self.per_line.trailing_zeros(), bucket & (per_line - 1))
        } else {
            let line = multiply_high(bucket, self.reciprocal);
            (line, bucket - line * per_line)
        };
        (line as usize, slot as u32 * self.bucket_bits)
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
    Narrow(Packed<u64>),
    Wide(Packed<u128>),
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
            (0..=64, _) => Self::Narrow(Packed::<u64>::new(entries, bits)),
            (0..=128, _) => Self::Wide(Packed::<u128>::new(entries, bits)),
            _ => Self::Halves(Halves::new(bits)),
        }
    }

    /// Runs an operation. In the first three the widths are constants that the compiler knows.
    #[inline(always)]
    pub(super) fn run<O: Operation>(&self, operation: O) -> O::Output {
        match *self {
            Self::FourOfSixteen => operation.run(const { Packed::<u64>::new(4, 16) }),
            Self::FourOfTwelve => operation.run(const { Packed::<u64>::new(4, 12) }),
            Self::FourOfEight => operation.run(const { Packed::<u64>::new(4, 8) }),
            Self::Sorted(buckets) => operation.run(buckets),
            Self::Narrow(buckets) => operation.run(buckets),
            Self::Wide(buckets) => operation.run(buckets),
            Self::Halves(buckets) => operation.run(buckets),
            Self::SortedWide(buckets) => operation.run(buckets),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn layouts() -> Vec<CuckooLayout> {
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
            let noise = Block(core::array::from_fn(|_| random(u64::MAX)));
            for _ in 0..20 {
                let (line, at) = buckets.grid().locate(7 * slots + random(slots));
                assert_eq!(line, 7);
                let mut block = noise;
                buckets.set_all(&mut block, at, &Entries::default());
                let empty = block;
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
                    assert_eq!(buckets.count(&block, at, fingerprint) as usize, equal);
                    assert_eq!(buckets.has(&block, at, fingerprint), equal > 0);
                    assert_eq!(buckets.free(&block, at) != NOWHERE, model.len() < b);
                    assert!(buckets.is_valid(&block, at));
                    if random(3) > 0 {
                        let place = buckets.free(&block, at);
                        if place != NOWHERE {
                            buckets.put(&mut block, at, place, fingerprint);
                            model.push(fingerprint);
                        }
                    } else {
                        let found = buckets.find(&block, at, fingerprint);
                        assert_eq!(B::is_found(found), equal > 0);
                        if let Some(index) = model.iter().position(|entry| *entry == fingerprint) {
                            buckets.take(&mut block, at, found);
                            model.swap_remove(index);
                        }
                        assert!(buckets.is_valid(&block, at));
                    }
                    let mut all: Vec<u32> =
                        buckets.all(&block, at).into_iter().filter(|entry| *entry != 0).collect();
                    all.sort_unstable();
                    model.sort_unstable();
                    assert_eq!(all, model, "{layout:?}");
                }
                for fingerprint in model {
                    let found = buckets.find(&block, at, fingerprint);
                    assert!(B::is_found(found));
                    buckets.take(&mut block, at, found);
                }
                assert_eq!(block, empty, "the rest of the line stays as it is: {layout:?}");
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
            for bucket in (0..2000).chain([
                1 << 40,
                (1 << 56) - 1,
                (1 << 56) / per_line * per_line,
                (1 << 56) / per_line * per_line - 1,
            ]) {
                let (line, at) = grid.locate(bucket);
                assert_eq!(line as u64, bucket / per_line);
                assert_eq!(u64::from(at), bucket % per_line * u64::from(layout.bucket_bits()));
            }
        }
    }
}
