//! RedisBloom's cuckoo filter: the value behind the commands `CF.*`.
//!
//! [`RedisCuckoo`] is the same filter, byte for byte and step by step: what was added here in some order has the bytes
//! of what Redis holds after the same commands, through evictions, growth, removals and compactions.
//!
//! ```
//! use mayhap::formats::redisbloom::RedisCuckoo;
//!
//! let mut coupons = RedisCuckoo::with_capacity(1_000)?;                  // CF.RESERVE coupons 1000
//! coupons.add("SPRING")?;                                                // CF.ADD coupons SPRING
//! assert!(coupons.contains("SPRING") && !coupons.contains("AUTUMN"));    // CF.EXISTS
//!
//! // CF.SCANDUMP on one server, CF.LOADCHUNK on another.
//! let mut iterator = 0;
//! let mut dump = Vec::new();
//! while let Some(chunk) = coupons.scan_dump(iterator) {
//!     iterator = chunk.iterator;
//!     dump.push(chunk);
//! }
//! let copy = RedisCuckoo::from_chunks(&dump, &Default::default())?;
//! assert!(copy == coupons);
//!
//! assert!(coupons.remove("SPRING") && !coupons.contains("SPRING"));      // CF.DEL
//! # Ok::<(), mayhap::Error>(())
//! ```
//!
//! # How it works
//!
//! A key's hash is its MurmurHash64A with seed 0. Its fingerprint is `hash % 255 + 1`, one byte that is never 0; its
//! buckets are `hash` and `hash ^ fingerprint · 0x5bd1e995`, each modulo the number of buckets, a power of two. From
//! either of them and the fingerprint the other can be told, so entries can be moved without their keys.
//!
//! The filter is a row of sub-filters, each with `expansion` times the buckets of the one before it.
//!
//! * *Adding* takes the first free slot of the first bucket, or else of the second, in the newest sub-filter that has
//!   one. If none has, entries of the newest are moved out of the way, at most `max_iterations` times. If that makes no
//!   room the moves are taken back, a new sub-filter is made, and the key goes there. With expansion 0 there is no new
//!   one: the filter is full.
//! * *Removing* frees the first slot with the fingerprint, in the newest sub-filter that has one.
//! * *Compacting* moves entries of newer sub-filters into older ones, and lets go of the newest when it is empty.
//!   It happens by itself in a removal, when the removals since the last time are more than a tenth of the keys, and
//!   then it stops at the first sub-filter that doesn't become empty.
//!
//! # Bytes
//!
//! Sub-filters are their slots back to back: a bucket is `bucket size` bytes, a free slot is 0. `CF.SCANDUMP` gives a
//! header first, little-endian and without gaps:
//!
//! ```text
//!  0  u64  numItems        keys: added, and not removed again
//!  8  u64  numBuckets      of the first sub-filter; sub-filter i has numBuckets · expansion^i
//! 16  u64  numDeletes      removals since the last compaction
//! 24  u64  numFilters      sub-filters
//! 32  u16  bucketSize      slots in a bucket
//! 34  u16  maxIterations   moves before a sub-filter counts as full
//! 36  u16  expansion       growth from one sub-filter to the next; 0: none
//! ```
//!
//! then each sub-filter: whole if it has at most 16 MiB, or else in pieces of 16 MiB. `CF.LOADCHUNK` takes the iterator
//! that was returned *with* a piece, so the piece begins at iterator − length − 1. An empty filter has no dump: the
//! first answer is the end.
//!
//! In RDB, and so in `DUMP`, the value is of the type `MBbloomCF`, version 4:
//!
//! ```text
//! unsigned   numFilters, numBuckets, numItems, numDeletes, bucketSize, maxIterations, expansion
//! and for each sub-filter
//!   unsigned numBuckets
//!   string   its slots
//! ```
//!
//! Versions 0 to 3 have only the first three numbers, then each sub-filter as a string; bucket size, iterations and
//! expansion are 2, 20 and 1 there. All are read, 4 is written.
//!
//! Checked against RedisBloom at b28c2945 (June 2026) in Redis 8.0.6, and v2.8.20 in Redis 7.0.15. A header with a seed,
//! which later development versions write, is refused by name.
//!
//! # Traps
//!
//! * **The error rate is fixed by the fingerprint of 8 bits**: about `2 · bucket size / 255` times the load, in *each*
//!   sub-filter, so it adds up as the filter grows: 1.6 % in a full filter of buckets of 2, and 16 % after ten
//!   expansions. [`expected_rate`](RedisCuckoo::expected_rate) gives the present one.
//! * **The number of buckets is rounded up to a power of two**, so a filter takes up to twice the memory that its
//!   capacity suggests.
//! * **Equal keys pile up.** [`add`](RedisCuckoo::add) adds a key once more if it is there. Its two buckets hold
//!   2 · bucket size copies; the next copy makes a new sub-filter, however empty the others are. Use
//!   [`add_unique`](RedisCuckoo::add_unique) unless copies are meant, and set
//!   [`max_bytes`](CuckooLimits::max_bytes) where strangers choose the keys.
//! * **Removing a key that was never added** may remove another one that looks like it.
//! * **A count may be double**: [`count`](RedisCuckoo::count) asks both buckets, also when they are one and the same.
//! * **A removal may take long**: the one that compacts looks at every slot.
//! * **Anyone can compute the hash**, which has no secret: who chooses keys can choose ones that collide, fill a filter
//!   early or make others look present. For keys from strangers take one of this crate's own filters with a secret key.

