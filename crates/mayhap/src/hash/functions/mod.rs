//! Hash functions by name: those that people ask for, and those that other systems' filters are made of.
//!
//! Every native filter takes any of them, through [`KeyHasher::named`](super::KeyHasher::named), and its file records
//! which one it was. The functions also stand here by themselves, with the answers of their original programs.
//!
//! # Which to choose
//!
//! None of these: the default, XXH3, is fast and well mixed. Where strangers choose the keys, SipHash with a secret key ([`KeyHasher::sip13`](super::KeyHasher::sip13)). Choose another when its values
//! have been computed already, or must agree with another program's.
//!
//! A cryptographic digest gives a filter nothing. Its strength is that nobody finds two inputs of one *long* digest; a
//! filter keeps 64 bits of it, and as the function is public, anybody can search for keys that collide in those, just
//! as with XXH3. And it takes much longer. The secret key is what protects, not the function's name.
//!
//! # How 64 bits are made
//!
//! A filter needs 64 well mixed bits. Longer answers are cut. Functions of 32 bits are asked twice, with two seeds:
//! positions taken from 32 bits are the most repeated bug of Bloom filters, because above some hundred million bits
//! they ruin the rate. Then everything passes MurmurHash3's finaliser, so that weakly mixed functions (FNV,
//! one-at-a-time) serve as well.

mod bytes;
pub mod city;
#[cfg(feature = "hashes")]
mod digests;
pub mod fnv;
pub mod jenkins;
pub mod murmur2;
pub mod murmur3;
pub mod spooky;

use super::hasher::HashId;

