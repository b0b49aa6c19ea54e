//! A bucket in a register.

use core::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

/// An unsigned integer that holds a bucket, or half of one.
///
/// Three types do: `u32` and `u64`, where everything is one instruction, and `u128` for wider buckets.
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
    const BITS: u32;

    fn from_u32(value: u32) -> Self;
    /// The lowest 32 bits.
    fn low(self) -> u32;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// The number of zeros below the lowest one.
    fn lowest(self) -> u32;
    /// The number of zeros above the highest one.
    fn above(self) -> u32;
    fn ones(self) -> u32;
}

macro_rules! arithmetic {
    ($type:ty) => {
        impl Register for $type {
            const ZERO: Self = 0;
            const BITS: u32 = <$type>::BITS;

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
            fn above(self) -> u32 {
                self.leading_zeros()
            }
            #[inline(always)]
            fn ones(self) -> u32 {
                self.count_ones()
            }
        }
    };
}

arithmetic!(u32);
arithmetic!(u64);
arithmetic!(u128);
