//! The kernel in two 256-bit registers.

#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_andnot_si256, _mm256_castsi256_pd, _mm256_load_si256, _mm256_or_si256,
    _mm256_set_epi64x, _mm256_set1_epi64x, _mm256_sllv_epi64, _mm256_srli_epi64, _mm256_srlv_epi64,
    _mm256_store_si256, _mm256_sub_epi64, _mm256_testc_pd, _mm256_testz_si256,
};

use super::{Batch, Draw, Eight, FIRST_DRAW, OneKey, Parts, SECOND_DRAW, Simd, batch_shape, one_shape};
use crate::bits::{AtomicBlock, BLOCK_WORDS, Block, Line};
use crate::bloom::shape::Shape;
use crate::cpu::{Avx2, Work};
use crate::hash::{Key, MediumKey};

impl Avx2 {
    #[inline(always)]
    pub(super) fn one<O: OneKey>(self, shape: Shape, blocks: O::Blocks, digest: u64) -> bool {
        // The most common shape is inlined into a caller that is compiled for AVX2, and one call away from any other.
        // The other shapes share a second call.
        if shape == Shape::Eight {
            if Self::COMPILED_FOR_IT {
                return O::run::<_, Eight, false>(self, blocks, digest);
            }
            if let Some(avx512) = self.avx512() {
                return avx512.one_eight::<O>(blocks, digest);
            }
            // SAFETY: `self` is the proof that the CPU has AVX2.
            unsafe { one_eight::<O>(self, blocks, digest) }
        } else {
            // SAFETY: as above.
            unsafe { one_of_any_shape::<O>(self, shape, blocks, digest) }
        }
    }

    /// A key of eight bytes in the most common shape, hashed on the way by XXH3, which is the filter's function.
    #[inline(always)]
    pub(super) fn one_eight_bytes<'a, P: Parts<'a>>(self, filter: P, key: u64) -> bool {
        if let Some(avx512) = self.avx512() {
            return avx512.one_eight_bytes(filter, key);
        }
        // SAFETY: `self` is the proof that the CPU has AVX2.
        unsafe { one_eight_bytes_eight(self, filter, key) }
    }

    /// A key of 17 to 64 bytes, likewise.
    #[inline(always)]
    pub(super) fn one_medium<'a, P: Parts<'a>>(self, filter: P, key: MediumKey<'_>) -> bool {
        if let Some(avx512) = self.avx512() {
            return avx512.one_medium(filter, key);
        }
        // SAFETY: as above.
        unsafe { one_medium_eight(self, filter, key) }
    }

    /// Any key in any shape, hashed on the way by any function.
    #[inline(always)]
    pub(super) fn any_key<'a, P: Parts<'a>, K: Key + ?Sized>(self, shape: Shape, filter: P, key: &K) -> bool {
        if let Some(avx512) = self.avx512() {
            return avx512.any_key(shape, filter, key);
        }
        // SAFETY: as above.
        unsafe { any_key(self, shape, filter, key) }
    }

    #[inline(always)]
    pub(super) fn batch(self, shape: Shape, batch: impl Batch) {
        match self.avx512() {
            Some(simd) => simd.run(BatchOfAnyShape { simd, shape, batch }),
            None => self.run_without_avx512(BatchOfAnyShape { simd: self, shape, batch }),
        }
    }
}

struct BatchOfAnyShape<V, B> {
    simd: V,
    shape: Shape,
    batch: B,
}

impl<V: Simd, B: Batch> Work for BatchOfAnyShape<V, B> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        batch_shape(self.simd, self.shape, self.batch);
    }
}

