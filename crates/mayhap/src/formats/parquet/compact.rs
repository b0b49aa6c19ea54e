//! Thrift's compact encoding, as far as Parquet's metadata needs it.
//!
//! ```text
//! struct     fields, and a byte 0
//! field      one byte: how much its id is above that of the field before, and its kind (4 bits each);
//!            if the first is 0, the id follows as a zigzag varint. Of a boolean, the kind is the value
//! i16 … i64  zigzag varint: 0, −1, 1, −2 … are 0, 1, 2, 3 …
//! binary     its length as a varint, and the bytes
//! list, set  one byte: the number of elements (4 bits; 15: a varint follows) and their kind; the elements
//! map        the number of entries as a varint; if there are any, a byte with the two kinds; the entries
//! ```
//!
//! Everything takes at least a byte, so that no input makes a reader work longer than it is long.

use crate::codec::FormatError;
use crate::formats::input::Input;

/// How deep structs and lists may lie in one another. Parquet's metadata has eight levels.
const DEEPEST: u32 = 24;

/// What a field or an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    True,
    False,
    Byte,
    I16,
    I32,
    I64,
    Double,
    Binary,
    List,
    Set,
    Map,
    Struct,
    Uuid,
}

impl Kind {
    fn new(number: u8) -> Result<Self, FormatError> {
        Ok(match number {
            1 => Self::True,
            2 => Self::False,
            3 => Self::Byte,
            4 => Self::I16,
            5 => Self::I32,
            6 => Self::I64,
            7 => Self::Double,
            8 => Self::Binary,
            9 => Self::List,
            10 => Self::Set,
            11 => Self::Map,
            12 => Self::Struct,
            13 => Self::Uuid,
            _ => return Err(FormatError::Unknown { what: "Thrift type", number: number.into() }),
        })
    }
}

/// Reads values one after the other.
#[derive(Clone, Debug)]
pub(super) struct Compact<'a>(Input<'a>);

