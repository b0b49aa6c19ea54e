//! d-left counting: deletes and counts in well under half of a counting Bloom filter's memory.
//!
//! # The idea
//!
//! Instead of raising k counters for a key, write the key down once: a short *fingerprint* of it and a small *counter*
//! in one *cell*. To find the cell again without searching, a digest names one *bucket* of cells in each of two
//! *subtables*; a key goes into the emptier of its two buckets, the left one if they are equal. That evens out the
//! buckets so well that all but one or two cells of each can be used. Nothing is shared between keys but whole
//! cells, so there is no counter that overflows and sticks: a count that a cell can't hold goes on in a second cell.
//!
//! ```text
//!   digest ─► bucket of the left subtable, fingerprint;   right bucket = left bucket + hash of the fingerprint
//!
//!   left  subtable   bucket 0   bucket 1 … bucket 5 …  bucket B-1      each bucket is one 64-byte line
//!   right subtable   bucket 0 … bucket 3 …             bucket B-1
//!                                  │
//!      ┌───────────────────────────┘
//!      │ tag₀ tag₁ … tag₃₃ │ rest₀ rest₁ … rest₃₃ │ unused        at 1 %: 34 cells of 15 bits, 2 bits unused
//!        8 bits each         7 bits each
//!        0 = free cell       ├ 5 more bits of fingerprint
//!                            └ counter: copies − 1, 2 bits
//! ```
//!
//! The tags come first and are whole bytes, so that a register compares sixteen of them at once; only where a tag is
//! equal is the rest looked at.
//!
//! **Deletion is unambiguous** because (bucket, fingerprint) in the one subtable and in the other determine each other:
//! two keys that look equal in one of them are equal in both, and have the very same cells. The proof is in `place.rs`.
//! Two such keys share a count; removing one of them lowers it and leaves the other.
//!
//! **When both buckets are full**, a cell of theirs moves to its own other bucket, which its fingerprint tells. One such
//! move is enough up to about 99 % of all cells. It matters most for filters whose keys come and go: random removals
//! leave buckets less even than filling did, and without moves one insert in twelve would be refused at the planned load.
//!
//! # The maths
//!
//! With B buckets in a subtable and R fingerprints, n keys give a rate of n / (B · R). At 1 % that is a fingerprint of
//! 13 bits and 15.8 bits per key in all, against 45.9 for a blocked counting Bloom filter with 4-bit counters.
//! [`sizing::d_left`](crate::sizing::d_left) has the formulas, [docs/maths.md] the derivation.
//!
//! What was compared, with 2-bit counters, fingerprints of any (also fractional) length, and the load that the worst of
//! 32 tables of 2²² cells reached before its first refusal (`examples/d_left_loads.rs`):
//!
//! | subtables, cells in a bucket | lines of a key | load, no moves | bits per key at 3 % / 1 % / 0.1 % |
//! |---|---|---|---|
//! | 2, 8 | 2 | 72.0 % | 14.7 / 16.9 / 21.5 |
//! | 2, 16 | 2 | 86.1 % | 13.8 / 15.6 / 19.5 |
//! | 2, 34 | 2 | 93.4 % | 14.0 / 15.7 / 19.2 |
//! | 2, 56 | 2 | 96.3 % | 14.4 / 16.0 / 19.4 |
//! | 3, 8 | 3 | 83.6 % | 13.6 / 15.5 / 19.5 |
//! | 3, 16 | 3 | 92.4 % | 13.6 / 15.3 / 18.9 |
//! | 3, 34 | 3 | 96.5 % | 14.2 / 15.8 / 19.3 |
//! | 4, 8 (the paper's) | 4 | 88.3 % | 13.5 / 15.2 / 19.0 |
//! | 4, 16 | 4 | 94.7 % | 13.7 / 15.4 / 18.9 |
//! | **2, a whole line, one move** | 2 | over 99 % | planned at 95 to 96 %: **14.8 / 15.8 / 19.3**, all bits counted |
//!
//! Larger buckets fill better and need longer fingerprints; the two nearly cancel, so the fewest lines decide.
//!
//! # When to choose it, and how it fails
//!
//! Choose it for sets and multisets with deletes, where a [counting Bloom filter](crate::counting) is too large and a
//! refused insert can be dealt with. A cuckoo filter is smaller when keys have one copy each. It never answers "no" for
//! a key that is there, and nothing sticks. But it can be full: [`insert`](DLeftCounting::insert) then returns
//! [`InsertError::Full`](crate::InsertError::Full) and changes nothing. Built for n keys it takes n practically always
//! (see [`DLeftPlan`](crate::sizing::DLeftPlan)), also after any number of removals and additions. Many copies of one key
//! fill its two buckets: plan wider counters for that ([`counter_bits`](DLeftBuilder::counter_bits)).
//! Remove only what was added: removing another key that is answered "mayhap" removes whom it is taken for.
//!
//! The construction is that of Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, "An improved construction for
//! counting Bloom filters" (ESA 2006), with two subtables instead of four, lines as buckets, rotations as the
//! permutations, and the one move.
//!
//! [docs/maths.md]: https://github.com/mayhap/mayhap/blob/main/docs/maths.md#18-d-left-counting

mod batch;
mod builder;
mod cell;
mod estimate;
mod file;
mod insert;
mod place;
mod remove;
mod table;
mod tags;
#[cfg(test)]
mod tests;

pub use builder::DLeftBuilder;
pub use cell::Cell;

use core::fmt;

use crate::bits::{BLOCK_BYTES, Blocks, Line as _, Owned};
use crate::error::Error;
use crate::hash::{Digest, Key, KeyHasher};
use crate::plan::Plan;
use place::Geometry;
use tags::Baseline;

