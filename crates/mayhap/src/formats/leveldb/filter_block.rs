//! The filter block of a table: one filter for each 2 KiB of the file's data.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;

use super::hash::hash_key;
use super::policy::BloomPolicy;
use super::probe;
use super::recipe::Flavour;
use crate::codec::FormatError;
use crate::formats::words::reserve;
use crate::hash::Key;

/// A filter stands for 2¹¹ bytes of the file.
const BASE_LG: u8 = 11;

/// Where the filters' starts begin (4 bytes), and the logarithm (1 byte).
const TRAILER: usize = 5;

/// Builds a filter block beside the data blocks of a table.
///
/// It keeps a 32-bit hash of each key until its filter is made, where LevelDB keeps the key.
///
/// ```
/// use mayhap::formats::leveldb::{BloomPolicy, FilterBlock, FilterBlockBuilder};
///
/// let mut builder = FilterBlockBuilder::new(BloomPolicy::new(10));
/// builder.start_block(0)?;
/// builder.add_key("apple");
/// builder.start_block(3_000)?; // the first block took 3000 bytes of the file
/// builder.add_key("pear");
/// let block = builder.finish()?;
///
/// let block = FilterBlock::new(block);
/// assert!(block.key_may_match(0, "apple") && !block.key_may_match(3_000, "apple"));
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FilterBlockBuilder {
    policy: BloomPolicy,
    /// Of the keys that have no filter yet.
    hashes: Vec<u32>,
    block: Vec<u8>,
    starts: Vec<u32>,
}

impl FilterBlockBuilder {
    /// A block without filters.
    #[must_use]
    pub const fn new(policy: BloomPolicy) -> Self {
        Self { policy, hashes: Vec::new(), block: Vec::new(), starts: Vec::new() }
    }

    /// The keys to come are in a data block that begins at this offset of the file. A range of 2 KiB in which no block
    /// begins gets an empty filter.
    ///
    /// Offsets must not fall. One that does counts to the range that was begun, as in LevelDB without its assertions.
    ///
    /// # Errors
    /// When the filter block comes to 4 GiB, beyond which it can't be addressed, or the memory can't be had. The builder
    /// is of no more use then.
    pub fn start_block(&mut self, offset: u64) -> Result<(), FormatError> {
        let range = offset >> BASE_LG;
        let begun = self.starts.len() as u64;
        let starts = 4 * range.saturating_sub(begun);
        let bytes = starts.saturating_add(self.block.len() as u64);
        if bytes > u64::from(u32::MAX) {
            return Err(too_large(bytes));
        }
        while range > self.starts.len() as u64 {
            self.end_filter()?;
        }
        Ok(())
    }

    /// Adds a key of the present data block. In a database that is the user's key, without sequence number and type.
    pub fn add_key<K: Key + ?Sized>(&mut self, key: &K) {
        self.add_hash(hash_key(key));
    }

    /// [`add_key`](Self::add_key) for a key that was hashed already by [`hash_key`].
    pub fn add_hash(&mut self, hash: u32) {
        self.hashes.push(hash);
    }

    /// The finished block.
    ///
    /// # Errors
    /// As [`start_block`](Self::start_block).
    pub fn finish(mut self) -> Result<Vec<u8>, FormatError> {
        if !self.hashes.is_empty() {
            self.end_filter()?;
        }
        let filters_end = self.length()?;
        reserve(&mut self.block, 4 * self.starts.len() as u64)?;
        for start in self.starts.iter().chain([&filters_end]) {
            self.block.extend_from_slice(&start.to_le_bytes());
        }
        self.block.push(BASE_LG);
        Ok(self.block)
    }

    fn end_filter(&mut self) -> Result<(), FormatError> {
        let start = self.length()?;
        self.starts.try_reserve(1).map_err(|_| FormatError::OutOfMemory { bytes: u64::from(start) })?;
        self.starts.push(start);
        if !self.hashes.is_empty() {
            self.policy.create_filter_from_hashes(&self.hashes, &mut self.block)?;
            self.hashes.clear();
        }
        Ok(())
    }

