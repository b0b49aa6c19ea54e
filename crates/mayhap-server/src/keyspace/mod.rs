//! Where the filters are: a map from keys to values that all workers share.
//!
//! The map is cut into shards, each with its own lock, held for a look-up or a change of the map and never while a
//! command works on a value. Inside a shard keys stand in the order of their hash, not in buckets: so `SCAN` has a
//! cursor (the hash it came to) that survives any growth and any removal, a walk costs no more than what it shows, and
//! a lookup is a handful of comparisons of numbers.

mod entry;
mod expiry;
mod room;
mod scan;
mod shard;
mod size;
mod view;
mod watchers;

pub use entry::Entry;
pub use scan::MAX_CURSOR;
pub use size::size_of;
pub use view::{Found, View, WorkerCache};
pub(crate) use watchers::Flag;

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError, RwLockWriteGuard};

use mayhap_commands::{Created, NoRoom, Value};

use room::Room;
use shard::{Entries, Place, Shard};
use watchers::Watchers;

/// A power of two. Enough that two workers seldom meet in one, few enough that an empty server is small.
const SHARDS: usize = 64;

/// The bits of a key's hash that count. Cursors are hashes, and clients in languages whose numbers are fractions must
/// be able to carry them exactly.
const HASH_BITS: u32 = 48;

/// All keys and their values.
#[derive(Debug)]
pub struct Keyspace {
    shards: Box<[Shard]>,
    /// Keyed at random, so that nobody can choose keys that meet in one shard.
    hash: RandomState,
    /// Raised whenever a key comes to mean another value, or none, while the lock of its shard is still held: what is
    /// answered afterwards is true for every worker. A worker that remembers what it found trusts its memory while this
    /// stands still.
    generation: AtomicU64,
    room: Room,
    watchers: Watchers,
    /// Keys that were removed because their time had come.
    expired: AtomicU64,
    /// Where values go to be freed: giving back gigabytes takes time that no client should wait for.
    attic: Mutex<Option<Sender<Removed>>>,
}

/// What only has to be dropped.
pub(crate) type Removed = Box<dyn Send>;

/// What became of a renaming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renamed {
    /// The value has the new name.
    Done,
    /// There is no such key.
    NoSuchKey,
    /// The new name is taken, and was not to be replaced.
    Taken,
}

