//! `CF.SCANDUMP` and `CF.LOADCHUNK`.

use alloc::borrow::Cow;

use super::shape::MAX_TABLES;
use super::{CuckooLimits, RedisCuckoo, Shape, Table};
use crate::bits::AllocError;
use crate::codec::FormatError;
use crate::formats::input::Input;
use crate::formats::redisbloom::{CHUNK_BYTES, Chunk};

/// The length of a header.
const HEADER_BYTES: usize = 38;
/// Set in the number of sub-filters by development versions of RedisBloom that hash with a seed, which follows the
/// header.
const HAS_SEED: u64 = 1 << 63;

impl RedisCuckoo {
    /// One step of `CF.SCANDUMP`: begin with iterator 0, go on with the one in the answer, until there is none.
    ///
    /// An empty filter has nothing to tell; [`chunks`](Self::chunks) gives its header, too. From 1 on, an iterator
    /// inside a sub-filter of at most 16 MiB gives all of it, from its beginning, as RedisBloom does.
    #[must_use]
    pub fn scan_dump(&self, iterator: u64) -> Option<Chunk<'_>> {
        match iterator {
            0 if self.is_empty() => None,
            0 => Some(Chunk { iterator: 1, bytes: Cow::Owned(self.header().to_vec()) }),
            _ => self.piece(iterator, CHUNK_BYTES),
        }
    }

    /// All pieces in order, the header first: what `CF.LOADCHUNK` must be called with to make a copy. Redis writes them
    /// so when it rewrites its append-only file, also for an empty filter.
    pub fn chunks(&self) -> impl Iterator<Item = Chunk<'_>> {
        let header = Chunk { iterator: 1, bytes: Cow::Owned(self.header().to_vec()) };
        core::iter::successors(Some(header), |chunk| self.piece(chunk.iterator, CHUNK_BYTES))
    }

    /// The filter of a header, without its entries yet: `CF.LOADCHUNK` with iterator 1.
    ///
    /// Until all pieces are [loaded](Self::load_chunk) keys that were added will seem absent. The limits hold for the
    /// memory that the header asks for, and for the filter's growth afterwards; give
    /// [`max_bytes`](CuckooLimits::max_bytes) when the header isn't yours, for it can ask for any amount.
    ///
    /// # Errors
    /// When it isn't a header of a filter that can be, is beyond the limits, or the memory can't be had.
    pub fn from_header(header: &[u8], limits: &CuckooLimits) -> Result<Self, FormatError> {
        let header = Header::parse(header, limits)?;
        let mut filter = Self {
            items: header.items,
            deletes: header.deletes,
            ..Self::with_room(header.shape, header.tables, *limits)?
        };
        for number in 0..header.tables {
            filter
                .push(Table::new(header.shape.buckets_of(number).unwrap_or(1), header.shape.bucket_size))?;
        }
        Ok(filter)
    }

    /// Copies a piece into its place: `CF.LOADCHUNK` with the iterator that `SCANDUMP` gave together with it.
    ///
    /// # Errors
    /// When the piece is empty, or doesn't lie within one sub-filter. Nothing has been changed then.
    pub fn load_chunk(&mut self, iterator: u64, bytes: &[u8]) -> Result<(), FormatError> {
        let length = bytes.len() as u64;
        let misplaced = |field, value, must_be| Err(FormatError::BadField { field, value, must_be });
        if bytes.is_empty() {
            return misplaced("chunk length", 0, "at least 1");
        }
        let Some(mut start) = iterator.checked_sub(1).and_then(|end| end.checked_sub(length)) else {
            return misplaced("iterator", iterator, "more than the length of the chunk");
        };
        for table in &mut self.tables {
            let slots = table.slots_mut();
            match usize::try_from(start).ok().and_then(|start| slots.get_mut(start..)) {
                Some(rest) if !rest.is_empty() => {
                    let Some(place) = rest.get_mut(..bytes.len()) else {
                        return misplaced("chunk length", length, "at most what is left of its sub-filter");
                    };
                    place.copy_from_slice(bytes);
                    return Ok(());
                }
                _ => start -= slots.len() as u64,
            }
        }
        misplaced("iterator", iterator, "within the sub-filters")
    }

    /// A filter from all the pieces of a dump, in order, the header first.
    ///
    /// Unlike [`load_chunk`](Self::load_chunk) this notices a piece that is missing, and no more memory is taken than
    /// the pieces have bytes.
    ///
    /// # Errors
    /// As [`from_header`](Self::from_header), and when the pieces are not all of the filter, one after the other.
    pub fn from_chunks(chunks: &[Chunk<'_>], limits: &CuckooLimits) -> Result<Self, FormatError> {
        let Some((first, pieces)) = chunks.split_first() else {
            return Err(FormatError::Truncated { needed: HEADER_BYTES as u64, got: 0 });
        };
        let header = Header::parse(&first.bytes, limits)?;
        let needed = header.shape.slots(header.tables).unwrap_or(u64::MAX);
        let mut end = first.iterator;
        for chunk in pieces {
            end = end.saturating_add(chunk.bytes.len() as u64);
            if chunk.iterator != end {
                let must_be = "where the chunk before it ends, and its own length further";
                return Err(FormatError::BadField { field: "iterator", value: chunk.iterator, must_be });
            }
        }
        let got = end.saturating_sub(1);
        if first.iterator != 1 || got != needed {
            return Err(FormatError::Truncated { needed, got });
        }
        let mut filter = Self::from_header(&first.bytes, limits)?;
        pieces.iter().try_for_each(|chunk| filter.load_chunk(chunk.iterator, &chunk.bytes))?;
        Ok(filter)
    }

    /// An empty list with room for so many sub-filters.
    pub(super) fn with_room(shape: Shape, tables: u64, limits: CuckooLimits) -> Result<Self, FormatError> {
        let mut filter = Self::empty(shape, limits);
        let bytes = tables.saturating_mul(size_of::<Table>() as u64);
        let room =
            usize::try_from(tables).ok().and_then(|tables| filter.tables.try_reserve_exact(tables).ok());
        room.ok_or(FormatError::OutOfMemory { bytes })?;
        Ok(filter)
    }

    /// Adds a sub-filter, for which there is room in the list.
    pub(super) fn push(&mut self, table: Result<Table, AllocError>) -> Result<&mut [u8], FormatError> {
        self.tables.push(table.map_err(|error| FormatError::OutOfMemory { bytes: error.bytes })?);
        Ok(self.tables.last_mut().map(Table::slots_mut).unwrap_or_default())
    }

    /// A piece of at most `most` bytes, unless a whole sub-filter has no more.
    pub(super) fn piece(&self, iterator: u64, most: u64) -> Option<Chunk<'_>> {
        let mut offset = iterator.checked_sub(1)?;
        for table in &self.tables {
            let slots = table.slots();
            let length = slots.len() as u64;
            if offset >= length {
                offset -= length;
                continue;
            }
            let bytes = if length <= most {
                slots
            } else {
                let rest = slots.get(usize::try_from(offset).ok()?..)?;
                rest.get(..usize::try_from(most).ok()?).unwrap_or(rest)
            };
            let iterator = iterator.checked_add(bytes.len() as u64)?;
            return Some(Chunk { iterator, bytes: Cow::Borrowed(bytes) });
        }
        None
    }

    fn header(&self) -> [u8; HEADER_BYTES] {
        let long = [self.items, self.shape.buckets, self.deletes, self.sub_filters()];
        let short = [u16::from(self.shape.bucket_size), self.shape.max_iterations, self.shape.expansion];
        let bytes = long.into_iter().flat_map(u64::to_le_bytes);
        let mut header = [0; HEADER_BYTES];
        for (place, byte) in header.iter_mut().zip(bytes.chain(short.into_iter().flat_map(u16::to_le_bytes)))
        {
            *place = byte;
        }
        header
    }
}

