//! The filters that go through the suite.

use std::fmt;

use mayhap::bits::Shared;
use mayhap::bloom::{Native, Shape};
use mayhap::codec::{File, Header, Writer};
use mayhap::filter::{Estimate, Filter, Fold};
use mayhap::hash::{HashFunction, HashId, KeyHasher, SecretKey};
use mayhap::sizing::{self, ClassicPlan, SizingError};
use mayhap::{BloomBuilder, BloomFilter, ClassicBloom, MergeError, ReadOptions};

use crate::keys::{KeyBytes, scattered};

/// A way to make filters, and what is to be expected of them.
pub(crate) trait Subject: fmt::Debug {
    type Filter: Filter;

    /// Makes filters for `keys` keys at `rate`. Every seed is another hash function, where the function has a
    /// seed.
    fn maker(&self, keys: u64, rate: f64) -> impl Fn(u64) -> Self::Filter;

    /// One filter for `keys` keys at `rate`.
    fn make(&self, keys: u64, rate: f64, seed: u64) -> Self::Filter {
        self.maker(keys, rate)(seed)
    }

    /// The rate that the model of `sizing` expects of such a filter holding `keys` keys.
    fn modelled_rate(&self, filter: &Self::Filter, keys: u64) -> f64;
}

/// Filters that can be made to fit into some memory.
pub(crate) trait Limited: Subject {
    /// How many keys the filters of [`within`](Self::within) promise to hold; nothing if not a single one.
    fn capacity(&self, bytes: u64, rate: f64) -> Option<u64>;
    /// Makes the largest filters of `bytes` bytes at `rate`.
    fn within(&self, bytes: u64, rate: f64) -> impl Fn(u64) -> Self::Filter;
}

/// Filters that tell how far their estimates can be trusted.
pub(crate) trait Estimated: Subject<Filter: Estimate> {
    /// The standard error of the estimated number of keys, when there are `keys`.
    fn standard_error(&self, filter: &Self::Filter, keys: u64) -> f64;
}

/// Filters that fold.
pub(crate) trait Resizable: Subject<Filter: Fold> {
    /// What a factor must divide.
    fn size(&self, filter: &Self::Filter) -> u64;
    /// An empty filter of exactly this size. All of one seed differ in nothing but size.
    fn of_size(&self, size: u64, seed: u64) -> Self::Filter;
    fn fold_to_rate(&self, filter: &mut Self::Filter, rate: f64) -> Result<u64, MergeError>;
    /// The plan: keys, and rate.
    fn plan(&self, filter: &Self::Filter) -> (u64, f64);
}

/// Where a reader of files must bring something.
pub(crate) trait Readable: Subject {
    fn read_options(&self, seed: u64) -> ReadOptions;
}

/// The methods that take keys, which the capability traits leave out.
pub(crate) trait Keyed: Filter {
    fn insert(&mut self, key: &KeyBytes) -> bool;
    fn insert_each(&mut self, keys: &[KeyBytes], new: &mut [bool]);
    fn contains(&self, key: &KeyBytes) -> bool;
    fn contains_each(&self, keys: &[KeyBytes], found: &mut [bool]);
}

/// Filters that can keep what is in both.
pub(crate) trait Intersect: Sized {
    fn intersect(&mut self, other: &Self) -> Result<(), MergeError>;
}

macro_rules! keyed {
    ($($filter:ty),*) => {$(
        impl Keyed for $filter {
            fn insert(&mut self, key: &KeyBytes) -> bool {
                <$filter>::insert(self, key)
            }
            fn insert_each(&mut self, keys: &[KeyBytes], new: &mut [bool]) {
                <$filter>::insert_each(self, keys, new);
            }
            fn contains(&self, key: &KeyBytes) -> bool {
                <$filter>::contains(self, key)
            }
            fn contains_each(&self, keys: &[KeyBytes], found: &mut [bool]) {
                <$filter>::contains_each(self, keys, found);
            }
        }
    )*};
}

keyed!(BloomFilter, BloomFilter<Shared>, ClassicBloom, ClassicBloom<Native, Shared>);
keyed!(mayhap::WindowBloom, crate::dual::NothingRemoved);

macro_rules! intersect {
    ($($filter:ty),*) => {$(
        impl Intersect for $filter {
            fn intersect(&mut self, other: &Self) -> Result<(), MergeError> {
                <$filter>::intersect(self, other)
            }
        }
    )*};
}

intersect!(BloomFilter, ClassicBloom);

/// The hash functions that filters are tried with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Hashing {
    Xxh3,
    Sip13,
    Custom,
}

