//! XXH3-64 with a seed, laid out for keys of 4 to 64 bytes.
//!
//! The answers are those of the reference XXH3 for every length (a test walks all of them against the `xxhash-rust`
//! crate). What differs is the road: real keys (URLs, names, UUIDs) have lengths that vary from one to the next, which
//! makes the reference's `len > 32` a branch that can't be predicted. Between 17 and 64 bytes we therefore always mix four
//! pairs of words, and choose without a branch where the two inner ones are read. A shorter key has none: there the secret
//! takes the key's place, which XORed with itself is 0, as is the product.

use core::hint::select_unpredictable;

use xxhash_rust::xxh3::xxh3_64_with_seed;

const PRIME64_1: u64 = 0x9E37_79B1_85EB_CA87;
const PRIME_MX1: u64 = 0x1656_6791_9E37_79F9;
const PRIME_MX2: u64 = 0x9FB2_1C65_1E98_DF25;

/// The first 64 bytes of XXH3's default secret, as little-endian words.
const SECRET: [u64; 8] = [
    0xbe4b_a423_396c_feb8,
    0x1cad_21f7_2c81_017c,
    0xdb97_9083_e96d_d4de,
    0x1f67_b3b7_a4a4_4072,
    0x78e5_c0cc_4ee6_79cb,
    0x2172_ffcc_7dd0_5a82,
    0x8e24_43f7_7446_08b8,
    0x4c26_3a81_e690_35e0,
];

/// The bytes of a key that has 17 to 64 of them, as URLs and names have.
#[derive(Clone, Copy)]
pub(crate) struct MediumKey<'a>(&'a [u8]);

impl<'a> MediumKey<'a> {
    #[inline(always)]
    pub(crate) fn new(key: &'a [u8]) -> Option<Self> {
        (17..=64).contains(&key.len()).then_some(Self(key))
    }

    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    #[inline(always)]
    pub(crate) fn bytes(self) -> &'a [u8] {
        self.0
    }
}

/// XXH3-64 under one seed.
///
/// The secret words are combined with the seed here, once, and not for every key.
#[derive(Clone, Copy)]
pub(crate) struct Xxh3 {
    seed: u64,
    /// For 4 to 8 bytes.
    short: u64,
    /// For 9 to 16 bytes.
    middling: [u64; 2],
    /// For 17 to 64 bytes: for the first word of each pair, and for the second of another. Words that are used together
    /// don't stand side by side, or the compiler would take two XORs for one of 128 bits, and taking that apart again
    /// costs more than it saves.
    medium: [[u64; 2]; 4],
    /// What is read where a key of 17 to 32 bytes has no inner pairs: sixteen bytes from the 16th on, and as many from the
    /// 32nd last. They are the secret's, whose XOR with itself is 0.
    in_its_place: [[u8; 16]; 4],
}

impl Xxh3 {
    pub(super) const fn new(seed: u64) -> Self {
        let swapped = ((seed & 0xffff_ffff) as u32).swap_bytes() as u64;
        let mut medium = [[0; 2]; 4];
        let mut in_its_place = [[0; 16]; 4];
        let mut pair = 0;
        while pair < 4 {
            let words = [SECRET[2 * pair].wrapping_add(seed), SECRET[2 * pair + 1].wrapping_sub(seed)];
            medium[pair][0] = words[0];
            medium[(pair + 1) % 4][1] = words[1];
            if pair >= 2 {
                in_its_place[pair - 1] = (words[0] as u128 | (words[1] as u128) << 64).to_le_bytes();
            }
            pair += 1;
        }
        Self {
            seed,
            short: (SECRET[1] ^ SECRET[2]).wrapping_sub(seed ^ (swapped << 32)),
            middling: [
                (SECRET[3] ^ SECRET[4]).wrapping_add(seed),
                (SECRET[5] ^ SECRET[6]).wrapping_sub(seed),
            ],
            medium,
            in_its_place,
        }
    }

    pub(super) const fn seed(&self) -> u64 {
        self.seed
    }

    #[inline(always)]
    pub(super) fn hash(&self, key: &[u8]) -> u64 {
        if let Some(key) = MediumKey::new(key) {
            return self.medium(key);
        }
        match key.len() {
            4..=8 => self.short(key),
            9..=16 => self.middling(key),
            _ => self.other(key),
        }
    }

