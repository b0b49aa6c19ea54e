//! A Bloom filter that can forget: counters where there were bits.
//!
//! # The idea
//!
//! A Bloom filter can't delete, because a bit may belong to several keys and doesn't say to how many. So let it count:
//! adding a key raises its k counters by one, removing it lowers them. A key may be there while none of its counters is
//! zero, and the lowest of them is how often it was added, at most.
//!
//! The counters of a key lie in one cache line, as the bits of a [`BloomFilter`](crate::BloomFilter) do, or in one line
//! of each half of the filter where one line would cost over a quarter more memory.
//!
//! ```text
//!            digest of "apple" · N / 2⁶⁴ = line 2
//!                          ┌─────────┐
//!   line 0    line 1    line 2    line 3  …  line N-1          each 8 words of 64 bits = one cache line
//!                          │
//!          ┌───────┬───────┼───────┬─ … one counter in each word, from digest · constant
//!        w0 0120   w1 0001   w2 1003   w3 0210   w4 …  w7      a word is 16 counters of 4 bits (8 of 8, 4 of 16)
//!             ^          ^      ^          ^                   lowest: 1, so "apple" was added once at most
//! ```
//!
//! # The maths
//!
//! A counter above zero is a set bit, so the rate is a blocked filter's with 128, 64 or 32 cells in a line: at 1 % and 4
//! bits 45.9 bits per key for a million keys, about 4.5 times a Bloom filter's. A counter's number is Poisson, in a filter filled to its plan
//! at 1 % with a mean of 0.7, and reaches 15 with a probability of 2·10⁻¹⁵. [docs/maths.md] has the derivation, and
//! [`sizing::counting`](crate::sizing::counting) the formulas.
//!
//! # When to choose it
//!
//! For deletes that are simple and fast, with counts, and inserts that can't fail. Less memory at 1 %:
//! [`DLeftCounting`](crate::DLeftCounting) needs a third, [`CuckooFilter`](crate::CuckooFilter) a fifth; both can be full.
//!
//! # How it fails
//!
//! - **Past its plan** it keeps working, with a rising rate: [`is_over_plan`](CountingBloom::is_over_plan) tells.
//! - **A counter at its maximum is stuck.** It has lost count, so it is never lowered again: lowered, it could reach zero
//!   while a key still needs it, and that key would be lost. Stuck counters only raise the rate a little.
//!   [`stuck_counters`](CountingBloom::stuck_counters) tells how many there are. A key that is added 15 times to counters
//!   of 4 bits makes all of its own stick, and can't be forgotten any more: take wider counters for such keys.
//! - **Removing a key that was never added** does damage when the filter takes it for a member (with its error rate): the
//!   counters it lowers belong to other keys, and those may be answered "no" from then on. The filter can't tell. Remove
//!   only what was added, and only as often as it was added; then no key is ever lost.
//!
//! [docs/maths.md]: https://github.com/mayhap/mayhap/blob/main/docs/maths.md#15-counters-instead-of-bits

mod builder;
mod combine;
mod estimate;
mod fields;
mod file;
mod insert;
mod kernel;
mod layout;
mod remove;
#[cfg(test)]
mod tests;

pub use builder::CountingBuilder;
pub use layout::{CounterLayout, CounterShape, CounterWidth};

use core::fmt;

use crate::bits::{BLOCK_BYTES, Blocks, Line as _, Owned};
use crate::bloom::kernel::{Answers, Kernel, Keys, Parted, Source};
use crate::error::Error;
use crate::hash::{Digest, Key, KeyHasher, eight_made_bytes};
use crate::plan::Plan;
use kernel::{ApplyBatch, AskBatch, Change, Contains, Count, OneKey, Question};

/// A counting Bloom filter: keys can be removed, and counted. [Its page](self) tells how it works.
///
/// `S` is where its lines live: [`Owned`] by default, or a mapped file ([`MappedCountingBloom`]).
///
/// ```
/// use mayhap::CountingBloom;
///
/// let mut cart = CountingBloom::with_rate(10_000, 0.01)?;
/// assert!(cart.insert("apple"), "new");
/// assert!(!cart.insert("apple"), "not new any more");
/// assert_eq!(cart.count("apple"), 2);
/// assert!(cart.remove("apple") && cart.remove("apple"));
/// assert!(!cart.contains("apple"));
/// assert!(!cart.remove("apple"), "certainly not there, so nothing was changed");
/// # Ok::<(), mayhap::Error>(())
/// ```
pub struct CountingBloom<S: Blocks = Owned> {
    blocks: S,
    hasher: KeyHasher,
    layout: CounterLayout,
    kernel: Kernel,
    /// For this kernel, layout and hash.
    one_key: OneKey<S>,
    plan: Plan,
    /// Adds, less removes.
    len: u64,
}

