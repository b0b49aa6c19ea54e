//! An unsigned decimal number kept exactly, until somebody says which unit it counts.

/// `digits` × 10^`exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: u128,
    exponent: i32,
}

/// Why a [`Decimal`] is not a whole number of units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotWhole {
    Fraction,
    TooLarge,
}

/// No exponent beyond this can belong to a number anybody means; it keeps all arithmetic on exponents in range.
const EXPONENT_LIMIT: i32 = 10_000;

impl Decimal {
    /// Splits `text` into the number it starts with and what follows it (a unit, usually), both trimmed.
    ///
    /// Accepts `100`, `1.5`, `.5`, `1_000_000`, `1 000 000`, `1e8`, `2.5E-3` and `2^20`. `None` if `text` doesn't start
    /// with a number, or has more digits than 128 bits hold.
    pub(super) fn parse_prefix(text: &str) -> Option<(Self, &str)> {
        let text = text.trim();
        let mut mantissa = Mantissa::default();
        let mut rest = text;
        let mut previous_was_digit = false;
        while let Some(next) = rest.chars().next() {
            match next {
                '0'..='9' => mantissa.push(next)?,
                '.' if !mantissa.in_fraction => mantissa.in_fraction = true,
                '_' if previous_was_digit && digits_at_start(&rest[1..]) > 0 => {}
                // A space groups digits only where it can't be anything else: before three of them.
                ' ' if previous_was_digit && digits_at_start(&rest[1..]) == 3 => {}
                _ => break,
            }
            previous_was_digit = next.is_ascii_digit();
            rest = &rest[1..];
        }
        if mantissa.digit_count == 0 {
            return None;
        }
        let mut number = Self { digits: mantissa.digits, exponent: -mantissa.fraction_digits };

        if let Some((exponent, after)) = parse_exponent(rest) {
            number.exponent += exponent;
            rest = after;
        } else if let Some((power, after)) = parse_power(rest) {
            if mantissa.in_fraction {
                return None;
            }
            // What 128 bits don't hold is too large for every caller; how much too large doesn't matter.
            number = match number.digits.checked_pow(power) {
                Some(digits) => Self { digits, exponent: 0 },
                None => Self { digits: 1, exponent: EXPONENT_LIMIT },
            };
            rest = after;
        }
        Some((number, rest.trim()))
    }

    /// The number times `unit`, if that is a whole number below 2^64.
    pub(super) fn whole(self, unit: u64) -> Result<u64, NotWhole> {
        let mut digits = self.digits;
        let mut exponent = self.exponent;
        if digits == 0 {
            return Ok(0);
        }
        while digits.is_multiple_of(10) {
            digits /= 10;
            exponent += 1;
        }
        let product = digits.checked_mul(u128::from(unit)).ok_or(NotWhole::TooLarge)?;
        let power = 10u128.checked_pow(exponent.unsigned_abs());
        let value = if exponent >= 0 {
            power.and_then(|power| product.checked_mul(power)).ok_or(NotWhole::TooLarge)?
        } else {
            match power {
                Some(power) if product.is_multiple_of(power) => product / power,
                _ => return Err(NotWhole::Fraction),
            }
        };
        u64::try_from(value).map_err(|_| NotWhole::TooLarge)
    }

    /// The float nearest to the number divided by 10^`places`.
    pub(super) fn nearest_f64(self, places: i32) -> f64 {
        // The standard library's parser rounds correctly, which a division by 100 would not always.
        format!("{}e{}", self.digits, self.exponent - places).parse().unwrap_or(f64::NAN)
    }
}

#[derive(Default)]
struct Mantissa {
    digits: u128,
    digit_count: u32,
    in_fraction: bool,
    fraction_digits: i32,
}

impl Mantissa {
    fn push(&mut self, digit: char) -> Option<()> {
        let value = u128::from(digit.to_digit(10)?);
        self.digits = self.digits.checked_mul(10)?.checked_add(value)?;
        self.digit_count += 1;
        if self.in_fraction {
            self.fraction_digits = self.fraction_digits.checked_add(1).filter(|n| *n <= EXPONENT_LIMIT)?;
        }
        Some(())
    }
}