impl Keyspace {
    /// An empty keyspace whose values may take so many bytes together; 0: as many as there are.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            hash: RandomState::new(),
            generation: AtomicU64::new(0),
            room: Room::new(limit),
            watchers: Watchers::default(),
            expired: AtomicU64::new(0),
            attic: Mutex::new(None),
        }
    }

    /// The value of a key that is there and has not expired at `now`.
    #[must_use]
    pub fn find(&self, key: &[u8], now: u64) -> Option<Arc<Entry>> {
        let hash = self.hash_of(key);
        let found = self.shard(hash).read().find(hash, key).cloned()?;
        if found.is_live(now) {
            return Some(found);
        }
        drop(found);
        self.end(key, now)
    }

    /// Puts a value under a key that has none; if it has one, gives that back and drops `value`.
    ///
    /// # Errors
    /// When there is no room for it.
    pub fn create(
        &self,
        key: &[u8],
        value: Value,
        expires_at: Option<u64>,
        now: u64,
    ) -> Result<Created<Arc<Entry>>, NoRoom> {
        if let Some(found) = self.find(key, now) {
            return Ok(Created::Found(found));
        }
        let entry = self.entry(key, value, expires_at, now)?;
        let hash = self.hash_of(key);
        let mut shard = self.shard(hash).write();
        // Somebody may have been faster since the look above.
        if let Some(found) = shard.find(hash, key).filter(|found| found.is_live(now)).cloned() {
            drop(shard);
            self.room.give_back(entry.bytes());
            return Ok(Created::Found(found));
        }
        let old = self.put(&mut shard, (hash, key.into()), &entry);
        drop(shard);
        self.discard(old);
        self.watchers.tell(key);
        Ok(Created::New(entry))
    }

    /// Puts a value under a key, whatever was there.
    ///
    /// # Errors
    /// When there is no room for it.
    pub fn replace(
        &self,
        key: &[u8],
        value: Value,
        expires_at: Option<u64>,
        now: u64,
    ) -> Result<Arc<Entry>, NoRoom> {
        let entry = self.entry(key, value, expires_at, now)?;
        let hash = self.hash_of(key);
        let old = self.put(&mut self.shard(hash).write(), (hash, key.into()), &entry);
        self.discard(old);
        self.watchers.tell(key);
        Ok(entry)
    }

    /// Removes a key. False if it was not there, or had expired.
    pub fn remove(&self, key: &[u8], now: u64) -> bool {
        let mut was_live = false;
        let is_removed = self.remove_if(key, |entry| {
            was_live = entry.is_live(now);
            true
        });
        self.count_expired((is_removed && !was_live).into());
        was_live
    }

    /// Gives a value another name, with its time of expiry.
    pub fn rename(&self, from: &[u8], to: &[u8], replace: bool, now: u64) -> Renamed {
        let (from_hash, to_hash) = (self.hash_of(from), self.hash_of(to));
        let (from_shard, to_shard) = (self.shard_index(from_hash), self.shard_index(to_hash));
        // Both locks, so that nobody sees the value under no name or under two; always the lower shard's first, so that
        // two renamings don't wait for each other.
        let mut pair = ShardPair {
            lower: from_shard.min(to_shard),
            first: self.shards[from_shard.min(to_shard)].write(),
            second: (from_shard != to_shard).then(|| self.shards[from_shard.max(to_shard)].write()),
        };
        let Some(entry) =
            pair.at(from_shard).find(from_hash, from).filter(|entry| entry.is_live(now)).cloned()
        else {
            return Renamed::NoSuchKey;
        };
        if from == to {
            return if replace { Renamed::Done } else { Renamed::Taken };
        }
        let target = pair.at(to_shard).find(to_hash, to).filter(|entry| entry.is_live(now));
        if target.is_some() && !replace {
            return Renamed::Taken;
        }
        pair.at(from_shard).remove(&(from_hash, from.into()));
        let old = pair.at(to_shard).insert((to_hash, to.into()), Arc::clone(&entry));
        // Before others can rename it.
        entry.set_key(to);
        self.outdate();
        drop(pair);
        // This may wait for a command that works on the value.
        self.weigh(&entry);
        self.discard(old);
        self.watchers.tell(from);
        self.watchers.tell(to);
        Renamed::Done
    }

    /// Removes every key, and says how many there were.
    pub fn clear(&self) -> u64 {
        let mut removed = 0;
        for shard in &self.shards {
            let entries = {
                let mut held = shard.write();
                self.outdate();
                std::mem::take(&mut *held)
            };
            removed += entries.len() as u64;
            self.watchers.tell_of(entries.iter().map(|((_, key), _)| key));
            self.room.give_back(entries.iter().map(|(_, entry)| entry.retire()).sum());
            // All of it, because it may be millions of small ones.
            self.free_aside(entries);
        }
        removed
    }

    /// How many keys there are. Some of them may have expired and not been removed yet.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().len()).sum()
    }

    /// Whether there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Says that the value of a key has changed. What the keyspace does itself it knows.
    pub fn note_change(&self, key: &[u8]) {
        self.watchers.tell(key);
    }

    /// Raises a flag when a key changes from now on. To be called while nobody else executes a command.
    pub(crate) fn watch(&self, key: &[u8], flag: &Flag) {
        self.watchers.add(key, flag);
    }

    /// Raises it no more.
    pub(crate) fn unwatch(&self, key: &[u8], flag: &Flag) {
        self.watchers.remove(key, flag);
    }

    /// Counts a value's bytes again, after a command changed it.
    pub fn weigh(&self, entry: &Entry) {
        self.room.change(entry.weigh());
    }

    /// The bytes of all keys and values.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        self.room.used()
    }

    /// The bytes that are left for values.
    #[must_use]
    pub fn room(&self) -> u64 {
        self.room.left()
    }

    /// The most bytes that values may take; 0: no limit.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.room.limit()
    }

    /// Changes that. What is there stays, even if it is more.
    pub fn set_limit(&self, limit: u64) {
        self.room.set_limit(limit);
    }

    /// Values that are removed are sent there, to be freed; without it they are freed where they are removed.
    pub(crate) fn send_removed_to(&self, attic: Option<Sender<Removed>>) {
        *self.attic.lock().unwrap_or_else(PoisonError::into_inner) = attic;
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    fn entry(
        &self,
        key: &[u8],
        value: Value,
        expires_at: Option<u64>,
        now: u64,
    ) -> Result<Arc<Entry>, NoRoom> {
        let entry = Entry::new(key, value, expires_at, now);
        self.room.take(entry.bytes())?;
        Ok(Arc::new(entry))
    }

    /// Removes a key if its entry is one that `unwanted` says so of.
    pub(crate) fn remove_if(&self, key: &[u8], unwanted: impl FnOnce(&Arc<Entry>) -> bool) -> bool {
        let hash = self.hash_of(key);
        let removed = {
            let mut shard = self.shard(hash).write();
            match shard.find(hash, key) {
                Some(entry) if unwanted(entry) => {
                    self.outdate();
                    shard.remove(&(hash, key.into()))
                }
                _ => None,
            }
        };
        let is_removed = removed.is_some();
        self.discard(removed);
        if is_removed {
            self.watchers.tell(key);
        }
        is_removed
    }

    /// Puts a value in a place of a shard that is held. What was there, to be discarded when the shard isn't held any more.
    fn put(&self, shard: &mut Entries, place: Place, entry: &Arc<Entry>) -> Option<Arc<Entry>> {
        let old = shard.insert(place, Arc::clone(entry));
        if old.is_some() {
            self.outdate();
        }
        old
    }

    /// Lets every worker look again. To be called before the shard of a key that means something else now is let go:
    /// afterwards somebody may already be told of the change.
    fn outdate(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Forgets a value that no key means any more.
    fn discard(&self, entry: Option<Arc<Entry>>) {
        let Some(entry) = entry else { return };
        let bytes = entry.retire();
        self.room.give_back(bytes);
        if bytes >= entry::SLOW_TO_FREE_BYTES {
            self.free_aside(entry);
        }
    }

    /// Drops something where no client waits for it.
    pub(crate) fn free_aside(&self, removed: impl Send + 'static) {
        if let Some(attic) = &*self.attic.lock().unwrap_or_else(PoisonError::into_inner) {
            // Nobody there any more: then it is freed here.
            let _ = attic.send(Box::new(removed));
        }
    }

    fn hash_of(&self, key: &[u8]) -> u64 {
        self.hash.hash_one(key) >> (u64::BITS - HASH_BITS)
    }

    fn shard_index(&self, hash: u64) -> usize {
        // The upper bits: so the order of hashes is the order of shards, and a walk goes from one to the next.
        #[allow(clippy::cast_possible_truncation, reason = "six bits")]
        let index = (hash >> (HASH_BITS - SHARDS.trailing_zeros())) as usize;
        index & (SHARDS - 1)
    }

    fn shard(&self, hash: u64) -> &Shard {
        &self.shards[self.shard_index(hash)]
    }
}

/// Two shards that are changed together, or one.
struct ShardPair<'k> {
    lower: usize,
    first: RwLockWriteGuard<'k, Entries>,
    second: Option<RwLockWriteGuard<'k, Entries>>,
}

impl ShardPair<'_> {
    fn at(&mut self, shard: usize) -> &mut Entries {
        match &mut self.second {
            Some(second) if shard > self.lower => second,
            _ => &mut self.first,
        }
    }
}

#[cfg(test)]
mod tests;
