//! Values of modules: a sequence of numbers and strings, each with its kind before it.
//!
//! ```text
//! 7                        the value is a module's, in the second encoding (Redis 4.0 and later)
//! id                       an RDB length: nine characters of 6 bits, then 10 bits for the version of the value
//! 1 length                 signed integer
//! 2 length                 unsigned integer
//! 3 four bytes             float
//! 4 eight bytes            double, little-endian
//! 5 string                 string
//! …
//! 0                        end
//! ```

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::strings;
use crate::codec::FormatError;
use crate::file::ReadOptions;
use crate::formats::input::Input;

/// RDB's number for a value of a module.
pub(super) const MODULE_2: u8 = 7;
const CHARACTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const VERSION_BITS: u32 = 10;

const END: u64 = 0;
const SIGNED: u64 = 1;
const UNSIGNED: u64 = 2;
const FLOAT: u64 = 3;
const DOUBLE: u64 = 4;
const STRING: u64 = 5;

/// A value of a module that can be read and written.
pub(crate) trait ModuleValue: Sized {
    /// The name of the type, as Redis's `TYPE` gives it.
    const NAME: &'static [u8; 9];
    /// The version in which it is written.
    const VERSION: u16;

    /// Reads a value that was written in this version, up to its end.
    fn read_value(
        reader: &mut ModuleReader<'_>,
        version: u16,
        options: &ReadOptions,
    ) -> Result<Self, FormatError>;

    /// Writes it in [`VERSION`](Self::VERSION).
    fn write_value(&self, writer: &mut ModuleWriter<'_>) -> Result<(), FormatError>;
}

/// The id of a module's type: its name, and the version of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModuleId(pub(crate) u64);

impl ModuleId {
    pub(crate) fn new(name: &[u8; 9], version: u16) -> Self {
        let name = name.iter().fold(0, |id, character| {
            // A character that none can be counts as the first; the names here have none.
            id << 6 | CHARACTERS.iter().position(|known| known == character).unwrap_or(0) as u64
        });
        Self(name << VERSION_BITS | u64::from(version) & ((1 << VERSION_BITS) - 1))
    }

    pub(crate) fn name(self) -> [u8; 9] {
        let mut name = [0; 9];
        let characters = (0..9).rev().map(|i| CHARACTERS[(self.0 >> (VERSION_BITS + 6 * i) & 0x3f) as usize]);
        for (place, character) in name.iter_mut().zip(characters) {
            *place = character;
        }
        name
    }

    #[allow(clippy::cast_possible_truncation, reason = "10 bits")]
    pub(crate) fn version(self) -> u16 {
        (self.0 & ((1 << VERSION_BITS) - 1)) as u16
    }
}

/// Reads one value of a module after its id.
#[derive(Debug)]
pub(crate) struct ModuleReader<'a> {
    input: Input<'a>,
}

impl<'a> ModuleReader<'a> {
    pub(crate) fn new(input: Input<'a>) -> Self {
        Self { input }
    }

    fn expect(&mut self, kind: u64, must_be: &'static str) -> Result<(), FormatError> {
        let got = strings::length(&mut self.input)?;
        if got == kind {
            Ok(())
        } else {
            Err(FormatError::BadField { field: "RDB opcode", value: got, must_be })
        }
    }

    pub(crate) fn unsigned(&mut self) -> Result<u64, FormatError> {
        self.expect(UNSIGNED, "2: an unsigned integer")?;
        strings::length(&mut self.input)
    }

    pub(crate) fn double(&mut self) -> Result<f64, FormatError> {
        self.expect(DOUBLE, "4: a double")?;
        self.input.f64_le()
    }

    /// A string whose length is looked at before anything is unpacked.
    pub(crate) fn string_if(
        &mut self,
        mut check_length: impl FnMut(u64) -> Result<(), FormatError>,
    ) -> Result<Cow<'a, [u8]>, FormatError> {
        self.expect(STRING, "5: a string")?;
        let packed = strings::string(&mut self.input)?;
        check_length(packed.len())?;
        packed.unpack()
    }

    /// A string that must have this length.
    pub(crate) fn string_of(
        &mut self,
        field: &'static str,
        length: u64,
    ) -> Result<Cow<'a, [u8]>, FormatError> {
        self.string_if(|got| {
            let must_be = "as long as the numbers before it say";
            if got == length { Ok(()) } else { Err(FormatError::BadField { field, value: got, must_be }) }
        })
    }

    /// The end of the value, and what follows it.
    pub(crate) fn finish(mut self) -> Result<Input<'a>, FormatError> {
        self.expect(END, "0: the end of the value")?;
        Ok(self.input)
    }
}

