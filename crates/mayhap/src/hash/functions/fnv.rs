//! FNV-1 and FNV-1a (Fowler, Noll, Vo): one multiplication for each byte. Simple and slow, and weak in its high bits.

const OFFSET_64: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME_64: u64 = 0x100_0000_01b3;
const OFFSET_32: u32 = 0x811c_9dc5;
const PRIME_32: u32 = 0x0100_0193;

/// FNV-1, 64 bits: multiply, then XOR the byte. What Go calls `fnv.New64`.
#[must_use]
pub fn fnv1_64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(OFFSET_64, |hash, &byte| hash.wrapping_mul(PRIME_64) ^ u64::from(byte))
}

/// FNV-1a, 64 bits: XOR the byte, then multiply. What Go calls `fnv.New64a`.
#[must_use]
pub fn fnv1a_64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(OFFSET_64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME_64))
}

/// FNV-1, 32 bits.
#[must_use]
pub fn fnv1_32(bytes: &[u8]) -> u32 {
    bytes.iter().fold(OFFSET_32, |hash, &byte| hash.wrapping_mul(PRIME_32) ^ u32::from(byte))
}

/// FNV-1a, 32 bits.
#[must_use]
pub fn fnv1a_32(bytes: &[u8]) -> u32 {
    bytes.iter().fold(OFFSET_32, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME_32))
}
