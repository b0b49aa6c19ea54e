//! Moving entries into older sub-filters.

use super::{Places, RedisCuckoo, Table};

impl RedisCuckoo {
    /// Moves entries of newer sub-filters into free slots of older ones, from the newest down, and lets go of the newest
    /// as long as that empties it: `CF.COMPACT`.
    ///
    /// It looks at every slot, and moves nothing out of the way, so a filter is left with some room in old sub-filters.
    pub fn compact(&mut self) {
        self.move_down(false);
    }

    /// What a removal does in the end: compacts if there are several sub-filters and the removals since the last time
    /// are more than a tenth of the keys, up to the first sub-filter that stays.
    #[allow(clippy::cast_precision_loss, reason = "RedisBloom compares in doubles, too")]
    pub(super) fn compact_if_due(&mut self) {
        if self.tables.len() > 1 && self.deletes as f64 > self.items as f64 * 0.10 {
            self.move_down(true);
        }
    }

    fn move_down(&mut self, stop_early: bool) {
        for number in (1..self.tables.len()).rev() {
            let (older, rest) = self.tables.split_at_mut(number);
            let emptied = rest.first_mut().is_some_and(|table| empty_into(older, table));
            if emptied && number + 1 == self.tables.len() {
                self.tables.truncate(number);
            }
            if !emptied && stop_early {
                break;
            }
        }
        self.deletes = 0;
    }
}

/// Moves each entry into the oldest sub-filter that has a free slot for it. True if all could be moved.
///
/// The older ones have no more buckets, so the number of an entry's bucket has all the bits of its hash that they ask
/// for.
fn empty_into(older: &mut [Table], table: &mut Table) -> bool {
    let mut emptied = true;
    let bucket_size = table.len() / usize::try_from(table.buckets()).unwrap_or(usize::MAX).max(1);
    for (bucket, entries) in (0u64..).zip(table.slots_mut().chunks_mut(bucket_size.max(1))) {
        for entry in entries.iter_mut().filter(|entry| **entry != 0) {
            let places = Places::of_entry(*entry, bucket);
            if older.iter_mut().any(|table| table.insert(&places)) {
                *entry = 0;
            } else {
                emptied = false;
            }
        }
    }
    emptied
}
