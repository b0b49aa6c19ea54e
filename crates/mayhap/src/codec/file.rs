//! Reading a file that is all in memory, or mapped.

use core::fmt;
use core::ops::Range;

use super::checksum::BodySums;
use super::error::FormatError;
use super::header::Header;
use super::layout::Layout;
use super::parse::{Parsed, parse};

/// A whole file as bytes, with its header checked and its bodies where they are.
///
/// Nothing is copied, and the bodies are not even touched before [`section`](Self::section) is read from or
/// [`verify`](Self::verify) is called; so this is also the way to a mapped file.
#[derive(Clone)]
pub struct File<'a> {
    bytes: &'a [u8],
    parsed: Parsed,
}

impl<'a> File<'a> {
    /// Checks the header of a file, and that `bytes` has the length the header says: no more, no less.
    ///
    /// Doesn't look at the bodies; [`verify`](Self::verify) does.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let parsed = parse(bytes)?;
        let file_length = parsed.layout.file_length();
        let got = bytes.len() as u64;
        if got < file_length {
            return Err(FormatError::Truncated { needed: file_length, got });
        }
        if got > file_length {
            return Err(FormatError::TrailingBytes { file_length });
        }
        Ok(Self { bytes, parsed })
    }

    /// What the file says about itself.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.parsed.header
    }

    /// Where things are in the file.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.parsed.layout
    }

    /// The body of a section, or `None` when there are fewer sections.
    #[must_use]
    pub fn section(&self, section: usize) -> Option<&'a [u8]> {
        self.bytes.get(self.section_range(section)?)
    }

    /// Which of the file's bytes are the body of a section: for a mapping, which keeps the bytes and this
    /// range.
    #[must_use]
    pub fn section_range(&self, section: usize) -> Option<Range<usize>> {
        Some(as_indexes(&self.parsed.layout.section(section)?))
    }

    /// Reads the whole file and checks everything that [`parse`](Self::parse) didn't: the checksums of the
    /// bodies, and that the bytes between them are zero.
    pub fn verify(&self) -> Result<(), FormatError> {
        let layout = &self.parsed.layout;
        let mut sums = BodySums::new();
        let mut end = layout.header_length();
        for place in layout.sections() {
            self.verify_padding(end..place.start)?;
            sums.update(self.slice(place));
            sums.end_section();
            end = place.end;
        }
        self.verify_padding(end..layout.checksums_offset())?;
        let table = self.slice(&(layout.checksums_offset()..layout.file_length()));
        sums.check(table, self.parsed.checksum)
    }

    fn verify_padding(&self, place: Range<u64>) -> Result<(), FormatError> {
        check_padding(self.slice(&place), place.start)
    }

    fn slice(&self, place: &Range<u64>) -> &'a [u8] {
        // `parse` has compared the length of `bytes` with the layout, so the range is always inside.
        self.bytes.get(as_indexes(place)).unwrap_or(&[])
    }
}

/// The header, not the gigabytes behind it.
impl fmt::Debug for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "File({} bytes, {:?})", self.bytes.len(), self.parsed.header)
    }
}

/// Positions inside a slice that is at least that long fit `usize`; if one didn't, no slice would have it.
fn as_indexes(place: &Range<u64>) -> Range<usize> {
    let index = |position: u64| usize::try_from(position).unwrap_or(usize::MAX);
    index(place.start)..index(place.end)
}

/// Refuses bytes that are not zero. `offset` is where they are in the file.
pub(super) fn check_padding(padding: &[u8], offset: u64) -> Result<(), FormatError> {
    match padding.iter().position(|byte| *byte != 0) {
        Some(at) => Err(FormatError::BadPadding { offset: offset + at as u64 }),
        None => Ok(()),
    }
}
