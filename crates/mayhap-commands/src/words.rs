//! The words of a command as numbers, the way Redis reads them.

/// A whole number: no space, no plus sign, no leading zero.
#[must_use]
pub fn integer(word: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(word).ok()?;
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain =
        digits == "0" && !text.starts_with('-') || digits.starts_with(|c: char| ('1'..='9').contains(&c));
    if is_plain { text.parse().ok() } else { None }
}

/// A fraction: digits, an exponent, or `inf`, and nothing around it. What is too large or too small for a double is
/// none, and neither is `nan`: Redis refuses them, too.
#[must_use]
pub fn double(word: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(word).ok()?;
    let number: f64 = text.parse().ok()?;
    let has_digits = |mut digits: std::str::Bytes<'_>| digits.any(|byte| matches!(byte, b'1'..=b'9'));
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let overflows = number.is_infinite() && has_digits(text.bytes());
    let underflows = number == 0.0 && has_digits(mantissa.bytes());
    if number.is_nan() || overflows || underflows { None } else { Some(number) }
}

/// Whether a word is this option, in capitals or not.
#[must_use]
pub fn is(word: &[u8], option: &str) -> bool {
    word.eq_ignore_ascii_case(option.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_as_redis_does() {
        for (text, number) in
            [("0", 0), ("-1", -1), ("1073741824", 1 << 30), ("-9223372036854775808", i64::MIN)]
        {
            assert_eq!(integer(text.as_bytes()), Some(number));
        }
        for text in ["", "-", "+1", " 1", "1 ", "01", "-0", "1.0", "9223372036854775808", "0x10", "\u{0661}"]
        {
            assert_eq!(integer(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn fractions_are_read_as_redis_does() {
        for (text, number) in
            [("0.01", 0.01), ("1e-3", 0.001), (".5", 0.5), ("-0", 0.0), ("inf", f64::INFINITY)]
        {
            assert_eq!(double(text.as_bytes()), Some(number));
        }
        for text in ["", " 0.1", "0.1 ", "nan", "1e999", "-1e999", "1e-999", "0,1", "abc", "0.1x"] {
            assert_eq!(double(text.as_bytes()), None, "{text:?}");
        }
    }
}
