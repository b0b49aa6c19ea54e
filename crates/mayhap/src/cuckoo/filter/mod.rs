//! The filter that forgets: fingerprints in a cuckoo hash table.
//!
//! # The idea
//!
//! Keep a short *fingerprint* of every key, f bits of its hash, in a hash table. A key has two buckets of b places, and
//! its fingerprint stands in one of them. If both are full, a fingerprint in them is moved to *its* other bucket, as a
//! cuckoo throws an egg out of the nest. For that the table must find the other bucket without the key, so it is
//! computed from the bucket and the fingerprint:
//!
//! ```text
//!                 ┌──────────────────────────────┐
//!        "apple"  │ fingerprint 5e1, bucket 2    │        other bucket = hash(5e1) − 2 = 7   (mod N)
//!                 └──────────────────────────────┘        and back:      hash(5e1) − 7 = 2
//!
//!     bucket 0    1      2      3      4      5      6      7      8      9        b = 4 places each
//!     ┌──────┬──────┬──────┬──────┬──────┬──────┬──────┬──────┬──────┬──────┐
//!     │ 0c4  │      │ 77a  │ 912  │      │ e03  │ 2b2  │ 5e1 ◄│ 400  │      │      "apple" is in 2 or in 7
//!     │ b1d  │      │ 10f  │      │      │ 3aa  │      │ 9d8  │      │      │
//!     │      │      │ c26  │      │      │      │      │      │      │      │
//!     │      │      │ 83b  │      │      │      │      │      │      │      │
//!     └──────┴──────┴──────┴──────┴──────┴──────┴──────┴──────┴──────┴──────┘
//!     └──── one cache line ─────…   a question looks at two buckets, each within one line
//! ```
//!
//! To remove a key, its fingerprint is taken out of one of its two buckets. Another key with the same fingerprint and
//! buckets has put its own one there, so it loses nothing.
//!
//! # The maths
//!
//! An absent key is compared with 2bα fingerprints at load α, each equal to its own with probability 1/(2^f − 1):
//! p = 1 − (1 − (2 − 1/N)/(N(2^f − 1)))ⁿ ≈ 2bα / 2^f, so a key takes about (log₂(1/p) + 1 + log₂ b) / α bits.
//! More places in a bucket let the table become fuller and need longer fingerprints: [docs/maths.md] has both sides,
//! and [`sizing::cuckoo`](crate::sizing::cuckoo) chooses.
//!
//! # When to choose it, and how it fails
//!
//! Choose it when keys must be removed again, or to save memory: at nearly every rate below 2 % it takes less than a
//! [`BloomFilter`](crate::BloomFilter), whose blocks cost some (9.62 bits a key beside 10.11 at 1 %), and below 0.27 % less
//! than a [`ClassicBloom`](crate::ClassicBloom), too (13.47 beside 14.38 at 0.1 %). One by one, a question to it takes three to
//! four times as long as one to a `BloomFilter`, in batches one and a half times to twice; an insert takes ten times as
//! long, because a nearly full table has to move others. It has a hard limit: when it is full, [`insert`](CuckooFilter::insert) returns
//! [`InsertError::Full`](crate::InsertError::Full) and changes nothing; `ScalableCuckoo` grows instead. While keys come and
//! go and there are never more than planned, filters of 10 000 keys and more refused none of ten million; smaller ones now
//! and then refuse one, the smallest one in twenty thousand. Adding one key many times fills its two buckets: more than 2b
//! copies are refused with an error of their own. And **remove only what
//! was added**: removing a key that never was, but is answered "mayhap", takes the fingerprint of another key, which is
//! then answered "no".
//!
//! [docs/maths.md]: https://github.com/mayhap/mayhap/blob/main/docs/maths.md#19-fingerprints-in-a-cuckoo-table

mod builder;
mod change;
mod file;
#[cfg(test)]
pub(super) mod tests;

pub(super) use builder::DEFAULT_KICKS;
pub use builder::{CuckooBuilder, MAX_KICKS};
pub(super) use file::{check_buckets, read_kicks, read_layout, read_len};

use alloc::vec::Vec;
use core::fmt;

use super::layout::CuckooLayout;
use super::table::{Search, Table};
use crate::bits::{Blocks, Line as _, Owned};
use crate::error::Error;
use crate::hash::{Digest, Key, KeyHasher, in_chunks};
use crate::plan::Plan;
use crate::sizing::cuckoo;

