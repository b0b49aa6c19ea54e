//! Filters against `HashSet`: whatever is done to a filter, no key that must be in it is ever missed.
//!
//! Operations are drawn by proptest from a fixed seed, so that every run tries the same; set
//! `MAYHAP_MODEL_SEED` to try others. Each is done twice, to a filter that works in batches and to a twin
//! that works one by one, and the two must stay equal bit for bit.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a check that panics has failed")]

use std::collections::HashSet;
use std::fmt::Debug;

use mayhap::bloom::Shape;
use mayhap::filter::{Estimate, Filter, Fold, Insert, Merge, Persist};
use mayhap::hash::{KeyHasher, SecretKey};
use mayhap::sizing::ClassicPlan;
use mayhap::{BloomFilter, ClassicBloom, Digest, MergeError, ReadOptions};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Keys are few, so that they come again.
type KeyNumber = u16;

#[derive(Clone, Debug)]
enum Operation {
    Insert(KeyNumber),
    InsertBatch(Vec<KeyNumber>),
    Extend(Vec<KeyNumber>),
    Contains(KeyNumber),
    ContainsBatch(Vec<KeyNumber>),
    /// With a filter of these keys, which was folded by the given divisor if the flag says so.
    Merge(Vec<KeyNumber>, Option<usize>),
    Intersect(Vec<KeyNumber>),
    /// By the divisor with this number, modulo how many there are.
    Fold(usize),
    SaveAndLoad,
    ShareAndTakeBack,
    Clear,
}

fn operation() -> impl Strategy<Value = Operation> {
    let key = || 0u16..400;
    let keys = move || vec(key(), 0..60);
    prop_oneof![
        4 => key().prop_map(Operation::Insert),
        4 => keys().prop_map(Operation::InsertBatch),
        2 => keys().prop_map(Operation::Extend),
        4 => key().prop_map(Operation::Contains),
        4 => keys().prop_map(Operation::ContainsBatch),
        2 => (keys(), any::<Option<usize>>()).prop_map(|(keys, fold)| Operation::Merge(keys, fold)),
        1 => keys().prop_map(Operation::Intersect),
        1 => any::<usize>().prop_map(Operation::Fold),
        1 => Just(Operation::SaveAndLoad),
        1 => Just(Operation::ShareAndTakeBack),
        1 => Just(Operation::Clear),
    ]
}

/// What the model needs of a filter beyond the capability traits.
trait Modelled:
    Filter<Hash = Digest>
    + Insert
    + Merge
    + Fold
    + Estimate
    + Persist
    + PartialEq
    + Debug
    + Extend<Digest>
    + Clone
{
    /// What a factor must divide.
    fn size(&self) -> u64;
    fn intersect(&mut self, other: &Self) -> Result<(), MergeError>;
    fn read(bytes: &[u8], hasher: &KeyHasher) -> Self;
    /// Lends the filter to threads, inserts there, and takes it back.
    fn shared(self, digests: &[Digest], new: &mut [bool]) -> Self;
}

impl Modelled for BloomFilter {
    fn size(&self) -> u64 {
        self.block_count() / self.shape().lines()
    }
    fn intersect(&mut self, other: &Self) -> Result<(), MergeError> {
        BloomFilter::intersect(self, other)
    }
    fn read(bytes: &[u8], hasher: &KeyHasher) -> Self {
        BloomFilter::from_bytes_with(bytes, &ReadOptions::new().hasher(hasher.clone())).unwrap()
    }
    fn shared(self, digests: &[Digest], new: &mut [bool]) -> Self {
        let shared = self.into_shared();
        shared.insert_hashes(digests, new);
        shared.into_owned()
    }
}

impl Modelled for ClassicBloom {
    fn size(&self) -> u64 {
        self.bits()
    }
    fn intersect(&mut self, other: &Self) -> Result<(), MergeError> {
        ClassicBloom::intersect(self, other)
    }
    fn read(bytes: &[u8], hasher: &KeyHasher) -> Self {
        ClassicBloom::from_bytes_with(bytes, &ReadOptions::new().hasher(hasher.clone())).unwrap()
    }
    fn shared(self, digests: &[Digest], new: &mut [bool]) -> Self {
        let shared = self.into_shared();
        shared.insert_hashes(digests, new);
        shared.into_owned()
    }
}

