//! A filter of any other system, where only the run time tells which.

use alloc::vec::Vec;
use core::fmt;

use super::crawler::CrawlerBloom;
use super::guava::GuavaBloom;
use super::leveldb::LevelDbFilter;
use super::parquet::SplitBlockBloom;
use super::redisbloom::{RdbVersion, RedisBloom, RedisCuckoo, RedisValue};
use super::spark::SparkBloom;
use crate::any::Unsupported;
use crate::codec::{FormatError, Kind};
use crate::error::Error;
use crate::file::ReadOptions;
use crate::filter::InsertError;
use crate::hash::Key;
use crate::merge_error::MergeError;

/// A form in which another system writes its filters, as one piece of bytes.
///
/// It must be named: of these, only a `DUMP` payload has a checksum by which it is known, and none has a magic number.
/// Almost any bytes are some LevelDB filter, and a guess would answer questions with nonsense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// One filter of a LevelDB filter block; badger's and corekv's are the same up to 2³² bits.
    LevelDb,
    /// Guava's `BloomFilter.writeTo`.
    Guava,
    /// Spark's `BloomFilter.writeTo`, version 1 or 2.
    Spark,
    /// A split block Bloom filter as it stands in a Parquet file: header and bitset.
    Parquet,
    /// What Redis's `DUMP` gives for a filter of RedisBloom's, `BF.*` or `CF.*`.
    RedisDump,
    /// The crawler's bits, in the bytes of [`CrawlerBloom::to_bitmap`], which say neither of these two.
    Crawler {
        /// Bits set for each key (k).
        hashes: u32,
        /// Bits of the filter (m).
        bits: u64,
    },
}

impl Format {
    /// The name by which a command line calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LevelDb => "leveldb",
            Self::Guava => "guava",
            Self::Spark => "spark",
            Self::Parquet => "parquet",
            Self::RedisDump => "redis-dump",
            Self::Crawler { .. } => "crawler",
        }
    }

    /// The format with this name, if it needs no more than a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::LevelDb, Self::Guava, Self::Spark, Self::Parquet, Self::RedisDump];
        all.into_iter().find(|format| format.name() == name)
    }
}

/// A filter of another system, of whichever it was said to be.
///
/// ```
/// use mayhap::formats::guava::{GuavaBloom, Sizing};
/// use mayhap::formats::{ForeignFilter, Format};
///
/// let mut theirs = GuavaBloom::with_rate(1_000, 0.01, Sizing::Guava31)?;
/// theirs.insert("apple");
///
/// let format = Format::from_name("guava").expect("a format with that name");
/// let mut filter = ForeignFilter::from_bytes(format, &theirs.to_bytes()?)?;
/// assert!(filter.contains("apple") && !filter.contains("pear"));
/// filter.insert("pear")?;
/// assert_eq!(filter.to_bytes()?.len(), theirs.to_bytes()?.len());
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum ForeignFilter {
    /// LevelDB's.
    LevelDb(LevelDbFilter),
    /// Guava's.
    Guava(GuavaBloom),
    /// Spark's.
    Spark(SparkBloom),
    /// Parquet's.
    Parquet(SplitBlockBloom),
    /// RedisBloom's `BF.*`, and the version of RDB it came in.
    RedisBloom(RedisBloom, RdbVersion),
    /// RedisBloom's `CF.*`, and the version of RDB it came in.
    RedisCuckoo(RedisCuckoo, RdbVersion),
    /// The crawler's.
    Crawler(CrawlerBloom),
}

impl ForeignFilter {
    /// Reads a filter. The bytes must be all of it, and nothing else.
    ///
    /// # Errors
    /// When the bytes aren't such a filter, or the memory can't be had.
    pub fn from_bytes(format: Format, bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes_with(format, bytes, &ReadOptions::new())
    }

    /// [`from_bytes`](Self::from_bytes) with a limit, which is checked before anything is allocated.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and when the filter is larger than the limit.
    pub fn from_bytes_with(format: Format, bytes: &[u8], options: &ReadOptions) -> Result<Self, Error> {
        Ok(match format {
            Format::LevelDb => Self::LevelDb(LevelDbFilter::from_bytes_with(bytes, options)?),
            Format::Guava => Self::Guava(GuavaBloom::from_bytes_with(bytes, options)?),
            Format::Spark => Self::Spark(SparkBloom::from_bytes_with(bytes, options)?),
            Format::Parquet => Self::Parquet(SplitBlockBloom::from_bytes_with(bytes, options)?),
            Format::RedisDump => {
                let version = RdbVersion::of_dump(bytes)?;
                match RedisValue::from_dump_with(bytes, options)? {
                    RedisValue::Bloom(filter) => Self::RedisBloom(filter, version),
                    RedisValue::Cuckoo(filter) => Self::RedisCuckoo(filter, version),
                }
            }
            Format::Crawler { hashes, bits } => {
                options.check_length(bytes.len() as u64)?;
                Self::Crawler(CrawlerBloom::from_bitmap(bytes, hashes, bits, 0)?)
            }
        })
    }