mod change;
mod chunks;
mod compact;
mod info;
mod many;
mod rdb;
mod shape;
mod table;
#[cfg(test)]
mod tests;
mod word;

use alloc::vec::Vec;
use core::fmt;

pub use info::CuckooInfo;
pub use many::Added;
pub use shape::CuckooLimits;

use crate::bits::AllocError;
use crate::error::Error;
use crate::hash::Key;
use crate::hash::functions::murmur2::murmur64a;
use crate::sizing::SizingError;
use shape::Shape;
use table::{Places, Table};

/// The cuckoo filter of RedisBloom (`CF.*`). The [module page](self) tells how it works and what to beware of.
pub struct RedisCuckoo {
    shape: Shape,
    /// Oldest first; at least one.
    tables: Vec<Table>,
    items: u64,
    deletes: u64,
    limits: CuckooLimits,
}

impl RedisCuckoo {
    /// `cf-initial-size`: the capacity of a filter that an add makes.
    pub const DEFAULT_CAPACITY: u64 = 1024;
    /// `cf-bucket-size`: the slots of a bucket, unless said otherwise.
    pub const DEFAULT_BUCKET_SIZE: u64 = 2;
    /// `cf-max-iterations`: the moves before a sub-filter counts as full, unless said otherwise.
    pub const DEFAULT_MAX_ITERATIONS: u64 = 20;
    /// `cf-expansion-factor`: how much larger each sub-filter is than the one before, unless said otherwise.
    pub const DEFAULT_EXPANSION: u64 = 1;
    /// The largest capacity that can be reserved. The smallest is twice the bucket size.
    pub const MAX_CAPACITY: u64 = 1 << 30;
    /// The largest bucket size. The smallest is 1.
    pub const MAX_BUCKET_SIZE: u64 = 255;
    /// The most moves. The fewest are 1.
    pub const MAX_MAX_ITERATIONS: u64 = 65_535;
    /// The largest expansion. The smallest is 0: the filter never grows.
    pub const MAX_EXPANSION: u64 = 32_768;

    /// A filter with `capacity` slots or more, and the defaults: `CF.RESERVE key capacity`.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve).
    pub fn with_capacity(capacity: u64) -> Result<Self, Error> {
        Self::reserve(
            capacity,
            Self::DEFAULT_BUCKET_SIZE,
            Self::DEFAULT_MAX_ITERATIONS,
            Self::DEFAULT_EXPANSION,
        )
    }

    /// An empty filter: `CF.RESERVE key capacity BUCKETSIZE n MAXITERATIONS n EXPANSION n`.
    ///
    /// The number of buckets is capacity / bucket size, rounded up to a power of two, and so is the expansion.
    ///
    /// ```
    /// use mayhap::formats::redisbloom::RedisCuckoo;
    ///
    /// let filter = RedisCuckoo::reserve(1_000, 4, 20, 3)?;
    /// let info = filter.info();
    /// assert_eq!((info.buckets, info.expansion, info.size), (256, 4, 40 + 16 + 1024));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`SizingError::OutOfRange`] where RedisBloom would refuse the number, and when the memory can't be had.
    pub fn reserve(
        capacity: u64,
        bucket_size: u64,
        max_iterations: u64,
        expansion: u64,
    ) -> Result<Self, Error> {
        let shape = Shape::planned(capacity, bucket_size, max_iterations, expansion)?;
        let mut filter = Self::empty(shape, CuckooLimits::default());
        filter.tables.try_reserve_exact(1).map_err(|_| AllocError { bytes: size_of::<Table>() as u64 })?;
        filter.tables.push(Table::new(shape.buckets, shape.bucket_size)?);
        Ok(filter)
    }

