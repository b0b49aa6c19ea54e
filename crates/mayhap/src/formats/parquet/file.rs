//! Filters out of files and other streams that can seek: the footer is read, and the filters that are asked for.

use std::io::{Read, Seek, SeekFrom};
use std::vec::Vec;

use super::column::ColumnChunk;
use super::filter::SplitBlockBloom;
use super::footer::{ParquetFooter, TAIL, place};
use super::header;
use crate::bits::{BLOCK_BITS, BLOCK_BYTES, Owned};
use crate::codec::{FormatError, StreamError};
use crate::file::ReadOptions;

impl ParquetFooter {
    /// Finds the columns of a file by reading its footer alone. The limit of `options` is for the footer's length.
    ///
    /// # Errors
    /// As [`from_file`](Self::from_file); when the footer is longer than the limit; when reading fails.
    pub fn read(file: &mut (impl Read + Seek), options: &ReadOptions) -> Result<Self, StreamError> {
        let length = file.seek(SeekFrom::End(0))?;
        let start = length.checked_sub(TAIL as u64);
        let start = start.ok_or(FormatError::Truncated { needed: TAIL as u64, got: length })?;
        file.seek(SeekFrom::Start(start))?;
        let mut tail = [0; TAIL];
        file.read_exact(&mut tail)?;
        let place = place(tail, length)?;
        options.check_length(place.end - place.start)?;
        file.seek(SeekFrom::Start(place.start))?;
        let metadata = read_some(file, place.end - place.start)?;
        if (metadata.len() as u64) < place.end - place.start {
            return Err(
                FormatError::Truncated { needed: length, got: place.start + metadata.len() as u64 }.into()
            );
        }
        Ok(Self::from_metadata(&metadata, place.start)?)
    }
}

impl ColumnChunk {
    /// Reads the filter from the file that the footer came from. Nothing if the column has no filter in this row group,
    /// which then may hold anything.
    ///
    /// # Errors
    /// As [`view_filter`](Self::view_filter); when the filter is longer than the limit of `options` or the memory can't
    /// be had; when reading fails.
    pub fn read_filter(
        &self,
        file: &mut (impl Read + Seek),
        options: &ReadOptions,
    ) -> Result<Option<SplitBlockBloom>, StreamError> {
        let Some(range) = self.filter_range()? else { return Ok(None) };
        file.seek(SeekFrom::Start(range.start))?;
        let front = read_some(file, HEADER.min(range.end - range.start))?;
        let (length, header) = header::read(&front)?;
        options.check_length(header + length)?;
        let bits = range.start + header;
        if length > range.end - bits {
            return Err(FormatError::Truncated { needed: bits + length, got: range.end }.into());
        }
        file.seek(SeekFrom::Start(bits))?;
        let mut storage = Owned::zeroed((length * 8).div_ceil(BLOCK_BITS))
            .map_err(|error| FormatError::OutOfMemory { bytes: error.bytes })?;
        fill(&mut storage, file, length)?;
        Ok(Some(SplitBlockBloom { storage, blocks: length / super::blocks::BLOCK_BYTES }))
    }
}

/// A header has at most 19 bytes; later versions of Parquet may add fields.
const HEADER: u64 = 256;

/// Reads up to `length` bytes. Memory grows with what is there, not with what a file claims.
fn read_some(file: &mut impl Read, length: u64) -> Result<Vec<u8>, StreamError> {
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Fills the first `length` bytes of the blocks from a stream.
fn fill(storage: &mut Owned, stream: &mut impl Read, mut length: u64) -> Result<(), StreamError> {
    for piece in storage.chunks_mut(64) {
        let mut bytes = [0; 64 * BLOCK_BYTES];
        let count = usize::try_from(length).map_or(bytes.len(), |length| length.min(bytes.len()));
        stream.read_exact(&mut bytes[..count])?;
        length -= count as u64;
        for (word, bytes) in piece.iter_mut().flat_map(|block| &mut block.0).zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
    }
    Ok(())
}
