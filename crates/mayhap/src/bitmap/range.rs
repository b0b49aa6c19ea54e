//! Ranges of numbers.

use core::ops::{Bound, RangeBounds};

/// The first and the last number of a range, where an open end is `largest`; nothing for an empty range.
pub(super) fn inclusive(range: impl RangeBounds<u64>, largest: u64) -> Option<(u64, u64)> {
    let first = match range.start_bound() {
        Bound::Included(first) => *first,
        Bound::Excluded(before) => before.checked_add(1)?,
        Bound::Unbounded => 0,
    };
    let last = match range.end_bound() {
        Bound::Included(last) => *last,
        Bound::Excluded(after) => after.checked_sub(1)?,
        Bound::Unbounded => largest,
    };
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::reversed_empty_ranges, reason = "that is what is tested")]
    fn ends_are_where_they_should_be() {
        assert_eq!(inclusive(.., 9), Some((0, 9)));
        assert_eq!(inclusive(3.., 9), Some((3, 9)));
        assert_eq!(inclusive(3..7, 9), Some((3, 6)));
        assert_eq!(inclusive(3..=70, 9), Some((3, 70)));
        assert_eq!(inclusive(0..=u64::MAX, 9), Some((0, u64::MAX)));
        assert_eq!(inclusive((Bound::Excluded(3), Bound::Unbounded), 9), Some((4, 9)));
        assert_eq!(inclusive((Bound::Excluded(u64::MAX), Bound::Unbounded), 9), None);
        assert_eq!(inclusive(..0, 9), None);
        assert_eq!(inclusive(7..7, 9), None);
        assert_eq!(inclusive(7..3, 9), None);
        assert_eq!(inclusive(12.., 9), None);
    }
}