    /// The memory that [`reserve`](Self::reserve) would take, to be compared with what there is.
    ///
    /// # Errors
    /// [`SizingError::OutOfRange`] where RedisBloom would refuse the number.
    pub fn memory_for(capacity: u64, bucket_size: u64) -> Result<u64, SizingError> {
        let (iterations, expansion) = (Self::DEFAULT_MAX_ITERATIONS, Self::DEFAULT_EXPANSION);
        let shape = Shape::planned(capacity, bucket_size, iterations, expansion)?;
        Ok(Self::overhead() + shape.memory(1).unwrap_or(u64::MAX - Self::overhead()))
    }

    /// How far the filter may grow by itself.
    #[must_use]
    pub fn limits(&self) -> CuckooLimits {
        self.limits
    }

    /// Sets how far the filter may grow from now on. What it has already stays.
    pub fn set_limits(&mut self, limits: CuckooLimits) {
        self.limits = limits;
    }

    /// The hash of a key: MurmurHash64A, seed 0. All that the filter needs to know of the key.
    #[inline]
    #[must_use]
    pub fn hash<K: Key + ?Sized>(key: &K) -> u64 {
        murmur64a(key.key_bytes().as_ref(), 0)
    }

    /// Whether the key may be in the filter: `CF.EXISTS`. A key that was added, and not removed, always is.
    #[inline]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(Self::hash(key))
    }

    /// [`contains`](Self::contains) for a key that was hashed already.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.holds(&Places::of(hash))
    }

    /// How often the key's fingerprint is in its buckets: `CF.COUNT`.
    ///
    /// That is at least as often as the key was added, and more if other keys look like it. If both buckets of the key
    /// are one and the same in a sub-filter, what is there counts twice, as it does in RedisBloom.
    #[inline]
    #[must_use]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.count_hash(Self::hash(key))
    }

    /// [`count`](Self::count) for a key that was hashed already.
    #[must_use]
    pub fn count_hash(&self, hash: u64) -> u64 {
        let places = Places::of(hash);
        self.tables.iter().map(|table| table.count(&places)).sum()
    }

    /// The keys in the filter: those added, less those removed.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.items
    }

    /// Whether there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// The number of sub-filters.
    #[must_use]
    pub fn sub_filters(&self) -> u64 {
        self.tables.len() as u64
    }

    /// A copy.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn try_clone(&self) -> Result<Self, AllocError> {
        let mut copy =
            Self { items: self.items, deletes: self.deletes, ..Self::empty(self.shape, self.limits) };
        let bytes = self.memory_bytes();
        copy.tables.try_reserve_exact(self.tables.len()).map_err(|_| AllocError { bytes })?;
        for table in &self.tables {
            copy.tables.push(table.try_clone()?);
        }
        Ok(copy)
    }

    /// No sub-filter yet: the caller adds them.
    fn empty(shape: Shape, limits: CuckooLimits) -> Self {
        Self { shape, tables: Vec::new(), items: 0, deletes: 0, limits }
    }

    #[inline(always)]
    fn holds(&self, places: &Places) -> bool {
        let holds = |table: &Table| table.holds(places);
        if self.newest_first() { self.tables.iter().rev().any(holds) } else { self.tables.iter().any(holds) }
    }

    /// Where most keys are, and so where to look first; the answer is the same either way. The newest sub-filter is the
    /// largest if one is; among equal ones it is the one that isn't full.
    #[inline(always)]
    fn newest_first(&self) -> bool {
        self.shape.expansion > 1
    }

    /// What the filter takes besides its sub-filters.
    const fn overhead() -> u64 {
        size_of::<Self>() as u64
    }
}

impl Clone for RedisCuckoo {
    /// # Panics
    /// When the memory can't be had, as `Vec` does.
    fn clone(&self) -> Self {
        match self.try_clone() {
            Ok(copy) => copy,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Equal when all that a dump holds is: the settings, the counters, and every slot. Limits may differ.
impl PartialEq for RedisCuckoo {
    fn eq(&self, other: &Self) -> bool {
        (self.shape, self.items, self.deletes) == (other.shape, other.items, other.deletes)
            && self.tables == other.tables
    }
}

impl fmt::Debug for RedisCuckoo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisCuckoo").field("info", &self.info()).field("limits", &self.limits).finish()
    }
}
