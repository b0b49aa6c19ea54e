//! What code that is generic over filters can ask of this one.

use super::DLeftCounting;
use crate::bits::Blocks;
use crate::filter::{Count, Estimate, Filter, Insert, InsertError, Persist, Remove};
use crate::hash::Digest;

impl<S: Blocks> Filter for DLeftCounting<S> {
    type Hash = Digest;
    fn hash_bytes(&self, key: &[u8]) -> Digest {
        self.hash(key)
    }
    fn contains_hash(&self, hash: Digest) -> bool {
        self.contains_hash(hash)
    }
    fn contains_hashes(&self, hashes: &[Digest], found: &mut [bool]) {
        self.contains_hashes(hashes, found);
    }
    fn len_bytes(&self) -> u64 {
        self.len_bytes()
    }
}

impl<S: Blocks> Count for DLeftCounting<S> {
    fn count_hash(&self, hash: Digest) -> u64 {
        self.count_hash(hash)
    }
}

impl<S: Blocks> Estimate for DLeftCounting<S> {
    fn estimated_len(&self) -> u64 {
        self.estimated_len()
    }
    fn expected_rate(&self) -> f64 {
        self.expected_rate()
    }
    fn fill_ratio(&self) -> f64 {
        self.fill_ratio()
    }
    fn is_over_plan(&self) -> bool {
        self.is_over_plan()
    }
}

impl Insert for DLeftCounting {
    fn insert_hash(&mut self, hash: Digest) -> Result<bool, InsertError> {
        self.insert_hash(hash)
    }
    fn insert_hashes(&mut self, hashes: &[Digest], new: &mut [bool]) -> Result<(), InsertError> {
        self.insert_hashes(hashes, new)
    }
}

impl Remove for DLeftCounting {
    fn remove_hash(&mut self, hash: Digest) -> bool {
        self.remove_hash(hash)
    }
    fn remove_hashes(&mut self, hashes: &[Digest], removed: &mut [bool]) {
        self.remove_hashes(hashes, removed);
    }
}

impl Persist for DLeftCounting {
    fn to_bytes(&self) -> Result<alloc::vec::Vec<u8>, crate::Error> {
        Ok(self.to_bytes()?)
    }
    fn from_bytes(bytes: &[u8]) -> Result<Self, crate::Error> {
        Self::from_bytes(bytes)
    }
}
