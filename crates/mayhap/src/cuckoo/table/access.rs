//! How the register of a bucket comes from its line, and gets back.

use core::hint::select_unpredictable;

use super::buckets::Grid;
use super::lanes::Lanes;
use super::register::Register;
use crate::bits::{
    BLOCK_BITS, BLOCK_BYTES, Block, Line, clear_quarter, flip_eight_bytes, flip_half, flip_one_of_two,
    words_mut,
};

/// Where a bucket is in a row of lines, in one number, to be kept. Only the [`Access`] that made it knows what it counts.
pub(super) type Place = u64;

/// The same taken apart, to be used at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    /// The number of a register, or of a byte, of all in a row.
    pub(super) index: usize,
    /// Bits that are read before the bucket.
    shift: u32,
}

impl At {
    /// One of two without a branch.
    #[inline(always)]
    pub(super) fn either(is_first: bool, first: Self, second: Self) -> Self {
        Self {
            index: select_unpredictable(is_first, first.index, second.index),
            shift: select_unpredictable(is_first, first.shift, second.shift),
        }
    }
}

/// A way to buckets, in registers of type `R`.
pub(super) trait Access<R: Register> {
    fn place(grid: Grid, bucket: u64) -> Place;
    fn at(place: Place) -> At;
    /// An address in the line of the place.
    fn address<L: Line>(lines: &[L], place: Place) -> *const L;
    /// The bucket in the lowest bits; what stands above it means nothing.
    fn load<L: Line>(lines: &[L], at: At) -> R;
    /// Takes a fingerprint out of one of two buckets, the first if so it is said, in which it stands from bit `from` on.
    #[inline(always)]
    fn take_from(blocks: &mut [Block], places: [At; 2], is_first: bool, from: u32, fingerprint: u32) {
        Self::flip_one_from(blocks, places, is_first, from, fingerprint);
    }

    /// All lanes of two loaded buckets, where there is a register for them: a shorter way than with each by itself.
    #[inline(always)]
    fn lanes(_first: R, _second: R) -> Option<Lanes> {
        None
    }
    /// Changes the bits of the bucket that are ones in `bits`.
    fn flip(blocks: &mut [Block], at: At, bits: R);
    /// The same with a number that stands from bit `from` of the bucket on.
    #[inline(always)]
    fn flip_from(blocks: &mut [Block], at: At, from: u32, bits: u32) {
        Self::flip(blocks, at, R::from_u32(bits) << from);
    }
    /// [`flip`](Self::flip) for one of two buckets that have been loaded, the first if so it is said.
    ///
    /// Which of the two it is, is chosen without a branch. One would be mispredicted half of the time, and what the core has
    /// begun for later keys, their trips to memory included, would be thrown away.
    #[inline(always)]
    fn flip_one(blocks: &mut [Block], [first, second]: [At; 2], is_first: bool, bits: R) {
        Self::flip(blocks, At::either(is_first, first, second), bits);
    }
    /// [`flip_from`](Self::flip_from) likewise.
    #[inline(always)]
    fn flip_one_from(blocks: &mut [Block], [first, second]: [At; 2], is_first: bool, from: u32, bits: u32) {
        Self::flip_from(blocks, At::either(is_first, first, second), from, bits);
    }
}

/// Buckets that are a whole register: number i is the i-th of all in a row, and nothing need be shifted or masked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole;

/// Buckets of any width, from any bit of their line on: two loads of words that may not be needed both would be twice the
/// work, so it is one, from the byte on in which the bucket begins. It must then fit with up to seven bits before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window;

/// The number of something in memory.
#[allow(clippy::cast_possible_truncation, reason = "what is in memory has an index")]
#[inline(always)]
pub(super) fn index(place: Place) -> usize {
    place as usize
}

/// A register of which lines are made.
pub(super) trait Unit: Register {
    fn load<L: Line>(lines: &[L], index: usize) -> Self;
    fn flip(blocks: &mut [Block], index: usize, bits: Self);
    /// As [`Access::take_from`].
    #[inline(always)]
    fn take_from(blocks: &mut [Block], places: [usize; 2], is_first: bool, from: u32, fingerprint: u32) {
        let [first, second] = places;
        let index = select_unpredictable(is_first, first, second);
        Self::flip(blocks, index, Self::from_u32(fingerprint) << from);
    }
    /// As [`Access::lanes`].
    #[inline(always)]
    fn lanes(_first: Self, _second: Self) -> Option<Lanes> {
        None
    }
}

impl Unit for u64 {
    #[inline(always)]
    fn load<L: Line>(lines: &[L], index: usize) -> Self {
        L::word_of(lines, index)
    }

    #[inline(always)]
    fn flip(blocks: &mut [Block], index: usize, bits: Self) {
        words_mut(blocks)[index] ^= bits;
    }

