//! Lines in a row, read and written from any word, half word or byte on.
//!
//! Where bytes lie in memory as they count, lowest first, that is one load or store, wherever it begins in its line. The
//! same in whole words is for lines that others may be writing meanwhile, and for big-endian machines. Tests compare the
//! two.

#![allow(unsafe_code)]

use core::hint::select_unpredictable;

use super::block::{BLOCK_BYTES, BLOCK_WORDS, Block, Line};

/// The words of all blocks in a row.
#[inline(always)]
pub(crate) fn words(blocks: &[Block]) -> &[u64] {
    // SAFETY: a block is eight words without padding and aligned more strictly (its size is asserted in `block`). The
    // borrow is that of `blocks`.
    unsafe { core::slice::from_raw_parts(blocks.as_ptr().cast(), blocks.len() * BLOCK_WORDS) }
}

/// The words of all blocks in a row, to be written.
#[inline(always)]
pub(crate) fn words_mut(blocks: &mut [Block]) -> &mut [u64] {
    // SAFETY: as in `words`; any words are a valid block, and the borrow is exclusive.
    unsafe { core::slice::from_raw_parts_mut(blocks.as_mut_ptr().cast(), blocks.len() * BLOCK_WORDS) }
}

/// The half words of all blocks in a row, the lower half of a word first.
#[cfg(target_endian = "little")]
#[inline(always)]
pub(super) fn halves(blocks: &[Block]) -> &[u32] {
    // SAFETY: a block is sixteen half words without padding, otherwise as in `words`.
    unsafe { core::slice::from_raw_parts(blocks.as_ptr().cast(), blocks.len() * 2 * BLOCK_WORDS) }
}

/// Writes zeros over the sixteen bits from `from` on, a multiple of sixteen, of one of two words of all blocks in a row: the
/// first if so it is said.
///
/// That the words are there is checked of both, as in [`flip_one_of_two`].
#[inline(always)]
pub(crate) fn clear_quarter(blocks: &mut [Block], words: [usize; 2], is_first: bool, from: u32) {
    let [first, second] = words;
    let word = select_unpredictable(is_first, first, second);
    #[cfg(target_endian = "little")]
    {
        let count = blocks.len() * BLOCK_WORDS;
        assert!(first < count && second < count, "words of the row");
        // SAFETY: a word is four quarters, any of them are a valid word, and the borrow is exclusive. The word is one of the two
        // that were checked, and byte 0, 2, 4 or 6 of it begins a quarter.
        unsafe {
            let word = blocks.as_mut_ptr().cast::<u64>().add(word).cast::<u8>();
            *word.add((from as usize / 8) & 6).cast::<u16>() = 0;
        }
    }
    #[cfg(not(target_endian = "little"))]
    {
        words_mut(blocks)[word] &= !(0xffff << (from & 48));
    }
}

/// Changes the bits of the half word with this number that are ones in `bits`.
#[inline(always)]
pub(crate) fn flip_half(blocks: &mut [Block], index: usize, bits: u32) {
    #[cfg(target_endian = "little")]
    {
        // SAFETY: as in `halves`; any half words are a valid block, and the borrow is exclusive.
        let halves = unsafe {
            core::slice::from_raw_parts_mut(blocks.as_mut_ptr().cast::<u32>(), blocks.len() * 2 * BLOCK_WORDS)
        };
        halves[index] ^= bits;
    }
    #[cfg(not(target_endian = "little"))]
    {
        words_mut(blocks)[index / 2] ^= u64::from(bits) << (index % 2 * 32);
    }
}

/// What [`Line::eight_bytes_of`] is for lines that nobody else writes.
#[inline(always)]
pub(super) fn eight_bytes(blocks: &[Block], byte: usize) -> u64 {
    #[cfg(target_endian = "little")]
    {
        check(blocks, byte);
        // SAFETY: all bytes of a block are initialised, and of these blocks eight follow from `byte` on, as was checked.
        // They need no alignment, and the borrow of `blocks` outlives the read.
        unsafe { blocks.as_ptr().cast::<u8>().add(byte).cast::<u64>().read_unaligned() }
    }
    #[cfg(not(target_endian = "little"))]
    eight_bytes_of_words(blocks, byte)
}

/// Writes eight bytes from number `byte` of all lines in a row on. They lie in one line.
#[inline(always)]
pub(crate) fn set_eight_bytes(blocks: &mut [Block], byte: usize, value: u64) {
    #[cfg(target_endian = "little")]
    {
        check(blocks, byte);
        // SAFETY: as in `eight_bytes`; any bytes are a valid block, and the borrow is exclusive.
        unsafe { blocks.as_mut_ptr().cast::<u8>().add(byte).cast::<u64>().write_unaligned(value) }
    }
    #[cfg(not(target_endian = "little"))]
    set_eight_bytes_of_words(blocks, byte, value);
}

/// Changes the bits that are ones in `bits`, in eight bytes as [`set_eight_bytes`] writes them.
#[inline(always)]
pub(crate) fn flip_eight_bytes(blocks: &mut [Block], byte: usize, bits: u64) {
    set_eight_bytes(blocks, byte, Block::eight_bytes_of(blocks, byte) ^ bits);
}

