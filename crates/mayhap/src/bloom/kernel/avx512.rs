//! The kernel in one 512-bit register: a line is a register, and a rotation takes its six bits by itself.

#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_cmpneq_epi64_mask, _mm512_load_si512, _mm512_or_si512,
    _mm512_rolv_epi64, _mm512_rorv_epi64, _mm512_set_epi64, _mm512_set1_epi64, _mm512_srlv_epi64,
    _mm512_store_si512, _mm512_testn_epi64_mask,
};

use super::{Draw, Eight, FIRST_DRAW, OneKey, Parts, SECOND_DRAW, Simd};
use crate::bits::{AtomicBlock, BLOCK_WORDS, Block, Line};
use crate::bloom::shape::Shape;
use crate::cpu::{Avx2, Avx512};
use crate::hash::{Key, MediumKey};

impl Avx512 {
    /// As [`Avx2::one`], for the most common shape.
    #[inline(always)]
    pub(super) fn one_eight<O: OneKey>(self, blocks: O::Blocks, digest: u64) -> bool {
        // SAFETY: `self` is the proof that the CPU has AVX-512.
        unsafe { one_eight::<O>(self, blocks, digest) }
    }

    /// As [`Avx2::one_eight_bytes`].
    #[inline(always)]
    pub(super) fn one_eight_bytes<'a, P: Parts<'a>>(self, filter: P, key: u64) -> bool {
        // SAFETY: as above.
        unsafe { one_eight_bytes_eight(self, filter, key) }
    }

    /// As [`Avx2::one_medium`].
    #[inline(always)]
    pub(super) fn one_medium<'a, P: Parts<'a>>(self, filter: P, key: MediumKey<'_>) -> bool {
        // SAFETY: as above.
        unsafe { one_medium_eight(self, filter, key) }
    }

    /// As [`Avx2::any_key`].
    #[inline(always)]
    pub(super) fn any_key<'a, P: Parts<'a>, K: Key + ?Sized>(self, shape: Shape, filter: P, key: &K) -> bool {
        // SAFETY: as above.
        unsafe { any_key(self, shape, filter, key) }
    }
}

// The calls between a baseline caller and AVX-512 code. Everything they run is inlined into them.

#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn one_eight<O: OneKey>(avx512: Avx512, blocks: O::Blocks, digest: u64) -> bool {
    O::run::<_, Eight, false>(avx512, blocks, digest)
}

#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn one_eight_bytes_eight<'a, P: Parts<'a>>(avx512: Avx512, filter: P, key: u64) -> bool {
    let digest = filter.hasher().known_xxh3().eight(key);
    P::Work::run::<_, Eight, false>(avx512, filter.blocks(), digest)
}

#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline(never)]
fn one_medium_eight<'a, P: Parts<'a>>(avx512: Avx512, filter: P, key: MediumKey<'_>) -> bool {
    let digest = filter.hasher().known_xxh3().medium(key);
    P::Work::run::<_, Eight, false>(avx512, filter.blocks(), digest)
}

#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline(never)]
fn any_key<'a, P: Parts<'a>, K: Key + ?Sized>(avx512: Avx512, shape: Shape, filter: P, key: &K) -> bool {
    super::any_key(avx512, shape, filter, key)
}

impl Simd for Avx512 {
    #[inline(always)]
    fn contains<D: Draw, L: Line>(self, line: &L, digest: u64) -> bool {
        if D::IN_PAIRS {
            return Avx2::from(self).contains::<D, L>(line, digest);
        }
        // SAFETY: `self` is the proof that the CPU has AVX-512; so in all methods of this impl.
        unsafe {
            let words = load(line);
            let mut all = _mm512_rorv_epi64(words, draws_of_six(digest.wrapping_mul(FIRST_DRAW)));
            if D::TWICE {
                let again = _mm512_rorv_epi64(words, draws_of_six(digest.wrapping_mul(SECOND_DRAW)));
                all = _mm512_and_si512(all, again);
            }
            _mm512_testn_epi64_mask(all, _mm512_set1_epi64(1)) == 0
        }
    }