/// Passes over the rest of a module's value, up to and with its end, whatever it is.
pub(super) fn skip(input: &mut Input<'_>) -> Result<(), FormatError> {
    loop {
        match strings::length(input)? {
            END => return Ok(()),
            SIGNED | UNSIGNED => _ = strings::length(input)?,
            FLOAT => _ = input.take(4)?,
            DOUBLE => _ = input.take(8)?,
            STRING => _ = strings::string(input)?,
            number => return Err(FormatError::Unknown { what: "RDB opcode", number }),
        }
    }
}

/// Writes one value of a module after its id.
#[derive(Debug)]
pub(crate) struct ModuleWriter<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> ModuleWriter<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out }
    }

    pub(crate) fn unsigned(&mut self, number: u64) {
        strings::write_length(UNSIGNED, self.out);
        strings::write_length(number, self.out);
    }

    pub(crate) fn double(&mut self, number: f64) {
        strings::write_length(DOUBLE, self.out);
        self.out.extend(number.to_le_bytes());
    }

    pub(crate) fn string(&mut self, bytes: &[u8]) -> Result<(), FormatError> {
        strings::write_length(STRING, self.out);
        strings::write_string(bytes, self.out)
    }

    pub(crate) fn finish(self) {
        strings::write_length(END, self.out);
    }
}

/// Reads a value with its id, but without the 7 before it; says what follows.
pub(crate) fn read_module<'a, V: ModuleValue>(
    mut input: Input<'a>,
    options: &ReadOptions,
) -> Result<(V, Input<'a>), FormatError> {
    let id = ModuleId(strings::length(&mut input)?);
    if id.name() != *V::NAME {
        return Err(FormatError::Unknown { what: "RDB module type", number: id.0 });
    }
    if id.version() > V::VERSION {
        return Err(FormatError::Unknown { what: "RDB value version", number: u64::from(id.version()) });
    }
    let mut reader = ModuleReader::new(input);
    let value = V::read_value(&mut reader, id.version(), options)?;
    Ok((value, reader.finish()?))
}

/// Appends a value with its id, but without the 7 before it.
pub(crate) fn write_module<V: ModuleValue>(value: &V, out: &mut Vec<u8>) -> Result<(), FormatError> {
    strings::write_length(ModuleId::new(V::NAME, V::VERSION).0, out);
    let mut writer = ModuleWriter::new(out);
    value.write_value(&mut writer)?;
    writer.finish();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_names_and_versions() {
        let id = ModuleId::new(b"MBbloom--", 4);
        assert_eq!(id.0, 0x3016_e5a2_89be_f804);
        assert_eq!((&id.name(), id.version()), (b"MBbloom--", 4));
        assert_eq!(ModuleId::new(b"MBbloomCF", 4).0, 0x3016_e5a2_8982_1404);
    }

    #[test]
    fn what_was_written_comes_back() {
        let mut out = Vec::new();
        let mut writer = ModuleWriter::new(&mut out);
        writer.unsigned(u64::MAX);
        writer.double(0.005);
        writer.string(b"12").unwrap();
        writer.string(&[0; 30]).unwrap();
        writer.finish();
        out.push(9);

        let mut input = Input::new(&out);
        skip(&mut input).unwrap();
        assert_eq!(input.rest(), [9]);

        let mut reader = ModuleReader::new(Input::new(&out));
        assert_eq!(reader.unsigned(), Ok(u64::MAX));
        assert_eq!(reader.double(), Ok(0.005));
        assert_eq!(*reader.string_if(|_| Ok(())).unwrap(), *b"12");
        assert_eq!(*reader.string_of("bits", 30).unwrap(), [0; 30]);
        assert_eq!(reader.finish().unwrap().rest(), [9]);

        let mut reader = ModuleReader::new(Input::new(&out));
        assert!(reader.double().is_err());
        let mut reader = ModuleReader::new(Input::new(&out));
        reader.unsigned().unwrap();
        reader.double().unwrap();
        assert!(reader.string_of("bits", 3).is_err());
    }
}
