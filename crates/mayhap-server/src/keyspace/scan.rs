//! Walking through the keys.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::{Entry, HASH_BITS, Keyspace};

/// No cursor is larger: an exact number in every client's language.
pub const MAX_CURSOR: u64 = (1 << HASH_BITS) - 1;

impl Keyspace {
    /// Shows keys from a cursor on, at least `count` of them if there are so many, and gives the cursor to go on with; 0
    /// is the start, and the end. A key that is there during the whole of a walk is shown exactly once, whatever else
    /// comes and goes meanwhile. Keys that have expired are not shown.
    ///
    /// `show` must not use the keyspace: a shard is locked.
    pub fn scan(&self, cursor: u64, count: usize, now: u64, mut show: impl FnMut(&[u8], &Arc<Entry>)) -> u64 {
        let mut seen = 0;
        let mut next = 0;
        self.walk(cursor, |hash, key, entry| {
            // Keys of one hash stay together: the cursor can't tell them apart.
            if seen >= count && hash > next {
                next = hash;
                return ControlFlow::Break(());
            }
            (seen, next) = (seen + 1, hash);
            if entry.is_live(now) {
                show(key, entry);
            }
            ControlFlow::Continue(())
        })
        .map_or(0, |()| next)
    }

    /// Shows every key that has not expired, shard by shard: those that come or go meanwhile may be shown or not.
    ///
    /// `show` must not use the keyspace: a shard is locked.
    pub fn for_each(&self, now: u64, mut show: impl FnMut(&[u8], &Arc<Entry>)) {
        self.scan(0, usize::MAX, now, &mut show);
    }

    /// The key that follows a place in the order of hashes, or the first: with a random place, a random key.
    #[must_use]
    pub fn key_after(&self, place: u64, now: u64) -> Option<Vec<u8>> {
        let from = place & MAX_CURSOR;
        let first_live = |from| {
            let mut found = None;
            let _ = self.walk(from, |_, key, entry| {
                if entry.is_live(now) {
                    found = Some(key.to_vec());
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            });
            found
        };
        first_live(from).or_else(|| first_live(0))
    }

    /// Visits entries in the order of their hashes. `Some` if the visitor broke off.
    fn walk(
        &self,
        from: u64,
        mut visit: impl FnMut(u64, &[u8], &Arc<Entry>) -> ControlFlow<()>,
    ) -> Option<()> {
        if from > MAX_CURSOR {
            return None;
        }
        for shard in &self.shards[self.shard_index(from)..] {
            for ((hash, key), entry) in shard.read().from(from) {
                if visit(*hash, key, entry).is_break() {
                    return Some(());
                }
            }
        }
        None
    }
}