/// `e8`, `E-3`, `e+6`. An `e` with no number behind it is left for the unit to complain about.
fn parse_exponent(text: &str) -> Option<(i32, &str)> {
    let rest = text.strip_prefix(['e', 'E'])?;
    let (negative, rest) = match rest.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix('+').unwrap_or(rest)),
    };
    let (magnitude, rest) = take_digits(rest)?;
    let magnitude: i32 = magnitude.parse().ok().filter(|n| *n <= EXPONENT_LIMIT)?;
    Some((if negative { -magnitude } else { magnitude }, rest))
}

/// `^20`.
fn parse_power(text: &str) -> Option<(u32, &str)> {
    let (power, rest) = take_digits(text.strip_prefix('^')?)?;
    Some((power.parse().ok()?, rest))
}

fn take_digits(text: &str) -> Option<(&str, &str)> {
    let end = digits_at_start(text);
    (end > 0).then(|| text.split_at(end))
}

fn digits_at_start(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Option<Result<u64, NotWhole>> {
        Decimal::parse_prefix(text).map(|(number, rest)| {
            assert_eq!(rest, "", "{text}");
            number.whole(1)
        })
    }

    #[test]
    fn whole_numbers_are_exact() {
        assert_eq!(whole("0"), Some(Ok(0)));
        assert_eq!(whole("9007199254740993"), Some(Ok(9_007_199_254_740_993)));
        assert_eq!(whole("18446744073709551615"), Some(Ok(u64::MAX)));
        assert_eq!(whole("18446744073709551616"), Some(Err(NotWhole::TooLarge)));
        assert_eq!(whole("1e19"), Some(Ok(10_000_000_000_000_000_000)));
        assert_eq!(whole("1e20"), Some(Err(NotWhole::TooLarge)));
        assert_eq!(whole("1e9999"), Some(Err(NotWhole::TooLarge)));
        assert_eq!(whole("0e9999"), Some(Ok(0)));
        assert_eq!(whole("1500e-2"), Some(Ok(15)));
        assert_eq!(whole("1.50"), Some(Err(NotWhole::Fraction)));
        assert_eq!(whole("1e-9999"), Some(Err(NotWhole::Fraction)));
        assert_eq!(whole("2^63"), Some(Ok(1 << 63)));
        assert_eq!(whole("2^64"), Some(Err(NotWhole::TooLarge)));
        assert_eq!(whole("2^999"), Some(Err(NotWhole::TooLarge)));
        assert_eq!(whole("1.5^2"), None);
    }

    #[test]
    fn groups_need_digits_on_both_sides() {
        assert_eq!(whole("1_000_000"), Some(Ok(1_000_000)));
        assert_eq!(whole("1 000 000"), Some(Ok(1_000_000)));
        assert_eq!(Decimal::parse_prefix("1_"), Some((Decimal { digits: 1, exponent: 0 }, "_")));
        assert_eq!(Decimal::parse_prefix("_1"), None);
        assert_eq!(Decimal::parse_prefix("1__0").map(|(_, rest)| rest), Some("__0"));
        assert_eq!(Decimal::parse_prefix("1 5").map(|(_, rest)| rest), Some("5"));
        assert_eq!(Decimal::parse_prefix("1 0000").map(|(_, rest)| rest), Some("0000"));
    }

    #[test]
    fn the_rest_is_the_unit() {
        fn rest(text: &str) -> Option<&str> {
            Decimal::parse_prefix(text).map(|(_, rest)| rest)
        }
        assert_eq!(rest(" 1.5 MiB "), Some("MiB"));
        assert_eq!(rest("1e"), Some("e"));
        assert_eq!(rest("1e8k"), Some("k"));
        assert_eq!(rest("1.2.3"), Some(".3"));
        assert_eq!(rest("1µ"), Some("µ"));
        assert_eq!(rest(""), None);
        assert_eq!(rest("."), None);
        assert_eq!(rest("-1"), None);
        assert_eq!(rest(&"9".repeat(60)), None);
        assert_eq!(rest(&format!("0.{}", "0".repeat(20_000))), None);
    }

    #[test]
    fn floats_are_the_nearest() {
        let float = |text, places| Decimal::parse_prefix(text).unwrap().0.nearest_f64(places);
        assert_eq!(float("0.1", 0), 0.1);
        assert_eq!(float("0.7", 2), 0.007);
        assert_eq!(float("1e-6", 0), 1e-6);
        assert_eq!(float("1e-10000", 2), 0.0);
    }
}
