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
}

impl KeyForm {
    const ALL: [Self; 6] = [Self::Text, Self::Int32, Self::Int64, Self::Float32, Self::Float64, Self::Utf16];

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
        }
    }

    pub(super) fn from_id(id: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.id() == id)
    }
}

fn number<T: FromStr>(text: &[u8]) -> Option<T> {
    str::from_utf8(text).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_the_bytes_that_were_hashed() {
        let cases: [(KeyForm, &str, Option<&[u8]>); 11] = [
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
        assert_eq!((KeyForm::from_name("long"), KeyForm::from_id(6)), (None, None));
    }
}
