//! A whole RDB file: every key, and the filters among their values.
//!
//! ```text
//! REDIS0010                   the name, and the version in four digits
//! then again and again
//!   250 string string         something about the server
//!   245 string                a library of functions
//!   247 id 2 number … 0       what a module keeps besides values
//!   254 length                the database of the keys that follow
//!   251 length length         how many keys it has, and how many of them expire
//!   244 length length length  the same for a slot of a cluster
//!   252 eight bytes           when the next key expires: milliseconds since 1970, little-endian
//!   253 four bytes            the same in seconds
//!   248 length, 249 byte      how long or how often the next key was not or was used
//!   type key value            a key
//! 255                         the end
//! checksum                    CRC-64 of all bytes before it, little-endian; 0 if none was made
//! ```

use alloc::borrow::Cow;
use alloc::string::String;

use super::super::RedisValue;
use super::crc64::crc64;
use super::dump::RdbVersion;
use super::module::{MODULE_2, ModuleId, skip as skip_module};
use super::skip::{skip, type_name};
use super::strings::{length, string};
use crate::codec::{FormatError, Part};
use crate::file::ReadOptions;
use crate::formats::input::Input;

const MAGIC: &[u8] = b"REDIS";
/// Versions before this have no checksum.
const FIRST_WITH_CHECKSUM: u16 = 5;

/// Walks over the keys of an RDB file, as `SAVE` writes it. Nothing is unpacked until it is asked for.
///
/// ```
/// use mayhap::formats::redisbloom::{RedisValue, rdb::RdbFile};
/// # use mayhap::formats::redisbloom::{RdbVersion, RedisBloom};
/// # let mut seen = RedisBloom::new()?;
/// # seen.add("apple")?;
/// # let mut bytes = b"REDIS0010\xfe\x00\x00\x05plain\x01x\x07\x04seen".to_vec();
/// # bytes.extend(RedisValue::Bloom(seen).to_rdb_value()?);
/// # bytes.extend(b"\xff\0\0\0\0\0\0\0\0");
///
/// // let bytes = std::fs::read("dump.rdb")?;
/// for entry in RdbFile::new(&bytes)? {
///     let entry = entry?;
///     match entry.read()? {
///         Some(RedisValue::Bloom(filter)) => assert!(filter.contains("apple")),
///         Some(_) => println!("{}: a cuckoo filter", entry.key_text()),
///         None => println!("{}: skipped, a {}", entry.key_text(), entry.type_name()),
///     }
/// }
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RdbFile<'a> {
    input: Input<'a>,
    version: RdbVersion,
    database: u64,
    has_ended: bool,
}

/// One key of an RDB file.
#[derive(Clone, Debug)]
pub struct RdbEntry<'a> {
    database: u64,
    key: Cow<'a, [u8]>,
    expires_ms: Option<u64>,
    type_number: u8,
    encoded: &'a [u8],
}

impl<'a> RdbFile<'a> {
    /// Looks at the head of the file, and at its checksum if it has one.
    ///
    /// # Errors
    /// When it isn't an RDB file, or its checksum is wrong.
    pub fn new(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let mut input = Input::new(bytes);
        if input.take(MAGIC.len() as u64)? != MAGIC {
            let value = bytes.iter().take(5).fold(0, |value, byte| value << 8 | u64::from(*byte));
            return Err(FormatError::BadField { field: "RDB magic", value, must_be: "REDIS" });
        }
        let version = digits(input.take(4)?)?;
        if version >= FIRST_WITH_CHECKSUM {
            let (checked, checksum) = bytes
                .split_last_chunk::<8>()
                .filter(|(checked, _)| checked.len() > 9)
                .ok_or(FormatError::Truncated { needed: 18, got: bytes.len() as u64 })?;
            let checksum = u64::from_le_bytes(*checksum);
            if checksum != 0 && checksum != crc64(checked) {
                return Err(FormatError::BadChecksum { what: Part::Payload });
            }
        }
        Ok(Self { input, version: RdbVersion::new(version), database: 0, has_ended: false })
    }

    /// The version of the file.
    #[must_use]
    pub fn version(&self) -> RdbVersion {
        self.version
    }

    fn next_entry(&mut self) -> Result<Option<RdbEntry<'a>>, FormatError> {
        let input = &mut self.input;
        let mut expires_ms = None;
        loop {
            match input.u8()? {
                244 => (0..3).try_for_each(|_| length(input).map(drop))?,
                245 => _ = string(input)?,
                247 => {
                    length(input)?;
                    skip_module(input)?;
                }
                248 => _ = length(input)?,
                249 => _ = input.u8()?,
                250 => (0..2).try_for_each(|_| string(input).map(drop))?,
                251 => (0..2).try_for_each(|_| length(input).map(drop))?,
                252 => expires_ms = Some(input.u64_le()?),
                253 => expires_ms = Some(u64::from(input.u32_le()?) * 1000),
                254 => self.database = length(input)?,
                255 => {
                    if self.version.get() >= FIRST_WITH_CHECKSUM {
                        input.take(8)?;
                    }
                    input.clone().finish()?;
                    return Ok(None);
                }
                type_number => {
                    let key = string(input)?.unpack()?;
                    let before = input.rest();
                    skip(type_number, input)?;
                    let encoded = &before[..before.len() - input.rest().len()];
                    return Ok(Some(RdbEntry {
                        database: self.database,
                        key,
                        expires_ms,
                        type_number,
                        encoded,
                    }));
                }
            }
        }
    }
}

