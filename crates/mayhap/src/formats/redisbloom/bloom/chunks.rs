//! `BF.SCANDUMP` and `BF.LOADCHUNK`: a filter in pieces.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::RedisBloom;
use crate::bits::{BLOCK_WORDS, Block, Words};
use crate::codec::FormatError;
use crate::file::ReadOptions;
use crate::formats::redisbloom::{CHUNK_BYTES, Chunk};
use crate::formats::words::{reserve, write_little_endian};

impl<S: Words> RedisBloom<S> {
    /// One step of `BF.SCANDUMP`: begin with iterator 0, go on with the one in the answer, until there is none. (Then
    /// Redis answers with the iterator 0 and an empty string.)
    ///
    /// ```
    /// use mayhap::formats::redisbloom::{RedisBloom, RedisBloomLoader};
    ///
    /// let mut filter = RedisBloom::reserve(0.01, 1_000, 2, true)?;
    /// for number in 0..5_000u32 {
    ///     filter.add(&number)?;
    /// }
    /// let header = filter.scan_dump(0)?.expect("it comes first");
    /// let mut loader = RedisBloomLoader::new(&header.bytes)?;
    /// let mut iterator = header.iterator;
    /// while let Some(chunk) = filter.scan_dump(iterator)? {
    ///     iterator = chunk.iterator;
    ///     loader.load(iterator, &chunk.bytes)?;
    /// }
    /// assert!(loader.finish()? == filter);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the memory for the piece can't be had.
    pub fn scan_dump(&self, iterator: u64) -> Result<Option<Chunk<'static>>, FormatError> {
        self.piece(iterator, CHUNK_BYTES)
    }

    /// All pieces of a dump, the header first: what `BF.LOADCHUNK` must be called with to make a copy. Redis writes them
    /// so when it rewrites its append-only file.
    pub fn chunks(&self) -> impl Iterator<Item = Result<Chunk<'static>, FormatError>> {
        let mut iterator = Some(0);
        core::iter::from_fn(move || {
            let chunk = self.scan_dump(iterator?).transpose();
            iterator = chunk.as_ref().and_then(|chunk| chunk.as_ref().ok()).map(|chunk| chunk.iterator);
            chunk
        })
    }

    /// The piece of at most `most` bytes that an iterator asks for.
    pub(super) fn piece(&self, iterator: u64, most: u64) -> Result<Option<Chunk<'static>>, FormatError> {
        if iterator == 0 {
            return Ok(Some(Chunk { iterator: 1, bytes: Cow::Owned(self.header()?) }));
        }
        let Some((index, offset)) = self.place(iterator) else { return Ok(None) };
        let link = &self.links[index];
        let length = (link.figures.bytes - offset).min(most);
        let mut bytes = Vec::new();
        write_from(link.filter.words(), offset, length, &mut bytes)?;
        Ok(Some(Chunk { iterator: iterator + length, bytes: Cow::Owned(bytes) }))
    }

    /// The link that the byte of an iterator is in, and where.
    fn place(&self, iterator: u64) -> Option<(usize, u64)> {
        let mut offset = iterator.checked_sub(1)?;
        for (index, link) in self.links().enumerate() {
            if offset < link.bytes {
                return Some((index, offset));
            }
            offset -= link.bytes;
        }
        None
    }
}

impl RedisBloom {
    /// `BF.LOADCHUNK` on a filter that exists: puts a piece in its place, whatever was there. A piece of any length will
    /// do, if it is within one link.
    ///
    /// # Errors
    /// [`BadField`](FormatError::BadField) of `"iterator"` when the iterator is less than the piece is long or less than
    /// 1 ("received bad data"), of `"offset"` when the place is in no link ("no link found");
    /// [`TooLarge`](FormatError::TooLarge) when the piece goes beyond the end of its link ("Too big for current
    /// filter").
    pub fn load_chunk(&mut self, iterator: u64, chunk: &[u8]) -> Result<(), FormatError> {
        self.load(iterator, chunk).map(|_| ())
    }

    /// Says where in all links' bits the piece was put.
    fn load(&mut self, iterator: u64, chunk: &[u8]) -> Result<u64, FormatError> {
        let length = chunk.len() as u64;
        let start = iterator.checked_sub(length).filter(|_| iterator > 0);
        let Some(start) = start else {
            let must_be = "the place of the byte after the chunk, counted from 1";
            return Err(FormatError::BadField { field: "iterator", value: iterator, must_be });
        };
        let Some((index, offset)) = self.place(start) else {
            let must_be = "a place in one of the links";
            return Err(FormatError::BadField { field: "offset", value: start, must_be });
        };
        let link = &mut self.links[index];
        let limit = link.figures.bytes - offset;
        if length > limit {
            return Err(FormatError::TooLarge { bytes: length, limit });
        }
        overwrite(link.filter.words_mut(), offset, chunk);
        Ok(start - 1)
    }
}