    fn length(&self) -> Result<u32, FormatError> {
        let bytes = self.block.len() as u64;
        u32::try_from(bytes).map_err(|_| too_large(bytes))
    }
}

fn too_large(bytes: u64) -> FormatError {
    FormatError::TooLarge { bytes, limit: u64::from(u32::MAX) }
}

/// The filter block of a table, asked in place.
///
/// Any bytes are one, and answer as LevelDB lets them: where something is wrong, the key may be there.
/// [`check`](Self::check) says what is wrong.
#[derive(Clone, PartialEq, Eq)]
pub struct FilterBlock<'a> {
    bytes: Cow<'a, [u8]>,
    /// Where the filters end and their starts begin.
    filters_end: usize,
    filters: usize,
    base_lg: u8,
}

impl<'a> FilterBlock<'a> {
    /// The block of these bytes, borrowed or owned.
    #[must_use]
    pub fn new(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        let bytes = bytes.into();
        let Some((starts_end, base_lg)) = bytes.len().checked_sub(TRAILER).zip(bytes.last().copied()) else {
            return Self { bytes, filters_end: 0, filters: 0, base_lg: 0 };
        };
        let filters_end = usize::try_from(u32_at(&bytes, starts_end)).unwrap_or(usize::MAX);
        let filters = starts_end.checked_sub(filters_end).map_or(0, |bytes| bytes / 4);
        Self { bytes, filters_end, filters, base_lg }
    }

    /// How many filters there are, the empty ones among them.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.filters
    }

    /// Whether there is no filter at all. Every key may be there then.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.filters == 0
    }

    /// How many bytes of the file a filter stands for: 2048 in all that LevelDB writes. `None` if the block's number for
    /// it is impossible.
    #[must_use]
    pub fn range_bytes(&self) -> Option<u64> {
        1u64.checked_shl(u32::from(self.base_lg))
    }

    /// The bytes of a filter, none if no data block begins in its range. `None` beyond the last one, or when its place is
    /// impossible.
    #[must_use]
    pub fn filter(&self, index: usize) -> Option<&[u8]> {
        self.slice(self.place(index)?)
    }

    /// The bytes of the block.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether a key may be in the data block that begins at `block_offset` in the file.
    pub fn key_may_match<K: Key + ?Sized>(&self, block_offset: u64, key: &K) -> bool {
        self.hash_may_match(block_offset, hash_key(key))
    }

    /// [`key_may_match`](Self::key_may_match) for a key that was hashed already by [`hash_key`].
    #[must_use]
    pub fn hash_may_match(&self, block_offset: u64, hash: u32) -> bool {
        let index =
            block_offset.checked_shr(u32::from(self.base_lg)).and_then(|index| usize::try_from(index).ok());
        let Some(place) = index.and_then(|index| self.place(index)) else { return true };
        match self.slice(place) {
            Some(filter) => probe::hash_may_match(Flavour::LevelDb, hash, filter),
            // Impossible, but empty all the same.
            None => place.0 != place.1,
        }
    }

    /// Says what is wrong with the block, if anything is.
    ///
    /// # Errors
    /// When it is too short, or its filters don't lie one after the other up to their starts.
    pub fn check(&self) -> Result<(), FormatError> {
        let Some(starts_end) = self.bytes.len().checked_sub(TRAILER) else {
            return Err(FormatError::Truncated { needed: TRAILER as u64, got: self.bytes.len() as u64 });
        };
        let bad = |field, value: u64, must_be| Err(FormatError::BadField { field, value, must_be });
        if self.filters_end > starts_end || !(starts_end - self.filters_end).is_multiple_of(4) {
            return bad(
                "filter offsets",
                self.filters_end as u64,
                "where whole 4-byte offsets begin in the block",
            );
        }
        if self.range_bytes().is_none() {
            return bad("base lg", u64::from(self.base_lg), "below 64");
        }
        let mut end = 0;
        for index in 0..self.filters {
            let Some((start, limit)) = self.place(index) else { continue };
            if start != end || limit < start || limit > self.filters_end {
                return bad("filter offset", start as u64, "where the filter before it ends");
            }
            end = limit;
        }
        Ok(())
    }

    /// Where a filter starts and ends. The number after the last start is the end of the last filter.
    fn place(&self, index: usize) -> Option<(usize, usize)> {
        (index < self.filters).then(|| {
            let at = self.filters_end + 4 * index;
            (u32_at(&self.bytes, at) as usize, u32_at(&self.bytes, at + 4) as usize)
        })
    }

    fn slice(&self, (start, end): (usize, usize)) -> Option<&[u8]> {
        self.bytes.get(..self.filters_end)?.get(start..end)
    }
}