    /// Lengths that are rare among keys, and out of the way of the ones that aren't.
    #[inline(never)]
    fn other(&self, key: &[u8]) -> u64 {
        xxh3_64_with_seed(key, self.seed)
    }

    /// 4 to 8 bytes.
    #[inline(always)]
    fn short(&self, key: &[u8]) -> u64 {
        let len = key.len();
        let (first, last) = (word32(&key[..4]), word32(&key[len - 4..]));
        let mut h = (last | (first << 32)) ^ self.short;
        h ^= h.rotate_left(49) ^ h.rotate_left(24);
        h = h.wrapping_mul(PRIME_MX2);
        h ^= (h >> 35).wrapping_add(len as u64);
        h = h.wrapping_mul(PRIME_MX2);
        h ^ (h >> 28)
    }

    /// 8 bytes, as a number whose lowest byte is the first.
    #[inline(always)]
    pub(crate) fn eight(&self, key: u64) -> u64 {
        self.short(&key.to_le_bytes())
    }

    /// 9 to 16 bytes.
    #[inline(always)]
    fn middling(&self, key: &[u8]) -> u64 {
        let len = key.len();
        let low = word64(&key[..8]) ^ self.middling[0];
        let high = word64(&key[len - 8..]) ^ self.middling[1];
        let sum = (len as u64).wrapping_add(low.swap_bytes()).wrapping_add(high);
        avalanche(sum.wrapping_add(multiply_fold(low, high)))
    }

    /// 17 to 64 bytes, without a branch on the length.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) fn medium(&self, MediumKey(key): MediumKey<'_>) -> u64 {
        let len = key.len();
        let inner: &[u8] = select_unpredictable(len > 32, key, self.in_its_place.as_flattened());
        debug_assert!(len >= 16 && inner.len() >= 32);
        let sixteen = |bytes: *const u8, from: usize| {
            // SAFETY: a `MediumKey` has at least 17 bytes, so there are sixteen at its start and at its end; and `inner`,
            // a key of more than 32 bytes or our own 64, has sixteen from the 16th on and from the 32nd last. The
            // compiler doesn't see it, and its check would cost more than comparisons, because a function that may
            // panic keeps a stack frame.
            unsafe { &*bytes.add(from).cast::<[u8; 16]>() }
        };
        let [start, end] = [sixteen(key.as_ptr(), 0), sixteen(key.as_ptr(), len - 16)];
        let [second, last_but_one] = [sixteen(inner.as_ptr(), 16), sixteen(inner.as_ptr(), inner.len() - 32)];
        let outer = self.mix_pair(start, 0).wrapping_add(self.mix_pair(end, 1));
        let inner = self.mix_pair(second, 2).wrapping_add(self.mix_pair(last_but_one, 3));
        avalanche((len as u64).wrapping_mul(PRIME64_1).wrapping_add(outer).wrapping_add(inner))
    }

    /// Sixteen bytes and a pair of secret words.
    #[inline(always)]
    fn mix_pair(&self, bytes: &[u8; 16], pair: usize) -> u64 {
        let words = [self.medium[pair][0], self.medium[(pair + 1) % 4][1]];
        multiply_fold(word64(&bytes[..8]) ^ words[0], word64(&bytes[8..]) ^ words[1])
    }
}

/// The 128-bit product's two halves, XORed.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the halves are what is wanted")]
fn multiply_fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[inline(always)]
fn avalanche(mut h: u64) -> u64 {
    h ^= h >> 37;
    h = h.wrapping_mul(PRIME_MX1);
    h ^ (h >> 32)
}

/// The first eight bytes.
#[inline(always)]
fn word64(bytes: &[u8]) -> u64 {
    let mut array = [0; 8];
    array.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(array)
}

/// The first four bytes.
#[inline(always)]
fn word32(bytes: &[u8]) -> u64 {
    let mut array = [0; 4];
    array.copy_from_slice(&bytes[..4]);
    u64::from(u32::from_le_bytes(array))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_reference_for_every_length() {
        let bytes: std::vec::Vec<u8> =
            (0..1100u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for seed in [0, 1, 42, 0x0123_4567_89ab_cdef, u64::MAX] {
            for len in 0..=bytes.len() {
                let key = &bytes[bytes.len() - len..];
                assert_eq!(
                    Xxh3::new(seed).hash(key),
                    xxh3_64_with_seed(key, seed),
                    "length {len}, seed {seed:#x}"
                );
            }
        }
    }
}
