//! From a digest to a fingerprint and two buckets, and from one bucket of a fingerprint to the other.
//!
//! The recipe (frozen; `docs/formats.md` has it for other languages):
//!
//! ```text
//! bucket of a digest   ⌊digest · N / 2⁶⁴⌋                                                  N buckets, N = N₀ · 2ᵏ
//! fingerprint          q = digest · 0xa0761d6478bd642f
//!                      lowest f₀ bits: 1 + ⌊(q >> 32) · (2^f₀ − 1) / 2³²⌋, never 0
//!                      f − f₀ bits above them: bits 16, 17, …, 31, 0, 1, … of q
//! hash                 h = x · 0xe7037ed1a0b428db,  H = (h ^ h >> 32) · 0x8ebc6af09c88c6e3   x: the lowest f₀ bits
//! other bucket         G = ⌊H · N / 2⁶⁴⌋;  the other bucket of bucket i is
//!                      ((G >> k) − (i >> k) mod N₀) · 2ᵏ + ((G ^ i) mod 2ᵏ)
//! ```
//!
//! In a filter by itself k = 0 and f = f₀: the other bucket of i is G − i modulo N. Doing it twice gives i again, for
//! any N, and the other bucket depends on the bucket and the fingerprint only, so a fingerprint can move without its
//! key.
//!
//! k and f₀ are for tables that are layers of a growing filter. A layer with 2ᵏ times the buckets of the first and f bits
//! is a refinement of a layer with less of both: dropping the lowest bits of a bucket's number, and the highest of a
//! fingerprint, gives bucket and fingerprint of the same key in the smaller layer, and the other bucket of the one
//! becomes the other bucket of the other. So a fingerprint can move to an older layer without its key, too.

/// The factors of the recipe.
pub(super) const MIX: u64 = 0xa076_1d64_78bd_642f;
pub(super) const HASH: u64 = 0xe703_7ed1_a0b4_28db;
pub(super) const HASH_AGAIN: u64 = 0x8ebc_6af0_9c88_c6e3;

/// The places of one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    /// N.
    pub(super) buckets: u64,
    /// The f₀ lowest bits.
    pub(super) short_mask: u64,
    /// f − f₀ bits.
    pub(super) long_mask: u64,
    /// k.
    pub(super) growth: u32,
    /// Whether the recipe is the short one: k = 0 and f = f₀.
    pub(super) is_first: bool,
}

/// A fingerprint and its two buckets, which may be the same one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) first: u64,
    pub(super) second: u64,
    pub(super) fingerprint: u32,
}

impl Places {
    /// `first_buckets` · 2^`growth` buckets, at most 2⁵⁶. Fingerprints of `bits` bits, of which the lowest `short_bits`
    /// are hashed.
    pub(crate) fn new(first_buckets: u64, growth: u32, short_bits: u32, bits: u32) -> Self {
        debug_assert!(first_buckets > 0 && short_bits <= bits && bits <= 32);
        debug_assert!(growth <= 56 && first_buckets <= 1 << (56 - growth));
        Self {
            buckets: first_buckets << growth,
            short_mask: (1 << short_bits) - 1,
            long_mask: (1 << (bits - short_bits)) - 1,
            growth,
            is_first: growth == 0 && short_bits == bits,
        }
    }

    #[inline(always)]
    pub(crate) fn buckets(&self) -> u64 {
        self.buckets
    }

    /// f₀.
    pub(crate) fn short_bits(&self) -> u32 {
        self.short_mask.count_ones()
    }

    /// Where a key with this digest is, if it is there.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "a fingerprint has at most 32 bits")]
    pub(super) fn of(&self, digest: u64) -> Spot {
        let mixed = digest.wrapping_mul(MIX);
        let short = 1 + (((mixed >> 32) * self.short_mask) >> 32);
        let first = multiply_high(digest, self.buckets);
        let image = self.image(short);
        // A filter by itself, and a first layer: spared the masks and shifts.
        if self.is_first {
            return Spot { first, second: subtracted(image, first, self.buckets), fingerprint: short as u32 };
        }
        let long = u64::from((mixed as u32).rotate_left(16)) & self.long_mask;
        let fingerprint = (short | long << self.short_bits()) as u32;
        Spot { first, second: self.reflected(image, first), fingerprint }
    }

    /// The other bucket of a fingerprint.
    #[inline(always)]
    pub(super) fn other(&self, bucket: u64, fingerprint: u32) -> u64 {
        let image = self.image(u64::from(fingerprint) & self.short_mask);
        if self.growth == 0 { subtracted(image, bucket, self.buckets) } else { self.reflected(image, bucket) }
    }

