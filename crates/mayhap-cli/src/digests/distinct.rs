//! How many different digests there are.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use mayhap::Digest;

use super::hyperloglog::HyperLogLog;
use crate::numbers::{counted, whole};

/// Up to so many they are counted exactly. The set of them is then still smaller than a second-level cache.
const EXACT: usize = 1 << 16;

/// Counts different digests.
#[derive(Debug)]
pub(crate) struct Distinct {
    /// All of them, while there are few.
    exact: Option<HashSet<u64, BuildHasherDefault<AsItIs>>>,
    about: HyperLogLog,
}

/// A number of different keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Count {
    Exactly(u64),
    /// With this standard error, as a share of it.
    About(u64, f64),
}

impl Distinct {
    pub(crate) fn new() -> Self {
        Self { exact: Some(HashSet::default()), about: HyperLogLog::new() }
    }

    pub(crate) fn add(&mut self, digests: &[Digest]) {
        for digest in digests {
            self.about.add(digest.get());
        }
        if let Some(exact) = &mut self.exact {
            exact.extend(digests.iter().map(|digest| digest.get()));
            if exact.len() > EXACT {
                self.exact = None;
            }
        }
    }

    /// Counts what the other has counted too.
    pub(crate) fn merge(&mut self, other: Self) {
        self.about.merge(&other.about);
        self.exact = match (self.exact.take(), other.exact) {
            (Some(mut ours), Some(theirs)) => {
                ours.extend(theirs);
                (ours.len() <= EXACT).then_some(ours)
            }
            _ => None,
        };
    }

    pub(crate) fn count(&self) -> Count {
        match &self.exact {
            Some(exact) => Count::Exactly(exact.len() as u64),
            None => Count::About(whole(self.about.estimate()), HyperLogLog::STANDARD_ERROR),
        }
    }
}

impl Count {
    /// What the bits of a large filter say: closer than a tenth of a percent, from a million keys on.
    pub(crate) fn of_bits(count: u64) -> Self {
        Self::About(count, 0.001)
    }

    /// It can't be more than this, whatever the estimate says.
    pub(crate) fn limited_to(self, most: u64) -> Self {
        match self {
            Self::Exactly(count) => Self::Exactly(count),
            Self::About(count, error) => Self::About(count.min(most), error),
        }
    }

    /// The number itself.
    pub(crate) fn get(self) -> u64 {
        match self {
            Self::Exactly(count) | Self::About(count, _) => count,
        }
    }

    /// A number that there are hardly ever more of: three standard errors above.
    pub(crate) fn at_most(self) -> u64 {
        match self {
            Self::Exactly(count) => count,
            Self::About(count, error) => whole((count as f64 * (1.0 + 3.0 * error)).ceil()),
        }
    }

    pub(crate) fn is_exact(self) -> bool {
        matches!(self, Self::Exactly(_))
    }

    /// For people: `1 key`, or `about 1 234 567 keys`.
    pub(crate) fn text_of(self, name: &str) -> String {
        match self {
            Self::Exactly(count) => counted(count, name),
            Self::About(count, _) => format!("about {}", counted(count, name)),
        }
    }
}

/// Digests are hashes already.
#[derive(Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, digest: u64) {
        self.0 = digest;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mayhap::hash::KeyHasher;

    fn counted(keys: std::ops::Range<u64>) -> Distinct {
        let hasher = KeyHasher::default();
        let mut distinct = Distinct::new();
        let digests: Vec<Digest> = keys.map(|key| hasher.digest(&key)).collect();
        for part in digests.chunks(1000) {
            distinct.add(part);
            distinct.add(part);
        }
        distinct
    }

    #[test]
    fn few_are_counted_exactly_and_many_about() {
        assert_eq!(counted(0..0).count(), Count::Exactly(0));
        assert_eq!(counted(0..65_536).count(), Count::Exactly(65_536));
        let Count::About(count, error) = counted(0..65_537).count() else { panic!("too many to be exact") };
        assert!((count as f64 / 65_537.0 - 1.0).abs() < 4.0 * error, "{count}");
    }

    #[test]
    fn parts_make_a_whole() {
        let mut distinct = counted(0..40_000);
        distinct.merge(counted(20_000..60_000));
        assert_eq!(distinct.count(), Count::Exactly(60_000));
        distinct.merge(counted(50_000..90_000));
        assert_eq!(distinct.count(), counted(0..90_000).count());
        assert!(distinct.count().at_most() >= 90_000);
        assert!(
            distinct.count().text_of("key").starts_with("about 9")
                || distinct.count().text_of("key").starts_with("about 8")
        );
    }
}
