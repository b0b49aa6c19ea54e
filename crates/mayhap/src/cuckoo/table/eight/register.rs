//! Eight numbers of 64 bits in a register of AVX-512, as a type with the operators of a number.
//!
//! Nothing here may be called from a closure: it is compiled for every CPU, and each instruction would become a call.

#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_maskz_set1_epi8, _mm_storel_epi64, _mm256_set_m128i, _mm512_add_epi64,
    _mm512_and_si512, _mm512_castsi256_si512, _mm512_castsi512_si256, _mm512_cmpgt_epu64_mask,
    _mm512_extracti64x4_epi64, _mm512_inserti64x4, _mm512_loadu_si512, _mm512_mask_mov_epi64,
    _mm512_min_epu64, _mm512_mullo_epi64, _mm512_or_si512, _mm512_permutex2var_epi64, _mm512_set1_epi64,
    _mm512_sllv_epi64, _mm512_srlv_epi64, _mm512_sub_epi64, _mm512_test_epi64_mask, _mm512_testn_epi64_mask,
    _mm512_xor_si512,
};
use core::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

use crate::bits::Line;
use crate::cpu::Avx512;

/// Eight numbers, each in its lane.
///
/// Whoever has some has the proof that the CPU has AVX-512: the first are made from that proof, and all others from those.
#[derive(Clone, Copy)]
pub(super) struct Eight(__m512i);

/// Eight numbers in memory.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
pub(super) struct Numbers(pub(super) [u64; 8]);

impl Numbers {
    /// One of them by a load, also where the compiler knows it, and would take it out of its lane.
    #[inline(always)]
    pub(super) fn read(&self, lane: usize) -> u64 {
        // SAFETY: a reference.
        unsafe { core::ptr::from_ref(&self.0[lane]).read_volatile() }
    }
}

/// Some of the lanes: one bit for each. They come from an [`Eight`], and prove as much.
#[derive(Clone, Copy, Default)]
pub(super) struct Lanes(u8);

/// How eight words are loaded from eight places.
#[derive(Clone, Copy, Debug)]
pub(super) enum Loads {
    /// By one instruction.
    Together,
    /// Each by an instruction of its own, where [that is faster](crate::cpu::gathers_quickly).
    Singly,
}

impl Loads {
    /// A constant of a type can be whether they are, and not how they are loaded.
    pub(super) const fn those(together: bool) -> Self {
        if together { Self::Together } else { Self::Singly }
    }
}