    /// A store instead of a load, a shift and a store.
    #[inline(always)]
    fn take_from(blocks: &mut [Block], places: [usize; 2], is_first: bool, from: u32, _fingerprint: u32) {
        clear_quarter(blocks, places, is_first, from);
    }

    /// Four lanes of 16 bits each: no other layout has whole buckets of 64.
    #[inline(always)]
    fn lanes(first: Self, second: Self) -> Option<Lanes> {
        Lanes::new(first, second)
    }
}

impl Unit for u32 {
    #[inline(always)]
    fn load<L: Line>(lines: &[L], index: usize) -> Self {
        L::half_of(lines, index)
    }

    #[inline(always)]
    fn flip(blocks: &mut [Block], index: usize, bits: Self) {
        flip_half(blocks, index, bits);
    }
}

impl<R: Unit> Access<R> for Whole {
    #[inline(always)]
    fn place(_: Grid, bucket: u64) -> Place {
        bucket
    }

    #[inline(always)]
    fn at(place: Place) -> At {
        At { index: index(place), shift: 0 }
    }

    #[inline(always)]
    fn address<L: Line>(lines: &[L], place: Place) -> *const L {
        lines.as_ptr().cast::<R>().wrapping_add(index(place)).cast()
    }

    #[inline(always)]
    fn load<L: Line>(lines: &[L], at: At) -> R {
        R::load(lines, at.index)
    }

    #[inline(always)]
    fn take_from(blocks: &mut [Block], places: [At; 2], is_first: bool, from: u32, fingerprint: u32) {
        R::take_from(blocks, places.map(|at| at.index), is_first, from, fingerprint);
    }

    #[inline(always)]
    fn lanes(first: R, second: R) -> Option<Lanes> {
        R::lanes(first, second)
    }

    #[inline(always)]
    fn flip(blocks: &mut [Block], at: At, bits: R) {
        R::flip(blocks, at.index, bits);
    }
}

impl Access<u64> for Window {
    #[inline(always)]
    fn place(grid: Grid, bucket: u64) -> Place {
        grid.bit(bucket)
    }

    #[inline(always)]
    fn at(place: Place) -> At {
        window::<8>(place)
    }

    #[inline(always)]
    fn address<L: Line>(lines: &[L], place: Place) -> *const L {
        lines.as_ptr().wrapping_add(index(place / BLOCK_BITS))
    }

    #[inline(always)]
    fn load<L: Line>(lines: &[L], at: At) -> u64 {
        L::eight_bytes_of(lines, at.index) >> at.shift
    }

    #[inline(always)]
    fn flip(blocks: &mut [Block], at: At, bits: u64) {
        flip_eight_bytes(blocks, at.index, bits << at.shift);
    }

    #[inline(always)]
    fn flip_from(blocks: &mut [Block], at: At, from: u32, bits: u32) {
        flip_eight_bytes(blocks, at.index, u64::from(bits) << (from + at.shift));
    }

    #[inline(always)]
    fn flip_one(blocks: &mut [Block], places: [At; 2], is_first: bool, bits: u64) {
        let shift = At::either(is_first, places[0], places[1]).shift;
        flip_one_of_two(blocks, places.map(|at| at.index), is_first, bits << shift);
    }

    #[inline(always)]
    fn flip_one_from(blocks: &mut [Block], places: [At; 2], is_first: bool, from: u32, bits: u32) {
        let from = from + At::either(is_first, places[0], places[1]).shift;
        flip_one_of_two(blocks, places.map(|at| at.index), is_first, u64::from(bits) << from);
    }
}

impl Access<u128> for Window {
    #[inline(always)]
    fn place(grid: Grid, bucket: u64) -> Place {
        grid.bit(bucket)
    }

    #[inline(always)]
    fn at(place: Place) -> At {
        window::<16>(place)
    }

    #[inline(always)]
    fn address<L: Line>(lines: &[L], place: Place) -> *const L {
        lines.as_ptr().wrapping_add(index(place / BLOCK_BITS))
    }

    #[inline(always)]
    fn load<L: Line>(lines: &[L], at: At) -> u128 {
        // Buckets too wide for the other window have less than 64 bits before them, at the end of a line, too. A compiler that
        // knows it makes a shift of three instructions instead of seven.
        debug_assert!(at.shift < 64);
        sixteen_bytes(lines, at.index) >> (at.shift % 64)
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "cut into words on purpose")]
    fn flip(blocks: &mut [Block], at: At, bits: u128) {
        let bits = bits << at.shift;
        flip_eight_bytes(blocks, at.index, bits as u64);
        flip_eight_bytes(blocks, at.index + 8, (bits >> 64) as u64);
    }

    /// Eight bytes are enough, which spares shifting sixteen.
    #[inline(always)]
    fn flip_from(blocks: &mut [Block], at: At, from: u32, bits: u32) {
        let from = at.shift + from;
        let byte = (from / 8).min(8);
        flip_eight_bytes(blocks, at.index + byte as usize, u64::from(bits) << (from - 8 * byte));
    }
}

