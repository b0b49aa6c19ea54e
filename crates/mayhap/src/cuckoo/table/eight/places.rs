//! The recipe of [`Places`], and where buckets lie in lines, for eight digests.

use super::super::buckets::Grid;
use super::super::places::{HASH, HASH_AGAIN, MIX, Places};
use super::register::Eight;
use crate::cpu::Avx512;
use crate::hash::Digest;

/// The places of one table, with its numbers in all lanes.
#[derive(Clone, Copy)]
pub(super) struct PlacesOfEight<'a> {
    avx512: Avx512,
    pub(super) places: &'a Places,
    buckets: Eight,
    short_mask: Eight,
    /// Those of the [`Grid`].
    bucket_bits: Eight,
    unused: Eight,
    reciprocal: Eight,
}

/// Eight fingerprints, and where their two buckets are: their numbers, or their first bits among those of all lines in a row.
#[derive(Clone, Copy)]
pub(super) struct Located {
    pub(super) first: Eight,
    pub(super) second: Eight,
    pub(super) fingerprints: Eight,
}

/// What half of the recipe made of eight digests.
#[derive(Clone, Copy)]
pub(super) struct Begun {
    mixed: Eight,
    short: Eight,
    first: Eight,
    hash: Eight,
}

impl<'a> PlacesOfEight<'a> {
    /// Of tables that [have not too many](has_places_of_eight) buckets.
    #[inline(always)]
    pub(super) fn new(avx512: Avx512, places: &'a Places, grid: Grid) -> Self {
        Self {
            avx512,
            places,
            buckets: Eight::all(avx512, places.buckets),
            short_mask: Eight::all(avx512, places.short_mask),
            bucket_bits: Eight::all(avx512, u64::from(grid.bucket_bits())),
            unused: Eight::all(avx512, grid.unused),
            reciprocal: Eight::all(avx512, grid.reciprocal),
        }
    }

    #[inline(always)]
    fn all(self, number: u64) -> Eight {
        Eight::all(self.avx512, number)
    }

    /// The first half of the recipe.
    #[inline(always)]
    pub(super) fn begin(self, digests: &[Digest; 8]) -> Begun {
        let digests = Eight::new(self.avx512, digests.map(Digest::get));
        let Self { buckets, short_mask, .. } = self;
        let mixed = digests.times(self.all(MIX));
        let short = ((mixed >> 32).halves_times(short_mask) >> 32).plus(self.all(1));
        let first = digests.times_high(buckets);
        let hash = short.times(self.all(HASH));
        Begun { mixed, short, first, hash: (hash ^ hash >> 32).times(self.all(HASH_AGAIN)) }
    }

    /// The other half, by the first bits of the buckets.
    #[inline(always)]
    pub(super) fn first_bits(self, begun: Begun, is_first: bool) -> Located {
        let Located { first, second, fingerprints } = self.buckets_of(begun, is_first);
        Located { first: self.bit(first), second: self.bit(second), fingerprints }
    }

    /// The same by the numbers of the buckets, by a recipe that is shorter [where it can be](Places::is_first).
    #[inline(always)]
    pub(super) fn buckets_of(self, begun: Begun, is_first: bool) -> Located {
        let Self { places, buckets, .. } = self;
        let Begun { mixed, short, first, hash } = begun;
        let image = hash.times_high(buckets);
        if is_first {
            let second = subtracted(image, first, buckets);
            return Located { first, second, fingerprints: short };
        }
        let Places { buckets, long_mask, growth, .. } = *places;
        let low = mixed & self.all(u64::from(u32::MAX));
        let long = (low << 16 | low >> 16) & self.all(long_mask);
        let within = (image ^ first) & self.all((1 << growth) - 1);
        let second =
            subtracted(image >> growth, first >> growth, self.all(buckets >> growth)) << growth | within;
        Located { first, second, fingerprints: short | long << places.short_bits() }
    }

    /// As [`Grid::bit`].
    #[inline(always)]
    fn bit(self, bucket: Eight) -> Eight {
        let line = self.reciprocal.times_high(bucket);
        let in_buckets = bucket.halves_times(self.bucket_bits);
        in_buckets.plus(line.halves_times(self.unused))
    }
}

/// Whether the products here can tell all buckets apart.
pub(super) fn has_places_of_eight(places: &Places) -> bool {
    places.buckets <= u64::from(u32::MAX)
}

/// a − b modulo `count`, both below it.
#[inline(always)]
fn subtracted(a: Eight, b: Eight, count: Eight) -> Eight {
    let difference = a.minus(b);
    // Below zero it is a very large number, which becomes a small one by adding the count.
    difference.min(difference.plus(count))
}
