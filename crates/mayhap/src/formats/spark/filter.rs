//! The filter.

use core::fmt;

use super::recipe::{SparkHash, SparkRecipe};
use crate::bits::{BLOCK_BITS, Owned, Words};
use crate::bloom::ClassicBloom;
use crate::error::Error;
use crate::formats::correctly_rounded::power;
use crate::formats::guava::Sizing;
use crate::hash::Key;
use crate::merge_error::MergeError;
use crate::sizing::SizingError;

/// A Bloom filter of Spark's.
///
/// `S` is where the bits live: in memory of its own, or in the bytes of a stream ([`view`](SparkBloom::view)).
/// [The module's page](super) has the bytes, the recipes and the traps.
pub struct SparkBloom<S = Owned> {
    /// With 0 hashes, and one word, if the stream has no words.
    pub(super) filter: ClassicBloom<SparkRecipe, S>,
    /// As in the stream, where it may be 0 or less.
    pub(super) hashes: i32,
    pub(super) words: u32,
}

impl SparkBloom {
    /// A filter for `keys` keys at `rate`: Spark's `BloomFilter.create(expectedNumItems, fpp)`. Its default rate is 0.03.
    ///
    /// ```
    /// use mayhap::formats::spark::{SparkBloom, SparkRecipe};
    ///
    /// let filter = SparkBloom::with_rate(SparkRecipe::V1, 1_000_000, 0.03)?;
    /// assert_eq!((filter.bits(), filter.hashes()), (7_298_496, 5));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// Where Spark refuses: when `keys` is 0, the rate isn't between 0 and 1 or is so high that no bit is left, or the
    /// words are more than an array of Java's can have; and when the memory can't be had.
    pub fn with_rate(recipe: SparkRecipe, keys: u64, rate: f64) -> Result<Self, Error> {
        if !(rate > 0.0 && rate < 1.0) {
            return Err(SizingError::RateOutOfRange { got: rate }.into());
        }
        Self::with_bits(recipe, keys, Self::optimal_num_of_bits(keys, rate))
    }

    /// A filter for `keys` keys in `bits` bits, which are rounded up to whole words of 64:
    /// Spark's `BloomFilter.create(expectedNumItems, numBits)`.
    ///
    /// # Errors
    /// As [`with_rate`](Self::with_rate); and when a key would have more than 2³¹ − 1 bits.
    pub fn with_bits(recipe: SparkRecipe, keys: u64, bits: u64) -> Result<Self, Error> {
        if keys == 0 {
            return Err(SizingError::ZeroKeys.into());
        }
        let hashes = Self::optimal_num_of_hash_functions(keys, bits);
        let (Ok(words @ 1..), Ok(k)) = (i32::try_from(bits.div_ceil(64)), i32::try_from(hashes)) else {
            let takes = "1 to 137438953408 bits and at most 2147483647 hashes";
            return Err(SizingError::ForeignPlan { bits, hashes, takes }.into());
        };
        let words = words.cast_unsigned();
        let memory = Owned::zeroed((u64::from(words) * 64).div_ceil(BLOCK_BITS))?;
        Ok(Self::from_parts(memory, recipe, k, words)?)
    }

    /// The bits for `keys` keys at `rate`, before they are rounded up to whole words: Spark's `optimalNumOfBits`.
    ///
    /// ```
    /// use mayhap::formats::spark::SparkBloom;
    ///
    /// assert_eq!(SparkBloom::optimal_num_of_bits(1_000_000, 0.03), 7_298_440);
    /// assert_eq!(SparkBloom::optimal_num_of_hash_functions(1_000_000, 7_298_440), 5);
    /// ```
    #[must_use]
    pub fn optimal_num_of_bits(keys: u64, rate: f64) -> u64 {
        // Guava takes no keys for one.
        if keys == 0 { 0 } else { Sizing::Guava31.optimal_num_of_bits(keys, rate) }
    }

    /// The bits to set for each of `keys` keys in `bits` bits, at least 1: Spark's `optimalNumOfHashFunctions`.
    #[must_use]
    pub fn optimal_num_of_hash_functions(keys: u64, bits: u64) -> u32 {
        // The rate isn't looked at by this arithmetic.
        if keys == 0 { 1 } else { Sizing::Guava31.optimal_num_of_hash_functions(keys, bits, 0.5) }
    }

