//! A part of the keys, behind one lock.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::Entry;

/// Where a key stands: by its hash, and among equal hashes by its bytes.
pub(super) type Place = (u64, Box<[u8]>);

/// Some of the keys, for one at a time to change.
#[derive(Debug, Default)]
pub(super) struct Shard(RwLock<Entries>);

impl Shard {
    // A thread that panicked can't have left an entry half there: at worst the time of one that has gone is kept, and
    // that is passed over.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, Entries> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, Entries> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keys and their values, and which of them end when.
#[derive(Debug, Default)]
pub(super) struct Entries {
    by_place: BTreeMap<Place, Arc<Entry>>,
    /// The times of those that have one, and their hashes. Keys of one hash that end in the same millisecond, which may
    /// never happen, are one here; if one of them gets another time, the other goes when somebody asks for it.
    ends: BTreeSet<(u64, u64)>,
}

impl Entries {
    pub(super) fn len(&self) -> usize {
        self.by_place.len()
    }

    /// How many have a time to expire at.
    pub(super) fn expiring(&self) -> usize {
        self.ends.len()
    }

    /// When the next one does.
    pub(super) fn next_end(&self) -> Option<u64> {
        self.ends.first().map(|(moment, _)| *moment)
    }

    /// Finds a key without making a [`Place`] of it, which would copy it.
    pub(super) fn find(&self, hash: u64, key: &[u8]) -> Option<&Arc<Entry>> {
        self.of_hash(hash).find(|((_, name), _)| **name == *key).map(|(_, entry)| entry)
    }

    /// All from a hash on, in the order of their hashes.
    pub(super) fn from(&self, hash: u64) -> impl Iterator<Item = (&Place, &Arc<Entry>)> {
        self.by_place.range((hash, Box::default())..)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Place, &Arc<Entry>)> {
        self.by_place.iter()
    }

    /// Puts a value in a place. What was there.
    pub(super) fn insert(&mut self, place: Place, entry: Arc<Entry>) -> Option<Arc<Entry>> {
        let hash = place.0;
        let (after, old) = (entry.expires_at(), self.by_place.insert(place, entry));
        self.change_end(hash, old.as_ref().and_then(|old| old.expires_at()), after);
        old
    }

    pub(super) fn remove(&mut self, place: &Place) -> Option<Arc<Entry>> {
        let removed = self.by_place.remove(place)?;
        self.change_end(place.0, removed.expires_at(), None);
        Some(removed)
    }

    /// Gives one of these another time to expire at, or none.
    pub(super) fn set_expiry(&mut self, hash: u64, entry: &Entry, moment: Option<u64>) {
        self.change_end(hash, entry.expires_at(), moment);
        entry.set_expires_at(moment);
    }

    /// Removes at most so many that have expired, the first to end first.
    pub(super) fn remove_expired(&mut self, now: u64, most: usize) -> Vec<(Place, Arc<Entry>)> {
        let mut removed = Vec::new();
        while removed.len() < most
            && let Some(end) = self.ends.first().copied().filter(|(moment, _)| *moment <= now)
        {
            self.ends.remove(&end);
            let expired = self.of_hash(end.1).filter(|(_, entry)| !entry.is_live(now));
            let places: Vec<Place> = expired.map(|(place, _)| place.clone()).collect();
            removed
                .extend(places.into_iter().filter_map(|place| Some((place.clone(), self.remove(&place)?))));
        }
        removed
    }

    /// Those of one hash, which are one but for a rare accident.
    fn of_hash(&self, hash: u64) -> impl Iterator<Item = (&Place, &Arc<Entry>)> {
        self.from(hash).take_while(move |((other, _), _)| *other == hash)
    }

    fn change_end(&mut self, hash: u64, before: Option<u64>, after: Option<u64>) {
        if let Some(moment) = before {
            self.ends.remove(&(moment, hash));
        }
        if let Some(moment) = after {
            self.ends.insert((moment, hash));
        }
    }
}
