//! Lengths and strings, as RDB writes them.
//!
//! ```text
//! 00LLLLLL                                a length below 64
//! 01LLLLLL LLLLLLLL                       below 16384, the high bits first
//! 10000000 and 4 bytes                    below 2³², big-endian
//! 10000001 and 8 bytes                    any other, big-endian
//! 110000ee                                no length but a string in another form:
//!   e = 0, 1, 2                             the decimal digits of an integer of 1, 2 or 4 bytes, little-endian
//!   e = 3, length, length                   LZF: the compressed length, the length, the compressed bytes
//! ```

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt::Write as _;

use super::lzf;
use crate::codec::FormatError;
use crate::formats::input::Input;
use crate::formats::words::reserve;

/// Redis compresses what is longer than this.
const SHORTEST_COMPRESSED: usize = 20;
/// The digits of an integer of 32 bits, with its sign.
const LONGEST_INTEGER: usize = 11;

/// What stands where a length may stand.
enum Head {
    Length(u64),
    /// The form of a string.
    Form(u8),
}

fn head(input: &mut Input<'_>) -> Result<Head, FormatError> {
    let first = input.u8()?;
    let low = u64::from(first & 0x3f);
    Ok(match (first >> 6, first) {
        (0, _) => Head::Length(low),
        (1, _) => Head::Length(low << 8 | u64::from(input.u8()?)),
        (_, 0x80) => Head::Length(u64::from(input.u32_be()?)),
        (_, 0x81) => Head::Length(input.u64_be()?),
        (3, _) => Head::Form(first & 0x3f),
        _ => return Err(FormatError::Unknown { what: "RDB length form", number: u64::from(first) }),
    })
}

/// A length, or another number that RDB writes as one.
pub(super) fn length(input: &mut Input<'_>) -> Result<u64, FormatError> {
    match head(input)? {
        Head::Length(length) => Ok(length),
        Head::Form(form) => Err(FormatError::BadField {
            field: "RDB length",
            value: u64::from(form) | 0xc0,
            must_be: "a number, not the form of a string",
        }),
    }
}

/// A string that has not been unpacked yet.
pub(super) enum Packed<'a> {
    Plain(&'a [u8]),
    Integer(i32),
    Compressed { bytes: &'a [u8], length: u64 },
}

/// The next string. Nothing is copied or unpacked.
pub(super) fn string<'a>(input: &mut Input<'a>) -> Result<Packed<'a>, FormatError> {
    Ok(match head(input)? {
        Head::Length(length) => Packed::Plain(input.take(length)?),
        Head::Form(0) => Packed::Integer(i32::from(input.u8()?.cast_signed())),
        Head::Form(1) => Packed::Integer(i32::from(input.u16_le()?.cast_signed())),
        Head::Form(2) => Packed::Integer(input.u32_le()?.cast_signed()),
        Head::Form(3) => {
            let (compressed, length) = (length(input)?, length(input)?);
            Packed::Compressed { bytes: input.take(compressed)?, length }
        }
        Head::Form(form) => {
            return Err(FormatError::Unknown { what: "RDB string form", number: u64::from(form) });
        }
    })
}

impl<'a> Packed<'a> {
    /// How long the unpacked string is, by its own word.
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Plain(bytes) => bytes.len() as u64,
            Self::Integer(integer) => Digits::of(*integer).bytes().len() as u64,
            Self::Compressed { length, .. } => *length,
        }
    }

    /// The string itself.
    pub(super) fn unpack(self) -> Result<Cow<'a, [u8]>, FormatError> {
        Ok(match self {
            Self::Plain(bytes) => Cow::Borrowed(bytes),
            Self::Integer(integer) => Cow::Owned(Digits::of(integer).bytes().to_vec()),
            Self::Compressed { bytes, length } => Cow::Owned(lzf::decompress(bytes, length)?),
        })
    }
}

/// Appends a length in its shortest form.
#[allow(clippy::cast_possible_truncation, reason = "each form is chosen by the size of the number")]
pub(super) fn write_length(length: u64, out: &mut Vec<u8>) {
    match length {
        0..0x40 => out.push(length as u8),
        0x40..0x4000 => out.extend((0x4000 | length as u16).to_be_bytes()),
        0x4000..0x1_0000_0000 => {
            out.push(0x80);
            out.extend((length as u32).to_be_bytes());
        }
        _ => {
            out.push(0x81);
            out.extend(length.to_be_bytes());
        }
    }
}

