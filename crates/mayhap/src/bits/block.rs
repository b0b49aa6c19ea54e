//! One cache line of bits.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::row;

/// Words in a block.
pub const BLOCK_WORDS: usize = 8;
/// Bytes in a block: one cache line.
pub const BLOCK_BYTES: usize = 64;
/// Bits in a block.
pub const BLOCK_BITS: u64 = 8 * BLOCK_BYTES as u64;

/// A block that only its owner writes. Word i is lane i; bit j of a word is `1 << j`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Block(pub [u64; BLOCK_WORDS]);

/// A block that others may be writing while we read. All access is by whole words, relaxed.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct AtomicBlock([AtomicU64; BLOCK_WORDS]);

/// What a filter can read: a block, plain or racing with writers.
///
/// Sealed: the AVX2 path relies on what the two implementations say of themselves.
pub trait Line: private::Sealed + Sync {
    /// Whether another thread may write to this block while we read it. Then a wide vector load, which Rust treats as
    /// a plain read, would be undefined behaviour.
    const RACING: bool;

    /// The word at `lane`.
    fn word(&self, lane: usize) -> u64;

    /// All eight words, each read once.
    #[inline]
    fn words(&self) -> [u64; BLOCK_WORDS] {
        core::array::from_fn(|lane| self.word(lane))
    }

    /// Eight bytes from number `byte` of all lines in a row on, as a number whose lowest byte is the first of them. They
    /// lie in one line.
    #[inline(always)]
    fn eight_bytes_of(lines: &[Self], byte: usize) -> u64
    where
        Self: Sized,
    {
        row::eight_bytes_of_words(lines, byte)
    }

    /// The word with this number among those of all lines in a row.
    #[inline(always)]
    fn word_of(lines: &[Self], index: usize) -> u64
    where
        Self: Sized,
    {
        lines[index / BLOCK_WORDS].word(index % BLOCK_WORDS)
    }

    /// The half word with this number among those of all lines in a row; the lower half of a word comes first.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "half of it is meant")]
    fn half_of(lines: &[Self], index: usize) -> u32
    where
        Self: Sized,
    {
        (Self::word_of(lines, index / 2) >> (index % 2 * 32)) as u32
    }
}

impl Line for Block {
    const RACING: bool = false;

    #[inline(always)]
    fn word(&self, lane: usize) -> u64 {
        self.0[lane]
    }

    #[inline(always)]
    fn eight_bytes_of(lines: &[Self], byte: usize) -> u64 {
        row::eight_bytes(lines, byte)
    }

    #[inline(always)]
    fn word_of(lines: &[Self], index: usize) -> u64 {
        row::words(lines)[index]
    }

    #[cfg(target_endian = "little")]
    #[inline(always)]
    fn half_of(lines: &[Self], index: usize) -> u32 {
        row::halves(lines)[index]
    }
}

impl Line for AtomicBlock {
    const RACING: bool = true;

    #[inline(always)]
    fn word(&self, lane: usize) -> u64 {
        self.0[lane].load(Relaxed)
    }
}

impl AtomicBlock {
    /// Writes the word at `lane`, for a caller that is the only one to write to this block.
    #[inline(always)]
    pub(crate) fn store_word(&self, lane: usize, word: u64) {
        self.0[lane].store(word, Relaxed);
    }

    /// Sets the bits of `mask`, and tells whether any was unset.
    ///
    /// First looks which words lack a bit, without a branch, then writes to those. With a branch for each word, adding
    /// from two threads took about twice as long.
    #[inline]
    pub(crate) fn or(&self, mask: &[u64; BLOCK_WORDS]) -> bool {
        let mut lacking = 0u32;
        for (lane, bits) in mask.iter().enumerate() {
            lacking |= u32::from(self.word(lane) & bits != *bits) << lane;
        }
        let any_unset = lacking != 0;
        while lacking != 0 {
            let lane = lacking.trailing_zeros() as usize % BLOCK_WORDS;
            self.0[lane].fetch_or(mask[lane], Relaxed);
            lacking &= lacking - 1;
        }
        any_unset
    }

    /// [`or`](Self::or) for one word. If it has its bits already it isn't written, which is half of all cases in a
    /// filter that is filled to its plan, and spares an instruction that waits for all writes before it.
    #[inline]
    pub(crate) fn or_word(&self, lane: usize, mask: u64) -> bool {
        let unset = self.0[lane].load(Relaxed) & mask != mask;
        if unset {
            self.0[lane].fetch_or(mask, Relaxed);
        }
        unset
    }
}

mod private {
    pub trait Sealed {}
    impl Sealed for super::Block {}
    impl Sealed for super::AtomicBlock {}
}

const _: () = {
    assert!(size_of::<Block>() == BLOCK_BYTES && align_of::<Block>() == BLOCK_BYTES);
    assert!(size_of::<AtomicBlock>() == BLOCK_BYTES && align_of::<AtomicBlock>() == BLOCK_BYTES);
};
