//! Spark's MurmurHash3.

use crate::hash::functions::murmur3::{finish_32, mix_32};

/// MurmurHash3 `x86_32` as Spark has it (`Murmur3_x86_32.hashUnsafeBytes`).
///
/// Whole words are hashed as in the original. The original gathers the last one to three bytes into a word that is
/// mixed in part; Spark mixes each of them in full, as a word of its own, extended with its sign. So keys of four, eight,
/// twelve … bytes have the values of [`murmur3_32`](crate::hash::functions::murmur3::murmur3_32), and others don't.
///
/// ```
/// use mayhap::formats::spark::murmur3_32;
/// use mayhap::hash::functions::murmur3;
///
/// assert_eq!(murmur3_32(b"12345678", 42), murmur3::murmur3_32(b"12345678", 42));
/// assert_ne!(murmur3_32(b"123456789", 42), murmur3::murmur3_32(b"123456789", 42));
/// ```
#[inline]
#[must_use]
#[allow(clippy::cast_possible_truncation, reason = "the function takes the length modulo 2^32")]
pub fn murmur3_32(bytes: &[u8], seed: u32) -> u32 {
    let (words, tail) = bytes.as_chunks();
    let hash = words.iter().fold(seed, |hash, word| mix_32(hash, u32::from_le_bytes(*word)));
    let hash =
        tail.iter().fold(hash, |hash, byte| mix_32(hash, i32::from(byte.cast_signed()).cast_unsigned()));
    finish_32(hash ^ bytes.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers of spark-sketch 4.3.0; more of them are among the golden cases.
    #[test]
    fn known_answers() {
        assert_eq!(murmur3_32(&0i64.to_le_bytes(), 0), 0x6385_2afc);
        assert_eq!(murmur3_32(&[], 0), 0);
        assert_eq!(murmur3_32(&[0, 1], 42), 0x5568_8f71);
        assert_eq!(murmur3_32(&[0x80, 0x81, 0x82, 0x83, 0x84, 0x85], 42), 0x220e_6d4c);
    }
}