/// A cuckoo filter: a set, or a bag of few copies each, from which keys can be removed. [Its page](self) tells how it works.
///
/// `S` is where its lines live: [`Owned`] by default, or a mapped file
/// ([`MappedCuckooFilter`](super::MappedCuckooFilter)), which can be asked only.
///
/// ```
/// use mayhap::CuckooFilter;
///
/// let mut coupons = CuckooFilter::with_rate(1_000_000, 0.001)?;
/// assert!(coupons.insert("SPRING-7Q2X")?, "new");
/// assert!(coupons.contains("SPRING-7Q2X"));
/// assert!(coupons.remove("SPRING-7Q2X"), "it was there");
/// assert!(!coupons.contains("SPRING-7Q2X"));
/// # Ok::<(), mayhap::Error>(())
/// ```
pub struct CuckooFilter<S = Owned> {
    table: Table<S>,
    hasher: KeyHasher,
    plan: Plan,
    search: Search,
}

impl CuckooFilter {
    /// A filter for `keys` distinct keys that answers "mayhap" for at most `rate` of the absent ones.
    ///
    /// So many keys fit, practically always: [`sizing::cuckoo`](crate::sizing::cuckoo) says how sure that is.
    ///
    /// ```
    /// use mayhap::CuckooFilter;
    ///
    /// let filter = CuckooFilter::with_rate(1_000_000, 0.001)?;
    /// assert!(filter.len_bytes() < 1_700_000, "13 bits a key");
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When `keys` is 0, `rate` isn't between 0 and 1 or is lower than a 64-bit digest or a fingerprint of 32 bits can
    /// give, or the memory can't be had.
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, Error> {
        Self::builder().keys(keys).rate(rate).build()
    }

    /// The largest filter of at most `bytes` bytes for `rate`. Its planned number of keys is what it holds.
    ///
    /// # Errors
    /// As [`with_rate`](Self::with_rate), and when `bytes` can't hold even one key at that rate.
    pub fn with_bytes(bytes: u64, rate: f64) -> Result<Self, Error> {
        Self::builder().bytes(bytes).rate(rate).build()
    }

    /// Every choice there is: hash, seed or secret key, layout, buckets, kicks, limits.
    pub fn builder() -> CuckooBuilder {
        CuckooBuilder::default()
    }
}

impl<S: Blocks> CuckooFilter<S> {
    fn from_parts(table: Table<S>, hasher: KeyHasher, plan: Plan, search: Search) -> Self {
        Self { table, hasher, plan, search }
    }

    /// The digest of a key, for the `*_hash` methods of this filter and of others with an equal hasher.
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> Digest {
        self.hasher.digest(key)
    }

    /// Whether the key may be in the set. `false` is certain.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// [`contains`](Self::contains) for a key that was hashed already.
    #[inline]
    pub fn contains_hash(&self, digest: Digest) -> bool {
        self.table.contains(digest.get())
    }