    #[inline(always)]
    fn insert<D: Draw>(self, block: &mut Block, digest: u64) -> bool {
        if D::IN_PAIRS {
            return Avx2::from(self).insert::<D>(block, digest);
        }
        // SAFETY: AVX-512, by `self`.
        unsafe {
            let (words, mask) = (load(block), mask::<D>(digest));
            store(block, _mm512_or_si512(words, mask));
            any_missing::<D>(words, mask)
        }
    }

    #[inline(always)]
    fn insert_alone<D: Draw>(self, block: &AtomicBlock, digest: u64) -> bool {
        if D::IN_PAIRS {
            return Avx2::from(self).insert_alone::<D>(block, digest);
        }
        // SAFETY: AVX-512, by `self`.
        unsafe {
            let (words, mask) = (load(block), mask::<D>(digest));
            store_shared(block, _mm512_or_si512(words, mask));
            any_missing::<D>(words, mask)
        }
    }

    #[inline(always)]
    fn mask<D: Draw>(self, digest: u64) -> [u64; BLOCK_WORDS] {
        if D::IN_PAIRS {
            return Avx2::from(self).mask::<D>(digest);
        }
        let mut words = Block::default();
        // SAFETY: AVX-512, by `self`.
        unsafe { store(&mut words, mask::<D>(digest)) }
        words.0
    }
}

/// The bits of a digest that has some in each word.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn mask<D: Draw>(digest: u64) -> __m512i {
    let draw = |product| _mm512_rolv_epi64(_mm512_set1_epi64(1), draws_of_six(product));
    let mask = draw(digest.wrapping_mul(FIRST_DRAW));
    if D::TWICE { _mm512_or_si512(mask, draw(digest.wrapping_mul(SECOND_DRAW))) } else { mask }
}

/// Six bits of the product for each word, with others above them, which rotations don't look at.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn draws_of_six(product: u64) -> __m512i {
    let product = _mm512_set1_epi64(product.cast_signed());
    _mm512_srlv_epi64(product, _mm512_set_epi64(16, 22, 28, 34, 40, 46, 52, 58))
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn any_missing<D: Draw>(words: __m512i, mask: __m512i) -> bool {
    if D::TWICE {
        _mm512_cmpneq_epi64_mask(_mm512_and_si512(words, mask), mask) != 0
    } else {
        _mm512_testn_epi64_mask(words, mask) != 0
    }
}

/// The eight words of a block.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
pub(crate) fn load<L: Line>(line: &L) -> __m512i {
    let block = core::ptr::from_ref(line).cast::<__m512i>();
    if L::RACING {
        let words;
        // SAFETY: as in `avx2::load`: eight relaxed 64-bit loads.
        unsafe {
            core::arch::asm!(
                "vmovdqa64 {words}, [{block}]",
                block = in(reg) block,
                words = lateout(zmm_reg) words,
                options(nostack, preserves_flags, readonly)
            );
        }
        words
    } else {
        // SAFETY: the block is 64 bytes, aligned to 64, and nobody writes to it while it is borrowed.
        unsafe { _mm512_load_si512(block) }
    }
}

/// Writes a block.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
pub(crate) fn store(block: &mut Block, words: __m512i) {
    // SAFETY: the block is 64 bytes, aligned to 64, and ours to write.
    unsafe { _mm512_store_si512(core::ptr::from_mut(block).cast(), words) }
}

/// Writes a block that others read.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn store_shared(block: &AtomicBlock, words: __m512i) {
    // SAFETY: as in `avx2::store_shared`: eight relaxed 64-bit stores.
    unsafe {
        core::arch::asm!(
            "vmovdqa64 [{block}], {words}",
            block = in(reg) core::ptr::from_ref(block),
            words = in(zmm_reg) words,
            options(nostack, preserves_flags)
        );
    }
}
