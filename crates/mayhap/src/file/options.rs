//! What a reader brings to a file.

use crate::codec::{FormatError, HashRecord};
use crate::hash::{HashFunction, HashId, KeyHasher, NamedHash, SecretKey};

/// What a reader brings to a file: the secret key or foreign hash function it was built with, and a limit.
///
/// ```
/// use mayhap::{BloomFilter, ReadOptions, hash::SecretKey};
///
/// let key = SecretKey::new([7; 16]);
/// let filter = BloomFilter::builder().keys(100).rate(0.01).secret_key(key.clone()).build()?;
/// let bytes = filter.to_bytes()?;
/// assert!(BloomFilter::from_bytes(&bytes).is_err(), "which key?");
/// let again = BloomFilter::from_bytes_with(&bytes, &ReadOptions::new().secret_key(key))?;
/// assert!(again == filter);
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ReadOptions {
    hasher: Option<KeyHasher>,
    max_bytes: u64,
    any_hasher: bool,
}

impl ReadOptions {
    /// No secret key, no foreign hash function, no limit.
    pub const fn new() -> Self {
        Self { hasher: None, max_bytes: u64::MAX, any_hasher: false }
    }

    /// The secret key the filter was built with; by which function, the file says.
    pub fn secret_key(self, key: SecretKey) -> Self {
        self.hasher(KeyHasher::sip13(key))
    }

    /// The hasher the filter was built with, where the file can't say it all: a secret key, or a function from outside.
    pub fn hasher(mut self, hasher: KeyHasher) -> Self {
        self.hasher = Some(hasher);
        self
    }

    /// Refuse files longer than this before anything is allocated.
    pub const fn max_bytes(mut self, limit: u64) -> Self {
        self.max_bytes = limit;
        self
    }

    /// Open filters also without their secret key or their hash function from outside, to look at them: size, fill,
    /// estimates and rates need neither. What such a filter answers about keys means nothing, and where the key is
    /// missing it can't be saved.
    ///
    /// ```
    /// use mayhap::{BloomFilter, ReadOptions, hash::SecretKey};
    ///
    /// let key = SecretKey::new([7; 16]);
    /// let filter = BloomFilter::builder().keys(100).rate(0.01).secret_key(key).build()?;
    /// let bytes = filter.to_bytes()?;
    /// let looked_at = BloomFilter::from_bytes_with(&bytes, &ReadOptions::new().for_inspection())?;
    /// assert_eq!(looked_at.fill_ratio(), filter.fill_ratio());
    /// assert!(looked_at.to_bytes().is_err());
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    pub const fn for_inspection(mut self) -> Self {
        self.any_hasher = true;
        self
    }

    #[cfg(feature = "std")]
    pub(crate) const fn limit(&self) -> u64 {
        self.max_bytes
    }

    /// Refuses a file that is longer than the limit.
    pub(crate) fn check_length(&self, bytes: u64) -> Result<(), FormatError> {
        if bytes > self.max_bytes {
            Err(FormatError::TooLarge { bytes, limit: self.max_bytes })
        } else {
            Ok(())
        }
    }

    /// The hasher that a file names.
    pub(super) fn resolve(&self, record: &HashRecord) -> Result<KeyHasher, FormatError> {
        let xxh3 = KeyHasher::xxh3(record.seed);
        if HashRecord::from(&xxh3) == *record {
            return Ok(xxh3);
        }
        if let Some(function) = NamedHash::from_id(record.id) {
            let named = KeyHasher::named(function, record.seed);
            if HashRecord::from(&named) == *record {
                return Ok(named);
            }
        }
        if let Some(keyed) = self.hasher.as_ref().and_then(|hasher| hasher.with_same_key(record.id))
            && HashRecord::from(&keyed) == *record
        {
            return Ok(keyed);
        }
        match &self.hasher {
            Some(hasher) if HashRecord::from(hasher) == *record => Ok(hasher.clone()),
            _ if self.any_hasher => Ok(KeyHasher::custom(NotAtHand(record.id))),
            hasher => Err(match record.key_id {
                Some(expected) => {
                    FormatError::WrongKey { expected, got: hasher.as_ref().and_then(KeyHasher::key_id) }
                }
                None => FormatError::Unknown { what: "hash function", number: u64::from(record.id.get()) },
            }),
        }
    }
}

/// Stands for a function that isn't at hand, or whose key isn't.
#[derive(Debug)]
struct NotAtHand(HashId);

impl HashFunction for NotAtHand {
    fn id(&self) -> HashId {
        self.0
    }

    fn hash(&self, _: &[u8]) -> u64 {
        0
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self::new()
    }
}
