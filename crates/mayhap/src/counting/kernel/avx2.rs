//! The kernel in 256-bit registers: two for eight words, or one for the four words that count in a line of pairs.

#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m256i, _mm_cvtsi128_si32, _mm_min_epu32, _mm_shuffle_epi32, _mm256_add_epi8, _mm256_add_epi16,
    _mm256_add_epi64, _mm256_adds_epu8, _mm256_adds_epu16, _mm256_and_si256, _mm256_andnot_si256,
    _mm256_blendv_pd, _mm256_castpd_si256, _mm256_castsi256_pd, _mm256_castsi256_si128, _mm256_cmpeq_epi64,
    _mm256_cmpgt_epi64, _mm256_extracti128_si256, _mm256_max_epu8, _mm256_max_epu16, _mm256_min_epu8,
    _mm256_min_epu16, _mm256_min_epu32, _mm256_movemask_pd, _mm256_set_epi64x, _mm256_set1_epi8,
    _mm256_set1_epi16, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_sllv_epi64, _mm256_srli_epi64,
    _mm256_srlv_epi64, _mm256_sub_epi64,
};

use super::{Batch, Layout, OneKey, Simd, Usual, batch_layout, one_layout, remove_step_by_step};
use crate::bits::{Block, Line};
use crate::bloom::kernel::FIRST_DRAW;
use crate::bloom::kernel::avx2::{Avx2, load, store};
use crate::counting::layout::CounterLayout;

/// Does something with one key. Holding an [`Avx2`] is the proof that the CPU has it.
#[inline(always)]
pub(super) fn one<O: OneKey>(
    proof: Avx2,
    layout: CounterLayout,
    blocks: O::Blocks,
    digest: u64,
) -> O::Answer {
    // The usual layout is one call away, without the jump by which the others are told apart.
    if layout == Usual::LAYOUT {
        // SAFETY: `proof` is the proof that the CPU has AVX2.
        unsafe { one_of_usual_layout::<O>(proof, blocks, digest) }
    } else {
        // SAFETY: as above.
        unsafe { one_of_any_layout::<O>(proof, layout, blocks, digest) }
    }
}

/// Does something with many.
#[inline(always)]
pub(super) fn batch(proof: Avx2, layout: CounterLayout, batch: impl Batch) {
    // SAFETY: `proof` is the proof that the CPU has AVX2.
    unsafe { batch_of_any_layout(proof, layout, batch) }
}

