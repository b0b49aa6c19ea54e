//! Where things are in a file.

use alloc::vec::Vec;
use core::ops::Range;

use super::checksum::CHUNK;
use super::error::FormatError;
use super::header::Header;
use super::parse::{header_length, section_entry};

/// A body starts at a multiple of this: a cache line, and the largest vector register.
const ALIGNMENT: u64 = 64;
/// A body of `LARGE` bytes or more starts at a multiple of this, a memory page, so that it can be mapped,
/// advised and locked on its own.
const LARGE_ALIGNMENT: u64 = 4096;
const LARGE: u64 = 1 << 20;
/// The checksums start at a multiple of this, their own size.
const CHECKSUM_BYTES: u64 = 8;
/// Operating systems count file positions in signed 64-bit numbers.
const MAX_FILE_LENGTH: u64 = i64::MAX as u64;

/// The place of every part of a file, which follows from the header alone.
///
/// There is exactly one layout for a header: each body stands at the first permitted offset after the one
/// before it. Bodies therefore can't overlap or leave room for something unseen, and a reader only compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    header_length: u64,
    sections: Vec<Range<u64>>,
    checksums: u64,
    file_length: u64,
}

impl Layout {
    pub(super) fn of(header: &Header) -> Result<Self, FormatError> {
        let header_length = header_length(header)?;
        let mut end = header_length;
        let mut chunks = 0;
        let mut sections = Vec::with_capacity(header.sections.len());
        for section in &header.sections {
            let alignment = if section.length >= LARGE { LARGE_ALIGNMENT } else { ALIGNMENT };
            let too_long = FormatError::BadField {
                field: section_entry::LENGTH,
                value: section.length,
                must_be: "small enough for a file of 2^63 - 1 bytes",
            };
            let place = end.checked_next_multiple_of(alignment).and_then(|start| {
                let end = start.checked_add(section.length)?;
                (end <= MAX_FILE_LENGTH).then_some(start..end)
            });
            let Some(place) = place else { return Err(too_long) };
            end = place.end;
            chunks += section.length.div_ceil(CHUNK);
            sections.push(place);
        }
        // No overflow: the end is below 2^63 and the chunks below 2^44.
        let checksums = end.next_multiple_of(CHECKSUM_BYTES);
        let file_length = checksums + (chunks + 1) * CHECKSUM_BYTES;
        if file_length > MAX_FILE_LENGTH {
            return Err(FormatError::TooLarge { bytes: file_length, limit: MAX_FILE_LENGTH });
        }
        Ok(Self { header_length, sections, checksums, file_length })
    }

    /// The length of the header, with its checksum.
    #[must_use]
    pub const fn header_length(&self) -> u64 {
        self.header_length
    }

    /// The bytes of the file that are the body of a section, or `None` when there are fewer sections.
    #[must_use]
    pub fn section(&self, section: usize) -> Option<Range<u64>> {
        self.sections.get(section).cloned()
    }

    /// The bytes of the file that are each section's body, in order.
    #[must_use]
    pub fn sections(&self) -> &[Range<u64>] {
        &self.sections
    }

    /// Where the checksums of the bodies start.
    #[must_use]
    pub const fn checksums_offset(&self) -> u64 {
        self.checksums
    }

    /// The length of the whole file.
    #[must_use]
    pub const fn file_length(&self) -> u64 {
        self.file_length
    }
}
