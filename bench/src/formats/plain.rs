//! LevelDB's, Guava's and RedisBloom's filters by the book, their hash functions included.
//!
//! Words are read as words and the last bytes one by one, as all three originals do; positions are remainders by division.
//! What a translation of Guava would only lose by is left out: its objects, and the array that it writes a hash to.
//!
//! The hash functions are not inlined. A key's length is known at run time only in all three, and the compiler would take
//! an integer's eight bytes as a promise: no loop, no last bytes.

use super::{BITS_PER_KEY, Failure, Filter, Question};

/// `leveldb::Hash`, `util/hash.cc`, with the seed of `BloomHash`.
mod leveldb_hash {
    const SEED: u32 = 0xbc9f_1d34;
    const M: u32 = 0xc6a4_a793;

    #[inline(never)]
    pub(super) fn hash(key: &[u8]) -> u32 {
        let mut h = SEED ^ (key.len() as u32).wrapping_mul(M);
        let (words, rest) = key.as_chunks();
        for word in words {
            h = h.wrapping_add(u32::from_le_bytes(*word)).wrapping_mul(M);
            h ^= h >> 16;
        }
        if !rest.is_empty() {
            for (i, byte) in rest.iter().enumerate() {
                h = h.wrapping_add(u32::from(*byte) << (8 * i));
            }
            h = h.wrapping_mul(M);
            h ^= h >> 24;
        }
        h
    }
}

/// `MurmurHash64A_Bloom`, `deps/murmur2/MurmurHash2.c` of RedisBloom.
mod murmur64a {
    const M: u64 = 0xc6a4_a793_5bd1_e995;

    #[inline(never)]
    pub(super) fn hash(key: &[u8], seed: u64) -> u64 {
        let mut h = seed ^ (key.len() as u64).wrapping_mul(M);
        let (words, rest) = key.as_chunks();
        for word in words {
            let mut k = u64::from_le_bytes(*word).wrapping_mul(M);
            k ^= k >> 47;
            h = (h ^ k.wrapping_mul(M)).wrapping_mul(M);
        }
        if !rest.is_empty() {
            for (i, byte) in rest.iter().enumerate() {
                h ^= u64::from(*byte) << (8 * i);
            }
            h = h.wrapping_mul(M);
        }
        h ^= h >> 47;
        h = h.wrapping_mul(M);
        h ^ (h >> 47)
    }
}

/// `Murmur3_128HashFunction` of Guava, with seed 0: `process`, `processRemaining` and `makeHash`.
mod murmur3_128 {
    const C1: u64 = 0x87c3_7b91_1142_53d5;
    const C2: u64 = 0x4cf5_ad43_2745_937f;

    #[inline(never)]
    pub(super) fn hash(key: &[u8]) -> [u64; 2] {
        let (mut h1, mut h2) = (0u64, 0u64);
        let (words, _) = key.as_chunks();
        let (pairs, _) = words.as_chunks();
        for [first, second] in pairs {
            h1 ^= mix_k1(u64::from_le_bytes(*first));
            h1 = h1.rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
            h2 ^= mix_k2(u64::from_le_bytes(*second));
            h2 = h2.rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
        }
        let rest = &key[16 * pairs.len()..];
        if !rest.is_empty() {
            let (mut k1, mut k2) = (0, 0);
            for (i, byte) in rest.iter().enumerate() {
                if i < 8 {
                    k1 ^= u64::from(*byte) << (8 * i);
                } else {
                    k2 ^= u64::from(*byte) << (8 * (i - 8));
                }
            }
            h1 ^= mix_k1(k1);
            h2 ^= mix_k2(k2);
        }
        h1 ^= key.len() as u64;
        h2 ^= key.len() as u64;
        h1 = h1.wrapping_add(h2);
        h2 = h2.wrapping_add(h1);
        h1 = finish(h1);
        h2 = finish(h2);
        h1 = h1.wrapping_add(h2);
        h2 = h2.wrapping_add(h1);
        [h1, h2]
    }

    fn mix_k1(k1: u64) -> u64 {
        k1.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
    }

    fn mix_k2(k2: u64) -> u64 {
        k2.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
    }

    fn finish(mut k: u64) -> u64 {
        k ^= k >> 33;
        k = k.wrapping_mul(0xff51_afd7_ed55_8ccd);
        k ^= k >> 33;
        k = k.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        k ^ (k >> 33)
    }
}

pub(super) struct LevelDb {
    bytes: Vec<u8>,
    hashes: u32,
}

impl LevelDb {
    pub(super) fn new(n: usize) -> Self {
        let bits = (n * BITS_PER_KEY as usize).max(64);
        Self { bytes: vec![0; bits.div_ceil(8)], hashes: (f64::from(BITS_PER_KEY) * 0.69) as u32 }
    }

    fn positions(&self, key: &[u8]) -> impl Iterator<Item = usize> {
        let mut hash = leveldb_hash::hash(key);
        let (delta, bits) = (hash.rotate_right(17), self.bytes.len() * 8);
        (0..self.hashes).map(move |_| {
            let position = hash as usize % bits;
            hash = hash.wrapping_add(delta);
            position
        })
    }
}

pub(super) struct Guava {
    words: Vec<u64>,
    hashes: u32,
}

impl Guava {
    pub(super) fn new(bits: u64, hashes: u32) -> Self {
        Self { words: vec![0; bits as usize / 64], hashes }
    }

    fn positions(&self, key: &[u8]) -> impl Iterator<Item = usize> {
        let [mut hash, step] = murmur3_128::hash(key);
        let bits = self.words.len() as u64 * 64;
        (0..self.hashes).map(move |_| {
            let position = (hash & (u64::MAX >> 1)) % bits;
            hash = hash.wrapping_add(step);
            position as usize
        })
    }
}

pub(super) struct Redis {
    bytes: Vec<u8>,
    hashes: u32,
}

impl Redis {
    pub(super) fn new(bits: u64, hashes: u32) -> Self {
        Self { bytes: vec![0; bits as usize / 8], hashes }
    }

    fn positions(&self, key: &[u8]) -> impl Iterator<Item = usize> {
        let a = murmur64a::hash(key, 0xc6a4_a793_5bd1_e995);
        let b = murmur64a::hash(key, a);
        let bits = self.bytes.len() as u64 * 8;
        (0..u64::from(self.hashes)).map(move |i| (a.wrapping_add(i.wrapping_mul(b)) % bits) as usize)
    }
}

macro_rules! plain {
    ($type:ty, $array:ident, $unit:literal, |$filter:ident| $bits:expr) => {
        impl Filter for $type {
            fn insert(&mut self, key: impl Question) {
                for position in self.positions(key.as_ref()).collect::<Vec<_>>() {
                    self.$array[position / $unit] |= 1 << (position % $unit);
                }
            }
            #[inline]
            fn contains(&self, key: impl Question) -> bool {
                self.positions(key.as_ref())
                    .all(|position| self.$array[position / $unit] & (1 << (position % $unit)) != 0)
            }
            fn count(&self, keys: &[impl Question]) -> usize {
                keys.iter().filter(|key| self.contains(**key)).count()
            }
            fn bits(&self) -> Result<Vec<u8>, Failure> {
                let $filter = self;
                Ok($bits)
            }
        }
    };
}

plain!(LevelDb, bytes, 8, |filter| [&filter.bytes[..], &[filter.hashes as u8]].concat());
plain!(Guava, words, 64, |filter| filter.words.iter().flat_map(|word| word.to_be_bytes()).collect());
plain!(Redis, bytes, 8, |filter| filter.bytes.clone());
