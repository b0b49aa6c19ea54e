//! A filter to be asked many times, in place or in memory of its own, where it can be extended.

use alloc::vec::Vec;
use core::fmt;

use super::policy::{BloomPolicy, divides_by_zero};
use super::recipe::{Flavour, LevelDb, MOST_HASHES};
use crate::bits::{Owned, Words};
use crate::bloom::ClassicBloom;
use crate::codec::FormatError;
use crate::error::Error;
use crate::file::ReadOptions;
use crate::formats::words::{LittleEndian, from_little_endian, write_little_endian};
use crate::hash::Key;
use crate::merge_error::MergeError;

/// A filter of LevelDB, badger or corekv.
///
/// `S` is where its bits live: memory of its own, or bytes of a file.
///
/// ```
/// use mayhap::formats::leveldb::{LevelDbFilter, hash_key};
///
/// let mut filter = LevelDbFilter::new(1_000, 10)?;
/// assert!(filter.insert("apple"));
/// assert!(filter.insert_hash(hash_key("pear")));
/// let bytes = filter.to_bytes()?;
/// assert_eq!(bytes.len(), 1_250 + 1);
///
/// let view = LevelDbFilter::view(&bytes)?;
/// assert!(view.contains("pear") && !view.contains("plum"));
/// # Ok::<(), mayhap::Error>(())
/// ```
pub struct LevelDbFilter<S = Owned> {
    filter: ClassicBloom<LevelDb, S>,
    /// Bytes of bits. Where badger cuts the number of bits, the filter knows of fewer.
    bytes: u64,
}

impl LevelDbFilter {
    /// An empty filter with room for so many keys, of so many bits each: [`BloomPolicy::empty_filter`].
    ///
    /// # Errors
    /// When it would be too large, or the memory can't be had.
    pub fn new(keys: u64, bits_per_key: u32) -> Result<Self, Error> {
        BloomPolicy::new(bits_per_key).empty_filter(keys)
    }

    /// Copies a filter out of a file, to be extended.
    ///
    /// # Errors
    /// When there are less than two bytes, when the last one is above 30, which is kept for encodings to come, or when
    /// the memory can't be had. LevelDB itself answers no in the first case and yes in the second;
    /// [`BloomPolicy::key_may_match`] does so, too.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        Self::from_bytes_with(bytes, &ReadOptions::new())
    }

    /// [`from_bytes`](Self::from_bytes) with a limit.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and when there are more bytes than the limit.
    pub fn from_bytes_with(bytes: &[u8], options: &ReadOptions) -> Result<Self, FormatError> {
        Self::copy_of(bytes, Flavour::LevelDb, options)
    }

    /// [`from_bytes_with`](Self::from_bytes_with), in badger's arithmetic. It differs from 2³² bits on.
    ///
    /// # Errors
    /// As [`from_bytes_with`](Self::from_bytes_with), and when badger would divide by zero: the number of bits is a
    /// multiple of 2³².
    pub fn from_badger(bytes: &[u8], options: &ReadOptions) -> Result<Self, FormatError> {
        Self::copy_of(bytes, Flavour::Badger, options)
    }

    fn copy_of(bytes: &[u8], flavour: Flavour, options: &ReadOptions) -> Result<Self, FormatError> {
        options.check_length(bytes.len() as u64)?;
        let (hashes, bits) = split(bytes)?;
        let words =
            from_little_endian(bits).map_err(|error| FormatError::OutOfMemory { bytes: error.bytes })?;
        Self::from_words(words, bits.len() as u64, hashes, flavour)
    }

    /// Adds a key. True if it was new: one of its bits was not set.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.filter.insert(key)
    }

    /// [`insert`](Self::insert) for a key that was hashed already by [`hash_key`](super::hash_key).
    #[inline]
    pub fn insert_hash(&mut self, hash: u32) -> bool {
        self.filter.insert_hash(hash)
    }

    /// Adds many keys at once: `new[i]` tells whether `keys[i]` was new.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_each<K: Key>(&mut self, keys: &[K], new: &mut [bool]) {
        self.filter.insert_each(keys, new);
    }

    /// [`insert_each`](Self::insert_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_hashes(&mut self, hashes: &[u32], new: &mut [bool]) {
        self.filter.insert_hashes(hashes, new);
    }

    /// Empties the filter. Its size stays.
    pub fn clear(&mut self) {
        self.filter.clear();
    }

    /// Adds every key of `other`, which must have as many bits and hashes. The original has no such operation; the bytes
    /// are those of one filter of this size with the keys of both.
    ///
    /// # Errors
    /// When sizes or numbers of hashes differ. Nothing is changed then.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.check_size(other)?;
        self.filter.merge(&other.filter)
    }

    /// Keeps what may be in both filters.
    ///
    /// # Errors
    /// As [`merge`](Self::merge).
    pub fn intersect(&mut self, other: &Self) -> Result<(), MergeError> {
        self.check_size(other)?;
        self.filter.intersect(&other.filter)
    }

    /// One of the two may be badger's, and larger than it looks.
    fn check_size(&self, other: &Self) -> Result<(), MergeError> {
        if self.bytes == other.bytes {
            Ok(())
        } else {
            Err(MergeError::Sizes { ours: self.bits(), theirs: other.bits() })
        }
    }
}