impl Hashing {
    pub(crate) fn hasher(self, seed: u64) -> KeyHasher {
        match self {
            Self::Xxh3 => KeyHasher::xxh3(scattered(seed)),
            Self::Sip13 => KeyHasher::sip13(secret_key(seed)),
            Self::Custom => KeyHasher::custom(Fnv1a),
        }
    }

    pub(crate) fn read_options(self, seed: u64) -> ReadOptions {
        match self {
            Self::Xxh3 => ReadOptions::new(),
            Self::Sip13 | Self::Custom => ReadOptions::new().hasher(self.hasher(seed)),
        }
    }
}

pub(crate) fn secret_key(seed: u64) -> SecretKey {
    let mut bytes = *b"........ secret!";
    bytes[..8].copy_from_slice(&scattered(seed).to_le_bytes());
    SecretKey::new(bytes)
}

/// FNV-1a: a function from outside, and a weakly mixed one.
#[derive(Debug)]
pub(crate) struct Fnv1a;

impl HashFunction for Fnv1a {
    fn id(&self) -> HashId {
        HashId::new(300)
    }
    fn hash(&self, key: &[u8]) -> u64 {
        key.iter().fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
    }
}

/// [`BloomFilter`], in a shape of `sizing`'s choice or a given one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocked {
    shape: Option<Shape>,
    hashing: Hashing,
    portable: bool,
}

impl Blocked {
    pub(crate) const fn planned() -> Self {
        Self { shape: None, hashing: Hashing::Xxh3, portable: false }
    }

    pub(crate) const fn shaped(shape: Shape) -> Self {
        Self { shape: Some(shape), hashing: Hashing::Xxh3, portable: false }
    }

    pub(crate) const fn hashing(self, hashing: Hashing) -> Self {
        Self { hashing, ..self }
    }

    pub(crate) const fn portable(self) -> Self {
        Self { portable: true, ..self }
    }

    fn builder(self) -> BloomBuilder {
        let mut builder = BloomFilter::builder();
        if let Some(shape) = self.shape {
            builder = builder.shape(shape);
        }
        if self.portable { builder.portable() } else { builder }
    }
}

impl Subject for Blocked {
    type Filter = BloomFilter;

    fn maker(&self, keys: u64, rate: f64) -> impl Fn(u64) -> BloomFilter {
        let (builder, hashing) = (self.builder().keys(keys).rate(rate), self.hashing);
        move |seed| builder.clone().hasher(hashing.hasher(seed)).build().unwrap()
    }

    fn modelled_rate(&self, filter: &BloomFilter, keys: u64) -> f64 {
        sizing::blocked::rate(filter.shape(), keys, filter.block_count())
    }
}

impl Limited for Blocked {
    fn capacity(&self, bytes: u64, rate: f64) -> Option<u64> {
        holds(self.builder().bytes(bytes).rate(rate).plan().map(|plan| plan.keys()))
    }

    fn within(&self, bytes: u64, rate: f64) -> impl Fn(u64) -> BloomFilter {
        let (builder, hashing) = (self.builder().bytes(bytes).rate(rate), self.hashing);
        move |seed| builder.clone().hasher(hashing.hasher(seed)).build().unwrap()
    }
}

impl Estimated for Blocked {
    fn standard_error(&self, filter: &BloomFilter, keys: u64) -> f64 {
        sizing::blocked::standard_error(filter.shape(), keys, filter.block_count())
    }
}

impl Resizable for Blocked {
    fn size(&self, filter: &BloomFilter) -> u64 {
        filter.block_count() / filter.shape().lines()
    }

    fn of_size(&self, size: u64, seed: u64) -> BloomFilter {
        let sample = self.make(1_000, 0.01, seed);
        let blocks = size * sample.shape().lines();
        let bytes = empty_file(&sample.to_bytes().unwrap(), blocks, blocks);
        let filter = BloomFilter::from_bytes_with(&bytes, &self.read_options(seed)).unwrap();
        assert_eq!(self.size(&filter), size);
        filter
    }

    fn fold_to_rate(&self, filter: &mut BloomFilter, rate: f64) -> Result<u64, MergeError> {
        filter.fold_to_rate(rate)
    }

    fn plan(&self, filter: &BloomFilter) -> (u64, f64) {
        (filter.planned_keys(), filter.planned_rate())
    }
}

impl Readable for Blocked {
    fn read_options(&self, seed: u64) -> ReadOptions {
        self.hashing.read_options(seed)
    }
}

/// [`ClassicBloom`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Classic {
    hashing: Hashing,
}

impl Classic {
    pub(crate) const fn planned() -> Self {
        Self { hashing: Hashing::Xxh3 }
    }

    pub(crate) const fn hashing(self, hashing: Hashing) -> Self {
        Self { hashing }
    }

