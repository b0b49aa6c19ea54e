//! MurmurHash64A, written down as plainly as it can be.

const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;

/// Whole words of eight bytes first, little-endian, then what is left over.
pub(crate) fn hash(bytes: &[u8], seed: u64) -> u64 {
    let mut hash = seed ^ (bytes.len() as u64).wrapping_mul(MULTIPLIER);
    let words = bytes.len() / 8;
    for index in 0..words {
        let mut word = number(&bytes[index * 8..index * 8 + 8]).wrapping_mul(MULTIPLIER);
        word = (word ^ (word >> 47)).wrapping_mul(MULTIPLIER);
        hash = (hash ^ word).wrapping_mul(MULTIPLIER);
    }
    let rest = &bytes[words * 8..];
    if !rest.is_empty() {
        hash = (hash ^ number(rest)).wrapping_mul(MULTIPLIER);
    }
    hash = (hash ^ (hash >> 47)).wrapping_mul(MULTIPLIER);
    hash ^ (hash >> 47)
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
