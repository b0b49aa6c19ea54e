//! The kernel in 256-bit registers: two for eight words, or one for the four words that count in a line of pairs.
//!
//! Counters are moved to the top of their lanes, where what stands below them doesn't matter, and compared there in bytes
//! or pairs of bytes: the highest of a lane is the counter, and for four bits something below it.

#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m256i, _mm_cvtsi128_si32, _mm_min_epu32, _mm_shuffle_epi32, _mm256_add_epi64, _mm256_adds_epu8,
    _mm256_adds_epu16, _mm256_and_si256, _mm256_andnot_si256, _mm256_blendv_pd, _mm256_castpd_si256,
    _mm256_castsi256_pd, _mm256_castsi256_si128, _mm256_cmpgt_epi64, _mm256_extracti128_si256,
    _mm256_max_epu8, _mm256_max_epu16, _mm256_min_epu8, _mm256_min_epu16, _mm256_set_epi64x,
    _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_sllv_epi64,
    _mm256_srli_epi64, _mm256_srlv_epi64, _mm256_sub_epi64, _mm256_subs_epu8, _mm256_subs_epu16,
    _mm256_testc_pd, _mm256_testz_pd,
};

use super::one::one_key;
use super::{Change, Contains, Count, Insert, Layout, OneKey, Question, Remove, Simd, portable};
use crate::bits::{Block, Blocks, Line};
use crate::bloom::kernel::avx2::{load, store};
use crate::bloom::kernel::{FIRST_DRAW, Regions, second_digest};
use crate::counting::CountingBloom;
use crate::cpu::Avx2;

one_key!(Avx2 => Lanes::here(), "avx2,bmi1,bmi2");

/// The proof that the CPU has AVX2: an older proof, or that we are in a function that is compiled for it.
#[derive(Clone, Copy)]
pub(super) struct Lanes(());

impl Lanes {
    pub(super) fn by(_: Avx2) -> Self {
        Self(())
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    pub(super) fn here() -> Self {
        Self(())
    }
}

impl Simd for Lanes {
    #[inline(always)]
    fn contains<C: Layout, L: Line>(self, regions: Regions<&[L]>, digest: u64) -> bool {
        // SAFETY: `self` is the proof that the CPU has AVX2; so in all methods of this impl.
        unsafe { all_above_zero::<C>(lowest::<C, L>(regions, digest)) }
    }

    #[inline(always)]
    fn count<C: Layout, L: Line>(self, regions: Regions<&[L]>, digest: u64) -> u64 {
        // SAFETY: AVX2, by `self`.
        unsafe { lowest_number::<C>(lowest::<C, L>(regions, digest)) }
    }

    #[inline(always)]
    fn insert<C: Layout>(self, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool {
        let (first, second) = lines_mut::<C>(regions, digest);
        // SAFETY: AVX2, by `self`.
        unsafe { !all_above_zero::<C>(raise::<C>(first, second, digest)) }
    }

    #[inline(always)]
    fn remove_usual<C: Layout>(self, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool {
        // SAFETY: AVX2, by `self`.
        unsafe { remove_usual::<C>(regions, digest) }
    }

    #[inline(always)]
    fn remove_otherwise<C: Layout>(self, blocks: &mut [Block], digest: u64) -> bool {
        // SAFETY: AVX2, by `self`.
        unsafe { remove_otherwise::<C>(blocks, digest) }
    }
}

/// The line of a key, or both of its lines.
#[inline(always)]
fn lines_mut<'a, C: Layout>(
    regions: &'a mut Regions<&mut [Block]>,
    digest: u64,
) -> (&'a mut Block, Option<&'a mut Block>) {
    if !C::TWO {
        return (regions.first_mut(digest), None);
    }
    let (first, second) = regions.both_mut(digest, second_digest(digest));
    (first, Some(second))
}

/// The lower of the counters in each lane, on top of it.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn lowest<C: Layout, L: Line>(regions: Regions<&[L]>, digest: u64) -> __m256i {
    let first = lowest_in_line::<C, L>(regions.first(digest), digest);
    if !C::TWO {
        return first;
    }
    let digest = second_digest(digest);
    min::<C>(first, lowest_in_line::<C, L>(regions.second(digest), digest))
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn lowest_in_line<C: Layout, L: Line>(line: &L, digest: u64) -> __m256i {
    let aim = aim::<C>(digest);
    let [a, b] = on_top(aim, words::<C>(aim, load(line)));
    min::<C>(a, b)
}

/// The lowest of the counters on top of the lanes.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn lowest_number<C: Layout>(lowest: __m256i) -> u64 {
    // Down again they are below 2^16, so that the upper half of each lane is zero, and the shuffles leave it out.
    let lanes = _mm256_srlv_epi64(lowest, _mm256_set1_epi64x(C::FIELD.cast_signed()));
    let two = _mm_min_epu32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    let one = _mm_min_epu32(two, _mm_shuffle_epi32::<0b10>(two));
    u64::from(_mm_cvtsi128_si32(one).cast_unsigned())
}

/// Raises the counters that aren't stuck, and tells what the lowest were before.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn raise<C: Layout>(first: &mut Block, second: Option<&mut Block>, digest: u64) -> __m256i {
    let lowest = raise_in_line::<C>(first, digest);
    match second {
        Some(second) => min::<C>(lowest, raise_in_line::<C>(second, second_digest(digest))),
        None => lowest,
    }
}

