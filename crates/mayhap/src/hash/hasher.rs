//! The digest, and the functions that make it.

use alloc::sync::Arc;
use core::fmt;
use core::hash::Hasher as _;

use super::functions::NamedHash;
use super::functions::murmur3::finish_64;
use super::key::{Key, holds_its_bytes, prefetch_keys};
use super::secret::SecretKey;
use super::xxh3::Xxh3;
use crate::cpu::{self, Work};

/// A key's 64-bit hash: all a filter needs to know about the key.
///
/// Positions are taken from all 64 bits, and the block from the highest, so a digest must be well mixed. Those of
/// [`KeyHasher`] are. A digest you bring yourself must be too; a counter or an FNV hash is not.
///
/// ```
/// use mayhap::BloomFilter;
///
/// let mut filter = BloomFilter::with_rate(1_000, 0.01)?;
/// let digest = filter.hash("apple");
/// filter.insert_hash(digest);
/// assert!(filter.contains("apple"));
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Digest(u64);

impl Digest {
    /// Wraps a hash computed elsewhere. It must be well mixed in all of its bits.
    #[inline]
    #[must_use]
    pub const fn new(hash: u64) -> Self {
        Self(hash)
    }

    /// The 64 bits.
    #[inline]
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({:#018x})", self.0)
    }
}

/// The stable number of a hash function, as it stands in files.
///
/// 1 to 255 belong to mayhap; a [`HashFunction`] of your own takes a number from 256 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HashId(u16);

impl HashId {
    /// XXH3-64 with a 64-bit seed.
    pub const XXH3: Self = Self(1);
    /// SipHash-1-3 with a 128-bit secret key.
    pub const SIP13: Self = Self(2);
    /// SipHash-2-4 with a 128-bit secret key.
    pub const SIP24: Self = Self(3);
    /// The first number that is free for functions outside this crate.
    pub const FIRST_CUSTOM: u16 = 256;

    /// The id with this number.
    #[must_use]
    pub const fn new(number: u16) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

/// A hash function brought by the caller.
///
/// The answer for the same bytes must never change: filters saved today are asked with it tomorrow. Its 64 bits need
/// not be well mixed; [`KeyHasher`] finishes them.
///
/// ```
/// use mayhap::hash::{HashFunction, HashId, KeyHasher};
/// use mayhap::BloomFilter;
///
/// #[derive(Debug)]
/// struct Fnv1a;
///
/// impl HashFunction for Fnv1a {
///     fn id(&self) -> HashId {
///         HashId::new(300)
///     }
///     fn hash(&self, key: &[u8]) -> u64 {
///         key.iter().fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
///     }
/// }
///
/// let mut filter = BloomFilter::builder().keys(1_000).rate(0.01).hasher(KeyHasher::custom(Fnv1a)).build()?;
/// filter.insert("apple");
/// assert!(filter.contains("apple"));
/// # Ok::<(), mayhap::Error>(())
/// ```
pub trait HashFunction: fmt::Debug + Send + Sync {
    /// The number that stands for this function in files; 256 or more.
    fn id(&self) -> HashId;
    /// The hash of a key's bytes.
    fn hash(&self, key: &[u8]) -> u64;
}

/// A hash function with its seed or key: what turns keys into digests for one filter.
///
/// Two filters can be merged only if their hashers are equal.
#[derive(Clone)]
pub struct KeyHasher {
    /// The default function, in a place of its own and there in any case: so it can be reached without asking which one
    /// this is by those who have asked before.
    xxh3: Xxh3,
    other: Option<Other>,
}

/// A function that isn't the default one.
#[derive(Clone)]
enum Other {
    Sip13 { key: SecretKey },
    Sip24 { key: SecretKey },
    Named { function: NamedHash, seed: u64 },
    Custom(Arc<dyn HashFunction>),
}

impl KeyHasher {
    /// XXH3-64 with a seed: fast, and not secret, whatever the seed.
    #[must_use]
    pub const fn xxh3(seed: u64) -> Self {
        Self { xxh3: Xxh3::new(seed), other: None }
    }

    const fn of(other: Other) -> Self {
        Self { xxh3: Xxh3::new(0), other: Some(other) }
    }

    /// SipHash-1-3 with a secret key: for keys that strangers choose.
    #[must_use]
    pub const fn sip13(key: SecretKey) -> Self {
        Self::of(Other::Sip13 { key })
    }

    /// SipHash-2-4 with a secret key: as [`sip13`](Self::sip13), with the number of rounds that its authors first
    /// proposed, for those who want that margin or whose other programs use it. Slower.
    ///
    /// ```
    /// use mayhap::hash::{KeyHasher, SecretKey};
    /// use mayhap::{BloomFilter, ReadOptions};
    ///
    /// let key = SecretKey::new([7; 16]);
    /// let filter = BloomFilter::builder().keys(100).rate(0.01).hasher(KeyHasher::sip24(key.clone())).build()?;
    /// // The file says which function it was, and the key is asked for.
    /// let again = BloomFilter::from_bytes_with(&filter.to_bytes()?, &ReadOptions::new().secret_key(key))?;
    /// assert!(again == filter);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[must_use]
    pub const fn sip24(key: SecretKey) -> Self {
        Self::of(Other::Sip24 { key })
    }

