//! The capabilities, forwarded. Without a time they go by the newest instant seen.

use alloc::vec::Vec;

use super::WindowBloom;
use crate::bits::Blocks;
use crate::error::Error;
use crate::filter::{Estimate, Filter, Insert, InsertError, Merge, Persist};
use crate::hash::Digest;
use crate::merge_error::MergeError;

impl<S: Blocks> Filter for WindowBloom<S> {
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

impl Insert for WindowBloom {
    fn insert_hash(&mut self, hash: Digest) -> Result<bool, InsertError> {
        Ok(self.insert_hash(hash))
    }
    fn insert_hashes(&mut self, hashes: &[Digest], new: &mut [bool]) -> Result<(), InsertError> {
        self.insert_hashes(hashes, new);
        Ok(())
    }
}

impl Merge for WindowBloom {
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

impl<S: Blocks> Estimate for WindowBloom<S> {
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

impl Persist for WindowBloom {
    fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(self.to_bytes()?)
    }
    fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes(bytes)
    }
}
