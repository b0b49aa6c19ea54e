//! [`DualBloom`] as long as nothing is removed.
//!
//! Its "no" isn't certain, so it isn't a `Filter`, and the suite can't take it. While nothing was removed it is certain:
//! then it must do all that the others do. What removals change is tested beside the filter.

use std::io::{Read, Write};
use std::path::Path;

use mayhap::bits::{Blocks, Mapped, Owned, View};
use mayhap::codec::{Existing, FormatError};
use mayhap::filter::{Estimate, Filter, Insert, Merge, Persist};
use mayhap::hash::Digest;
use mayhap::{DualBloom, Error, InsertError, Key, MergeError, ReadOptions, sizing};

use crate::subject::{Hashing, Readable, Subject};

/// A dual filter that nothing is removed from.
#[derive(Debug)]
pub(crate) struct NothingRemoved<S: Blocks = Owned>(DualBloom<S>);

/// Makes them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dual(pub(crate) Hashing);

impl Subject for Dual {
    type Filter = NothingRemoved;

    fn maker(&self, keys: u64, rate: f64) -> impl Fn(u64) -> NothingRemoved {
        let builder = DualBloom::builder().keys(keys).rate(rate).hidden_rate(0.01);
        let hashing = self.0;
        move |seed| NothingRemoved(builder.clone().hasher(hashing.hasher(seed)).build().unwrap())
    }

    fn modelled_rate(&self, filter: &NothingRemoved, keys: u64) -> f64 {
        sizing::blocked::rate(filter.0.added().shape(), keys, filter.0.added().block_count())
    }
}

impl Readable for Dual {
    fn read_options(&self, seed: u64) -> ReadOptions {
        self.0.read_options(seed)
    }
}

impl Filter for NothingRemoved {
    type Hash = Digest;
    fn hash_bytes(&self, key: &[u8]) -> Digest {
        self.0.hash(key)
    }
    fn contains_hash(&self, hash: Digest) -> bool {
        self.0.contains_hash(hash)
    }
    fn contains_hashes(&self, hashes: &[Digest], found: &mut [bool]) {
        self.0.contains_hashes(hashes, found);
    }
    fn len_bytes(&self) -> u64 {
        self.0.len_bytes()
    }
}

impl Insert for NothingRemoved {
    fn insert_hash(&mut self, hash: Digest) -> Result<bool, InsertError> {
        self.0.insert_hash(hash)
    }
    fn insert_hashes(&mut self, hashes: &[Digest], new: &mut [bool]) -> Result<(), InsertError> {
        all(new, |outcomes| self.0.insert_hashes(hashes, outcomes))
    }
}

/// The answers of a batch, none of which may be a refusal.
fn all(new: &mut [bool], insert: impl FnOnce(&mut [Result<bool, InsertError>])) -> Result<(), InsertError> {
    let mut outcomes = vec![Err(InsertError::Full); new.len()];
    insert(&mut outcomes);
    for (new, outcome) in new.iter_mut().zip(outcomes) {
        *new = outcome?;
    }
    Ok(())
}

impl Merge for NothingRemoved {
    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.0.merge(&other.0)
    }
    fn empty_like(&self) -> Result<Self, Error> {
        Ok(Self(self.0.empty_like()?))
    }
    fn clear(&mut self) {
        self.0.clear();
    }
}

impl Estimate for NothingRemoved {
    fn estimated_len(&self) -> u64 {
        self.0.estimated_added()
    }
    fn expected_rate(&self) -> f64 {
        let rates = self.0.expected_rates();
        assert_eq!(rates.false_no, 0.0);
        rates.false_yes
    }
    fn fill_ratio(&self) -> f64 {
        self.0.added().fill_ratio()
    }
    fn is_over_plan(&self) -> bool {
        self.0.is_over_plan()
    }
}

impl PartialEq for NothingRemoved {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Persist for NothingRemoved {
    fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(self.0.to_bytes()?)
    }
    fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        DualBloom::from_bytes(bytes).map(Self)
    }
}

/// The methods that the suite calls by name.
impl<S: Blocks> NothingRemoved<S> {
    pub(crate) fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.0.contains(key)
    }
    pub(crate) fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
        self.0.contains_each(keys, found);
    }
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, FormatError> {
        self.0.to_bytes()
    }
    pub(crate) fn write_to(&self, stream: impl Write) -> Result<(), Error> {
        self.0.write_to(stream)
    }
    pub(crate) fn save(&self, path: &Path, existing: Existing) -> Result<(), Error> {
        self.0.save(path, existing)
    }
}

impl NothingRemoved {
    pub(crate) fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.0.insert(key).unwrap()
    }
    pub(crate) fn insert_each<K: Key>(&mut self, keys: &[K], new: &mut [bool]) {
        all(new, |outcomes| self.0.insert_each(keys, outcomes)).unwrap();
    }
    pub(crate) fn from_bytes_with(bytes: &[u8], options: &ReadOptions) -> Result<Self, Error> {
        DualBloom::from_bytes_with(bytes, options).map(Self)
    }
    pub(crate) fn read_from(stream: impl Read, options: &ReadOptions) -> Result<Self, Error> {
        DualBloom::read_from(stream, options).map(Self)
    }
    pub(crate) fn open_with(path: &Path, options: &ReadOptions) -> Result<Self, Error> {
        DualBloom::open_with(path, options).map(Self)
    }
}

impl NothingRemoved<Mapped> {
    pub(crate) fn map_with(path: &Path, options: &ReadOptions) -> Result<Self, Error> {
        DualBloom::map_with(path, options).map(Self)
    }
}

impl<'a> NothingRemoved<View<'a>> {
    pub(crate) fn from_aligned_bytes(bytes: &'a [u8], options: &ReadOptions) -> Result<Self, Error> {
        DualBloom::from_aligned_bytes(bytes, options).map(Self)
    }
}
