//! Comparing all tags of a bucket at once.
//!
//! The tags are the first bytes of a line. On x86-64 four registers of SSE2, which every such CPU has, hold the line, or two
//! of AVX2 in batches; elsewhere eight words do. All are tested to agree. One key at a time, AVX2 would cost a call that
//! can't be inlined.

#![allow(unsafe_code)]

use crate::bits::Line;
#[cfg(target_arch = "x86_64")]
use crate::bloom::kernel::avx2::load;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Avx2;

/// A way to compare them.
pub(super) trait Compare: Copy {
    /// Bit i is set where byte i of the line is `tag`.
    fn equal(self, line: &impl Line, tag: u8) -> u64;
}

/// The way of every CPU of this kind.
#[derive(Clone, Copy)]
pub(super) struct Baseline;

impl Compare for Baseline {
    #[inline(always)]
    fn equal(self, line: &impl Line, tag: u8) -> u64 {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: SSE2 is part of x86-64.
        unsafe {
            sse2(line, tag)
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        portable(line, tag)
    }
}

#[cfg(target_arch = "x86_64")]
impl Compare for Avx2 {
    #[inline(always)]
    fn equal(self, line: &impl Line, tag: u8) -> u64 {
        // SAFETY: `self` is the proof that the CPU has AVX2.
        unsafe { avx2(line, tag) }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn avx2(line: &impl Line, tag: u8) -> u64 {
    use core::arch::x86_64::{_mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_set1_epi8};
    let tags = _mm256_set1_epi8(tag.cast_signed());
    let [low, high] =
        load(line).map(|half| _mm256_movemask_epi8(_mm256_cmpeq_epi8(half, tags)).cast_unsigned());
    u64::from(low) | u64::from(high) << 32
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
#[allow(clippy::cast_possible_wrap, reason = "registers are signed by name only")]
fn sse2<L: Line>(line: &L, tag: u8) -> u64 {
    use core::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_load_si128, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8,
    };
    let quarters = core::ptr::from_ref(line).cast::<__m128i>();
    let tags = _mm_set1_epi8(tag as i8);
    let mut mask = 0;
    for lane in 0..4 {
        let bytes = if L::RACING {
            // Two words and not one wide load: a mapped line is read by atomic loads.
            _mm_set_epi64x(line.word(2 * lane + 1) as i64, line.word(2 * lane) as i64)
        } else {
            // SAFETY: a line is 64 bytes, aligned to 64: four quarters, of which this is one. Nobody writes to it, as
            // `RACING` says.
            unsafe { _mm_load_si128(quarters.add(lane)) }
        };
        let equal = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, tags)).cast_unsigned();
        mask |= u64::from(equal) << (16 * lane);
    }
    mask
}

/// The same in plain words.
#[cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    allow(dead_code, reason = "the definition, and the tests' oracle")
)]
#[inline(always)]
fn portable(line: &impl Line, tag: u8) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const SEVEN: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let tags = u64::from(tag) * LOW;
    let mut mask = 0;
    for (lane, word) in line.words().into_iter().enumerate() {
        let different = word ^ tags;
        // The high bit of a byte stays zero only if all eight are: adding 0x7f carries into it from any of the seven.
        let equal = !(((different & SEVEN) + SEVEN) | different | SEVEN);
        // The multiplication collects the eight high bits in the top byte.
        mask |= ((equal >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * lane);
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::Block;
    use proptest::prelude::*;

    fn naive(block: &Block, tag: u8) -> u64 {
        let bytes = block.0.iter().flat_map(|word| word.to_le_bytes());
        bytes.enumerate().map(|(index, byte)| u64::from(byte == tag) << index).sum()
    }

    proptest! {
        #[test]
        fn every_way_finds_the_same_tags(words in any::<[u64; 8]>(), few in any::<[u8; 64]>(), tag in any::<u8>()) {
            // Random bytes rarely are the tag; bytes of two values often are, and lie beside near misses.
            let mut block = Block(words);
            for round in 0..2 {
                let expected = naive(&block, tag);
                prop_assert_eq!(Baseline.equal(&block, tag), expected);
                #[cfg(target_arch = "x86_64")]
                if let Some(avx2) = Avx2::detect() {
                    prop_assert_eq!(avx2.equal(&block, tag), expected);
                }
                prop_assert_eq!(portable(&block, tag), expected, "round {}", round);
                for (word, bytes) in block.0.iter_mut().zip(few.chunks(8)) {
                    *word = bytes.iter().fold(0, |word, byte| word << 8 | u64::from(tag ^ (byte & 0x81)));
                }
            }
        }
    }
}
