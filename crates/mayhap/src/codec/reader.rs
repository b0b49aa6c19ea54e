//! Reading from a stream.

use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::vec;
use std::vec::Vec;

use super::checksum::{BodySums, CHUNK};
use super::error::FormatError;
use super::file::check_padding;
use super::header::Header;
use super::layout::Layout;
use super::parse::{Parsed, parse};
use super::stream_error::{FileError, StreamError};

/// Reads one file from a stream: the header at once, then the bodies in order into memory of the caller's,
/// then the checksums.
///
/// What was read into is to be trusted only after [`finish`](Self::finish): the checksums stand behind the
/// bodies.
///
/// ```
/// use mayhap::codec::{Header, Kind, Reader, Section, StreamError, Writer};
///
/// let mut header = Header::new(Kind::BLOCKED_BLOOM);
/// header.sections.push(Section::new(1, 5));
/// let mut writer = Writer::to_stream(Vec::new(), &header)?;
/// writer.write_body(b"hello")?;
/// let bytes = writer.finish()?;
///
/// let mut reader = Reader::new(&bytes[..], 1 << 30)?;
/// assert_eq!(reader.header(), &header);
/// let mut body = [0; 5];
/// reader.read_section(&mut body)?;
/// reader.finish()?;
/// assert_eq!(&body, b"hello");
/// # Ok::<(), StreamError>(())
/// ```
pub struct Reader<R> {
    source: R,
    parsed: Parsed,
    /// Bytes read.
    position: u64,
    /// The section to be read next.
    section: usize,
    sums: BodySums,
    /// After an error the position in the stream is unknown, so nothing more is read.
    failed: bool,
}

impl Reader<fs::File> {
    /// Opens a file and reads its header.
    ///
    /// Fails when the header is wrong, when the file is longer than `max_bytes`, and when it doesn't have the
    /// length that its header says; so once this succeeds, memory as large as the sections may be allocated. A
    /// pipe or a device has no length to compare: of those, as of a stream, the header can announce anything.
    pub fn open(path: impl AsRef<Path>, max_bytes: u64) -> Result<Self, FileError> {
        let path = path.as_ref();
        let at = |doing| move |source: io::Error| StreamError::from(source).at(path, doing);
        let file = fs::File::open(path).map_err(at("opening"))?;
        let metadata = file.metadata().map_err(at("opening"))?;
        let reader = Self::new(file, max_bytes).map_err(|error| error.at(path, "reading"))?;
        let file_length = reader.layout().file_length();
        if metadata.is_file() && metadata.len() != file_length {
            let error = if metadata.len() < file_length {
                FormatError::Truncated { needed: file_length, got: metadata.len() }
            } else {
                FormatError::TrailingBytes { file_length }
            };
            return Err(StreamError::from(error).at(path, "reading"));
        }
        Ok(reader)
    }
}

