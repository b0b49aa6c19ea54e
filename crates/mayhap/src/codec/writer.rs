//! Writing: header, bodies in order, checksums.

use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::io;

use super::checksum::{self, BodySums, CHUNK};
use super::error::FormatError;
use super::header::Header;
use super::layout::Layout;
#[cfg(feature = "std")]
use super::stream_error::StreamError;

/// Writes one file: the header at once, then the bodies piece by piece as they are handed over, then the
/// checksums.
///
/// The bodies are never held; what the writer keeps is 8 bytes for each MiB written.
///
/// ```
/// use mayhap::codec::{Header, Kind, Section, Writer};
///
/// let mut header = Header::new(Kind::BLOCKED_BLOOM);
/// header.sections = vec![Section::new(1, 6), Section::new(1, 3)];
///
/// let mut writer = Writer::to_vec(&header)?;
/// writer.write_body(b"fir")?;
/// writer.write_body(b"st.")?;
/// writer.write_body(b"2nd")?;
/// let bytes: Vec<u8> = writer.finish()?;
/// assert_eq!(bytes.len() as u64, header.layout()?.file_length());
/// # Ok::<(), mayhap::codec::FormatError>(())
/// ```
pub struct Writer<S> {
    sink: S,
    layout: Layout,
    header_checksum: u64,
    /// Bytes written.
    position: u64,
    /// The section being written, and how much of it is.
    section: usize,
    written: u64,
    sums: BodySums,
    /// After an error the position in the sink is unknown, so nothing more is written.
    failed: bool,
}

impl Writer<Vec<u8>> {
    /// Writes into memory, which is allocated here for the whole file.
    ///
    /// Fails when the header can't be written (see [`Header::to_bytes`]) or the memory can't be had.
    pub fn to_vec(header: &Header) -> Result<Self, FormatError> {
        let bytes = header.layout()?.file_length();
        let mut sink = Vec::new();
        usize::try_from(bytes)
            .ok()
            .and_then(|bytes| sink.try_reserve_exact(bytes).ok())
            .ok_or(FormatError::OutOfMemory { bytes })?;
        Self::new(sink, header)
    }
}

#[cfg(feature = "std")]
impl<W: io::Write> Writer<Stream<W>> {
    /// Writes into a stream. Small pieces are written as they are, so a file wants a [`io::BufWriter`] around
    /// it.
    ///
    /// Fails when the header can't be written (see [`Header::to_bytes`]) or the stream fails.
    pub fn to_stream(stream: W, header: &Header) -> Result<Self, StreamError> {
        Self::new(Stream(stream), header)
    }
}

impl<S: Sink> Writer<S> {
    fn new(sink: S, header: &Header) -> Result<Self, S::Error> {
        let layout = header.layout()?;
        let bytes = header.to_bytes()?;
        let header_checksum =
            checksum::of_header(bytes.split_last_chunk::<8>().map_or(&[], |(summed, _)| summed));
        let mut writer = Self {
            sink,
            layout,
            header_checksum,
            position: 0,
            section: 0,
            written: 0,
            sums: BodySums::new(),
            failed: false,
        };
        writer.put(&bytes)?;
        Ok(writer)
    }

    /// Writes the next bytes of the bodies.
    ///
    /// A body may come in any number of pieces. When a section is full the next piece starts the next
    /// section; a piece that would run over the end of a section is an error, as is a failing sink. After an
    /// error the writer only gives errors.
    pub fn write_body(&mut self, piece: &[u8]) -> Result<(), S::Error> {
        if piece.is_empty() {
            return Ok(());
        }
        self.leave_full_sections();
        let place = self.layout.section(self.section).unwrap_or(0..0);
        let length = place.end - place.start;
        let got = self.written.saturating_add(piece.len() as u64);
        if got > length {
            self.failed = true;
            return Err(FormatError::WrongBody { section: self.section, expected: length, got }.into());
        }
        if self.written == 0 {
            self.pad_to(place.start)?;
        }
        // A MiB at a time, so that what was just summed is still in cache when it is copied.
        for chunk in piece.chunks(usize::try_from(CHUNK).unwrap_or(usize::MAX)) {
            self.sums.update(chunk);
            self.put(chunk)?;
        }
        self.written = got;
        Ok(())
    }

    /// Writes the checksums and gives back what was written into.
    ///
    /// Fails when a body is not complete, or when this or an earlier write failed.
    pub fn finish(mut self) -> Result<S::Output, S::Error> {
        self.leave_full_sections();
        if let Some(place) = self.layout.section(self.section) {
            let expected = place.end - place.start;
            return Err(FormatError::WrongBody { section: self.section, expected, got: self.written }.into());
        }
        self.pad_to(self.layout.checksums_offset())?;
        let table = self.sums.table(self.header_checksum);
        self.put(&table)?;
        debug_assert_eq!(self.position, self.layout.file_length(), "the layout and the writer disagree");
        self.sink.done()
    }

    /// Steps over sections that have all their bytes, and over empty ones.
    fn leave_full_sections(&mut self) {
        while self.layout.section(self.section).is_some_and(|place| place.end - place.start == self.written) {
            self.sums.end_section();
            self.section += 1;
            self.written = 0;
        }
    }

    fn pad_to(&mut self, offset: u64) -> Result<(), S::Error> {
        const ZEROS: [u8; 4096] = [0; 4096];
        while self.position < offset {
            let gap = usize::try_from(offset - self.position).unwrap_or(usize::MAX);
            self.put(&ZEROS[..gap.min(ZEROS.len())])?;
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), S::Error> {
        if self.failed {
            return Err(FormatError::AfterFailure.into());
        }
        // Stays set unless the sink takes all of it, also when the sink panics.
        self.failed = true;
        self.sink.put(bytes)?;
        self.failed = false;
        self.position += bytes.len() as u64;
        Ok(())
    }
}

impl<S> core::fmt::Debug for Writer<S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Writer({} of {} bytes)", self.position, self.layout.file_length())
    }
}

/// Where a [`Writer`] writes: memory, or with `std` a stream. It lets code that writes a filter's bodies
/// serve both.
pub trait Sink: sealed::Sealed {
    /// What can go wrong.
    type Error: From<FormatError>;
    /// What is left when all is written.
    type Output;

    /// Takes all of the bytes, or fails.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;
    /// All is written.
    fn done(self) -> Result<Self::Output, Self::Error>;
}

mod sealed {
    /// Keeps [`Sink`](super::Sink) free to change.
    pub trait Sealed {}

    impl Sealed for alloc::vec::Vec<u8> {}
    #[cfg(feature = "std")]
    impl<W> Sealed for super::Stream<W> {}
}

impl Sink for Vec<u8> {
    type Error = FormatError;
    type Output = Self;

    fn put(&mut self, bytes: &[u8]) -> Result<(), FormatError> {
        self.try_reserve(bytes.len()).map_err(|_| FormatError::OutOfMemory { bytes: bytes.len() as u64 })?;
        self.extend_from_slice(bytes);
        Ok(())
    }

    fn done(self) -> Result<Self, FormatError> {
        Ok(self)
    }
}

/// A stream as a [`Sink`].
#[cfg(feature = "std")]
#[derive(Debug)]
pub struct Stream<W>(W);

#[cfg(feature = "std")]
impl<W: io::Write> Sink for Stream<W> {
    type Error = StreamError;
    type Output = W;

    fn put(&mut self, bytes: &[u8]) -> Result<(), StreamError> {
        Ok(self.0.write_all(bytes)?)
    }

    fn done(mut self) -> Result<W, StreamError> {
        self.0.flush()?;
        Ok(self.0)
    }
}