    /// The function with this number under the secret key of this one, if both have one.
    pub(crate) fn with_same_key(&self, id: HashId) -> Option<Self> {
        match &self.other {
            Some(Other::Sip13 { key } | Other::Sip24 { key }) => match id {
                HashId::SIP13 => Some(Self::sip13(key.clone())),
                HashId::SIP24 => Some(Self::sip24(key.clone())),
                _ => None,
            },
            _ => None,
        }
    }

    /// One of the functions that have a name here, with a seed. Its answer passes the same finaliser as that of a
    /// [custom](Self::custom) one.
    ///
    /// ```
    /// use mayhap::BloomFilter;
    /// use mayhap::hash::{KeyHasher, NamedHash};
    ///
    /// let hasher = KeyHasher::named(NamedHash::Murmur3x128, 0);
    /// let mut filter = BloomFilter::builder().keys(1_000).rate(0.01).hasher(hasher).build()?;
    /// filter.insert("apple");
    /// // The file says which function it was.
    /// let again = BloomFilter::from_bytes(&filter.to_bytes()?)?;
    /// assert!(again.contains("apple"));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[must_use]
    pub const fn named(function: NamedHash, seed: u64) -> Self {
        Self::of(Other::Named { function, seed })
    }

    /// Any other function. Its answer is passed through a finaliser (`fmix64` of MurmurHash3), so that weakly mixed
    /// functions such as FNV serve too.
    #[must_use]
    pub fn custom(function: impl HashFunction + 'static) -> Self {
        Self::of(Other::Custom(Arc::new(function)))
    }

    /// Which function this is.
    #[must_use]
    pub fn id(&self) -> HashId {
        match &self.other {
            None => HashId::XXH3,
            Some(Other::Sip13 { .. }) => HashId::SIP13,
            Some(Other::Sip24 { .. }) => HashId::SIP24,
            Some(Other::Named { function, .. }) => function.id(),
            Some(Other::Custom(function)) => function.id(),
        }
    }

    /// Whether the number in [`id`](Self::id) is free for a function from outside, if this is one.
    pub(crate) fn has_own_id(&self) -> bool {
        !matches!(self.other, Some(Other::Custom(_))) || self.id().get() >= HashId::FIRST_CUSTOM
    }

    /// The public seed; 0 for a function that has none.
    #[must_use]
    pub fn seed(&self) -> u64 {
        match &self.other {
            None => self.xxh3.seed(),
            Some(Other::Named { seed, .. }) => *seed,
            Some(_) => 0,
        }
    }

    /// The id of the secret key, for a function that has one.
    #[must_use]
    pub fn key_id(&self) -> Option<u64> {
        match &self.other {
            Some(Other::Sip13 { key } | Other::Sip24 { key }) => Some(key.id()),
            _ => None,
        }
    }

    /// The digest of a key.
    #[inline]
    pub fn digest<K: Key + ?Sized>(&self, key: &K) -> Digest {
        self.digest_bytes(key.key_bytes().as_ref())
    }

    /// The digests of many keys: `digests[i]` of `keys[i]`. The function is chosen once, and the work on several keys
    /// overlaps.
    ///
    /// ```
    /// use mayhap::{Digest, hash::KeyHasher};
    ///
    /// let hasher = KeyHasher::xxh3(7);
    /// let mut digests = [Digest::new(0); 2];
    /// hasher.digest_each(&["apple", "pear"], &mut digests);
    /// assert_eq!(digests[1], hasher.digest("pear"));
    /// ```
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn digest_each<K: Key>(&self, keys: &[K], digests: &mut [Digest]) {
        assert_eq!(keys.len(), digests.len(), "one digest for each key");
        match self.as_xxh3() {
            Some(xxh3) => cpu::run(DigestEach { digester: xxh3, keys, digests }),
            None => DigestEach { digester: self, keys, digests }.run(),
        }
    }

    /// The hash function by itself, if it is XXH3: for loops that choose once.
    #[inline(always)]
    pub(crate) fn as_xxh3(&self) -> Option<&Xxh3> {
        match self.other {
            None => Some(&self.xxh3),
            Some(_) => None,
        }
    }

    /// [`as_xxh3`](Self::as_xxh3) where it was asked before and was something.
    #[inline(always)]
    pub(crate) fn known_xxh3(&self) -> &Xxh3 {
        debug_assert!(self.other.is_none(), "who calls this has asked which function it is");
        &self.xxh3
    }

