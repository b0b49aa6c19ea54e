//! The remainders of eight keys side by side, in 256-bit registers.
//!
//! There are no multiplications of 64 bits in a register. But the remainder of a sum follows from the one before: add that of
//! the step, and take away the divisor if it is reached; where the sum has turned over, take away the remainder of the
//! power of two as well. So only start and step of a key are multiplied.
//!
//! That is done for [`PREPARED`] keys ahead, because a core can't hand several small stores on to a larger load: it waits
//! until they have left for the cache, which is when all that came before them is done, the looks into the filter included.

#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_add_epi64, _mm256_blendv_epi8, _mm256_castps_si256,
    _mm256_castsi256_ps, _mm256_cmpgt_epi64, _mm256_loadu_si256, _mm256_min_epu32, _mm256_permute2x128_si256,
    _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_shuffle_ps, _mm256_storeu_si256, _mm256_sub_epi32,
    _mm256_xor_si256,
};

use crate::bloom::Modulus;
use crate::bloom::scheme::{Scheme, Strides};
use crate::cpu::Avx2;

/// Keys side by side.
pub(super) const LANES: usize = 8;

/// [`Strides`] of which a sum of two remainders fits 32 bits, on a CPU with AVX2.
#[derive(Clone, Copy)]
pub(super) struct Narrow {
    modulus: Modulus,
    short: Short,
    /// By how much a number is shifted so that a sum that turns over carries.
    shift: u32,
    divisor: i32,
    /// What a sum that turns over loses: the remainder of the power of two.
    turn: i32,
    /// Who has a `Narrow` may call what needs AVX2.
    _proof: Avx2,
}

/// A [`Modulus`] of numbers of 32 bits, which vector instructions can multiply.
#[derive(Clone, Copy)]
struct Short {
    divisor: u32,
    reciprocal: u32,
}

impl Short {
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the high half of a product of two 32-bit numbers")]
    fn remainder_or_more(self, x: u32) -> u32 {
        let quotient = ((u64::from(x) * u64::from(self.reciprocal)) >> 32) as u32;
        x.wrapping_sub(quotient.wrapping_mul(self.divisor))
    }
}

/// Keys whose starts and steps are made ready together.
pub(super) const PREPARED: usize = 64;

/// Starts and steps, shifted so that a sum that turns over carries, and their remainders, or the
/// divisor more.
pub(super) struct Prepared {
    starts: [u64; PREPARED],
    steps: [u64; PREPARED],
    start_remainders: [u32; PREPARED],
    step_remainders: [u32; PREPARED],
}

impl Prepared {
    pub(super) const fn new() -> Self {
        Self {
            starts: [0; PREPARED],
            steps: [0; PREPARED],
            start_remainders: [0; PREPARED],
            step_remainders: [0; PREPARED],
        }
    }
}

/// Eight keys under way. Words of 32 bits are in order; words of 64 bits are in the order from which [`pack`] makes that.
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
            short: Short { divisor, reciprocal: u32::MAX / divisor },
            shift,
            divisor: divisor.cast_signed(),
            turn: turn.cast_signed(),
            _proof: Avx2::detect()?,
        })
    }

    /// What [`walk`](Self::walk) needs of up to [`PREPARED`] keys.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a remainder or more is below 2³², and so is what is `short`"
    )]
    #[allow(clippy::needless_range_loop, reason = "iterators over so many arrays are not inlined")]
    pub(super) fn prepare<C: Scheme>(self, hashes: &[C::Hash], prepared: &mut Prepared) {
        let Self { modulus, shift, short, .. } = self;
        let count = hashes.len().min(PREPARED);
        for i in 0..count {
            let (start, step) = C::stride(hashes[i]);
            prepared.starts[i] = start << shift;
            prepared.steps[i] = step << shift;
        }
        let Prepared { starts, steps, start_remainders, step_remainders } = prepared;
        // Which of the two it is shows when this is compiled for a recipe; the first then becomes vector instructions.
        if shift >= 32 {
            for i in 0..count {
                start_remainders[i] = short.remainder_or_more((starts[i] >> shift) as u32);
                step_remainders[i] = short.remainder_or_more((steps[i] >> shift) as u32);
            }
        } else {
            for i in 0..count {
                start_remainders[i] = modulus.remainder_or_more(starts[i] >> shift) as u32;
                step_remainders[i] = modulus.remainder_or_more(steps[i] >> shift) as u32;
            }
        }
    }

    /// The eight keys of a block.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    pub(super) fn walk(self, prepared: &Prepared, block: usize) -> Walk {
        let divisor = _mm256_set1_epi32(self.divisor);
        let half = _mm256_set1_epi64x(i64::MIN);
        let Prepared { starts, steps, start_remainders, step_remainders } = prepared;
        let [at, step] = [load_64(&starts.as_chunks().0[block]), load_64(&steps.as_chunks().0[block])];
        let remainder = less(load_32(&start_remainders.as_chunks().0[block]), divisor);
        let rest = _mm256_sub_epi32(divisor, less(load_32(&step_remainders.as_chunks().0[block]), divisor));
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

    /// The next remainder of each key.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    pub(super) fn next(self, walk: &mut Walk, remainders: &mut [u32; LANES]) {
        let now = walk.remainder;
        store(now, remainders);
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