/// A [`CountingBloom`] in a mapped file: asked without being read.
#[cfg(feature = "std")]
pub type MappedCountingBloom = CountingBloom<crate::bits::Mapped>;

impl CountingBloom {
    /// A filter for `keys` distinct keys, with counters of 4 bits, that answers "mayhap" for at most `rate` of the absent
    /// ones.
    ///
    /// ```
    /// use mayhap::CountingBloom;
    ///
    /// let filter = CountingBloom::with_rate(1_000_000, 0.01)?;
    /// assert!(filter.len_bytes() < 5_770_000, "46 bits a key");
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When `keys` is 0, `rate` isn't between 0 and 1 or is lower than a 64-bit digest can give for so many keys, or
    /// the memory can't be had.
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, Error> {
        Self::builder().keys(keys).rate(rate).build()
    }

    /// The largest filter of at most `bytes` bytes, with counters of 4 bits, shaped for `rate`. Its planned number of
    /// keys is what it holds at that rate.
    ///
    /// # Errors
    /// As [`with_rate`](Self::with_rate), and when `bytes` can't hold even one key at that rate.
    pub fn with_bytes(bytes: u64, rate: f64) -> Result<Self, Error> {
        Self::builder().bytes(bytes).rate(rate).build()
    }

    /// Every choice there is: width and shape of the counters, hash, seed or secret key, limits.
    pub fn builder() -> CountingBuilder {
        CountingBuilder::default()
    }
}

impl<S: Blocks> CountingBloom<S> {
    /// Puts a filter together. The lines fit the shape: at least one, an even number for two lines.
    fn from_parts(
        blocks: S,
        hasher: KeyHasher,
        layout: CounterLayout,
        kernel: Kernel,
        plan: Plan,
        len: u64,
    ) -> Self {
        assert!(
            blocks.block_count() > 0 && blocks.block_count().is_multiple_of(layout.shape.lines()),
            "whoever makes a filter has checked its number of lines"
        );
        let one_key = kernel::one_key(kernel, layout, &hasher);
        Self { blocks, hasher, layout, kernel, one_key, plan, len }
    }

    /// The digest of a key, for the `*_hash` methods of this filter and of others with an equal hasher.
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> Digest {
        self.hasher.digest(key)
    }

