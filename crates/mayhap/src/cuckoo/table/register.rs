//! A bucket in a register: 64 or 128 bits, cut out of a line.

use core::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

use crate::bits::{BLOCK_WORDS, Block, Line};

/// An unsigned integer that holds a bucket, or half of one.
///
/// Two types need it: `u64`, for buckets of up to 64 bits, where everything is one instruction; and `u128` for wider
/// ones.
pub(super) trait Register:
    Copy
    + Eq
    + Not<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    const ZERO: Self;

    /// The `bits` bits from bit `at` of the line on.
    fn load<L: Line>(line: &L, at: u32, bits: u32) -> Self;
    /// Writes the `bits` lowest bits of `self` to bit `at` of the block and on.
    fn store(self, block: &mut Block, at: u32, bits: u32);
    fn from_u32(value: u32) -> Self;
    /// The lowest 32 bits.
    fn low(self) -> u32;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// The number of zeros below the lowest one.
    fn lowest(self) -> u32;
    fn ones(self) -> u32;
}

macro_rules! arithmetic {
    ($type:ty) => {
        const ZERO: Self = 0;

        #[inline(always)]
        fn from_u32(value: u32) -> Self {
            Self::from(value)
        }
        #[inline(always)]
        #[allow(clippy::cast_possible_truncation, reason = "the lowest bits are what is asked for")]
        fn low(self) -> u32 {
            self as u32
        }
        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            self.wrapping_add(other)
        }
        #[inline(always)]
        fn minus(self, other: Self) -> Self {
            self.wrapping_sub(other)
        }
        #[inline(always)]
        fn times(self, other: Self) -> Self {
            self.wrapping_mul(other)
        }
        #[inline(always)]
        fn lowest(self) -> u32 {
            self.trailing_zeros()
        }
        #[inline(always)]
        fn ones(self) -> u32 {
            self.count_ones()
        }
    };
}

/// The word that holds bit `at` of a line, and the bit's place in it. The mask spares a bounds check.
#[inline(always)]
fn word_and_bit(at: u32) -> (usize, u32) {
    ((at / 64) as usize % BLOCK_WORDS, at % 64)
}

impl Register for u64 {
    arithmetic!(u64);

    #[inline(always)]
    fn load<L: Line>(line: &L, at: u32, bits: u32) -> Self {
        let (word, bit) = word_and_bit(at);
        let mut value = line.word(word) >> bit;
        // Buckets of 4, 8, 16, 32 and 64 bits never lie in two words; with a width known to the compiler this
        // disappears. After the last word comes whatever; no bucket reaches that far, and it is masked out.
        if !bits.is_power_of_two() {
            value |= (line.word((word + 1) % BLOCK_WORDS) << 1) << (63 - bit);
        }
        value & (u64::MAX >> (64 - bits))
    }

    #[inline(always)]
    fn store(self, block: &mut Block, at: u32, bits: u32) {
        let (word, bit) = word_and_bit(at);
        let mask = u64::MAX >> (64 - bits);
        block.0[word] = block.0[word] & !(mask << bit) | self << bit;
        // What is shifted out of the first word comes out at the bottom of the next: nothing if the bucket lies in one.
        // Written all the same: a branch on that would be mispredicted for every few keys.
        if !bits.is_power_of_two() {
            let next = &mut block.0[(word + 1) % BLOCK_WORDS];
            *next = *next & !((mask >> 1) >> (63 - bit)) | (self >> 1) >> (63 - bit);
        }
    }
}

impl Register for u128 {
    arithmetic!(u128);

    #[inline(always)]
    fn load<L: Line>(line: &L, at: u32, bits: u32) -> Self {
        let (word, bit) = word_and_bit(at);
        let at = |next: usize| Self::from(line.word((word + next) % BLOCK_WORDS));
        let value = (at(0) | at(1) << 64) >> bit | (at(2) << 1) << (127 - bit);
        value & (Self::MAX >> (128 - bits))
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "cut into words on purpose")]
    fn store(self, block: &mut Block, at: u32, bits: u32) {
        let (word, bit) = word_and_bit(at);
        let mask = Self::MAX >> (128 - bits);
        let (low_mask, low) = (mask << bit, self << bit);
        // What the shift pushed out at the top: the third word, if the bucket lies in three. If not, it is written as
        // it was, as in 64 bits.
        let (high_mask, high) = ((mask >> 1) >> (127 - bit), (self >> 1) >> (127 - bit));
        let parts = [
            (low_mask as u64, low as u64),
            ((low_mask >> 64) as u64, (low >> 64) as u64),
            (high_mask as u64, high as u64),
        ];
        for (next, (mask, value)) in parts.into_iter().enumerate() {
            let target = &mut block.0[(word + next) % BLOCK_WORDS];
            *target = *target & !mask | value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit by bit.
    fn naive(block: &Block, at: u32, bits: u32) -> u128 {
        (0..bits).map(|i| u128::from(block.0[((at + i) / 64) as usize] >> ((at + i) % 64) & 1) << i).sum()
    }

    #[test]
    fn loads_and_stores_are_those_of_single_bits() {
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            state ^ state >> 29
        };
        for bits in 1..=128u32 {
            for at in 0..=512 - bits {
                // Buckets lie at multiples of their width.
                if at % bits != 0 {
                    continue;
                }
                let before = Block(core::array::from_fn(|_| random()));
                let value = (u128::from(random()) << 64 | u128::from(random())) >> (128 - bits);
                let mut after = before;
                value.store(&mut after, at, bits);
                assert_eq!(u128::load(&before, at, bits), naive(&before, at, bits), "{bits} bits at {at}");
                assert_eq!(naive(&after, at, bits), value, "{bits} bits at {at}");
                let mut narrow = before;
                if bits <= 64 {
                    assert_eq!(u128::from(u64::load(&before, at, bits)), naive(&before, at, bits));
                    (value as u64).store(&mut narrow, at, bits);
                    assert_eq!(narrow, after, "{bits} bits at {at}");
                }
                // All other bits stay.
                naive(&before, at, bits).store(&mut after, at, bits);
                assert_eq!(after, before, "{bits} bits at {at}");
            }
        }
    }
}
