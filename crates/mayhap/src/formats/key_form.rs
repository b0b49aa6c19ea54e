//! How a key that somebody typed becomes the bytes that another system hashed.

use alloc::vec::Vec;
use core::str::{self, FromStr};

/// What the keys of another system's filter are, where they aren't text.
///
/// Most systems hash the bytes of a text. But a column of Parquet may hold 64-bit numbers, and a program in Java puts a
/// `Long` or the UTF-16 of a `String` into Guava's filter. The filter doesn't tell, and asked with other bytes it answers
/// "certainly not" for every key it has.
///
/// ```
/// use mayhap::formats::KeyForm;
///
/// let mut room = Vec::new();
/// assert_eq!(KeyForm::Text.encode(b"42", &mut room), Some(&b"42"[..]));
/// assert_eq!(KeyForm::Int64.encode(b"42", &mut room), Some(&42i64.to_le_bytes()[..]));
/// assert_eq!(KeyForm::Int64.encode(b"apple", &mut room), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyForm {
    /// The bytes as they are: text in UTF-8, or anything.
    #[default]
    Text,
    /// A signed number of 32 bits, little-endian: Guava's `integerFunnel`, Parquet's INT32.
    Int32,
    /// A signed number of 64 bits, little-endian: Guava's `longFunnel`, Spark's `putLong`, Parquet's INT64.
    Int64,
    /// A fraction of 32 bits, little-endian: Parquet's FLOAT.
    Float32,
    /// A fraction of 64 bits, little-endian: Parquet's DOUBLE.
    Float64,
    /// Text in UTF-16, little-endian: Guava's `unencodedCharsFunnel`.
    Utf16,
    /// A number of 32 bits without a sign, little-endian: Parquet's INT32 where it is a UINT_8, UINT_16 or UINT_32.
    UInt32,
    /// A number of 64 bits without a sign, little-endian: Parquet's INT64 where it is a UINT_64.
    UInt64,
    /// A UUID, written as 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12 or without the hyphens: its 16 bytes in
    /// this order, as in Parquet's UUID.
    Uuid,
    /// Any bytes, written as two hexadecimal digits each.
    Hex,
}

impl KeyForm {
    const ALL: [Self; 10] = [
        Self::Text,
        Self::Int32,
        Self::Int64,
        Self::Float32,
        Self::Float64,
        Self::Utf16,
        Self::UInt32,
        Self::UInt64,
        Self::Uuid,
        Self::Hex,
    ];

    /// The bytes that are hashed for a key that was written as text. Those that aren't the text itself are put into
    /// `room`. Nothing if the text is no such key.
    pub fn encode<'a>(self, text: &'a [u8], room: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        room.clear();
        match self {
            Self::Text => return Some(text),
            Self::Int32 => room.extend(number::<i32>(text)?.to_le_bytes()),
            Self::Int64 => room.extend(number::<i64>(text)?.to_le_bytes()),
            Self::Float32 => room.extend(number::<f32>(text)?.to_le_bytes()),
            Self::Float64 => room.extend(number::<f64>(text)?.to_le_bytes()),
            Self::Utf16 => room.extend(str::from_utf8(text).ok()?.encode_utf16().flat_map(u16::to_le_bytes)),
            Self::UInt32 => room.extend(number::<u32>(text)?.to_le_bytes()),
            Self::UInt64 => room.extend(number::<u64>(text)?.to_le_bytes()),
            Self::Uuid => room.extend(uuid(text)?),
            Self::Hex => hex(text.trim_ascii(), room)?,
        }
        Some(room)
    }

    /// The name by which a command line calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Int32 => "i32",
            Self::Int64 => "i64",
            Self::Float32 => "f32",
            Self::Float64 => "f64",
            Self::Utf16 => "utf16",
            Self::UInt32 => "u32",
            Self::UInt64 => "u64",
            Self::Uuid => "uuid",
            Self::Hex => "hex",
        }
    }

    /// The form with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }

    /// Its number in a file.
    pub(super) const fn id(self) -> u64 {
        match self {
            Self::Text => 0,
            Self::Int32 => 1,
            Self::Int64 => 2,
            Self::Float32 => 3,
            Self::Float64 => 4,
            Self::Utf16 => 5,
            Self::UInt32 => 6,
            Self::UInt64 => 7,
            Self::Uuid => 8,
            Self::Hex => 9,
        }
    }

    pub(super) fn from_id(id: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.id() == id)
    }
}

fn number<T: FromStr>(text: &[u8]) -> Option<T> {
    str::from_utf8(text).ok()?.trim().parse().ok()
}

