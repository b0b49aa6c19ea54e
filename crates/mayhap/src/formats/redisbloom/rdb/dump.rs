//! `DUMP` payloads: one value, and what lets `RESTORE` refuse it.
//!
//! ```text
//! value          its type, a byte, then its encoding
//! version        the RDB version, 2 bytes, little-endian
//! checksum       CRC-64 of all bytes before it, 8 bytes, little-endian
//! ```

use alloc::vec::Vec;

use super::crc64::crc64;
use super::module::{MODULE_2, ModuleId, ModuleValue, read_module, write_module};
use super::strings;
use crate::codec::{FormatError, Part};
use crate::file::ReadOptions;
use crate::formats::input::Input;

/// The version of RDB that a payload or file says it follows.
///
/// A server takes payloads of its own version and of earlier ones. The encoding of RedisBloom's values is the same in
/// all of them: the number and the checksum are the only bytes that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RdbVersion(u16);

impl RdbVersion {
    /// Redis 7.0 and later take it: 10.
    pub const REDIS_7_0: Self = Self(10);
    /// Redis 7.4, 8.0 and later take it: 12.
    pub const REDIS_8_0: Self = Self(12);

    /// The version of a `DUMP` payload whose checksum is right: to write a value back as it came.
    ///
    /// ```
    /// use mayhap::formats::redisbloom::{RdbVersion, RedisBloom};
    ///
    /// let payload = RedisBloom::new()?.to_dump(RdbVersion::REDIS_8_0)?;
    /// assert_eq!(RdbVersion::of_dump(&payload)?.get(), 12);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the payload is cut off or changed.
    pub fn of_dump(payload: &[u8]) -> Result<Self, FormatError> {
        Dump::parse(payload).map(|dump| dump.version)
    }

    /// Any other.
    #[must_use]
    pub const fn new(version: u16) -> Self {
        Self(version)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

/// A `DUMP` payload whose checksum was right, not read further yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dump<'a> {
    version: RdbVersion,
    /// The type and the value.
    value: &'a [u8],
}

impl<'a> Dump<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let cut = FormatError::Truncated { needed: 11, got: bytes.len() as u64 };
        let (checked, checksum) = bytes.split_last_chunk::<8>().ok_or_else(|| cut.clone())?;
        let (value, version) = checked.split_last_chunk::<2>().ok_or(cut)?;
        if crc64(checked) != u64::from_le_bytes(*checksum) {
            return Err(FormatError::BadChecksum { what: Part::Payload });
        }
        Ok(Self { version: RdbVersion(u16::from_le_bytes(*version)), value })
    }

    /// The type of the value, if it is a module's.
    pub(crate) fn module(&self) -> Result<ModuleId, FormatError> {
        strings::length(&mut self.module_value()?).map(ModuleId)
    }

    /// The value.
    pub(crate) fn read<V: ModuleValue>(&self, options: &ReadOptions) -> Result<V, FormatError> {
        let (value, rest) = read_module(self.module_value()?, options)?;
        rest.finish()?;
        Ok(value)
    }

    fn module_value(&self) -> Result<Input<'a>, FormatError> {
        let mut input = Input::new(self.value);
        match input.u8()? {
            MODULE_2 => Ok(input),
            other => Err(FormatError::Unknown { what: "RDB value type", number: u64::from(other) }),
        }
    }
}

/// The payload of a value.
pub(crate) fn to_dump<V: ModuleValue>(value: &V, version: RdbVersion) -> Result<Vec<u8>, FormatError> {
    let mut out = Vec::new();
    out.push(MODULE_2);
    write_module(value, &mut out)?;
    out.extend(version.0.to_le_bytes());
    let checksum = crc64(&out);
    out.extend(checksum.to_le_bytes());
    Ok(out)
}
