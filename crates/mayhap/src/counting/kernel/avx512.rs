//! The kernel in 512-bit registers: eight words with a counter in each, be they a line, or four of either of two lines.
//!
//! As in [`avx2`](super::avx2), counters are moved to the top of their lanes. There they are compared as numbers of 64 bits,
//! of which the counter is the highest part. Four counters of a single line are left to that kernel: they fill one of its registers.

#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m512i, __mmask8, _mm512_and_si512, _mm512_andnot_si512, _mm512_cmpge_epu64_mask,
    _mm512_cmplt_epu64_mask, _mm512_mask_add_epi64, _mm512_mask_blend_epi64, _mm512_mask_set1_epi64,
    _mm512_min_epu64, _mm512_movepi64_mask, _mm512_reduce_min_epu64, _mm512_set_epi64, _mm512_set1_epi64,
    _mm512_shuffle_i64x2, _mm512_sllv_epi64, _mm512_srli_epi64, _mm512_srlv_epi64, _mm512_sub_epi64,
    _mm512_testn_epi64_mask,
};

use super::avx2::Lanes;
use super::one::one_key;
use super::{Change, Contains, Count, Insert, Layout, OneKey, Question, Remove, Simd};
use crate::bits::{Block, Blocks, Line};
use crate::bloom::kernel::avx512::{load, store};
use crate::bloom::kernel::{FIRST_DRAW, Regions, second_digest};
use crate::counting::CountingBloom;
use crate::cpu::Avx512;

one_key!(Avx512 => WideLanes::here(), "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl");

/// The proof that the CPU has AVX-512: an older proof, or that we are in a function that is compiled for it.
#[derive(Clone, Copy)]
pub(super) struct WideLanes(Lanes);

impl WideLanes {
    pub(super) fn by(proof: Avx512) -> Self {
        Self(Lanes::by(proof.into()))
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
    #[inline]
    fn here() -> Self {
        Self(Lanes::here())
    }
}

impl Simd for WideLanes {
    #[inline(always)]
    fn contains<C: Layout, L: Line>(self, regions: Regions<&[L]>, digest: u64) -> bool {
        if half_is_enough::<C>() {
            return self.0.contains::<C, L>(regions, digest);
        }
        // SAFETY: `self` is the proof that the CPU has AVX-512; so in all methods of this impl.
        unsafe { all_above_zero::<C>(lowest::<C, L>(regions, digest)) }
    }

    #[inline(always)]
    fn count<C: Layout, L: Line>(self, regions: Regions<&[L]>, digest: u64) -> u64 {
        if half_is_enough::<C>() {
            return self.0.count::<C, L>(regions, digest);
        }
        // SAFETY: AVX-512, by `self`.
        unsafe { _mm512_reduce_min_epu64(lowest::<C, L>(regions, digest)) >> C::FIELD }
    }

    #[inline(always)]
    fn insert<C: Layout>(self, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool {
        if half_is_enough::<C>() {
            return self.0.insert::<C>(regions, digest);
        }
        // SAFETY: AVX-512, by `self`.
        unsafe { !all_above_zero::<C>(raise::<C>(regions, digest)) }
    }

    #[inline(always)]
    fn remove_usual<C: Layout>(self, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool {
        if half_is_enough::<C>() {
            return self.0.remove_usual::<C>(regions, digest);
        }
        // SAFETY: AVX-512, by `self`.
        unsafe { remove_usual::<C>(regions, digest) }
    }

    #[inline(always)]
    fn remove_otherwise<C: Layout>(self, blocks: &mut [Block], digest: u64) -> bool {
        self.0.remove_otherwise::<C>(blocks, digest)
    }
}

/// Whether a key's words fill only half of a register.
const fn half_is_enough<C: Layout>() -> bool {
    C::IN_PAIRS && !C::TWO
}

/// Eight words, and how far the counter in each is moved to the top.
#[derive(Clone, Copy)]
struct Words {
    words: __m512i,
    moved: __m512i,
}

/// The words of a key that has one counter in each word of a line.
#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn of_line<C: Layout, L: Line>(line: &L, digest: u64) -> Words {
    let product = _mm512_set1_epi64(digest.wrapping_mul(FIRST_DRAW).cast_signed());
    let drawn = _mm512_srlv_epi64(product, _mm512_set_epi64(16, 22, 28, 34, 40, 46, 52, 58));
    Words { words: load(line), moved: _mm512_andnot_si512(drawn, in_every(C::FIELD)) }
}

/// The words of a key that has one counter in each of the four pairs of two lines.
#[derive(Clone, Copy)]
struct OfPairs {
    words: Words,
    /// Words 0 to 3 of both lines, and words 4 to 7.
    halves: [__m512i; 2],
    /// Which of the words are of the first.
    in_low: __mmask8,
}

#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn of_pairs<C: Layout, L: Line>([first, second]: [&L; 2], digests: [u64; 2]) -> OfPairs {
    // From a counter to the top are FIELD - place bits: the complement, which is made here for all of them.
    let [one, other] = digests.map(|digest| (!digest.wrapping_mul(FIRST_DRAW)).cast_signed());
    let products = _mm512_mask_set1_epi64(_mm512_set1_epi64(one), 0xf0, other);
    let drawn = _mm512_sllv_epi64(products, _mm512_set_epi64(21, 14, 7, 0, 21, 14, 7, 0));
    let in_low = _mm512_movepi64_mask(drawn);
    let halves @ [low, high] = crosswise(load(first), load(second));
    let words = Words {
        words: _mm512_mask_blend_epi64(in_low, high, low),
        moved: _mm512_and_si512(_mm512_srli_epi64::<57>(drawn), in_every(C::FIELD)),
    };
    OfPairs { words, halves, in_low }
}

impl OfPairs {
    /// Both lines with the words replaced.
    #[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
    #[inline]
    fn lines(self, words: __m512i) -> [__m512i; 2] {
        let [low, high] = self.halves;
        crosswise(
            _mm512_mask_blend_epi64(self.in_low, low, words),
            _mm512_mask_blend_epi64(self.in_low, words, high),
        )
    }
}

/// The lower halves of both, and the upper ones. Done twice, it is undone.
#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn crosswise(a: __m512i, b: __m512i) -> [__m512i; 2] {
    [_mm512_shuffle_i64x2::<0b01_00_01_00>(a, b), _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b)]
}

