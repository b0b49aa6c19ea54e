//! Any operations in any order, on both forms, against `BTreeSet`.

use std::collections::BTreeSet;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::super::Bitmap;
use super::{EDGES, both};

#[derive(Clone, Debug)]
enum Operation {
    Insert(u64),
    InsertEach(Vec<u64>),
    InsertRange(u64, u64),
    Remove(u64),
    RemoveRange(u64, u64),
    Extend(Vec<u64>),
    /// With these numbers, in the dense form if the flag says so, with a smaller universe where that is possible.
    Merge(Vec<u64>, bool),
    Intersect(Vec<(u64, u64)>, bool),
    Subtract(Vec<(u64, u64)>, bool),
    Range(u64, u64),
    Missing(u64, u64),
    Optimize,
    ToDense,
    ToSparse,
    SaveAndLoad,
    Clear,
}

fn operation(number: impl Strategy<Value = u64> + Clone + 'static) -> impl Strategy<Value = Operation> {
    let numbers = || vec(number.clone(), 0..50);
    // Ranges are short, or there would be nothing but ranges; and some are long, for full containers.
    let range = || {
        (number.clone(), prop_oneof![4 => 0u64..200, 1 => 0u64..150_000])
            .prop_map(|(n, l)| (n, n.saturating_add(l)))
    };
    let ranges = || vec(range(), 0..20);
    prop_oneof![
        6 => number.clone().prop_map(Operation::Insert),
        2 => numbers().prop_map(Operation::InsertEach),
        3 => range().prop_map(|(first, last)| Operation::InsertRange(first, last)),
        4 => number.clone().prop_map(Operation::Remove),
        2 => range().prop_map(|(first, last)| Operation::RemoveRange(first, last)),
        2 => numbers().prop_map(Operation::Extend),
        2 => (numbers(), any::<bool>()).prop_map(|(numbers, dense)| Operation::Merge(numbers, dense)),
        1 => (ranges(), any::<bool>()).prop_map(|(ranges, dense)| Operation::Intersect(ranges, dense)),
        2 => (ranges(), any::<bool>()).prop_map(|(ranges, dense)| Operation::Subtract(ranges, dense)),
        3 => range().prop_map(|(first, last)| Operation::Range(first, last)),
        3 => range().prop_map(|(first, last)| Operation::Missing(first, last)),
        1 => Just(Operation::Optimize),
        1 => Just(Operation::ToDense),
        1 => Just(Operation::ToSparse),
        1 => Just(Operation::SaveAndLoad),
        1 => Just(Operation::Clear),
    ]
}

struct Model {
    bitmap: Bitmap,
    numbers: BTreeSet<u64>,
    /// `None` for every `u64`.
    universe: Option<u64>,
}

impl Model {
    fn is_inside(&self, number: u64) -> bool {
        self.universe.is_none_or(|universe| number < universe)
    }

    fn clip(&self, last: u64) -> u64 {
        self.universe.map_or(last, |universe| last.min(universe - 1))
    }

    /// A bitmap of these numbers, dense if wanted and possible.
    fn other(&self, numbers: impl Iterator<Item = u64>, dense: bool) -> Bitmap {
        let sparse: Bitmap = numbers.collect();
        match sparse.iter().last() {
            // Its own universe: smaller or larger than ours.
            Some(last) if dense && last < 1 << 24 => sparse.to_dense(last + 1).unwrap(),
            _ => sparse,
        }
    }

