//! What the builders of all filters have in common.

use crate::sizing::SizingError;

/// The rate of a filter that was given none.
pub(crate) const DEFAULT_RATE: f64 = 0.01;

/// A builder that was told neither of the two.
pub(crate) const NEITHER_KEYS_NOR_BYTES: SizingError =
    SizingError::Incomplete { missing: NO_SIZE, give: "a number of keys, or the bytes" };

/// A builder that was told no number of keys.
pub(crate) const NO_KEYS: SizingError =
    SizingError::Incomplete { missing: NO_SIZE, give: "a number of keys" };

pub(crate) const NO_SIZE: &str = "nothing says how large the filter is to be";

/// Writes a builder's setters: one for each choice listed, of the field with its name, and those of the hash function,
/// which all builders have.
macro_rules! choices {
    ($builder:ident { $($(#[$documentation:meta])* $choice:ident: $type:ty,)* }) => {
        impl $builder {
            $(
                $(#[$documentation])*
                pub fn $choice(mut self, $choice: $type) -> Self {
                    self.$choice = $choice.into();
                    self
                }
            )*

            /// XXH3 with this seed.
            pub fn seed(self, seed: u64) -> Self {
                self.hasher($crate::hash::KeyHasher::xxh3(seed))
            }

            /// SipHash-1-3 with a secret key: for keys that come from strangers.
            pub fn secret_key(self, key: $crate::hash::SecretKey) -> Self {
                self.hasher($crate::hash::KeyHasher::sip13(key))
            }

            /// Any hasher.
            pub fn hasher(mut self, hasher: $crate::hash::KeyHasher) -> Self {
                self.hasher = hasher;
                self
            }
        }
    };
}

pub(crate) use choices;
