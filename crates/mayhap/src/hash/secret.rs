//! The secret key of a keyed hash.

use core::fmt;
use core::hash::Hasher as _;

/// What the key id is the keyed hash of. Frozen: it stands behind every saved key id.
const KEY_ID_LABEL: &[u8] = b"mayhap key id";

/// A 128-bit secret.
///
/// Whoever has it can compute false positives; whoever hasn't can't. It is never printed. Its [`id`](Self::id) may be:
/// that is a one-way hash, by which a file says which key it was built with.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey([u8; 16]);

impl SecretKey {
    /// A key from 16 bytes, which should come from the operating system's random source.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The secret bytes: for saving the key where only its owner can read it.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// A public name for the key: SipHash-2-4, under the key, of a fixed label.
    #[must_use]
    pub fn id(&self) -> u64 {
        let mut hasher = siphasher::sip::SipHasher24::new_with_key(&self.0);
        hasher.write(KEY_ID_LABEL);
        hasher.finish()
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey(id {:#018x})", self.id())
    }
}
