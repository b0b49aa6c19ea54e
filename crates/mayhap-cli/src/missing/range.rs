//! The range whose numbers are looked for.

use std::fmt;

use crate::numbers;

/// The numbers from `first` to `last`, both of them among it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NumberRange {
    first: u64,
    last: u64,
}

impl NumberRange {
    pub(super) fn first(self) -> u64 {
        self.first
    }

    /// How many numbers there are. (All 2^64 at once are refused by the parser.)
    pub(super) fn len(self) -> u64 {
        (self.last - self.first).saturating_add(1)
    }

    /// Where a number stands in the range; nothing if it is outside.
    #[inline]
    pub(super) fn place(self, number: u64) -> Option<u64> {
        (number <= self.last).then(|| number.checked_sub(self.first)).flatten()
    }
}

impl fmt::Display for NumberRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..={}", self.first, self.last)
    }
}

/// Reads a range that can be counted.
pub(super) fn parse_range(text: &str) -> Result<NumberRange, String> {
    let (first, last) = numbers::parse_range(text)?.into_inner();
    if (first, last) == (0, u64::MAX) {
        return Err(format!(
            "the range `{text}` has 2^64 numbers, one more than can be counted; make it smaller"
        ));
    }
    Ok(NumberRange { first, last })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_begin_at_the_first() {
        let range = parse_range("10..20").unwrap();
        let places = [9, 10, 19, 20].map(|number| range.place(number));
        assert_eq!(places, [None, Some(0), Some(9), None]);
        assert_eq!((range.len(), range.to_string().as_str()), (10, "10..=19"));
        let last = parse_range("18446744073709551615..=18446744073709551615").unwrap();
        assert_eq!((last.len(), last.place(u64::MAX)), (1, Some(0)));
        assert!(parse_range("0..=18446744073709551615").unwrap_err().contains("2^64 numbers"));
    }
}
