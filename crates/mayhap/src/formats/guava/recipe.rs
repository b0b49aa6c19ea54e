//! The two ways from MurmurHash3 to bit positions.

use crate::bloom::{Modulus, Scheme, Strides};
use crate::hash::Key;
use crate::hash::functions::murmur3::murmur3_128;

/// Which recipe a filter follows. The number is its first byte in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// `MURMUR128_MITZ_32`: what Guava used first. Its positions have 31 bits, so that large filters miss their rate:
    /// see [the traps](super#traps).
    Mitz32 = 0,
    /// `MURMUR128_MITZ_64`: what `BloomFilter.create` makes today.
    Mitz64 = 1,
}

impl Strategy {
    /// The number that stands for it in a stream.
    #[must_use]
    pub const fn ordinal(self) -> u8 {
        self as u8
    }

    /// The strategy with this number.
    #[must_use]
    pub const fn from_ordinal(ordinal: u8) -> Option<Self> {
        match ordinal {
            0 => Some(Self::Mitz32),
            1 => Some(Self::Mitz64),
            _ => None,
        }
    }

    /// Guava's own name for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mitz32 => "MURMUR128_MITZ_32",
            Self::Mitz64 => "MURMUR128_MITZ_64",
        }
    }
}

/// The recipe `MURMUR128_MITZ_32`. With `a` and `b` the low and the high half of `h1`, and everything in signed 32 bits:
///
/// ```text
/// for i = 1 … k:   c = a + i · b,   its bits turned over if it is negative;   position c mod m
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mitz32;

/// The recipe `MURMUR128_MITZ_64`, in unsigned 64 bits:
///
/// ```text
/// c = h1;   k times:   position (c mod 2⁶³) mod m;   c = c + h2
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mitz64;

impl Scheme for Mitz32 {
    /// `h1`; the other half isn't used.
    type Hash = u64;
    type Range = Modulus;

    #[inline]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
        murmur3_128(key.key_bytes().as_ref(), 0)[0]
    }

    fn range(bits: u64) -> Modulus {
        Modulus::new(bits)
    }

    #[inline(always)]
    fn positions(&self, hash: u64, range: Modulus) -> impl Iterator<Item = u64> + Clone {
        #[allow(clippy::cast_possible_truncation, reason = "the two halves are what is wanted")]
        let (mut at, step) = (hash as i32, (hash >> 32) as i32);
        core::iter::from_fn(move || {
            at = at.wrapping_add(step);
            // All ones if it is negative: turns its bits over, and leaves it otherwise.
            let sign = at >> 31;
            Some(range.remainder(u64::from((at ^ sign).cast_unsigned())))
        })
    }
}

impl Scheme for Mitz64 {
    /// `h1` and `h2`.
    type Hash = [u64; 2];
    type Range = Modulus;

    #[inline]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> [u64; 2] {
        murmur3_128(key.key_bytes().as_ref(), 0)
    }

    fn range(bits: u64) -> Modulus {
        Modulus::new(bits)
    }

    #[inline(always)]
    fn strides(modulus: Modulus) -> Option<Strides> {
        Some(Strides { modulus, width: 63 })
    }

    #[inline(always)]
    fn stride([start, step]: [u64; 2]) -> (u64, u64) {
        (start, step)
    }

    #[inline(always)]
    fn positions(&self, [mut at, step]: [u64; 2], range: Modulus) -> impl Iterator<Item = u64> + Clone {
        core::iter::from_fn(move || {
            let position = range.remainder(at & (u64::MAX >> 1));
            at = at.wrapping_add(step);
            Some(position)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Strategy, *};
    use proptest::prelude::*;
    use std::vec::Vec;

    /// As `SPECS` has it, with divisions.
    fn plain_32(h1: u64, k: u32, bits: u64) -> Vec<u64> {
        let (a, b) = (h1 as i32, (h1 >> 32) as i32);
        (1..=k as i32)
            .map(|i| {
                let c = a.wrapping_add(i.wrapping_mul(b));
                (if c < 0 { !c } else { c }) as u64 % bits
            })
            .collect()
    }

    fn plain_64([h1, h2]: [u64; 2], k: u32, bits: u64) -> Vec<u64> {
        (0..u64::from(k))
            .map(|i| (h1.wrapping_add(i.wrapping_mul(h2)) & 0x7fff_ffff_ffff_ffff) % bits)
            .collect()
    }

    proptest! {
        #[test]
        fn positions_are_those_of_the_plain_arithmetic(h1: u64, h2: u64, k in 1u32..=255, words in 1u64..1 << 31) {
            let bits = words * 64;
            let narrow = Mitz32.positions(h1, Mitz32::range(bits)).take(k as usize);
            prop_assert_eq!(narrow.collect::<Vec<_>>(), plain_32(h1, k, bits));
            let wide = Mitz64.positions([h1, h2], Mitz64::range(bits)).take(k as usize);
            prop_assert_eq!(wide.collect::<Vec<_>>(), plain_64([h1, h2], k, bits));
        }
    }

    #[test]
    fn the_lowest_integer_turned_over_is_the_highest() {
        let lowest = u64::from(i32::MIN.cast_unsigned());
        assert_eq!(Mitz32.positions(lowest, Modulus::new(1 << 36)).next(), Some(0x7fff_ffff));
    }

    #[test]
    fn numbers_and_names_of_the_strategies() {
        for strategy in [Strategy::Mitz32, Strategy::Mitz64] {
            assert_eq!(Strategy::from_ordinal(strategy.ordinal()), Some(strategy));
        }
        assert_eq!(Strategy::from_ordinal(2), None);
        assert_eq!(Strategy::Mitz64.name(), "MURMUR128_MITZ_64");
    }
}
