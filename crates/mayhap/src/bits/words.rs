//! The same storage seen as one long row of words: what a classic filter reads.

use super::block::{BLOCK_WORDS, Line};
use super::storage::Blocks;

/// Something that lends 64-bit words.
///
/// Every [`Blocks`] does. The formats of other systems, whose bits are not laid out in cache lines, implement it on
/// their own.
pub trait Words {
    /// How many words there are.
    fn word_count(&self) -> u64;
    /// The word at `index`, which is below [`word_count`](Self::word_count).
    fn word(&self, index: u64) -> u64;
    /// Starts loading the word at `index`.
    fn prefetch(&self, index: u64);
}

impl<S: Blocks> Words for S {
    #[inline]
    fn word_count(&self) -> u64 {
        self.block_count() * BLOCK_WORDS as u64
    }

    #[inline(always)]
    fn word(&self, index: u64) -> u64 {
        self.lines()[block_of(index)].word(lane_of(index))
    }

    #[inline(always)]
    fn prefetch(&self, index: u64) {
        super::prefetch_read(&self.lines()[block_of(index)]);
    }
}

/// The block that holds a word.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "an index into memory we hold fits the machine's word")]
pub(super) fn block_of(index: u64) -> usize {
    (index / BLOCK_WORDS as u64) as usize
}

/// The word's place in its block.
#[inline(always)]
pub(super) fn lane_of(index: u64) -> usize {
    (index % BLOCK_WORDS as u64) as usize
}