/// A [`DLeftCounting`] in a mapped file: asked without being read.
#[cfg(feature = "std")]
pub type MappedDLeftCounting = DLeftCounting<crate::bits::Mapped>;

/// A d-left counting filter: a multiset that can forget. [Its page](self) tells how it works.
///
/// `S` is where its buckets live: [`Owned`] by default, or a mapped file ([`MappedDLeftCounting`]).
///
/// ```
/// use mayhap::DLeftCounting;
///
/// let mut coupons = DLeftCounting::with_rate(1_000_000, 0.001)?;
/// assert!(coupons.insert("SPRING-7")?, "new");
/// assert!(!coupons.insert("SPRING-7")?, "a second copy");
/// assert_eq!(coupons.count("SPRING-7"), 2);
/// assert!(coupons.remove("SPRING-7") && coupons.remove("SPRING-7"));
/// assert!(!coupons.contains("SPRING-7"));
/// assert!(!coupons.remove("SPRING-7"), "there was none left");
/// # Ok::<(), mayhap::Error>(())
/// ```
pub struct DLeftCounting<S = Owned> {
    /// The lines of the left subtable, then those of the right.
    blocks: S,
    hasher: KeyHasher,
    geometry: Geometry,
    plan: Plan,
    /// Copies of all keys: the sum of all counters.
    len: u64,
    /// Cells in use.
    used_cells: u64,
}

impl DLeftCounting {
    /// A filter for `keys` distinct keys that answers "mayhap" for at most `rate` of the absent ones.
    ///
    /// ```
    /// use mayhap::DLeftCounting;
    ///
    /// let filter = DLeftCounting::with_rate(1_000_000, 0.01)?;
    /// assert!(filter.len_bytes() < 1_980_000, "15.8 bits a key");
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When `keys` is 0, `rate` isn't between 0 and 1 or is lower than a 64-bit digest can give for so many keys, or
    /// the memory can't be had.
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, Error> {
        Self::builder().keys(keys).rate(rate).build()
    }

    /// Every choice there is: counters, hash, seed or secret key, limits.
    pub fn builder() -> DLeftBuilder {
        DLeftBuilder::default()
    }
}

impl<S: Blocks> DLeftCounting<S> {
    /// Puts a filter together. There are two lines for each bucket of the geometry.
    fn from_parts(blocks: S, hasher: KeyHasher, geometry: Geometry, plan: Plan) -> Self {
        assert!(
            geometry.buckets > 0 && blocks.lines().len() == 2 * geometry.buckets,
            "whoever makes a filter has checked its number of blocks"
        );
        Self { blocks, hasher, geometry, plan, len: 0, used_cells: 0 }
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
        table::contains(Baseline, self.geometry.cell, self.blocks.lines(), &self.geometry.place(digest.get()))
    }

    /// How many copies of the key there are: never too few, and too many when other keys are taken for it.
    #[inline]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.count_hash(self.hash(key))
    }

    /// [`count`](Self::count) for a key that was hashed already.
    #[inline]
    pub fn count_hash(&self, digest: Digest) -> u64 {
        table::count(Baseline, self.geometry.cell, self.blocks.lines(), &self.geometry.place(digest.get()))
    }

    /// An empty filter of the same size, cells, hash and plan.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn empty_like(&self) -> Result<DLeftCounting, Error> {
        let blocks = Owned::zeroed(self.blocks.block_count())?;
        Ok(DLeftCounting::from_parts(blocks, self.hasher.clone(), self.geometry, self.plan))
    }

    /// How many copies of keys it holds: inserts minus removals, exactly. A mapped filter tells what its file says.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of memory its buckets take.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.blocks.block_count() * BLOCK_BYTES as u64
    }

    /// Number of buckets in each of the two subtables.
    #[must_use]
    pub fn bucket_count(&self) -> u64 {
        self.geometry.buckets as u64
    }

    /// The shape of its cells.
    #[must_use]
    pub fn cell(&self) -> Cell {
        self.geometry.cell
    }

    /// The most copies one key can have: as many as its two buckets can count with nothing else in them. Cells of other
    /// keys that can't move leave room for fewer.
    #[must_use]
    pub fn most_copies(&self) -> u64 {
        self.geometry.most_copies()
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

impl Clone for DLeftCounting {
    /// # Panics
    /// When the memory can't be had, as `Vec` does.
    fn clone(&self) -> Self {
        match self.blocks.try_clone() {
            Ok(blocks) => Self {
                len: self.len,
                used_cells: self.used_cells,
                ..Self::from_parts(blocks, self.hasher.clone(), self.geometry, self.plan)
            },
            Err(error) => panic!("{error}"),
        }
    }
}

/// Equal when they have the same hash, cells and bits. Their plans may differ. Filters of the same keys may have them in
/// different cells, if the keys came in another order, and are not equal then.
impl<S: Blocks, T: Blocks> PartialEq<DLeftCounting<T>> for DLeftCounting<S> {
    fn eq(&self, other: &DLeftCounting<T>) -> bool {
        self.hasher == other.hasher
            && self.geometry == other.geometry
            && self.blocks.lines().iter().zip(other.blocks.lines()).all(|(a, b)| a.words() == b.words())
    }
}

impl<S: Blocks> fmt::Debug for DLeftCounting<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DLeftCounting")
            .field("blocks", &self.blocks)
            .field("cell", &self.geometry.cell)
            .field("hasher", &self.hasher)
            .field("planned_keys", &self.plan.keys)
            .field("planned_rate", &self.plan.rate)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
