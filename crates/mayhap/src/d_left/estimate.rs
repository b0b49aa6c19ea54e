//! How full the filter is, and which rate that makes. Known from the count of cells in use; only the loads of the
//! buckets are looked at.

use alloc::vec;
use alloc::vec::Vec;

use super::{DLeftCounting, table};
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

    /// How many buckets have 0, 1, 2 … cells in use. Looks at all of them: ask once in a while, not with every key.
    ///
    /// ```
    /// use mayhap::DLeftCounting;
    ///
    /// let mut filter = DLeftCounting::with_rate(1_000, 0.01)?;
    /// filter.insert("apple")?;
    /// let loads = filter.bucket_loads();
    /// assert_eq!(loads.len() as u64, filter.cell().per_bucket() + 1);
    /// assert_eq!(loads[1], 1);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "a line has fewer cells than bytes")]
    pub fn bucket_loads(&self) -> Vec<u64> {
        let cell = self.geometry.cell;
        // A line has fewer cells than bytes; what no bucket of this layout has is cut off.
        let mut loads = vec![0; 65];
        for line in self.blocks.lines() {
            loads[table::used_cells(cell, line) as usize] += 1;
        }
        loads.truncate(cell.per_bucket() as usize + 1);
        loads
    }

    /// Whether more cells are in use than keys were planned, so that the rate may be above the promise and an insert
    /// may be refused.
    #[must_use]
    pub fn is_over_plan(&self) -> bool {
        self.used_cells > self.plan.keys
    }
}