macro_rules! named {
    ($($(#[$doc:meta])* $variant:ident = $id:literal, $name:literal $(, $feature:literal)?;)*) => {
        /// A hash function with a name and a number that stand for it for ever.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum NamedHash {
            $($(#[$doc])* $(#[cfg(feature = $feature)])? $variant,)*
        }

        impl NamedHash {
            /// All of them.
            pub const ALL: &'static [Self] = &[$($(#[cfg(feature = $feature)])? Self::$variant,)*];

            /// The number that stands for the function in files.
            #[must_use]
            pub const fn id(self) -> HashId {
                HashId::new(match self {
                    $($(#[cfg(feature = $feature)])? Self::$variant => $id,)*
                })
            }

            /// The name by which a command line calls it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $($(#[cfg(feature = $feature)])? Self::$variant => $name,)*
                }
            }
        }
    };
}

named! {
    /// FNV-1, 64 bits. The seed is XORed to its answer, because the function has none.
    Fnv1 = 16, "fnv1";
    /// FNV-1a, 64 bits, likewise.
    Fnv1a = 17, "fnv1a";
    /// MurmurHash2, 32 bits, asked twice.
    Murmur2 = 18, "murmur2";
    /// MurmurHash64A.
    Murmur64A = 19, "murmur64a";
    /// MurmurHash3 `x86_32`, asked twice.
    Murmur3x32 = 20, "murmur3-32";
    /// MurmurHash3 `x64_128`, its first half.
    Murmur3x128 = 21, "murmur3-128";
    /// CityHash64 1.1.
    City64 = 22, "city64";
    /// FarmHash `Fingerprint64`. The seed is XORed to its answer, because the function has none.
    Farm64 = 23, "farm64";
    /// xxHash, 32 bits, asked twice.
    Xxh32 = 24, "xxh32";
    /// xxHash, 64 bits.
    Xxh64 = 25, "xxh64";
    /// Jenkins's one-at-a-time, 32 bits, asked twice.
    OneAtATime = 26, "one-at-a-time";
    /// Jenkins's lookup3: both halves of `hashlittle2`.
    Lookup3 = 27, "lookup3";
    /// SpookyHash V2, its first half.
    SpookyV2 = 28, "spooky-v2";
    /// wyhash, final version 3.
    Wyhash = 29, "wyhash", "hashes";
    /// SHA-1.
    Sha1 = 30, "sha1", "hashes";
    /// SHA-256.
    Sha256 = 31, "sha256", "hashes";
    /// SHA-512.
    Sha512 = 32, "sha512", "hashes";
    /// MD5.
    Md5 = 33, "md5", "hashes";
    /// RIPEMD-160.
    Ripemd160 = 34, "ripemd160", "hashes";
    /// RIPEMD-256.
    Ripemd256 = 35, "ripemd256", "hashes";
    /// RIPEMD-320.
    Ripemd320 = 36, "ripemd320", "hashes";
}

impl NamedHash {
    /// The function with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|function| function.name() == name)
    }

    /// The function with this number.
    #[must_use]
    pub fn from_id(id: HashId) -> Option<Self> {
        Self::ALL.iter().copied().find(|function| function.id() == id)
    }

    /// The function's 64 bits for a key, before the finaliser.
    #[must_use]
    pub fn hash(self, key: &[u8], seed: u64) -> u64 {
        match self {
            Self::Fnv1 => fnv::fnv1_64(key) ^ seed,
            Self::Fnv1a => fnv::fnv1a_64(key) ^ seed,
            Self::Murmur2 => twice(seed, |seed| murmur2::murmur2_32(key, seed)),
            Self::Murmur64A => murmur2::murmur64a(key, seed),
            Self::Murmur3x32 => twice(seed, |seed| murmur3::murmur3_32(key, seed)),
            Self::Murmur3x128 => murmur3::murmur3_128(key, seed)[0],
            Self::City64 if seed == 0 => city::city64(key),
            Self::City64 => city::city64_with_seed(key, seed),
            Self::Farm64 => city::farm_fingerprint64(key) ^ seed,
            Self::Xxh32 => twice(seed, |seed| xxhash_rust::xxh32::xxh32(key, seed)),
            Self::Xxh64 => xxhash_rust::xxh64::xxh64(key, seed),
            Self::OneAtATime => twice(seed, |seed| jenkins::one_at_a_time(key, seed)),
            Self::Lookup3 => {
                let [c, b] = jenkins::lookup3(key, low(seed), low(seed >> 32));
                u64::from(c) << 32 | u64::from(b)
            }
            Self::SpookyV2 => spooky::spooky_v2(key, [seed, seed])[0],
            #[cfg(feature = "hashes")]
            Self::Wyhash => wyhash::final3::wyhash(key, seed, WYHASH_SECRET),
            #[cfg(feature = "hashes")]
            Self::Sha1 => digests::first_64::<sha1::Sha1>(key, seed),
            #[cfg(feature = "hashes")]
            Self::Sha256 => digests::first_64::<sha2::Sha256>(key, seed),
            #[cfg(feature = "hashes")]
            Self::Sha512 => digests::first_64::<sha2::Sha512>(key, seed),
            #[cfg(feature = "hashes")]
            Self::Md5 => digests::first_64::<md5::Md5>(key, seed),
            #[cfg(feature = "hashes")]
            Self::Ripemd160 => digests::first_64::<ripemd::Ripemd160>(key, seed),
            #[cfg(feature = "hashes")]
            Self::Ripemd256 => digests::first_64::<ripemd::Ripemd256>(key, seed),
            #[cfg(feature = "hashes")]
            Self::Ripemd320 => digests::first_64::<ripemd::Ripemd320>(key, seed),
        }
    }
}

/// wyhash's default secret.
#[cfg(feature = "hashes")]
const WYHASH_SECRET: [u64; 4] =
    [0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db, 0x8ebc_6af0_9c88_c6e3, 0x5899_65cc_7537_4cc3];

/// 64 bits from a function of 32: asked a second time with a seed that is made of the first answer.
fn twice(seed: u64, hash: impl Fn(u32) -> u32) -> u64 {
    let first = hash(low(seed));
    u64::from(first) << 32 | u64::from(hash(first ^ low(seed >> 32) ^ 0x9e37_79b9))
}

#[allow(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
const fn low(seed: u64) -> u32 {
    seed as u32
}
