//! Bytes as a program: a sequence of operations on a filter and on a set that never errs.

use std::collections::HashSet;
use std::fmt::Debug;

use mayhap::filter::{Estimate, Filter, Fold, Insert, Merge, Persist};

use crate::random::Random;

/// A filter beside the keys it was given.
#[derive(Debug)]
struct Pair<F> {
    filter: F,
    keys: HashSet<u16>,
}

/// Runs the program in `data` on `filter` and a second one like it, and checks after every step what that step promises,
/// and at the end that no key was lost.
pub(super) fn run<F>(filter: F, data: &[u8])
where
    F: Insert + Merge + Fold + Estimate + Persist + PartialEq + Debug,
{
    let Ok(other) = filter.empty_like() else { return };
    let mut one = Pair { filter, keys: HashSet::new() };
    let mut two = Pair { filter: other, keys: HashSet::new() };
    let mut data = data.iter().copied();
    while let Some(operation) = data.next() {
        let argument = u16::from(data.next().unwrap_or(0));
        match operation % 16 {
            0..=4 => one.insert(argument),
            5 | 6 => two.insert(argument),
            7 | 8 => one.insert_many(argument, operation),
            9 => one.ask_many(argument, operation),
            10 => one.merge(&two),
            11 => one.fold(u64::from(argument % 8)),
            12 => one.write_and_read(),
            13 if argument.is_multiple_of(8) => one.clear(),
            14 => std::mem::swap(&mut one, &mut two),
            _ => one.ask(argument),
        }
    }
    one.check();
    two.check();
}

impl<F> Pair<F>
where
    F: Insert + Merge + Fold + Estimate + Persist + PartialEq + Debug,
{
    fn hash(&self, key: u16) -> F::Hash {
        self.filter.hash_bytes(&key.to_le_bytes())
    }

    fn insert(&mut self, key: u16) {
        let hash = self.hash(key);
        let was_found = self.filter.contains_hash(hash);
        let is_new = self.filter.insert_hash(hash).expect("a Bloom filter is never full");
        assert_eq!(is_new, !was_found, "`insert` and `contains` disagree about {key}");
        assert!(!(is_new && self.keys.contains(&key)), "{key} is new a second time");
        assert!(self.filter.contains_hash(hash), "{key} is not found after its insertion");
        self.keys.insert(key);
    }

    fn insert_many(&mut self, from: u16, count: u8) {
        let keys: Vec<u16> = keys(from, count).collect();
        let hashes: Vec<F::Hash> = keys.iter().map(|key| self.hash(*key)).collect();
        assert_eq!(insert_each_way(&mut self.filter, &hashes), hashes.len(), "a Bloom filter is never full");
        self.keys.extend(keys);
    }

    fn ask(&self, key: u16) {
        let found = self.filter.contains_hash(self.hash(key));
        assert!(found || !self.keys.contains(&key), "{key} is lost");
    }

    fn ask_many(&self, from: u16, count: u8) {
        let hashes: Vec<F::Hash> = keys(from, count).map(|key| self.hash(key)).collect();
        ask_each_way(&self.filter, &hashes);
    }

    fn merge(&mut self, other: &Self) {
        let before = self.bits();
        match self.filter.merge(&other.filter) {
            Ok(()) => self.keys.extend(&other.keys),
            Err(_) => assert_eq!(before, self.bits(), "a failed merge changed the filter"),
        }
    }

    fn fold(&mut self, factor: u64) {
        let before = self.filter.len_bytes();
        let bits = self.bits();
        match self.filter.fold(factor) {
            Ok(()) => assert!(factor > 0 && self.filter.len_bytes() <= before),
            Err(_) => assert_eq!(bits, self.bits(), "a failed fold changed the filter"),
        }
    }

    fn write_and_read(&mut self) {
        let bytes = self.filter.to_bytes().expect("a small filter");
        let again = F::from_bytes(&bytes).expect("what was written can be read");
        assert_eq!(again, self.filter);
        assert_eq!(again.to_bytes().expect("a small filter"), bytes);
        self.filter = again;
    }

    fn clear(&mut self) {
        self.filter.clear();
        self.keys.clear();
        assert_eq!(self.filter.estimated_len(), 0);
    }

    fn check(&self) {
        for key in &self.keys {
            assert!(self.filter.contains_hash(self.hash(*key)), "{key} is lost");
        }
        assert!((0.0..=1.0).contains(&self.filter.fill_ratio()));
        assert!((0.0..=1.0).contains(&self.filter.expected_rate()));
        assert_eq!(self.filter.fill_ratio() > 0.0, !self.keys.is_empty());
        let _ = self.filter.is_over_plan();
    }

    fn bits(&self) -> Vec<u8> {
        bits(&self.filter)
    }
}

/// Adds a batch, and the same keys one by one to a copy: answers and bytes are the same, up to the first that is refused.
/// Returns how many come before it.
pub(super) fn insert_each_way<F: Insert + Persist>(filter: &mut F, hashes: &[F::Hash]) -> usize {
    let mut copy = copy(filter);
    let mut one_by_one = vec![false; hashes.len()];
    let mut added = 0;
    for (hash, new) in hashes.iter().zip(&mut one_by_one) {
        let Ok(answer) = copy.insert_hash(*hash) else { break };
        *new = answer;
        added += 1;
    }
    let mut new = vec![true; hashes.len()];
    assert_eq!(filter.insert_hashes(hashes, &mut new).is_ok(), added == hashes.len());
    assert_eq!(new, one_by_one);
    assert!(bits(filter) == bits(&copy), "a batch of adds and one by one differ");
    added
}

/// Asks for a batch, and for the same keys one by one.
pub(super) fn ask_each_way<F: Filter>(filter: &F, hashes: &[F::Hash]) {
    let mut found = vec![false; hashes.len()];
    filter.contains_hashes(hashes, &mut found);
    for (hash, found) in hashes.iter().zip(found) {
        assert_eq!(found, filter.contains_hash(*hash));
    }
}

/// The whole state of a filter, by which two can be compared without trusting their `==`.
pub(super) fn bits<F: Persist>(filter: &F) -> Vec<u8> {
    filter.to_bytes().expect("a small filter")
}

/// The same filter, written and read.
pub(super) fn copy<F: Persist>(filter: &F) -> F {
    F::from_bytes(&bits(filter)).expect("what was written can be read")
}

/// The keys of a batch.
pub(super) fn keys(from: u16, count: u8) -> impl Iterator<Item = u16> {
    // Steps of 7 wrap around, so that some keys come twice.
    (0..u16::from(count)).map(move |i| (from + i * 7) % 256)
}

/// Programs to start from: `choices` stands in front of each, for the target to choose its filter by.
pub(super) fn seeds(choices: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut random = Random::new(0x5eed);
    let mut seeds = Vec::new();
    for choice in choices {
        for length in [0, 10, 100, 400] {
            let program = (0..length).map(|_| random.byte());
            seeds.push(choice.iter().copied().chain(program).collect());
        }
    }
    seeds
}