/// [`flip_eight_bytes`] from one of two numbers on, the first if so it is said.
///
/// That eight bytes follow is checked of both, which costs nothing after both have been read. A check of the one that is
/// chosen would take two instructions, and registers that a delete has no room for.
#[inline(always)]
pub(crate) fn flip_one_of_two(blocks: &mut [Block], [first, second]: [usize; 2], is_first: bool, bits: u64) {
    let byte = select_unpredictable(is_first, first, second);
    #[cfg(target_endian = "little")]
    {
        check(blocks, first);
        check(blocks, second);
        // SAFETY: as in `set_eight_bytes`; the byte is one of the two that were checked.
        unsafe {
            let place = blocks.as_mut_ptr().cast::<u8>().add(byte).cast::<u64>();
            place.write_unaligned(place.read_unaligned() ^ bits);
        }
    }
    #[cfg(not(target_endian = "little"))]
    flip_eight_bytes(blocks, byte, bits);
}

/// Writes the byte with this number of all lines in a row.
#[inline(always)]
pub(crate) fn set_byte(blocks: &mut [Block], byte: usize, value: u8) {
    #[cfg(target_endian = "little")]
    {
        assert!(byte < size_of_val(blocks), "a byte of the row");
        // SAFETY: as in `set_eight_bytes`, for one byte, which was checked to be there.
        unsafe { blocks.as_mut_ptr().cast::<u8>().add(byte).write(value) }
    }
    #[cfg(not(target_endian = "little"))]
    {
        let (line, word, shift) = place(byte);
        let word = &mut blocks[line].0[word];
        *word = *word & !(0xff << shift) | u64::from(value) << shift;
    }
}

/// Panics unless eight bytes follow.
#[cfg(target_endian = "little")]
#[inline(always)]
fn check(blocks: &[Block], byte: usize) {
    // One comparison, with what a loop computes once.
    assert!(byte < size_of_val(blocks).saturating_sub(7), "eight bytes follow");
}

/// [`Line::eight_bytes_of`] in whole words. What lies in one word only has nothing of the next.
#[inline(always)]
pub(super) fn eight_bytes_of_words<L: Line>(lines: &[L], byte: usize) -> u64 {
    let (line, word, shift) = place(byte);
    let line = &lines[line];
    line.word(word) >> shift | (line.word((word + 1) % BLOCK_WORDS) << 1) << (63 - shift)
}

/// [`set_eight_bytes`] in whole words.
#[cfg_attr(target_endian = "little", allow(dead_code, reason = "the definition, and the tests' oracle"))]
#[inline(always)]
fn set_eight_bytes_of_words(blocks: &mut [Block], byte: usize, value: u64) {
    let (line, word, shift) = place(byte);
    let block = &mut blocks[line];
    block.0[word] = block.0[word] & !(u64::MAX << shift) | value << shift;
    let next = &mut block.0[(word + 1) % BLOCK_WORDS];
    *next = *next & !((u64::MAX >> 1) >> (63 - shift)) | (value >> 1) >> (63 - shift);
}

/// The line that has a byte, the word in it, and where in the word.
#[inline(always)]
fn place(byte: usize) -> (usize, usize, usize) {
    (byte / BLOCK_BYTES, byte / 8 % BLOCK_WORDS, byte % 8 * 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_and_words_are_the_same_memory(
            before in any::<[[u64; 8]; 3]>(), line in 0usize..3, byte in 0usize..=56, value: u64,
        ) {
            let before = before.map(Block);
            let bytes: std::vec::Vec<u8> = before[line].0.iter().flat_map(|word| word.to_le_bytes()).collect();
            let (expected, from) = (u64::from_le_bytes(bytes[byte..byte + 8].try_into().unwrap()), 64 * line + byte);
            prop_assert_eq!(Block::eight_bytes_of(&before, from), expected);
            prop_assert_eq!(eight_bytes_of_words(&before, from), expected);

            let (mut quick, mut plain) = (before, before);
            set_eight_bytes(&mut quick, from, value);
            set_eight_bytes_of_words(&mut plain, from, value);
            prop_assert_eq!(quick, plain);
            prop_assert_eq!(Block::eight_bytes_of(&quick, from), value);
            set_eight_bytes(&mut quick, from, expected);
            prop_assert_eq!(quick, before, "nothing else was written");

            let other = (from + 64) % 192;
            for (is_first, bytes) in [(true, [from, other]), (false, [other, from])] {
                for after in [plain, before] {
                    flip_one_of_two(&mut quick, bytes, is_first, value ^ expected);
                    prop_assert_eq!(quick, after);
                }
            }
            set_byte(&mut plain, from, 0);
            prop_assert_eq!(Block::eight_bytes_of(&plain, from), value & !0xff);
            set_byte(&mut plain, from, value as u8);
            prop_assert_eq!(plain, { set_eight_bytes(&mut quick, from, value); quick });

            let index = 16 * line + byte % 16;
            let word = before[line].0[byte % 16 / 2];
            let half = (word >> (byte % 2 * 32)) as u32;
            prop_assert_eq!(Block::half_of(&before, index), half);
            prop_assert_eq!(Block::word_of(&before, index / 2), word);
            let mut after = before;
            flip_half(&mut after, index, value as u32);
            prop_assert_eq!(Block::half_of(&after, index), half ^ value as u32);
            flip_half(&mut after, index, value as u32);
            prop_assert_eq!(after, before);
            words_mut(&mut after)[index / 2] = value;
            prop_assert_eq!(words(&after)[index / 2], value);
        }
    }
}
