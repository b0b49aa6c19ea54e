//! The textbook filter: k bits anywhere in one array.
//!
//! # The idea
//!
//! An array of m bits, all 0. A key's k positions are set when it is added; a key is answered "mayhap" when all its
//! positions are set.
//!
//! ```text
//! "apple" → 3 positions:   ·····1·······1·············1···      m bits, in words of 64; bit p is bit p mod 64 of word p div 64
//! "pear"  → 3 positions:   ··1··1··················1······      sharing one is harmless
//! ```
//!
//! # The maths
//!
//! With n keys a bit is set with probability 1 − (1 − 1/m)^(kn), so p ≈ (1 − e^(−kn/m))^k. It is lowest for k = (m/n) ln 2:
//! p = 0.6185^(m/n), 9.59 bits a key at 1 %. The derivation is in [docs/maths.md], the exact formulas in
//! [`sizing::classic`](crate::sizing::classic).
//!
//! # When to choose it, and how it fails
//!
//! It needs the least memory of all Bloom filters for its rate, and pays with k cache misses where
//! [`BloomFilter`](super::BloomFilter) has one or two. Choose it when memory counts more than time, above all for rates
//! below 10⁻⁶, where the two lines of a `BloomFilter` cost a tenth more and soon a third. (A
//! [`CuckooFilter`](crate::CuckooFilter) takes less still at such rates; but it can be full, and two can't be merged.) It is
//! also the base of the formats of other systems, through [`Scheme`]. Overfilled, its rate rises. It can't forget a key.
//!
//! [docs/maths.md]: https://github.com/mayhap/mayhap/blob/main/docs/maths.md#3-the-rate

mod combine;
mod estimate;
mod file;
mod insert;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod lookup;
mod shared;
#[cfg(target_arch = "x86_64")]
mod strides;

use core::fmt;

use super::scheme::{Native, Scheme};
use crate::bits::{BLOCK_BITS, BLOCK_BYTES, Blocks, Owned, Words, is_worth_prefetching};
use crate::error::Error;
use crate::hash::{Key, KeyHasher};
use crate::plan::Plan;
use crate::sizing::{ClassicPlan, SizingError};

/// A classic Bloom filter. [Its page](self) tells how it works.
///
/// `C` is the recipe from key to positions, `S` where the bits live.
///
/// ```
/// use mayhap::ClassicBloom;
///
/// let mut filter = ClassicBloom::with_rate(1_000, 1e-9)?;
/// assert!(filter.insert("apple"));
/// assert!(filter.contains("apple") && !filter.contains("pear"));
/// assert_eq!(filter.hashes(), 30);
/// # Ok::<(), mayhap::Error>(())
/// ```
pub struct ClassicBloom<C: Scheme = Native, S = Owned> {
    words: S,
    scheme: C,
    bits: u64,
    /// What the recipe made of `bits`.
    range: C::Range,
    hashes: u32,
    plan: Plan,
}

impl ClassicBloom {
    /// A filter for `keys` distinct keys that answers "mayhap" for at most `rate` of the absent ones, hashing by XXH3
    /// with seed 0.
    ///
    /// # Errors
    /// When `keys` is 0, `rate` isn't between 0 and 1 or is lower than a 64-bit digest can give for so many keys, or
    /// the memory can't be had.
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, Error> {
        Self::with_plan(ClassicPlan::for_rate(keys, rate)?, KeyHasher::default())
    }

    /// The filter of at most `bytes` bytes that holds the most keys at `rate`. Its planned number of keys is that.
    ///
    /// # Errors
    /// As [`with_rate`](Self::with_rate), and when `bytes` can't hold even one key at that rate.
    pub fn with_bytes(bytes: u64, rate: f64) -> Result<Self, Error> {
        // Whole blocks, so that what is allocated stays within the limit.
        let bits = bytes.saturating_mul(8) / BLOCK_BITS * BLOCK_BITS;
        let plan = ClassicPlan::for_capacity(bits, rate).map_err(|error| match error {
            SizingError::TooSmall { needed, .. } => {
                SizingError::TooSmall { bytes, needed: needed.next_multiple_of(BLOCK_BYTES as u64) }
            }
            error => error,
        })?;
        Self::exactly(plan, KeyHasher::default())
    }

