//! How often an absent key meets its own fingerprint.

use crate::cuckoo::CuckooLayout;
use crate::sizing::limits::shared_digests;

/// The rate of a table of `buckets` buckets that holds `entries` fingerprints of different keys.
///
/// An absent key is taken for a present one if their fingerprints are equal, one chance in 2^f − 1, and its bucket is
/// one of the other's two: (2 − 1/N) chances in N, because the two are the same bucket once in N times. Keys are
/// independent, so n of them are missed with probability (1 − (2 − 1/N) / (N(2^f − 1)))ⁿ.
///
/// ```
/// use mayhap::cuckoo::CuckooLayout;
/// use mayhap::sizing::cuckoo::rate;
///
/// let layout = CuckooLayout::new(4, 16).unwrap();
/// // 2 · 4 · 0.95 fingerprints are compared with 2¹⁶ − 1 that are possible.
/// assert!((rate(layout, 950_000, 250_000) - 7.6 / 65_535.0).abs() < 1e-8);
/// ```
#[must_use]
pub fn rate(layout: CuckooLayout, entries: u64, buckets: u64) -> f64 {
    rate_of_values(fingerprints(layout.fingerprint_bits(), layout.fingerprint_bits()), entries, buckets)
}

/// The same for a number of possible fingerprints.
pub(crate) fn rate_of_values(values: f64, entries: u64, buckets: u64) -> f64 {
    let count = buckets as f64;
    let equal = (2.0 - 1.0 / count) / (count * values);
    let missed = if equal >= 1.0 { f64::NEG_INFINITY } else { libm::log1p(-equal) };
    if entries == 0 {
        return 0.0;
    }
    let own = -libm::expm1(entries as f64 * missed);
    (own + shared_digests(entries)).min(1.0)
}

/// Fingerprints of `bits` bits whose lowest `short_bits` are not all zero.
pub(crate) fn fingerprints(short_bits: u32, bits: u32) -> f64 {
    (libm::exp2(f64::from(short_bits)) - 1.0) * libm::exp2(f64::from(bits - short_bits))
}
