//! One layer: a filter, and how many keys it has taken of those it was made for.

use super::BloomFilter;
use crate::bits::{AllocError, Blocks, Owned};
use crate::error::Error;
use crate::hash::KeyHasher;
use crate::sizing::BlockedPlan;

/// A layer of a growing filter, as it is now.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LayerInfo {
    /// The new keys it has taken.
    pub keys: u64,
    /// The new keys it was made for.
    pub planned_keys: u64,
    /// The rate it keeps up to [`planned_keys`](Self::planned_keys): its share of the promise.
    pub planned_rate: f64,
    /// Its bytes.
    pub bytes: u64,
    /// The part of its bits that is set.
    pub fill_ratio: f64,
}

pub(super) struct Layer<S = Owned> {
    pub(super) filter: BloomFilter<S>,
    /// New keys it was made for. The filter's own plan is somewhat larger, see `plan_for_new_keys`.
    pub(super) planned: u64,
    /// New keys it has taken: each set at least one bit.
    pub(super) inserted: u64,
}

impl Layer {
    /// An empty layer.
    pub(super) fn new(plan: BlockedPlan, planned: u64, hasher: KeyHasher) -> Result<Self, AllocError> {
        let filter = BloomFilter::with_plan(plan, hasher)?;
        Ok(Self { filter, planned, inserted: 0 })
    }

    pub(super) fn clear(&mut self) {
        self.filter.clear();
        self.inserted = 0;
    }
}

impl Clone for Layer {
    fn clone(&self) -> Self {
        Self { filter: self.filter.clone(), ..*self }
    }
}

impl<S: Blocks> Layer<S> {
    /// New keys that it still takes at its rate.
    pub(super) fn room(&self) -> u64 {
        self.planned.saturating_sub(self.inserted)
    }

    pub(super) fn empty_like(&self) -> Result<Layer, Error> {
        Ok(Layer { filter: self.filter.empty_like()?, planned: self.planned, inserted: 0 })
    }

    pub(super) fn info(&self) -> LayerInfo {
        LayerInfo {
            keys: self.inserted,
            planned_keys: self.planned,
            planned_rate: self.filter.planned_rate(),
            bytes: self.filter.len_bytes(),
            fill_ratio: self.filter.fill_ratio(),
        }
    }
}
