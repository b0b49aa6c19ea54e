//! How the register of a bucket comes from its line, and gets back.

use core::hint::select_unpredictable;

use super::buckets::Grid;
use super::register::Register;
use crate::bits::{BLOCK_BITS, BLOCK_BYTES, Block, Line, replace_half, set_eight_bytes, words_mut};

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
pub(super) trait Access<R> {
    fn place(grid: Grid, bucket: u64) -> Place;
    fn at(place: Place) -> At;
    /// An address in the line of the place.
    fn address<L: Line>(lines: &[L], place: Place) -> *const L;
    /// The bucket in the lowest bits; what stands above it means nothing.
    fn load<L: Line>(lines: &[L], at: At) -> R;
    /// Writes `value` where `mask` has ones; both are counted from the bucket's lowest bit on. Elsewhere `value` is zero.
    fn replace(blocks: &mut [Block], at: At, mask: R, value: R);
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
fn index(place: Place) -> usize {
    place as usize
}

impl Access<u64> for Whole {
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
        lines.as_ptr().cast::<u64>().wrapping_add(index(place)).cast()
    }

    #[inline(always)]
    fn load<L: Line>(lines: &[L], at: At) -> u64 {
        L::word_of(lines, at.index)
    }

    #[inline(always)]
    fn replace(blocks: &mut [Block], at: At, mask: u64, value: u64) {
        let word = &mut words_mut(blocks)[at.index];
        *word = *word & !mask | value;
    }
}

impl Access<u32> for Whole {
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
        lines.as_ptr().cast::<u32>().wrapping_add(index(place)).cast()
    }

    #[inline(always)]
    fn load<L: Line>(lines: &[L], at: At) -> u32 {
        L::half_of(lines, at.index)
    }

    #[inline(always)]
    fn replace(blocks: &mut [Block], at: At, mask: u32, value: u32) {
        replace_half(blocks, at.index, mask, value);
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
    fn replace(blocks: &mut [Block], at: At, mask: u64, value: u64) {
        let before = Block::eight_bytes_of(blocks, at.index);
        set_eight_bytes(blocks, at.index, before & !(mask << at.shift) | value << at.shift);
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
        sixteen_bytes(lines, at.index) >> at.shift
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "cut into words on purpose")]
    fn replace(blocks: &mut [Block], at: At, mask: u128, value: u128) {
        let after = sixteen_bytes(blocks, at.index) & !(mask << at.shift) | value << at.shift;
        set_eight_bytes(blocks, at.index, after as u64);
        set_eight_bytes(blocks, at.index + 8, (after >> 64) as u64);
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
        A::replace(&mut after, place, mask, value & mask);
        assert_eq!(naive(&after[1], bit, bits), wide(value & mask), "{bits} bits at {bit}");
        assert_eq!(wide(A::load(&after, place) & mask), wide(value & mask));
        A::replace(&mut after, place, mask, A::load(&row, place) & mask);
        assert_eq!(after, row, "all other bits stay: {bits} bits at {bit}");
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
                if bits <= 121 || bits % 4 == 0 {
                    compare::<u128, Window>(bits, slot, words, value, |value| value);
                }
            }
        }
        assert!(fits_64(64) && fits_64(60) && fits_64(58) && fits_64(57) && !fits_64(62) && !fits_64(63));
    }
}