/// A filter, its twin, and the keys that must be in them.
struct Model<F> {
    filter: F,
    twin: F,
    keys: HashSet<KeyNumber>,
    hasher: KeyHasher,
}

impl<F: Modelled> Model<F> {
    fn new(filter: F, hasher: KeyHasher) -> Self {
        Self { twin: filter.clone(), filter, keys: HashSet::new(), hasher }
    }

    fn digest(&self, key: KeyNumber) -> Digest {
        self.filter.hash_bytes(format!("key {key}").as_bytes())
    }

    fn digests(&self, keys: &[KeyNumber]) -> Vec<Digest> {
        keys.iter().map(|key| self.digest(*key)).collect()
    }

    fn run(&mut self, operation: &Operation) {
        match operation {
            Operation::Insert(key) => {
                let new = self.filter.insert_hash(self.digest(*key)).unwrap();
                self.insert_into_twin(&[*key], Some(&[new]));
            }
            Operation::InsertBatch(keys) => {
                let mut new = vec![false; keys.len()];
                let digests = self.digests(keys);
                self.filter.insert_hashes(&digests, &mut new).unwrap();
                self.insert_into_twin(keys, Some(&new));
            }
            Operation::Extend(keys) => {
                let digests = self.digests(keys);
                self.filter.extend(digests);
                self.insert_into_twin(keys, None);
            }
            Operation::Contains(key) => {
                self.check_answers(&[*key], &[self.filter.contains_hash(self.digest(*key))]);
            }
            Operation::ContainsBatch(keys) => {
                let mut found = vec![false; keys.len()];
                self.filter.contains_hashes(&self.digests(keys), &mut found);
                self.check_answers(keys, &found);
            }
            Operation::Merge(keys, fold) => {
                let mut other = self.filter.empty_like().unwrap();
                let digests = self.digests(keys);
                other.insert_hashes(&digests, &mut vec![false; keys.len()]).unwrap();
                if let Some(number) = fold {
                    let factor = divisor(&other, *number);
                    other.fold(factor).unwrap();
                    // The larger one is folded by merge; the twin is folded by hand.
                    self.twin.fold(factor).unwrap();
                }
                self.filter.merge(&other).unwrap();
                self.insert_into_twin(keys, None);
            }
            Operation::Intersect(keys) => {
                let mut other = self.filter.empty_like().unwrap();
                let digests = self.digests(keys);
                other.insert_hashes(&digests, &mut vec![false; keys.len()]).unwrap();
                let before = self.filter.clone();
                self.filter.intersect(&other).unwrap();
                self.twin.intersect(&other).unwrap();
                for digest in self.digests(&(0..400).collect::<Vec<_>>()) {
                    let in_both = before.contains_hash(digest) && other.contains_hash(digest);
                    assert!(
                        in_both || !self.filter.contains_hash(digest),
                        "{digest:?} is found, and not in both"
                    );
                }
                let kept: HashSet<KeyNumber> = keys.iter().copied().collect();
                self.keys.retain(|key| kept.contains(key));
            }
            Operation::Fold(number) => {
                let factor = divisor(&self.filter, *number);
                self.filter.fold(factor).unwrap();
                self.twin.fold(factor).unwrap();
            }
            Operation::SaveAndLoad => {
                let bytes = self.filter.to_bytes().unwrap();
                self.filter = F::read(&bytes, &self.hasher);
                assert_eq!(self.filter.to_bytes().unwrap(), bytes, "written again, other bytes");
            }
            Operation::ShareAndTakeBack => {
                let keys = [3, 1, 4, 1, 5, 9, 2, 6];
                let mut new = [false; 8];
                let digests = self.digests(&keys);
                self.filter = self.filter.clone().shared(&digests, &mut new);
                self.insert_into_twin(&keys, Some(&new));
            }
            Operation::Clear => {
                self.filter.clear();
                self.twin.clear();
                self.keys.clear();
                assert_eq!((self.filter.estimated_len(), self.filter.fill_ratio()), (0, 0.0));
            }
        }
        assert!(self.filter == self.twin, "other bits than by adding one by one");
    }

