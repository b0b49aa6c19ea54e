//! From an item to its bits.

use crate::bloom::{Modulus, Scheme, Strides};
#[cfg(target_arch = "x86_64")]
use crate::cpu::Avx2;
use crate::hash::Key;
use crate::hash::functions::murmur2::{murmur2_32, murmur64a_twice};

/// What RedisBloom reduces an item to: a start and a step.
///
/// Make one with [`RedisBloom::hash`](super::RedisBloom::hash) and use it with every filter of the same
/// [recipe](RedisRecipe).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RedisHash(pub(super) [u64; 2]);

/// RedisBloom's recipe: double hashing, plain.
///
/// ```text
/// start = MurmurHash64A(item, 0xc6a4a7935bd1e995)        step = MurmurHash64A(item, start)
/// position i = (start + i · step mod 2⁶⁴) mod m           i = 0 … k − 1
/// ```
///
/// Filters from before 2019 used MurmurHash2 of 32 bits, with the seed `0x9747b28c`. In those, positions never need
/// more than 64 bits, so the second line stays as it is. (RedisBloom computes them in 32 bits where m is a power of two
/// below 2³². The remainder is the same.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedisRecipe {
    /// Two MurmurHash64A: what every filter made today has.
    Murmur64,
    /// Two MurmurHash2 of 32 bits: the old filters. Above some ten million items their rate can't be kept.
    Murmur32,
}

const SEED_64: u64 = 0xc6a4_a793_5bd1_e995;
const SEED_32: u32 = 0x9747_b28c;

impl Scheme for RedisRecipe {
    type Hash = RedisHash;
    type Range = Modulus;

    #[inline]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> RedisHash {
        let bytes = key.key_bytes();
        let bytes = bytes.as_ref();
        match self {
            Self::Murmur64 => RedisHash(murmur64a_twice(bytes, SEED_64)),
            Self::Murmur32 => {
                let start = murmur2_32(bytes, SEED_32);
                RedisHash([u64::from(start), u64::from(murmur2_32(bytes, start))])
            }
        }
    }

    #[inline]
    fn hash_each<K: Key>(&self, keys: &[K], hashes: &mut [RedisHash]) {
        // Keys of one short length are hashed as fast by code that the compiler makes for it.
        #[cfg(target_arch = "x86_64")]
        if *self == Self::Murmur64
            && size_of::<K::Bytes<'_>>() > 8
            && let Some(avx2) = Avx2::detect()
        {
            return super::lanes::hash_each(avx2, SEED_64, keys, hashes);
        }
        for (hash, key) in hashes.iter_mut().zip(keys) {
            *hash = self.hash(key);
        }
    }

    fn range(bits: u64) -> Modulus {
        Modulus::new(bits)
    }

    #[inline(always)]
    fn strides(modulus: Modulus) -> Option<Strides> {
        Some(Strides { modulus, width: 64 })
    }

    #[inline(always)]
    fn stride(RedisHash([start, step]): RedisHash) -> (u64, u64) {
        (start, step)
    }

    #[inline(always)]
    fn positions(
        &self,
        RedisHash([start, step]): RedisHash,
        range: Modulus,
    ) -> impl Iterator<Item = u64> + Clone {
        let mut at = start;
        core::iter::from_fn(move || {
            let position = range.remainder(at);
            at = at.wrapping_add(step);
            Some(position)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::functions::murmur2::murmur64a;
    use std::vec::Vec;

    #[test]
    fn positions_are_remainders_of_a_plain_sum() {
        for recipe in [RedisRecipe::Murmur64, RedisRecipe::Murmur32] {
            let hash = recipe.hash("p:user:1");
            let RedisHash([start, step]) = hash;
            for bits in [64u64, 1152, 1 << 20, 1 << 33, 959_999_936] {
                let got: Vec<u64> = recipe.positions(hash, RedisRecipe::range(bits)).take(20).collect();
                let plain = (0..20u64).map(|i| start.wrapping_add(i.wrapping_mul(step)) % bits);
                assert_eq!(got, plain.collect::<Vec<_>>());
                // What the old program did for powers of two below 2^32.
                if recipe == RedisRecipe::Murmur32 && bits == 1 << 20 {
                    let narrow = (0..20u32).map(|i| {
                        u64::from((start as u32).wrapping_add(i.wrapping_mul(step as u32)) % (1 << 20))
                    });
                    assert_eq!(got, narrow.collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn the_second_hash_is_seeded_by_the_first() {
        let RedisHash([start, step]) = RedisRecipe::Murmur64.hash("abc");
        assert_eq!(start, murmur64a(b"abc", SEED_64));
        assert_eq!(step, murmur64a(b"abc", start));
        assert!(RedisRecipe::Murmur32.hash("abc").0[0] <= u64::from(u32::MAX));
    }
}