/// What a header says, within the limits.
struct Header {
    shape: Shape,
    tables: u64,
    items: u64,
    deletes: u64,
}

impl Header {
    fn parse(bytes: &[u8], limits: &CuckooLimits) -> Result<Self, FormatError> {
        let mut input = Input::new(bytes);
        let (items, buckets, deletes) = (input.u64_le()?, input.u64_le()?, input.u64_le()?);
        let tables = input.u64_le()?;
        let [bucket_size, max_iterations, expansion] =
            [input.u16_le()?, input.u16_le()?, input.u16_le()?].map(u64::from);
        if tables & HAS_SEED != 0 {
            return Err(FormatError::Unknown { what: "flag of a cuckoo header (a seed)", number: tables });
        }
        input.finish()?;
        let shape = Shape::read(buckets, bucket_size, max_iterations, expansion)?;
        check_tables(shape, tables, u64::from(limits.max_expansions))?;
        check_items(shape, tables, items)?;
        let memory = shape.memory(tables).and_then(|bytes| bytes.checked_add(RedisCuckoo::overhead()));
        match memory {
            Some(bytes) if bytes <= limits.max_bytes => Ok(Self { shape, tables, items, deletes }),
            _ => Err(FormatError::TooLarge { bytes: memory.unwrap_or(u64::MAX), limit: limits.max_bytes }),
        }
    }
}

/// Refuses a number of sub-filters that the filter can't have. RedisBloom cuts it to 16 bits instead.
pub(super) fn check_tables(shape: Shape, tables: u64, most: u64) -> Result<(), FormatError> {
    let bad = |must_be| Err(FormatError::BadField { field: "numFilters", value: tables, must_be });
    if tables == 0 {
        bad("at least 1")
    } else if tables > most.min(MAX_TABLES) {
        bad("at most the limit of expansions, and less than 65536")
    } else if shape.expansion == 0 && tables > 1 {
        bad("1 in a filter with expansion 0")
    } else if shape.slots(tables).is_none() {
        bad("so many that their sizes can be counted: at most 2^56 buckets each")
    } else {
        Ok(())
    }
}

/// Refuses more keys than there are slots: a counter that could overflow.
pub(super) fn check_items(shape: Shape, tables: u64, items: u64) -> Result<(), FormatError> {
    if shape.slots(tables).is_none_or(|slots| items > slots) {
        let must_be = "at most the number of slots";
        return Err(FormatError::BadField { field: "numItems", value: items, must_be });
    }
    Ok(())
}
