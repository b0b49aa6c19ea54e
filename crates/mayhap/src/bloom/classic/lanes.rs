//! The remainders of eight keys side by side, in 256-bit registers.
//!
//! There are no multiplications of 64 bits in a register. But the remainder of a sum follows from the one before: add that of
//! the step, and take away the divisor if it is reached; where the sum has turned over, take away the remainder of the
//! power of two as well. So only start and step of a key are multiplied, and that before they come here.

#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_add_epi64, _mm256_blendv_epi8, _mm256_castps_si256,
    _mm256_castsi256_ps, _mm256_cmpgt_epi64, _mm256_loadu_si256, _mm256_min_epu32, _mm256_set1_epi32,
    _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_shuffle_ps, _mm256_storeu_si256, _mm256_sub_epi32,
    _mm256_unpackhi_epi32, _mm256_unpacklo_epi32, _mm256_xor_si256,
};

use crate::bloom::Modulus;
use crate::bloom::kernel::avx2::Avx2;
use crate::bloom::scheme::Strides;

/// Keys side by side.
pub(super) const LANES: usize = 8;

/// [`Strides`] of which a sum of two remainders fits 32 bits, on a CPU with AVX2.
#[derive(Clone, Copy)]
pub(super) struct Narrow {
    modulus: Modulus,
    /// By how much a number is shifted so that a sum that turns over carries.
    shift: u32,
    divisor: i32,
    /// What a sum that turns over loses: the remainder of the power of two.
    turn: i32,
    /// Who has a `Narrow` may call what needs AVX2.
    _proof: Avx2,
}

/// Eight keys under way. Words of 64 bits are in order; words of 32 bits are in the order in which [`pack`] puts them.
#[derive(Clone, Copy)]
pub(super) struct Walk {
    /// The sums, less 2⁶³: registers compare signed numbers only.
    at: [__m256i; 2],
    step: [__m256i; 2],
    /// The steps, less 2⁶³.
    least_without_carry: [__m256i; 2],
    remainder: __m256i,
    /// What is left of the divisor after a step: taking that away, and putting the divisor back where there wasn't enough, is
    /// the same as adding the step.
    rest: __m256i,
    /// The same for a step that turns over.
    rest_and_turn: __m256i,
}

impl Narrow {
    /// `None` where the divisor is above 2³¹ or the CPU has no AVX2.
    pub(super) fn new(strides: Strides) -> Option<Self> {
        let divisor = u32::try_from(strides.modulus.get()).ok().filter(|divisor| *divisor <= 1 << 31)?;
        let shift = 64_u32.checked_sub(strides.width).filter(|shift| *shift < 64)?;
        let largest = u64::MAX >> shift;
        let turn = u32::try_from((largest % u64::from(divisor) + 1) % u64::from(divisor)).ok()?;
        Some(Self {
            modulus: strides.modulus,
            shift,
            divisor: divisor.cast_signed(),
            turn: turn.cast_signed(),
            _proof: Avx2::detect()?,
        })
    }

    /// Eight keys by their starts and steps.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    pub(super) fn walk(self, starts: &[u64; LANES], steps: &[u64; LANES]) -> Walk {
        let divisor = _mm256_set1_epi32(self.divisor);
        let half = _mm256_set1_epi64x(i64::MIN);
        let (at, remainder) = self.shifted(starts);
        let (step, step_remainder) = self.shifted(steps);
        let rest = _mm256_sub_epi32(divisor, step_remainder);
        let room = _mm256_sub_epi32(divisor, _mm256_set1_epi32(self.turn));
        Walk {
            at: [_mm256_xor_si256(at[0], half), _mm256_xor_si256(at[1], half)],
            step,
            least_without_carry: [_mm256_xor_si256(step[0], half), _mm256_xor_si256(step[1], half)],
            remainder,
            rest,
            rest_and_turn: subtract(rest, room, divisor),
        }
    }

    /// Numbers shifted so that a sum that turns over carries, and their remainders.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    fn shifted(self, numbers: &[u64; LANES]) -> ([__m256i; 2], __m256i) {
        let Self { modulus, shift, .. } = self;
        let (mut shifted, mut remainders) = ([0; LANES], [0; LANES]);
        for ((number, shifted), remainder) in numbers.iter().zip(&mut shifted).zip(&mut remainders) {
            *shifted = number << shift;
            *remainder = modulus.remainder_or_more(*shifted >> shift);
        }
        // The divisor is at most 2³¹, so none is 2³² or more; and where nothing is to be taken away, taking it away wraps to
        // something larger.
        let remainder = pack(load(&remainders));
        let less = _mm256_sub_epi32(remainder, _mm256_set1_epi32(self.divisor));
        (load(&shifted), _mm256_min_epu32(remainder, less))
    }

    /// The next remainder of each key.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    pub(super) fn next(self, walk: &mut Walk, remainders: &mut [u64; LANES]) {
        let now = walk.remainder;
        // The order of `pack` is such that this brings all of them back into their own.
        let zero = _mm256_setzero_si256();
        store([_mm256_unpacklo_epi32(now, zero), _mm256_unpackhi_epi32(now, zero)], remainders);
        let [first, second] = walk.at;
        walk.at = [_mm256_add_epi64(first, walk.step[0]), _mm256_add_epi64(second, walk.step[1])];
        // A sum that is less than what was added has turned over.
        let carries = pack([
            _mm256_cmpgt_epi64(walk.least_without_carry[0], walk.at[0]),
            _mm256_cmpgt_epi64(walk.least_without_carry[1], walk.at[1]),
        ]);
        let what = _mm256_blendv_epi8(walk.rest, walk.rest_and_turn, carries);
        walk.remainder = subtract(now, what, _mm256_set1_epi32(self.divisor));
    }
}

