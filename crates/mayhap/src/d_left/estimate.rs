//! How full the filter is, and which rate that makes. Known from the count of cells in use: nothing is looked at.

use super::DLeftCounting;
use crate::bits::Blocks;
use crate::sizing::d_left;

impl<S: Blocks> DLeftCounting<S> {
    /// The part of all cells that is in use.
    #[must_use]
    pub fn fill_ratio(&self) -> f64 {
        let cells = self.blocks.block_count() * self.geometry.cell.per_bucket();
        self.used_cells as f64 / cells as f64
    }

    /// How many distinct keys it holds, estimated from the cells in use: keys that are taken for each other share a
    /// cell, which is corrected for; a key of more copies than a cell counts takes several, which is not.
    #[must_use]
    pub fn estimated_len(&self) -> u64 {
        d_left::estimated_keys(self.geometry.cell, self.bucket_count(), self.used_cells)
    }

    /// The rate at which the filter, as it is now, answers "mayhap" for absent keys.
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        d_left::rate_of_cells(self.geometry.cell, self.bucket_count(), self.used_cells)
    }

    /// Whether more cells are in use than keys were planned, so that the rate may be above the promise and an insert
    /// may be refused.
    #[must_use]
    pub fn is_over_plan(&self) -> bool {
        self.used_cells > self.plan.keys
    }
}
