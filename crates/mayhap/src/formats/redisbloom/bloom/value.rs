//! The value in RDB files and `DUMP` payloads.

use alloc::vec::Vec;

use super::header::{check_count, check_size};
use super::link::Link;
use super::options::Options;
use super::{DEFAULT_EXPANSION, RedisBloom, RedisLink};
use crate::codec::FormatError;
use crate::file::ReadOptions;
use crate::formats::redisbloom::rdb::{Dump, ModuleReader, ModuleValue, ModuleWriter, RdbVersion, to_dump};
use crate::formats::words::write_little_endian;

/// Versions from which on a field is there.
const WITH_BITS: u16 = 1;
const WITH_OPTIONS: u16 = 2;
const WITH_GROWTH: u16 = 4;

impl RedisBloom {
    /// Reads what `DUMP` gave.
    ///
    /// ```
    /// use mayhap::formats::redisbloom::RedisBloom;
    ///
    /// let payload = b"\x07\x810\x16\xe5\xa2\x89\xbe\xf8\x04\x02\x01\x02\x01\x02\r\x02\x02\x02\x01\x04\x9a\x99\x99\
    ///     \x99\x99\x99\xc9?\x02\x03\x04\x90k~\xd8u\xcc\n@\x02@@\x02\x00\x05\x08\x00\x00 \x00\x00\x00\x04\x01\x02\
    ///     \x01\x00\n\x005\x8f\x998\xb5\xa3\xe3%";
    /// let filter = RedisBloom::from_dump(payload)?;
    /// assert!(filter.contains("p:user:1"));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the checksum is wrong, or the payload isn't a Bloom filter, or one that can't be.
    pub fn from_dump(payload: &[u8]) -> Result<Self, FormatError> {
        Self::from_dump_with(payload, &ReadOptions::new())
    }

    /// [`from_dump`](Self::from_dump) with a limit. (A compressed payload can hold up to 88 times its own length.)
    ///
    /// # Errors
    /// As [`from_dump`](Self::from_dump), and when the bits take more than the limit.
    pub fn from_dump_with(payload: &[u8], options: &ReadOptions) -> Result<Self, FormatError> {
        Dump::parse(payload)?.read(options)
    }

    /// What `DUMP` gives, for `RESTORE` of a server that takes this version of RDB.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn to_dump(&self, version: RdbVersion) -> Result<Vec<u8>, FormatError> {
        to_dump(self, version)
    }
}

impl ModuleValue for RedisBloom {
    const NAME: &'static [u8; 9] = b"MBbloom--";
    const VERSION: u16 = 4;

    fn read_value(
        reader: &mut ModuleReader<'_>,
        version: u16,
        limits: &ReadOptions,
    ) -> Result<Self, FormatError> {
        let size = reader.unsigned()?;
        let count = reader.unsigned()?;
        check_count(count)?;
        let options = Options::from_bits(if version >= WITH_OPTIONS { reader.unsigned()? } else { 0 })?;
        let growth = if version >= WITH_GROWTH { number("growth", reader)? } else { DEFAULT_EXPANSION };
        let mut filter = Self::with_links([], options, growth)?;
        let mut total = 0u64;
        // Each turn takes bytes of the input, whatever the count says.
        for _ in 0..count {
            let (figures, bytes) = read_link(reader, version, |bytes| {
                total = total.saturating_add(bytes);
                limits.check_length(total)
            })?;
            filter.push(Link::with_bytes(figures, options.recipe(), &bytes)?)?;
        }
        check_size(size, &filter.links().copied().collect::<Vec<_>>())?;
        Ok(filter)
    }

    fn write_value(&self, writer: &mut ModuleWriter<'_>) -> Result<(), FormatError> {
        writer.unsigned(self.card());
        writer.unsigned(self.links.len() as u64);
        writer.unsigned(u64::from(self.options.bits()));
        writer.unsigned(u64::from(self.growth));
        let mut bytes = Vec::new();
        for link in &self.links {
            let figures = &link.figures;
            writer.unsigned(figures.entries);
            writer.double(figures.error);
            writer.unsigned(u64::from(figures.hashes));
            writer.double(figures.bits_per_entry);
            writer.unsigned(figures.bits);
            writer.unsigned(u64::from(figures.log2_bits));
            bytes.clear();
            write_little_endian(link.filter.words(), figures.bytes, &mut bytes)?;
            writer.string(&bytes)?;
            writer.unsigned(figures.size);
        }
        Ok(())
    }
}

fn read_link<'a>(
    reader: &mut ModuleReader<'a>,
    version: u16,
    check_bytes: impl FnMut(u64) -> Result<(), FormatError>,
) -> Result<(RedisLink, alloc::borrow::Cow<'a, [u8]>), FormatError> {
    let entries = reader.unsigned()?;
    let error = reader.double()?;
    let hashes = number("hashes", reader)?;
    let bits_per_entry = reader.double()?;
    let (bits, log2_bits) = if version >= WITH_BITS {
        (reader.unsigned()?, number("n2", reader)?)
    } else {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as the original does it")]
        let bits = (entries as f64 * bits_per_entry) as u64;
        (bits, 0)
    };
    let bytes = reader.string_if(check_bytes)?;
    let size = reader.unsigned()?;
    let figures = RedisLink {
        bytes: bytes.len() as u64,
        bits,
        size,
        error,
        bits_per_entry,
        hashes,
        entries,
        log2_bits,
    };
    figures.check_loosely()?;
    Ok((figures, bytes))
}

/// An unsigned integer of fewer bits than it is written in.
fn number<N: TryFrom<u64>>(field: &'static str, reader: &mut ModuleReader<'_>) -> Result<N, FormatError> {
    let value = reader.unsigned()?;
    N::try_from(value).map_err(|_| FormatError::BadField { field, value, must_be: "a smaller number" })
}
