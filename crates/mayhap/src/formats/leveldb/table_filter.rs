//! One question to a whole table.

use super::filter_block::FilterBlock;
use super::hash::hash_key;
use super::sorted_block::SortedBlock;
use super::table::BlockHandle;
use crate::codec::FormatError;
use crate::formats::input::Input;
use crate::hash::Key;

/// Sequence number and type, after each user's key in a database's tables.
const SEQUENCE_AND_TYPE: usize = 8;

/// Whether a table of a database may have a key: its index says in which block the key would be, its filter block whether
/// it may be there. Data blocks aren't read.
///
/// The index is searched by the order of bytes, LevelDB's default. For tables that are sorted by another comparator use
/// [`FilterBlock`] with block offsets of your own.
#[derive(Clone, Debug)]
pub struct TableFilter<'a> {
    index: SortedBlock<'a>,
    filter: Option<FilterBlock<'a>>,
}

impl<'a> TableFilter<'a> {
    pub(super) const fn new(index: SortedBlock<'a>, filter: Option<FilterBlock<'a>>) -> Self {
        Self { index, filter }
    }

    /// Whether the user's key may be in the table. `false` is certain; where the index can't be read the answer is yes.
    ///
    /// Nothing is allocated, if the index is as LevelDB writes it.
    pub fn key_may_match<K: Key + ?Sized>(&self, key: &K) -> bool {
        match (self.block_of(key), &self.filter) {
            (Ok(Some(block)), Some(filter)) => filter.hash_may_match(block.offset, hash_key(key)),
            (Ok(None), _) => false,
            _ => true,
        }
    }

    /// The data block that has the key's newest version, if the table has any. `None` if the key is beyond the last one.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn block_of<K: Key + ?Sized>(&self, key: &K) -> Result<Option<BlockHandle>, FormatError> {
        let wanted = key.key_bytes();
        let wanted = wanted.as_ref();
        // Versions of one key stand newest first, and an index entry isn't before any key of its block.
        let handle = self.index.first_not(|key| user_key(key).map(|key| key < wanted))?;
        handle.map(|handle| BlockHandle::read(&mut Input::new(handle))).transpose()
    }

    /// The table's filter block, if it has one.
    #[must_use]
    pub const fn filter_block(&self) -> Option<&FilterBlock<'a>> {
        self.filter.as_ref()
    }
}

fn user_key(key: &[u8]) -> Result<&[u8], FormatError> {
    let length = key.len().checked_sub(SEQUENCE_AND_TYPE);
    length.and_then(|length| key.get(..length)).ok_or(FormatError::BadField {
        field: "index key length",
        value: key.len() as u64,
        must_be: "8 or more: a user's key, and its sequence number and type",
    })
}
