//! One of RedisBloom's two filters, where bytes say which.

use alloc::vec::Vec;

use super::rdb::{Dump, ModuleId, ModuleValue, RdbVersion, read_module, write_module};
use super::{RedisBloom, RedisCuckoo};
use crate::codec::FormatError;
use crate::file::ReadOptions;
use crate::formats::input::Input;

/// A filter out of a `DUMP` payload or an RDB file: its bytes name the type.
#[derive(Clone, Debug, PartialEq)]
pub enum RedisValue {
    /// `MBbloom--`, of the commands `BF.*`.
    Bloom(RedisBloom),
    /// `MBbloomCF`, of the commands `CF.*`.
    Cuckoo(RedisCuckoo),
}

impl RedisValue {
    /// Reads what `DUMP` gave.
    ///
    /// # Errors
    /// When the checksum is wrong, or the payload is neither filter, or one that can't be.
    pub fn from_dump(payload: &[u8]) -> Result<Self, FormatError> {
        Self::from_dump_with(payload, &ReadOptions::new())
    }

    /// [`from_dump`](Self::from_dump) with a limit.
    ///
    /// # Errors
    /// As [`from_dump`](Self::from_dump), and when the filter takes more than the limit.
    pub fn from_dump_with(payload: &[u8], options: &ReadOptions) -> Result<Self, FormatError> {
        let dump = Dump::parse(payload)?;
        let id = dump.module()?;
        match &id.name() {
            RedisBloom::NAME => dump.read(options).map(Self::Bloom),
            RedisCuckoo::NAME => dump.read(options).map(Self::Cuckoo),
            _ => Err(FormatError::Unknown { what: "RDB module type", number: id.0 }),
        }
    }

    /// What `DUMP` gives, for `RESTORE` of a server that takes this version of RDB.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn to_dump(&self, version: RdbVersion) -> Result<Vec<u8>, FormatError> {
        match self {
            Self::Bloom(filter) => filter.to_dump(version),
            Self::Cuckoo(filter) => filter.to_dump(version),
        }
    }

    /// The value as it stands in an RDB file, after the byte for its type.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn to_rdb_value(&self) -> Result<Vec<u8>, FormatError> {
        let mut out = Vec::new();
        match self {
            Self::Bloom(filter) => write_module(filter, &mut out)?,
            Self::Cuckoo(filter) => write_module(filter, &mut out)?,
        }
        Ok(out)
    }

    /// The filter of a value with its id; nothing if it is another module's.
    pub(super) fn read(
        id: ModuleId,
        value: &[u8],
        options: &ReadOptions,
    ) -> Result<Option<Self>, FormatError> {
        let input = Input::new(value);
        Ok(match &id.name() {
            RedisBloom::NAME => Some(Self::Bloom(read_module(input, options)?.0)),
            RedisCuckoo::NAME => Some(Self::Cuckoo(read_module(input, options)?.0)),
            _ => None,
        })
    }
}
