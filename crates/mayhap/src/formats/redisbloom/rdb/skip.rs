//! Values of other types: their names, and where they end.

use super::module::{MODULE_2, skip as skip_module};
use super::strings::{length, string};
use crate::codec::FormatError;
use crate::formats::input::Input;

/// The name of a type of values by RDB's number for it, as Redis's `TYPE` gives it; `None` where the number isn't
/// known. Values of modules have names of their own.
pub(super) fn type_name(number: u8) -> Option<&'static str> {
    Some(match number {
        0 => "string",
        1 | 10 | 14 | 18 => "list",
        2 | 11 | 20 => "set",
        3 | 5 | 12 | 17 => "zset",
        4 | 9 | 13 | 16 | 22..=25 => "hash",
        MODULE_2 => "module",
        15 | 19 | 21 => "stream",
        _ => return None,
    })
}

/// Passes over the value of a type.
///
/// A count of parts is not trusted: each part takes at least a byte, so a count that is too high runs into the end.
pub(super) fn skip(number: u8, input: &mut Input<'_>) -> Result<(), FormatError> {
    match number {
        // A string, or a small list, set, sorted set or hash packed into one.
        0 | 9..=13 | 16 | 17 | 20 | 23 => strings(1, input),
        // A list or set; a list of packed lists.
        1 | 2 | 14 => {
            let count = length(input)?;
            strings(count, input)
        }
        3 => repeated(input, |input| {
            strings(1, input)?;
            old_score(input)
        }),
        4 => repeated(input, |input| strings(2, input)),
        5 => repeated(input, |input| {
            strings(1, input)?;
            input.take(8).map(drop)
        }),
        MODULE_2 => {
            length(input)?;
            skip_module(input)
        }
        // Each packed list with its kind before it.
        18 => repeated(input, |input| {
            length(input)?;
            strings(1, input)
        }),
        15 => stream(1, input),
        19 => stream(2, input),
        21 => stream(3, input),
        // Hashes whose fields expire; from 24 on the first time of all comes first.
        22 => expiring_hash(input),
        24 => {
            input.take(8)?;
            expiring_hash(input)
        }
        25 => {
            input.take(8)?;
            strings(1, input)
        }
        _ => Err(FormatError::Unknown { what: "RDB value type", number: u64::from(number) }),
    }
}

fn repeated<'a>(
    input: &mut Input<'a>,
    mut part: impl FnMut(&mut Input<'a>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    (0..length(input)?).try_for_each(|_| part(input))
}

fn strings(count: u64, input: &mut Input<'_>) -> Result<(), FormatError> {
    (0..count).try_for_each(|_| string(input).map(drop))
}

/// A number as text, with its length in a byte; from 253 on, a byte for what is no number or infinite.
fn old_score(input: &mut Input<'_>) -> Result<(), FormatError> {
    match input.u8()? {
        253.. => Ok(()),
        digits => input.take(u64::from(digits)).map(drop),
    }
}

fn expiring_hash(input: &mut Input<'_>) -> Result<(), FormatError> {
    repeated(input, |input| {
        length(input)?;
        strings(2, input)
    })
}

/// A stream in one of three encodings: its entries in packed lists, its figures, and its groups of consumers.
fn stream(encoding: u8, input: &mut Input<'_>) -> Result<(), FormatError> {
    repeated(input, |input| strings(2, input))?;
    // The number of entries and the last id; then the first id, the highest that was deleted, and how many were added.
    numbers(if encoding >= 2 { 8 } else { 3 }, input)?;
    repeated(input, |input| {
        strings(1, input)?;
        numbers(if encoding >= 2 { 3 } else { 2 }, input)?;
        // Entries that were delivered and not acknowledged: id, time, how often.
        repeated(input, |input| {
            input.take(16 + 8)?;
            numbers(1, input)
        })?;
        // Consumers: when they were seen, when they were active, and the ids that they have.
        repeated(input, |input| {
            strings(1, input)?;
            input.take(if encoding >= 3 { 16 } else { 8 })?;
            repeated(input, |input| input.take(16).map(drop))
        })
    })
}

fn numbers(count: u64, input: &mut Input<'_>) -> Result<(), FormatError> {
    (0..count).try_for_each(|_| length(input).map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn skipped(number: u8, bytes: &[u8]) -> Result<Vec<u8>, FormatError> {
        let mut input = Input::new(bytes);
        skip(number, &mut input).map(|()| input.rest().to_vec())
    }

    #[test]
    fn values_end_where_they_end() {
        let cases: &[(u8, &[u8])] = &[
            (0, b"\x03abc"),
            (0, b"\xc1\x00\x01"),
            (1, b"\x02\x01a\xc0\x05"),
            (2, b"\x00"),
            (3, b"\x02\x01a\xfe\x01b\x031.5"),
            (4, b"\x01\x01f\x01v"),
            (5, b"\x01\x01a12345678"),
            (11, b"\x04abcd"),
            (14, b"\x02\x01a\x01b"),
            (18, b"\x02\x01\x01a\x02\x01b"),
            (20, b"\x02ab"),
            (22, b"\x01\x00\x01f\x01v"),
            (24, b"12345678\x01\x05\x01f\x01v"),
            (25, b"12345678\x02lp"),
            (7, b"\x81\x30\x16\xe5\xa2\x89\xbe\xf8\x04\x02\x05\x01\x05\x03abcd\x04abcdefgh\x05\x02xy\x00"),
            (
                15,
                b"\x01\x02id\x02lp\x01\x02\x03\x01\x01g\x01\x02\x01ABCDEFGHabcdefgh\
                tttttttt\x01\x01\x01cssssssss\x01ABCDEFGHabcdefgh",
            ),
            (
                21,
                b"\x01\x02id\x02lp\x01\x02\x03\x04\x05\x06\x07\x08\x01\x01g\x01\x02\x03\x01ABCDEFGHabcdefgh\
                tttttttt\x01\x01\x01cssssssssaaaaaaaa\x01ABCDEFGHabcdefgh",
            ),
        ];
        for (number, bytes) in cases {
            let mut with_more = bytes.to_vec();
            with_more.extend(b"rest");
            assert_eq!(skipped(*number, &with_more).as_deref(), Ok(&b"rest"[..]), "type {number}");
            assert!(type_name(*number).is_some());
            for end in 0..bytes.len() {
                assert!(skipped(*number, &bytes[..end]).is_err(), "type {number} cut at {end}");
            }
        }
        for unknown in [6, 8, 26, 100] {
            assert!(matches!(skipped(unknown, b"\x01a"), Err(FormatError::Unknown { .. })));
            assert_eq!(type_name(unknown), None);
        }
        // A count of 2^64 - 1 parts.
        assert!(skipped(1, b"\x81\xff\xff\xff\xff\xff\xff\xff\xff\x01a").is_err());
    }
}
