//! The keyspace as one worker sees it while it executes a batch.

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use mayhap_commands::{Created, NoRoom, Settings, Transfers, Value};

use super::{Entry, Keyspace};
use crate::gate::Gate;

/// What a worker found last.
///
/// A hot filter is asked for by all workers all the time. If each of them raised and lowered its count of owners, the
/// line of memory with that count would go back and forth between the cores, and that alone would cost more than the
/// answer. So a worker keeps what it found, and counts its own uses in memory of its own.
///
/// It forgets at the end of each wake-up: a worker that sleeps keeps no value alive that others have removed.
#[derive(Debug, Default)]
pub struct WorkerCache {
    last: RefCell<Option<Remembered>>,
    /// Whether the key that was asked for last was there.
    was_found: Cell<bool>,
}

#[derive(Debug)]
struct Remembered {
    key: Vec<u8>,
    /// The keyspace's, before it was asked.
    generation: u64,
    entry: Rc<Owned>,
}

/// The worker's share of an entry, which it counts the uses of.
#[derive(Debug)]
struct Owned(Arc<Entry>);

impl WorkerCache {
    /// Forgets everything.
    pub fn clear(&self) {
        self.last.borrow_mut().take();
    }
}

/// A host of the filter commands.
#[derive(Debug)]
pub struct View<'w> {
    pub(crate) keyspace: &'w Keyspace,
    pub(crate) settings: &'w Settings,
    pub(crate) transfers: &'w Transfers,
    pub(crate) cache: &'w WorkerCache,
    /// Of a thread that isn't let in for the whole of a command, and has to be when a value that it has loaded becomes
    /// visible ([`hold`](mayhap_commands::Keyspace::hold)), and when it looks for one: what has expired is removed then.
    pub(crate) gate: Option<&'w Gate>,
    /// Whether what is found is thereby used: not after `CLIENT NO-TOUCH`.
    pub(crate) touches: bool,
    /// Milliseconds since 1970, when the batch began.
    pub(crate) now: u64,
}

/// A value that was found: kept alive by the worker's own count.
#[derive(Debug)]
pub struct Found(Rc<Owned>);

impl Found {
    /// The entry it is in.
    #[must_use]
    pub fn entry(&self) -> &Arc<Entry> {
        &self.0.0
    }
}

impl Deref for Found {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0.0.value
    }
}

impl View<'_> {
    /// Whether the key that was asked for last was there.
    pub(crate) fn was_found(&self) -> bool {
        self.cache.was_found.get()
    }

    /// After a command has changed the value of a key: counts its bytes again, and tells who watches it.
    pub(crate) fn note_change(&self, key: &[u8]) {
        self.keyspace.note_change(key);
        // The value that the command found: the key may mean another by now, and that value may have another key.
        if let Some(remembered) = &*self.cache.last.borrow()
            && remembered.key == key
        {
            self.keyspace.weigh(&remembered.entry.0);
        }
    }

    fn remember(&self, key: &[u8], generation: u64, entry: Arc<Entry>) -> Found {
        let entry = Rc::new(Owned(entry));
        let mut cache = self.cache.last.borrow_mut();
        // The old key's memory is used again.
        let mut name = cache.take().map(|remembered| remembered.key).unwrap_or_default();
        name.clear();
        name.extend_from_slice(key);
        *cache = Some(Remembered { key: name, generation, entry: Rc::clone(&entry) });
        Found(entry)
    }
}

impl mayhap_commands::Keyspace for View<'_> {
    type Held = Found;

    fn find(&self, key: &[u8]) -> Option<Found> {
        // Read before the map: if a key is removed in between, what is remembered is out of date at once.
        let generation = self.keyspace.generation();
        if let Some(remembered) = &*self.cache.last.borrow()
            && remembered.generation == generation
            && remembered.key == key
            && remembered.entry.0.is_live(self.now)
        {
            self.cache.was_found.set(true);
            return Some(Found(Rc::clone(&remembered.entry)));
        }
        let inside = self.gate.and_then(Gate::enter_beside);
        let found = self.keyspace.find(key, self.now);
        drop(inside);
        self.cache.was_found.set(found.is_some());
        let entry = found?;
        if self.touches {
            entry.touch(self.now);
        }
        Some(self.remember(key, generation, entry))
    }

    fn create(&self, key: &[u8], value: Value) -> Result<Created<Found>, NoRoom> {
        let generation = self.keyspace.generation();
        Ok(match self.keyspace.create(key, value, None, self.now)? {
            Created::New(entry) => Created::New(self.remember(key, generation, entry)),
            Created::Found(entry) => Created::Found(self.remember(key, generation, entry)),
        })
    }

    fn hold(&self) -> impl Sized {
        self.gate.and_then(Gate::enter_beside)
    }

    fn room(&self) -> u64 {
        // Loads that are under way become values.
        self.keyspace.room().saturating_sub(self.transfers.bytes())
    }

    fn settings(&self) -> &Settings {
        self.settings
    }

    fn transfers(&self) -> &Transfers {
        self.transfers
    }

    fn now(&self) -> u64 {
        self.now
    }
}
