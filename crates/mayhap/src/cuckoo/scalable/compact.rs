//! Giving layers back when keys were removed.

use super::ScalableCuckoo;
use super::layer::Layer;
use crate::bits::Owned;

/// A walk over all buckets of the newest layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    /// The bucket at which it began; nothing if it has yet to be found where to begin.
    start: Option<u64>,
    /// The buckets that were looked at.
    done: u64,
}

impl Default for Pass {
    fn default() -> Self {
        Self { start: Some(0), done: 0 }
    }
}

impl Pass {
    /// Of a filter that was read: a file doesn't tell how far compaction was.
    pub(super) const UNKNOWN: Self = Self { start: None, done: 0 };
}

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
    /// that one pass may not empty it; another begins with the next call. A filter that was saved and read goes on where
    /// there is something to move: the first step looks for it, which may take about as long as reading the filter did.
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
                self.pass = Pass::default();
                continue;
            }
            let room: u64 = older.iter().map(Layer::room).sum();
            let buckets = newest.table.buckets();
            if room < newest.table.len() || self.pass.done == buckets {
                // There is no room, or what is left after a whole pass found none.
                break;
            }
            if left == 0 {
                return true;
            }
            // Beginning at the first bucket after every reading, small steps would look at the same buckets for ever.
            let start = *self.pass.start.get_or_insert_with(|| first_to_move(newest, older));
            let bucket = (start + self.pass.done) % buckets;
            let mut looked_at = 0;
            for fingerprint in newest.table.entries(bucket) {
                looked_at += 1;
                for layer in older.iter_mut().rev().filter(|layer| layer.has_room()) {
                    let (to, short) =
                        newest.table.places().reduced(bucket, fingerprint, layer.table.places());
                    // Into the older layer first: at no time is the key in neither.
                    if layer.table.insert_entry(to, short, self.search).is_ok() {
                        newest.table.remove_entry(bucket, fingerprint);
                        break;
                    }
                }
            }
            left = left.saturating_sub(looked_at.max(1));
            self.pass.done += 1;
        }
        self.pass = Pass::default();
        false
    }
}

/// The first bucket with a fingerprint for which an older layer has a free place; or else, since room can be made, the
/// first that isn't empty.
fn first_to_move(newest: &Layer<Owned>, older: &[Layer<Owned>]) -> u64 {
    let has_place = |bucket, fingerprint| {
        older.iter().filter(|layer| layer.has_room()).any(|layer| {
            let (to, short) = newest.table.places().reduced(bucket, fingerprint, layer.table.places());
            layer.table.has_place(to, short)
        })
    };
    let mut first = None;
    for bucket in 0..newest.table.buckets() {
        for fingerprint in newest.table.entries(bucket) {
            if has_place(bucket, fingerprint) {
                return bucket;
            }
            first.get_or_insert(bucket);
        }
    }
    first.unwrap_or(0)
}

/// A step of a whole compaction: any number would do.
const STEP: u64 = 1 << 20;
