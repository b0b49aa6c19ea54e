//! Everybody who runs: two small traits, and their implementation for each peer.
//!
//! The loops are generic over the contestant and compiled once for each, so a filter's calls inline exactly
//! as far as they would in a user's own loop.

mod bloom;
mod counting;
mod cuckoo;
mod exact;
mod fold_hash;
mod naive;

use std::hint::black_box;

use crate::Failure;

pub(crate) use bloom::{
    BloomFilterCrate, FastBloomAtomic, FastBloomDefault, FastBloomFold, Growable, ParquetSbbf, SbbfRs, Xxh3,
    YARDSTICK,
};
pub(crate) use counting::{BloomCounting, Bloomcraft, FastBloomRs, Rustywallet};
pub(crate) use cuckoo::{
    CuckooFilterCrate, Fold, FoldTwice, PdatastructsCuckoo, ProbabilisticCuckoo, ScalableCuckooCrate, Sip,
};
pub(crate) use exact::{ExactMap, ExactSet};
pub(crate) use naive::NaiveCounting;

/// A filter (or set) under test, used by one thread.
pub(crate) trait Contestant<K>: Sized {
    const NAME: &'static str;

    /// An empty filter for `n` keys at rate `p`. Its memory has been written to where the constructor leaves
    /// a choice, so that page faults of the first touch are not counted as the cost of an insert.
    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure>;

    /// Returns whether the key was new, where the peer says so.
    fn insert(&mut self, key: &K) -> bool;

    fn contains(&self, key: &K) -> bool;

    /// Bits of memory really held.
    fn bits(&self) -> u64;

    /// Inserts every key and counts the answers "new".
    fn insert_all(&mut self, keys: &[K]) -> u64 {
        keys.iter().map(|key| u64::from(self.insert(key))).sum()
    }

    /// Asks every key and counts the answers "present".
    fn count_present(&self, keys: &[K]) -> u64 {
        keys.iter().map(|key| u64::from(self.contains(key))).sum()
    }
}

/// A contestant that takes keys out again, and may refuse to take them in.
pub(crate) trait Removing<K>: Contestant<K> {
    /// What becomes of the key too many, in a few words for a table.
    const WHEN_FULL: &'static str;

    /// Why a key that is in may be answered "no", for filters where that is no accident. Everybody else's
    /// first lost key ends the run; theirs are counted.
    const LOSES: Option<&'static str> = None;

    /// Slots for fingerprints, where there are such. Inserts are timed up to half of them, and from there on.
    fn slots(&self) -> Option<u64> {
        None
    }

    /// Inserts keys up to the first that is refused, and tells how many are in.
    fn insert_until_full(&mut self, keys: &[K]) -> usize {
        // Refuses none: the answers "new" are still asked for, as anywhere else.
        black_box(self.insert_all(keys));
        keys.len()
    }

    /// Takes a key out, once; false when it wasn't there. True where the peer doesn't say.
    fn remove(&mut self, key: &K) -> bool;

    /// Takes every key out, once, and counts the answers "removed".
    fn remove_all(&mut self, keys: &[K]) -> u64 {
        keys.iter().map(|key| u64::from(self.remove(key))).sum()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::keys;

    /// Keys held, rate, and memory that can't be less than what the rate needs.
    pub(crate) fn keeps_its_promise<C: Contestant<u64>>(allowed_rate: f64) {
        let present = keys::integers(keys::present(0, 20_000));
        let absent = keys::integers(keys::absent(200_000));
        let mut filter = C::new(present.len(), 0.01, 7).expect("a filter of 20,000 keys");
        filter.insert_all(&present);
        assert_eq!(filter.count_present(&present), 20_000, "{} lost a key", C::NAME);
        let rate = filter.count_present(&absent) as f64 / 200_000.0;
        assert!(rate <= allowed_rate, "{}: {rate}", C::NAME);
        assert!(filter.bits() > 20_000 * 7, "{}: {} bits", C::NAME, filter.bits());
    }

    /// The same, and keys taken out are out while the others stay.
    pub(crate) fn forgets<C: Removing<u64>>(allowed_rate: f64) {
        keeps_its_promise::<C>(allowed_rate);
        let present = keys::integers(keys::present(0, 20_000));
        let (gone, kept) = present.split_at(10_000);
        let mut filter = C::new(present.len(), 0.01, 7).expect("a filter of 20,000 keys");
        assert_eq!(filter.insert_until_full(&present), 20_000, "{} is full early", C::NAME);
        assert_eq!(filter.remove_all(gone), 10_000, "{} doesn't know its keys", C::NAME);
        if C::LOSES.is_none() {
            assert_eq!(filter.count_present(kept), 10_000, "{} lost a key", C::NAME);
        }
        let left = filter.count_present(gone) as f64 / 10_000.0;
        assert!(left <= 2.0 * allowed_rate, "{} remembers {left} of what was removed", C::NAME);
    }
}
