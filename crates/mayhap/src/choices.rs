//! What the builders of all filters have in common.

/// The rate of a filter that was given none.
pub(crate) const DEFAULT_RATE: f64 = 0.01;

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
