//! When a record was: its time column, or the clock on the wall.

use std::time::{SystemTime, UNIX_EPOCH};

/// From here on a number of seconds is taken for milliseconds: 1973 in the one, the year 5138 in the other.
const FIRST_MILLISECONDS: u64 = 100_000_000_000;

/// The time now, in milliseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Reads a time as milliseconds since 1970: a number of seconds or milliseconds since then, or RFC 3339
/// (`2026-11-16T05:40:32Z`, with a fraction or another offset, a space for the T; without an offset it is UTC).
pub(super) fn parse_time(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    parse_number(text).or_else(|| parse_rfc3339(text))
}

fn parse_number(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let (number, thousandths) = (digits(whole)?, fraction_of_second(fraction)?);
    if number >= FIRST_MILLISECONDS { Some(number) } else { Some(number * 1_000 + thousandths) }
}

fn parse_rfc3339(text: &str) -> Option<u64> {
    let (date, time) = (text.get(..10)?, text.get(11..)?);
    if !matches!(text.as_bytes().get(10)?, b'T' | b't' | b' ' | b'_') {
        return None;
    }
    let days = days_since_1970(numbers(date, '-')?)?;
    // The offset begins at the first sign after the time of day.
    let (clock, offset) = time.split_at(time.find(['Z', 'z', '+', '-']).unwrap_or(time.len()));
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let [hour, minute, second] = numbers(clock, ':')?;
    // A leap second is the last of its day, once more.
    let is_time = hour < 24 && minute < 60 && second <= 60;
    let seconds = is_time.then_some(days * 86_400 + hour * 3_600 + minute * 60 + second.min(59))?;
    let east = offset_east(offset)?;
    let milliseconds = (seconds.checked_sub(east)?).checked_mul(1_000)?;
    u64::try_from(milliseconds).ok()?.checked_add(fraction_of_second(fraction)?)
}

/// Seconds east of UTC: of `Z`, `+01:00`, `-0330` or nothing.
fn offset_east(offset: &str) -> Option<i64> {
    let (sign, rest) = match offset.as_bytes().first() {
        None => return Some(0),
        Some(b'Z' | b'z') => return (offset.len() == 1).then_some(0),
        Some(b'+') => (1, &offset[1..]),
        Some(_) => (-1, &offset[1..]),
    };
    let rest = rest.replace(':', "");
    let number = i64::try_from(digits(&rest).filter(|_| rest.len() == 4)?).ok()?;
    let (hours, minutes) = (number / 100, number % 100);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

/// Days from 1970-01-01 to a date of the Gregorian calendar, which begins anew every 400 years.
fn days_since_1970([year, month, day]: [i64; 3]) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let before = usize::try_from(month - 1).ok()?;
    if !(1..=*lengths.get(before)?).contains(&day) {
        return None;
    }
    let years = year - 1;
    let days = years * 365 + years / 4 - years / 100 + years / 400;
    Some(days + lengths.iter().take(before).sum::<i64>() + day - 1 - 719_162)
}

/// Three numbers with a character between them.
fn numbers(text: &str, between: char) -> Option<[i64; 3]> {
    let mut parts = text.split(between).map(|part| i64::try_from(digits(part)?).ok());
    let three = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(three)
}

/// The milliseconds of a fraction of a second, given by its digits.
fn fraction_of_second(fraction: &str) -> Option<u64> {
    digits(fraction)?;
    let three: String = fraction.chars().chain("000".chars()).take(3).collect();
    digits(&three)
}

/// Digits and nothing else. Of a number too long for it, none.
fn digits(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && text.len() <= 18 { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_logs_write() {
        for (text, milliseconds) in [
            ("0", 0),
            ("1700000000", 1_700_000_000_000),
            ("1700000000.25", 1_700_000_000_250),
            ("1700000000123", 1_700_000_000_123),
            (" 1700000000 ", 1_700_000_000_000),
            ("1970-01-01T00:00:00Z", 0),
            ("1972-03-01T00:00:00Z", 68_256_000_000),
            ("2000-02-29T12:00:00z", 951_825_600_000),
            ("2026-11-16T05:40:32Z", 1_794_807_632_000),
            ("2026-11-16 05:40:32", 1_794_807_632_000),
            ("2026-11-16T05:40:32.123456Z", 1_794_807_632_123),
            ("2026-11-16T06:40:32+01:00", 1_794_807_632_000),
            ("2026-11-16T02:10:32-0330", 1_794_807_632_000),
            ("2016-12-31T23:59:60Z", 1_483_228_799_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000),
        ] {
            assert_eq!(parse_time(text.as_bytes()), Some(milliseconds), "{text}");
        }
    }

    #[test]
    fn what_is_no_time() {
        for text in [
            "",
            "yesterday",
            "-5",
            "1e9",
            "1700000000,5",
            "2026-11-16",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "1969-12-31T23:59:59Z",
            "2026-11-16T24:00:00Z",
            "2026-11-16T05:40Z",
            "2026-11-16T05:40:32ZZ",
            "2026-11-16T05:40:32+1",
            "2026-11-16T05:40:32.Z",
            "16/Nov/2026:05:40:32 +0000",
            "9999999999999999999999",
            "2026-11-1é",
        ] {
            assert_eq!(parse_time(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse_time(b"\xff"), None);
    }
}
