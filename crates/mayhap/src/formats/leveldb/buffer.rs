//! A filter's bits where they are being built: in the caller's buffer.

use crate::bits::{Words, WordsMut};
use crate::formats::words::LittleEndian;

/// Bytes of the caller, written as little-endian words. The last word may be shorter.
pub(super) struct LittleEndianMut<'a>(pub(super) &'a mut [u8]);

impl Words for LittleEndianMut<'_> {
    fn word_count(&self) -> u64 {
        LittleEndian::new(self.0).word_count()
    }

    #[inline(always)]
    fn word(&self, index: u64) -> u64 {
        LittleEndian::new(self.0).word(index)
    }

    #[inline(always)]
    fn prefetch(&self, index: u64) {
        LittleEndian::new(self.0).prefetch(index);
    }
}

impl WordsMut for LittleEndianMut<'_> {
    #[inline(always)]
    fn or(&mut self, index: u64, mask: u64) -> u64 {
        let before = self.word(index);
        let after = (before | mask).to_le_bytes();
        let bytes = &mut self.0[start(index)..];
        match bytes.first_chunk_mut() {
            Some(word) => *word = after,
            None => bytes.iter_mut().zip(after).for_each(|(byte, after)| *byte = after),
        }
        before
    }
}

#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "an index into memory we hold fits the machine's word")]
const fn start(index: u64) -> usize {
    index as usize * 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_set_by_words_are_where_bytes_have_them() {
        for length in 1..20usize {
            for position in 0..length as u64 * 8 {
                let mut bytes = [0u8; 20];
                let mut words = LittleEndianMut(&mut bytes[..length]);
                let bit = 1 << (position % 64);
                words.prefetch(position / 64);
                assert_eq!(words.or(position / 64, bit), 0);
                assert_eq!(words.or(position / 64, bit), bit);
                let mut expected = [0u8; 20];
                expected[position as usize / 8] = 1 << (position % 8);
                assert_eq!(bytes, expected);
            }
        }
    }
}
