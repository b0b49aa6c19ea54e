//! Keys to digests.
//!
//! A filter never looks at a key twice: the key becomes a 64-bit [`Digest`] once, and every position in every layer
//! comes from that digest. Which function made the digest is part of a filter's identity and is written into its file:
//!
//! | function | id | for |
//! |---|---|---|
//! | [`KeyHasher::xxh3`] | 1 | the default: about 1 ns for an integer, 5 for a URL. Not safe against chosen keys |
//! | [`KeyHasher::sip13`] | 2 | keys that come from strangers: nobody without the 128-bit key can aim at false positives |
//! | [`KeyHasher::sip24`] | 3 | the same with more rounds, where another program or a rule asks for it |
//! | [`KeyHasher::named`] | 16 to 36 | Murmur, City, Farm, xxHash, Jenkins, Spooky, FNV, wyhash, SHA, MD5, RIPEMD: where their values must agree with another program's |
//! | [`KeyHasher::custom`] | 256 and up | anything else, through [`HashFunction`] |

mod chunks;
pub mod functions;
mod hasher;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod in_a_row;
mod key;
mod secret;
mod xxh3;

pub(crate) use chunks::{collected_in_chunks, in_chunks, try_in_chunks};
pub use functions::NamedHash;
pub(crate) use hasher::Digester;
pub use hasher::{Digest, HashFunction, HashId, KeyHasher};
#[cfg(all(feature = "std", target_arch = "x86_64"))]
pub(crate) use in_a_row::fetch_following;
pub use key::Key;
#[cfg(target_arch = "x86_64")]
pub(crate) use key::holds_its_bytes;
pub(crate) use key::{eight_made_bytes, prefetch_keys};
pub use secret::SecretKey;
#[cfg(target_arch = "x86_64")]
pub(crate) use xxh3::MediumKey;
