//! Sizes with many divisors, so that a filter built too large can be folded to fit.

/// Numbers with many divisors. A multiple of one of them can be folded by each of its divisors.
const DIVISIBLE: [u64; 9] = [1, 2, 12, 60, 360, 2520, 5040, 55_440, 720_720];

/// Rounding to a multiple of a divisible number may cost one part in this many.
const COST: u64 = 128;

/// `size` rounded up to a multiple of the largest divisible number that is at most a 128th of it.
///
/// A size so large that rounding would overflow is returned as it is; every plan refuses it anyway.
pub(super) fn divisible_from(size: u64) -> u64 {
    size.checked_next_multiple_of(unit(size)).unwrap_or(size)
}

/// `size` rounded down in the same way, for a filter that must fit into its memory.
pub(super) fn divisible_within(size: u64) -> u64 {
    size - size % unit(size)
}

fn unit(size: u64) -> u64 {
    DIVISIBLE.into_iter().rev().find(|number| *number <= size / COST).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_follows_the_table() {
        let cases = [
            (1, 1, 1),
            (127, 127, 127),
            (255, 255, 255),
            (257, 258, 256),
            (1_535, 1_536, 1_534),
            (1_537, 1_548, 1_536),
            (1_000_000, 1_002_960, 997_920),
            (92_252_161, 92_972_880, 92_252_160),
            (0, 0, 0),
        ];
        for (size, up, down) in cases {
            assert_eq!((divisible_from(size), divisible_within(size)), (up, down), "{size}");
        }
    }

    #[test]
    fn rounding_costs_at_most_a_128th_both_ways() {
        for size in (1..3_000_000_u64).step_by(1_237).chain([1 << 40, (1 << 54) - 1, 1 << 63]) {
            assert!(divisible_from(size) >= size && divisible_from(size) - size < size / 128 + 1, "{size}");
            assert!(
                divisible_within(size) <= size && size - divisible_within(size) < size / 128 + 1,
                "{size}"
            );
        }
    }

    #[test]
    fn the_largest_sizes_do_not_wrap() {
        assert_eq!(divisible_from(u64::MAX), u64::MAX);
        assert!(divisible_within(u64::MAX) > u64::MAX - 720_720);
    }
}