    /// G of the recipe.
    #[inline(always)]
    fn image(&self, short: u64) -> u64 {
        // A hash, not a product: with a product, kicks lead to few different buckets, and the table is full at 84 to
        // 87 % instead of 96.
        let hash = short.wrapping_mul(HASH);
        let hash = (hash ^ hash >> 32).wrapping_mul(HASH_AGAIN);
        multiply_high(hash, self.buckets)
    }

    /// G − i, in a layer that may have grown.
    #[inline(always)]
    fn reflected(&self, image: u64, bucket: u64) -> u64 {
        let first = subtracted(image >> self.growth, bucket >> self.growth, self.buckets >> self.growth);
        first << self.growth | (image ^ bucket) & ((1 << self.growth) - 1)
    }

    /// Whether a digest can have this fingerprint.
    pub(super) fn can_be(&self, fingerprint: u32) -> bool {
        u64::from(fingerprint) & self.short_mask != 0
    }

    /// Bucket and fingerprint in an older layer, which has less of both.
    pub(crate) fn reduced(&self, bucket: u64, fingerprint: u32, older: &Self) -> (u64, u32) {
        let bits = older.short_bits() + older.long_mask.count_ones();
        (bucket >> (self.growth - older.growth), fingerprint & (u32::MAX >> (32 - bits)))
    }
}

/// a − b modulo `count`, both below it.
#[inline(always)]
fn subtracted(a: u64, b: u64, count: u64) -> u64 {
    let (difference, below) = a.overflowing_sub(b);
    difference.wrapping_add(if below { count } else { 0 })
}

/// ⌊a · b / 2⁶⁴⌋.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the high half of the product")]
pub(super) fn multiply_high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_largest_tables_have_places() {
        for (first_buckets, growth) in [(1 << 56, 0), (1, 56), (1 << 20, 36), ((1 << 50) - 1, 6)] {
            let places = Places::new(first_buckets, growth, 8, 12);
            for digest in [0, 1, 1 << 63, u64::MAX, 0x0123_4567_89ab_cdef] {
                let spot = places.of(digest);
                assert!(spot.first < places.buckets() && spot.second < places.buckets());
                assert_eq!(places.other(spot.second, spot.fingerprint), spot.first);
            }
        }
    }

    proptest! {
        #[test]
        fn the_other_of_the_other_is_the_first(
            digest: u64, first_buckets in 1u64..1 << 40, growth in 0u32..15, short_bits in 4u32..=32, more in 0u32..20,
        ) {
            let places = Places::new(first_buckets, growth, short_bits, (short_bits + more).min(32));
            let spot = places.of(digest);
            prop_assert!(spot.first < places.buckets() && spot.second < places.buckets());
            prop_assert_eq!(places.other(spot.second, spot.fingerprint), spot.first);
            prop_assert!(spot.fingerprint & (u32::MAX >> (32 - short_bits)) != 0);
            prop_assert!(u64::from(spot.fingerprint) < 1 << (short_bits + more).min(32));
        }

        #[test]
        fn small_tables_too(digest: u64, first_buckets in 1u64..20, growth in 0u32..4) {
            let places = Places::new(first_buckets, growth, 8, 8);
            for bucket in 0..places.buckets() {
                let other = places.other(bucket, places.of(digest).fingerprint);
                prop_assert!(other < places.buckets());
                prop_assert_eq!(places.other(other, places.of(digest).fingerprint), bucket);
            }
        }

        #[test]
        fn a_key_in_a_newer_layer_is_the_same_key_in_an_older_one(
            digest: u64, first_buckets in 1u64..1 << 30, older_growth in 0u32..12, step in 0u32..12, short_bits in 4u32..=20,
            older_more in 0u32..6, more in 0u32..6,
        ) {
            let older = Places::new(first_buckets, older_growth, short_bits, short_bits + older_more);
            let newer =
                Places::new(first_buckets, older_growth + step, short_bits, short_bits + older_more + more);
            let (old, new) = (older.of(digest), newer.of(digest));
            prop_assert_eq!(newer.reduced(new.first, new.fingerprint, &older), (old.first, old.fingerprint));
            prop_assert_eq!(newer.reduced(new.second, new.fingerprint, &older), (old.second, old.fingerprint));
        }
    }

    #[test]
    fn fingerprints_and_buckets_are_even() {
        let places = Places::new(1 << 10, 0, 4, 6);
        let mut counts = [0u32; 64];
        let mut state = 0u64;
        for _ in 0..600_000 {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let digest = xxhash_rust::xxh3::xxh3_64(&state.to_le_bytes());
            counts[places.of(digest).fingerprint as usize] += 1;
        }
        for (fingerprint, count) in counts.into_iter().enumerate() {
            // 10 000 each, six standard deviations of 100.
            let expected = if fingerprint % 16 == 0 { 0..=0 } else { 9_400..=10_600 };
            assert!(expected.contains(&count), "{fingerprint}: {count}");
        }
    }
}