    /// Adds a key: Spark's `put`. True if some bit was new, so that the key was certainly not in the set before.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.filter.insert(key)
    }

    /// [`insert`](Self::insert) for a key that was hashed already.
    #[inline]
    pub fn insert_hash(&mut self, hash: SparkHash) -> bool {
        self.filter.insert_hash(hash)
    }

    /// Adds many keys at once: `new[i]` tells whether `keys[i]` was new. The same as adding them one by one in order.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_each<K: Key>(&mut self, keys: &[K], new: &mut [bool]) {
        self.filter.insert_each(keys, new);
    }

    /// Empties the filter.
    pub fn clear(&mut self) {
        self.filter.clear();
    }

    /// Adds every key of `other`: Spark's `mergeInPlace`.
    ///
    /// # Errors
    /// Where Spark refuses: when the versions, seeds, numbers of bits or numbers of hashes differ. Nothing is changed then.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.check_compatible(other)?;
        self.filter.merge(&other.filter)
    }

    /// Keeps what may be in both filters: Spark's `intersectInPlace`.
    ///
    /// # Errors
    /// As [`merge`](Self::merge).
    pub fn intersect(&mut self, other: &Self) -> Result<(), MergeError> {
        self.check_compatible(other)?;
        self.filter.intersect(&other.filter)
    }
}

impl<S: Words> SparkBloom<S> {
    /// A filter of `words` words, which `storage` holds; if there are none, it holds one all the same.
    pub(super) fn from_parts(
        storage: S,
        recipe: SparkRecipe,
        hashes: i32,
        words: u32,
    ) -> Result<Self, SizingError> {
        let asked = if words == 0 { 0 } else { u32::try_from(hashes).unwrap_or(0) };
        let filter = ClassicBloom::foreign(storage, recipe, u64::from(words.max(1)) * 64, asked)?;
        Ok(Self { filter, hashes, words })
    }

    /// Whether the key may be in the set: Spark's `mightContain`. `false` is certain.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.filter.contains(key)
    }

    /// The hash of a key, for the `*_hash` methods of this filter and of others with an equal recipe.
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> SparkHash {
        self.filter.hash(key)
    }

    /// [`contains`](Self::contains) for a key that was hashed already.
    #[inline]
    pub fn contains_hash(&self, hash: SparkHash) -> bool {
        self.filter.contains_hash(hash)
    }

    /// Asks for many keys at once: `found[i]` tells whether `keys[i]` may be in the set. Faster than one by one when
    /// the filter is larger than the cache.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
        self.filter.contains_each(keys, found);
    }

    /// The version, and its seed.
    #[must_use]
    pub fn recipe(&self) -> SparkRecipe {
        *self.filter.scheme()
    }

    /// Number of bits: Spark's `bitSize`, a multiple of 64.
    #[must_use]
    pub fn bits(&self) -> u64 {
        u64::from(self.words) * 64
    }

    /// Bits for each key, as the stream has it: in one that Spark didn't write it may be anything.
    #[must_use]
    pub fn hashes(&self) -> i32 {
        self.hashes
    }

    /// How many bits are set: Spark's `cardinality`. Looks at every word.
    #[must_use]
    pub fn cardinality(&self) -> u64 {
        // Of a filter without words the one that stands in for them is never written.
        self.filter.bits_set()
    }

    /// The part of all bits that is set, to the power of [`hashes`](Self::hashes): Spark's `expectedFpp`, the same
    /// double. Looks at every word. Of a filter without bits it is not a number.
    #[must_use]
    pub fn expected_fpp(&self) -> f64 {
        power(self.cardinality() as f64 / self.bits() as f64, self.hashes)
    }

    /// Whether [`merge`](SparkBloom::merge) and [`intersect`](SparkBloom::intersect) take the two: Spark's
    /// `isCompatible`.
    #[must_use]
    pub fn is_compatible<T: Words>(&self, other: &SparkBloom<T>) -> bool {
        self.check_compatible(other).is_ok()
    }

    fn check_compatible<T: Words>(&self, other: &SparkBloom<T>) -> Result<(), MergeError> {
        if self.recipe().version() != other.recipe().version() {
            return Err(MergeError::Different { what: "versions of Spark's format" });
        }
        if self.recipe() != other.recipe() {
            return Err(MergeError::Different { what: "seeds" });
        }
        if self.bits() != other.bits() {
            return Err(MergeError::Different { what: "numbers of bits, which Spark never combines" });
        }
        if self.hashes != other.hashes {
            return Err(MergeError::Different { what: "numbers of hashes" });
        }
        Ok(())
    }
}