impl<'a> LevelDbFilter<LittleEndian<'a>> {
    /// Asks a filter where it stands: nothing is copied.
    ///
    /// # Errors
    /// As [`from_bytes`](LevelDbFilter::from_bytes), but for the memory.
    pub fn view(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let (hashes, bits) = split(bytes)?;
        Self::from_words(LittleEndian::new(bits), bits.len() as u64, hashes, Flavour::LevelDb)
    }

    /// [`view`](Self::view), in badger's arithmetic. It differs from 2³² bits on.
    ///
    /// # Errors
    /// As [`view`](Self::view), and when badger would divide by zero.
    pub fn view_badger(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let (hashes, bits) = split(bytes)?;
        Self::from_words(LittleEndian::new(bits), bits.len() as u64, hashes, Flavour::Badger)
    }
}

impl<S: Words> LevelDbFilter<S> {
    pub(super) fn from_words(
        words: S,
        bytes: u64,
        hashes: u8,
        flavour: Flavour,
    ) -> Result<Self, FormatError> {
        let refused = divides_by_zero(bytes);
        let divisor = flavour.divisor(bytes).ok_or(refused.clone())?;
        match ClassicBloom::foreign(words, LevelDb, divisor, u32::from(hashes)) {
            Ok(filter) => Ok(Self { filter, bytes }),
            Err(_) => Err(refused),
        }
    }

    /// Whether the key may be in the set. `false` is certain.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.filter.contains(key)
    }

    /// [`contains`](Self::contains) for a key that was hashed already by [`hash_key`](super::hash_key).
    #[inline]
    pub fn contains_hash(&self, hash: u32) -> bool {
        self.filter.contains_hash(hash)
    }

    /// Asks for many keys at once: `found[i]` tells whether `keys[i]` may be in the set.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
        self.filter.contains_each(keys, found);
    }

    /// [`contains_each`](Self::contains_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hashes(&self, hashes: &[u32], found: &mut [bool]) {
        self.filter.contains_hashes(hashes, found);
    }

    /// Number of bits.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.bytes * 8
    }

    /// Bits set for each key. 0, which LevelDB reads and never writes, finds every key.
    #[must_use]
    pub fn hashes(&self) -> u32 {
        self.filter.hashes()
    }

    /// How many bits are set.
    #[must_use]
    pub fn bits_set(&self) -> u64 {
        self.filter.bits_set()
    }

    /// How many distinct keys are in it, estimated from the bits. Above some ten thousand keys it falls short, by a seventh at
    /// a million: see the [module's page](super#the-32-bit-hash).
    #[must_use]
    pub fn estimated_len(&self) -> u64 {
        self.filter.estimated_len()
    }

    /// The part of absent keys that is found, as the bits tell. In large filters it is really higher, likewise.
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        self.filter.expected_rate()
    }

    /// The filter as it stands in a file.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FormatError> {
        let mut bytes = Vec::new();
        self.append_to(&mut bytes)?;
        Ok(bytes)
    }

    /// Appends the filter as it stands in a file.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn append_to(&self, out: &mut Vec<u8>) -> Result<(), FormatError> {
        write_little_endian(self.filter.words(), self.bytes, out)?;
        // It came from a byte.
        out.push(u8::try_from(self.hashes()).unwrap_or(u8::MAX));
        Ok(())
    }
}

/// The number of hashes, and the bits.
fn split(bytes: &[u8]) -> Result<(u8, &[u8]), FormatError> {
    match bytes.split_last() {
        Some((hashes, _)) if *hashes > MOST_HASHES => {
            Err(FormatError::Unknown { what: "the LevelDB filter encoding", number: u64::from(*hashes) })
        }
        Some((hashes, bits)) if !bits.is_empty() => Ok((*hashes, bits)),
        _ => Err(FormatError::Truncated { needed: 2, got: bytes.len() as u64 }),
    }
}

/// Adds every key, in batches.
impl<K: Key> Extend<K> for LevelDbFilter {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        self.filter.extend(keys);
    }
}

