//! Removing keys whose time has come.
//!
//! A shard remembers when the first of its keys ends, and isn't looked through before that, or before one of them gets
//! another time: a million keys that never end would otherwise be walked through four times a second.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Entry, Keyspace, Place};

/// Keys that expired are removed so many at a time, so that the lock of a shard is never held for long.
const EXPIRE_AT_ONCE: usize = 256;

/// What a shard knows about the times of its keys.
#[derive(Debug)]
pub(super) struct Times {
    /// When it has to be looked through: a moment before which none of its keys ends, or [`AT_ONCE`].
    due: AtomicU64,
    /// Keys that have a time to expire at, when it was last looked through.
    expiring: AtomicU64,
}

const AT_ONCE: u64 = 0;
const NEVER: u64 = u64::MAX;

impl Default for Times {
    fn default() -> Self {
        Self { due: AtomicU64::new(NEVER), expiring: AtomicU64::new(0) }
    }
}

impl Times {
    /// Says that keys have come or gone, if one of them has a time to expire at.
    pub(super) fn note<'e>(&self, entries: impl IntoIterator<Item = &'e Arc<Entry>>) {
        if entries.into_iter().any(|entry| entry.expires_at().is_some()) {
            self.note_change();
        }
    }

    /// Says that a key has another time, after it was given.
    pub(super) fn note_change(&self) {
        self.due.store(AT_ONCE, Ordering::Release);
    }
}

impl Keyspace {
    /// How many keys have a time to expire at. Counted whenever expired ones are removed, and not when it is asked for:
    /// that would be a walk through all keys.
    #[must_use]
    pub fn expiring(&self) -> u64 {
        self.shards.iter().map(|shard| shard.times.expiring.load(Ordering::Relaxed)).sum()
    }

    /// Says that a key has another time to expire at, or none any more.
    pub fn note_expiry(&self, key: &[u8]) {
        self.shard(self.hash_of(key)).times.note_change();
        self.note_change(key);
    }

    /// Removes keys that have expired, everywhere, and says how many. `hold` is asked for before some are removed, and
    /// what it gives is dropped after them: for what must not happen in between.
    pub fn remove_expired<H>(&self, now: u64, hold: impl Fn() -> H) -> u64 {
        let mut removed = 0;
        for shard in &self.shards {
            let times = &shard.times;
            if times.due.load(Ordering::Relaxed) > now {
                continue;
            }
            // Before the walk: a change that the walk may miss asks for the next one.
            times.due.swap(NEVER, Ordering::AcqRel);
            loop {
                let (mut expiring, mut soonest) = (0, NEVER);
                let expired: Vec<Place> = {
                    let map = shard.read();
                    let places = map
                        .iter()
                        .filter(|(_, entry)| {
                            let Some(moment) = entry.expires_at() else { return false };
                            if moment > now {
                                expiring += 1;
                                soonest = soonest.min(moment);
                            }
                            moment <= now
                        })
                        .map(|(place, _)| place.clone());
                    places.take(EXPIRE_AT_ONCE).collect()
                };
                let _held = (!expired.is_empty()).then(&hold);
                for (_, key) in &expired {
                    // Asked again under the lock: it may have been given more time, or be another value by now.
                    removed += u64::from(self.remove_if(key, |entry| !entry.is_live(now)));
                }
                if expired.len() < EXPIRE_AT_ONCE {
                    times.expiring.store(expiring, Ordering::Relaxed);
                    times.due.fetch_min(soonest, Ordering::AcqRel);
                    break;
                }
            }
        }
        removed
    }
}