    /// Whether the key may be in the set. `false` is certain.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        match eight_made_bytes(key) {
            Some(key) => self.contains_eight(key),
            None => self.contains_hash(self.hash(key)),
        }
    }

    /// [`contains`](Self::contains) for a key that was hashed already.
    #[inline]
    pub fn contains_hash(&self, digest: Digest) -> bool {
        self.one_key.contains(self.blocks.lines(), digest.get())
    }

    /// Asks for many keys at once: `found[i]` tells whether `keys[i]` may be in the set.
    ///
    /// When the filter is larger than the cache this is faster than asking one by one, because the lines of later keys
    /// are on their way while earlier ones are looked at.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
        assert_eq!(keys.len(), found.len(), "one answer for each key");
        self.ask_keys::<K, Contains>(keys, found);
    }

    /// [`contains_each`](Self::contains_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hashes(&self, digests: &[Digest], found: &mut [bool]) {
        assert_eq!(digests.len(), found.len(), "one answer for each digest");
        self.ask_batch::<_, Contains>(digests, found);
    }

    /// How often the key was added and not removed: the lowest of its counters.
    ///
    /// Never too low, as long as the true number is at most [`max_count`](Self::max_count); at that number counters are
    /// stuck, and the true one may be higher. Too high when other keys share all of its counters: 1 or more for an
    /// absent key with the filter's error rate.
    ///
    /// ```
    /// use mayhap::CountingBloom;
    ///
    /// let mut words = CountingBloom::with_rate(1_000, 0.001)?;
    /// words.extend(["to", "be", "or", "not", "to", "be"]);
    /// assert_eq!((words.count("to"), words.count("or"), words.count("question")), (2, 1, 0));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[inline]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> u64 {
        match eight_made_bytes(key) {
            Some(key) => self.count_eight(key),
            None => self.count_hash(self.hash(key)),
        }
    }

    /// [`count`](Self::count) for a key that was hashed already.
    #[inline]
    pub fn count_hash(&self, digest: Digest) -> u64 {
        self.one_key.count(self.blocks.lines(), digest.get())
    }

    /// Counts many keys at once: `counts[i]` for `keys[i]`.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn count_each<K: Key>(&self, keys: &[K], counts: &mut [u64]) {
        assert_eq!(keys.len(), counts.len(), "one answer for each key");
        self.ask_keys::<K, Count>(keys, counts);
    }

    /// [`count_each`](Self::count_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn count_hashes(&self, digests: &[Digest], counts: &mut [u64]) {
        assert_eq!(digests.len(), counts.len(), "one answer for each digest");
        self.ask_batch::<_, Count>(digests, counts);
    }

    fn ask_keys<K: Key, Q: Question>(&self, keys: &[K], answers: &mut [Q::Answer]) {
        match self.hasher.as_xxh3() {
            Some(xxh3) => self.ask_batch::<_, Q>(Keys(xxh3, keys), answers),
            None => self.ask_batch::<_, Q>(Keys(&self.hasher, keys), answers),
        }
    }

    fn ask_batch<In: Parted, Q: Question>(&self, source: In, answers: &mut [Q::Answer]) {
        let batch = AskBatch::<_, _, Q> { lines: self.blocks.lines(), source, answers };
        kernel::batch(self.kernel, self.layout, batch);
    }

    /// An empty filter of the same size, layout, hash and plan: one that can be merged with this.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn empty_like(&self) -> Result<CountingBloom, Error> {
        let blocks = Owned::zeroed(self.blocks.block_count())?;
        Ok(CountingBloom::from_parts(blocks, self.hasher.clone(), self.layout, self.kernel, self.plan, 0))
    }

    /// Adds, less removes that found their key. Copies of a key count each.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether as many keys were removed as were added: all of them, if only what was added was removed. (The keys of
    /// [stuck counters](Self::stuck_counters) are found all the same.)
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of memory its lines take.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.blocks.block_count() * BLOCK_BYTES as u64
    }

    /// Number of lines of 64 bytes.
    #[must_use]
    pub fn block_count(&self) -> u64 {
        self.blocks.block_count()
    }

    /// Number of counters.
    #[must_use]
    pub fn counter_count(&self) -> u64 {
        self.blocks.block_count() * self.layout.counters_per_line()
    }

    /// Where a key's counters lie, and how wide they are.
    #[must_use]
    pub fn layout(&self) -> CounterLayout {
        self.layout
    }

    /// The highest number a counter can have: the most copies of a key that are told apart.
    #[must_use]
    pub fn max_count(&self) -> u64 {
        self.layout.width.max()
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

/// How changes of many keys reach the kernel.
impl CountingBloom {
    fn change_keys<K: Key>(&mut self, keys: &[K], answers: &mut [bool], change: impl Change) {
        let (kernel, layout, blocks) = (self.kernel, self.layout, &mut self.blocks);
        match self.hasher.as_xxh3() {
            Some(xxh3) => {
                kernel::batch(kernel, layout, ApplyBatch::new(blocks, Keys(xxh3, keys), answers, change));
            }
            None => {
                kernel::batch(
                    kernel,
                    layout,
                    ApplyBatch::new(blocks, Keys(&self.hasher, keys), answers, change),
                );
            }
        }
    }

    fn change_batch(&mut self, source: impl Source, answers: impl Answers, change: impl Change) {
        kernel::batch(self.kernel, self.layout, ApplyBatch::new(&mut self.blocks, source, answers, change));
    }
}

impl Clone for CountingBloom {
    /// # Panics
    /// When the memory can't be had, as `Vec` does. [`empty_like`](Self::empty_like) and [`merge`](Self::merge) are
    /// the way that returns an error instead.
    fn clone(&self) -> Self {
        match self.blocks.try_clone() {
            Ok(blocks) => {
                Self::from_parts(blocks, self.hasher.clone(), self.layout, self.kernel, self.plan, self.len)
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Equal when they give the same answers: same hash, layout and counters. Their plans may differ.
impl<S: Blocks, T: Blocks> PartialEq<CountingBloom<T>> for CountingBloom<S> {
    fn eq(&self, other: &CountingBloom<T>) -> bool {
        self.hasher == other.hasher
            && self.layout == other.layout
            && self.block_count() == other.block_count()
            && self.blocks.lines().iter().zip(other.blocks.lines()).all(|(a, b)| a.words() == b.words())
    }
}

impl<S: Blocks> fmt::Debug for CountingBloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountingBloom")
            .field("blocks", &self.blocks)
            .field("layout", &self.layout)
            .field("len", &self.len)
            .field("hasher", &self.hasher)
            .field("planned_keys", &self.plan.keys)
            .field("planned_rate", &self.plan.rate)
            .finish_non_exhaustive()
    }
}
