//! Guava's `BloomFilter`, the filter of most Java programs.
//!
//! # The stream
//!
//! What `BloomFilter.writeTo` writes, all of it big-endian:
//!
//! ```text
//!  0        1        2                                   6                              14
//! +--------+--------+--------+--------+--------+--------+--------+-- … --+--------+-- … --+
//! |strategy|  k     |  W, the number of words           | word 0, 8 bytes         | word 1, 8 bytes … word W − 1
//! +--------+--------+--------+--------+--------+--------+--------+-- … --+--------+-- … --+
//! ```
//!
//! | offset | size | | |
//! |---:|---:|---|---|
//! | 0 | 1 | strategy | 0 = `MURMUR128_MITZ_32`, 1 = `MURMUR128_MITZ_64` |
//! | 1 | 1 | k, the bits of a key | 1 to 255 |
//! | 2 | 4 | W, the number of words | 1 to 2³¹ − 1 |
//! | 6 | 8·W | the words | bit p is bit p mod 64 of word p div 64, counted from the lowest |
//!
//! There is no magic number, no checksum and no end: six bytes that happen to fit are a filter. Neither the number of keys
//! nor the rate that was planned is stored, nor the funnel. Who reads a stream must know how its keys were funneled; asked
//! through another funnel, the filter says no to everything that is in it.
//!
//! # The recipe
//!
//! A [funnel](Funnel) turns a value into bytes, MurmurHash3 `x64_128` with seed 0 turns those into two numbers of 64 bits,
//! h1 and h2, and a [strategy](Strategy) takes k positions below m = 64 · W from them. [`Mitz32`] and [`Mitz64`] have the
//! arithmetic. Note that m is the number of *words* times 64 and not the number that was planned, and that the older
//! strategy begins with a step while the newer one begins at h1.
//!
//! # Sizes
//!
//! They depend on the age of the Guava that created the filter: see [`Sizing`]. All that is needed to read a filter stands
//! in its stream; to make one that another program's can be merged with, name the arithmetic that program uses.
//!
//! # Traps
//!
//! - `MURMUR128_MITZ_32` reaches at most 2³¹ bits, and long before that its positions are uneven: of 3·2²⁹ bits the first
//!   third is hit twice as often as the others. Guava's issue 1119 reports 3·10⁻⁶ where 10⁻⁶ was asked for. And
//!   `expectedFpp` doesn't notice, because uneven bits are *fewer* bits. Make none with it that is large.
//! - Before the fix of issue 1781, 1 % got six hashes instead of seven; with [`Sizing::Int32`] a filter for more keys than fit
//!   into 2³¹ − 1 bits is made all the same, at whatever rate comes out.
//! - `optimalNumOfBits` cuts off: for tiny sets at high rates nothing is left, and `create` throws (here: an error).
//! - `approximateElementCount` looks at every word; don't call it for each key. It throws when every bit is set (here: `None`).
//! - `stringFunnel(UTF_8)` and `unencodedCharsFunnel()` are different keys for the same text, as are an `int` and a `long` of
//!   the same value.
//! - Guava's `readFrom` allocates what the header asks for, up to 17 GB for six bytes. Here the words must be there, and a
//!   [limit](crate::ReadOptions::max_bytes) can be set.
//! - The hash is public and its seed is fixed: **a stranger who chooses keys can aim at false positives**, and can fill the
//!   filter with keys that set ever new bits. Where strangers choose keys, use a native filter with a secret key.
//!
//! # When overfilled
//!
//! Nothing is refused. The rate rises past the promise, quickly; `expectedFpp` tells, since it is computed from the bits
//! and not from the plan. Two filters for 100 000 keys, one at 3 % and one at 1 %, and a million absent keys asked of each
//! (`cargo run --release --features formats --example guava_overfilled`; bits and count are those of the filter at 1 %):
//!
//! | keys put / planned | bits set | count, estimated | 3 %: expected | measured | 1 %: expected | measured |
//! |---:|---:|---:|---:|---:|---:|---:|
//! | 0.5 | 30.6 % | 50050 | 0.21 % | 0.21 % | 0.0252 % | 0.0227 % |
//! | 0.75 | 42.2 % | 75015 | 1.05 % | 1.05 % | 0.24 % | 0.23 % |
//! | 1 | 51.8 % | 100034 | 3.00 % | 3.00 % | 1.01 % | 0.99 % |
//! | 1.25 | 59.8 % | 124937 | 6.29 % | 6.31 % | 2.75 % | 2.74 % |
//! | 1.5 | 66.6 % | 149963 | 10.88 % | 10.90 % | 5.78 % | 5.77 % |
//! | 2 | 76.8 % | 199963 | 23.08 % | 23.05 % | 15.74 % | 15.74 % |
//! | 3 | 88.8 % | 299871 | 50.35 % | 50.37 % | 43.57 % | 43.52 % |
//! | 4 | 94.6 % | 399681 | 71.82 % | 71.81 % | 67.80 % | 67.84 % |
//! | 5 | 97.4 % | 500235 | 84.89 % | 84.85 % | 83.21 % | 83.27 % |
//! | 7 | 99.4 % | 699720 | 95.93 % | 95.92 % | 95.85 % | 95.89 % |
//! | 10 | 99.9 % | 994935 | 99.48 % | 99.47 % | 99.51 % | 99.51 % |
//!
//! Guava 31.1 with the same keys gives the same figures (compared at 1, 2 and 5 times the plan).
//! At twice the plan a filter at 1 % is no better than one at 16 %, and at five times the plan both only cost time. The
//! estimated count stays good to the end: a filter that counts twice what was planned should be built again.
//!
//! # Checked against
//!
//! Guava 31.1 on OpenJDK 17: streams, answers, what `put` returned, counts, rates, unions, refusals and sizes, as recorded
//! in `testdata/golden`; and 21 565 more sizes, 200 of them at boundaries where a logarithm that is off by one unit in its
//! last place gives another size. `expectedFpp` is within one unit in the last place of what Java prints: its `pow` isn't
//! always the nearest double. The other generations of sizes are from the source of those versions; no such version was run.

