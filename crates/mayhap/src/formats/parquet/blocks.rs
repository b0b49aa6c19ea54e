//! Blocks of eight 32-bit words, and where they lie.

use core::ops::Range;

use crate::bits::{Owned, prefetch_line};
use crate::formats::LittleEndian;

/// Bytes of a block.
pub(super) const BLOCK_BYTES: u64 = 32;
/// Bits of a block.
pub(super) const BLOCK_BITS: u64 = 8 * BLOCK_BYTES;

/// One number for each word of a block, which draws a bit of it from a hash.
const SALT: [u32; 8] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

/// A block, in which words 2i and 2i + 1 are the lower and the upper half of number i.
pub(super) type Halves = [u64; 4];

/// Whether the block has the bit of `x` in every word.
///
/// Words are shifted by the place of their bit, and not masked at it: without AVX2 eight masks take longer to make. Most
/// absent keys are known by four words; with AVX2, if the whole program is built for it, all eight are looked at in a few
/// vector instructions, and a branch would only be in the way.
#[inline(always)]
pub(super) fn has_all(block: Halves, x: u32) -> bool {
    let look = |words: Range<usize>| {
        words.fold(1, |all, i| all & block[i / 2] >> (place(x, SALT[i]) + if i % 2 == 0 { 0 } else { 32 }))
    };
    let all = look(0..4);
    if !cfg!(target_feature = "avx2") && all & 1 == 0 {
        return false;
    }
    all & look(4..8) & 1 == 1
}

/// The bits of `x` in a block.
#[inline(always)]
fn mask(x: u32) -> Halves {
    let mut mask = [0; 4];
    for (i, salt) in SALT.into_iter().enumerate() {
        // Odd words are upper halves.
        mask[i / 2] |= (1 << place(x, salt)) << (32 * (i % 2));
    }
    mask
}

#[inline(always)]
const fn place(x: u32, salt: u32) -> u32 {
    x.wrapping_mul(salt) >> 27
}

/// Something that lends blocks of eight 32-bit words: memory of our own, or the bytes of a file.
///
/// Sealed: it isn't for other storages.
pub trait SplitBlocks: private::Sealed {
    /// The block at `index`.
    #[doc(hidden)]
    fn block(&self, index: u64) -> [u64; 4];

    /// Starts loading the block at `index`.
    #[doc(hidden)]
    fn prefetch_block(&self, index: u64);
}

impl SplitBlocks for LittleEndian<'_> {
    #[inline(always)]
    fn block(&self, index: u64) -> Halves {
        let (words, _) = blocks(self)[at(index)].as_chunks();
        core::array::from_fn(|i| u64::from_le_bytes(words[i]))
    }

    #[inline(always)]
    fn prefetch_block(&self, index: u64) {
        prefetch_line(&blocks(self)[at(index)]);
    }
}

#[inline(always)]
fn blocks<'a>(bytes: &LittleEndian<'a>) -> &'a [[u8; 32]] {
    bytes.bytes().as_chunks().0
}

/// Two blocks lie in each cache line.
impl SplitBlocks for Owned {
    #[inline(always)]
    fn block(&self, index: u64) -> Halves {
        let line = &self[at(index / 2)].0;
        let first = 4 * (at(index) % 2);
        [line[first], line[first + 1], line[first + 2], line[first + 3]]
    }

    #[inline(always)]
    fn prefetch_block(&self, index: u64) {
        prefetch_line(&self[at(index / 2)]);
    }
}

/// Sets the bits of `x` in the block at `index`. True if any was unset.
#[inline(always)]
pub(super) fn set_all(lines: &mut Owned, index: u64, x: u32) -> bool {
    let half = 4 * (at(index) % 2);
    let words = &mut lines[at(index / 2)].0[half..half + 4];
    let mut new = 0;
    for (word, bits) in words.iter_mut().zip(mask(x)) {
        new |= bits & !*word;
        *word |= bits;
    }
    new != 0
}

#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "an index into memory we hold fits the machine's word")]
const fn at(index: u64) -> usize {
    index as usize
}

mod private {
    pub trait Sealed {}
    impl Sealed for crate::bits::Owned {}
    impl Sealed for crate::formats::LittleEndian<'_> {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::words::{from_little_endian, write_little_endian};
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn bits_are_set_and_found_in_both_storages(xs in proptest::collection::vec((0u64..5, any::<u32>()), 1..40)) {
            let mut owned = Owned::zeroed(3).unwrap();
            // By the page: one bit in each little-endian word.
            let mut bytes = [0u8; 5 * 32];
            for (index, x) in &xs {
                let mut new = false;
                for (i, salt) in SALT.iter().enumerate() {
                    let bit = x.wrapping_mul(*salt) >> 27;
                    let byte = &mut bytes[*index as usize * 32 + 4 * i + bit as usize / 8];
                    new |= *byte >> (bit % 8) & 1 == 0;
                    *byte |= 1 << (bit % 8);
                }
                prop_assert_eq!(set_all(&mut owned, *index, *x), new);
            }
            let mut written = Vec::new();
            write_little_endian(&owned, 5 * 32, &mut written).unwrap();
            prop_assert_eq!(&written[..], &bytes[..]);
            let copied = from_little_endian(&bytes).unwrap();
            let view = LittleEndian::new(&bytes);
            for index in 0..5 {
                prop_assert_eq!(owned.block(index), view.block(index));
                prop_assert_eq!(copied.block(index), view.block(index));
                for (_, x) in &xs {
                    let words = bytes[index as usize * 32..].as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
                    let expected = words.zip(SALT).all(|(word, salt)| word >> place(*x, salt) & 1 == 1);
                    prop_assert_eq!(has_all(view.block(index), *x), expected);
                }
            }
        }
    }
}
