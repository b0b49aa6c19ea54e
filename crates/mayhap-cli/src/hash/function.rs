//! The functions, each with its name and what it is for.

use mayhap::hash::{HashId, KeyHasher, NamedHash, SecretKey};

use crate::failure::Failure;

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Xxh3,
    Sip13,
    Sip24,
    Named(NamedHash),
}

/// What a function is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Made for our filters.
    Native,
    /// Where strangers choose the keys.
    Keyed,
    /// To agree with other programs.
    Compatible,
    /// The same, and slow.
    Cryptographic,
}

impl Purpose {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Keyed => "native, keyed",
            Self::Compatible => "compatible",
            Self::Cryptographic => "cryptographic",
        }
    }
}

/// The names of all.
pub(super) fn names() -> Vec<&'static str> {
    Function::all().into_iter().map(Function::name).collect()
}

impl Function {
    pub(super) fn all() -> Vec<Self> {
        let own = [Self::Xxh3, Self::Sip13, Self::Sip24];
        own.into_iter().chain(NamedHash::ALL.iter().copied().map(Self::Named)).collect()
    }

    /// The function of this name; of a name that is none, the default.
    pub(super) fn from_name(name: &str) -> Self {
        Self::all().into_iter().find(|function| function.name() == name).unwrap_or(Self::Xxh3)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Xxh3 => "xxh3",
            Self::Sip13 => "sip13",
            Self::Sip24 => "sip24",
            Self::Named(function) => function.name(),
        }
    }

    /// The number by which a filter's file names it.
    pub(super) fn id(self) -> u16 {
        match self {
            Self::Xxh3 => HashId::XXH3,
            Self::Sip13 => HashId::SIP13,
            Self::Sip24 => HashId::SIP24,
            Self::Named(function) => function.id(),
        }
        .get()
    }

    pub(super) fn purpose(self) -> Purpose {
        use NamedHash::{Md5, Ripemd160, Ripemd256, Ripemd320, Sha1, Sha256, Sha512};
        match self {
            Self::Xxh3 => Purpose::Native,
            Self::Sip13 | Self::Sip24 => Purpose::Keyed,
            Self::Named(Sha1 | Sha256 | Sha512 | Md5 | Ripemd160 | Ripemd256 | Ripemd320) => {
                Purpose::Cryptographic
            }
            Self::Named(_) => Purpose::Compatible,
        }
    }

    pub(super) fn about(self) -> &'static str {
        match self {
            Self::Xxh3 => "XXH3, 64 bits: the default, fast and well mixed",
            Self::Sip13 => "SipHash-1-3: with a secret key nobody can aim at false positives",
            Self::Sip24 => "SipHash-2-4: the same with more rounds",
            Self::Named(function) => match function {
                NamedHash::Fnv1 => "FNV-1, 64 bits: crawlers written in Go",
                NamedHash::Fnv1a => "FNV-1a, 64 bits",
                NamedHash::Murmur2 => "MurmurHash2, 32 bits, asked twice",
                NamedHash::Murmur64A => "MurmurHash64A: RedisBloom",
                NamedHash::Murmur3x32 => "MurmurHash3 x86_32, asked twice",
                NamedHash::Murmur3x128 => "MurmurHash3 x64_128, its first half: Guava",
                NamedHash::City64 => "CityHash64 1.1",
                NamedHash::Farm64 => "FarmHash Fingerprint64",
                NamedHash::Xxh32 => "xxHash, 32 bits, asked twice",
                NamedHash::Xxh64 => "xxHash, 64 bits: Parquet",
                NamedHash::OneAtATime => "Jenkins's one-at-a-time, 32 bits, asked twice",
                NamedHash::Lookup3 => "Jenkins's lookup3, both halves of hashlittle2",
                NamedHash::SpookyV2 => "SpookyHash V2, its first half",
                NamedHash::Wyhash => "wyhash, final version 3",
                NamedHash::Sha1 => "SHA-1, its first 8 bytes",
                NamedHash::Sha256 => "SHA-256, its first 8 bytes",
                NamedHash::Sha512 => "SHA-512, its first 8 bytes",
                NamedHash::Md5 => "MD5, its first 8 bytes",
                NamedHash::Ripemd160 => "RIPEMD-160, its first 8 bytes",
                NamedHash::Ripemd256 => "RIPEMD-256, its first 8 bytes",
                NamedHash::Ripemd320 => "RIPEMD-320, its first 8 bytes",
                _ => "",
            },
        }
    }
}

/// A function with its seed or key.
#[derive(Clone, Debug)]
pub(super) enum Hasher {
    /// What the function itself answers.
    Plain(NamedHash, u64),
    /// What a filter takes.
    Filter(KeyHasher),
}

impl Hasher {
    /// # Errors
    /// When a secret key is missing, or is given to a function that has none.
    pub(super) fn new(
        function: Function,
        seed: u64,
        key: Option<SecretKey>,
        for_filter: bool,
    ) -> Result<Self, Failure> {
        match (function, key) {
            (Function::Sip13 | Function::Sip24, None) => Err(Failure::Message(format!(
                "{} needs a secret key: write one with `openssl rand -hex 16 > key` and name it with --key-file",
                function.name()
            ))),
            (Function::Xxh3 | Function::Named(_), Some(_)) => Err(Failure::Message(format!(
                "{} has no secret key; --key-file is for sip13 and sip24",
                function.name()
            ))),
            (function, key) => Ok(Self::with_key(function, seed, key, for_filter)),
        }
    }

    /// With a key of zeros where none is given.
    pub(super) fn with_key(function: Function, seed: u64, key: Option<SecretKey>, for_filter: bool) -> Self {
        let key = key.unwrap_or(SecretKey::new([0; 16]));
        match function {
            Function::Xxh3 => Self::Filter(KeyHasher::xxh3(seed)),
            Function::Sip13 => Self::Filter(KeyHasher::sip13(key)),
            Function::Sip24 => Self::Filter(KeyHasher::sip24(key)),
            Function::Named(function) if for_filter => Self::Filter(KeyHasher::named(function, seed)),
            Function::Named(function) => Self::Plain(function, seed),
        }
    }

    #[inline]
    pub(super) fn hash(&self, key: &[u8]) -> u64 {
        match self {
            Self::Plain(function, seed) => function.hash(key, *seed),
            Self::Filter(hasher) => hasher.digest(key).get(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_a_name_of_its_own_and_says_what_it_is() {
        let mut names = names();
        let count = names.len();
        assert_eq!(count, NamedHash::ALL.len() + 3);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for function in Function::all() {
            assert!(!function.about().is_empty(), "{}", function.name());
            assert_eq!(Function::from_name(function.name()), function);
        }
    }
}