    /// Asks for many keys at once: `found[i]` tells whether `keys[i]` may be in the set.
    ///
    /// When the filter is larger than the cache this is faster than asking one by one, because the lines of later keys
    /// are on their way while earlier ones are looked at.
    ///
    /// ```
    /// use mayhap::CuckooFilter;
    ///
    /// let mut filter = CuckooFilter::with_rate(1_000, 0.0001)?;
    /// filter.insert("apple")?;
    /// let mut found = [false; 2];
    /// filter.contains_each(&["apple", "quince"], &mut found);
    /// assert_eq!(found, [true, false]);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
        assert_eq!(keys.len(), found.len(), "one answer for each key");
        in_chunks(&self.hasher, keys, found, |digests, found| self.contains_hashes(digests, found));
    }

    /// [`contains_each`](Self::contains_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hashes(&self, digests: &[Digest], found: &mut [bool]) {
        assert_eq!(digests.len(), found.len(), "one answer for each digest");
        self.table.contains_many(digests, found);
    }

    /// How often the key is in the filter: at least as often as it was added and not removed, more when other keys
    /// look like it. At most twice the [places in a bucket](CuckooLayout::entries_per_bucket).
    ///
    /// ```
    /// use mayhap::CuckooFilter;
    ///
    /// let mut filter = CuckooFilter::with_rate(1_000, 0.0001)?;
    /// filter.insert("apple")?;
    /// filter.insert("apple")?;
    /// assert_eq!(filter.count("apple"), 2);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[inline]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.count_hash(self.hash(key))
    }

    /// [`count`](Self::count) for a key that was hashed already.
    #[inline]
    pub fn count_hash(&self, digest: Digest) -> u64 {
        self.table.count(digest.get())
    }

    /// Counts many keys at once: `counts[i]` is the [`count`](Self::count) of `keys[i]`.
    ///
    /// ```
    /// use mayhap::CuckooFilter;
    ///
    /// let mut filter = CuckooFilter::with_rate(1_000, 0.0001)?;
    /// filter.insert_each(&["apple", "pear", "apple"], &mut [false; 3])?;
    /// let mut counts = [0; 3];
    /// filter.count_each(&["apple", "quince", "pear"], &mut counts);
    /// assert_eq!(counts, [2, 0, 1]);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn count_each<K: Key>(&self, keys: &[K], counts: &mut [u64]) {
        assert_eq!(keys.len(), counts.len(), "one count for each key");
        in_chunks(&self.hasher, keys, counts, |digests, counts| self.count_hashes(digests, counts));
    }

    /// [`count_each`](Self::count_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn count_hashes(&self, digests: &[Digest], counts: &mut [u64]) {
        assert_eq!(digests.len(), counts.len(), "one count for each digest");
        self.table.count_many(digests, counts);
    }

    /// An empty filter of the same size, layout, hash and plan.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn empty_like(&self) -> Result<CuckooFilter, Error> {
        let table = Table::new(self.table.layout(), *self.table.places())?;
        Ok(CuckooFilter::from_parts(table, self.hasher.clone(), self.plan, self.search))
    }

    /// Fingerprints in the filter: keys added and not removed, every copy counted.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.table.len()
    }

    /// Whether there is no key in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Places for fingerprints, free or not. Not all of them can be filled: see [`load_factor`](Self::load_factor).
    #[must_use]
    pub fn capacity_slots(&self) -> u64 {
        self.table.slots()
    }

    /// The part of the places that is taken. Inserts begin to fail at about 0.87, 0.96 and 0.99, for 2, 4 and 8 places in a
    /// bucket.
    ///
    /// With one place there is no such number: at 2²⁰ places the first failure comes at 0.5 with fingerprints of 16 bits, at
    /// 0.41 to 0.50 with 12, and at 0.06 with 4, and earlier in larger tables; plans use 0.27 of the places at most. Two
    /// places and fingerprints of 5 bits or less fail early, too. `docs/maths.md` has the table.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        self.len() as f64 / self.capacity_slots() as f64
    }

    /// Bytes of memory its lines take.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.table.len_bytes()
    }

    /// How fingerprints lie in buckets.
    #[must_use]
    pub fn layout(&self) -> CuckooLayout {
        self.table.layout()
    }

    /// Number of buckets.
    #[must_use]
    pub fn buckets(&self) -> u64 {
        self.table.buckets()
    }

    /// The most buckets that are looked at, from each of a key's two, to make room for it.
    #[must_use]
    pub fn max_kicks(&self) -> u32 {
        self.search.max_kicks()
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

    /// The rate at which the filter, as full as it is now, answers "mayhap" for absent keys. If keys were added
    /// several times the real rate is a little lower: copies count as other keys here.
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        cuckoo::rate(self.layout(), self.len(), self.buckets())
    }

    /// How many buckets hold 0, 1, 2 … fingerprints. Looks at all of them: ask once in a while, not with every key.
    ///
    /// ```
    /// use mayhap::CuckooFilter;
    ///
    /// let mut filter = CuckooFilter::with_rate(1_000, 0.01)?;
    /// filter.insert("apple")?;
    /// filter.insert("pear")?;
    /// let loads = filter.bucket_loads();
    /// assert_eq!(loads.len(), filter.layout().entries_per_bucket() as usize + 1);
    /// assert_eq!(loads[1] + 2 * loads[2], 2);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[must_use]
    pub fn bucket_loads(&self) -> Vec<u64> {
        self.table.bucket_loads()[..=self.layout().entries_per_bucket() as usize].to_vec()
    }

    /// Whether it holds more than it was made for, so that the rate has risen above the promise.
    #[must_use]
    pub fn is_over_plan(&self) -> bool {
        self.len() > self.plan.keys
    }
}

impl Clone for CuckooFilter {
    /// # Panics
    /// When the memory can't be had, as `Vec` does.
    fn clone(&self) -> Self {
        match self.table.try_clone() {
            Ok(table) => Self::from_parts(table, self.hasher.clone(), self.plan, self.search),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Equal when they are the same, bit by bit: same hash, layout, size and lines. Their plans may differ. Filters of the
/// same keys, added in another order, give the same answers for these keys and need not be equal.
impl<S: Blocks, T: Blocks> PartialEq<CuckooFilter<T>> for CuckooFilter<S> {
    fn eq(&self, other: &CuckooFilter<T>) -> bool {
        self.hasher == other.hasher
            && self.layout() == other.layout()
            && self.table.places() == other.table.places()
            && self
                .table
                .lines()
                .lines()
                .iter()
                .zip(other.table.lines().lines())
                .all(|(a, b)| a.words() == b.words())
    }
}

impl<S: Blocks> fmt::Debug for CuckooFilter<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CuckooFilter")
            .field("lines", self.table.lines())
            .field("layout", &self.layout())
            .field("buckets", &self.buckets())
            .field("len", &self.len())
            .field("hasher", &self.hasher)
            .field("planned_keys", &self.plan.keys)
            .field("planned_rate", &self.plan.rate)
            .finish_non_exhaustive()
    }
}
