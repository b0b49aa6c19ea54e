//! How often a filter may be wrong.

use super::count::{group_digits, parse_count, whole};
use super::decimal::Decimal;

const ACCEPTED: &str = "write a rate between 0 and 1, such as 1%, 0.01, 1e-6, 1/1000 or \"1 in 1000\"";

/// Reads a false-positive rate: strictly between 0 and 1.
pub(crate) fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = parse_ratio(text).ok_or_else(|| format!("`{text}` is not a rate; {ACCEPTED}"))?;
    if rate > 0.0 && rate < 1.0 {
        Ok(rate)
    } else if rate >= 1.0 {
        let percent = text.trim();
        let meant = if percent.parse::<f64>().is_ok_and(|p| p < 100.0) {
            format!(" (did you mean {percent}%?)")
        } else {
            String::new()
        };
        Err(format!("a rate of `{text}` is 1 or more, a filter that is always wrong{meant}; {ACCEPTED}"))
    } else {
        Err(format!("a rate of `{text}` is zero: only an exact set is never wrong; {ACCEPTED}"))
    }
}

fn parse_ratio(text: &str) -> Option<f64> {
    if let Some((part, whole)) = text.split_once('/').or_else(|| text.split_once(" in ")) {
        let (part, whole) = (parse_count(part).ok()?, parse_count(whole).ok()?);
        return (whole > 0).then(|| part as f64 / whole as f64);
    }
    match Decimal::parse_prefix(text)? {
        (number, "") => Some(number.nearest_f64(0)),
        (number, "%") => Some(number.nearest_f64(2)),
        _ => None,
    }
}

/// A rate in at most three digits: `1%` down to `0.01%`, then `1e-6 (1 in 1 000 000)`.
pub(crate) fn format_rate(rate: f64) -> String {
    if rate <= 0.0 || !rate.is_finite() {
        return "0".to_owned();
    }
    // Rounded by printing, so that 0.009999 is 1%.
    let rounded: f64 = format!("{rate:.2e}").parse().unwrap_or(rate);
    if rounded >= 1e-4 {
        return format!("{}%", trimmed(&format!("{:.6}", rounded * 100.0)));
    }
    let scientific = format!("{rounded:.2e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let one_in = 1.0 / rounded;
    if one_in < 1e13 {
        format!("{}e{exponent} (1 in {})", trimmed(digits), group_digits(whole(one_in)))
    } else {
        format!("{}e{exponent}", trimmed(digits))
    }
}

fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write() {
        for (text, rate) in [
            ("1%", 0.01),
            ("1 %", 0.01),
            ("0.1%", 0.001),
            (".5%", 0.005),
            ("99.9%", 0.999),
            ("0.01", 0.01),
            (".01", 0.01),
            ("1e-6", 1e-6),
            ("2.5E-9", 2.5e-9),
            ("1/1000", 0.001),
            ("1 / 1000", 0.001),
            ("1/1M", 1e-6),
            ("3/7", 3.0 / 7.0),
            ("1 in 1000", 0.001),
            ("1 in 1 000 000", 1e-6),
        ] {
            assert_eq!(parse_rate(text), Ok(rate), "{text}");
        }
    }

    #[test]
    fn what_they_should_not() {
        for (text, expected) in [
            ("", "is not a rate"),
            ("abc", "is not a rate"),
            ("-1", "is not a rate"),
            ("1%%", "is not a rate"),
            ("1/0", "is not a rate"),
            ("1/2/3", "is not a rate"),
            ("1.5/2", "is not a rate"),
            ("NaN", "is not a rate"),
            ("inf", "is not a rate"),
            ("0,01", "is not a rate"),
            ("1M", "is not a rate"),
            ("0", "is zero"),
            ("0%", "is zero"),
            ("1e-9999", "is zero"),
            ("0/5", "is zero"),
            ("1", "did you mean 1%?"),
            ("5", "did you mean 5%?"),
            ("100", "1 or more"),
            ("100%", "1 or more"),
            ("2/1", "1 or more"),
            ("1e999", "1 or more"),
        ] {
            let message = parse_rate(text).unwrap_err();
            assert!(message.contains(expected), "{text}: {message}");
            assert!(message.contains("such as 1%, 0.01, 1e-6, 1/1000"), "{text}: {message}");
        }
    }

    #[test]
    fn printed_for_people() {
        for (rate, text) in [
            (0.3, "30%"),
            (0.01, "1%"),
            (0.009_999_9, "1%"),
            (0.001, "0.1%"),
            (0.001_234, "0.123%"),
            (0.0001, "0.01%"),
            (1e-5, "1e-5 (1 in 100 000)"),
            (1e-6, "1e-6 (1 in 1 000 000)"),
            (9.87e-7, "9.87e-7 (1 in 1 013 171)"),
            (1e-15, "1e-15"),
            (0.0, "0"),
        ] {
            assert_eq!(format_rate(rate), text);
        }
    }
}