impl Clone for LevelDbFilter {
    /// # Panics
    /// When the memory can't be had, as `Vec` does.
    fn clone(&self) -> Self {
        Self { filter: self.filter.clone(), ..*self }
    }
}

/// Equal when their bytes are, wherever they live.
impl<S: Words, T: Words> PartialEq<LevelDbFilter<T>> for LevelDbFilter<S> {
    fn eq(&self, other: &LevelDbFilter<T>) -> bool {
        self.bytes == other.bytes && self.filter == other.filter
    }
}

impl<S: Words> fmt::Debug for LevelDbFilter<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LevelDbFilter")
            .field("bits", &self.bits())
            .field("hashes", &self.hashes())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn filled_one_by_one_it_is_what_the_policy_makes_at_once() {
        let keys: Vec<u64> = (0..500).collect();
        for policy in [BloomPolicy::new(0), BloomPolicy::new(7), BloomPolicy::badger(13)] {
            let mut at_once = Vec::new();
            policy.create_filter(&keys, &mut at_once).unwrap();
            let mut filter = policy.empty_filter(500).unwrap();
            for key in &keys[..200] {
                filter.insert(key);
            }
            let mut rest = policy.empty_filter(500).unwrap();
            rest.extend(&keys[200..]);
            filter.merge(&rest).unwrap();
            assert_eq!(filter.to_bytes().unwrap(), at_once);
            assert_eq!(filter, LevelDbFilter::view(&at_once).unwrap());
            assert_eq!(filter.clone(), LevelDbFilter::from_bytes(&at_once).unwrap());
            rest.clear();
            filter.intersect(&rest).unwrap();
            assert_eq!(filter.bits_set(), 0);
        }
        let mut filter = LevelDbFilter::new(100, 10).unwrap();
        assert!(filter.merge(&LevelDbFilter::new(200, 10).unwrap()).is_err());
        assert!(filter.merge(&LevelDbFilter::new(100, 20).unwrap()).is_err());
        assert_eq!(format!("{filter:?}"), "LevelDbFilter { bits: 1000, hashes: 6, .. }");
    }

    #[test]
    fn a_batch_is_one_by_one_in_place_and_owned() {
        for (keys, bits_per_key) in [(1u32, 1), (100, 10), (100, 60), (30_000, 8)] {
            let mut bytes = Vec::new();
            let inside: Vec<u32> = (0..keys).collect();
            BloomPolicy::new(bits_per_key).create_filter(&inside, &mut bytes).unwrap();
            let view = LevelDbFilter::view(&bytes).unwrap();
            let owned = LevelDbFilter::from_bytes(&bytes).unwrap();
            let asked: Vec<u32> = (0..1_000).map(|i| keys / 2 + i * (keys / 500).max(1)).collect();
            let expected: Vec<bool> = asked.iter().map(|key| owned.contains(key)).collect();
            let mut found = std::vec![true; asked.len()];
            view.contains_each(&asked, &mut found);
            assert_eq!(found, expected, "in place: {keys} keys");
            found.fill(true);
            owned.contains_each(&asked, &mut found);
            assert_eq!(found, expected, "owned: {keys} keys");
        }
        let mut found = [false; 3];
        LevelDbFilter::view(&[0; 5]).unwrap().contains_each(&["no", "hashes", "match all"], &mut found);
        assert_eq!(found, [true; 3]);
    }

    #[test]
    fn what_is_no_filter_is_refused_before_anything_is_allocated() {
        assert_eq!(LevelDbFilter::view(&[]), Err(FormatError::Truncated { needed: 2, got: 0 }));
        assert_eq!(LevelDbFilter::view(&[6]), Err(FormatError::Truncated { needed: 2, got: 1 }));
        let unknown = FormatError::Unknown { what: "the LevelDB filter encoding", number: 31 };
        assert_eq!(LevelDbFilter::view(&[0, 31]), Err(unknown.clone()));
        assert_eq!(LevelDbFilter::from_bytes(&[0, 31]), Err(unknown));
        let limited = LevelDbFilter::from_bytes_with(&[0; 9], &ReadOptions::new().max_bytes(8));
        assert_eq!(limited, Err(FormatError::TooLarge { bytes: 9, limit: 8 }));
        assert!(LevelDbFilter::from_bytes(&[0, 0]).unwrap().contains("anything"));
        assert!(LevelDbFilter::from_badger(&[0, 1], &ReadOptions::new()).is_ok());
        assert!(!LevelDbFilter::view_badger(&[0, 1]).unwrap().contains("anything"));
    }
}
