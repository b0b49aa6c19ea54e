//! The policy: how many bits a key gets, and filters made and asked by it.

use alloc::vec::Vec;

use super::buffer::LittleEndianMut;
use super::filter::LevelDbFilter;
use super::hash::hash_key;
use super::probe;
use super::recipe::{Flavour, LevelDb, MOST_HASHES};
use crate::bits::{BLOCK_BITS, Owned};
use crate::bloom::ClassicBloom;
use crate::codec::FormatError;
use crate::error::Error;
use crate::formats::words::reserve;
use crate::hash::Key;
use crate::sizing::{MAX_BYTES, SizingError};

/// LevelDB's built-in Bloom filter policy.
///
/// ```
/// use mayhap::formats::leveldb::BloomPolicy;
///
/// let policy = BloomPolicy::new(10);
/// let mut block = b"what stands before".to_vec();
/// let start = block.len();
/// policy.create_filter(&["apple", "pear"], &mut block)?;
///
/// let filter = &block[start..];
/// assert_eq!(filter.len(), 9, "64 bits at least, and the number of hashes");
/// assert!(policy.key_may_match("pear", filter));
/// assert!(!policy.key_may_match("plum", filter));
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BloomPolicy {
    bits_per_key: u64,
    flavour: Flavour,
}

impl BloomPolicy {
    /// The policy's name, by which a table tells whose filters it has.
    pub const NAME: &'static str = "leveldb.BuiltinBloomFilter2";

    /// LevelDB's policy with so many bits per key, 10 being the usual choice: about 1 % of absent keys are found then.
    #[must_use]
    pub const fn new(bits_per_key: u32) -> Self {
        Self { bits_per_key: bits_per_key as u64, flavour: Flavour::LevelDb }
    }

    /// badger's and corekv's: less than 0 counts as 0. See [`badger`](super::badger) for their numbers.
    #[must_use]
    pub const fn badger(bits_per_key: i64) -> Self {
        let bits_per_key = if bits_per_key < 0 { 0 } else { bits_per_key.unsigned_abs() };
        Self { bits_per_key, flavour: Flavour::Badger }
    }

    /// Bits for each key.
    #[must_use]
    pub const fn bits_per_key(&self) -> u64 {
        self.bits_per_key
    }

    /// Whose arithmetic large filters follow.
    #[must_use]
    pub const fn flavour(&self) -> Flavour {
        self.flavour
    }

    /// Bits set for each key: `bits_per_key` · 0.69, a little less than ln 2, cut to a whole number from 1 to 30.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "cutting is what they do")]
    #[allow(clippy::cast_sign_loss, reason = "never below 0")]
    pub fn hashes(&self) -> u8 {
        ((self.bits_per_key as f64 * 0.69) as u64).clamp(1, u64::from(MOST_HASHES)) as u8
    }

    /// The length of a filter for so many keys: its bits, at least 64 of them, in whole bytes, and a byte that tells the
    /// number of hashes. `u64::MAX` when that is beyond counting.
    #[must_use]
    pub const fn filter_bytes(&self, keys: u64) -> u64 {
        self.bit_bytes(keys).saturating_add(1)
    }

    const fn bit_bytes(&self, keys: u64) -> u64 {
        match keys.checked_mul(self.bits_per_key) {
            Some(bits) if bits < 64 => 8,
            Some(bits) => bits.div_ceil(8),
            None => u64::MAX,
        }
    }

    /// Appends a filter of these keys. What stands in the buffer already stays. Keys that come twice count twice.
    ///
    /// # Errors
    /// When the memory can't be had, or badger couldn't make the filter: it fails where the number of bits is a multiple
    /// of 2³². The buffer is unchanged then.
    pub fn create_filter<K: Key>(&self, keys: &[K], out: &mut Vec<u8>) -> Result<(), FormatError> {
        self.append(keys.len() as u64, out, |filter| filter.extend(keys))
    }

    /// [`create_filter`](Self::create_filter) for keys that were hashed already by [`hash_key`].
    ///
    /// # Errors
    /// As [`create_filter`](Self::create_filter).
    pub fn create_filter_from_hashes(&self, hashes: &[u32], out: &mut Vec<u8>) -> Result<(), FormatError> {
        self.append(hashes.len() as u64, out, |filter| {
            let mut new = [false; 256];
            for hashes in hashes.chunks(new.len()) {
                filter.insert_hashes(hashes, &mut new[..hashes.len()]);
            }
        })
    }