/// Without a branch for stuck counters: a few keys that come often make many of them.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn raise_in_line<C: Layout>(block: &mut Block, digest: u64) -> __m256i {
    let aim = aim::<C>(digest);
    let line = load(block);
    let [a, b] = on_top(aim, words::<C>(aim, line));
    let mut low = _mm256_srlv_epi64(step::<C>(a), aim.moved[0]);
    let mut high = _mm256_srlv_epi64(step::<C>(b), aim.moved[1]);
    if C::IN_PAIRS {
        // Not by blends, as for a removal: of a blend and a store the compiler makes a masked store, which takes AMD's
        // CPUs longer than all the rest.
        let is_low = _mm256_cmpgt_epi64(_mm256_setzero_si256(), aim.in_low);
        low = _mm256_and_si256(is_low, low);
        high = _mm256_andnot_si256(is_low, high);
    }
    store(block, [_mm256_add_epi64(line[0], low), _mm256_add_epi64(line[1], high)]);
    min::<C>(a, b)
}

/// Lowers the counters; none if one of them is stuck or zero, and then the answer is false.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn remove_usual<C: Layout>(regions: &mut Regions<&mut [Block]>, digest: u64) -> bool {
    let lines = regions.shared();
    let (line, mut highest) = lowered::<C>(lines.first(digest), digest);
    let mut line_there = line;
    if C::TWO {
        let digest = second_digest(digest);
        let highest_there;
        (line_there, highest_there) = lowered::<C>(lines.second(digest), digest);
        highest = max::<C>(highest, highest_there);
    }
    // One less than zero is the highest number, and one less than that is what a stuck counter became: both ends of the
    // range are one question. Who removes keys that were added is never at either, but for once in a great many.
    let at_an_end = _mm256_castsi256_pd(less::<C>(highest, spread::<C>(C::SIGN - 2 * C::ONE)));
    if _mm256_testz_pd(at_an_end, at_an_end) == 0 {
        return false;
    }
    let (first, second) = lines_mut::<C>(regions, digest);
    store(first, line);
    if let Some(second) = second {
        store(second, line_there);
    }
    true
}

/// The line with each counter one lower, whatever it was, and the higher of the lowered counters in each lane.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn lowered<C: Layout>(block: &Block, digest: u64) -> ([__m256i; 2], __m256i) {
    let aim = aim::<C>(digest);
    let line = load(block);
    let words = words::<C>(aim, line);
    let [low, high] = aim.moved;
    let one = one::<C>();
    let lowered = [
        _mm256_sub_epi64(words[0], _mm256_srlv_epi64(one, low)),
        _mm256_sub_epi64(words[1], _mm256_srlv_epi64(one, high)),
    ];
    let [a, b] = on_top(aim, lowered);
    (put_back::<C>(aim, line, lowered), max::<C>(a, b))
}

/// Removes an absent key, or one with stuck counters.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[cold]
#[inline(never)]
fn remove_otherwise<C: Layout>(blocks: &mut [Block], digest: u64) -> bool {
    let regions = &mut Regions::new_mut(blocks, C::TWO);
    all_above_zero::<C>(lowest::<C, _>(regions.shared(), digest))
        && portable::Portable.remove::<C>(regions, digest)
}

