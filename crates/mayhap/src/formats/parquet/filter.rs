//! The filter, its sizes and its questions.

use core::fmt;

use super::blocks::{BLOCK_BITS, BLOCK_BYTES, SplitBlocks, has_all};
use super::header;
use crate::bits::{self, Owned, is_worth_prefetching};
use crate::error::Error;
use crate::formats::correctly_rounded::{eighth_root, ln};
use crate::hash::Key;
use crate::sizing::{SizingError, blocked};

/// A split-block Bloom filter, as Parquet has it.
///
/// `S` is where the bits live: in memory of its own, or in the bytes of a file ([`view`](SplitBlockBloom::view)).
/// [The module's page](super) has the bytes, the recipe and the traps.
pub struct SplitBlockBloom<S = Owned> {
    pub(super) storage: S,
    /// At least 1; so many lie in the storage.
    pub(super) blocks: u64,
}

impl SplitBlockBloom {
    /// The fewest bytes that the crate `parquet` gives a filter.
    pub const MIN_BYTES: u64 = 32;
    /// The most bytes that the crate `parquet` gives a filter, however many values there are.
    pub const MAX_BYTES: u64 = 128 << 20;

    /// A filter for `keys` distinct keys at `rate`, of [`optimal_bytes`](Self::optimal_bytes).
    ///
    /// ```
    /// use mayhap::formats::parquet::SplitBlockBloom;
    ///
    /// let mut filter = SplitBlockBloom::with_rate(1_000, 0.01)?;
    /// assert!(filter.insert(&7i64));
    /// assert!(filter.contains(&7i64) && !filter.contains(&8i64));
    /// assert_eq!(filter.len_bytes(), 2_048);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the rate isn't between 0 and 1, or the memory can't be had.
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, Error> {
        if !(rate > 0.0 && rate < 1.0) {
            return Err(SizingError::RateOutOfRange { got: rate }.into());
        }
        Self::with_bytes(Self::optimal_bytes(keys, rate))
    }

    /// A filter of at least `bytes` bytes: the next power of two, from [`MIN_BYTES`](Self::MIN_BYTES) to
    /// [`MAX_BYTES`](Self::MAX_BYTES).
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn with_bytes(bytes: u64) -> Result<Self, Error> {
        Self::with_blocks(rounded(bytes) / BLOCK_BYTES)
    }

    /// A filter of exactly so many blocks of 32 bytes. Parquet allows any number; its writers take powers of two.
    ///
    /// # Errors
    /// When there is no block, or more than a header can tell, or the memory can't be had.
    pub fn with_blocks(blocks: u64) -> Result<Self, Error> {
        if !(1..=header::MOST_BLOCKS).contains(&blocks) {
            let takes = "1 to 67108863 blocks of 256 bits, with 8 hashes";
            let bits = blocks.saturating_mul(BLOCK_BITS);
            return Err(SizingError::ForeignPlan { bits, hashes: 8, takes }.into());
        }
        Ok(Self { storage: Owned::zeroed((blocks * BLOCK_BITS).div_ceil(bits::BLOCK_BITS))?, blocks })
    }

    /// The bytes that the crate `parquet` gives a filter for `keys` distinct keys at `rate`.
    ///
    /// ```
    /// use mayhap::formats::parquet::SplitBlockBloom;
    ///
    /// assert_eq!(SplitBlockBloom::optimal_bytes(1_000_000, 0.01), 2 << 20);
    /// ```
    #[must_use]
    pub fn optimal_bytes(keys: u64, rate: f64) -> u64 {
        // From rate = (1 − e^(−8n/m))^8, which takes the bits to lie anywhere: the true rate is somewhat higher.
        let bits = -8.0 * keys as f64 / ln(1.0 - eighth_root(rate));
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "stops at 0 and at the largest"
        )]
        let bits = bits as u64;
        rounded(bits / 8)
    }

    /// The rate that a filter of `bytes` bytes has with `keys` distinct keys in it: what is to be expected before there is
    /// one, as [`expected_rate`](Self::expected_rate) is of one that is there.
    ///
    /// ```
    /// use mayhap::formats::parquet::SplitBlockBloom;
    ///
    /// let rate = SplitBlockBloom::planned_rate(200_000_000, SplitBlockBloom::MAX_BYTES);
    /// assert!((rate - 0.14).abs() < 0.005);
    /// ```
    #[must_use]
    pub fn planned_rate(keys: u64, bytes: u64) -> f64 {
        blocked::split_block_rate(keys, bytes / BLOCK_BYTES)
    }
}

