//! From a key to its bits.

use super::hash::hash_key;
use crate::bloom::{Modulus, Scheme, Strides};
#[cfg(target_arch = "x86_64")]
use crate::cpu::Avx2;
use crate::hash::Key;

/// The most bits a key has. A filter whose last byte is larger is kept for encodings that may come.
pub(super) const MOST_HASHES: u8 = 30;

/// LevelDB's recipe: double hashing on 32 bits.
///
/// ```text
/// h = hash(key)        d = h rotated right by 17        bit i = (h + i·d mod 2³²) mod m
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelDb;

impl Scheme for LevelDb {
    type Hash = u32;
    type Range = Remainder;

    #[inline]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> u32 {
        hash_key(key)
    }

    #[inline]
    fn hash_each<K: Key>(&self, keys: &[K], hashes: &mut [u32]) {
        // Keys of one short length are hashed as fast by code that the compiler makes for it.
        #[cfg(target_arch = "x86_64")]
        if size_of::<K::Bytes<'_>>() > 8
            && let Some(avx2) = Avx2::detect()
        {
            return super::lanes::hash_each(avx2, keys, hashes);
        }
        for (hash, key) in hashes.iter_mut().zip(keys) {
            *hash = hash_key(key);
        }
    }

    fn range(bits: u64) -> Remainder {
        Remainder::by(bits)
    }

    #[inline(always)]
    fn strides(range: Remainder) -> Option<Strides> {
        Some(Strides { modulus: Modulus::new(range.divisor), width: 32 })
    }

    #[inline(always)]
    fn stride(hash: u32) -> (u64, u64) {
        (u64::from(hash), u64::from(step(hash)))
    }

    #[inline(always)]
    fn positions(&self, hash: u32, range: Remainder) -> impl Iterator<Item = u64> + Clone {
        steps(hash).map(move |step| range.of(step))
    }
}

/// Remainders of 32-bit numbers without division, in two multiplications and nothing else. The
/// [`Modulus`](crate::bloom::Modulus) of 64-bit numbers needs a correction after them.
///
/// ```text
/// x · ⌈2⁶⁴ / m⌉ mod 2⁶⁴ is the fraction x/m − ⌊x/m⌋ in 64 binary places; m times it is the remainder
/// ```
///
/// The fraction is too large by less than 2⁻³² / m, because x is below 2³², so that the product is too large by less than 2⁻³² and
/// its whole part is right (Lemire, Kaser and Kurz, 2019).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remainder {
    divisor: u64,
    reciprocal: u64,
}

impl Remainder {
    /// Remainders by `divisor`, where 0 is taken for 1. From 2³² on every number is its own remainder.
    const fn by(divisor: u64) -> Self {
        let divisor = match divisor {
            0 => 1,
            divisor if divisor > 1 << 32 => 1 << 32,
            divisor => divisor,
        };
        Self { divisor, reciprocal: (u64::MAX / divisor).wrapping_add(1) }
    }

    /// `x % divisor`.
    #[inline(always)]
    pub(super) const fn of(self, x: u32) -> u64 {
        let fraction = self.reciprocal.wrapping_mul(x as u64);
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the high half of a product of two 64-bit numbers"
        )]
        let remainder = ((fraction as u128 * self.divisor as u128) >> 64) as u64;
        remainder
    }
}

/// The numbers whose remainders are a key's positions, without end.
#[inline(always)]
pub(super) fn steps(mut hash: u32) -> impl Iterator<Item = u32> + Clone {
    let step = step(hash);
    core::iter::from_fn(move || {
        let at = hash;
        hash = hash.wrapping_add(step);
        Some(at)
    })
}

/// What lies between one of these numbers and the next.
const fn step(hash: u32) -> u32 {
    hash.rotate_right(17)
}

/// Whose arithmetic a filter follows. Below 2³² bits, that is 512 MiB, there is no difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Flavour {
    /// LevelDB counts bits in 64 bits. As positions are remainders of a 32-bit number, what lies beyond the first 2³²
    /// bits is never set: a larger filter isn't a better one.
    #[default]
    LevelDb,
    /// badger cuts the number of bits to 32 bits before it divides by it, so that a filter of slightly more than 2³²
    /// bits uses only its first few, and answers yes nearly always.
    Badger,
}

impl Flavour {
    /// The number that positions in so many bytes are remainders by. `None` where badger divides by zero.
    pub(super) fn divisor(self, bytes: u64) -> Option<u64> {
        let bits = bytes.saturating_mul(8);
        let divisor = match self {
            Self::LevelDb => bits,
            Self::Badger => bits & u64::from(u32::MAX),
        };
        (divisor > 0).then_some(divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn remainders_at_the_edges_are_those_of_division() {
        let edges = [0, 1, 2, 3, 63, 64, 65, 72, 1 << 16, (1 << 31) - 1, 1 << 31, u32::MAX - 1, u32::MAX];
        for divisor in edges.into_iter().filter(|divisor| *divisor > 0) {
            let remainder = Remainder::by(u64::from(divisor));
            for x in edges.into_iter().chain(edges.map(|x| x.wrapping_mul(divisor))) {
                assert_eq!(remainder.of(x), u64::from(x % divisor), "{x} % {divisor}");
                assert_eq!(remainder.of(x.wrapping_sub(1)), u64::from(x.wrapping_sub(1) % divisor));
            }
        }
        for divisor in [1 << 32, (1 << 32) + 1, u64::MAX] {
            assert!(edges.iter().all(|x| Remainder::by(divisor).of(*x) == u64::from(*x)));
        }
        assert_eq!(Remainder::by(0).of(5), 0);
    }

    proptest! {
        #[test]
        fn remainders_are_those_of_division(x: u32, divisor in 1u32.., shift in 0u32..32) {
            let divisor = (divisor >> shift).max(1);
            prop_assert_eq!(Remainder::by(u64::from(divisor)).of(x), u64::from(x % divisor));
        }
    }

    #[test]
    fn beyond_2_to_the_32_bits_leveldb_uses_the_first_and_badger_the_rest() {
        let bytes = (1 << 29) + 100;
        let positions = |flavour: Flavour, hash| -> Vec<u64> {
            LevelDb.positions(hash, LevelDb::range(flavour.divisor(bytes).unwrap())).take(3).collect()
        };
        for hash in [0, 1, 799, 800, 801, 0x8000_0000, u32::MAX] {
            let steps: Vec<u64> = steps(hash).map(u64::from).take(3).collect();
            assert_eq!(positions(Flavour::LevelDb, hash), steps);
            assert_eq!(
                positions(Flavour::Badger, hash),
                steps.iter().map(|step| step % 800).collect::<Vec<_>>()
            );
        }
        assert_eq!(Flavour::LevelDb.divisor(1 << 29), Some(1 << 32));
        assert_eq!(Flavour::Badger.divisor(1 << 29), None);
        assert_eq!(Flavour::LevelDb.divisor(0), None);
    }
}