    /// A filter of exactly `bits` bits that sets `hashes` of them for each key. Its planned number of keys is the one
    /// at which half the bits are set, where `hashes` is the best choice.
    ///
    /// # Errors
    /// When `bits` is 0, `hashes` isn't between 1 and 64, or the memory can't be had.
    pub fn with_bits(bits: u64, hashes: u32) -> Result<Self, Error> {
        Self::exactly(ClassicPlan::for_half_full(bits, hashes)?, KeyHasher::default())
    }

    /// A filter for a plan and a hasher of your choice. Its size is rounded up a little, by less than 0.8 %, to a
    /// number with many divisors, so that it can be [folded](Self::fold).
    ///
    /// ```
    /// use mayhap::{ClassicBloom, hash::KeyHasher, sizing::ClassicPlan};
    ///
    /// let plan = ClassicPlan::for_rate(10_000, 0.001)?.within(1 << 20)?;
    /// let filter = ClassicBloom::with_plan(plan, KeyHasher::xxh3(42))?;
    /// assert_eq!(filter.planned_keys(), 10_000);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn with_plan(plan: ClassicPlan, hasher: KeyHasher) -> Result<Self, Error> {
        let bits = crate::sizing::classic::foldable(plan.bits());
        let plan = ClassicPlan::from_parts(plan.keys(), plan.rate(), bits, plan.hashes())?;
        Self::exactly(plan, hasher)
    }

    fn exactly(plan: ClassicPlan, hasher: KeyHasher) -> Result<Self, Error> {
        let words = Owned::zeroed(plan.bits().div_ceil(BLOCK_BITS))?;
        let promise = Plan { keys: plan.keys(), rate: plan.rate() };
        Ok(Self::from_parts(words, Native::new(hasher), plan.bits(), plan.hashes(), promise)?)
    }
}

impl<C: Scheme, S: Words> ClassicBloom<C, S> {
    pub(super) fn from_parts(
        words: S,
        scheme: C,
        bits: u64,
        hashes: u32,
        plan: Plan,
    ) -> Result<Self, SizingError> {
        // A position below `bits` must lie in the words; reading one is checked all the same.
        if bits == 0 || bits.div_ceil(64) > words.word_count() {
            return Err(SizingError::TooLarge { bytes: bits.div_ceil(8), limit: words.word_count() * 8 });
        }
        Ok(Self { words, scheme, bits, range: C::range(bits), hashes, plan })
    }

    /// A filter that another system planned. What it promised isn't known; the plan here is the number of keys at which
    /// half the bits are set, and the rate then.
    #[cfg(feature = "formats")]
    pub(crate) fn foreign(words: S, scheme: C, bits: u64, hashes: u32) -> Result<Self, SizingError> {
        #[allow(clippy::cast_possible_truncation, reason = "below the number of bits")]
        let keys = (bits as f64 * core::f64::consts::LN_2 / f64::from(hashes.max(1))) as u64;
        let rate = libm::exp2(-f64::from(hashes));
        Self::from_parts(words, scheme, bits, hashes, Plan { keys: keys.max(1), rate })
    }

    /// Where the bits live.
    #[cfg(feature = "formats")]
    pub(crate) fn words(&self) -> &S {
        &self.words
    }

    /// The same, to be written: for recipes that load bits as they are.
    #[cfg(feature = "formats")]
    pub(crate) fn words_mut(&mut self) -> &mut S {
        &mut self.words
    }

    /// The hash of a key, for the `*_hash` methods of this filter and of others with an equal recipe.
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> C::Hash {
        self.scheme.hash(key)
    }

    /// Whether the key may be in the set. `false` is certain.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// [`contains`](Self::contains) for a key that was hashed already.
    #[inline]
    pub fn contains_hash(&self, hash: C::Hash) -> bool {
        // Counted here and not by `take`, of which the compiler makes a slower loop (measured: 1.3 times as long).
        let mut positions = self.scheme.positions(hash, self.range);
        (0..self.hashes).all(|_| positions.next().is_none_or(|position| self.words.bit(position) == 1))
    }