/// Hyphens may be left out, but not put elsewhere: what has them elsewhere was cut or glued together.
fn uuid(text: &[u8]) -> Option<[u8; 16]> {
    let text = text.trim_ascii();
    let mut digits = [0; 32];
    if text.len() == digits.len() {
        digits.copy_from_slice(text);
    } else {
        let mut rest = digits.as_mut_slice();
        let mut groups = text.split(|byte| *byte == b'-');
        for length in [8, 4, 4, 4, 12] {
            let group = groups.next().filter(|group| group.len() == length)?;
            let (room, after) = rest.split_at_mut(length);
            room.copy_from_slice(group);
            rest = after;
        }
        if groups.next().is_some() {
            return None;
        }
    }
    let mut bytes = [0; 16];
    for (byte, pair) in bytes.iter_mut().zip(digits.as_chunks().0) {
        *byte = hex_byte(*pair)?;
    }
    Some(bytes)
}

fn hex(digits: &[u8], room: &mut Vec<u8>) -> Option<()> {
    let (pairs, rest) = digits.as_chunks();
    for pair in pairs {
        room.push(hex_byte(*pair)?);
    }
    rest.is_empty().then_some(())
}

fn hex_byte([high, low]: [u8; 2]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_the_bytes_that_were_hashed() {
        let id =
            &[0x12, 0x3e, 0x45, 0x67, 0xe8, 0x9b, 0x12, 0xd3, 0xa4, 0x56, 0x42, 0x66, 0x14, 0x17, 0x40, 0];
        let cases: [(KeyForm, &str, Option<&[u8]>); 29] = [
            (KeyForm::Text, " é", Some(" é".as_bytes())),
            (KeyForm::Int32, "-2", Some(&[0xfe, 0xff, 0xff, 0xff])),
            (KeyForm::Int32, " 7 ", Some(&[7, 0, 0, 0])),
            (KeyForm::Int32, "2147483648", None),
            (KeyForm::Int64, "2147483648", Some(&[0, 0, 0, 0x80, 0, 0, 0, 0])),
            (KeyForm::Int64, "1.5", None),
            (KeyForm::Int64, "", None),
            (KeyForm::Float32, "1", Some(&[0, 0, 0x80, 0x3f])),
            (KeyForm::Float64, "-1", Some(&[0, 0, 0, 0, 0, 0, 0xf0, 0xbf])),
            (KeyForm::Float64, "one", None),
            (KeyForm::Utf16, "a\u{1f600}", Some(&[0x61, 0, 0x3d, 0xd8, 0, 0xde])),
            (KeyForm::UInt32, "7", Some(&[7, 0, 0, 0])),
            (KeyForm::UInt32, "4294967294", Some(&[0xfe, 0xff, 0xff, 0xff])),
            (KeyForm::UInt32, "4294967296", None),
            (KeyForm::UInt32, "-1", None),
            (KeyForm::UInt64, "18446744073709551615", Some(&[0xff; 8])),
            (KeyForm::UInt64, "-1", None),
            (KeyForm::Uuid, "123e4567-e89b-12d3-a456-426614174000", Some(id)),
            (KeyForm::Uuid, " 123E4567-E89B-12D3-A456-426614174000", Some(id)),
            (KeyForm::Uuid, "123e4567e89b12d3a456426614174000", Some(id)),
            (KeyForm::Uuid, "123e4567-e89b-12d3-a456-42661417400", None),
            (KeyForm::Uuid, "123e4567-e89b-12d3-a456-426614174000-", None),
            (KeyForm::Uuid, "123e456-7e89b-12d3-a456-426614174000", None),
            (KeyForm::Uuid, "123e4567-e89b-12d3-a456-42661417400g", None),
            (KeyForm::Uuid, "", None),
            (KeyForm::Hex, "00fF7a", Some(&[0, 0xff, 0x7a])),
            (KeyForm::Hex, "", Some(&[])),
            (KeyForm::Hex, "0ff", None),
            (KeyForm::Hex, "0x", None),
        ];
        let mut room = Vec::new();
        for (form, text, expected) in cases {
            assert_eq!(form.encode(text.as_bytes(), &mut room), expected, "{form:?} {text}");
        }
        assert_eq!(KeyForm::Utf16.encode(b"\xff", &mut room), None);
    }

    #[test]
    fn names_and_numbers_come_back() {
        for form in KeyForm::ALL {
            assert_eq!(KeyForm::from_name(form.name()), Some(form));
            assert_eq!(KeyForm::from_id(form.id()), Some(form));
        }
        assert_eq!((KeyForm::from_name("long"), KeyForm::from_id(10)), (None, None));
    }
}
