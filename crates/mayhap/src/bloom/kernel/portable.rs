//! The kernel in plain words: the definition that every other implementation must agree with.

use core::ops::Range;

use super::{Draw, FIRST_DRAW, OneKey, SECOND_DRAW, Simd, one_shape};
use crate::bits::{AtomicBlock, BLOCK_WORDS, Block, Line};
use crate::bloom::shape::Shape;

#[derive(Clone, Copy)]
pub(super) struct Portable;

// Words are shifted by the position and not masked at it: without AVX2 there is no cheap way to make eight masks, and
// this takes three quarters of the time.
impl Simd for Portable {
    #[inline(always)]
    fn contains<D: Draw, L: Line>(self, line: &L, digest: u64) -> bool {
        let first = digest.wrapping_mul(FIRST_DRAW);
        let mut all = 1;
        let mut look = |word, bit| all &= line.word(word) >> bit;
        // Most absent keys are known by half of their bits. The branch is taken for nearly all of them, and for no
        // member, so it is predicted well.
        draw::<D>(first, 0..D::GROUPS / 2, &mut look);
        if all == 0 {
            return false;
        }
        let mut look = |word, bit| all &= line.word(word) >> bit;
        draw::<D>(first, D::GROUPS / 2..D::GROUPS, &mut look);
        if D::TWICE {
            draw::<D>(digest.wrapping_mul(SECOND_DRAW), 0..D::GROUPS, &mut look);
        }
        all == 1
    }

    #[inline(always)]
    fn insert<D: Draw>(self, block: &mut Block, digest: u64) -> bool {
        let mut all = 1;
        for_each_bit::<D>(digest, |word, bit| {
            let before = block.0[word];
            all &= before >> bit;
            block.0[word] = before | 1 << bit;
        });
        all == 0
    }

    #[inline(always)]
    fn insert_alone<D: Draw>(self, block: &AtomicBlock, digest: u64) -> bool {
        let mut all = 1;
        for_each_bit::<D>(digest, |word, bit| {
            let before = block.word(word);
            all &= before >> bit;
            block.store_word(word, before | 1 << bit);
        });
        all == 0
    }

    #[inline(always)]
    fn mask<D: Draw>(self, digest: u64) -> [u64; BLOCK_WORDS] {
        let mut mask = [0; BLOCK_WORDS];
        for_each_bit::<D>(digest, |word, bit| mask[word] |= 1 << bit);
        mask
    }
}

/// Every bit of a digest, as its word and its place in the word.
///
/// The highest bits of the product choose the place in the first group, the next ones that in the second, and so on.
#[inline(always)]
fn for_each_bit<D: Draw>(digest: u64, mut bit: impl FnMut(usize, u64)) {
    draw::<D>(digest.wrapping_mul(FIRST_DRAW), 0..D::GROUPS, &mut bit);
    if D::TWICE {
        draw::<D>(digest.wrapping_mul(SECOND_DRAW), 0..D::GROUPS, &mut bit);
    }
}

#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "one bit")]
fn draw<D: Draw>(product: u64, groups: Range<usize>, bit: &mut impl FnMut(usize, u64)) {
    for group in groups {
        if D::IN_PAIRS {
            let place = (product >> (57 - 7 * group)) % 128;
            bit(2 * group + (place / 64) as usize, place % 64);
        } else {
            bit(group, (product >> (58 - 6 * group)) % 64);
        }
    }
}

/// Out of line where AVX2 is the common way, so that callers inline one path only.
#[cfg_attr(all(feature = "std", target_arch = "x86_64"), inline(never))]
#[cfg_attr(not(all(feature = "std", target_arch = "x86_64")), inline(always))]
pub(super) fn one<O: OneKey>(shape: Shape, blocks: O::Blocks, digest: u64) -> bool {
    one_shape::<_, O>(Portable, shape, blocks, digest)
}