/// A remainder out of that or `divisor` more. Where nothing is to be taken away, taking it away wraps to something larger.
#[target_feature(enable = "avx2")]
#[inline]
fn less(remainder_or_more: __m256i, divisor: __m256i) -> __m256i {
    _mm256_min_epu32(remainder_or_more, _mm256_sub_epi32(remainder_or_more, divisor))
}

/// `from - what`, and `divisor` more where that is less than nothing.
#[target_feature(enable = "avx2")]
#[inline]
fn subtract(from: __m256i, what: __m256i, divisor: __m256i) -> __m256i {
    let less = _mm256_sub_epi32(from, what);
    _mm256_min_epu32(less, _mm256_add_epi32(less, divisor))
}

/// The low halves of eight words, in the order of the keys.
#[target_feature(enable = "avx2")]
#[inline]
fn pack([first, second]: [__m256i; 2]) -> __m256i {
    let (first, second) = (_mm256_castsi256_ps(first), _mm256_castsi256_ps(second));
    _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(first, second))
}

/// Keys 0, 1, 4, 5 and 2, 3, 6, 7: what [`pack`] puts in order, because it works within each half of a register.
#[target_feature(enable = "avx2")]
#[inline]
fn load_64(words: &[u64; LANES]) -> [__m256i; 2] {
    let start = words.as_ptr().cast::<__m256i>();
    // SAFETY: eight words are two registers' bytes, and an unaligned load needs no alignment.
    let (first, second) = unsafe { (_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1))) };
    [_mm256_permute2x128_si256::<0x20>(first, second), _mm256_permute2x128_si256::<0x31>(first, second)]
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_32(words: &[u32; LANES]) -> __m256i {
    // SAFETY: eight words are a register's bytes, and an unaligned load needs no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast::<__m256i>()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(register: __m256i, words: &mut [u32; LANES]) {
    // SAFETY: as in `load_32`, and the borrow is exclusive.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast::<__m256i>(), register) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Key;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// A recipe whose hash is start and step.
    #[derive(Clone, PartialEq, Debug)]
    struct Pairs;

    impl Scheme for Pairs {
        type Hash = (u64, u64);
        type Range = ();

        fn hash<K: Key + ?Sized>(&self, _: &K) -> (u64, u64) {
            (0, 0)
        }

        fn range(_: u64) {}

        fn stride(hash: (u64, u64)) -> (u64, u64) {
            hash
        }

        fn positions(&self, _: (u64, u64), (): ()) -> impl Iterator<Item = u64> + Clone {
            core::iter::repeat(0)
        }
    }

    fn check(divisor: u64, starts: [u64; LANES], steps: [u64; LANES]) {
        for width in [1, 32, 63, 64] {
            let Some(narrow) = Narrow::new(Strides { modulus: Modulus::new(divisor), width }) else { return };
            let mut prepared = Prepared::new();
            let keys: Vec<(u64, u64)> =
                [(7, 7); LANES].into_iter().chain(starts.into_iter().zip(steps)).collect();
            // SAFETY: `narrow` holds the proof that the CPU has what it takes.
            let mut walk = unsafe {
                narrow.prepare::<Pairs>(&keys, &mut prepared);
                narrow.walk(&prepared, 1)
            };
            for i in 0..20 {
                let mut remainders = [0; LANES];
                // SAFETY: as above.
                unsafe { narrow.next(&mut walk, &mut remainders) };
                for ((start, step), remainder) in starts.iter().zip(steps).zip(remainders) {
                    let sum = start.wrapping_add(step.wrapping_mul(i)) & (u64::MAX >> (64 - width));
                    assert_eq!(
                        u64::from(remainder),
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
