//! Keys that end: when they do, and removing those whose time has come.
//!
//! Keys are removed in the order of their times, so nobody looks at those that have time left, however many they are.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Entry, Keyspace};

/// Keys that expired are removed so many at a time, so that the lock of a shard is never held for long.
const EXPIRE_AT_ONCE: usize = 256;

impl Keyspace {
    /// How many keys have a time to expire at. As with [`len`](Self::len), for some it may have come.
    #[must_use]
    pub fn expiring(&self) -> u64 {
        self.shards.iter().map(|shard| shard.read().expiring() as u64).sum()
    }

    /// How many keys were removed because their time had come, by whomever.
    #[must_use]
    pub fn expired(&self) -> u64 {
        self.expired.load(Ordering::Relaxed)
    }

    /// Begins to count them anew.
    pub fn reset_expired(&self) {
        self.expired.store(0, Ordering::Relaxed);
    }

    pub(super) fn count_expired(&self, keys: u64) {
        if keys > 0 {
            self.expired.fetch_add(keys, Ordering::Relaxed);
        }
    }

    /// Gives a key another time to expire at, or none, if the one that it has allows it. Whether it has been given.
    pub fn set_expiry(
        &self,
        key: &[u8],
        moment: Option<u64>,
        now: u64,
        is_allowed: impl FnOnce(Option<u64>) -> bool,
    ) -> bool {
        let hash = self.hash_of(key);
        let mut shard = self.shard(hash).write();
        let live = shard.find(hash, key).filter(|entry| entry.is_live(now)).cloned();
        let Some(entry) = live.filter(|entry| is_allowed(entry.expires_at())) else { return false };
        shard.set_expiry(hash, &entry, moment);
        drop(shard);
        self.watchers.tell(key);
        true
    }

    /// Removes a key that was seen to have expired at `now`. Its value, if it hasn't any more: meanwhile it may have been
    /// given more time, by a worker whose batch began before the end, or another value.
    pub(super) fn end(&self, key: &[u8], now: u64) -> Option<Arc<Entry>> {
        let mut live = None;
        let is_removed = self.remove_if(key, |entry| {
            live = entry.is_live(now).then(|| Arc::clone(entry));
            live.is_none()
        });
        self.count_expired(is_removed.into());
        live
    }

    /// Removes keys that have expired, everywhere, and says how many. `hold` is asked for before some are removed, and
    /// what it gives is dropped after them: for what must not happen in between.
    pub fn remove_expired<H>(&self, now: u64, hold: impl Fn() -> H) -> u64 {
        let mut removed = 0;
        for shard in &self.shards {
            while shard.read().next_end().is_some_and(|moment| moment <= now) {
                let _held = hold();
                let expired = {
                    let mut entries = shard.write();
                    self.outdate();
                    entries.remove_expired(now, EXPIRE_AT_ONCE)
                };
                self.count_expired(expired.len() as u64);
                removed += expired.len() as u64;
                for ((_, key), entry) in expired {
                    self.discard(Some(entry));
                    self.watchers.tell(&key);
                }
            }
        }
        removed
    }
}
