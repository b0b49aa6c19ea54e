//! XXH3-64 with a seed, laid out for keys of 4 to 64 bytes.
//!
//! The answers are those of the reference XXH3 for every length (a test walks all of them against the `xxhash-rust`
//! crate). What differs is the road: real keys (URLs, names, UUIDs) have lengths that vary from one to the next, and
//! the reference's `len > 32` branch is then mispredicted about every second key, which costs more than the hash.
//! Between 17 and 64 bytes we therefore always mix four pairs of words and mask out what a shorter key doesn't have.

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

/// XXH3-64 of `key` under `seed`.
#[inline(always)]
pub(super) fn xxh3(key: &[u8], seed: u64) -> u64 {
    match key.len() {
        17..=64 => medium(key, seed),
        4..=8 => short(key, seed),
        9..=16 => middling(key, seed),
        _ => other(key, seed),
    }
}

/// Lengths that are rare among keys, and out of the way of the ones that aren't.
#[inline(never)]
fn other(key: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(key, seed)
}

/// 4 to 8 bytes.
#[inline(always)]
fn short(key: &[u8], seed: u64) -> u64 {
    let len = key.len();
    let seed = seed ^ (u64::from((seed & 0xffff_ffff) as u32).swap_bytes());
    let (first, last) = (word32(key, 0), word32(key, len - 4));
    let mut h = (last | (first << 32)) ^ (SECRET[1] ^ SECRET[2]).wrapping_sub(seed);
    h ^= h.rotate_left(49) ^ h.rotate_left(24);
    h = h.wrapping_mul(PRIME_MX2);
    h ^= (h >> 35).wrapping_add(len as u64);
    h = h.wrapping_mul(PRIME_MX2);
    h ^ (h >> 28)
}

/// 9 to 16 bytes.
#[inline(always)]
fn middling(key: &[u8], seed: u64) -> u64 {
    let len = key.len();
    let low = word64(key, 0) ^ (SECRET[3] ^ SECRET[4]).wrapping_add(seed);
    let high = word64(key, len - 8) ^ (SECRET[5] ^ SECRET[6]).wrapping_sub(seed);
    avalanche(
        (len as u64).wrapping_add(low.swap_bytes()).wrapping_add(high).wrapping_add(multiply_fold(low, high)),
    )
}

/// 17 to 64 bytes, without a branch on the length.
#[inline(always)]
fn medium(key: &[u8], seed: u64) -> u64 {
    let len = key.len();
    // A key of at most 32 bytes has no inner pair: read its first bytes instead, and drop the result by the mask.
    let has_inner = len > 32;
    let inner = if has_inner { 16 } else { 0 };
    let inner_from_end = if has_inner { len - 32 } else { 0 };
    let mask = if has_inner { u64::MAX } else { 0 };

    let outer = mix_pair(key, 0, SECRET[0], SECRET[1], seed).wrapping_add(mix_pair(
        key,
        len - 16,
        SECRET[2],
        SECRET[3],
        seed,
    ));
    let inner = mix_pair(key, inner, SECRET[4], SECRET[5], seed).wrapping_add(mix_pair(
        key,
        inner_from_end,
        SECRET[6],
        SECRET[7],
        seed,
    ));
    avalanche((len as u64).wrapping_mul(PRIME64_1).wrapping_add(outer).wrapping_add(inner & mask))
}

#[inline(always)]
fn mix_pair(key: &[u8], at: usize, secret_low: u64, secret_high: u64, seed: u64) -> u64 {
    multiply_fold(
        word64(key, at) ^ secret_low.wrapping_add(seed),
        word64(key, at + 8) ^ secret_high.wrapping_sub(seed),
    )
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

#[inline(always)]
fn word64(key: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&key[at..at + 8]);
    u64::from_le_bytes(bytes)
}

#[inline(always)]
fn word32(key: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&key[at..at + 4]);
    u64::from(u32::from_le_bytes(bytes))
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
                assert_eq!(xxh3(key, seed), xxh3_64_with_seed(key, seed), "length {len}, seed {seed:#x}");
            }
        }
    }
}
