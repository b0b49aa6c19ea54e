//! The settings of a filter, and what they may be.

use super::RedisCuckoo;
use super::table::Table;
use crate::codec::FormatError;
use crate::sizing::SizingError;

/// How far a filter may grow by itself, and how large a dump may be.
///
/// RedisBloom has the first limit only. The second is for servers: keys that are chosen for it, or one key added again
/// and again, can make a filter grow until it has as many sub-filters as it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CuckooLimits {
    /// `cf-max-expansions`: with so many sub-filters every add is refused, even if there is room.
    pub max_expansions: u32,
    /// The most memory, the bookkeeping included. Compared before anything is allocated.
    pub max_bytes: u64,
}

impl Default for CuckooLimits {
    /// 32 sub-filters, as RedisBloom has it, and any memory.
    fn default() -> Self {
        Self { max_expansions: 32, max_bytes: u64::MAX }
    }
}

/// The settings that a dump holds. They are in range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Of the first sub-filter; a power of two, at most [`MAX_BUCKETS`].
    pub(super) buckets: u64,
    /// At least 1.
    pub(super) bucket_size: u8,
    /// At least 1.
    pub(super) max_iterations: u16,
    /// 0, or a power of two of at most 2¹⁵.
    pub(super) expansion: u16,
}

/// The most buckets of a sub-filter.
const MAX_BUCKETS: u64 = 1 << 56;

/// The most sub-filters, whatever the limit: RedisBloom counts them in 16 bits.
pub(super) const MAX_TABLES: u64 = 65_535;

impl Shape {
    pub(super) fn planned(
        capacity: u64,
        bucket_size: u64,
        max_iterations: u64,
        expansion: u64,
    ) -> Result<Self, SizingError> {
        let within = |what, got, least, most| {
            if (least..=most).contains(&got) {
                Ok(got)
            } else {
                Err(SizingError::OutOfRange { what, got, least, most })
            }
        };
        within("the bucket size", bucket_size, 1, RedisCuckoo::MAX_BUCKET_SIZE)?;
        within("the number of iterations", max_iterations, 1, RedisCuckoo::MAX_MAX_ITERATIONS)?;
        within("the expansion", expansion, 0, RedisCuckoo::MAX_EXPANSION)?;
        within("the capacity", capacity, 2 * bucket_size, RedisCuckoo::MAX_CAPACITY)?;
        Ok(Self {
            buckets: (capacity / bucket_size).next_power_of_two(),
            bucket_size: narrow(bucket_size),
            max_iterations: narrow(max_iterations),
            expansion: if expansion == 0 { 0 } else { narrow(expansion.next_power_of_two()) },
        })
    }

    /// Settings that a dump claims.
    pub(super) fn read(
        buckets: u64,
        bucket_size: u64,
        max_iterations: u64,
        expansion: u64,
    ) -> Result<Self, FormatError> {
        let bad = |field, value, must_be| FormatError::BadField { field, value, must_be };
        if !buckets.is_power_of_two() || buckets > MAX_BUCKETS {
            return Err(bad("numBuckets", buckets, "a power of two, at most 2^56"));
        }
        if !(1..=RedisCuckoo::MAX_BUCKET_SIZE).contains(&bucket_size) {
            return Err(bad("bucketSize", bucket_size, "1 to 255"));
        }
        if !(1..=RedisCuckoo::MAX_MAX_ITERATIONS).contains(&max_iterations) {
            return Err(bad("maxIterations", max_iterations, "1 to 65535"));
        }
        if expansion > RedisCuckoo::MAX_EXPANSION || !(expansion == 0 || expansion.is_power_of_two()) {
            return Err(bad("expansion", expansion, "0 or a power of two, at most 2^15"));
        }
        Ok(Self {
            buckets,
            bucket_size: narrow(bucket_size),
            max_iterations: narrow(max_iterations),
            expansion: narrow(expansion),
        })
    }

    /// The buckets of sub-filter `number`, counted from 0; `None` if it can't be.
    pub(super) fn buckets_of(self, number: u64) -> Option<u64> {
        if number == 0 {
            return Some(self.buckets);
        }
        let doublings = u64::from(self.expansion.checked_ilog2()?).checked_mul(number)?;
        let log = u64::from(self.buckets.ilog2()).checked_add(doublings)?;
        (log <= u64::from(MAX_BUCKETS.ilog2())).then(|| 1 << log)
    }

    /// The slots of sub-filter `number`.
    pub(super) fn slots_of(self, number: u64) -> Option<u64> {
        self.buckets_of(number)?.checked_mul(u64::from(self.bucket_size))
    }

    /// The slots of the first `tables` sub-filters together.
    pub(super) fn slots(self, tables: u64) -> Option<u64> {
        (0..tables).try_fold(0u64, |sum, number| sum.checked_add(self.slots_of(number)?))
    }

    /// The memory of the first `tables` sub-filters together.
    pub(super) fn memory(self, tables: u64) -> Option<u64> {
        (0..tables).try_fold(0u64, |sum, number| sum.checked_add(self.memory_of(number)?))
    }

    /// The memory of sub-filter `number`.
    pub(super) fn memory_of(self, number: u64) -> Option<u64> {
        Table::memory_for(self.buckets_of(number)?, self.bucket_size)
    }
}

/// A number that was compared with its limit. (The other value never occurs.)
fn narrow<T: TryFrom<u64> + Default>(number: u64) -> T {
    T::try_from(number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_filters_grow_by_the_expansion() {
        let shape = Shape::planned(1024, 4, 20, 3).unwrap();
        assert_eq!(shape, Shape { buckets: 256, bucket_size: 4, max_iterations: 20, expansion: 4 });
        assert_eq!([0, 1, 2].map(|i| shape.buckets_of(i)), [Some(256), Some(1024), Some(4096)]);
        assert_eq!(shape.slots(3), Some(4 * (256 + 1024 + 4096)));
        assert_eq!(shape.buckets_of(24), Some(1 << 56));
        assert_eq!(shape.buckets_of(25), None);
        assert_eq!(shape.buckets_of(u64::MAX), None);
        assert_eq!(shape.memory(25).and(shape.memory(26)), None);

        let even = Shape { expansion: 1, ..shape };
        assert_eq!(even.buckets_of(u64::MAX), Some(256));
        let fixed = Shape { expansion: 0, ..shape };
        assert_eq!((fixed.buckets_of(0), fixed.buckets_of(1)), (Some(256), None));
        let huge = Shape { buckets: 1 << 56, bucket_size: 255, ..even };
        assert_eq!(huge.slots(1), Some(255 << 56));
        assert_eq!(huge.slots(2), None, "beyond 64 bits");
    }
}