// The calls between a baseline caller and AVX2 code. Everything they run is inlined into them.

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn one_eight<O: OneKey>(avx2: Avx2, blocks: O::Blocks, digest: u64) -> bool {
    O::run::<_, Eight, false>(avx2, blocks, digest)
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn one_eight_bytes_eight<'a, P: Parts<'a>>(avx2: Avx2, filter: P, key: u64) -> bool {
    let digest = filter.hasher().known_xxh3().eight(key);
    P::Work::run::<_, Eight, false>(avx2, filter.blocks(), digest)
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
fn one_medium_eight<'a, P: Parts<'a>>(avx2: Avx2, filter: P, key: MediumKey<'_>) -> bool {
    let digest = filter.hasher().known_xxh3().medium(key);
    P::Work::run::<_, Eight, false>(avx2, filter.blocks(), digest)
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
fn any_key<'a, P: Parts<'a>, K: Key + ?Sized>(avx2: Avx2, shape: Shape, filter: P, key: &K) -> bool {
    super::any_key(avx2, shape, filter, key)
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
fn one_of_any_shape<O: OneKey>(avx2: Avx2, shape: Shape, blocks: O::Blocks, digest: u64) -> bool {
    one_shape::<_, O>(avx2, shape, blocks, digest)
}

impl Simd for Avx2 {
    #[inline(always)]
    fn contains<D: Draw, L: Line>(self, line: &L, digest: u64) -> bool {
        // SAFETY: `self` is the proof that the CPU has AVX2; so in all methods of this impl.
        unsafe {
            let words = load(line);
            if D::IN_PAIRS {
                return none_missing(words, mask::<D>(digest));
            }
            let mut all = drawn_on_top(words, digest.wrapping_mul(FIRST_DRAW));
            if D::TWICE {
                all = _mm256_and_si256(all, drawn_on_top(words, digest.wrapping_mul(SECOND_DRAW)));
            }
            all_tops_set(all)
        }
    }

    #[inline(always)]
    fn insert<D: Draw>(self, block: &mut Block, digest: u64) -> bool {
        // SAFETY: AVX2, by `self`.
        unsafe {
            let (words, mask) = (load(block), mask::<D>(digest));
            store(block, [_mm256_or_si256(words[0], mask[0]), _mm256_or_si256(words[1], mask[1])]);
            !none_missing(words, mask)
        }
    }

    #[inline(always)]
    fn insert_alone<D: Draw>(self, block: &AtomicBlock, digest: u64) -> bool {
        // SAFETY: AVX2, by `self`.
        unsafe {
            let (words, mask) = (load(block), mask::<D>(digest));
            store_shared(block, [_mm256_or_si256(words[0], mask[0]), _mm256_or_si256(words[1], mask[1])]);
            !none_missing(words, mask)
        }
    }

    #[inline(always)]
    fn mask<D: Draw>(self, digest: u64) -> [u64; BLOCK_WORDS] {
        let mut words = Block::default();
        // SAFETY: AVX2, by `self`.
        unsafe { store(&mut words, mask::<D>(digest)) }
        words.0
    }
}

/// The bits of a digest.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn mask<D: Draw>(digest: u64) -> [__m256i; 2] {
    let mask = draw::<D>(digest.wrapping_mul(FIRST_DRAW));
    if !D::TWICE {
        return mask;
    }
    let again = draw::<D>(digest.wrapping_mul(SECOND_DRAW));
    [_mm256_or_si256(mask[0], again[0]), _mm256_or_si256(mask[1], again[1])]
}

/// One bit in each group, as [`portable`](super::portable) defines it.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn draw<D: Draw>(product: u64) -> [__m256i; 2] {
    let product = _mm256_set1_epi64x(product.cast_signed());
    let one = _mm256_set1_epi64x(1);
    if D::IN_PAIRS {
        let bits = [
            _mm256_srli_epi64::<57>(_mm256_sllv_epi64(product, _mm256_set_epi64x(7, 7, 0, 0))),
            _mm256_srli_epi64::<57>(_mm256_sllv_epi64(product, _mm256_set_epi64x(21, 21, 14, 14))),
        ];
        // A shift by 64 or more gives 0, and so does one by less than nothing: each word keeps only its own bits.
        let base = _mm256_set_epi64x(64, 0, 64, 0);
        bits.map(|bits| _mm256_sllv_epi64(one, _mm256_sub_epi64(bits, base)))
    } else {
        draws_of_six(product)
            .map(|draw| _mm256_sllv_epi64(one, _mm256_and_si256(draw, _mm256_set1_epi64x(63))))
    }
}

/// The words with their drawn bits shifted to the top, the two halves of the block ANDed.
///
/// For asking, the bits are brought to one place instead of a mask to the bits: two instructions fewer, and a batch of
/// integers in the cache takes 2.40 ns a key instead of 2.58.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn drawn_on_top(words: [__m256i; 2], product: u64) -> __m256i {
    let product = _mm256_set1_epi64x(product.cast_signed());
    // From a bit to the top are 63 - bit places: for six bits, the complement.
    let [low, high] = draws_of_six(product).map(|draw| _mm256_andnot_si256(draw, _mm256_set1_epi64x(63)));
    _mm256_and_si256(_mm256_sllv_epi64(words[0], low), _mm256_sllv_epi64(words[1], high))
}

/// Six bits of the product for each word, with others above them.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn draws_of_six(product: __m256i) -> [__m256i; 2] {
    [
        _mm256_srlv_epi64(product, _mm256_set_epi64x(40, 46, 52, 58)),
        _mm256_srlv_epi64(product, _mm256_set_epi64x(16, 22, 28, 34)),
    ]
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn all_tops_set(words: __m256i) -> bool {
    let every = _mm256_set1_epi64x(-1);
    _mm256_testc_pd(_mm256_castsi256_pd(words), _mm256_castsi256_pd(every)) != 0
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn none_missing(words: [__m256i; 2], mask: [__m256i; 2]) -> bool {
    let missing =
        _mm256_or_si256(_mm256_andnot_si256(words[0], mask[0]), _mm256_andnot_si256(words[1], mask[1]));
    _mm256_testz_si256(missing, missing) != 0
}

/// The eight words of a block.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
pub(crate) fn load<L: Line>(line: &L) -> [__m256i; 2] {
    let halves = core::ptr::from_ref(line).cast::<__m256i>();
    if L::RACING {
        let (low, high);
        // SAFETY: the block is 64 bytes, aligned to 64. Other threads may write its words at the same time, which
        // makes a plain read undefined in Rust's terms; an assembly block stands for whatever Rust code has the same
        // effect, here eight relaxed 64-bit loads: on every x86-64 CPU an aligned vector load reads each aligned
        // 8-byte element in one piece, and nothing is promised about the elements' order, as for relaxed loads.
        unsafe {
            core::arch::asm!(
                "vmovdqa {low}, [{block}]",
                "vmovdqa {high}, [{block} + 32]",
                block = in(reg) halves,
                low = lateout(ymm_reg) low,
                high = out(ymm_reg) high,
                options(nostack, preserves_flags, readonly)
            );
        }
        [low, high]
    } else {
        // SAFETY: the block is 64 bytes, aligned to 64, and nobody writes to it while it is borrowed.
        unsafe { [_mm256_load_si256(halves), _mm256_load_si256(halves.add(1))] }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
pub(crate) fn store(block: &mut Block, words: [__m256i; 2]) {
    let halves = core::ptr::from_mut(block).cast::<__m256i>();
    // SAFETY: the block is 64 bytes, aligned to 64, and ours to write.
    unsafe {
        _mm256_store_si256(halves, words[0]);
        _mm256_store_si256(halves.add(1), words[1]);
    }
}

/// [`store`] while others read the block.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn store_shared(block: &AtomicBlock, words: [__m256i; 2]) {
    // SAFETY: the block is 64 bytes, aligned to 64, and of atomics, which may be written through a shared reference. As
    // in `load`, the assembly stands for eight relaxed 64-bit stores: an aligned vector store writes each aligned 8-byte
    // element in one piece.
    unsafe {
        core::arch::asm!(
            "vmovdqa [{block}], {low}",
            "vmovdqa [{block} + 32], {high}",
            block = in(reg) core::ptr::from_ref(block),
            low = in(ymm_reg) words[0],
            high = in(ymm_reg) words[1],
            options(nostack, preserves_flags)
        );
    }
}