/// Where the counters of a digest lie in a line. With pairs the second register is a copy of the first.
#[derive(Clone, Copy)]
struct Aim {
    /// How far each counter is moved to the top of its lane.
    moved: [__m256i; 2],
    /// With pairs: the sign of each lane tells that its counter is in words 0 to 3, by which a blend chooses.
    in_low: __m256i,
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn aim<C: Layout>(digest: u64) -> Aim {
    let product = digest.wrapping_mul(FIRST_DRAW);
    let field = _mm256_set1_epi64x(C::FIELD.cast_signed());
    if C::IN_PAIRS {
        // From a counter to the top are FIELD - place bits: the complement, which is made here for all of them.
        let product = _mm256_set1_epi64x((!product).cast_signed());
        let drawn = _mm256_sllv_epi64(product, _mm256_set_epi64x(21, 14, 7, 0));
        Aim { moved: [_mm256_and_si256(_mm256_srli_epi64::<57>(drawn), field); 2], in_low: drawn }
    } else {
        let product = _mm256_set1_epi64x(product.cast_signed());
        let low = _mm256_srlv_epi64(product, _mm256_set_epi64x(40, 46, 52, 58));
        let high = _mm256_srlv_epi64(product, _mm256_set_epi64x(16, 22, 28, 34));
        Aim { moved: [_mm256_andnot_si256(low, field), _mm256_andnot_si256(high, field)], in_low: low }
    }
}

/// The words of a line in which the counters are.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn words<C: Layout>(aim: Aim, line: [__m256i; 2]) -> [__m256i; 2] {
    if C::IN_PAIRS { [blend(line[1], line[0], aim.in_low); 2] } else { line }
}

/// The line with its [`words`] replaced.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn put_back<C: Layout>(aim: Aim, line: [__m256i; 2], words: [__m256i; 2]) -> [__m256i; 2] {
    if C::IN_PAIRS {
        [blend(line[0], words[0], aim.in_low), blend(words[0], line[1], aim.in_low)]
    } else {
        words
    }
}

/// The lanes of the second where the sign is set, and else those of the first.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn blend(unset: __m256i, set: __m256i, signs: __m256i) -> __m256i {
    let [unset, set, signs] =
        [_mm256_castsi256_pd(unset), _mm256_castsi256_pd(set), _mm256_castsi256_pd(signs)];
    _mm256_castpd_si256(_mm256_blendv_pd(unset, set, signs))
}

/// The words with the counters on top.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn on_top(aim: Aim, words: [__m256i; 2]) -> [__m256i; 2] {
    [_mm256_sllv_epi64(words[0], aim.moved[0]), _mm256_sllv_epi64(words[1], aim.moved[1])]
}

/// Whether none of the counters on top is zero.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn all_above_zero<C: Layout>(lowest: __m256i) -> bool {
    // A sum that has the sign of its lane if the counter was above zero.
    let room = spread::<C>(C::SIGN - C::ONE);
    let signs = if C::WIDTH <= 8 { _mm256_adds_epu8(lowest, room) } else { _mm256_adds_epu16(lowest, room) };
    let every = _mm256_castsi256_pd(_mm256_set1_epi64x(i64::MIN));
    _mm256_testc_pd(_mm256_castsi256_pd(signs), every) != 0
}

/// One, for a counter on top.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn one<C: Layout>() -> __m256i {
    _mm256_set1_epi64x((1u64 << C::FIELD).cast_signed())
}

/// By how much a counter on top is raised: one, or nothing if it is stuck.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn step<C: Layout>(top: __m256i) -> __m256i {
    // All but one of its numbers taken away, only the highest has one left.
    _mm256_andnot_si256(less::<C>(top, spread::<C>(2 * (C::SIGN - C::ONE))), one::<C>())
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn min<C: Layout>(a: __m256i, b: __m256i) -> __m256i {
    if C::WIDTH <= 8 { _mm256_min_epu8(a, b) } else { _mm256_min_epu16(a, b) }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn max<C: Layout>(a: __m256i, b: __m256i) -> __m256i {
    if C::WIDTH <= 8 { _mm256_max_epu8(a, b) } else { _mm256_max_epu16(a, b) }
}

/// `a - b`, or zero where that is less.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn less<C: Layout>(a: __m256i, b: __m256i) -> __m256i {
    if C::WIDTH <= 8 { _mm256_subs_epu8(a, b) } else { _mm256_subs_epu16(a, b) }
}

/// Numbers as they are compared: in bytes, or in pairs of them for the widest counters.
trait Compared: Layout {
    /// One, for a counter on top.
    const ONE: u16 = if Self::WIDTH == 4 { 0x10 } else { 1 };
    /// The sign.
    const SIGN: u16 = if Self::WIDTH <= 8 { 0x80 } else { 0x8000 };
}

impl<C: Layout> Compared for C {}

/// A number in every byte, or in every two bytes for the widest counters.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn spread<C: Layout>(number: u16) -> __m256i {
    if C::WIDTH <= 8 {
        let [byte, _] = number.to_le_bytes();
        _mm256_set1_epi8(byte.cast_signed())
    } else {
        _mm256_set1_epi16(number.cast_signed())
    }
}