/// Appends a string in the form that Redis chooses: an integer if it is one, compressed if that saves four bytes.
pub(super) fn write_string(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), FormatError> {
    if let Some(integer) = as_integer(bytes) {
        if let Ok(integer) = i8::try_from(integer) {
            out.push(0xc0);
            out.extend(integer.to_le_bytes());
        } else if let Ok(integer) = i16::try_from(integer) {
            out.push(0xc1);
            out.extend(integer.to_le_bytes());
        } else {
            out.push(0xc2);
            out.extend(integer.to_le_bytes());
        }
        return Ok(());
    }
    let compressed = if bytes.len() > SHORTEST_COMPRESSED { lzf::compress(bytes) } else { None };
    let body = compressed.as_deref().unwrap_or(bytes);
    // Room for the body, and for two lengths of nine bytes and a byte for the form.
    reserve(out, body.len() as u64 + 19)?;
    if compressed.is_some() {
        out.push(0xc3);
        write_length(body.len() as u64, out);
    }
    write_length(bytes.len() as u64, out);
    out.extend_from_slice(body);
    Ok(())
}

/// The integer whose digits these are, written in no other way: `007` and `+7` are not.
fn as_integer(bytes: &[u8]) -> Option<i32> {
    let text = core::str::from_utf8(bytes).ok().filter(|text| text.len() <= LONGEST_INTEGER)?;
    let integer = text.parse().ok()?;
    (Digits::of(integer).bytes() == bytes).then_some(integer)
}

/// An integer in decimal.
struct Digits {
    digits: [u8; LONGEST_INTEGER],
    length: usize,
}

impl Digits {
    fn of(integer: i32) -> Self {
        let mut digits = Self { digits: [0; LONGEST_INTEGER], length: 0 };
        // Eleven bytes hold every integer of 32 bits.
        let _ = write!(digits, "{integer}");
        digits
    }

    fn bytes(&self) -> &[u8] {
        &self.digits[..self.length]
    }
}

impl core::fmt::Write for Digits {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let end = self.length + text.len();
        self.digits.get_mut(self.length..end).ok_or(core::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        write_string(bytes, &mut out).unwrap();
        out
    }

    #[test]
    fn lengths_take_one_two_five_or_nine_bytes() {
        let cases: [(u64, &[u8]); 8] = [
            (0, &[0]),
            (63, &[63]),
            (64, &[0x40, 64]),
            (16_383, &[0x7f, 0xff]),
            (16_384, &[0x80, 0, 0, 0x40, 0]),
            (0xffff_ffff, &[0x80, 0xff, 0xff, 0xff, 0xff]),
            (1 << 32, &[0x81, 0, 0, 0, 1, 0, 0, 0, 0]),
            (u64::MAX, &[0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        ];
        for (number, bytes) in cases {
            let mut out = Vec::new();
            write_length(number, &mut out);
            assert_eq!(out, bytes);
            assert_eq!(length(&mut Input::new(bytes)), Ok(number));
        }
        assert!(length(&mut Input::new(&[0xc0, 1])).is_err());
        assert!(length(&mut Input::new(&[0x82])).is_err());
    }

    #[test]
    fn integers_are_packed_and_nothing_that_only_looks_like_one() {
        assert_eq!(written(b"0"), [0xc0, 0]);
        assert_eq!(written(b"-128"), [0xc0, 0x80]);
        assert_eq!(written(b"128"), [0xc1, 0x80, 0]);
        assert_eq!(written(b"-32769"), [0xc2, 0xff, 0x7f, 0xff, 0xff]);
        assert_eq!(written(b"2147483647"), [0xc2, 0xff, 0xff, 0xff, 0x7f]);
        for plain in [&b"2147483648"[..], b"007", b"+7", b"-0", b"", b"-", b"7 ", b"-2147483649"] {
            assert_eq!(written(plain)[0], plain.len() as u8, "{plain:?}");
        }
        for integer in [&b"7"[..], b"-1", b"-2147483648", b"32768", b"300"] {
            let bytes = written(integer);
            let packed = string(&mut Input::new(&bytes)).unwrap();
            assert_eq!(packed.len(), integer.len() as u64);
            assert_eq!(*packed.unpack().unwrap(), *integer);
        }
    }

    proptest! {
        #[test]
        fn strings_come_back(bytes: Vec<u8>, zeros in 0usize..5000) {
            let mut bytes = bytes;
            bytes.resize(bytes.len() + zeros, 0);
            let out = written(&bytes);
            let mut input = Input::new(&out);
            let packed = string(&mut input).unwrap();
            prop_assert_eq!(packed.len(), bytes.len() as u64);
            prop_assert_eq!(&*packed.unpack().unwrap(), &bytes[..]);
            prop_assert!(input.finish().is_ok());
        }
    }
}