/// The same for either recipe: what is generic over recipes can't be one function over an enum of two.
macro_rules! each {
    ($filter:expr, $name:ident => $result:expr) => {
        match $filter {
            crate::formats::guava::Recipe::Mitz32($name) => $result,
            crate::formats::guava::Recipe::Mitz64($name) => $result,
        }
    };
}

mod funnel;
mod recipe;
mod sizing;
mod statistics;
mod stream;

use core::fmt;

pub use funnel::{CodeUnits, Funnel, Sink, UnencodedChars, Utf8Chars};
pub use recipe::{Mitz32, Mitz64, Strategy};
pub use sizing::{GuavaPlan, Sizing};

use crate::bits::{BLOCK_BITS, Owned, Words, WordsMut};
use crate::bloom::ClassicBloom;
use crate::error::Error;
use crate::merge_error::MergeError;
use crate::sizing::SizingError;

/// A filter that Guava wrote, or will read.
///
/// `S` is where the bits live: in memory of its own, or in the bytes of a stream ([`view`](GuavaBloom::view)).
///
/// ```
/// use mayhap::formats::guava::{GuavaBloom, Sizing};
///
/// // BloomFilter.create(Funnels.longFunnel(), 1_000, 0.01), by a Guava from 2014 to 2024
/// let mut filter = GuavaBloom::with_rate(1_000, 0.01, Sizing::Guava31)?;
/// assert!(filter.insert(&13_800_000_000_i64));
/// assert!(filter.contains(&13_800_000_000_i64) && !filter.contains(&13_800_000_001_i64));
///
/// let stream = filter.to_bytes()?; // what writeTo writes
/// assert_eq!(stream[..6], [1, 7, 0, 0, 0, 150]);
/// assert!(GuavaBloom::from_bytes(&stream)? == filter);
/// # Ok::<(), mayhap::Error>(())
/// ```
pub struct GuavaBloom<S = Owned> {
    filter: Recipe<S>,
    plan: GuavaPlan,
}