/// `from - what`, and `divisor` more where that is less than nothing.
#[target_feature(enable = "avx2")]
#[inline]
fn subtract(from: __m256i, what: __m256i, divisor: __m256i) -> __m256i {
    let less = _mm256_sub_epi32(from, what);
    _mm256_min_epu32(less, _mm256_add_epi32(less, divisor))
}

/// The low halves of eight words. Within each half of a register two words of the first stand before two of the second:
/// 0, 1, 4, 5, 2, 3, 6, 7.
#[target_feature(enable = "avx2")]
#[inline]
fn pack([first, second]: [__m256i; 2]) -> __m256i {
    let (first, second) = (_mm256_castsi256_ps(first), _mm256_castsi256_ps(second));
    _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(first, second))
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(words: &[u64; LANES]) -> [__m256i; 2] {
    let start = words.as_ptr().cast::<__m256i>();
    // SAFETY: eight words are two registers' bytes, and an unaligned load needs no alignment.
    unsafe { [_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1))] }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store([first, second]: [__m256i; 2], words: &mut [u64; LANES]) {
    let start = words.as_mut_ptr().cast::<__m256i>();
    // SAFETY: as in `load`, and the borrow is exclusive.
    unsafe {
        _mm256_storeu_si256(start, first);
        _mm256_storeu_si256(start.add(1), second);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn check(divisor: u64, starts: [u64; LANES], steps: [u64; LANES]) {
        for width in [1, 32, 63, 64] {
            let Some(narrow) = Narrow::new(Strides { modulus: Modulus::new(divisor), width }) else { return };
            // SAFETY: `narrow` holds the proof that the CPU has what it takes.
            let mut walk = unsafe { narrow.walk(&starts, &steps) };
            for i in 0..20 {
                let mut remainders = [0; LANES];
                // SAFETY: as above.
                unsafe { narrow.next(&mut walk, &mut remainders) };
                for ((start, step), remainder) in starts.iter().zip(steps).zip(remainders) {
                    let sum = start.wrapping_add(step.wrapping_mul(i)) & (u64::MAX >> (64 - width));
                    assert_eq!(
                        remainder,
                        sum % divisor,
                        "{start} + {i} · {step} in {width} bits, by {divisor}"
                    );
                }
            }
        }
    }

    #[test]
    fn remainders_at_the_edges_are_those_of_division() {
        let powers = [0, 1, 6, 30, 31, 32, 62, 63].map(|power| 1u64 << power);
        let around = |power: u64| [power - 1, power, power + 1];
        let edges: Vec<u64> = powers.into_iter().flat_map(around).chain([u64::MAX; 8]).collect();
        for divisor in edges.iter().filter(|divisor| **divisor > 0) {
            for edge in &edges {
                for others in edges.as_chunks().0 {
                    check(*divisor, [*edge; LANES], *others);
                    check(*divisor, *others, [*edge; LANES]);
                }
            }
        }
        assert!(Narrow::new(Strides { modulus: Modulus::new((1 << 31) + 1), width: 64 }).is_none());
    }

    proptest! {
        #[test]
        fn remainders_are_those_of_division(
            starts: [u64; LANES],
            steps: [u64; LANES],
            divisor in 1u64..=1 << 31,
            shift in 0u32..32,
        ) {
            check((divisor >> shift).max(1), starts, steps);
        }
    }
}
