//! Giving layers back when keys were removed.

use super::ScalableCuckoo;

impl ScalableCuckoo {
    /// Moves fingerprints from the newest layer to older ones and drops the layer when it is empty; then the next, as
    /// long as the older layers have room for all that a layer holds. Memory shrinks, and a question asks fewer layers.
    ///
    /// No answer for a key in the filter changes. Absent keys are answered no worse than was promised.
    pub fn compact(&mut self) {
        while self.compact_step(STEP) {}
    }

    /// A small part of [`compact`](Self::compact): looks at about `budget` buckets or fingerprints of the newest layer.
    /// True if there is more to do; false when nothing can be dropped, for now or for good.
    ///
    /// Between two steps the filter can be used in every way. Keys that are added meanwhile go to the newest layer, so
    /// that one pass may not empty it; another begins with the next call.
    ///
    /// ```
    /// use mayhap::ScalableCuckoo;
    ///
    /// let mut filter = ScalableCuckoo::with_rate(1_000, 0.01)?;
    /// for number in 0..10_000u32 {
    ///     filter.insert(&number)?;
    /// }
    /// for number in 500..10_000u32 {
    ///     filter.remove(&number);
    /// }
    /// while filter.compact_step(64) {
    ///     assert!(filter.contains(&7u32), "between two steps as well");
    /// }
    /// assert_eq!(filter.layers().len(), 1);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    pub fn compact_step(&mut self, budget: u64) -> bool {
        let mut left = budget.max(1);
        while let [older @ .., newest] = &mut self.layers[..] {
            if older.is_empty() {
                break;
            }
            if newest.table.len() == 0 {
                self.layers.pop();
                self.compacted = 0;
                continue;
            }
            let room: u64 = older.iter().map(super::layer::Layer::room).sum();
            if room < newest.table.len() || self.compacted == newest.table.buckets() {
                // There is no room, or what is left after a whole pass found none.
                break;
            }
            if left == 0 {
                return true;
            }
            let bucket = self.compacted;
            let mut looked_at = 0;
            for fingerprint in newest.table.entries(bucket) {
                looked_at += 1;
                for layer in older.iter_mut().rev().filter(|layer| layer.has_room()) {
                    let (to, short) =
                        newest.table.places().reduced(bucket, fingerprint, layer.table.places());
                    // Into the older layer first: at no time is the key in neither.
                    if layer.table.insert_entry(to, short, &mut self.search).is_ok() {
                        newest.table.remove_entry(bucket, fingerprint);
                        break;
                    }
                }
            }
            left = left.saturating_sub(looked_at.max(1));
            self.compacted += 1;
        }
        self.compacted = 0;
        false
    }
}

/// A step of a whole compaction: any number would do.
const STEP: u64 = 1 << 20;
