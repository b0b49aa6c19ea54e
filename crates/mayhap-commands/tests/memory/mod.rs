//! A host of filters for tests: a map, a clock that tests set, and a limit.
#![allow(clippy::unwrap_used, reason = "a check that panics has failed")]
#![allow(dead_code, reason = "each test that includes this uses a part of it")]

pub(crate) mod wire;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mayhap::hash::{KeyHasher, SecretKey};
use mayhap_commands::{Created, Keyspace, NoRoom, Outcome, Reply, Settings, Transfers, Value, execute, spec};

#[derive(Debug)]
pub(crate) struct Memory {
    values: Mutex<HashMap<Vec<u8>, Arc<Value>>>,
    pub(crate) settings: Settings,
    pub(crate) transfers: Transfers,
    pub(crate) clock: AtomicU64,
    pub(crate) room: AtomicU64,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Self::with_key(7)
    }

    /// Native filters hash with a secret key of these bytes.
    pub(crate) fn with_key(byte: u8) -> Self {
        Self {
            values: Mutex::default(),
            settings: Settings::new(KeyHasher::sip13(SecretKey::new([byte; 16]))),
            transfers: Transfers::default(),
            clock: AtomicU64::new(0),
            room: AtomicU64::new(u64::MAX),
        }
    }

    pub(crate) fn with_layout(layout: &str) -> Self {
        let memory = Self::new();
        memory.set("bf-layout", layout);
        memory.set("cf-layout", layout);
        memory
    }

    pub(crate) fn set(&self, name: &str, value: &str) {
        assert_eq!(self.settings.set(name, value), Ok(true), "{name} {value}");
    }

    pub(crate) fn put(&self, key: &[u8], value: Value) {
        self.values.lock().unwrap().insert(key.to_vec(), Arc::new(value));
    }

    pub(crate) fn remove(&self, key: &[u8]) -> bool {
        self.values.lock().unwrap().remove(key).is_some()
    }

    /// Executes a command as a server does: by its name, after its number of words was looked at.
    pub(crate) fn outcome(&self, words: &[impl AsRef<[u8]>]) -> Outcome {
        let words: Vec<&[u8]> = words.iter().map(AsRef::as_ref).collect();
        let name = String::from_utf8_lossy(words[0]).to_ascii_uppercase();
        let Some(spec) = spec::all().find(|spec| spec.name == name) else {
            return Reply::error_of(format!("ERR unknown command '{name}'")).into();
        };
        if spec.takes(words.len()) { execute(self, spec.id, &words) } else { spec.wrong_arity().into() }
    }

    pub(crate) fn reply(&self, words: &[impl AsRef<[u8]>]) -> Reply {
        self.outcome(words).reply
    }

    /// A command without spaces or quotes in its words.
    pub(crate) fn run(&self, command: &str) -> Reply {
        self.reply(&command.split(' ').collect::<Vec<_>>())
    }
}

impl Keyspace for Memory {
    type Held = Arc<Value>;

    fn find(&self, key: &[u8]) -> Option<Arc<Value>> {
        self.values.lock().unwrap().get(key).cloned()
    }

    fn create(&self, key: &[u8], value: Value) -> Result<Created<Arc<Value>>, NoRoom> {
        let mut values = self.values.lock().unwrap();
        if let Some(found) = values.get(key) {
            return Ok(Created::Found(Arc::clone(found)));
        }
        let value = Arc::new(value);
        values.insert(key.to_vec(), Arc::clone(&value));
        Ok(Created::New(value))
    }

    fn room(&self) -> u64 {
        // As the server does: loads that are under way become values.
        self.room.load(Ordering::Relaxed).saturating_sub(self.transfers.bytes())
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn transfers(&self) -> &Transfers {
        &self.transfers
    }

    fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }
}