    fn run(&mut self, operation: &Operation) {
        match operation {
            Operation::Insert(number) => {
                let expected = self.is_inside(*number).then(|| self.numbers.insert(*number));
                assert_eq!(self.bitmap.insert(*number).ok(), expected);
            }
            Operation::InsertEach(numbers) => {
                let mut new = std::vec![false; numbers.len()];
                let inside = numbers.iter().all(|number| self.is_inside(*number));
                assert_eq!(self.bitmap.insert_each(numbers, &mut new).is_ok(), inside);
                if inside {
                    let expected: Vec<bool> =
                        numbers.iter().map(|number| self.numbers.insert(*number)).collect();
                    assert_eq!(new, expected);
                }
                let mut found = std::vec![false; numbers.len()];
                self.bitmap.contains_each(numbers, &mut found);
                let expected: Vec<bool> =
                    numbers.iter().map(|number| self.numbers.contains(number)).collect();
                assert_eq!(found, expected);
            }
            Operation::InsertRange(first, last) => {
                let before = self.numbers.len();
                let inside = self.is_inside(*last);
                if inside {
                    self.numbers.extend(*first..=*last);
                }
                let new = (self.numbers.len() - before) as u64;
                assert_eq!(self.bitmap.insert_range(*first..=*last).ok(), inside.then_some(new));
            }
            Operation::Remove(number) => {
                assert_eq!(self.bitmap.remove(*number), self.numbers.remove(number));
            }
            Operation::RemoveRange(first, last) => {
                let before = self.numbers.len();
                self.numbers.retain(|number| !(first..=last).contains(&number));
                assert_eq!(self.bitmap.remove_range(*first..=*last), (before - self.numbers.len()) as u64);
            }
            Operation::Extend(numbers) => {
                if numbers.iter().any(|number| !self.is_inside(*number)) {
                    self.universe = None;
                }
                self.bitmap.extend(numbers.iter().copied());
                self.numbers.extend(numbers);
            }
            Operation::Merge(numbers, dense) => {
                let inside = numbers.iter().all(|number| self.is_inside(*number));
                let other = self.other(numbers.iter().copied(), *dense);
                assert_eq!(self.bitmap.merge(&other).is_ok(), inside);
                if inside {
                    self.numbers.extend(numbers);
                }
            }
            Operation::Intersect(ranges, dense) => {
                let other = self.other(ranges.iter().flat_map(|(first, last)| *first..=*last), *dense);
                self.bitmap.intersect(&other);
                self.numbers.retain(|number| other.contains(*number));
            }
            Operation::Subtract(ranges, dense) => {
                let other = self.other(ranges.iter().flat_map(|(first, last)| *first..=*last), *dense);
                self.bitmap.subtract(&other);
                self.numbers.retain(|number| !other.contains(*number));
            }
            Operation::Range(first, last) => {
                let expected: Vec<u64> = self.numbers.range(first..=last).copied().collect();
                assert_eq!(self.bitmap.range(*first..=*last).collect::<Vec<_>>(), expected);
                assert_eq!(self.bitmap.range_len(*first..=*last), expected.len() as u64);
                assert_eq!(self.bitmap.rank(*last), self.numbers.range(..=last).count() as u64);
            }
            Operation::Missing(first, last) => {
                let free = |last: u64| {
                    (*first..=last).filter(|number| !self.numbers.contains(number)).collect::<Vec<_>>()
                };
                assert_eq!(self.bitmap.missing(*first..=*last).collect::<Vec<_>>(), free(*last));
                if self.clip(u64::MAX) < *last {
                    assert_eq!(self.bitmap.missing(*first..).collect::<Vec<_>>(), free(self.clip(*last)));
                }
            }
            Operation::Optimize => self.bitmap.optimize().unwrap(),
            Operation::ToDense => {
                if let Some(universe) = self.universe.filter(|universe| *universe < 1 << 24) {
                    self.bitmap = self.bitmap.to_dense(universe).unwrap();
                }
            }
            Operation::ToSparse => {
                self.bitmap = self.bitmap.to_sparse();
                self.universe = None;
            }
            Operation::SaveAndLoad => {
                let bytes = self.bitmap.to_bytes().unwrap();
                let loaded = Bitmap::from_bytes(&bytes).unwrap();
                assert_eq!(loaded.to_bytes().unwrap(), bytes, "written again, other bytes");
                assert_eq!(loaded.is_dense(), self.bitmap.is_dense());
                assert!(loaded == self.bitmap);
                self.bitmap = loaded;
            }
            Operation::Clear => {
                self.bitmap.clear();
                self.numbers.clear();
            }
        }
        assert_eq!(self.bitmap.len(), self.numbers.len() as u64);
        assert_eq!(self.bitmap.universe(), self.universe);
    }

    fn check_all(&self) {
        assert!(self.bitmap.iter().eq(self.numbers.iter().copied()));
        let same: Bitmap = self.numbers.iter().copied().collect();
        assert!(self.bitmap == same);
        assert!(same == self.bitmap, "whichever is asked");
        assert!(self.bitmap.clone() == same);
        if let Some(first) = self.numbers.first() {
            let mut other = same;
            other.remove(*first);
            assert!(self.bitmap != other);
            other.insert(self.clip(u64::MAX) ^ 0x1234).unwrap();
            assert_eq!(self.bitmap == other, self.bitmap.iter().eq(other.iter()));
        }
    }
}

fn run(name: &str, number: impl Strategy<Value = u64> + Clone + 'static, make: impl Fn() -> Bitmap) {
    let seed = std::env::var("MAYHAP_MODEL_SEED").map_or(1, |seed| seed.parse::<u64>().unwrap());
    std::println!("{name}: seed {seed}");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases: 100, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let result = runner.run(&vec(operation(number), 1..30), |operations| {
        let bitmap = make();
        let mut model = Model { universe: bitmap.universe(), bitmap, numbers: BTreeSet::new() };
        for operation in &operations {
            model.run(operation);
        }
        model.check_all();
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{name}, seed {seed}: {failure}");
    }
}

/// Close together, so that they come again, and some outside.
fn near(universe: u64) -> impl Strategy<Value = u64> + Clone {
    prop_oneof![20 => 0..universe, 4 => 0..200u64, 1 => universe..universe + 5]
}

#[test]
fn dense() {
    for universe in [1, 64, 1000, 65_536, 200_001] {
        run("dense", near(universe), || both(universe, &[])[0].clone());
    }
}

#[test]
fn sparse_with_a_universe() {
    for universe in [1000, 65_536, 200_001] {
        run("sparse, with a universe", near(universe), || both(universe, &[])[1].clone());
    }
}

#[test]
fn sparse() {
    let edge =
        (0..EDGES.len(), 0u64..7).prop_map(|(i, more)| EDGES[i].saturating_add(more).saturating_sub(3));
    let number = prop_oneof![6 => edge, 3 => 0..300_000u64, 1 => any::<u64>()];
    run("sparse", number, Bitmap::sparse);
}

/// The model itself must notice a bitmap that loses a number.
#[test]
#[should_panic(expected = "assertion")]
fn a_lost_number_is_noticed() {
    let mut model = Model { bitmap: Bitmap::sparse(), numbers: BTreeSet::new(), universe: None };
    model.run(&Operation::InsertRange(10, 20));
    model.bitmap.remove(12);
    model.bitmap.insert(9).unwrap();
    model.check_all();
}