/// The bits, with the recipe they are set by. Two types, so that no operation looks at the strategy more than once.
enum Recipe<S> {
    Mitz32(ClassicBloom<Mitz32, S>),
    Mitz64(ClassicBloom<Mitz64, S>),
}

impl GuavaBloom {
    /// An empty filter as `BloomFilter.create` makes it, by the arithmetic that is named.
    ///
    /// # Errors
    /// Where Guava refuses, see [`GuavaPlan::for_rate`], and when the memory can't be had.
    pub fn with_rate(keys: u64, rate: f64, sizing: Sizing) -> Result<Self, Error> {
        Self::with_plan(GuavaPlan::for_rate(keys, rate, sizing)?, Strategy::Mitz64)
    }

    /// An empty filter of a shape and a strategy.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn with_plan(plan: GuavaPlan, strategy: Strategy) -> Result<Self, Error> {
        let words = Owned::zeroed(plan.bits().div_ceil(BLOCK_BITS))?;
        Ok(Self::from_words(strategy, plan, words)?)
    }

    /// Empties the filter. Its shape stays.
    pub fn clear(&mut self) {
        each!(&mut self.filter, filter => filter.clear());
    }

    /// Guava's `putAll`: adds every key of `other`.
    ///
    /// ```
    /// use mayhap::formats::guava::{GuavaBloom, Sizing};
    ///
    /// let mut a = GuavaBloom::with_rate(100, 0.01, Sizing::Guava31)?;
    /// let mut b = a.clone();
    /// a.insert("apple");
    /// b.insert("pear");
    /// a.put_all(&b)?;
    /// assert!(a.contains("apple") && a.contains("pear"));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When strategy, number of hashes or number of bits differ. Nothing is changed then. That both were filled through
    /// the same funnel can't be seen.
    pub fn put_all(&mut self, other: &Self) -> Result<(), MergeError> {
        match (&mut self.filter, &other.filter) {
            (Recipe::Mitz32(ours), Recipe::Mitz32(theirs)) => ours.merge(theirs),
            (Recipe::Mitz64(ours), Recipe::Mitz64(theirs)) => ours.merge(theirs),
            _ => Err(MergeError::Different { what: "strategies" }),
        }
    }
}

impl<S: Words> GuavaBloom<S> {
    fn from_words(strategy: Strategy, plan: GuavaPlan, words: S) -> Result<Self, SizingError> {
        let (bits, hashes) = (plan.bits(), u32::from(plan.hashes()));
        let filter = match strategy {
            Strategy::Mitz32 => Recipe::Mitz32(ClassicBloom::foreign(words, Mitz32, bits, hashes)?),
            Strategy::Mitz64 => Recipe::Mitz64(ClassicBloom::foreign(words, Mitz64, bits, hashes)?),
        };
        Ok(Self { filter, plan })
    }

    /// Guava's `mightContain`: whether the key may be in the set. `false` is certain.
    #[doc(alias = "mightContain")]
    #[inline]
    pub fn contains<F: Funnel + ?Sized>(&self, key: &F) -> bool {
        self.contains_hash(key.murmur3_128())
    }

    /// [`contains`](Self::contains) for a key that was hashed already, by MurmurHash3 `x64_128` with seed 0.
    #[inline]
    pub fn contains_hash(&self, hash: [u64; 2]) -> bool {
        match &self.filter {
            Recipe::Mitz32(filter) => filter.contains_hash(hash[0]),
            Recipe::Mitz64(filter) => filter.contains_hash(hash),
        }
    }

