//! Making and taking apart a filter, for filters that are made of filters.

use super::BloomFilter;
use crate::bits::{AllocError, Blocks, Owned};
use crate::bloom::kernel::Kernel;
use crate::bloom::shape::Shape;
use crate::hash::KeyHasher;
use crate::plan::Plan;
use crate::sizing::BlockedPlan;

impl BloomFilter {
    /// An empty filter by a plan.
    pub(in crate::bloom) fn with_plan(plan: BlockedPlan, hasher: KeyHasher) -> Result<Self, AllocError> {
        let promise = Plan { keys: plan.keys(), rate: plan.rate() };
        Ok(Self::of_blocks(Owned::zeroed(plan.blocks())?, hasher, plan.shape(), promise))
    }
}

impl<S: Blocks> BloomFilter<S> {
    /// A filter of blocks that are there. Whoever calls has checked that they fit the shape: at least one, an even
    /// number for two lines.
    pub(in crate::bloom) fn of_blocks(blocks: S, hasher: KeyHasher, shape: Shape, plan: Plan) -> Self {
        Self::from_parts(blocks, hasher, shape, Kernel::detect(), plan)
    }

    /// The blocks.
    pub(in crate::bloom) fn storage(&self) -> &S {
        &self.blocks
    }
}
