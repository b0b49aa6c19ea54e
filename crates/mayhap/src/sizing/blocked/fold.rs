//! Block counts with many divisors, so that a filter can be folded to fit.

use crate::bloom::Shape;

/// Numbers with many divisors. A multiple of one of them can be folded by each of its divisors.
const DIVISIBLE: [u64; 9] = [1, 2, 12, 60, 360, 2520, 5040, 55_440, 720_720];

/// A multiple of a divisible number costs at most one part in this many.
const COST: u64 = 128;

/// `blocks` rounded up to a number that folds well, at a cost below 0.8 %.
///
/// A filter folds by any divisor of its number of blocks (of half of it, for a shape of two lines). The answer is a
/// multiple of the largest of 1, 2, 12, 60, 360, 2520, 5040, 55440, 720720 that is at most a 128th of it.
///
/// ```
/// use mayhap::bloom::Shape;
/// use mayhap::sizing::blocked::foldable;
///
/// assert_eq!(foldable(Shape::Eight, 100), 100);
/// assert_eq!(foldable(Shape::Eight, 1_000_003), 1_003_000 / 5040 * 5040);
/// ```
#[must_use]
pub fn foldable(shape: Shape, blocks: u64) -> u64 {
    let lines = shape.lines();
    let line = blocks.div_ceil(lines);
    // A count so large that rounding overflows is refused by every plan anyway.
    line.checked_next_multiple_of(divisible(line)).and_then(|line| line.checked_mul(lines)).unwrap_or(blocks)
}

/// `blocks` rounded down to a number that folds well, for a filter that must fit into its memory.
pub(super) fn foldable_within(shape: Shape, blocks: u64) -> u64 {
    let line = blocks / shape.lines();
    (line - line % divisible(line)) * shape.lines()
}

fn divisible(blocks: u64) -> u64 {
    DIVISIBLE.into_iter().rev().find(|number| *number <= blocks / COST).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_follows_the_table() {
        let cases = [
            (1, 1),
            (127, 127),
            (255, 255),
            (256, 256),
            (257, 258),
            (1_535, 1_536),
            (1_537, 1_548),
            (1_000_000, 1_003_000 / 5040 * 5040),
            (92_252_161, 92_252_160 + 720_720),
        ];
        for (blocks, expected) in cases {
            assert_eq!(foldable(Shape::Eight, blocks), expected, "{blocks}");
        }
        assert_eq!(foldable(Shape::SixteenTwoLines, 1), 2);
        assert_eq!(foldable(Shape::SixteenTwoLines, 513), 516);
    }

    #[test]
    fn rounding_costs_less_than_a_128th_both_ways() {
        for shape in Shape::ALL {
            for blocks in (2..3_000_000_u64).step_by(1_237).chain([1 << 40, (1 << 54) - 1]) {
                let (up, down) = (foldable(shape, blocks), foldable_within(shape, blocks));
                assert!(up >= blocks && (up - blocks) * 128 < blocks + 256, "{shape:?} {blocks} {up}");
                assert!(down <= blocks && (blocks - down) * 128 < blocks + 256, "{shape:?} {blocks} {down}");
                assert_eq!((up % shape.lines(), down % shape.lines()), (0, 0));
            }
        }
    }

    #[test]
    fn the_largest_counts_do_not_wrap() {
        assert!(foldable(Shape::Eight, u64::MAX) == u64::MAX);
        assert!(foldable(Shape::SixteenTwoLines, u64::MAX) == u64::MAX);
        assert!(foldable_within(Shape::SixteenTwoLines, u64::MAX) > u64::MAX / 2);
        assert_eq!(foldable_within(Shape::Eight, 0), 0);
    }
}