/// What is one instruction, for two and more of [`Eight`].
macro_rules! instructions {
    ($($(#[$doc:meta])* $name:ident($($other:ident),+) = $instruction:ident;)+) => {
        impl Eight {
            $(
                $(#[$doc])*
                #[inline(always)]
                pub(super) fn $name(self, $($other: Self),+) -> Self {
                    // SAFETY: the CPU has AVX-512, or there were no numbers.
                    Self(unsafe { $instruction(self.0, $($other.0),+) })
                }
            )+
        }
    };
}

instructions! {
    plus(other) = _mm512_add_epi64;
    minus(other) = _mm512_sub_epi64;
    times(other) = _mm512_mullo_epi64;
    /// The product of the lower halves.
    halves_times(other) = lower_halves_times;
    min(other) = _mm512_min_epu64;
    /// Each shifted by as many bits as its lane in `by` says; by 64 and more, nothing is left.
    each_up(by) = _mm512_sllv_epi64;
    /// The same downwards.
    each_down(by) = _mm512_srlv_epi64;
}

/// The same as operators.
macro_rules! operators {
    ($($operator:ident::$name:ident = $instruction:ident;)+) => {
        $(
            impl $operator for Eight {
                type Output = Self;

                #[inline(always)]
                fn $name(self, other: Self) -> Self {
                    // SAFETY: the CPU has AVX-512, or there were no numbers.
                    Self(unsafe { $instruction(self.0, other.0) })
                }
            }
        )+
    };
}

operators! {
    BitAnd::bitand = _mm512_and_si512;
    BitOr::bitor = _mm512_or_si512;
    BitXor::bitxor = _mm512_xor_si512;
}

impl Not for Eight {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        self ^ self.same(u64::MAX)
    }
}

impl Shl<u32> for Eight {
    type Output = Self;

    #[inline(always)]
    fn shl(self, bits: u32) -> Self {
        self.each_up(self.same(u64::from(bits)))
    }
}

impl Shr<u32> for Eight {
    type Output = Self;

    #[inline(always)]
    fn shr(self, bits: u32) -> Self {
        self.each_down(self.same(u64::from(bits)))
    }
}

impl Eight {
    /// The same number in all lanes.
    #[inline(always)]
    pub(super) fn all(_: Avx512, number: u64) -> Self {
        // SAFETY: there is a proof of AVX-512.
        Self(unsafe { _mm512_set1_epi64(number.cast_signed()) })
    }

    #[inline(always)]
    pub(super) fn new(_: Avx512, numbers: [u64; 8]) -> Self {
        // SAFETY: there is a proof of AVX-512, and all 64 bytes are those of the array; they need no alignment.
        Self(unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) })
    }

    /// Puts them into memory in two halves, from which they are soon loaded one by one. That takes four cycles for each in the
    /// second half of 64 bytes that are still on their way to the cache, and none in halves of 32.
    #[inline(always)]
    pub(super) fn store_to(self, numbers: &mut Numbers) {
        let halves: *mut __m256i = numbers.0.as_mut_ptr().cast();
        // SAFETY: AVX-512, by `self`; both halves are the numbers, which are aligned to more than that. (Volatile, because the
        // compiler would make one store of them.)
        unsafe {
            halves.write_volatile(_mm512_castsi512_si256(self.0));
            halves.add(1).write_volatile(_mm512_extracti64x4_epi64::<1>(self.0));
        }
    }

    /// One after the other, by way of memory: what takes them out of their lanes is busy with arithmetic already.
    #[inline(always)]
    pub(super) fn one_by_one(self) -> [u64; 8] {
        let mut numbers = Numbers([0; 8]);
        self.store_to(&mut numbers);
        core::array::from_fn(|lane| numbers.read(lane))
    }

    /// The same number in all lanes.
    #[inline(always)]
    pub(super) fn same(self, number: u64) -> Self {
        // SAFETY: AVX-512, by `self`.
        Self(unsafe { _mm512_set1_epi64(number.cast_signed()) })
    }

    /// ⌊a · b / 2⁶⁴⌋ for b below 2³².
    #[inline(always)]
    pub(super) fn times_high(self, below_32_bits: Self) -> Self {
        let high = (self >> 32).halves_times(below_32_bits);
        let low = self.halves_times(below_32_bits);
        // At most (2³² − 1)² + 2³² − 1, which is no more than 64 bits.
        high.plus(low >> 32) >> 32
    }

    /// The lowest bit that is set; nothing where there is none.
    #[inline(always)]
    pub(super) fn lowest_one(self) -> Self {
        self & self.same(0).minus(self)
    }

    /// Where a number is above that of the other.
    #[inline(always)]
    pub(super) fn above(self, other: Self) -> Lanes {
        // SAFETY: AVX-512, by `self`.
        Lanes(unsafe { _mm512_cmpgt_epu64_mask(self.0, other.0) })
    }

    #[inline(always)]
    pub(super) fn zero(self) -> Lanes {
        // SAFETY: AVX-512, by `self`.
        Lanes(unsafe { _mm512_testn_epi64_mask(self.0, self.0) })
    }

    #[inline(always)]
    pub(super) fn not_zero(self) -> Lanes {
        // SAFETY: AVX-512, by `self`.
        Lanes(unsafe { _mm512_test_epi64_mask(self.0, self.0) })
    }

    /// These, but in some of the lanes those of the other.
    #[inline(always)]
    pub(super) fn or_in(self, lanes: Lanes, other: Self) -> Self {
        // SAFETY: AVX-512, by `self`.
        Self(unsafe { _mm512_mask_mov_epi64(self.0, lanes.0, other.0) })
    }

    /// In each lane that one of sixteen numbers which its lowest four bits say.
    #[inline(always)]
    pub(super) fn chosen_from(self, [lower, upper]: [Self; 2]) -> Self {
        // SAFETY: AVX-512, by `self`.
        Self(unsafe { _mm512_permutex2var_epi64(lower.0, self.0, upper.0) })
    }
}

/// Eight places from which words are loaded later. What takes them out of their lanes, a store and eight loads, has then been
/// done, and nothing waits for it.
#[derive(Clone, Copy)]
struct Later {
    /// For [`Loads::Together`].
    eight: Eight,
    /// For [`Loads::Singly`].
    numbers: Numbers,
}