/// The keys in order. After an error there is nothing more.
impl<'a> Iterator for RdbFile<'a> {
    type Item = Result<RdbEntry<'a>, FormatError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let entry = self.next_entry().transpose();
        self.has_ended = !matches!(entry, Some(Ok(_)));
        entry
    }
}

impl<'a> RdbEntry<'a> {
    /// The number of its database.
    #[must_use]
    pub fn database(&self) -> u64 {
        self.database
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The key as text; what is no UTF-8 in it is replaced.
    #[must_use]
    pub fn key_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.key)
    }

    /// When it expires, in milliseconds since 1970.
    #[must_use]
    pub fn expires_ms(&self) -> Option<u64> {
        self.expires_ms
    }

    /// The type of its value, as Redis's `TYPE` gives it: `string`, `list`, `set`, `zset`, `hash` or `stream`, or the
    /// nine letters of a module's type, such as `MBbloom--` and `MBbloomCF`.
    #[must_use]
    pub fn type_name(&self) -> Cow<'static, str> {
        match self.module() {
            Some(id) => Cow::Owned(String::from_utf8_lossy(&id.name()).into_owned()),
            None => Cow::Borrowed(type_name(self.type_number).unwrap_or("unknown")),
        }
    }

    /// The encoded value, without the byte for its type.
    #[must_use]
    pub fn encoded(&self) -> &'a [u8] {
        self.encoded
    }

    /// Reads the filter; nothing if the value is something else.
    ///
    /// # Errors
    /// When it can't be one.
    pub fn read(&self) -> Result<Option<RedisValue>, FormatError> {
        self.read_with(&ReadOptions::new())
    }

    /// [`read`](Self::read) with a limit.
    ///
    /// # Errors
    /// When it can't be a filter, or takes more than the limit.
    pub fn read_with(&self, options: &ReadOptions) -> Result<Option<RedisValue>, FormatError> {
        self.module().map_or(Ok(None), |id| RedisValue::read(id, self.encoded, options))
    }

    fn module(&self) -> Option<ModuleId> {
        (self.type_number == MODULE_2)
            .then(|| length(&mut Input::new(self.encoded)).ok().map(ModuleId))
            .flatten()
    }
}

fn digits(bytes: &[u8]) -> Result<u16, FormatError> {
    bytes.iter().try_fold(0u16, |number, digit| {
        if digit.is_ascii_digit() {
            return Ok(number * 10 + u16::from(digit - b'0'));
        }
        Err(FormatError::BadField { field: "RDB version", value: u64::from(*digit), must_be: "four digits" })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn file(body: &[u8]) -> Vec<u8> {
        let mut bytes = [b"REDIS0011", body, b"\xff"].concat();
        let checksum = crc64(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    /// Database, key, when it expires, type.
    type Told = (u64, Vec<u8>, Option<u64>, Cow<'static, str>);

    fn keys(bytes: &[u8]) -> Result<Vec<Told>, FormatError> {
        RdbFile::new(bytes)?
            .map(|entry| entry.map(|e| (e.database(), e.key().to_vec(), e.expires_ms(), e.type_name())))
            .collect()
    }

    #[test]
    fn everything_between_the_keys_is_passed_over() {
        let body =
            b"\xfa\x01a\xc0\x05\xf5\x03lib\xf7\x81\x30\x16\xe5\xa2\x89\xbe\xf8\x04\x02\x01\x05\x01x\x00\
            \xfe\x00\xfb\x02\x01\xfc\x10\x27\x00\x00\x00\x00\x00\x00\xf8\x07\x00\x01k\x01v\
            \xfe\x03\xf4\x01\x02\x03\xfd\x02\x00\x00\x00\xf9\x09\x04\xc0\x07\x01\x01f\x01v";
        let bytes = file(body);
        assert_eq!(RdbFile::new(&bytes).unwrap().version().get(), 11);
        let expected = [
            (0, b"k".to_vec(), Some(10_000), Cow::Borrowed("string")),
            (3, b"7".to_vec(), Some(2_000), Cow::Borrowed("hash")),
        ];
        assert_eq!(keys(&bytes).unwrap(), expected);

        let mut unchecked = bytes.clone();
        let end = unchecked.len();
        unchecked[end - 8..].fill(0);
        assert_eq!(keys(&unchecked).unwrap(), expected, "the checksum was switched off");
        unchecked[end - 1] = 1;
        assert_eq!(keys(&unchecked), Err(FormatError::BadChecksum { what: Part::Payload }));
    }

    #[test]
    fn old_files_have_no_checksum() {
        assert_eq!(keys(b"REDIS0003\xfe\x00\x00\x01k\x01v\xff").unwrap().len(), 1);
    }

    #[test]
    fn what_is_no_file_or_cut_off_is_an_error() {
        assert!(keys(b"REDIS00x1\xff").is_err());
        assert!(keys(b"VALKEY080\xff\0\0\0\0\0\0\0\0").is_err());
        assert!(keys(b"REDIS0011\0\0\0\0\0\0\0\0").is_err(), "no end");
        assert!(keys(b"REDIS0011\xff\0\0\0\0\0\0\0\0\0").is_err(), "more after the end");
        assert!(keys(&file(b"\x1f\x01k\x01v")).is_err(), "a type that is not known");
        assert!(keys(&file(b"\xf3\x01")).is_err(), "an opcode that is not known");
        let bytes = file(b"\xfe\x00\x00\x01k\x01v");
        for end in 0..bytes.len() {
            assert!(keys(&bytes[..end]).is_err(), "cut at {end}");
        }
    }
}
