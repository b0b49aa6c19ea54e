//! A range of numbers.

use std::ops::RangeInclusive;

use super::count::parse_count;

const ACCEPTED: &str = "write 0..1M for the numbers from 0 to 999999, or 1..=1M to have the last one in it";

/// Reads a range: `a..b` without b, `a..=b` with it. A missing beginning is 0.
pub(crate) fn parse_range(text: &str) -> Result<RangeInclusive<u64>, String> {
    let (start, end) = text.split_once("..").ok_or_else(|| format!("`{text}` is not a range; {ACCEPTED}"))?;
    let first = if start.trim().is_empty() { 0 } else { parse_count(start)? };
    let (end, is_inclusive) = match end.strip_prefix('=') {
        Some(end) => (end, true),
        None => (end, false),
    };
    if end.trim().is_empty() {
        return Err(format!("the range `{text}` has no end; {ACCEPTED}"));
    }
    let end = parse_count(end)?;
    let last = if is_inclusive { Some(end) } else { end.checked_sub(1) };
    match last {
        Some(last) if last >= first => Ok(first..=last),
        _ => Err(format!("the range `{text}` is empty; {ACCEPTED}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write() {
        for (text, range) in [
            ("0..1M", 0..=999_999),
            ("1..=1M", 1..=1_000_000),
            ("..10", 0..=9),
            ("5..6", 5..=5),
            ("1k..1.5k", 1_000..=1_499),
            ("7..=7", 7..=7),
            ("10..2^20", 10..=1_048_575),
            ("0..=18446744073709551615", 0..=u64::MAX),
        ] {
            assert_eq!(parse_range(text), Ok(range), "{text}");
        }
    }

    #[test]
    fn what_they_should_not() {
        for (text, expected) in [
            ("", "is not a range"),
            ("1M", "is not a range"),
            ("5..", "has no end"),
            ("5..=", "has no end"),
            ("5..5", "is empty"),
            ("6..5", "is empty"),
            ("9..=5", "is empty"),
            ("0..0", "is empty"),
            ("a..b", "is not a count"),
            ("-5..5", "is not a count"),
            ("0..1.5", "not a whole number"),
            ("0..2^64", "too large"),
        ] {
            let message = parse_range(text).unwrap_err();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