impl Later {
    #[inline(always)]
    fn new(eight: Eight) -> Self {
        Self { eight, numbers: Numbers::default() }
    }

    #[inline(always)]
    fn set(&mut self, eight: Eight, loads: Loads) {
        match loads {
            Loads::Together => self.eight = eight,
            Loads::Singly => eight.store_to(&mut self.numbers),
        }
    }

    /// Eight bytes from each of these bytes on.
    ///
    /// # Safety
    /// From `from` on there are bytes with these numbers, and seven more after each.
    #[inline(always)]
    unsafe fn words(&self, from: *const u8, loads: Loads) -> Eight {
        // SAFETY: AVX-512, by `eight`; the bytes are there.
        Eight(unsafe {
            match loads {
                Loads::Together => eight_bytes_by_asm(from, self.eight.0),
                Loads::Singly => eight_bytes_singly(from, &self.numbers),
            }
        })
    }
}

/// A row of numbers that are looked up by twelve bits. The last three are there to be read with others.
pub(super) type Row = [u16; 4096 + 3];

/// What is to be looked up in a [`Row`].
#[derive(Clone, Copy)]
pub(super) struct ToLookUp(Later);

impl ToLookUp {
    /// Nothing yet. Any numbers will do for a proof.
    #[inline(always)]
    pub(super) fn nothing(proof: Eight) -> Self {
        Self(Later::new(proof.same(0)))
    }

    /// In each lane by its lowest twelve bits.
    #[inline(always)]
    pub(super) fn set(&mut self, by: Eight, loads: Loads) {
        self.0.set(by.plus(by) & by.same(2 * 4095), loads);
    }

    #[inline(always)]
    pub(super) fn look_up(&self, row: &Row, loads: Loads) -> Eight {
        // SAFETY: each lane reads eight bytes from an even byte up to 2 · 4095 on: a number, and the three that follow it.
        let four = unsafe { self.0.words(row.as_ptr().cast(), loads) };
        four & four.same(0xffff)
    }
}

/// The numbers of eight bytes of a row of lines, each followed by seven more.
#[derive(Clone, Copy)]
pub(super) struct InRow {
    numbers: Eight,
    /// The bytes that the row has at least.
    row: usize,
}

impl InRow {
    /// All of them are in the row. Should one not be, it is the row's last, which is less work than to look whether there is one.
    #[inline(always)]
    pub(super) fn new<L>(numbers: Eight, lines: &[L]) -> Self {
        assert!(!lines.is_empty(), "a line");
        let row = size_of_val(lines);
        let last = numbers.same(row as u64 - 8);
        debug_assert!(numbers.above(last).are_none(), "eight bytes of the row");
        Self { numbers: numbers.min(last), row }
    }

    #[inline(always)]
    pub(super) fn numbers(self) -> Eight {
        self.numbers
    }

    /// These, but in some of the lanes those of the other.
    #[inline(always)]
    pub(super) fn or_in(self, lanes: Lanes, other: Self) -> Self {
        Self { numbers: self.numbers.or_in(lanes, other.numbers), row: self.row.max(other.row) }
    }

    /// Eight bytes from each of them on, as [`Line::eight_bytes_of`].
    #[inline(always)]
    pub(super) fn eight_bytes_of<L: Line>(self, lines: &[L], loads: Loads) -> Eight {
        let mut to_load = ToLoad::new(self);
        to_load.set(self, loads);
        to_load.load(lines, loads)
    }
}

/// Eight bytes of a row of lines that are to be loaded.
#[derive(Clone, Copy)]
pub(super) struct ToLoad {
    later: Later,
    /// As in [`InRow`].
    row: usize,
}

impl ToLoad {
    #[inline(always)]
    pub(super) fn new(bytes: InRow) -> Self {
        Self { later: Later::new(bytes.numbers.same(0)), row: bytes.row }
    }

    #[inline(always)]
    pub(super) fn set(&mut self, bytes: InRow, loads: Loads) {
        self.later.set(bytes.numbers, loads);
        // Who asks for both kinds of loads by turns gets old numbers, which then are still of the row.
        self.row = self.row.max(bytes.row);
    }

