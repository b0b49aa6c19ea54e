//! The kernel in plain words: the definition that every other implementation must agree with.

use super::{Draw, FIRST_DRAW, OneKey, SECOND_DRAW, Simd, one_shape};
use crate::bits::{BLOCK_WORDS, Block, Line};
use crate::bloom::shape::Shape;

#[derive(Clone, Copy)]
pub(super) struct Portable;

impl Simd for Portable {
    type Mask = [u64; BLOCK_WORDS];

    #[inline(always)]
    fn mask<D: Draw>(self, digest: u64) -> Self::Mask {
        let mut mask = draw::<D>(digest.wrapping_mul(FIRST_DRAW));
        if D::TWICE {
            let again = draw::<D>(digest.wrapping_mul(SECOND_DRAW));
            for (word, bits) in mask.iter_mut().zip(again) {
                *word |= bits;
            }
        }
        mask
    }

    #[inline(always)]
    fn covers<L: Line>(self, line: &L, mask: Self::Mask) -> bool {
        let mut missing = 0;
        for (lane, bits) in mask.iter().enumerate() {
            missing |= bits & !line.word(lane);
        }
        missing == 0
    }

    #[inline(always)]
    fn set(self, block: &mut Block, mask: Self::Mask) -> bool {
        let mut missing = 0;
        for (word, bits) in block.0.iter_mut().zip(mask) {
            missing |= bits & !*word;
            *word |= bits;
        }
        missing != 0
    }

    #[inline(always)]
    fn words(self, mask: Self::Mask) -> [u64; BLOCK_WORDS] {
        mask
    }
}

/// One bit in each group: the highest bits of `product` for the first group, the next for the second, and so on.
#[inline(always)]
fn draw<D: Draw>(product: u64) -> [u64; BLOCK_WORDS] {
    let mut mask = [0; BLOCK_WORDS];
    if D::IN_PAIRS {
        for pair in 0..4 {
            let bit = (product << (7 * pair)) >> 57;
            // The seventh bit chooses the word. Both are written, so that nothing depends on it but data.
            let (low, high) = (u64::from(bit < 64), u64::from(bit >= 64));
            mask[2 * pair] = low << (bit % 64);
            mask[2 * pair + 1] = high << (bit % 64);
        }
    } else {
        for (lane, word) in mask.iter_mut().enumerate() {
            *word = 1 << ((product << (6 * lane)) >> 58);
        }
    }
    mask
}

/// Out of line where AVX2 is the common way, so that callers inline one path only.
#[cfg_attr(all(feature = "std", target_arch = "x86_64"), inline(never))]
#[cfg_attr(not(all(feature = "std", target_arch = "x86_64")), inline(always))]
pub(super) fn one<O: OneKey>(shape: Shape, blocks: O::Blocks, digest: u64) -> bool {
    one_shape::<_, O>(Portable, shape, blocks, digest)
}
