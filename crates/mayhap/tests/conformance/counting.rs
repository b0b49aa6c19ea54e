//! [`CountingBloom`], and what a merge means where copies count.

use mayhap::counting::{CounterShape, CounterWidth};
use mayhap::filter::{Fold, Insert, Merge};
use mayhap::sizing::counting;
use mayhap::{CountingBloom, CountingBuilder, MergeError, ReadOptions};

use crate::keys::{KeyBytes, Keys};
use crate::subject::{Estimated, Hashing, Keyed, Limited, Readable, Resizable, Subject, empty_file, holds};

/// Makes counting filters, in a shape of `sizing`'s choice or a given one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counting {
    width: CounterWidth,
    shape: Option<CounterShape>,
    hashing: Hashing,
    portable: bool,
}

impl Counting {
    pub(crate) const fn planned(width: CounterWidth) -> Self {
        Self { width, shape: None, hashing: Hashing::Xxh3, portable: false }
    }

    pub(crate) const fn shaped(self, shape: CounterShape) -> Self {
        Self { shape: Some(shape), ..self }
    }

    pub(crate) const fn hashing(self, hashing: Hashing) -> Self {
        Self { hashing, ..self }
    }

    pub(crate) const fn portable(self) -> Self {
        Self { portable: true, ..self }
    }

    fn builder(self) -> CountingBuilder {
        let mut builder = CountingBloom::builder().width(self.width);
        if let Some(shape) = self.shape {
            builder = builder.shape(shape);
        }
        if self.portable { builder.portable() } else { builder }
    }
}

impl Subject for Counting {
    type Filter = CountingBloom;

    fn maker(&self, keys: u64, rate: f64) -> impl Fn(u64) -> CountingBloom {
        let (builder, hashing) = (self.builder().keys(keys).rate(rate), self.hashing);
        move |seed| builder.clone().hasher(hashing.hasher(seed)).build().unwrap()
    }

    fn modelled_rate(&self, filter: &CountingBloom, keys: u64) -> f64 {
        counting::rate(filter.layout(), keys, filter.block_count())
    }
}

impl Limited for Counting {
    fn capacity(&self, bytes: u64, rate: f64) -> Option<u64> {
        holds(self.builder().bytes(bytes).rate(rate).plan().map(|plan| plan.keys()))
    }

    fn within(&self, bytes: u64, rate: f64) -> impl Fn(u64) -> CountingBloom {
        let (builder, hashing) = (self.builder().bytes(bytes).rate(rate), self.hashing);
        move |seed| builder.clone().hasher(hashing.hasher(seed)).build().unwrap()
    }
}

impl Estimated for Counting {
    fn standard_error(&self, filter: &CountingBloom, keys: u64) -> f64 {
        counting::standard_error(filter.layout(), keys, filter.block_count())
    }
}

impl Resizable for Counting {
    fn size(&self, filter: &CountingBloom) -> u64 {
        filter.block_count() / filter.layout().shape.lines()
    }

    fn of_size(&self, size: u64, seed: u64) -> CountingBloom {
        let sample = self.make(1_000, 0.01, seed);
        let blocks = size * sample.layout().shape.lines();
        let bytes = empty_file(&sample.to_bytes().unwrap(), blocks, blocks);
        let filter = CountingBloom::from_bytes_with(&bytes, &self.read_options(seed)).unwrap();
        assert_eq!(self.size(&filter), size);
        filter
    }

    fn fold_to_rate(&self, filter: &mut CountingBloom, rate: f64) -> Result<u64, MergeError> {
        filter.fold_to_rate(rate)
    }

    fn plan(&self, filter: &CountingBloom) -> (u64, f64) {
        (filter.planned_keys(), filter.planned_rate())
    }
}

impl Readable for Counting {
    fn read_options(&self, seed: u64) -> ReadOptions {
        self.hashing.read_options(seed)
    }
}

impl Keyed for CountingBloom {
    fn insert(&mut self, key: &KeyBytes) -> bool {
        self.insert(key)
    }
    fn insert_each(&mut self, keys: &[KeyBytes], new: &mut [bool]) {
        self.insert_each(keys, new);
    }
    fn contains(&self, key: &KeyBytes) -> bool {
        self.contains(key)
    }
    fn contains_each(&self, keys: &[KeyBytes], found: &mut [bool]) {
        self.contains_each(keys, found);
    }
}

/// Where copies count, merged is what inserting the keys of both would have given, common ones twice.
pub(crate) fn merge_is_the_sum<S: Subject<Filter: Insert + Merge + PartialEq>>(subject: &S) {
    for keys in [1, 1_000, 50_000] {
        let seed = 31;
        let context = format!("{subject:?}, {keys} keys, seed {seed}");
        let holding = |ranges: &[(u64, u64)]| inserted(subject.make(keys, 0.01, seed), seed, ranges);
        let (left, right) = ((0, keys), (keys / 2, keys + keys / 2));
        let (mut ours, theirs) = (holding(&[left]), holding(&[right]));
        ours.merge(&theirs).unwrap();
        assert!(ours == holding(&[left, right]), "{context}: the sum has other counters");
        assert!(theirs == holding(&[right]), "{context}: the other filter was changed");
        ours.merge(&theirs).unwrap();
        ours.merge(&holding(&[])).unwrap();
        assert!(ours == holding(&[right, left, right]), "{context}: merged again, and with nothing");
        let mut nothing = holding(&[]);
        nothing.merge(&ours).unwrap();
        assert!(nothing == ours, "{context}: nothing and something");
    }
}

/// The same where one filter is larger by a whole factor.
pub(crate) fn merge_folds_and_adds_up<S>(subject: &S)
where
    S: Resizable<Filter: Insert + Fold + Merge + PartialEq>,
{
    const SIZE: u64 = 2_520;
    let (seed, keys) = (36, 600);
    for factor in (1..=SIZE).filter(|factor| SIZE.is_multiple_of(*factor)) {
        let context = format!("{subject:?}, sizes {SIZE} and {SIZE} / {factor}, seed {seed}");
        let (left, right) = ((0, keys), (keys / 2, 2 * keys));
        let large = || inserted(subject.of_size(SIZE, seed), seed, &[left]);
        let small = || inserted(subject.of_size(SIZE / factor, seed), seed, &[right]);
        let sum = inserted(subject.of_size(SIZE / factor, seed), seed, &[left, right]);
        let (mut into_large, mut into_small) = (large(), small());
        into_large.merge(&small()).unwrap();
        into_small.merge(&large()).unwrap();
        assert!(into_large == sum, "{context}: merged into the large one, other counters");
        assert!(into_small == sum, "{context}: merged into the small one, other counters");
        for merged in [&into_large, &into_small] {
            let (keys, rate) = subject.plan(merged);
            assert!(
                subject.modelled_rate(merged, keys) <= rate || keys == 1,
                "{context}: {keys} keys at {rate}"
            );
        }
    }
}

fn inserted<F: Insert>(mut filter: F, seed: u64, ranges: &[(u64, u64)]) -> F {
    for (from, to) in ranges {
        let hashes = Keys::of(seed).hashes(&filter, *from..*to);
        filter.insert_hashes(&hashes, &mut vec![false; hashes.len()]).unwrap();
    }
    filter
}