/// Builds a filter from the pieces of a dump, in any order, and knows what is missing.
///
/// RedisBloom's own `BF.LOADCHUNK` doesn't: a filter of which a piece was lost answers "no" for items that it has.
#[derive(Clone, Debug)]
pub struct RedisBloomLoader {
    filter: RedisBloom,
    /// Where each stretch of loaded bytes starts and ends. No two touch.
    loaded: BTreeMap<u64, u64>,
}

impl RedisBloomLoader {
    /// The most bytes that [`new`](Self::new) takes a header's word for: 1 GiB.
    pub const DEFAULT_MAX_BYTES: u64 = 1 << 30;

    /// Starts with the header: the piece that came with the iterator 1.
    ///
    /// # Errors
    /// When the header is wrong, or asks for more than [`DEFAULT_MAX_BYTES`](Self::DEFAULT_MAX_BYTES).
    pub fn new(header: &[u8]) -> Result<Self, FormatError> {
        Self::with_options(header, &ReadOptions::new().max_bytes(Self::DEFAULT_MAX_BYTES))
    }

    /// The same with a limit of your own.
    ///
    /// # Errors
    /// When the header is wrong, or asks for more than the limit.
    pub fn with_options(header: &[u8], options: &ReadOptions) -> Result<Self, FormatError> {
        Ok(Self { filter: RedisBloom::from_header(header, options)?, loaded: BTreeMap::new() })
    }

    /// Puts a piece in its place: see [`RedisBloom::load_chunk`].
    ///
    /// # Errors
    /// As [`RedisBloom::load_chunk`].
    pub fn load(&mut self, iterator: u64, chunk: &[u8]) -> Result<(), FormatError> {
        let start = self.filter.load(iterator, chunk)?;
        if !chunk.is_empty() {
            self.note(start, start + chunk.len() as u64);
        }
        Ok(())
    }

    /// Bytes that no piece has brought yet.
    #[must_use]
    pub fn missing_bytes(&self) -> u64 {
        let loaded: u64 = self.loaded.iter().map(|(start, end)| end - start).sum();
        self.filter.data_bytes() - loaded
    }

    /// The filter, if every byte of it was loaded.
    ///
    /// # Errors
    /// When something is missing.
    pub fn finish(self) -> Result<RedisBloom, FormatError> {
        match self.missing_bytes() {
            0 => Ok(self.filter),
            missing => {
                let needed = self.filter.data_bytes();
                Err(FormatError::Truncated { needed, got: needed - missing })
            }
        }
    }

    /// The filter as it is, with 0 for every bit that is missing: what RedisBloom would have.
    #[must_use]
    pub fn finish_incomplete(self) -> RedisBloom {
        self.filter
    }

    /// Joins a stretch with those that it touches.
    fn note(&mut self, mut start: u64, mut end: u64) {
        while let Some((&from, &to)) = self.loaded.range(..=end).next_back() {
            if to < start {
                break;
            }
            (start, end) = (start.min(from), end.max(to));
            self.loaded.remove(&from);
        }
        self.loaded.insert(start, end);
    }
}

/// Appends `length` bytes of the words from `offset` on.
fn write_from(words: &impl Words, offset: u64, length: u64, out: &mut Vec<u8>) -> Result<(), FormatError> {
    if offset == 0 {
        return write_little_endian(words, length, out);
    }
    reserve(out, length)?;
    let mut at = offset;
    let end = offset + length;
    while at < end {
        let bytes = words.word(at / 8).to_le_bytes();
        let from = (at % 8) as usize;
        let count = (8 - from).min(usize::try_from(end - at).unwrap_or(8));
        out.extend_from_slice(&bytes[from..from + count]);
        at += count as u64;
    }
    Ok(())
}

/// Replaces the bytes of the blocks from `offset` on, where there is room for all of them.
fn overwrite(blocks: &mut [Block], offset: u64, bytes: &[u8]) {
    let skip = usize::try_from(offset / 8).unwrap_or(usize::MAX);
    let words =
        blocks[skip / BLOCK_WORDS..].iter_mut().flat_map(|block| &mut block.0).skip(skip % BLOCK_WORDS);
    let mut rest = bytes;
    let mut from = (offset % 8) as usize;
    for word in words {
        let (piece, after) = rest.split_at(rest.len().min(8 - from));
        let mut old = word.to_le_bytes();
        old[from..from + piece.len()].copy_from_slice(piece);
        *word = u64::from_le_bytes(old);
        if after.is_empty() {
            return;
        }
        (rest, from) = (after, 0);
    }
}