    // Out of line, so that the common function stays small enough to inline into the caller's loop.
    #[inline(never)]
    fn slow_digest(&self, bytes: &[u8]) -> Digest {
        match &self.other {
            None => self.xxh3.digest_bytes(bytes),
            Some(Other::Sip13 { key }) => {
                let mut hasher = siphasher::sip::SipHasher13::new_with_key(key.as_bytes());
                hasher.write(bytes);
                Digest(hasher.finish())
            }
            Some(Other::Sip24 { key }) => {
                let mut hasher = siphasher::sip::SipHasher24::new_with_key(key.as_bytes());
                hasher.write(bytes);
                Digest(hasher.finish())
            }
            Some(Other::Named { function, seed }) => Digest(finish_64(function.hash(bytes, *seed))),
            Some(Other::Custom(function)) => Digest(finish_64(function.hash(bytes))),
        }
    }
}

/// Keys that are hashed while the bytes of as many others are on their way.
const AT_ONCE: usize = 32;

struct DigestEach<'a, H, K> {
    digester: &'a H,
    keys: &'a [K],
    digests: &'a mut [Digest],
}

impl<H: Digester, K: Key> Work for DigestEach<'_, H, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { digester, keys, digests } = self;
        let at_once = if holds_its_bytes::<K>() { AT_ONCE } else { usize::MAX };
        let mut coming = keys.chunks(at_once).skip(1);
        for (keys, digests) in keys.chunks(at_once).zip(digests.chunks_mut(at_once)) {
            prefetch_keys(coming.next().unwrap_or_default().iter());
            for (digest, key) in digests.iter_mut().zip(keys) {
                *digest = digester.digest_bytes(key.key_bytes().as_ref());
            }
        }
    }
}

/// Makes digests of bytes.
pub(crate) trait Digester {
    fn digest_bytes(&self, bytes: &[u8]) -> Digest;
}

impl Digester for Xxh3 {
    #[inline(always)]
    fn digest_bytes(&self, bytes: &[u8]) -> Digest {
        Digest(self.hash(bytes))
    }
}

impl Digester for KeyHasher {
    #[inline(always)]
    fn digest_bytes(&self, bytes: &[u8]) -> Digest {
        match self.other {
            None => self.xxh3.digest_bytes(bytes),
            Some(_) => self.slow_digest(bytes),
        }
    }
}

impl<H: Digester> Digester for &H {
    #[inline(always)]
    fn digest_bytes(&self, bytes: &[u8]) -> Digest {
        H::digest_bytes(self, bytes)
    }
}

/// XXH3 with seed 0.
impl Default for KeyHasher {
    fn default() -> Self {
        Self::xxh3(0)
    }
}

/// Equal when the same key gets the same digest: same function, seed and secret key.
impl PartialEq for KeyHasher {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id() && self.seed() == other.seed() && self.key_id() == other.key_id()
    }
}

impl fmt::Debug for KeyHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.other {
            None => write!(f, "xxh3(seed {:#x})", self.xxh3.seed()),
            Some(Other::Sip13 { key }) => write!(f, "sip13(key id {:#018x})", key.id()),
            Some(Other::Sip24 { key }) => write!(f, "sip24(key id {:#018x})", key.id()),
            Some(Other::Named { function, seed }) => write!(f, "{}(seed {seed:#x})", function.name()),
            Some(Other::Custom(function)) => write!(f, "{function:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn known_answers_never_change() {
        assert_eq!(KeyHasher::xxh3(0).digest("mayhap").get(), xxhash_rust::xxh3::xxh3_64(b"mayhap"));
        // The reference SipHash-1-3 of 00 01 02 .. 0e under the key 00 01 .. 0f.
        let key = SecretKey::new(core::array::from_fn(|i| i as u8));
        let message: std::vec::Vec<u8> = (0..15).collect();
        assert_eq!(KeyHasher::sip13(key.clone()).digest(&message).get(), 0xd320_d86d_2a51_9956);
        // SipHash-2-4 of the same, as its authors' paper gives it.
        assert_eq!(KeyHasher::sip24(key).digest(&message).get(), 0xa129_ca61_49be_45e5);
    }

    #[test]
    fn a_different_seed_or_key_is_a_different_hasher() {
        assert_ne!(KeyHasher::xxh3(0), KeyHasher::xxh3(1));
        let a = KeyHasher::sip13(SecretKey::new([1; 16]));
        let b = KeyHasher::sip13(SecretKey::new([2; 16]));
        assert_ne!(a, b);
        assert_ne!(a, KeyHasher::xxh3(0));
        assert_ne!(a.digest("x"), b.digest("x"));
        assert_eq!(a, KeyHasher::sip13(SecretKey::new([1; 16])));
        let rounds = KeyHasher::sip24(SecretKey::new([1; 16]));
        assert_ne!(a, rounds, "one key, two functions");
        assert_eq!(rounds.key_id(), a.key_id());
    }

    #[test]
    fn debug_never_prints_the_key() {
        for hasher in [KeyHasher::sip13, KeyHasher::sip24] {
            let shown = format!("{:?}", hasher(SecretKey::new([0xab; 16])));
            assert!(!shown.contains("abab") && !shown.contains("171"), "{shown}");
        }
    }

    #[test]
    fn integers_hash_as_their_little_endian_bytes() {
        let hasher = KeyHasher::xxh3(7);
        assert_eq!(hasher.digest(&0x0102_0304_u32), hasher.digest(&[4u8, 3, 2, 1]));
        assert_ne!(hasher.digest(&1u32), hasher.digest(&1u64));
    }
}
