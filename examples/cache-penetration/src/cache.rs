//! A cache with expiry, as Redis or memcached would be. Time is a number of seconds that the caller gives.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// What an entry takes beside its key and its value: two headers, a hash table's slot, the expiry. Redis takes more.
const ENTRY_OVERHEAD: usize = 64;

/// Values, and the knowledge that there is none, each for a while.
#[derive(Debug, Default)]
pub struct Cache {
    /// The value (`None`: there is no such user) and when it expires.
    entries: HashMap<Rc<str>, (Option<String>, u64)>,
    /// Which keys may expire at a second.
    expiring: BTreeMap<u64, Vec<Rc<str>>>,
    bytes: usize,
    peak_bytes: usize,
}

impl Cache {
    /// What is known about a key: a value, that there is none, or nothing.
    pub fn get(&self, key: &str) -> Option<&Option<String>> {
        self.entries.get(key).map(|(value, _)| value)
    }

    /// Keeps a value, or that there is none, until a second.
    pub fn put(&mut self, key: &str, value: Option<String>, until: u64) {
        self.remove(key);
        self.bytes += size(key, value.as_ref());
        self.peak_bytes = self.peak_bytes.max(self.bytes);
        let key: Rc<str> = key.into();
        self.expiring.entry(until).or_default().push(Rc::clone(&key));
        self.entries.insert(key, (value, until));
    }

    /// Forgets what is known about a key.
    pub fn remove(&mut self, key: &str) {
        if let Some((value, _)) = self.entries.remove(key) {
            self.bytes -= size(key, value.as_ref());
        }
    }

    /// Drops what has expired by now.
    pub fn expire(&mut self, now: u64) {
        while let Some(first) = self.expiring.first_entry().filter(|first| *first.key() <= now) {
            for key in first.remove() {
                // It may have been put again since, for longer.
                if self.entries.get(&key).is_some_and(|(_, until)| *until <= now) {
                    self.remove(&key);
                }
            }
        }
    }

    /// The most memory it ever took.
    pub fn peak_bytes(&self) -> usize {
        self.peak_bytes
    }
}

fn size(key: &str, value: Option<&String>) -> usize {
    key.len() + value.map_or(0, String::len) + ENTRY_OVERHEAD
}
