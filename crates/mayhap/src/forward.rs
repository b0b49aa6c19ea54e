//! Which filter has which capability: every trait of [`filter`](crate::filter), forwarded to the types' own methods.
//!
//! `DualBloom` is no `Filter`: its "no" isn't certain (`docs/decisions.md`). `Bitmap` takes numbers, not hashes.

use alloc::vec::Vec;

use crate::bits::{Blocks, Shared, Words, WordsMut};
use crate::bloom::{BloomFilter, ClassicBloom, DualBloom, ScalableBloom, Scheme, WindowBloom};
use crate::counting::CountingBloom;
use crate::cuckoo::{CuckooFilter, ScalableCuckoo};
use crate::d_left::DLeftCounting;
use crate::error::Error;
use crate::filter::{Count, Estimate, Filter, Fold, Insert, InsertError, Merge, Persist, Remove};
use crate::hash::Digest;
use crate::merge_error::MergeError;

macro_rules! filter {
    ($([$($generics:tt)*] $filter:ty: $hash:ty;)*) => {$(
        impl<$($generics)*> Filter for $filter {
            type Hash = $hash;
            fn hash_bytes(&self, key: &[u8]) -> $hash {
                self.hash(key)
            }
            fn contains_hash(&self, hash: $hash) -> bool {
                self.contains_hash(hash)
            }
            fn contains_hashes(&self, hashes: &[$hash], found: &mut [bool]) {
                self.contains_hashes(hashes, found);
            }
            fn len_bytes(&self) -> u64 {
                self.len_bytes()
            }
        }
    )*};
}

filter! {
    [S: Blocks] BloomFilter<S>: Digest;
    [C: Scheme, S: Words] ClassicBloom<C, S>: C::Hash;
    [S: Blocks] ScalableBloom<S>: Digest;
    [S: Blocks] WindowBloom<S>: Digest;
    [S: Blocks] CountingBloom<S>: Digest;
    [S: Blocks] DLeftCounting<S>: Digest;
    [S: Blocks] CuckooFilter<S>: Digest;
    [S: Blocks] ScalableCuckoo<S>: Digest;
}

/// Filters that take every key.
macro_rules! insert_always {
    ($([$($generics:tt)*] $filter:ty;)*) => {$(
        impl<$($generics)*> Insert for $filter {
            fn insert_hash(&mut self, hash: Self::Hash) -> Result<bool, InsertError> {
                Ok(<$filter>::insert_hash(self, hash))
            }
            fn insert_hashes(&mut self, hashes: &[Self::Hash], new: &mut [bool]) -> Result<(), InsertError> {
                <$filter>::insert_hashes(self, hashes, new);
                Ok(())
            }
        }
    )*};
}

insert_always! {
    [] BloomFilter;
    [] BloomFilter<Shared>;
    [C: Scheme, S: WordsMut] ClassicBloom<C, S>;
    [C: Scheme<Hash = Digest>] ClassicBloom<C, Shared>;
    [] WindowBloom;
    [] CountingBloom;
}

/// Filters that may refuse one.
macro_rules! insert_or_refuse {
    ($($filter:ty),*) => {$(
        impl Insert for $filter {
            fn insert_hash(&mut self, hash: Digest) -> Result<bool, InsertError> {
                self.insert_hash(hash)
            }
            fn insert_hashes(&mut self, hashes: &[Digest], new: &mut [bool]) -> Result<(), InsertError> {
                self.insert_hashes(hashes, new)
            }
        }
    )*};
}

insert_or_refuse!(ScalableBloom, DLeftCounting, CuckooFilter, ScalableCuckoo);

macro_rules! remove_and_count {
    ($($filter:ident),*) => {$(
        impl Remove for $filter {
            fn remove_hash(&mut self, hash: Digest) -> bool {
                self.remove_hash(hash)
            }
            fn remove_hashes(&mut self, hashes: &[Digest], removed: &mut [bool]) {
                self.remove_hashes(hashes, removed);
            }
        }
        impl<S: Blocks> Count for $filter<S> {
            fn count_hash(&self, hash: Digest) -> u64 {
                self.count_hash(hash)
            }
            fn count_hashes(&self, hashes: &[Digest], counts: &mut [u64]) {
                self.count_hashes(hashes, counts);
            }
        }
    )*};
}

remove_and_count!(CountingBloom, DLeftCounting, CuckooFilter, ScalableCuckoo);

macro_rules! merge {
    ($([$($generics:tt)*] $filter:ty;)*) => {$(
        impl<$($generics)*> Merge for $filter {
            fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
                self.merge(other)
            }
            fn empty_like(&self) -> Result<Self, Error> {
                self.empty_like()
            }
            fn clear(&mut self) {
                self.clear();
            }
        }
    )*};
}

merge! {
    [] BloomFilter;
    [C: Scheme] ClassicBloom<C>;
    [] DualBloom;
    [] WindowBloom;
    [] CountingBloom;
}

macro_rules! fold {
    ($([$($generics:tt)*] $filter:ty;)*) => {$(
        impl<$($generics)*> Fold for $filter {
            fn fold(&mut self, factor: u64) -> Result<(), MergeError> {
                self.fold(factor)
            }
        }
    )*};
}

fold! {
    [] BloomFilter;
    [C: Scheme] ClassicBloom<C>;
    [] CountingBloom;
}

macro_rules! estimate {
    ($([$($generics:tt)*] $filter:ty: $len:ident, $fill:ident;)*) => {$(
        impl<$($generics)*> Estimate for $filter {
            fn estimated_len(&self) -> u64 {
                self.$len()
            }
            fn expected_rate(&self) -> f64 {
                self.expected_rate()
            }
            fn fill_ratio(&self) -> f64 {
                self.$fill()
            }
            fn is_over_plan(&self) -> bool {
                self.is_over_plan()
            }
        }
    )*};
}

// The fingerprints of a cuckoo filter are counted, not estimated; every copy of a key is one.
estimate! {
    [S: Blocks] BloomFilter<S>: estimated_len, fill_ratio;
    [C: Scheme, S: Words] ClassicBloom<C, S>: estimated_len, fill_ratio;
    [S: Blocks] ScalableBloom<S>: estimated_len, fill_ratio;
    [S: Blocks] WindowBloom<S>: estimated_len, fill_ratio;
    [S: Blocks] CountingBloom<S>: estimated_len, fill_ratio;
    [S: Blocks] DLeftCounting<S>: estimated_len, fill_ratio;
    [S: Blocks] CuckooFilter<S>: len, load_factor;
    [S: Blocks] ScalableCuckoo<S>: len, load_factor;
}

macro_rules! persist {
    ($($filter:ty),* $(,)?) => {$(
        impl Persist for $filter {
            fn to_bytes(&self) -> Result<Vec<u8>, Error> {
                Ok(self.to_bytes()?)
            }
            fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
                Self::from_bytes(bytes)
            }
        }
    )*};
}

persist!(
    BloomFilter,
    ClassicBloom,
    ScalableBloom,
    DualBloom,
    WindowBloom,
    CountingBloom,
    DLeftCounting,
    CuckooFilter,
    ScalableCuckoo,
);
#[cfg(feature = "bitmap")]
persist!(crate::Bitmap);