    fn append(
        &self,
        keys: u64,
        out: &mut Vec<u8>,
        fill: impl FnOnce(&mut ClassicBloom<LevelDb, LittleEndianMut<'_>>),
    ) -> Result<(), FormatError> {
        let bytes = self.bit_bytes(keys);
        let divisor = self.flavour.divisor(bytes).ok_or(divides_by_zero(bytes))?;
        reserve(out, bytes)?;
        let start = out.len();
        #[allow(clippy::cast_possible_truncation, reason = "there is room for so many bytes")]
        out.resize(start + bytes as usize, 0);
        let words = LittleEndianMut(&mut out[start..]);
        // Can't fail: the positions are in the bytes.
        if let Ok(mut filter) = ClassicBloom::foreign(words, LevelDb, divisor, u32::from(self.hashes())) {
            fill(&mut filter);
        }
        out.push(self.hashes());
        Ok(())
    }

    /// An empty filter with room for so many keys, to be filled one by one. Filled with as many it is, byte for byte, what
    /// [`create_filter`](Self::create_filter) makes.
    ///
    /// # Errors
    /// When it would be too large, or the memory can't be had.
    pub fn empty_filter(&self, keys: u64) -> Result<LevelDbFilter, Error> {
        let bytes = self.bit_bytes(keys);
        if bytes > MAX_BYTES {
            return Err(SizingError::TooLarge { bytes, limit: MAX_BYTES }.into());
        }
        let words = Owned::zeroed(bytes.div_ceil(BLOCK_BITS / 8))?;
        Ok(LevelDbFilter::from_words(words, bytes, self.hashes(), self.flavour)?)
    }

    /// Whether a key may be among those that the filter was made of. The answer is always yes for an encoding that isn't
    /// known (a last byte above 30), always no for less than two bytes.
    ///
    /// This is for one question to a filter that was just read. For many, [`LevelDbFilter::view`] is faster.
    #[inline]
    pub fn key_may_match<K: Key + ?Sized>(&self, key: &K, filter: &[u8]) -> bool {
        self.hash_may_match(hash_key(key), filter)
    }

    /// [`key_may_match`](Self::key_may_match) for a key that was hashed already by [`hash_key`]: one hash will do for the
    /// filters of all tables.
    #[inline]
    #[must_use]
    pub fn hash_may_match(&self, hash: u32, filter: &[u8]) -> bool {
        probe::hash_may_match(self.flavour, hash, filter)
    }
}

/// Where badger fails, we refuse.
pub(super) const fn divides_by_zero(bytes: u64) -> FormatError {
    FormatError::BadField {
        field: "bits",
        value: bytes.saturating_mul(8),
        must_be: "no multiple of 2^32, by which badger divides by zero",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn hashes_are_cut_and_clamped() {
        let hashes = |bits| BloomPolicy::new(bits).hashes();
        assert_eq!([0, 1, 2, 10, 20, 43, 44, 60, u32::MAX].map(hashes), [1, 1, 1, 6, 13, 29, 30, 30, 30]);
        assert_eq!(BloomPolicy::badger(-5), BloomPolicy::badger(0));
        assert_eq!(BloomPolicy::badger(i64::MIN).hashes(), 1);
    }

    #[test]
    fn sizes_beyond_counting_are_refused_and_leave_the_buffer_alone() {
        let policy = BloomPolicy::new(u32::MAX);
        assert_eq!(policy.filter_bytes(u64::MAX), u64::MAX);
        assert!(policy.empty_filter(u64::MAX).is_err());
        assert!(BloomPolicy::badger(i64::MAX).empty_filter(1).is_err());
        let mut out = vec![1, 2, 3];
        let refused = BloomPolicy::badger(i64::MAX).create_filter(&["a", "b"], &mut out);
        assert!(refused.is_err());
        let refused = BloomPolicy::badger(1 << 32).create_filter(&["a"], &mut out);
        assert_eq!(refused, Err(divides_by_zero(1 << 29)));
        assert_eq!(out, [1, 2, 3]);
    }

    #[test]
    fn filters_large_enough_for_prefetching_are_the_same_by_key_and_by_hash() {
        let keys: Vec<u64> = (0..200_000).collect();
        let hashes: Vec<u32> = keys.iter().map(hash_key).collect();
        for policy in [BloomPolicy::new(10), BloomPolicy::badger(33)] {
            let (mut by_key, mut by_hash) = (Vec::new(), Vec::new());
            policy.create_filter(&keys, &mut by_key).unwrap();
            policy.create_filter_from_hashes(&hashes, &mut by_hash).unwrap();
            assert!(by_key == by_hash);
            assert_eq!(by_key.len() as u64, policy.filter_bytes(200_000));
            assert!(keys.iter().all(|key| policy.key_may_match(key, &by_key)));
        }
    }
}