// The calls between a baseline caller and AVX2 code. Everything they run is inlined into them.

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn one_of_usual_layout<O: OneKey>(proof: Avx2, blocks: O::Blocks, digest: u64) -> O::Answer {
    O::run::<_, Usual>(proof, blocks, digest)
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
fn one_of_any_layout<O: OneKey>(
    proof: Avx2,
    layout: CounterLayout,
    blocks: O::Blocks,
    digest: u64,
) -> O::Answer {
    one_layout::<_, O>(proof, layout, blocks, digest)
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
fn batch_of_any_layout(proof: Avx2, layout: CounterLayout, batch: impl Batch) {
    batch_layout(proof, layout, batch);
}

/// The counters of a digest in one line. With four groups the second of each pair of registers is a copy of the first.
#[derive(Clone, Copy)]
pub(in crate::counting) struct Seen {
    /// The line as it was.
    line: [__m256i; 2],
    /// Where in its word each counter starts.
    shifts: [__m256i; 2],
    /// The counters.
    values: [__m256i; 2],
    /// With pairs: the sign of each lane tells whether its counter is in words 4 to 7.
    drawn: __m256i,
}

impl Simd for Avx2 {
    type Seen = Seen;

    #[inline(always)]
    fn look<C: Layout, L: Line>(self, line: &L, digest: u64) -> Seen {
        // SAFETY: `self` is the proof that the CPU has AVX2; so in all methods of this impl.
        unsafe { look::<C>(load(line), digest.wrapping_mul(FIRST_DRAW)) }
    }

    #[inline(always)]
    fn all_above_zero<C: Layout>(self, seen: Seen) -> bool {
        // SAFETY: AVX2, by `self`.
        unsafe { all_above_zero::<C>(seen) }
    }

    #[inline(always)]
    fn lowest<C: Layout>(self, seen: Seen) -> u64 {
        // SAFETY: AVX2, by `self`.
        unsafe { lowest::<C>(seen) }
    }

    #[inline(always)]
    fn raise<C: Layout>(self, line: &mut Block, seen: Seen) {
        // SAFETY: AVX2, by `self`.
        unsafe {
            let [low, high] = steps::<C>(seen);
            store(line, [_mm256_add_epi64(seen.line[0], low), _mm256_add_epi64(seen.line[1], high)]);
        }
    }

    #[inline(always)]
    fn lower<C: Layout>(self, line: &mut Block, seen: Seen) {
        // SAFETY: AVX2, by `self`.
        unsafe {
            let [low, high] = steps::<C>(seen);
            store(line, [_mm256_sub_epi64(seen.line[0], low), _mm256_sub_epi64(seen.line[1], high)]);
        }
    }

    #[inline(always)]
    fn contains<C: Layout, L: Line>(self, line: &L, digest: u64) -> bool {
        // SAFETY: AVX2, by `self`.
        unsafe { contains::<C>(load(line), digest.wrapping_mul(FIRST_DRAW)) }
    }

    #[inline(always)]
    fn remove<C: Layout>(self, line: &mut Block, digest: u64) -> bool {
        // SAFETY: AVX2, by `self`.
        unsafe {
            lowered::<C>(line, digest.wrapping_mul(FIRST_DRAW)) || removed_otherwise::<C>(self, line, digest)
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn look<C: Layout>(line: [__m256i; 2], product: u64) -> Seen {
    let field = _mm256_set1_epi64x(C::FIELD.cast_signed());
    let max = _mm256_set1_epi64x(C::MAX.cast_signed());
    let value = |words, shift| _mm256_and_si256(_mm256_srlv_epi64(words, shift), max);
    if C::IN_PAIRS {
        let drawn = drawn_in_pairs(product);
        let shift = _mm256_and_si256(_mm256_srli_epi64::<57>(drawn), field);
        let value = value(blend(line, drawn), shift);
        Seen { line, shifts: [shift; 2], values: [value; 2], drawn }
    } else {
        let drawn = drawn(product);
        let shifts = drawn.map(|drawn| _mm256_and_si256(drawn, field));
        let values = [value(line[0], shifts[0]), value(line[1], shifts[1])];
        Seen { line, shifts, values, drawn: drawn[0] }
    }
}

/// With pairs: the seven bits of each counter at the top of its lane. The first is the sign, by which a blend chooses.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn drawn_in_pairs(product: u64) -> __m256i {
    _mm256_sllv_epi64(_mm256_set1_epi64x(product.cast_signed()), _mm256_set_epi64x(21, 14, 7, 0))
}

/// The six bits of each counter at the bottom of its lane, and above them others that mean nothing.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn drawn(product: u64) -> [__m256i; 2] {
    let product = _mm256_set1_epi64x(product.cast_signed());
    [
        _mm256_srlv_epi64(product, _mm256_set_epi64x(40, 46, 52, 58)),
        _mm256_srlv_epi64(product, _mm256_set_epi64x(16, 22, 28, 34)),
    ]
}

/// The four words that count in a line of pairs.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn blend(line: [__m256i; 2], drawn: __m256i) -> __m256i {
    let [low, high] = line.map(|words| _mm256_castsi256_pd(words));
    _mm256_castpd_si256(_mm256_blendv_pd(low, high, _mm256_castsi256_pd(drawn)))
}

/// The counters of a digest, moved to the top of their lanes, where what stands below them doesn't matter: fewer
/// instructions than [`look`], for whoever only asks whether a counter is at an end of its range. With four groups the
/// second of each pair of registers is a copy of the first.
#[derive(Clone, Copy)]
struct OnTop {
    counters: [__m256i; 2],
    /// How far up each was moved.
    moved: [__m256i; 2],
    /// As in [`Seen`].
    drawn: __m256i,
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn on_top<C: Layout>(line: [__m256i; 2], product: u64) -> OnTop {
    let field = _mm256_set1_epi64x(C::FIELD.cast_signed());
    if C::IN_PAIRS {
        let drawn = drawn_in_pairs(product);
        let moved = _mm256_andnot_si256(_mm256_srli_epi64::<57>(drawn), field);
        let counters = _mm256_sllv_epi64(blend(line, drawn), moved);
        OnTop { counters: [counters; 2], moved: [moved; 2], drawn }
    } else {
        let drawn = drawn(product);
        let moved = drawn.map(|drawn| _mm256_andnot_si256(drawn, field));
        let counters = [_mm256_sllv_epi64(line[0], moved[0]), _mm256_sllv_epi64(line[1], moved[1])];
        OnTop { counters, moved, drawn: drawn[0] }
    }
}

/// The lower of two counters on top of each lane. In bytes or pairs of bytes: the highest of a lane is the counter, and for
/// four bits something below it.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn lower_of<C: Layout>(a: __m256i, b: __m256i) -> __m256i {
    if C::WIDTH <= 8 { _mm256_min_epu8(a, b) } else { _mm256_min_epu16(a, b) }
}

/// Whether none of the counters on top is zero.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn none_is_zero<C: Layout>(counters: __m256i) -> bool {
    // A sum that has the sign of its lane if the counter was above zero.
    let signs = match C::WIDTH {
        4 => _mm256_adds_epu8(counters, _mm256_set1_epi8(0x70)),
        8 => _mm256_adds_epu8(counters, _mm256_set1_epi8(0x7f)),
        _ => _mm256_adds_epu16(counters, _mm256_set1_epi16(0x7fff)),
    };
    _mm256_movemask_pd(_mm256_castsi256_pd(signs)) == 0b1111
}

/// [`look`] and [`all_above_zero`] with fewer instructions.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn contains<C: Layout>(line: [__m256i; 2], product: u64) -> bool {
    let [a, b] = on_top::<C>(line, product).counters;
    none_is_zero::<C>(if C::IN_PAIRS { a } else { lower_of::<C>(a, b) })
}