    /// The bytes as the other system writes them; unchanged filters are written as they were read.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FormatError> {
        match self {
            Self::LevelDb(filter) => filter.to_bytes(),
            Self::Guava(filter) => filter.to_bytes(),
            Self::Spark(filter) => filter.to_bytes(),
            Self::Parquet(filter) => filter.to_bytes(),
            Self::RedisBloom(filter, version) => filter.to_dump(*version),
            Self::RedisCuckoo(filter, version) => filter.to_dump(*version),
            Self::Crawler(filter) => filter.to_bitmap(),
        }
    }

    /// The form in which [`to_bytes`](Self::to_bytes) writes it.
    #[must_use]
    pub fn format(&self) -> Format {
        match self {
            Self::LevelDb(_) => Format::LevelDb,
            Self::Guava(_) => Format::Guava,
            Self::Spark(_) => Format::Spark,
            Self::Parquet(_) => Format::Parquet,
            Self::RedisBloom(..) | Self::RedisCuckoo(..) => Format::RedisDump,
            Self::Crawler(filter) => Format::Crawler { hashes: filter.hashes(), bits: filter.bits() },
        }
    }

    /// Whether the key may be in the set. `false` is certain.
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        match self {
            Self::LevelDb(filter) => filter.contains(key),
            Self::Guava(filter) => filter.contains(key),
            Self::Spark(filter) => filter.contains(key),
            Self::Parquet(filter) => filter.contains(key),
            Self::RedisBloom(filter, _) => filter.contains(key),
            Self::RedisCuckoo(filter, _) => filter.contains(key),
            Self::Crawler(filter) => filter.contains(key),
        }
    }

    /// Asks for many keys at once: `found[i]` tells whether `keys[i]` may be in the set.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
        match self {
            Self::LevelDb(filter) => filter.contains_each(keys, found),
            Self::Guava(filter) => filter.contains_each(keys, found),
            Self::Spark(filter) => filter.contains_each(keys, found),
            Self::Parquet(filter) => filter.contains_each(keys, found),
            Self::RedisBloom(filter, _) => filter.contains_each(keys, found),
            Self::RedisCuckoo(filter, _) => filter.contains_each(keys, found),
            Self::Crawler(filter) => filter.contains_each(keys, found),
        }
    }

    /// Adds a key. True if it was new: certainly not in the set before. RedisBloom's cuckoo filter takes another copy
    /// of a key that is there.
    ///
    /// # Errors
    /// When a filter of RedisBloom's is full and doesn't grow.
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, InsertError> {
        match self {
            Self::LevelDb(filter) => Ok(filter.insert(key)),
            Self::Guava(filter) => Ok(filter.insert(key)),
            Self::Spark(filter) => Ok(filter.insert(key)),
            Self::Parquet(filter) => Ok(filter.insert(key)),
            Self::RedisBloom(filter, _) => filter.add(key),
            Self::RedisCuckoo(filter, _) => {
                let hash = RedisCuckoo::hash(key);
                let is_new = !filter.contains_hash(hash);
                filter.add_hash(hash)?;
                Ok(is_new)
            }
            Self::Crawler(filter) => Ok(filter.insert(key)),
        }
    }

    /// Adds every key of another filter of the same format and settings.
    ///
    /// # Errors
    /// When the two don't fit together, or the other system's filters can't be merged; nothing is changed then.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        match (&mut *self, other) {
            (Self::LevelDb(ours), Self::LevelDb(theirs)) => ours.merge(theirs),
            (Self::Guava(ours), Self::Guava(theirs)) => ours.put_all(theirs),
            (Self::Spark(ours), Self::Spark(theirs)) => ours.merge(theirs),
            (Self::Parquet(ours), Self::Parquet(theirs)) => ours.merge(theirs),
            (ours, theirs) if ours.format().name() != theirs.format().name() => {
                Err(MergeError::Different { what: "formats" })
            }
            _ => Err(MergeError::Unsupported(Unsupported { kind: Kind::FOREIGN, operation: "be merged" })),
        }
    }

    /// Bytes of its bits or slots.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        match self {
            Self::LevelDb(filter) => filter.bits().div_ceil(8),
            Self::Guava(filter) => filter.bits() / 8,
            Self::Spark(filter) => filter.bits() / 8,
            Self::Parquet(filter) => filter.len_bytes(),
            Self::RedisBloom(filter, _) => filter.data_bytes(),
            Self::RedisCuckoo(filter, _) => filter.slots(),
            Self::Crawler(filter) => filter.bits().div_ceil(8),
        }
    }

    /// The rate at which the filter, as it is now, answers "mayhap" for absent keys.
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        match self {
            Self::LevelDb(filter) => filter.expected_rate(),
            Self::Guava(filter) => filter.expected_fpp(),
            // Asked for no bit, it says "mayhap" to every key; by Spark's formula the rate is then no number, or infinite.
            Self::Spark(filter) if filter.hashes() <= 0 || filter.bits() == 0 => 1.0,
            Self::Spark(filter) => filter.expected_fpp(),
            Self::Parquet(filter) => filter.expected_rate(),
            Self::RedisBloom(filter, _) => filter.expected_rate(),
            Self::RedisCuckoo(filter, _) => filter.expected_rate(),
            Self::Crawler(filter) => crate::sizing::classic::rate_of_fill(
                filter.bits_set() as f64 / filter.bits() as f64,
                filter.hashes(),
            ),
        }
    }
}