impl<S: SplitBlocks> SplitBlockBloom<S> {
    /// The hash of a key, for the `*_hash` methods: XXH64 of its bytes.
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
        xxhash_rust::xxh64::xxh64(key.key_bytes().as_ref(), 0)
    }

    /// Whether the key may be in the set. `false` is certain.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// [`contains`](Self::contains) for a key that was hashed already.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "the lower half is what is wanted")]
    pub fn contains_hash(&self, hash: u64) -> bool {
        has_all(self.storage.block(self.index(hash)), hash as u32)
    }

    /// Asks for many keys at once: `found[i]` tells whether `keys[i]` may be in the set. Faster than one by one when
    /// the filter is larger than the cache.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
        assert_eq!(keys.len(), found.len(), "one answer for each key");
        self.contains_batch(keys.iter().map(|key| self.hash(key)), found);
    }

    /// [`contains_each`](Self::contains_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hashes(&self, hashes: &[u64], found: &mut [bool]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        self.contains_batch(hashes.iter().copied(), found);
    }

    fn contains_batch(&self, mut hashes: impl Iterator<Item = u64>, found: &mut [bool]) {
        for group in found.chunks_mut(GROUP) {
            let (together, _) = self.gather(&mut hashes, |index| self.storage.prefetch_block(index));
            for (answer, hash) in group.iter_mut().zip(together) {
                *answer = self.contains_hash(hash);
            }
        }
    }

    /// The next hashes that are looked at together, and how many there are, after `prefetch` of their blocks.
    #[inline(always)]
    pub(super) fn gather(
        &self,
        hashes: &mut impl Iterator<Item = u64>,
        prefetch: impl Fn(u64),
    ) -> ([u64; GROUP], usize) {
        let ahead = is_worth_prefetching(self.len_bytes());
        let (mut group, mut count) = ([0; GROUP], 0);
        for (slot, hash) in group.iter_mut().zip(hashes) {
            (*slot, count) = (hash, count + 1);
            if ahead {
                prefetch(self.index(hash));
            }
        }
        (group, count)
    }

    /// The block of a hash.
    #[inline(always)]
    pub(super) fn index(&self, hash: u64) -> u64 {
        ((hash >> 32) * self.blocks) >> 32
    }

    /// Number of blocks of 256 bits.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Bytes of the bits, without the header.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.blocks * BLOCK_BYTES
    }

    /// Number of bits.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.blocks * BLOCK_BITS
    }

    /// Bits for each key: 8.
    #[must_use]
    pub fn hashes(&self) -> u32 {
        8
    }

    /// How many bits are set. Looks at every block.
    #[must_use]
    pub fn bits_set(&self) -> u64 {
        let each = (0..self.blocks).flat_map(|index| self.storage.block(index));
        each.map(|word| u64::from(word.count_ones())).sum()
    }

    /// The part of all bits that is set, to the power of 8: the crate `parquet`'s `estimated_fpp`, the same double. It
    /// takes all blocks for equally full, and so is lower than the [`expected_rate`](Self::expected_rate).
    #[must_use]
    pub fn estimated_fpp(&self) -> f64 {
        to_the_eighth(self.bits_set() as f64 / self.bits() as f64)
    }

    /// The rate at which the filter, as it is now, answers "mayhap" for absent keys: in each block the chance to meet a
    /// set bit in every word, and the mean of these over all blocks.
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        let of_word = |word: u64| f64::from(word.count_ones()) / 32.0;
        let of_pair = |pair: u64| of_word(pair & 0xffff_ffff) * of_word(pair >> 32);
        let of_block = |index| self.storage.block(index).into_iter().map(of_pair).product::<f64>();
        (0..self.blocks).map(of_block).sum::<f64>() / self.blocks as f64
    }
}

/// Keys looked at together. Each has one line under way.
pub(super) const GROUP: usize = 24;

/// As the crate has it: three times squared, each time rounded.
pub(super) fn to_the_eighth(x: f64) -> f64 {
    let square = x * x;
    let fourth = square * square;
    fourth * fourth
}

fn rounded(bytes: u64) -> u64 {
    bytes.clamp(SplitBlockBloom::MIN_BYTES, SplitBlockBloom::MAX_BYTES).next_power_of_two()
}

/// Equal when their bits are.
impl<S: SplitBlocks, T: SplitBlocks> PartialEq<SplitBlockBloom<T>> for SplitBlockBloom<S> {
    fn eq(&self, other: &SplitBlockBloom<T>) -> bool {
        self.blocks == other.blocks
            && (0..self.blocks).all(|index| self.storage.block(index) == other.storage.block(index))
    }
}

impl Clone for SplitBlockBloom {
    /// # Panics
    /// When the memory can't be had, as `Vec` does.
    fn clone(&self) -> Self {
        match self.storage.try_clone() {
            Ok(storage) => Self { storage, blocks: self.blocks },
            Err(error) => panic!("{error}"),
        }
    }
}

impl<S> fmt::Debug for SplitBlockBloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SplitBlockBloom").field("blocks", &self.blocks).finish_non_exhaustive()
    }
}
