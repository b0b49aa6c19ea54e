//! A table file (`.ldb`): where its filter block is.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::filter_block::FilterBlock;
use super::policy::BloomPolicy;
use super::sorted_block::SortedBlock;
use super::table_filter::TableFilter;
use super::{crc32c, snappy};
use crate::codec::{FormatError, Part};
use crate::file::ReadOptions;
use crate::formats::input::Input;

/// Two handles of two numbers of up to 10 bytes each, and the magic number.
const FOOTER: usize = 48;
const MAGIC: u64 = 0xdb47_7524_8b80_fb57;

/// After each block: how it is compressed (1 byte), and a checksum (4 bytes).
const BLOCK_TRAILER: u64 = 5;

/// A table file of LevelDB, in memory or mapped.
///
/// ```no_run
/// use mayhap::formats::leveldb::Table;
///
/// let file = std::fs::read("000005.ldb")?;
/// let table = Table::view(&file)?;
/// let filter = table.filter()?;
/// if !filter.key_may_match("apple") {
///     println!("certainly not in this file");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Table<'a> {
    file: &'a [u8],
    metaindex: BlockHandle,
    index: BlockHandle,
    options: ReadOptions,
}

/// Where a block is in its table file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHandle {
    /// Its first byte.
    pub offset: u64,
    /// Its bytes, as they stand there, without the five that follow each block.
    pub size: u64,
}

impl<'a> Table<'a> {
    /// The table that is in these bytes: a whole file. Only its footer is looked at.
    ///
    /// # Errors
    /// When there is no footer of a LevelDB table.
    pub fn view(file: &'a [u8]) -> Result<Self, FormatError> {
        Self::view_with(file, &ReadOptions::new())
    }

    /// [`view`](Self::view) with a limit for blocks that must be decompressed. None of them becomes more than 32 times
    /// longer in any case.
    ///
    /// # Errors
    /// As [`view`](Self::view).
    pub fn view_with(file: &'a [u8], options: &ReadOptions) -> Result<Self, FormatError> {
        let Some(footer) = file.last_chunk::<FOOTER>() else {
            return Err(FormatError::Truncated { needed: FOOTER as u64, got: file.len() as u64 });
        };
        let (handles, magic) = footer.split_at(FOOTER - 8);
        let magic = Input::new(magic).u64_le()?;
        if magic != MAGIC {
            let must_be = "0xdb4775248b80fb57, at the end of every LevelDB table";
            return Err(FormatError::BadField { field: "magic", value: magic, must_be });
        }
        let mut handles = Input::new(handles);
        let metaindex = BlockHandle::read(&mut handles)?;
        let index = BlockHandle::read(&mut handles)?;
        Ok(Self { file, metaindex, index, options: options.clone() })
    }

    /// The filter block of [LevelDB's built-in policy](BloomPolicy::NAME). `None` if the table has none.
    ///
    /// # Errors
    /// When the metaindex or the filter block is damaged, or not compressed by Snappy or not at all.
    pub fn filter_block(&self) -> Result<Option<FilterBlock<'a>>, FormatError> {
        self.filter_block_of(BloomPolicy::NAME)
    }

    /// The filter block of a policy with another name, whose filters have the same bytes. goleveldb calls its policy
    /// `leveldb.BuiltinBloomFilter`, for one.
    ///
    /// # Errors
    /// As [`filter_block`](Self::filter_block).
    pub fn filter_block_of(&self, policy: &str) -> Result<Option<FilterBlock<'a>>, FormatError> {
        let metaindex = self.block(self.metaindex)?;
        let mut entries = metaindex.entries();
        while let Some((key, value)) = entries.next_entry()? {
            if key.strip_prefix(b"filter.") == Some(policy.as_bytes()) {
                let handle = BlockHandle::read(&mut Input::new(value))?;
                return Ok(Some(FilterBlock::new(self.contents(handle)?)));
            }
        }
        Ok(None)
    }

    /// Its index and filter block, read once, to be asked for keys.
    ///
    /// # Errors
    /// As [`filter_block`](Self::filter_block), and when the index is damaged.
    pub fn filter(&self) -> Result<TableFilter<'a>, FormatError> {
        Ok(TableFilter::new(self.block(self.index)?, self.filter_block()?))
    }

    /// Where the data blocks are, in order.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn data_blocks(&self) -> Result<Vec<BlockHandle>, FormatError> {
        let index = self.block(self.index)?;
        let mut entries = index.entries();
        let mut handles = Vec::new();
        while let Some((_, value)) = entries.next_entry()? {
            handles.push(BlockHandle::read(&mut Input::new(value))?);
        }
        Ok(handles)
    }

    /// A block of sorted entries. In the data blocks of a database a key is the user's key and 8 bytes more: sequence
    /// number and type.
    ///
    /// # Errors
    /// When it isn't in the file, its checksum is wrong, or it is compressed by something else than Snappy.
    pub fn block(&self, handle: BlockHandle) -> Result<SortedBlock<'a>, FormatError> {
        SortedBlock::new(self.contents(handle)?)
    }

    /// What a block holds, not compressed: borrowed where it stands so in the file.
    fn contents(&self, handle: BlockHandle) -> Result<Cow<'a, [u8]>, FormatError> {
        let mut input = Input::new(self.file);
        input.take(handle.offset)?;
        let whole = input.take(handle.size.saturating_add(BLOCK_TRAILER))?;
        let damaged = FormatError::BadChecksum { what: Part::Block { offset: handle.offset } };
        let Some((summed, checksum)) = whole.split_last_chunk() else { return Err(damaged) };
        if crc32c::masked(summed) != u32::from_le_bytes(*checksum) {
            return Err(damaged);
        }
        match summed.split_last() {
            Some((0, contents)) => Ok(Cow::Borrowed(contents)),
            Some((1, contents)) => Ok(Cow::Owned(snappy::decompress(contents, &self.options)?)),
            Some((kind, _)) => {
                Err(FormatError::Unknown { what: "the LevelDB compression", number: u64::from(*kind) })
            }
            None => Err(damaged),
        }
    }
}

impl core::fmt::Debug for Table<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Table")
            .field("bytes", &self.file.len())
            .field("metaindex", &self.metaindex)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}

impl BlockHandle {
    pub(super) fn read(input: &mut Input<'_>) -> Result<Self, FormatError> {
        Ok(Self { offset: input.varint()?, size: input.varint()? })
    }
}
