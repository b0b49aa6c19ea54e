//! badger and corekv: LevelDB's bytes, and two functions of one name that mean different things.
//!
//! Both stores, written in Go, keep one filter for a whole table, made from the 32-bit hashes of its keys
//! ([`BloomPolicy::create_filter_from_hashes`]). Hash, bits and bytes are LevelDB's:
//!
//! | | LevelDB | badger | corekv |
//! |---|---|---|---|
//! | bits per key below 0 | undefined | count as 0 | count as 0 |
//! | number of bits | 64 bits wide | cut to 32 bits | cut to 32 bits |
//! | hashed is | the user's key | the key without its 8-byte timestamp | the same |
//! | `BloomBitsPerKey(n, 0.01)` | – | 7: the number of *hashes* | 10 |
//! | filter below 2 bytes, or k > 30 | no, yes | no, yes | in one version unchecked |
//!
//! # The trap
//!
//! badger's `BloomBitsPerKey` works out the number of hashes that is best for the rate, and its callers use that as bits
//! per key. For 1 % it says 7. With 7 bits a key and the 4 hashes that follow from them, 3.6 % of absent keys are found,
//! not 1 %. corekv's function of that name says 10, which gives about 1 %. So one rate gives two different filters; one
//! number of bits per key gives the same.
//!
//! ```
//! use mayhap::formats::leveldb::{BloomPolicy, badger, hash_key};
//!
//! assert_eq!(badger::badger_bits_per_key(1_000, 0.01), 7);
//! assert_eq!(badger::corekv_bits_per_key(1_000, 0.01), 10);
//!
//! let hashes: Vec<u32> = (0..1_000u32).map(|key| hash_key(&key)).collect();
//! let mut filter = Vec::new();
//! BloomPolicy::badger(7).create_filter_from_hashes(&hashes, &mut filter)?;
//! assert_eq!(filter.len(), 875 + 1);
//! # Ok::<(), mayhap::Error>(())
//! ```
//!
//! Checked against badger's `y/bloom.go` at 34dba21b (4.9.2 and four commits), run with Go 1.19.8. What is said of corekv was
//! read in its source, not run.
//!
//! [`BloomPolicy::create_filter_from_hashes`]: super::BloomPolicy::create_filter_from_hashes

/// What both take for ln 2. It is higher by 8 · 10⁻¹⁴, so that a rate of exactly 2⁻ʲ comes to a little less than j
/// hashes, and rounding up gives j on every machine.
#[allow(clippy::approx_constant, reason = "their approximation")]
const LN_2: f64 = 0.693_147_180_56;

/// badger's `BloomBitsPerKey`: the bits per key that it gives its filters for a rate. It is the best number of *hashes*,
/// so that the filter is smaller and its rate higher than was asked for.
///
/// For `keys` = 0 and rates that are none the answer is what badger gets on x86-64, `i64::MIN`, which
/// [`BloomPolicy::badger`](super::BloomPolicy::badger) counts as 0.
#[must_use]
pub fn badger_bits_per_key(keys: u64, rate: f64) -> i64 {
    ceil(LN_2 * size(keys, rate) / keys as f64)
}

/// corekv's `BloomBitsPerKey`: bits per key for a rate, rounded up.
///
/// For `keys` = 0 and rates that are none the answer is `i64::MIN`, as [`badger_bits_per_key`]'s.
#[must_use]
pub fn corekv_bits_per_key(keys: u64, rate: f64) -> i64 {
    ceil(size(keys, rate) / keys as f64)
}

/// Bits for so many keys, in the order in which the originals calculate.
fn size(keys: u64, rate: f64) -> f64 {
    -(keys as f64) * libm::log(rate) / (LN_2 * LN_2)
}

/// Rounds up; what is no 64-bit integer becomes the one that x86-64's instruction gives.
#[allow(clippy::cast_possible_truncation, reason = "in range")]
fn ceil(number: f64) -> i64 {
    let up = libm::ceil(number);
    if (-9.3e18..9.2e18).contains(&up) { up as i64 } else { i64::MIN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_rate_gives_what_go_gives() {
        for bits_per_key in [badger_bits_per_key, corekv_bits_per_key] {
            for (keys, rate) in [(0, 0.01), (10, 0.0), (10, -1.0), (10, f64::NAN)] {
                assert_eq!(bits_per_key(keys, rate), i64::MIN);
            }
            assert_eq!(bits_per_key(10, 1.0), 0);
            assert!(bits_per_key(10, 20.0) < 0);
        }
    }

    /// Go's logarithm and ours may differ in the last place, which is 10⁻¹⁶ of it. For every rate of up to four digits the
    /// number that is rounded up is hundreds of times farther from a whole one.
    #[test]
    fn no_rate_of_four_digits_is_at_a_rounding_boundary() {
        let mut closest = f64::MAX;
        for exponent in -20..=-4 {
            for digits in 1..10_000u32 {
                let rate = f64::from(digits) * libm::pow(10.0, f64::from(exponent));
                for per_key in [LN_2 * size(1, rate), size(1, rate)] {
                    let distance = (per_key - libm::round(per_key)).abs() / per_key.max(1.0);
                    closest = closest.min(distance);
                }
            }
        }
        assert!(closest > 5e-14, "{closest:e}");
    }

    #[test]
    fn powers_of_two_round_to_their_exponent() {
        for exponent in 1..=60 {
            let rate = libm::exp2(-f64::from(exponent));
            assert_eq!(badger_bits_per_key(1_000, rate), i64::from(exponent));
        }
    }
}
