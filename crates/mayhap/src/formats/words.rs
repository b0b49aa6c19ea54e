//! Bits as other systems lay them out in bytes: read in place, copied in, and written out.
//!
//! ```text
//! little-endian    bit p is bit p mod 8 of byte p div 8          LevelDB, RedisBloom, Parquet
//! big-endian       words of 64 bits, the highest byte first      Guava, Spark
//! ```

use alloc::vec::Vec;
use core::fmt;

use crate::bits::{AllocError, BLOCK_BITS, Owned, Words, prefetch_line};
use crate::codec::FormatError;

/// Bytes of another system, asked in place as little-endian words. The last word may be shorter.
#[derive(Clone, Copy)]
pub struct LittleEndian<'a>(&'a [u8]);

/// Bytes of another system, asked in place as big-endian words. A rest that is no whole word is left out.
#[derive(Clone, Copy)]
pub struct BigEndian<'a>(&'a [[u8; 8]]);

impl<'a> LittleEndian<'a> {
    /// Borrows the bytes.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The bytes that were borrowed.
    #[must_use]
    pub const fn bytes(self) -> &'a [u8] {
        self.0
    }
}

impl<'a> BigEndian<'a> {
    /// Borrows the bytes.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.as_chunks().0)
    }
}

impl fmt::Debug for LittleEndian<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LittleEndian({} bytes)", self.0.len())
    }
}

impl fmt::Debug for BigEndian<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BigEndian({} words)", self.0.len())
    }
}

impl Words for LittleEndian<'_> {
    fn word_count(&self) -> u64 {
        self.0.len().div_ceil(8) as u64
    }

    #[inline(always)]
    fn word(&self, index: u64) -> u64 {
        little_endian_word(&self.0[start(index)..])
    }

    #[inline(always)]
    fn prefetch(&self, index: u64) {
        prefetch_line(&self.0[start(index)]);
    }

    #[inline(always)]
    fn bit(&self, position: u64) -> u64 {
        u64::from((self.0[at(position / 8)] >> (position % 8)) & 1)
    }
}

impl Words for BigEndian<'_> {
    fn word_count(&self) -> u64 {
        self.0.len() as u64
    }

    #[inline(always)]
    fn word(&self, index: u64) -> u64 {
        u64::from_be_bytes(self.0[at(index)])
    }

    #[inline(always)]
    fn prefetch(&self, index: u64) {
        prefetch_line(&self.0[at(index)]);
    }
}

/// The first eight of these bytes as a word; missing ones are 0.
#[inline(always)]
fn little_endian_word(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// Copies little-endian bytes into memory of our own: the words that [`LittleEndian`] would lend.
pub(crate) fn from_little_endian(bytes: &[u8]) -> Result<Owned, AllocError> {
    copy(&LittleEndian::new(bytes))
}

/// Copies big-endian bytes into memory of our own: the words that [`BigEndian`] would lend.
pub(crate) fn from_big_endian(bytes: &[u8]) -> Result<Owned, AllocError> {
    copy(&BigEndian::new(bytes))
}

fn copy(words: &impl Words) -> Result<Owned, AllocError> {
    let mut owned = Owned::zeroed((words.word_count() * 64).div_ceil(BLOCK_BITS).max(1))?;
    for (index, word) in (0..words.word_count()).zip(owned.iter_mut().flat_map(|block| &mut block.0)) {
        *word = words.word(index);
    }
    Ok(owned)
}

/// Appends the first `bytes` bytes of the words, little-endian.
pub(crate) fn write_little_endian(
    words: &impl Words,
    bytes: u64,
    out: &mut Vec<u8>,
) -> Result<(), FormatError> {
    reserve(out, bytes)?;
    let end = out.len() + at(bytes);
    for index in 0..bytes.div_ceil(8) {
        out.extend_from_slice(&words.word(index).to_le_bytes());
    }
    out.truncate(end);
    Ok(())
}

/// Appends the first `count` words, big-endian.
pub(crate) fn write_big_endian(words: &impl Words, count: u64, out: &mut Vec<u8>) -> Result<(), FormatError> {
    reserve(out, count.saturating_mul(8))?;
    for index in 0..count {
        out.extend_from_slice(&words.word(index).to_be_bytes());
    }
    Ok(())
}

/// Makes room for so many bytes more, and a word.
pub(crate) fn reserve(out: &mut Vec<u8>, bytes: u64) -> Result<(), FormatError> {
    usize::try_from(bytes)
        .ok()
        .and_then(|more| out.try_reserve(more.checked_add(8)?).ok())
        .ok_or(FormatError::OutOfMemory { bytes })
}

#[inline(always)]
fn start(index: u64) -> usize {
    at(index) * 8
}

#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "an index into memory we hold fits the machine's word")]
const fn at(index: u64) -> usize {
    index as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn little_endian_bytes_of_any_length_come_back() {
        for length in 0..40u8 {
            let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(37)).collect();
            let owned = from_little_endian(&bytes).unwrap();
            let view = LittleEndian::new(&bytes);
            for index in 0..view.word_count() {
                assert_eq!(view.word(index), owned.word(index));
                view.prefetch(index);
                assert!((64 * index..).take(64).all(|p| {
                    p / 8 >= u64::from(length) || view.bit(p) == view.word(index) >> (p % 64) & 1
                }));
            }
            let mut out = vec![9];
            write_little_endian(&owned, u64::from(length), &mut out).unwrap();
            assert_eq!(out[1..], bytes);
            let mut out = Vec::new();
            write_little_endian(&view, u64::from(length), &mut out).unwrap();
            assert_eq!(out, bytes);
        }
    }

    #[test]
    fn bit_p_is_bit_p_mod_8_of_byte_p_div_8() {
        let mut bytes = [0u8; 11];
        for p in 0..88u64 {
            bytes[(p / 8) as usize] = 1 << (p % 8);
            assert_eq!(LittleEndian::new(&bytes).word(p / 64), 1 << (p % 64));
            bytes[(p / 8) as usize] = 0;
        }
    }

    #[test]
    fn big_endian_words_come_back() {
        let bytes: Vec<u8> = (0..27).collect();
        let owned = from_big_endian(&bytes).unwrap();
        assert_eq!(owned.word(1), 0x0809_0a0b_0c0d_0e0f);
        assert_eq!(BigEndian::new(&bytes).word_count(), 3);
        let mut out = Vec::new();
        write_big_endian(&owned, 3, &mut out).unwrap();
        assert_eq!(out, bytes[..24]);
    }
}
