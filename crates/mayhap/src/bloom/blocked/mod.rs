//! The default filter: every key's bits in one cache line.
//!
//! # The idea
//!
//! A classic Bloom filter spreads the k bits of a key over all of its memory: k bits, k cache misses. Here the digest
//! first picks one 512-bit *block*, and all bits of the key lie in it, so a question costs one cache miss whatever k
//! is. Some blocks get more keys than others, which costs more memory for the same rate: 5 % at 1 %, 9 % at 0.1 %,
//! 19 % at 0.016 %, below which bits in two lines bring it down to 5 %. `sizing` knows exactly how much (the load of a block is
//! binomial) and pays it, so that the promised rate is met.
//!
//! ```text
//!            digest of "apple" · N / 2⁶⁴ = block 2
//!                          ┌─────────┐
//!   block 0   block 1   block 2   block 3  …  block N-1        each 8 words of 64 bits = one cache line
//!                          │
//!          ┌───────┬───────┼───────┬─ … one bit in each word, from digest · constant
//!        w0 ·1···  w1 ···1·  w2 1····  w3 ··1··  w4 …  w7
//! ```
//!
//! # The maths
//!
//! A block holds t keys with a probability that is binomial, and then passes an absent key with (1 − (63/64)ᵗ)⁸, so
//! p = Σₜ P(load = t) · (1 − (63/64)ᵗ)⁸: 10.1 bits a key at 1 %, where the textbook's filter needs 9.6. The derivation is in
//! [docs/maths.md], the formulas in [`sizing::blocked`](crate::sizing::blocked).
//!
//! # When to choose it, and how it fails
//!
//! Choose it unless you need deletes, or rates below about 10⁻⁶: there [`CuckooFilter`](crate::CuckooFilter) takes the
//! least memory, and [`ClassicBloom`](super::ClassicBloom) the least of those that are never full. Filled past
//! its plan it keeps working, with a rising rate: [`is_over_plan`](BloomFilter::is_over_plan) and
//! [`expected_rate`](BloomFilter::expected_rate) tell. It can't forget a key.
//!
//! [docs/maths.md]: https://github.com/mayhap/mayhap/blob/main/docs/maths.md#8-all-bits-in-one-cache-line

mod builder;
#[cfg(feature = "std")]
mod bulk;
mod combine;
mod estimate;
mod file;
mod insert;
mod parts;
mod shared;

pub use builder::BloomBuilder;
#[cfg(feature = "std")]
pub use bulk::BulkSorter;

use core::fmt;

use super::kernel::{Contains, ContainsBatch, Kernel, Keys, Parted, Parts, Regions, second_digest};
use super::shape::Shape;
use crate::bits::{BLOCK_BYTES, Blocks, Owned, is_worth_prefetching, prefetch_line};
use crate::error::Error;
use crate::hash::{Digest, Key, KeyHasher};
use crate::plan::Plan;

/// A blocked Bloom filter: the default, and the fastest. [Its page](self) tells how it works.
///
/// `S` is where its blocks live: [`Owned`] by default, [`Shared`](crate::bits::Shared) between threads
/// ([`SharedBloomFilter`](super::SharedBloomFilter)), or a mapped file
/// ([`MappedBloomFilter`](super::MappedBloomFilter)).
///
/// ```
/// use mayhap::BloomFilter;
///
/// let mut seen = BloomFilter::with_rate(1_000_000, 0.01)?;
/// assert!(seen.insert("https://example.org/"), "new");
/// assert!(!seen.insert("https://example.org/"), "not new any more");
/// assert!(seen.contains("https://example.org/"));
/// assert!(!seen.contains("https://example.org/other"));
/// # Ok::<(), mayhap::Error>(())
/// ```
pub struct BloomFilter<S = Owned> {
    blocks: S,
    hasher: KeyHasher,
    shape: Shape,
    kernel: Kernel,
    plan: Plan,
}

impl BloomFilter {
    /// A filter for `keys` distinct keys that answers "mayhap" for at most `rate` of the absent ones.
    ///
    /// ```
    /// use mayhap::BloomFilter;
    ///
    /// let filter = BloomFilter::with_rate(100_000_000, 0.01)?;
    /// assert!(filter.len_bytes() < 128_000_000, "10.1 bits a key");
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When `keys` is 0, `rate` isn't between 0 and 1 or is lower than a 64-bit digest can give for so many keys, or
    /// the memory can't be had.
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, Error> {
        Self::builder().keys(keys).rate(rate).build()
    }

    /// The largest filter of at most `bytes` bytes, shaped for `rate`. Its planned number of keys is what it holds at
    /// that rate.
    ///
    /// ```
    /// use mayhap::BloomFilter;
    ///
    /// let filter = BloomFilter::with_bytes(64 << 20, 1e-6)?;
    /// assert!(filter.len_bytes() <= 64 << 20);
    /// assert!(filter.planned_keys() > 16_000_000);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`with_rate`](Self::with_rate), and when `bytes` can't hold even one key at that rate.
    pub fn with_bytes(bytes: u64, rate: f64) -> Result<Self, Error> {
        Self::builder().bytes(bytes).rate(rate).build()
    }

    /// Every choice there is: hash, seed or secret key, shape, limits.
    pub fn builder() -> BloomBuilder {
        BloomBuilder::default()
    }
}

impl<S: Blocks> BloomFilter<S> {
    /// Puts a filter together. The blocks fit the shape: at least one, an even number for two lines.
    fn from_parts(blocks: S, hasher: KeyHasher, shape: Shape, kernel: Kernel, plan: Plan) -> Self {
        assert!(
            blocks.block_count() > 0 && blocks.block_count().is_multiple_of(shape.lines()),
            "whoever makes a filter has checked its number of blocks"
        );
        Self { blocks, hasher, shape, kernel, plan }
    }