/// Lowers the counters if none of them is zero and none is stuck, and tells whether it did. That is what every removal of
/// a key that was added does, but for one in a great many.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn lowered<C: Layout>(block: &mut Block, product: u64) -> bool {
    let line = load(block);
    let top = on_top::<C>(line, product);
    let [a, b] = top.counters;
    // One above the highest number is zero again, so that both ends of the range are one question.
    let (lowest, next) = match C::WIDTH {
        4 => (lower_of::<C>(a, b), _mm256_add_epi8(_mm256_max_epu8(a, b), _mm256_set1_epi8(0x10))),
        8 => (lower_of::<C>(a, b), _mm256_add_epi8(_mm256_max_epu8(a, b), _mm256_set1_epi8(1))),
        _ => (lower_of::<C>(a, b), _mm256_add_epi16(_mm256_max_epu16(a, b), _mm256_set1_epi16(1))),
    };
    let in_range = none_is_zero::<C>(lower_of::<C>(lowest, next));
    if in_range {
        let one = _mm256_set1_epi64x((1u64 << C::FIELD).cast_signed());
        let steps = top.moved.map(|moved| _mm256_srlv_epi64(one, moved));
        let [low, high] = if C::IN_PAIRS { in_pair(steps[0], top.drawn) } else { steps };
        store(block, [_mm256_sub_epi64(line[0], low), _mm256_sub_epi64(line[1], high)]);
    }
    in_range
}

/// Removes a key that [`lowered`] could not. Out of its way, or it would be compiled for both.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[cold]
#[inline(never)]
fn removed_otherwise<C: Layout>(proof: Avx2, block: &mut Block, digest: u64) -> bool {
    remove_step_by_step::<_, C>(proof, block, digest)
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn all_above_zero<C: Layout>(seen: Seen) -> bool {
    let is_zero = _mm256_cmpeq_epi64(lowest_of_lanes::<C>(seen), _mm256_setzero_si256());
    _mm256_movemask_pd(_mm256_castsi256_pd(is_zero)) == 0
}

/// With two registers, the lower of the two counters of each lane.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn lowest_of_lanes<C: Layout>(seen: Seen) -> __m256i {
    if C::IN_PAIRS { seen.values[0] } else { _mm256_min_epu32(seen.values[0], seen.values[1]) }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn lowest<C: Layout>(seen: Seen) -> u64 {
    // Values are below 2^16, so that the upper half of each lane is zero, and the shuffles leave it out.
    let lanes = lowest_of_lanes::<C>(seen);
    let two = _mm_min_epu32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    let one = _mm_min_epu32(two, _mm_shuffle_epi32::<0b10>(two));
    u64::from(_mm_cvtsi128_si32(one).cast_unsigned())
}

/// One, at the place of each counter that isn't stuck.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn steps<C: Layout>(seen: Seen) -> [__m256i; 2] {
    let (one, max) = (_mm256_set1_epi64x(1), _mm256_set1_epi64x(C::MAX.cast_signed()));
    let step =
        |value, shift| _mm256_andnot_si256(_mm256_cmpeq_epi64(value, max), _mm256_sllv_epi64(one, shift));
    if C::IN_PAIRS {
        in_pair(step(seen.values[0], seen.shifts[0]), seen.drawn)
    } else {
        [step(seen.values[0], seen.shifts[0]), step(seen.values[1], seen.shifts[1])]
    }
}

/// What is done to the four words that count in a line of pairs, as what is done to all eight.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn in_pair(step: __m256i, drawn: __m256i) -> [__m256i; 2] {
    let is_high = _mm256_cmpgt_epi64(_mm256_setzero_si256(), drawn);
    [_mm256_andnot_si256(is_high, step), _mm256_and_si256(is_high, step)]
}