    /// Eight bytes from each of them on, as [`Line::eight_bytes_of`].
    #[inline(always)]
    pub(super) fn load<L: Line>(&self, lines: &[L], loads: Loads) -> Eight {
        assert!(size_of_val(lines) >= self.row, "the row");
        // SAFETY: every lane reads bytes of the lines: no number is above that of the last eight.
        unsafe { self.later.words(lines.as_ptr().cast(), loads) }
    }
}

impl BitAnd for Lanes {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Lanes {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Lanes {
    #[inline(always)]
    pub(super) fn are_none(self) -> bool {
        self.0 == 0
    }

    #[inline(always)]
    pub(super) fn are_all(self) -> bool {
        self.0 == u8::MAX
    }

    /// Eight answers: whether each is one of these.
    #[inline(always)]
    pub(super) fn answer(self, answers: &mut [bool; 8]) {
        // SAFETY: AVX-512, by `self`. Eight bytes are written, as many as there are answers, and each is 0 or 1, as answers are.
        unsafe {
            let bytes = _mm_maskz_set1_epi8(u16::from(self.0), 1);
            _mm_storel_epi64(core::ptr::from_mut(answers).cast(), bytes);
        }
    }
}

/// `_mm512_mul_epu32`, of which the compiler makes a product of all 64 bits, three times as much work, wherever it sees
/// that the upper halves are zero.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn lower_halves_times(a: __m512i, b: __m512i) -> __m512i {
    let product;
    // SAFETY: one instruction, on registers.
    unsafe {
        core::arch::asm!(
            "vpmuludq {product}, {a}, {b}",
            product = lateout(zmm_reg) product,
            a = in(zmm_reg) a,
            b = in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    product
}

/// By an instruction that the compiler knows nothing of: somebody may be writing meanwhile, to which the CPU gives the old or the
/// new of each byte. And it stays where it stands: the compiler would move it to where the words are needed, which is when they
/// should have come.
///
/// # Safety
/// From `from` on there are bytes with these numbers, and seven more after each.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
unsafe fn eight_bytes_by_asm(from: *const u8, numbers: __m512i) -> __m512i {
    let bytes;
    // SAFETY: only these bytes are read, and only the registers are written.
    unsafe {
        core::arch::asm!(
            "kxnorw {all}, {all}, {all}",
            "vpxorq {bytes}, {bytes}, {bytes}",
            "vpgatherqq {bytes}{{{all}}}, [{from} + {numbers}]",
            all = out(kreg) _,
            bytes = out(zmm_reg) bytes,
            from = in(reg) from,
            numbers = in(zmm_reg) numbers,
            options(nostack, preserves_flags, readonly)
        );
    }
    bytes
}

/// The same by single loads, which stay where they stand, too.
///
/// # Safety
/// As [`eight_bytes_by_asm`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
unsafe fn eight_bytes_singly(from: *const u8, places: &Numbers) -> __m512i {
    let (ab, cd, ef, gh): (__m128i, __m128i, __m128i, __m128i);
    // SAFETY: only the eight places and the bytes there are read, and only the registers are written.
    unsafe {
        core::arch::asm!(
            "mov {one}, [{places}]",
            "mov {other}, [{places} + 8]",
            "vmovq {ab}, [{from} + {one}]",
            "vmovhps {ab}, {ab}, [{from} + {other}]",
            "mov {one}, [{places} + 16]",
            "mov {other}, [{places} + 24]",
            "vmovq {cd}, [{from} + {one}]",
            "vmovhps {cd}, {cd}, [{from} + {other}]",
            "mov {one}, [{places} + 32]",
            "mov {other}, [{places} + 40]",
            "vmovq {ef}, [{from} + {one}]",
            "vmovhps {ef}, {ef}, [{from} + {other}]",
            "mov {one}, [{places} + 48]",
            "mov {other}, [{places} + 56]",
            "vmovq {gh}, [{from} + {one}]",
            "vmovhps {gh}, {gh}, [{from} + {other}]",
            from = in(reg) from,
            places = in(reg) core::ptr::from_ref(places),
            one = out(reg) _,
            other = out(reg) _,
            ab = out(xmm_reg) ab,
            cd = out(xmm_reg) cd,
            ef = out(xmm_reg) ef,
            gh = out(xmm_reg) gh,
            options(nostack, preserves_flags, readonly)
        );
    }
    let lower = _mm512_castsi256_si512(_mm256_set_m128i(cd, ab));
    _mm512_inserti64x4::<1>(lower, _mm256_set_m128i(gh, ef))
}