    fn of_plan(self, plan: ClassicPlan) -> impl Fn(u64) -> ClassicBloom {
        move |seed| ClassicBloom::with_plan(plan, self.hashing.hasher(seed)).unwrap()
    }
}

impl Subject for Classic {
    type Filter = ClassicBloom;

    fn maker(&self, keys: u64, rate: f64) -> impl Fn(u64) -> ClassicBloom {
        self.of_plan(ClassicPlan::for_rate(keys, rate).unwrap())
    }

    fn modelled_rate(&self, filter: &ClassicBloom, keys: u64) -> f64 {
        sizing::classic::rate(keys, filter.bits(), filter.hashes())
    }
}

impl Limited for Classic {
    fn capacity(&self, bytes: u64, rate: f64) -> Option<u64> {
        holds(ClassicPlan::for_capacity(bytes * 8, rate).map(|plan| plan.keys()))
    }

    fn within(&self, bytes: u64, rate: f64) -> impl Fn(u64) -> ClassicBloom {
        self.of_plan(ClassicPlan::for_capacity(bytes * 8, rate).unwrap())
    }
}

impl Estimated for Classic {
    fn standard_error(&self, filter: &ClassicBloom, keys: u64) -> f64 {
        sizing::classic::standard_error(keys, filter.bits(), filter.hashes())
    }
}

impl Resizable for Classic {
    fn size(&self, filter: &ClassicBloom) -> u64 {
        filter.bits()
    }

    fn of_size(&self, size: u64, seed: u64) -> ClassicBloom {
        let sample = self.make(1_000, 0.01, seed);
        let bytes = empty_file(&sample.to_bytes().unwrap(), size, size.div_ceil(512));
        let filter = ClassicBloom::from_bytes_with(&bytes, &self.read_options(seed)).unwrap();
        assert_eq!(self.size(&filter), size);
        filter
    }

    fn fold_to_rate(&self, filter: &mut ClassicBloom, rate: f64) -> Result<u64, MergeError> {
        filter.fold_to_rate(rate)
    }

    fn plan(&self, filter: &ClassicBloom) -> (u64, f64) {
        (filter.planned_keys(), filter.planned_rate())
    }
}

impl Readable for Classic {
    fn read_options(&self, seed: u64) -> ReadOptions {
        self.hashing.read_options(seed)
    }
}

/// A subject whose filters are given to threads.
macro_rules! shared {
    ($(#[$doc:meta])* $name:ident($inner:ident) => $shared:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name(pub(crate) $inner);

        impl Subject for $name {
            type Filter = $shared;

            fn maker(&self, keys: u64, rate: f64) -> impl Fn(u64) -> $shared {
                let owned = self.0.maker(keys, rate);
                move |seed| owned(seed).into_shared()
            }

            fn modelled_rate(&self, filter: &$shared, keys: u64) -> f64 {
                self.0.modelled_rate(&filter.empty_like().unwrap(), keys)
            }
        }

        impl Limited for $name {
            fn capacity(&self, bytes: u64, rate: f64) -> Option<u64> {
                self.0.capacity(bytes, rate)
            }

            fn within(&self, bytes: u64, rate: f64) -> impl Fn(u64) -> $shared {
                let owned = self.0.within(bytes, rate);
                move |seed| owned(seed).into_shared()
            }
        }

        impl Estimated for $name {
            fn standard_error(&self, filter: &$shared, keys: u64) -> f64 {
                self.0.standard_error(&filter.empty_like().unwrap(), keys)
            }
        }
    };
}

shared! {
    /// [`BloomFilter`], shared between threads.
    SharedBlocked(Blocked) => BloomFilter<Shared>
}
shared! {
    /// [`ClassicBloom`], shared between threads.
    SharedClassic(Classic) => ClassicBloom<Native, Shared>
}

/// How many keys a plan holds; nothing when the memory is too small for one.
pub(crate) fn holds(keys: Result<u64, SizingError>) -> Option<u64> {
    match keys {
        Ok(keys) => Some(keys),
        Err(SizingError::TooSmall { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

/// The file of an empty filter like the one in `sample`, of another size. The constructors round sizes, so
/// that filters fold well; here they must be exact.
pub(crate) fn empty_file(sample: &[u8], size: u64, blocks: u64) -> Vec<u8> {
    let mut header: Header = File::parse(sample).unwrap().header().clone();
    header.parameters[0] = size;
    header.sections[0].length = blocks * 64;
    let mut writer = Writer::to_vec(&header).unwrap();
    writer.write_body(&vec![0; blocks as usize * 64]).unwrap();
    writer.finish().unwrap()
}
