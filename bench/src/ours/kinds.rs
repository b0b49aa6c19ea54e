//! The methods of our filters under one trait, so that a contestant is written once for all kinds.
//!
//! The filters' own traits are over hashes; keys are what a user has, and what is timed here.

use mayhap::cuckoo::ScalableCuckoo;
use mayhap::{
    BloomFilter, CountingBloom, CuckooFilter, DLeftCounting, DualBloom, InsertError, Key, ScalableBloom,
};

use super::BATCH;

/// Takes keys and answers for them.
pub(crate) trait Kind: Sized {
    fn insert<K: Key>(&mut self, key: &K) -> Result<bool, InsertError>;
    fn insert_each<K: Key>(&mut self, keys: &[K], new: &mut [bool]) -> Result<(), InsertError>;
    fn contains<K: Key>(&self, key: &K) -> bool;
    fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]);
    fn len_bytes(&self) -> u64;
}

/// Takes keys out again.
pub(crate) trait RemovingKind: Kind {
    fn remove<K: Key>(&mut self, key: &K) -> bool;
    fn remove_each<K: Key>(&mut self, keys: &[K], removed: &mut [bool]);
    /// Keys it holds.
    fn len(&self) -> u64;
}

/// What all kinds spell alike.
macro_rules! questions {
    () => {
        #[inline(always)]
        fn contains<K: Key>(&self, key: &K) -> bool {
            self.contains(key)
        }

        #[inline(always)]
        fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
            self.contains_each(keys, found);
        }

        fn len_bytes(&self) -> u64 {
            self.len_bytes()
        }
    };
}

/// Filters that take every key.
macro_rules! takes_all {
    ($($filter:ty),*) => {$(
        impl Kind for $filter {
            #[inline(always)]
            fn insert<K: Key>(&mut self, key: &K) -> Result<bool, InsertError> {
                Ok(self.insert(key))
            }

            #[inline(always)]
            fn insert_each<K: Key>(&mut self, keys: &[K], new: &mut [bool]) -> Result<(), InsertError> {
                self.insert_each(keys, new);
                Ok(())
            }

            questions!();
        }
    )*};
}

/// Filters that may refuse a key.
macro_rules! may_refuse {
    ($($filter:ty),*) => {$(
        impl Kind for $filter {
            #[inline(always)]
            fn insert<K: Key>(&mut self, key: &K) -> Result<bool, InsertError> {
                self.insert(key)
            }

            #[inline(always)]
            fn insert_each<K: Key>(&mut self, keys: &[K], new: &mut [bool]) -> Result<(), InsertError> {
                self.insert_each(keys, new)
            }

            questions!();
        }
    )*};
}

macro_rules! removes {
    ($($filter:ty),*) => {$(
        impl RemovingKind for $filter {
            #[inline(always)]
            fn remove<K: Key>(&mut self, key: &K) -> bool {
                self.remove(key)
            }

            #[inline(always)]
            fn remove_each<K: Key>(&mut self, keys: &[K], removed: &mut [bool]) {
                self.remove_each(keys, removed);
            }

            fn len(&self) -> u64 {
                self.len()
            }
        }
    )*};
}

takes_all!(BloomFilter, CountingBloom);
may_refuse!(ScalableBloom, DLeftCounting, CuckooFilter, ScalableCuckoo);
removes!(CountingBloom, DLeftCounting, CuckooFilter, ScalableCuckoo);

/// A dual filter, and the buffer a caller would keep for its outcomes.
pub(crate) struct Dual {
    filter: DualBloom,
    outcomes: Vec<Result<bool, InsertError>>,
}

impl Dual {
    pub(crate) fn new(filter: DualBloom) -> Self {
        Self { filter, outcomes: vec![Ok(false); BATCH] }
    }
}

impl Kind for Dual {
    #[inline(always)]
    fn insert<K: Key>(&mut self, key: &K) -> Result<bool, InsertError> {
        self.filter.insert(key)
    }

    #[inline(always)]
    fn insert_each<K: Key>(&mut self, keys: &[K], new: &mut [bool]) -> Result<(), InsertError> {
        let outcomes = &mut self.outcomes[..keys.len()];
        self.filter.insert_each(keys, outcomes);
        for (outcome, new) in outcomes.iter().zip(new) {
            *new = outcome.clone()?;
        }
        Ok(())
    }

    #[inline(always)]
    fn contains<K: Key>(&self, key: &K) -> bool {
        self.filter.contains(key)
    }

    #[inline(always)]
    fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
        self.filter.contains_each(keys, found);
    }

    fn len_bytes(&self) -> u64 {
        self.filter.len_bytes()
    }
}

impl RemovingKind for Dual {
    #[inline(always)]
    fn remove<K: Key>(&mut self, key: &K) -> bool {
        self.filter.remove(key)
    }

    #[inline(always)]
    fn remove_each<K: Key>(&mut self, keys: &[K], removed: &mut [bool]) {
        self.filter.remove_each(keys, removed);
    }

    fn len(&self) -> u64 {
        self.filter.estimated_added()
    }
}
