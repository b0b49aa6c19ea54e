//! How often an absent key meets its own fingerprint.

use crate::cuckoo::CuckooLayout;
use crate::sizing::classic::Occupancy;
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

/// The standard deviation of the rate among tables that hold fingerprints of `entries` different keys each, and differ by
/// their seeds.
///
/// A key is one of N(2^f − 1) / (2 − 1/N) fingerprints with their two buckets, and the rate is the share of those that the
/// table has. Two things vary: the number of keys that are taken for each other, about p · n / 2 of them, and of those whose
/// two buckets are the same one, n / N, which half as many absent keys look like. That makes p · √((p + 1/(2N)) / 2n), far
/// less than in a Bloom filter.
///
/// ```
/// use mayhap::cuckoo::CuckooLayout;
/// use mayhap::sizing::cuckoo::{rate, rate_deviation};
///
/// let layout = CuckooLayout::new(4, 8).unwrap();
/// let (rate, deviation) = (rate(layout, 950, 250), rate_deviation(layout, 950, 250));
/// assert!((deviation / rate - ((rate + 1.0 / 500.0) / 1_900.0).sqrt()).abs() < 1e-4);
/// ```
#[must_use]
pub fn rate_deviation(layout: CuckooLayout, entries: u64, buckets: u64) -> f64 {
    if buckets == 0 {
        return 0.0;
    }
    let values = fingerprints(layout.fingerprint_bits(), layout.fingerprint_bits());
    let shared = Occupancy::of_cells(entries, 1.0 / equal(values, buckets)).fill_deviation();
    let one_bucket = 1.0 / buckets as f64;
    let halved = entries as f64 * one_bucket * (1.0 - one_bucket) * libm::pow(one_bucket / values, 2.0);
    libm::sqrt(shared * shared + halved)
}

/// The same for the layers of a growing filter, the oldest first: each a layout, the entries it holds, and its buckets.
///
/// Layers refine each other, so that what looks alike in a newer one does in the older ones, too: a key of a newer layer that
/// looks like one of an older layer there adds nothing to the rate. Between the n keys of a layer of the rate p and older
/// layers of the rates q in all there are n · q such pairs, each of them 1/n of p: that adds p² · q / n to the layer's own
/// variance.
///
/// ```
/// use mayhap::cuckoo::CuckooLayout;
/// use mayhap::sizing::cuckoo::{rate_deviation, rate_deviation_of_layers};
///
/// let layout = CuckooLayout::new(4, 12).unwrap();
/// assert_eq!(rate_deviation_of_layers([(layout, 950, 250)]), rate_deviation(layout, 950, 250));
/// assert!(rate_deviation_of_layers([(layout, 950, 250), (layout, 1_900, 500)]) < 1.5 * rate_deviation(layout, 950, 250));
/// ```
#[must_use]
pub fn rate_deviation_of_layers(layers: impl IntoIterator<Item = (CuckooLayout, u64, u64)>) -> f64 {
    let (mut variance, mut older) = (0.0, 0.0);
    for (layout, entries, buckets) in layers {
        if entries == 0 || buckets == 0 {
            continue;
        }
        let (rate, own) = (rate(layout, entries, buckets), rate_deviation(layout, entries, buckets));
        variance += own * own + rate * rate * older / entries as f64;
        older += rate;
    }
    libm::sqrt(variance)
}

/// The probability that two keys are taken for each other.
fn equal(values: f64, buckets: u64) -> f64 {
    let count = buckets as f64;
    (2.0 - 1.0 / count) / (count * values)
}

/// [`rate`], for a number of possible fingerprints.
pub(crate) fn rate_of_values(values: f64, entries: u64, buckets: u64) -> f64 {
    let equal = equal(values, buckets);
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