    /// Asks for many keys at once: `found[i]` tells whether `keys[i]` may be in the set. Faster than one by one when the
    /// filter is larger than the cache.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each<F: Funnel>(&self, keys: &[F], found: &mut [bool]) {
        assert_eq!(keys.len(), found.len(), "one answer for each key");
        match &self.filter {
            Recipe::Mitz32(filter) => filter.contains_hashed(
                keys,
                0,
                |keys, hashes| {
                    hashes.iter_mut().zip(keys).for_each(|(hash, key)| [*hash, _] = key.murmur3_128());
                },
                found,
            ),
            Recipe::Mitz64(filter) => filter.contains_hashed(
                keys,
                [0; 2],
                |keys, hashes| {
                    hashes.iter_mut().zip(keys).for_each(|(hash, key)| *hash = key.murmur3_128());
                },
                found,
            ),
        }
    }

    /// Which recipe it follows.
    #[must_use]
    pub const fn strategy(&self) -> Strategy {
        match self.filter {
            Recipe::Mitz32(_) => Strategy::Mitz32,
            Recipe::Mitz64(_) => Strategy::Mitz64,
        }
    }

    /// Its shape.
    #[must_use]
    pub const fn plan(&self) -> GuavaPlan {
        self.plan
    }

    /// Guava's `bitSize`: the number of bits.
    #[doc(alias = "bitSize")]
    #[must_use]
    pub const fn bits(&self) -> u64 {
        self.plan.bits()
    }

    /// Bits set for each key.
    #[must_use]
    pub fn hashes(&self) -> u32 {
        u32::from(self.plan.hashes())
    }
}

impl<S: WordsMut> GuavaBloom<S> {
    /// Guava's `put`: adds a key. True if some bit was new, so that the key was certainly not in the set before.
    #[doc(alias = "put")]
    #[inline]
    pub fn insert<F: Funnel + ?Sized>(&mut self, key: &F) -> bool {
        self.insert_hash(key.murmur3_128())
    }

    /// [`insert`](Self::insert) for a key that was hashed already, by MurmurHash3 `x64_128` with seed 0.
    #[inline]
    pub fn insert_hash(&mut self, hash: [u64; 2]) -> bool {
        match &mut self.filter {
            Recipe::Mitz32(filter) => filter.insert_hash(hash[0]),
            Recipe::Mitz64(filter) => filter.insert_hash(hash),
        }
    }

    /// Adds many keys at once: `new[i]` tells what [`insert`](Self::insert) would have for `keys[i]`.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_each<F: Funnel>(&mut self, keys: &[F], new: &mut [bool]) {
        assert_eq!(keys.len(), new.len(), "one answer for each key");
        let mut answers = new.iter_mut();
        self.insert_all(keys.iter().map(Funnel::murmur3_128), |is_new| {
            if let Some(answer) = answers.next() {
                *answer = is_new;
            }
        });
    }

    fn insert_all(&mut self, hashes: impl Iterator<Item = [u64; 2]>, answer: impl FnMut(bool)) {
        match &mut self.filter {
            Recipe::Mitz32(filter) => filter.insert_batch(hashes.map(|hash| hash[0]), answer),
            Recipe::Mitz64(filter) => filter.insert_batch(hashes, answer),
        }
    }
}

/// Adds every key, in batches.
impl<F: Funnel, S: WordsMut> Extend<F> for GuavaBloom<S> {
    fn extend<I: IntoIterator<Item = F>>(&mut self, keys: I) {
        self.insert_all(keys.into_iter().map(|key| key.murmur3_128()), |_| ());
    }
}

impl Clone for GuavaBloom {
    /// # Panics
    /// When the memory can't be had, as `Vec` does.
    fn clone(&self) -> Self {
        let filter = match &self.filter {
            Recipe::Mitz32(filter) => Recipe::Mitz32(filter.clone()),
            Recipe::Mitz64(filter) => Recipe::Mitz64(filter.clone()),
        };
        Self { filter, plan: self.plan }
    }
}

/// Equal when their streams are.
impl<S: Words, T: Words> PartialEq<GuavaBloom<T>> for GuavaBloom<S> {
    fn eq(&self, other: &GuavaBloom<T>) -> bool {
        match (&self.filter, &other.filter) {
            (Recipe::Mitz32(ours), Recipe::Mitz32(theirs)) => ours == theirs,
            (Recipe::Mitz64(ours), Recipe::Mitz64(theirs)) => ours == theirs,
            _ => false,
        }
    }
}

impl<S: Words> fmt::Debug for GuavaBloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuavaBloom")
            .field("strategy", &self.strategy())
            .field("bits", &self.bits())
            .field("hashes", &self.hashes())
            .finish_non_exhaustive()
    }
}