    /// The digest of a key, for the `*_hash` methods of this filter and of others with an equal hasher.
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> Digest {
        self.hasher.digest(key)
    }

    /// Whether the key may be in the set. `false` is certain.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.kernel.one_key(self.shape, self, key)
    }

    /// [`contains`](Self::contains) for a key that was hashed already.
    #[inline]
    pub fn contains_hash(&self, digest: Digest) -> bool {
        self.kernel.one::<Contains<'_, S::Line>>(self.shape, self.blocks.lines(), digest.get())
    }

    /// Asks for many keys at once: `found[i]` tells whether `keys[i]` may be in the set.
    ///
    /// When the filter is larger than the cache this is two to three times faster than asking one by one, because the
    /// lines of later keys are on their way while earlier ones are looked at.
    ///
    /// ```
    /// use mayhap::BloomFilter;
    ///
    /// let mut filter = BloomFilter::with_rate(1_000, 0.001)?;
    /// filter.extend(["apple", "pear"]);
    /// let mut found = [false; 3];
    /// filter.contains_each(&["apple", "quince", "pear"], &mut found);
    /// assert_eq!(found, [true, false, true]);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
        assert_eq!(keys.len(), found.len(), "one answer for each key");
        match self.hasher.as_xxh3() {
            Some(xxh3) => self.contains_batch(Keys(xxh3, keys), found),
            None => self.contains_batch(Keys(&self.hasher, keys), found),
        }
    }

    /// [`contains_each`](Self::contains_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hashes(&self, digests: &[Digest], found: &mut [bool]) {
        assert_eq!(digests.len(), found.len(), "one answer for each digest");
        self.contains_batch(digests, found);
    }

    /// Starts loading the lines that a question about this key will read, and doesn't wait for them.
    ///
    /// For callers who hash keys one by one and ask for all of them later: the lines then come while other keys are
    /// hashed. The batch methods do it themselves; before them it pays when hashing takes long, as with a secret key.
    /// Nothing happens for a filter that fits into the cache anyway.
    #[inline]
    pub fn prefetch_hash(&self, digest: Digest) {
        let lines = self.blocks.lines();
        if is_worth_prefetching(self.len_bytes()) {
            let has_two = self.shape.lines() > 1;
            let regions = Regions::new(lines, has_two);
            prefetch_line(regions.first(digest.get()));
            if has_two {
                prefetch_line(regions.second(second_digest(digest.get())));
            }
        }
    }

    fn contains_batch(&self, source: impl Parted, answers: &mut [bool]) {
        self.kernel.batch(self.shape, ContainsBatch { lines: self.blocks.lines(), source, answers });
    }

    /// An empty filter of the same size, shape, hash and plan: one that can be merged with this.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn empty_like(&self) -> Result<BloomFilter, Error> {
        let blocks = Owned::zeroed(self.blocks.block_count())?;
        Ok(BloomFilter::from_parts(blocks, self.hasher.clone(), self.shape, self.kernel, self.plan))
    }

    /// Bytes of memory its blocks take.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.blocks.block_count() * BLOCK_BYTES as u64
    }

    /// Number of 512-bit blocks.
    #[must_use]
    pub fn block_count(&self) -> u64 {
        self.blocks.block_count()
    }

    /// How a key's bits lie in the blocks.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// What turns keys into digests.
    #[must_use]
    pub fn hasher(&self) -> &KeyHasher {
        &self.hasher
    }

    /// The number of distinct keys it was made for.
    #[must_use]
    pub fn planned_keys(&self) -> u64 {
        self.plan.keys
    }

    /// The rate it keeps up to [`planned_keys`](Self::planned_keys).
    #[must_use]
    pub fn planned_rate(&self) -> f64 {
        self.plan.rate
    }
}

/// A filter that is only borrowed is asked.
impl<'a, S: Blocks> Parts<'a> for &'a BloomFilter<S> {
    type Work = Contains<'a, S::Line>;
    #[inline(always)]
    fn hasher(&self) -> &KeyHasher {
        &self.hasher
    }
    #[inline(always)]
    fn blocks(self) -> &'a [S::Line] {
        self.blocks.lines()
    }
}

impl Clone for BloomFilter {
    /// # Panics
    /// When the memory can't be had, as `Vec` does. [`empty_like`](Self::empty_like) and [`merge`](Self::merge) are
    /// the way that returns an error instead.
    fn clone(&self) -> Self {
        match self.blocks.try_clone() {
            Ok(blocks) => Self::from_parts(blocks, self.hasher.clone(), self.shape, self.kernel, self.plan),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Equal when they give the same answers: same hash, shape and bits. Their plans may differ.
impl<S: Blocks, T: Blocks> PartialEq<BloomFilter<T>> for BloomFilter<S> {
    fn eq(&self, other: &BloomFilter<T>) -> bool {
        use crate::bits::Line as _;
        self.hasher == other.hasher
            && self.shape == other.shape
            && self.block_count() == other.block_count()
            && self.blocks.lines().iter().zip(other.blocks.lines()).all(|(a, b)| a.words() == b.words())
    }
}

impl<S: Blocks> fmt::Debug for BloomFilter<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BloomFilter")
            .field("blocks", &self.blocks)
            .field("shape", &self.shape)
            .field("hasher", &self.hasher)
            .field("planned_keys", &self.plan.keys)
            .field("planned_rate", &self.plan.rate)
            .finish_non_exhaustive()
    }
}
