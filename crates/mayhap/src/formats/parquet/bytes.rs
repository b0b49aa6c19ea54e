//! Filters as bytes: header and blocks, or the blocks alone.

use alloc::vec::Vec;

use super::blocks::{BLOCK_BYTES, SplitBlocks};
use super::filter::SplitBlockBloom;
use super::header;
use crate::bits::Words;
use crate::codec::FormatError;
use crate::file::ReadOptions;
use crate::formats::LittleEndian;
use crate::formats::input::Input;
use crate::formats::words::{from_little_endian, write_little_endian};

impl SplitBlockBloom {
    /// Reads a header and the blocks that it announces, and nothing after them.
    ///
    /// # Errors
    /// When the header isn't one, names another algorithm, hash or compression, or bytes are missing or follow, or the
    /// memory can't be had.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        Self::from_bytes_with(bytes, &ReadOptions::new())
    }

    /// [`from_bytes`](Self::from_bytes) with a limit, which is checked before anything is allocated.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and when the filter is longer than the limit.
    pub fn from_bytes_with(bytes: &[u8], options: &ReadOptions) -> Result<Self, FormatError> {
        let (view, rest) = SplitBlockBloom::view_prefix_with(bytes, options)?;
        refuse_rest(bytes, rest)?;
        view.copied()
    }

    /// Reads a filter from the front, and returns what follows it.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), but bytes may follow.
    pub fn from_prefix(bytes: &[u8]) -> Result<(Self, &[u8]), FormatError> {
        let (view, rest) = SplitBlockBloom::view_prefix_with(bytes, &ReadOptions::new())?;
        Ok((view.copied()?, rest))
    }

    /// Copies blocks that stand without a header.
    ///
    /// # Errors
    /// When there isn't a whole number of blocks, or none, or the memory can't be had.
    pub fn from_bitset(bitset: &[u8]) -> Result<Self, FormatError> {
        SplitBlockBloom::view_bitset(bitset)?.copied()
    }
}

impl<'a> SplitBlockBloom<LittleEndian<'a>> {
    /// Asks a filter where it lies, behind its header, without copying its bits.
    ///
    /// # Errors
    /// As [`from_bytes`](SplitBlockBloom::from_bytes).
    pub fn view(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let (view, rest) = Self::view_prefix(bytes)?;
        refuse_rest(bytes, rest)?;
        Ok(view)
    }

    /// [`view`](Self::view) of a filter at the front, and what follows it.
    ///
    /// # Errors
    /// As [`from_bytes`](SplitBlockBloom::from_bytes), but bytes may follow.
    pub fn view_prefix(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), FormatError> {
        Self::view_prefix_with(bytes, &ReadOptions::new())
    }

    fn view_prefix_with(bytes: &'a [u8], options: &ReadOptions) -> Result<(Self, &'a [u8]), FormatError> {
        let (length, header) = header::read(bytes)?;
        options.check_length(header + length)?;
        let mut input = Input::new(bytes);
        input.take(header)?;
        let bitset = input.take(length)?;
        Ok((Self::view_bitset(bitset)?, input.rest()))
    }

    /// Asks blocks that stand without a header.
    ///
    /// # Errors
    /// When there isn't a whole number of blocks, or none.
    pub fn view_bitset(bitset: &'a [u8]) -> Result<Self, FormatError> {
        let blocks = header::check_length(bitset.len() as u64)? / BLOCK_BYTES;
        Ok(Self { storage: LittleEndian::new(bitset), blocks })
    }

    /// A copy in memory of its own, which can be added to.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn copied(&self) -> Result<SplitBlockBloom, FormatError> {
        let bitset = self.storage.bytes();
        let bytes = bitset.len() as u64;
        let storage = from_little_endian(bitset).map_err(|_| FormatError::OutOfMemory { bytes })?;
        Ok(SplitBlockBloom { storage, blocks: self.blocks })
    }
}

impl<S: SplitBlocks + Words> SplitBlockBloom<S> {
    /// Header and blocks, as they stand in a file. The header is written in its usual form.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FormatError> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes)?;
        Ok(bytes)
    }

    /// Appends header and blocks to `out`.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn write_to(&self, out: &mut Vec<u8>) -> Result<(), FormatError> {
        header::write(self.len_bytes(), out)?;
        write_little_endian(&self.storage, self.len_bytes(), out)
    }

    /// The blocks without a header.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn to_bitset(&self) -> Result<Vec<u8>, FormatError> {
        let mut bytes = Vec::new();
        write_little_endian(&self.storage, self.len_bytes(), &mut bytes)?;
        Ok(bytes)
    }
}

fn refuse_rest(bytes: &[u8], rest: &[u8]) -> Result<(), FormatError> {
    if rest.is_empty() {
        return Ok(());
    }
    Err(FormatError::TrailingBytes { file_length: (bytes.len() - rest.len()) as u64 })
}
