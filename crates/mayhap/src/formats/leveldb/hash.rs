//! LevelDB's hash function.

use crate::hash::Key;

/// The seed with which LevelDB's and badger's filters hash their keys.
pub const SEED: u32 = 0xbc9f_1d34;

pub(super) const MULTIPLIER: u32 = 0xc6a4_a793;

/// LevelDB's hash of some bytes: 32 bits, like MurmurHash without its last mixing steps.
///
/// One to three bytes that are left at the end are taken as unsigned numbers. LevelDB's first releases took them as
/// signed, and renamed their filter policy (the `2` in its name) when that changed.
///
/// It isn't among the [hash functions with a name](crate::hash::NamedHash): its last word is hardly mixed, and 32 bits are
/// too few for large filters. It stands here because its values stand in files.
///
/// ```
/// use mayhap::formats::leveldb::{SEED, hash};
///
/// assert_eq!(hash(b"", SEED), 0xbc9f_1d34);
/// assert_eq!(hash(b"\xff", SEED), 0xc20e_0a90);
/// ```
#[inline]
#[must_use]
#[allow(clippy::cast_possible_truncation, reason = "the function takes the length modulo 2^32")]
pub fn hash(bytes: &[u8], seed: u32) -> u32 {
    let mut hash = seed ^ (bytes.len() as u32).wrapping_mul(MULTIPLIER);
    let (words, rest) = bytes.as_chunks();
    for word in words {
        hash = hash.wrapping_add(u32::from_le_bytes(*word)).wrapping_mul(MULTIPLIER);
        hash ^= hash >> 16;
    }
    // What is left of the last word after a shift, without a branch on how many bytes that is: it can't be predicted.
    let tail = match bytes.last_chunk() {
        Some(last) => u32::from_le_bytes(*last).checked_shr(32 - 8 * rest.len() as u32).unwrap_or(0),
        None => rest.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)),
    };
    let with_tail = hash.wrapping_add(tail).wrapping_mul(MULTIPLIER);
    if rest.is_empty() { hash } else { with_tail ^ (with_tail >> 24) }
}

/// The hash by which filters know a key: [`hash`] with their [`SEED`].
#[inline]
pub fn hash_key<K: Key + ?Sized>(key: &K) -> u32 {
    hash(key.key_bytes().as_ref(), SEED)
}
