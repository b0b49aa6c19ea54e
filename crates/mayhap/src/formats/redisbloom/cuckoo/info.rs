//! What RedisBloom tells about a filter, and what it doesn't.

use core::fmt;

use super::RedisCuckoo;

/// The answer of `CF.INFO`, field by field. Shown as text it is the answer of `CF.DEBUG`.
///
/// ```
/// use mayhap::formats::redisbloom::RedisCuckoo;
///
/// let mut filter = RedisCuckoo::with_capacity(1024)?;
/// filter.add("apple")?;
/// let debug = "bktsize:2 buckets:512 items:1 deletes:0 filters:1 max_iterations:20 expansion:1";
/// assert_eq!(filter.info().to_string(), debug);
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CuckooInfo {
    /// "Size", also `MEMORY USAGE`: bytes, as RedisBloom counts them: 40, and 16 for each sub-filter, and the slots.
    pub size: u64,
    /// "Number of buckets": of the *first* sub-filter.
    pub buckets: u64,
    /// "Number of filters": the sub-filters.
    pub filters: u64,
    /// "Number of items inserted": less those removed.
    pub items: u64,
    /// "Number of items deleted": since the last compaction.
    pub deletes: u64,
    /// "Bucket size": the slots of a bucket.
    pub bucket_size: u64,
    /// "Expansion rate": how much larger each sub-filter is than the one before.
    pub expansion: u64,
    /// "Max iterations": the moves before a sub-filter counts as full.
    pub max_iterations: u64,
}

impl fmt::Display for CuckooInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bucket_size, buckets, items, deletes, filters, max_iterations, expansion, .. } = self;
        write!(
            f,
            "bktsize:{bucket_size} buckets:{buckets} items:{items} deletes:{deletes} filters:{filters} \
             max_iterations:{max_iterations} expansion:{expansion}"
        )
    }
}

impl RedisCuckoo {
    /// What `CF.INFO` and `CF.DEBUG` tell. Takes no time worth mentioning.
    #[must_use]
    pub fn info(&self) -> CuckooInfo {
        CuckooInfo {
            size: 40 + 16 * self.sub_filters() + self.slots(),
            buckets: self.shape.buckets,
            filters: self.sub_filters(),
            items: self.items,
            deletes: self.deletes,
            bucket_size: u64::from(self.shape.bucket_size),
            expansion: u64::from(self.shape.expansion),
            max_iterations: u64::from(self.shape.max_iterations),
        }
    }

    /// All slots of all sub-filters: the most keys there can be without growing, if all of them could be used.
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.tables.iter().map(|table| table.len() as u64).sum()
    }

    /// The memory that this filter takes, which is a little more than [`CuckooInfo::size`].
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        Self::overhead() + self.tables.iter().map(super::Table::memory).sum::<u64>()
    }

    /// The chance that a key which was never added is taken for one that was. Looks at every slot.
    ///
    /// Each entry of a bucket equals a strange fingerprint with chance 1/255, and two buckets of each sub-filter are
    /// asked: 1 − (254/255)^(2 · the sum of the sub-filters' mean entries in a bucket).
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a rate needs no more than 53 bits")]
    pub fn expected_rate(&self) -> f64 {
        let entries: f64 =
            self.tables.iter().map(|table| table.taken() as f64 / table.buckets() as f64).sum();
        -libm::expm1(2.0 * entries * libm::log(254.0 / 255.0))
    }
}
