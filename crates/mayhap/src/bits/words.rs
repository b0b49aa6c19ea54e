//! The same storage seen as one long row of words: what a classic filter reads.

use super::block::{BLOCK_WORDS, Line};
use super::prefetch::prefetch_address;
use super::storage::{Blocks, Owned};

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

    /// 1 if the bit at `position` is set, otherwise 0. Bytes that aren't aligned have a shorter way to it than by a word.
    #[inline(always)]
    fn bit(&self, position: u64) -> u64 {
        (self.word(position / 64) >> (position % 64)) & 1
    }
}

/// Words that their one owner can write.
pub trait WordsMut: Words {
    /// Sets the bits of `mask` in the word at `index`, and returns what the word was.
    fn or(&mut self, index: u64, mask: u64) -> u64;
}

impl<S: Blocks> Words for S {
    #[inline]
    fn word_count(&self) -> u64 {
        self.block_count() * BLOCK_WORDS as u64
    }

    #[inline(always)]
    fn word(&self, index: u64) -> u64 {
        let (block, lane) = place(index);
        self.lines()[block].word(lane)
    }

    #[inline(always)]
    fn prefetch(&self, index: u64) {
        #[allow(clippy::cast_possible_truncation, reason = "an index into memory we hold")]
        prefetch_address(self.lines().as_ptr().cast::<u64>().wrapping_add(index as usize));
    }

    #[inline(always)]
    fn bit(&self, position: u64) -> u64 {
        self.bit_at(position)
    }
}

impl WordsMut for Owned {
    #[inline(always)]
    fn or(&mut self, index: u64, mask: u64) -> u64 {
        let (block, lane) = place(index);
        let word = &mut self[block].0[lane];
        let before = *word;
        *word |= mask;
        before
    }
}

/// The block that holds a word, and the word's lane in it.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "an index into memory we hold fits the machine's word")]
pub(crate) fn place(index: u64) -> (usize, usize) {
    ((index / BLOCK_WORDS as u64) as usize, (index % BLOCK_WORDS as u64) as usize)
}