#[inline(always)]
fn sixteen_bytes<L: Line>(lines: &[L], byte: usize) -> u128 {
    u128::from(L::eight_bytes_of(lines, byte)) | u128::from(L::eight_bytes_of(lines, byte + 8)) << 64
}

/// The byte from which on so many are read, at most the last of its line that has enough behind it, and the bits that are
/// read before the bucket.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "below 128")]
fn window<const BYTES: u64>(place: Place) -> At {
    let in_line = (place / 8 % BLOCK_BYTES as u64).min(BLOCK_BYTES as u64 - BYTES);
    let byte = place / BLOCK_BITS * BLOCK_BYTES as u64 + in_line;
    At { index: index(byte), shift: place.wrapping_sub(8 * byte) as u32 }
}

/// Whether a bucket of this width, with up to seven bits before it, fits a register of 64 bits.
pub(super) const fn fits_64(bucket_bits: u32) -> bool {
    // Buckets begin at multiples of their width, so that the bits before them in their byte are multiples, too, of the
    // highest power of two in it.
    let power = 1 << bucket_bits.trailing_zeros();
    bucket_bits + 8u32.saturating_sub(power) <= u64::BITS
}

/// The lowest `bits` bits.
#[inline(always)]
pub(super) fn low_bits<R: Register>(bits: u32) -> R {
    !R::ZERO >> (R::BITS - bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit by bit.
    fn naive(block: &Block, at: u32, bits: u32) -> u128 {
        (0..bits).map(|i| u128::from(block.0[((at + i) / 64) as usize] >> ((at + i) % 64) & 1) << i).sum()
    }

    /// One bucket of a line read and written in one way, beside single bits.
    fn compare<R: Register, A: Access<R>>(
        bits: u32,
        slot: u64,
        words: [u64; 8],
        value: R,
        wide: fn(R) -> u128,
    ) {
        let (grid, before) = (Grid::new(bits), Block(words));
        let row = [Block::default(), before, Block(words.map(|word| !word))];
        let per_line = u64::from(512 / bits);
        let (place, bit) = (A::at(A::place(grid, per_line + slot)), bits * slot as u32);
        let (mask, old) = (low_bits::<R>(bits), naive(&before, bit, bits));
        assert_eq!(wide(A::load(&row, place) & mask), old, "{bits} bits at {bit}");
        let mut after = row;
        A::flip(&mut after, place, value & mask);
        assert_eq!(naive(&after[1], bit, bits), old ^ wide(value & mask), "{bits} bits at {bit}");
        assert_eq!(wide(A::load(&after, place) & mask), old ^ wide(value & mask));
        A::flip(&mut after, place, value & mask);
        assert_eq!(after, row, "all other bits stay: {bits} bits at {bit}");
        for from in (0..bits).step_by(5) {
            let low = value.low() & (u32::MAX >> 32u32.saturating_sub(bits - from));
            A::flip_from(&mut after, place, from, low);
            assert_eq!(
                naive(&after[1], bit, bits),
                old ^ u128::from(low) << from,
                "{bits} bits at {bit} + {from}"
            );
            A::flip(&mut after, place, R::from_u32(low) << from);
            assert_eq!(after, row, "{bits} bits at {bit} + {from}");
        }
    }

    #[test]
    fn loads_and_stores_are_those_of_single_bits() {
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            state ^ state >> 29
        };
        for bits in 4..=128u32 {
            for slot in 0..u64::from(512 / bits) {
                let words = core::array::from_fn(|_| random());
                let value = u128::from(random()) << 64 | u128::from(random());
                if bits == 64 {
                    compare::<u64, Whole>(bits, slot, words, value as u64, u128::from);
                }
                if bits == 32 {
                    compare::<u32, Whole>(bits, slot, words, value as u32, u128::from);
                }
                if bits <= 64 && fits_64(bits) {
                    compare::<u64, Window>(bits, slot, words, value as u64, u128::from);
                }
                // As many bits before it as fit: buckets of 128 bits and less that are layouts.
                if !fits_64(bits) && (bits <= 121 || bits % 4 == 0) {
                    compare::<u128, Window>(bits, slot, words, value, |value| value);
                }
            }
        }
        assert!(fits_64(64) && fits_64(60) && fits_64(58) && fits_64(57) && !fits_64(62) && !fits_64(63));
    }
}