impl<'a> Compact<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(Input::new(bytes))
    }

    /// How far reading has come.
    pub(super) const fn position(&self) -> u64 {
        self.0.position()
    }

    /// The kind of the struct's next field, or nothing at its end. `id` is that of the field before, 0 before the first,
    /// and becomes this one's.
    pub(super) fn field(&mut self, id: &mut i16) -> Result<Option<Kind>, FormatError> {
        let byte = self.0.u8()?;
        if byte == 0 {
            return Ok(None);
        }
        let kind = Kind::new(byte & 0x0f)?;
        let next = match byte >> 4 {
            0 => self.i64()?,
            above => i64::from(*id) + i64::from(above),
        };
        *id = i16::try_from(next).map_err(|_| FormatError::BadField {
            field: "Thrift field id",
            value: next.cast_unsigned(),
            must_be: "a number of 16 bits",
        })?;
        Ok(Some(kind))
    }

    pub(super) fn i64(&mut self) -> Result<i64, FormatError> {
        let zigzag = self.0.varint()?;
        Ok((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed())
    }

    pub(super) fn i32(&mut self) -> Result<i32, FormatError> {
        let number = self.i64()?;
        i32::try_from(number).map_err(|_| FormatError::BadField {
            field: "Thrift i32",
            value: number.cast_unsigned(),
            must_be: "a number of 32 bits",
        })
    }

    pub(super) fn byte(&mut self) -> Result<u8, FormatError> {
        self.0.u8()
    }

    pub(super) fn binary(&mut self) -> Result<&'a [u8], FormatError> {
        let length = self.0.varint()?;
        self.0.take(length)
    }

    /// The number of elements of a list or set, and their kind. An empty one may have any.
    pub(super) fn list(&mut self) -> Result<(u64, Kind), FormatError> {
        let byte = self.0.u8()?;
        let count = match byte >> 4 {
            15 => self.0.varint()?,
            few => u64::from(few),
        };
        if count == 0 {
            return Ok((0, Kind::Struct));
        }
        self.expect(count)?;
        Ok((count, Kind::new(byte & 0x0f)?))
    }

    /// Refuses a count of things that the rest can't hold, since each takes a byte at least.
    fn expect(&self, count: u64) -> Result<(), FormatError> {
        let (position, rest) = (self.position(), self.0.rest().len() as u64);
        if count > rest {
            return Err(FormatError::Truncated {
                needed: position.saturating_add(count),
                got: position + rest,
            });
        }
        Ok(())
    }

    /// Passes over the value of a field.
    pub(super) fn skip(&mut self, kind: Kind) -> Result<(), FormatError> {
        match kind {
            // In a field, the kind was the value.
            Kind::True | Kind::False => Ok(()),
            kind => self.skip_element(kind, DEEPEST),
        }
    }

    /// Passes over a value that is no field of a struct: there, booleans take a byte.
    fn skip_element(&mut self, kind: Kind, depth: u32) -> Result<(), FormatError> {
        let Some(depth) = depth.checked_sub(1) else {
            let must_be = "at most 24 levels deep";
            return Err(FormatError::BadField {
                field: "Thrift nesting",
                value: u64::from(DEEPEST) + 1,
                must_be,
            });
        };
        match kind {
            Kind::True | Kind::False | Kind::Byte => self.0.take(1).map(drop),
            Kind::I16 | Kind::I32 | Kind::I64 => self.0.varint().map(drop),
            Kind::Double => self.0.take(8).map(drop),
            Kind::Uuid => self.0.take(16).map(drop),
            Kind::Binary => self.binary().map(drop),
            Kind::List | Kind::Set => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| self.skip_element(kind, depth))
            }
            Kind::Map => {
                let count = self.0.varint()?;
                if count == 0 {
                    return Ok(());
                }
                self.expect(count)?;
                let kinds = self.0.u8()?;
                let (key, value) = (Kind::new(kinds >> 4)?, Kind::new(kinds & 0x0f)?);
                (0..count).try_for_each(|_| {
                    self.skip_element(key, depth)?;
                    self.skip_element(value, depth)
                })
            }
            Kind::Struct => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    if !matches!(kind, Kind::True | Kind::False) {
                        self.skip_element(kind, depth)?;
                    }
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    /// Every kind there is, in a struct, by Thrift's own description.
    const EVERYTHING: &[u8] = &[
        0x11, // 1: true
        0x12, // 2: false
        0x13, 0x2a, // 3: byte
        0x14, 0x03, // 4: i16 −2
        0x15, 0x80, 0x01, // 5: i32 64
        0x16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, // 6: i64, the lowest
        0x17, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, // 7: double
        0x18, 0x03, b'a', b'b', b'c', // 8: binary
        0x19, 0x25, 0x02, 0x04, // 9: list of two i32
        0x1a, 0x21, 0x01, 0x02, // 10: set of two booleans
        0x1b, 0x01, 0x85, 0x01, b'k', 0x08, // 11: map of binary to i32
        0x1c, 0x11, 0x00, // 12: struct with a boolean
        0x1d, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, // 13: uuid
        0x09, 0xc8, 0x01, 0xf8, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, // 100: list of 15 empty binaries
        0x19, 0x00, // 101: empty list without a kind
        0x1b, 0x00, // 102: empty map
        0x00,
    ];

    #[test]
    fn every_kind_is_passed_over() {
        let mut compact = Compact::new(EVERYTHING);
        compact.skip(Kind::Struct).unwrap();
        assert_eq!(compact.position(), EVERYTHING.len() as u64);

        let mut compact = Compact::new(EVERYTHING);
        let (mut id, mut ids) = (0, vec![]);
        while let Some(kind) = compact.field(&mut id).unwrap() {
            ids.push(id);
            match id {
                3 => assert_eq!(compact.byte(), Ok(42)),
                4 => assert_eq!(compact.i32(), Ok(-2)),
                5 => assert_eq!(compact.i32(), Ok(64)),
                6 => assert_eq!(compact.i64(), Ok(i64::MIN)),
                8 => assert_eq!(compact.binary(), Ok(&b"abc"[..])),
                _ => compact.skip(kind).unwrap(),
            }
        }
        assert_eq!(ids, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 100, 101, 102]);
        for length in 0..EVERYTHING.len() {
            let skipped = Compact::new(&EVERYTHING[..length]).skip(Kind::Struct);
            assert!(matches!(skipped, Err(FormatError::Truncated { .. })), "{length}: {skipped:?}");
        }
    }

    #[test]
    fn hostile_bytes_are_refused() {
        // Structs in structs, lists in lists, maps in maps, without an end.
        for deep in [[0x1c; 1000], [0x19; 1000], [0x1b; 1000]] {
            assert!(Compact::new(&deep).skip(Kind::Struct).is_err());
        }
        // A list of lists of lists.
        assert!(matches!(Compact::new(&[0x19; 100]).skip(Kind::List), Err(FormatError::BadField { .. })));
        // Many elements and no bytes for them.
        let many = [0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x00];
        assert!(matches!(Compact::new(&many).list(), Err(FormatError::Truncated { .. })));
        assert!(matches!(Compact::new(&many[1..]).skip(Kind::Map), Err(FormatError::Truncated { .. })));
        assert!(matches!(Compact::new(&many[1..]).skip(Kind::Binary), Err(FormatError::Truncated { .. })));
        // No such kind; no such id.
        assert!(matches!(Compact::new(&[0x1e]).field(&mut 0), Err(FormatError::Unknown { .. })));
        assert!(matches!(
            Compact::new(&[0x15]).field(&mut i16::MAX.clone()),
            Err(FormatError::BadField { .. })
        ));
        // An i32 of 33 bits.
        assert!(Compact::new(&[0x80, 0x80, 0x80, 0x80, 0x20]).i32().is_err());
    }
}