    /// Asks for many keys at once: `found[i]` tells whether `keys[i]` may be in the set. Faster than one by one when
    /// the filter is larger than the cache.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
        assert_eq!(keys.len(), found.len(), "one answer for each key");
        if let Some(first) = keys.first() {
            let hash_each = |keys: &[K], hashes: &mut [C::Hash]| self.scheme.hash_each(keys, hashes);
            self.contains_hashed(keys, self.hash(first), hash_each, found);
        }
    }

    /// [`contains_each`](Self::contains_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hashes(&self, hashes: &[C::Hash], found: &mut [bool]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        self.contains_batch(hashes, found);
    }

    #[inline(always)]
    fn positions(&self, hash: C::Hash) -> impl Iterator<Item = u64> + Clone {
        self.scheme.positions(hash, self.range).take(self.hashes as usize)
    }

    fn wants_prefetch(&self) -> bool {
        is_worth_prefetching(self.bits / 8)
    }

    /// Bytes of memory its bits take.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.words.word_count() * 8
    }

    /// Number of bits (m).
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// Bits set for each key (k).
    #[must_use]
    pub fn hashes(&self) -> u32 {
        self.hashes
    }

    /// The recipe from key to positions.
    #[must_use]
    pub fn scheme(&self) -> &C {
        &self.scheme
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

impl<C: Scheme, S: Blocks> ClassicBloom<C, S> {
    /// An empty filter of the same size, recipe and plan: one that can be merged with this.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn empty_like(&self) -> Result<ClassicBloom<C>, Error> {
        let words = Owned::zeroed(self.words.block_count())?;
        Ok(ClassicBloom::from_parts(words, self.scheme.clone(), self.bits, self.hashes, self.plan)?)
    }
}

/// Keys looked at together. Each has k lines under way, more than a core can wait for at once already.
const GROUP: usize = 8;

/// Runs `probe` on every hash in order, each some time after `prefetch`.
#[inline(always)]
fn in_groups<F, H: Copy>(
    filter: &mut F,
    mut hashes: impl Iterator<Item = H>,
    ahead: bool,
    prefetch: impl Fn(&F, H),
    mut probe: impl FnMut(&mut F, H),
) {
    if !ahead {
        return hashes.for_each(|hash| probe(filter, hash));
    }
    loop {
        let mut group = [None; GROUP];
        for slot in &mut group {
            *slot = hashes.next();
            if let Some(hash) = *slot {
                prefetch(filter, hash);
            }
        }
        for hash in group {
            let Some(hash) = hash else { return };
            probe(filter, hash);
        }
    }
}

impl<C: Scheme> Clone for ClassicBloom<C> {
    /// # Panics
    /// When the memory can't be had, as `Vec` does.
    fn clone(&self) -> Self {
        match self.words.try_clone() {
            Ok(words) => Self { words, scheme: self.scheme.clone(), ..*self },
            Err(error) => panic!("{error}"),
        }
    }
}

/// Equal when they give the same answers: same recipe, size and bits. Their plans may differ.
impl<C: Scheme, S: Words, T: Words> PartialEq<ClassicBloom<C, T>> for ClassicBloom<C, S> {
    fn eq(&self, other: &ClassicBloom<C, T>) -> bool {
        self.scheme == other.scheme
            && self.bits == other.bits
            && self.hashes == other.hashes
            && (0..self.bits.div_ceil(64)).all(|index| self.words.word(index) == other.words.word(index))
    }
}

impl<C: Scheme, S: Words> fmt::Debug for ClassicBloom<C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClassicBloom")
            .field("bits", &self.bits)
            .field("hashes", &self.hashes)
            .field("scheme", &self.scheme)
            .field("planned_keys", &self.plan.keys)
            .field("planned_rate", &self.plan.rate)
            .finish_non_exhaustive()
    }
}

impl<S: Words> ClassicBloom<Native, S> {
    /// What turns keys into digests.
    #[must_use]
    pub fn hasher(&self) -> &KeyHasher {
        self.scheme.hasher()
    }
}
