//! The recipe of [`Places`], and where buckets lie in lines, for eight digests.

use super::super::buckets::Grid;
use super::super::places::{HASH, HASH_AGAIN, MIX, Places};
use super::register::Eight;
use crate::cpu::Avx512;
use crate::hash::Digest;

/// The places of one table.
#[derive(Clone, Copy)]
pub(super) struct PlacesOfEight<'a> {
    avx512: Avx512,
    pub(super) places: &'a Places,
    grid: Grid,
}

/// Eight fingerprints, and the first bits of their two buckets among those of all lines in a row.
#[derive(Clone, Copy)]
pub(super) struct Located {
    pub(super) first: Eight,
    pub(super) second: Eight,
    pub(super) fingerprints: Eight,
}

impl<'a> PlacesOfEight<'a> {
    /// Nothing for tables with more buckets than the products here can tell apart.
    pub(super) fn new(avx512: Avx512, places: &'a Places, grid: Grid) -> Option<Self> {
        (places.buckets() <= u64::from(u32::MAX)).then_some(Self { avx512, places, grid })
    }

    #[inline(always)]
    fn all(self, number: u64) -> Eight {
        Eight::all(self.avx512, number)
    }

    /// [`Places::of`] for each.
    #[inline(always)]
    pub(super) fn of(self, digests: &[Digest; 8]) -> Located {
        let digests = Eight::new(self.avx512, digests.map(Digest::get));
        let Places { buckets, short_mask, long_mask, growth, is_first } = *self.places;
        let mixed = digests.times(self.all(MIX));
        let short = ((mixed >> 32).halves_times(self.all(short_mask)) >> 32).plus(self.all(1));
        let first = digests.times_high(self.all(buckets));
        let hash = short.times(self.all(HASH));
        let image = (hash ^ hash >> 32).times(self.all(HASH_AGAIN)).times_high(self.all(buckets));
        if is_first {
            let second = subtracted(image, first, self.all(buckets));
            return self.located(first, second, short);
        }
        let low = mixed & self.all(u64::from(u32::MAX));
        let long = (low << 16 | low >> 16) & self.all(long_mask);
        let within = (image ^ first) & self.all((1 << growth) - 1);
        let second =
            subtracted(image >> growth, first >> growth, self.all(buckets >> growth)) << growth | within;
        self.located(first, second, short | long << self.places.short_bits())
    }

    #[inline(always)]
    fn located(self, first: Eight, second: Eight, fingerprints: Eight) -> Located {
        Located { first: self.bit(first), second: self.bit(second), fingerprints }
    }

    /// As [`Grid::bit`].
    #[inline(always)]
    fn bit(self, bucket: Eight) -> Eight {
        let line = self.all(self.grid.reciprocal).times_high(bucket);
        let in_buckets = bucket.halves_times(self.all(u64::from(self.grid.bucket_bits())));
        in_buckets.plus(line.halves_times(self.all(self.grid.unused)))
    }
}

/// a − b modulo `count`, both below it.
#[inline(always)]
fn subtracted(a: Eight, b: Eight, count: Eight) -> Eight {
    let difference = a.minus(b);
    // Below zero it is a very large number, which becomes a small one by adding the count.
    difference.min(difference.plus(count))
}
