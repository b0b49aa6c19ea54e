//! Block counts that fold well.

use crate::bloom::Shape;
use crate::sizing::divisible::{divisible_from, divisible_within};

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
/// assert_eq!(foldable(Shape::Eight, 1_000_003), 199 * 5040);
/// ```
#[must_use]
pub fn foldable(shape: Shape, blocks: u64) -> u64 {
    let lines = shape.lines();
    divisible_from(blocks.div_ceil(lines)).checked_mul(lines).unwrap_or(blocks)
}

/// `blocks` rounded down to a number that folds well, for a filter that must fit into its memory.
pub(super) fn foldable_within(shape: Shape, blocks: u64) -> u64 {
    divisible_within(blocks / shape.lines()) * shape.lines()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lines_are_rounded_half_by_half() {
        let two = Shape::SixteenTwoLines;
        assert_eq!([1, 2, 513, 3_074].map(|blocks| foldable(two, blocks)), [2, 2, 516, 3_096]);
        assert_eq!([1, 3, 515, 3_074].map(|blocks| foldable_within(two, blocks)), [0, 2, 512, 3_072]);
        assert_eq!(foldable(Shape::Eight, 1_537), 1_548);
        assert_eq!(foldable_within(Shape::Eight, 1_547), 1_536);
        assert_eq!(foldable(two, u64::MAX), u64::MAX);
    }
}