/// The counters on top, or the lower of two in each lane.
#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn lowest<C: Layout, L: Line>(regions: Regions<&[L]>, digest: u64) -> __m512i {
    if !C::TWO {
        return on_top(of_line::<C, L>(regions.first(digest), digest));
    }
    let digests = [digest, second_digest(digest)];
    let lines = [regions.first(digests[0]), regions.second(digests[1])];
    if C::IN_PAIRS {
        return on_top(of_pairs::<C, L>(lines, digests).words);
    }
    let [first, second] = [0, 1].map(|i| on_top(of_line::<C, L>(lines[i], digests[i])));
    _mm512_min_epu64(first, second)
}

/// Raises the counters that aren't stuck, and tells what the [`lowest`] were before.
#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn raise<C: Layout>(regions: &mut Regions<&mut [Block]>, digest: u64) -> __m512i {
    if !C::TWO {
        return raise_in_line::<C>(regions.first_mut(digest), digest);
    }
    let digests = [digest, second_digest(digest)];
    let (first, second) = regions.both_mut(digests[0], digests[1]);
    if C::IN_PAIRS {
        let pairs = of_pairs::<C, _>([first, second], digests);
        let (words, before) = raised::<C>(pairs.words);
        let [a, b] = pairs.lines(words);
        store(first, a);
        store(second, b);
        return before;
    }
    _mm512_min_epu64(raise_in_line::<C>(first, digests[0]), raise_in_line::<C>(second, digests[1]))
}

#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn raise_in_line<C: Layout>(block: &mut Block, digest: u64) -> __m512i {
    let (words, before) = raised::<C>(of_line::<C, _>(block, digest));
    store(block, words);
    before
}

/// The words with each counter one higher, unless it is stuck, and the counters on top as they were.
#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn raised<C: Layout>(of: Words) -> (__m512i, __m512i) {
    let before = on_top(of);
    let not_stuck = _mm512_cmplt_epu64_mask(before, in_every(C::MAX << C::FIELD));
    (_mm512_mask_add_epi64(of.words, not_stuck, of.words, one::<C>(of)), before)
}

/// Lowers the counters; none if one of them is stuck or zero, and then the answer is false.
#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn remove_usual<C: Layout>(regions: &mut Regions<&mut [Block]>, digest: u64) -> bool {
    if !C::TWO {
        let block = regions.first_mut(digest);
        let (words, at_an_end) = lowered::<C>(of_line::<C, _>(block, digest));
        if at_an_end == 0 {
            store(block, words);
        }
        return at_an_end == 0;
    }
    let digests = [digest, second_digest(digest)];
    let (first, second) = regions.both_mut(digests[0], digests[1]);
    let (lines, at_an_end) = if C::IN_PAIRS {
        let pairs = of_pairs::<C, _>([first, second], digests);
        let (words, at_an_end) = lowered::<C>(pairs.words);
        (pairs.lines(words), at_an_end)
    } else {
        let (a, at_an_end_of_a) = lowered::<C>(of_line::<C, _>(first, digests[0]));
        let (b, at_an_end_of_b) = lowered::<C>(of_line::<C, _>(second, digests[1]));
        ([a, b], at_an_end_of_a | at_an_end_of_b)
    };
    if at_an_end == 0 {
        store(first, lines[0]);
        store(second, lines[1]);
    }
    at_an_end == 0
}

/// The words with each counter one lower, whatever it was, and those of which it was zero or stuck.
#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn lowered<C: Layout>(of: Words) -> (__m512i, __mmask8) {
    let words = _mm512_sub_epi64(of.words, one::<C>(of));
    // As in the kernel for AVX2: both ends of the range are one question.
    let after = on_top(Words { words, ..of });
    (words, _mm512_cmpge_epu64_mask(after, in_every((C::MAX - 1) << C::FIELD)))
}

/// The words with the counters on top.
#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn on_top(of: Words) -> __m512i {
    _mm512_sllv_epi64(of.words, of.moved)
}

/// One, where the counters are.
#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn one<C: Layout>(of: Words) -> __m512i {
    _mm512_srlv_epi64(in_every(1 << C::FIELD), of.moved)
}

/// Whether none of the counters on top is zero.
#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn all_above_zero<C: Layout>(lowest: __m512i) -> bool {
    _mm512_testn_epi64_mask(lowest, in_every(C::MAX << C::FIELD)) == 0
}

/// A number in every lane.
#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn in_every(number: u64) -> __m512i {
    _mm512_set1_epi64(number.cast_signed())
}