impl fmt::Debug for FilterBlock<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBlock")
            .field("bytes", &self.bytes.len())
            .field("filters", &self.filters)
            .field("range_bytes", &self.range_bytes())
            .finish_non_exhaustive()
    }
}

/// The number at a place that is in the block.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |number| u32::from_le_bytes(*number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> Vec<u8> {
        let mut builder = FilterBlockBuilder::new(BloomPolicy::new(10));
        for (offset, key) in [(0, "a"), (100, "b"), (2_048, "c"), (9_000, "d")] {
            builder.start_block(offset).unwrap();
            builder.add_key(key);
        }
        builder.finish().unwrap()
    }

    #[test]
    fn ranges_without_a_block_get_an_empty_filter_that_has_no_key() {
        let block = FilterBlock::new(block());
        block.check().unwrap();
        assert_eq!((block.len(), block.range_bytes()), (5, Some(2_048)));
        let lengths: Vec<usize> = (0..5).map(|index| block.filter(index).unwrap().len()).collect();
        assert_eq!(lengths, [9, 9, 0, 0, 9]);
        assert!(
            block.key_may_match(50, "b")
                && block.key_may_match(2_048, "c")
                && block.key_may_match(9_000, "d")
        );
        assert!(!block.key_may_match(4_096, "c") && !block.key_may_match(0, "d"));
        assert!(block.key_may_match(10_240, "anything") && block.key_may_match(u64::MAX, "anything"));
    }

    #[test]
    fn wrong_blocks_match_and_say_what_is_wrong() {
        let sound = block();
        for end in 0..sound.len() {
            let cut = FilterBlock::new(&sound[..end]);
            cut.key_may_match(0, "a");
            assert!(end >= TRAILER || (cut.is_empty() && cut.check().is_err() && cut.key_may_match(0, "x")));
        }
        let offsets = 27..sound.len() - 1;
        for (at, value) in (0..sound.len()).flat_map(|at| [0, 1, 0x7f, 0xff].map(|value| (at, value))) {
            let mut changed = sound.clone();
            changed[at] = value;
            let block = FilterBlock::new(&changed);
            for offset in [0, 2_048, 9_000, 1 << 40] {
                block.key_may_match(offset, "x");
            }
            assert!(value < 0x7f || !offsets.contains(&at) || block.check().is_err(), "{value} at {at}");
        }
        // Shifts that no machine makes.
        let mut changed = sound.clone();
        *changed.last_mut().unwrap() = 64;
        assert!(
            FilterBlock::new(&changed).key_may_match(0, "x") && FilterBlock::new(&changed).check().is_err()
        );
        // Starts that fall, and an empty filter beyond the end.
        let mut changed = sound.clone();
        changed[27..31].copy_from_slice(&[20, 0, 0, 0]);
        assert!(FilterBlock::new(&changed).key_may_match(0, "x"));
        changed[27..35].copy_from_slice(&[200, 0, 0, 0, 200, 0, 0, 0]);
        assert!(!FilterBlock::new(&changed).key_may_match(0, "x"));
    }

    #[test]
    fn offsets_that_fall_or_are_beyond_the_block_are_survived() {
        let mut builder = FilterBlockBuilder::new(BloomPolicy::new(10));
        builder.start_block(5_000).unwrap();
        builder.start_block(10).unwrap();
        builder.add_key("late");
        assert!(matches!(builder.start_block(u64::MAX), Err(FormatError::TooLarge { .. })));
        let block = builder.finish().unwrap();
        assert!(FilterBlock::new(&block).key_may_match(4_096, "late"));
        assert!(!FilterBlock::new(&block).key_may_match(10, "late"));
    }
}