    /// Adds the keys to the twin one by one, with what the filter said of each.
    fn insert_into_twin(&mut self, keys: &[KeyNumber], new: Option<&[bool]>) {
        for (i, key) in keys.iter().enumerate() {
            let digest = self.digest(*key);
            let known = self.twin.contains_hash(digest);
            let is_new = self.twin.insert_hash(digest).unwrap();
            assert_eq!(is_new, !known, "key {key}: new, if and only if it was not in the filter");
            assert!(!(is_new && self.keys.contains(key)), "key {key} is in the set, and was called new");
            if let Some(new) = new {
                assert_eq!(new[i], is_new, "key {key}: another answer than one by one");
            }
            self.keys.insert(*key);
        }
    }

    fn check_answers(&self, keys: &[KeyNumber], found: &[bool]) {
        for (key, found) in keys.iter().zip(found) {
            assert!(*found || !self.keys.contains(key), "key {key} is in the set and was not found");
            assert_eq!(
                *found,
                self.twin.contains_hash(self.digest(*key)),
                "key {key}: another answer than one by one"
            );
        }
    }

    fn check_all(&self) {
        let keys: Vec<KeyNumber> = self.keys.iter().copied().collect();
        let mut found = vec![false; keys.len()];
        self.filter.contains_hashes(&self.digests(&keys), &mut found);
        assert!(found.iter().all(|found| *found), "a key of the set is not found");
    }
}

fn divisor<F: Modelled>(filter: &F, number: usize) -> u64 {
    let divisors: Vec<u64> =
        (1..=filter.size()).filter(|factor| filter.size().is_multiple_of(*factor)).collect();
    divisors[number % divisors.len()]
}

/// Small filters, from a few keys at a high rate to more keys than are drawn at a low one.
fn keys_and_rate() -> impl Strategy<Value = (u64, f64)> {
    (1u64..300, prop_oneof![Just(0.5), Just(0.1), Just(0.01), Just(1e-4)])
}

fn run<F: Modelled>(name: &str, make: impl Fn(u64, f64, KeyHasher) -> F) {
    let seed = std::env::var("MAYHAP_MODEL_SEED").map_or(1, |seed| seed.parse::<u64>().unwrap());
    println!("{name}: seed {seed}");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases: 400, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let hashers = prop_oneof![
        any::<u64>().prop_map(KeyHasher::xxh3),
        any::<[u8; 16]>().prop_map(|key| KeyHasher::sip13(SecretKey::new(key))),
    ];
    let result = runner.run(
        &(keys_and_rate(), hashers, vec(operation(), 1..40)),
        |((keys, rate), hasher, operations)| {
            let mut model = Model::new(make(keys, rate, hasher.clone()), hasher);
            for operation in &operations {
                model.run(operation);
            }
            model.check_all();
            Ok(())
        },
    );
    if let Err(failure) = result {
        panic!("{name}, seed {seed}: {failure}");
    }
}

fn blocked(name: &str, shape: Shape, portable: bool) {
    run(name, |keys, rate, hasher| {
        let builder = BloomFilter::builder().keys(keys).rate(rate).shape(shape).hasher(hasher);
        if portable { builder.portable() } else { builder }.build().unwrap()
    });
}

#[test]
fn four() {
    blocked("four", Shape::Four, false);
}

#[test]
fn eight() {
    blocked("eight", Shape::Eight, false);
}

#[test]
fn sixteen() {
    blocked("sixteen", Shape::Sixteen, false);
}

#[test]
fn sixteen_two_lines() {
    blocked("sixteen, two lines", Shape::SixteenTwoLines, false);
}

#[test]
fn portable() {
    for shape in Shape::ALL {
        blocked("portable", shape, true);
    }
}

#[test]
fn classic() {
    run("classic", |keys, rate, hasher| {
        ClassicBloom::with_plan(ClassicPlan::for_rate(keys, rate).unwrap(), hasher).unwrap()
    });
}

/// The model itself must notice a filter that loses a key.
#[test]
#[should_panic(expected = "is not found")]
fn a_lost_key_is_noticed() {
    let mut model = Model::new(BloomFilter::with_rate(100, 0.01).unwrap(), KeyHasher::default());
    model.run(&Operation::InsertBatch((0..50).collect()));
    model.filter.clear();
    model.check_all();
}
