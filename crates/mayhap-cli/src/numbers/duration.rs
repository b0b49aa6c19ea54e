//! How long.

use super::decimal::{Decimal, NotWhole};

const ACCEPTED: &str = "write a number with a unit, such as 500ms, 90s, 15m, 1h, 7d or 2w";

/// The units there are, with their milliseconds, the longest first.
const UNITS: [(&str, u64); 6] =
    [("w", 7 * 86_400_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Reads a length of time as milliseconds: `90s`, `15m`, `1.5h`, `7d`. It needs a unit, and isn't zero.
pub(crate) fn parse_duration(text: &str) -> Result<u64, String> {
    let not_a_duration = || format!("`{text}` is not a length of time; {ACCEPTED}");
    let (number, suffix) = Decimal::parse_prefix(text).ok_or_else(not_a_duration)?;
    let name = match suffix.to_ascii_lowercase().as_str() {
        "min" => "m".to_owned(),
        name => name.to_owned(),
    };
    let (_, unit) = UNITS.iter().find(|(unit, _)| *unit == name).ok_or_else(not_a_duration)?;
    match number.whole(*unit) {
        Ok(0) => Err(format!("`{text}` is no time at all; {ACCEPTED}")),
        Ok(milliseconds) => Ok(milliseconds),
        Err(NotWhole::Fraction) => Err(format!("`{text}` is not a whole number of milliseconds; {ACCEPTED}")),
        Err(NotWhole::TooLarge) => Err(format!("`{text}` is too long; {ACCEPTED}")),
    }
}

/// Milliseconds in the longest unit that divides them: `90m`, `1h`, `1500ms`.
pub(crate) fn format_duration(milliseconds: u64) -> String {
    let fitting = |(_, unit): &&(&str, u64)| milliseconds > 0 && milliseconds.is_multiple_of(*unit);
    let (name, unit) = UNITS.iter().find(fitting).unwrap_or(&("ms", 1));
    format!("{}{name}", milliseconds / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write() {
        for (text, milliseconds) in [
            ("500ms", 500),
            ("90s", 90_000),
            ("15m", 900_000),
            ("15 min", 900_000),
            ("1h", 3_600_000),
            ("1H", 3_600_000),
            ("1.5h", 5_400_000),
            ("7d", 604_800_000),
            ("2w", 1_209_600_000),
        ] {
            assert_eq!(parse_duration(text), Ok(milliseconds), "{text}");
            assert_eq!(parse_duration(&format_duration(milliseconds)), Ok(milliseconds), "{text}");
        }
    }

    #[test]
    fn what_they_should_not() {
        for (text, message) in [
            ("", "not a length of time; write"),
            ("60", "not a length of time; write"),
            ("h", "not a length of time"),
            ("1y", "not a length of time"),
            ("1h30", "not a length of time"),
            ("-1h", "not a length of time"),
            ("0s", "no time at all"),
            ("0.5ms", "not a whole number of milliseconds"),
            ("1e30d", "too long"),
        ] {
            assert!(parse_duration(text).unwrap_err().contains(message), "{text}");
        }
    }

    #[test]
    fn printed_in_the_unit_that_fits() {
        for (milliseconds, text) in
            [(1, "1ms"), (1_000, "1s"), (90_000, "90s"), (5_400_000, "90m"), (86_400_000, "1d"), (0, "0ms")]
        {
            assert_eq!(format_duration(milliseconds), text);
        }
    }
}