impl fmt::Debug for ForeignFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LevelDb(filter) => filter.fmt(f),
            Self::Guava(filter) => filter.fmt(f),
            Self::Spark(filter) => filter.fmt(f),
            Self::Parquet(filter) => filter.fmt(f),
            Self::RedisBloom(filter, _) => filter.fmt(f),
            Self::RedisCuckoo(filter, _) => filter.fmt(f),
            Self::Crawler(filter) => filter.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::guava::Sizing;
    use crate::formats::spark::SparkRecipe;
    use std::vec;

    fn every_kind() -> Vec<ForeignFilter> {
        vec![
            ForeignFilter::LevelDb(LevelDbFilter::new(100, 10).unwrap()),
            ForeignFilter::Guava(GuavaBloom::with_rate(100, 0.01, Sizing::Guava31).unwrap()),
            ForeignFilter::Spark(SparkBloom::with_rate(SparkRecipe::V1, 100, 0.01).unwrap()),
            ForeignFilter::Parquet(SplitBlockBloom::with_rate(100, 0.01).unwrap()),
            ForeignFilter::RedisBloom(RedisBloom::new().unwrap(), RdbVersion::REDIS_7_0),
            ForeignFilter::RedisCuckoo(RedisCuckoo::with_capacity(100).unwrap(), RdbVersion::REDIS_7_0),
            ForeignFilter::Crawler(CrawlerBloom::new(7, 1_000).unwrap()),
        ]
    }

    #[test]
    fn each_kind_keeps_its_keys_and_comes_back_from_its_bytes() {
        let keys: Vec<u32> = (0..90).collect();
        for mut filter in every_kind() {
            for key in &keys {
                filter.insert(key).unwrap();
            }
            let again = ForeignFilter::from_bytes(filter.format(), &filter.to_bytes().unwrap()).unwrap();
            let mut found = vec![false; keys.len()];
            again.contains_each(&keys, &mut found);
            assert!(found.iter().all(|found| *found), "{filter:?}");
            assert!(keys.iter().all(|key| again.contains(key)));
            assert_eq!(again.to_bytes().unwrap(), filter.to_bytes().unwrap());
            let rate = (1_000..11_000u32).filter(|key| again.contains(key)).count() as f64 / 1e4;
            assert!(rate < 2.0 * again.expected_rate() + 0.01, "{filter:?} {rate}");
            let limit = ReadOptions::new().max_bytes(8);
            let bytes = filter.to_bytes().unwrap();
            assert!(ForeignFilter::from_bytes_with(filter.format(), &bytes, &limit).is_err(), "{filter:?}");
        }
    }

    #[test]
    fn those_that_can_be_merged_have_the_keys_of_both() {
        let (ours, theirs) = (every_kind(), every_kind());
        for (mut ours, mut theirs) in ours.into_iter().zip(theirs) {
            ours.insert("apple").unwrap();
            theirs.insert("pear").unwrap();
            match ours.merge(&theirs) {
                Ok(()) => assert!(ours.contains("apple") && ours.contains("pear"), "{ours:?}"),
                Err(error) => {
                    assert!(matches!(error, MergeError::Unsupported(_)), "{ours:?} {error}");
                    assert!(matches!(ours.format(), Format::RedisDump | Format::Crawler { .. }), "{ours:?}");
                }
            }
            assert!(ours.len_bytes() >= 64 && ours.len_bytes() <= ours.to_bytes().unwrap().len() as u64 * 10);
        }
        let [mut leveldb, guava, ..] = <[_; 7]>::try_from(every_kind()).unwrap();
        assert_eq!(leveldb.merge(&guava), Err(MergeError::Different { what: "formats" }));
    }

    #[test]
    fn a_spark_filter_that_asks_for_no_bit_is_expected_to_find_everything() {
        for (hashes, words) in [(5, 0), (0, 1), (-1, 1), (i32::MIN, 0)] {
            let mut bytes = [1, hashes, words].map(i32::to_be_bytes).concat();
            bytes.resize(bytes.len() + 8 * words.cast_unsigned() as usize, 0);
            let filter = ForeignFilter::from_bytes(Format::Spark, &bytes).unwrap();
            assert!(filter.contains("apple"));
            assert_eq!(filter.expected_rate(), 1.0, "{hashes} hashes, {words} words");
        }
    }

    #[test]
    fn names_come_back_and_others_are_refused() {
        for filter in every_kind() {
            let format = filter.format();
            let needs_more = matches!(format, Format::Crawler { .. });
            assert_eq!(Format::from_name(format.name()), (!needs_more).then_some(format));
        }
        assert_eq!(Format::from_name("bloom"), None);
    }
}
