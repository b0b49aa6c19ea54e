//! How large an exact set of integers is, in either form of `Bitmap`, and when it is no larger than a filter.
//!
//! A bit for each number of the universe is U/8 bytes, whatever is in it. The sparse form keeps numbers that share their
//! upper 48 bits in one container: an array of 2 bytes each up to 4096 numbers, 8 KiB of bits above.
//!
//! ```
//! use mayhap::sizing::{BlockedPlan, ClassicPlan, bitmap};
//!
//! // A billion phone numbers of 11 digits, the first of which is fixed: exact in less than a filter at 0.1 % needs.
//! assert_eq!(bitmap::dense_bytes(10_000_000_000), 1_250_000_000);
//! assert!(ClassicPlan::for_rate(1_000_000_000, 0.001)?.bits() / 8 > 1_790_000_000);
//! assert!(BlockedPlan::for_rate(1_000_000_000, 0.001)?.bytes() > 1_960_000_000);
//! # Ok::<(), mayhap::sizing::SizingError>(())
//! ```

use crate::bits::{BLOCK_BITS, BLOCK_BYTES};

/// Bytes of the bits of a container that has more than 4096 of its 65536 numbers.
pub(crate) const CONTAINER_BITMAP_BYTES: u64 = 8192;
/// Bytes that a container takes beside its numbers: its entry in the list of containers.
pub(crate) const CONTAINER_BYTES: u64 = 40;
/// Bytes that a map of 2³² numbers takes beside its containers: its entry in the tree of maps, with the tree's spare room
/// (measured: `examples/exact_sets.rs`).
pub(crate) const MAP_BYTES: u64 = 44;
/// Numbers in a container, and in a map.
const CONTAINER_NUMBERS: u64 = 1 << 16;
const MAP_NUMBERS: u64 = 1 << 32;

/// Bytes of a dense bitmap of the numbers below `universe`: a bit for each, in whole blocks.
#[must_use]
pub fn dense_bytes(universe: u64) -> u64 {
    universe.div_ceil(BLOCK_BITS) * BLOCK_BYTES as u64
}

/// Bytes of a sparse bitmap of `numbers` numbers below `universe`, spread evenly and added one by one: about the most
/// it can take. Numbers in clusters take less.
///
/// Evenly spread, n numbers fill C = min(n, U / 2¹⁶) containers with n / C each. An array that grows one by one has room
/// for the next power of two; so does the list of containers.
#[must_use]
pub fn sparse_bytes(universe: u64, numbers: u64) -> u64 {
    let numbers = numbers.min(universe);
    if numbers == 0 {
        return 0;
    }
    let containers = numbers.min(universe.div_ceil(CONTAINER_NUMBERS));
    let maps = numbers.min(universe.div_ceil(MAP_NUMBERS));
    let room = |each: u64| each.max(4).next_power_of_two();
    let container = (2 * room(numbers.div_ceil(containers))).min(CONTAINER_BITMAP_BYTES);
    let list = room(containers.div_ceil(maps)) * CONTAINER_BYTES;
    containers.saturating_mul(container).saturating_add(maps.saturating_mul(list + MAP_BYTES))
}

/// Whether the dense form is the smaller one, or no larger: the choice of `Bitmap::new`.
#[must_use]
pub fn is_dense_smaller(universe: u64, numbers: u64) -> bool {
    dense_bytes(universe) <= sparse_bytes(universe, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sizing::{BlockedPlan, ClassicPlan};

    /// The case of the billion phone numbers, both ways.
    #[test]
    fn a_billion_phone_numbers() {
        let n = 1_000_000_000;
        let (classic, blocked) =
            (ClassicPlan::for_rate(n, 0.001).unwrap(), BlockedPlan::for_rate(n, 0.001).unwrap());
        let gb = |bytes: u64| (bytes as f64 / 1e7).round() / 100.0;
        // The first of 11 digits fixed, and all 11 free.
        assert_eq!(gb(dense_bytes(10_000_000_000)), 1.25);
        assert_eq!(gb(dense_bytes(100_000_000_000)), 12.5);
        assert_eq!((gb(classic.bytes()), gb(blocked.bytes())), (1.8, 1.97));
        assert!(is_dense_smaller(10_000_000_000, n) && !is_dense_smaller(100_000_000_000, n));
        assert_eq!(gb(sparse_bytes(100_000_000_000, n)), 3.19);
    }

    /// What `examples/exact_sets.rs` counts on the heap, in bytes per number.
    #[test]
    fn the_sparse_form_takes_what_was_measured() {
        let cases = [
            (1 << 32, 10_000, 72.96),
            (1 << 32, 100_000, 30.43),
            (1 << 32, 1_000_000, 5.44),
            (1 << 32, 10_000_000, 3.58),
            (100_000_000, 1_000_000, 3.21),
            (1_000_000_000, 10_000_000, 3.19),
            (u64::MAX, 1_000_000, 212.20),
        ];
        for (universe, numbers, measured) in cases {
            let computed = sparse_bytes(universe, numbers) as f64 / numbers as f64;
            assert!(
                (computed / measured - 1.0).abs() < 0.15,
                "{universe}, {numbers}: {computed}, measured {measured}"
            );
        }
    }

    #[test]
    fn nothing_wraps() {
        for universe in [0, 1, 65_536, 1 << 32, 1 << 63, u64::MAX] {
            for numbers in [0, 1, 65_536, 1 << 40, u64::MAX] {
                let _ = (
                    dense_bytes(universe),
                    sparse_bytes(universe, numbers),
                    is_dense_smaller(universe, numbers),
                );
            }
        }
        assert_eq!((dense_bytes(1), dense_bytes(512), dense_bytes(513)), (64, 64, 128));
        assert_eq!(dense_bytes(u64::MAX), 1 << 61);
    }
}
