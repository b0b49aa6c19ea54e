//! Cryptographic digests, cut to their first eight bytes (read as little-endian). By the crates of the Rust Crypto
//! project.

use digest::Digest;

/// The first 64 bits of the digest of a key; with a seed other than 0, of its eight bytes followed by the key.
pub(super) fn first_64<D: Digest>(bytes: &[u8], seed: u64) -> u64 {
    let mut digest = D::new();
    if seed != 0 {
        digest.update(seed.to_le_bytes());
    }
    digest.update(bytes);
    super::bytes::word64(&digest.finalize(), 0)
}
