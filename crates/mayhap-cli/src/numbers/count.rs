//! How many: keys, lines, hashes.

use super::decimal::{Decimal, NotWhole};

const ACCEPTED: &str = "write a whole number such as 5000, 1_000_000, 1.5k, 100M, 1B, 1e8 or 2^20";

/// Reads a count: a plain number, or one with `k`, `M`, `B` (or `G`) or `T` for thousands, millions, billions and
/// millions of millions, in either case. A fraction of one thing is refused, and so is anything from 2^64 on.
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    let (number, suffix) = Decimal::parse_prefix(text).ok_or_else(|| not_a_count(text))?;
    let unit = match suffix.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "b" | "g" => 1_000_000_000,
        "t" => 1_000_000_000_000,
        _ => return Err(not_a_count(text)),
    };
    number.whole(unit).map_err(|problem| match problem {
        NotWhole::Fraction => format!("`{text}` is not a whole number; {ACCEPTED}"),
        NotWhole::TooLarge => format!("`{text}` is too large: the limit is 2^64 - 1, about 1.8e19"),
    })
}

fn not_a_count(text: &str) -> String {
    format!("`{text}` is not a count; {ACCEPTED}")
}

/// A count in three digits: `100 M`, `1.23 k`, `999`.
pub(crate) fn format_count(count: u64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, " T"), (1e9, " B"), (1e6, " M"), (1e3, " k")];
    let value = count as f64;
    for (unit, name) in UNITS {
        // Half a unit of the third digit below, so that 999 999 is `1 M` and not `1000 k`.
        if value >= unit * 0.9995 && count >= 1_000 {
            return three_digits(value / unit) + name;
        }
    }
    count.to_string()
}

/// All digits, in groups of three: `1 000 000`.
pub(crate) fn group_digits(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// So many of something, whose name takes an s if they are many: `1 key`, `20 000 keys`.
pub(crate) fn counted(count: u64, name: &str) -> String {
    format!("{} {name}{}", group_digits(count), if count == 1 { "" } else { "s" })
}

/// The nearest whole number; the nearest there is for what lies outside.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Saturates.
pub(crate) fn whole(count: f64) -> u64 {
    count.round() as u64
}

/// A number between 0.9995 and 1024, in three significant digits, without trailing zeros.
pub(super) fn three_digits(value: f64) -> String {
    let places = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write() {
        for (text, count) in [
            ("0", 0),
            ("5000", 5_000),
            ("1_000_000", 1_000_000),
            ("1 000 000", 1_000_000),
            ("1.5k", 1_500),
            ("1.5K", 1_500),
            ("100M", 100_000_000),
            ("100 M", 100_000_000),
            ("100m", 100_000_000),
            ("1B", 1_000_000_000),
            ("1b", 1_000_000_000),
            ("1G", 1_000_000_000),
            ("2T", 2_000_000_000_000),
            ("1e8", 100_000_000),
            ("1E+8", 100_000_000),
            ("1.25e3", 1_250),
            ("2^20", 1 << 20),
            ("0.000001M", 1),
            ("18446744073709551615", u64::MAX),
            ("18.446744073709551615e18", u64::MAX),
        ] {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
    }

    #[test]
    fn what_they_should_not() {
        for text in [
            "", " ", "M", "abc", "-5", "1,000", "100MB", "1e", "0x10", "1..2", "1/2", "10%", "∞", "NaN",
            "1k5",
        ] {
            let message = parse_count(text).unwrap_err();
            assert!(
                message.contains("is not a count; write") && message.contains("100M"),
                "{text}: {message}"
            );
        }
        for text in ["1.5", "0.0001k", "1.0001k", "1e-3"] {
            let message = parse_count(text).unwrap_err();
            assert!(message.contains("not a whole number"), "{text}: {message}");
        }
        for text in ["18446744073709551616", "1e30", "1e9999", "99999999T", "2^64"] {
            let message = parse_count(text).unwrap_err();
            assert!(message.contains("too large"), "{text}: {message}");
        }
    }

    #[test]
    fn printed_short_and_long() {
        for (count, short, long) in [
            (0, "0", "0"),
            (999, "999", "999"),
            (1_000, "1 k", "1 000"),
            (1_234, "1.23 k", "1 234"),
            (99_990, "100 k", "99 990"),
            (999_999, "1 M", "999 999"),
            (100_000_000, "100 M", "100 000 000"),
            (1_500_000_000, "1.5 B", "1 500 000 000"),
            (u64::MAX, "18446744 T", "18 446 744 073 709 551 615"),
        ] {
            assert_eq!(format_count(count), short);
            assert_eq!(group_digits(count), long);
            assert_eq!(parse_count(long), Ok(count));
        }
        assert_eq!(parse_count(&format_count(1_500_000_000)), Ok(1_500_000_000));
    }
}