/// Adds every key, in batches.
impl<K: Key> Extend<K> for SparkBloom {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        self.filter.extend(keys);
    }
}

impl Clone for SparkBloom {
    /// # Panics
    /// When the memory can't be had, as `Vec` does.
    fn clone(&self) -> Self {
        Self { filter: self.filter.clone(), ..*self }
    }
}

/// Equal when their streams are: same recipe, hashes, and bits.
impl<S: Words, T: Words> PartialEq<SparkBloom<T>> for SparkBloom<S> {
    fn eq(&self, other: &SparkBloom<T>) -> bool {
        self.words == other.words && self.hashes == other.hashes && self.filter == other.filter
    }
}

impl<S: Words> fmt::Debug for SparkBloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparkBloom")
            .field("recipe", &self.recipe())
            .field("bits", &self.bits())
            .field("hashes", &self.hashes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V2: SparkRecipe = SparkRecipe::V2 { seed: 0 };

    #[test]
    fn spark_refuses_and_so_do_we() {
        for rate in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(SparkBloom::with_rate(V2, 10, rate).is_err(), "{rate}");
        }
        assert!(SparkBloom::with_rate(V2, 0, 0.1).is_err());
        assert!(SparkBloom::with_rate(V2, 1, 0.99).is_err(), "no bit is left");
        assert!(SparkBloom::with_bits(V2, 1, 0).is_err());
        assert!(SparkBloom::with_bits(V2, 1, u64::MAX).is_err());
        assert!(SparkBloom::with_rate(V2, u64::MAX, 0.01).is_err());
    }

    #[test]
    fn only_the_same_settings_combine() {
        let with = |recipe, keys, bits| SparkBloom::with_bits(recipe, keys, bits).unwrap();
        let mut filter = with(V2, 100, 640);
        for other in [
            with(SparkRecipe::V1, 100, 640),
            with(SparkRecipe::V2 { seed: 1 }, 100, 640),
            with(V2, 200, 1280),
            with(V2, 50, 640),
        ] {
            assert!(!filter.is_compatible(&other));
            assert!(filter.merge(&other).is_err() && filter.intersect(&other).is_err(), "{other:?}");
        }
        let mut other = with(V2, 100, 600);
        other.insert("apple");
        filter.merge(&other).unwrap();
        assert!(filter == other && filter.contains("apple"));
        filter.intersect(&with(V2, 100, 640)).unwrap();
        assert_eq!(filter.cardinality(), 0);
    }

    #[test]
    fn batches_answer_as_one_by_one() {
        let keys: std::vec::Vec<i64> = (0..2_000).collect();
        for recipe in [SparkRecipe::V1, V2] {
            let mut one_by_one = SparkBloom::with_rate(recipe, 1_000, 0.03).unwrap();
            let mut batch = one_by_one.clone();
            let mut new = std::vec![false; 1_000];
            batch.insert_each(&keys[..1_000], &mut new);
            for (key, new) in keys.iter().zip(new) {
                assert_eq!(one_by_one.insert(key), new);
            }
            assert!(batch == one_by_one);
            let mut found = std::vec![false; 2_000];
            batch.contains_each(&keys, &mut found);
            assert!(keys.iter().zip(&found).all(|(key, found)| batch.contains(key) == *found));
            assert!(found[..1_000].iter().all(|found| *found));
            batch.clear();
            assert_eq!(batch.cardinality(), 0);
        }
    }
}