impl<R: Read> Reader<R> {
    /// Reads a header.
    ///
    /// Fails when the header is wrong, or when the file is longer than `max_bytes` by what the header says. A
    /// stream can end early all the same; the limit is all that bounds what a stranger's header makes the
    /// caller allocate.
    pub fn new(mut source: R, max_bytes: u64) -> Result<Self, StreamError> {
        let mut bytes = Vec::new();
        loop {
            let needed = Header::needed(&bytes)?;
            let got = bytes.len();
            if needed == got {
                break;
            }
            // At most `MAX_HEADER_LENGTH`.
            bytes.resize(needed, 0);
            let read = fill(&mut source, &mut bytes[got..])?;
            if read < needed - got {
                bytes.truncate(got + read);
                // What there is may show that this is no file of ours at all, which says more than "cut off".
                let needed = Header::needed(&bytes)? as u64;
                return Err(FormatError::Truncated { needed, got: bytes.len() as u64 }.into());
            }
        }
        let parsed = parse(&bytes)?;
        let file_length = parsed.layout.file_length();
        if file_length > max_bytes {
            return Err(FormatError::TooLarge { bytes: file_length, limit: max_bytes }.into());
        }
        Ok(Self {
            source,
            parsed,
            position: bytes.len() as u64,
            section: 0,
            sums: BodySums::new(),
            failed: false,
        })
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

    /// Where the bytes come from.
    pub(crate) fn source(&self) -> &R {
        &self.source
    }

    /// Reads the next section's body into `body`, which must be exactly as long.
    ///
    /// Fails when the lengths differ or there is no further section, and when the stream fails or ends.
    pub fn read_section(&mut self, body: &mut [u8]) -> Result<(), StreamError> {
        let length = self.section_length();
        if length != Some(body.len() as u64) {
            return Err(self.wrong_body(length.unwrap_or(0), body.len() as u64));
        }
        self.start_section()?;
        // A MiB at a time, so that what was just read is still in cache when it is summed.
        for chunk in body.chunks_mut(usize::try_from(CHUNK).unwrap_or(usize::MAX)) {
            self.read_exact(chunk)?;
            self.sums.update(chunk);
        }
        self.end_section();
        Ok(())
    }

    /// Reads the next section's body in pieces of at most 64 KiB, for callers whose memory isn't a slice of
    /// bytes, or who want to skip the section.
    ///
    /// Fails when there is no further section, and when the stream fails or ends.
    pub fn read_section_in_pieces(&mut self, mut piece: impl FnMut(&[u8])) -> Result<(), StreamError> {
        let Some(mut left) = self.section_length() else { return Err(self.wrong_body(0, 0)) };
        self.start_section()?;
        let mut buffer = vec![0; 64 << 10];
        while left > 0 {
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            let bytes = &mut buffer[..length];
            self.read_exact(bytes)?;
            self.sums.update(bytes);
            piece(bytes);
            left -= length as u64;
        }
        self.end_section();
        Ok(())
    }

    /// Reads the next section's body into memory that grows with what really comes, not with what the header says will.
    ///
    /// Fails as [`read_section_in_pieces`](Self::read_section_in_pieces), and when the memory can't be had.
    #[cfg(any(feature = "bitmap", feature = "formats"))]
    pub(crate) fn read_section_to_vec(&mut self) -> Result<Vec<u8>, StreamError> {
        let bytes = self.section_length().unwrap_or(0);
        let (mut body, mut enough) = (Vec::new(), true);
        self.read_section_in_pieces(|piece| {
            enough = enough && body.try_reserve(piece.len()).is_ok();
            if enough {
                body.extend_from_slice(piece);
            }
        })?;
        if enough { Ok(body) } else { Err(FormatError::OutOfMemory { bytes }.into()) }
    }

    /// Reads the checksums and compares them; the stream must end there.
    ///
    /// Reads the sections that weren't. Fails when anything in the file is damaged or missing, or bytes
    /// follow it.
    pub fn finish(self) -> Result<(), StreamError> {
        let file_length = self.layout().file_length();
        let mut source = self.finish_within()?;
        match fill(&mut source, &mut [0])? {
            0 => Ok(()),
            _ => Err(FormatError::TrailingBytes { file_length }.into()),
        }
    }

    /// As [`finish`](Self::finish), for a file inside a longer stream: gives the stream back, which stands at
    /// the first byte after the file.
    pub fn finish_within(mut self) -> Result<R, StreamError> {
        while self.section_length().is_some() {
            self.read_section_in_pieces(|_| {})?;
        }
        self.read_padding_up_to(self.parsed.layout.checksums_offset())?;
        let length = self.parsed.layout.file_length().saturating_sub(self.position);
        // 8 bytes for each MiB that was read, so this can't be out of proportion to what really came.
        let mut table = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        self.read_exact(&mut table)?;
        self.sums.check(&table, self.parsed.checksum)?;
        Ok(self.source)
    }

    fn section_length(&self) -> Option<u64> {
        self.parsed.layout.section(self.section).map(|place| place.end - place.start)
    }

    fn wrong_body(&self, expected: u64, got: u64) -> StreamError {
        FormatError::WrongBody { section: self.section, expected, got }.into()
    }

    fn start_section(&mut self) -> Result<(), StreamError> {
        match self.parsed.layout.section(self.section) {
            Some(place) => self.read_padding_up_to(place.start),
            None => Ok(()),
        }
    }

    fn end_section(&mut self) {
        self.sums.end_section();
        self.section += 1;
    }

    fn read_padding_up_to(&mut self, offset: u64) -> Result<(), StreamError> {
        // The layout leaves less than a page between two bodies.
        let mut buffer = [0; 4096];
        while self.position < offset {
            let start = self.position;
            let gap = usize::try_from(offset - start).unwrap_or(usize::MAX).min(buffer.len());
            self.read_exact(&mut buffer[..gap])?;
            check_padding(&buffer[..gap], start)?;
        }
        Ok(())
    }

    fn read_exact(&mut self, buffer: &mut [u8]) -> Result<(), StreamError> {
        if self.failed {
            return Err(FormatError::AfterFailure.into());
        }
        // Stays set unless all of it comes, also when the source panics.
        self.failed = true;
        let read = fill(&mut self.source, buffer)?;
        self.position += read as u64;
        if read < buffer.len() {
            let needed = self.parsed.layout.file_length();
            return Err(FormatError::Truncated { needed, got: self.position }.into());
        }
        self.failed = false;
        Ok(())
    }
}

/// Reads a whole file and checks everything in it, and returns its header: for a file that is used mapped, where nobody
/// has looked at the checksums of the bodies.
///
/// # Errors
/// When reading fails or anything is damaged or missing.
pub fn verify(path: impl AsRef<Path>) -> Result<Header, FileError> {
    let path = path.as_ref();
    let reader = Reader::open(path, u64::MAX)?;
    let header = reader.header().clone();
    reader.finish().map_err(|error| error.at(path, "reading"))?;
    Ok(header)
}

impl<R> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.parsed.layout.file_length();
        write!(f, "Reader({}, {} of {length} bytes)", self.parsed.header.kind, self.position)
    }
}

/// Reads until the buffer is full or the stream ends, and says how many bytes came.
fn fill(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
