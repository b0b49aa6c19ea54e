//! How full a table can get.
//!
//! Three things end the filling of a cuckoo table.
//!
//! **The threshold.** In a large table there is a load below which every key finds a place, and above which hardly any
//! does. Looking at some hundred buckets for each key stops a little before it. [`full_load`] stays below that: the
//! table of the first failures is in `docs/maths.md`, from `examples/cuckoo_loads.rs`.
//!
//! **Chance in small tables.** In a table of a few buckets it happens that more keys want the same two buckets than
//! these have places. A table below has the entries that fit in all but one of ten thousand tables, measured with long
//! fingerprints. Short ones add to it what comes next, also before that alone would fill a table: at up to 400 buckets one
//! or two of a thousand tables of 4-bit (b = 4) and 6-bit fingerprints (b = 2) refuse a key, and fewer the longer they are.
//!
//! **Short fingerprints.** Keys with the same fingerprint and bucket have the same other bucket. With f bits 2b + 1 of n
//! keys share both, and don't fit, in about C(n, 2b + 1) · (2 / (N(2^f − 1)))^2b cases: few fingerprints in a large table
//! fill some pair of buckets early, however empty the rest is. That grows with n, and shrinks by 2^2b with each bit.

use crate::cuckoo::CuckooLayout;

/// The part of the places of a large table that can be filled, with room to spare: 0.27, 0.84, 0.95 and 0.98 for 1, 2, 4
/// and 8 places in a bucket.
///
/// ```
/// use mayhap::cuckoo::CuckooLayout;
///
/// assert_eq!(mayhap::sizing::cuckoo::full_load(CuckooLayout::new(4, 16).unwrap()), 0.95);
/// ```
#[must_use]
pub fn full_load(layout: CuckooLayout) -> f64 {
    figures(layout).0
}

/// The keys that fit into so many buckets in all but about one of ten thousand tables; of small tables of fingerprints
/// below 9 bits, in all but one or two of a thousand.
///
/// ```
/// use mayhap::cuckoo::CuckooLayout;
/// use mayhap::sizing::cuckoo::capacity;
///
/// let layout = CuckooLayout::new(4, 16).unwrap();
/// assert_eq!(capacity(layout, 250_000), 950_000);
/// assert_eq!(capacity(layout, 25), 85, "small tables need more room");
/// ```
#[must_use]
pub fn capacity(layout: CuckooLayout, buckets: u64) -> u64 {
    let (full, small) = figures(layout);
    let entries = f64::from(layout.entries_per_bucket());
    let count = buckets as f64;
    let by_load = interpolated(small, count).unwrap_or(f64::INFINITY).min(full * count * entries);
    rounded_down(by_load.min(by_fingerprints(layout, count))).max(u64::from(buckets > 0))
}

/// Whether fingerprints of this layout find their way in tables of any size: shared pairs of buckets are no matter.
pub(super) fn can_grow(layout: CuckooLayout) -> bool {
    layout.entries_per_bucket() >= 4 && layout.fingerprint_bits() >= 7
}

/// The keys of which 2b + 1 share fingerprint and bucket in one of 10⁵ tables.
fn by_fingerprints(layout: CuckooLayout, buckets: f64) -> f64 {
    const CHANCE: f64 = 1e-5;
    let group = 2 * layout.entries_per_bucket() + 1;
    let same = 2.0 / (buckets * super::fingerprints(layout.fingerprint_bits(), layout.fingerprint_bits()));
    // C(n, group) ≤ n^group / group!
    let factorial = libm::lgamma(f64::from(group) + 1.0);
    let exponent = libm::log(CHANCE) + factorial - f64::from(group - 1) * libm::log(same);
    libm::exp(exponent / f64::from(group))
}

/// The full load, and the entries that fit in all but one of 10 000 small tables, by buckets: measured by
/// `examples/cuckoo_loads.rs small`.
fn figures(layout: CuckooLayout) -> (f64, &'static [(u32, u32)]) {
    match layout.entries_per_bucket() {
        1 => (0.27, &ONE),
        2 => (0.84, &TWO),
        4 => (0.95, &FOUR),
        _ => (0.98, &EIGHT),
    }
}

#[rustfmt::skip]
const ONE: [(u32, u32); 14] = [
    (1, 1), (20, 2), (40, 4), (64, 4), (80, 6), (100, 8), (130, 15), (160, 19), (200, 26), (260, 33), (400, 55),
    (700, 111), (1_500, 329), (4_000, 1_080),
];
#[rustfmt::skip]
const TWO: [(u32, u32); 14] = [
    (1, 2), (6, 2), (10, 4), (13, 7), (16, 9), (20, 11), (25, 17), (32, 25), (40, 35), (50, 53), (64, 81), (100, 146),
    (200, 319), (400, 664),
];
#[rustfmt::skip]
const FOUR: [(u32, u32); 22] = [
    (1, 4), (2, 4), (3, 5), (4, 7), (5, 10), (6, 12), (8, 18), (10, 27), (13, 38), (16, 49), (20, 66), (25, 85),
    (32, 112), (40, 143), (50, 180), (64, 234), (80, 295), (100, 371), (130, 490), (160, 604), (200, 757), (260, 988),
];
#[rustfmt::skip]
const EIGHT: [(u32, u32); 12] = [
    (1, 8), (2, 10), (3, 17), (4, 25), (5, 33), (6, 41), (8, 57), (10, 73), (16, 120), (32, 246), (64, 500), (100, 784),
];

/// Between two points by a straight line; nothing beyond the last.
fn interpolated(points: &[(u32, u32)], buckets: f64) -> Option<f64> {
    let mut before = (0.0, 0.0);
    for (at, entries) in points {
        let (at, entries) = (f64::from(*at), f64::from(*entries));
        if buckets <= at {
            return Some(before.1 + (entries - before.1) * (buckets - before.0) / (at - before.0));
        }
        before = (at, entries);
    }
    None
}

#[allow(clippy::cast_possible_truncation)] // `as` saturates, which is what is wanted.
fn rounded_down(size: f64) -> u64 {
    libm::floor(size) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_buckets_hold_more_keys() {
        for entries in [1, 2, 4, 8] {
            for bits in 4..=32 {
                let layout = CuckooLayout::new(entries, bits).unwrap();
                let mut before = 0;
                for buckets in (0..1_000).chain((10..50).map(|power| 1 << power)) {
                    let keys = capacity(layout, buckets);
                    assert!(
                        keys >= before && keys <= buckets * u64::from(entries),
                        "{layout:?}, {buckets} buckets"
                    );
                    before = keys;
                }
            }
        }
    }

    #[test]
    fn large_tables_are_limited_by_short_fingerprints_only() {
        let part = |entries, bits, buckets: u64| {
            let layout = CuckooLayout::new(entries, bits).unwrap();
            capacity(layout, buckets) as f64 / (buckets * u64::from(entries)) as f64
        };
        assert!((part(4, 8, 1 << 38) - 0.95).abs() < 1e-6 && (part(8, 4, 1 << 26) - 0.98).abs() < 1e-6);
        assert!((part(2, 16, 1 << 30) - 0.84).abs() < 1e-6 && part(2, 5, 1 << 20) < 0.5);
        assert!(part(4, 4, 1 << 24) < 0.7 && part(1, 8, 1 << 20) < 0.1);
    }
}
