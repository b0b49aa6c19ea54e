//! Ranges of bits, as `BITCOUNT` and `BITPOS` take them: from the start or, below 0, from the end.

use mayhap_commands::words::{integer, is};

use super::errors;

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BitRange {
    start: i64,
    /// None: up to the end, wherever that is.
    end: Option<i64>,
    is_bits: bool,
}

/// Bits of a string, from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl BitRange {
    pub(super) const ALL: Self = Self { start: 0, end: None, is_bits: false };

    /// `[start [end [BYTE|BIT]]]`.
    pub(super) fn new(words: &[&[u8]]) -> Result<Self, &'static str> {
        let number = |word: &[u8]| integer(word).ok_or(errors::NOT_AN_INTEGER);
        match words {
            [] => Ok(Self::ALL),
            [start] => Ok(Self { start: number(start)?, ..Self::ALL }),
            [start, end, unit @ ..] => {
                let (start, end) = (number(start)?, Some(number(end)?));
                let is_bits = match unit {
                    [] => false,
                    [unit] if is(unit, "BIT") => true,
                    [unit] if is(unit, "BYTE") => false,
                    _ => return Err(errors::SYNTAX),
                };
                Ok(Self { start, end, is_bits })
            }
        }
    }

    /// Whether it was said where it ends.
    pub(super) fn has_end(self) -> bool {
        self.end.is_some()
    }

    /// The bits that it means in a string of so many bytes; none if it is empty.
    pub(super) fn of(self, bytes: u64) -> Option<Span> {
        let bits_of_one = if self.is_bits { 1 } else { 8 };
        let length = i64::try_from(bytes * 8 / bits_of_one).ok()?;
        let place = |place: i64| if place < 0 { length.saturating_add(place).max(0) } else { place };
        let first = place(self.start);
        let last = place(self.end.unwrap_or(-1)).min(length - 1);
        if first > last {
            return None;
        }
        let (first, last) = (first.cast_unsigned(), last.cast_unsigned());
        Some(Span { first: first * bits_of_one, last: (last + 1) * bits_of_one - 1 })
    }

    /// The same for `BITCOUNT`, where two places before the start, the later first, are none and not the first one.
    pub(super) fn of_count(self, bytes: u64) -> Option<Span> {
        match self.end {
            Some(end) if self.start < 0 && end < 0 && self.start > end => None,
            _ => self.of(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(words: &[&[u8]], bytes: u64) -> Option<(u64, u64)> {
        BitRange::new(words).unwrap().of(bytes).map(|span| (span.first, span.last))
    }

    #[test]
    fn places_are_counted_from_both_ends() {
        assert_eq!(span(&[], 3), Some((0, 23)));
        assert_eq!(span(&[b"1"], 3), Some((8, 23)));
        assert_eq!(span(&[b"-1"], 3), Some((16, 23)));
        assert_eq!(span(&[b"0", b"0"], 3), Some((0, 7)));
        assert_eq!(span(&[b"-100", b"100"], 3), Some((0, 23)));
        assert_eq!(span(&[b"2", b"1"], 3), None);
        assert_eq!(span(&[b"3"], 3), None);
        assert_eq!(span(&[b"0", b"-100"], 3), Some((0, 7)));
        assert_eq!(span(&[b"5", b"-2", b"BIT"], 3), Some((5, 22)));
        assert_eq!(span(&[b"5", b"6", b"bit"], 0), None);
        assert_eq!(span(&[b"-9223372036854775808", b"9223372036854775807"], 1), Some((0, 7)));
    }

    #[test]
    fn what_is_no_range_is_refused() {
        assert_eq!(BitRange::new(&[b"a"]), Err(errors::NOT_AN_INTEGER));
        assert_eq!(BitRange::new(&[b"1", b"b"]), Err(errors::NOT_AN_INTEGER));
        assert_eq!(BitRange::new(&[b"1", b"2", b"NIBBLE"]), Err(errors::SYNTAX));
        assert_eq!(BitRange::new(&[b"1", b"2", b"BIT", b"3"]), Err(errors::SYNTAX));
    }
}
