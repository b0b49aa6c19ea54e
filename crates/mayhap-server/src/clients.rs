//! Who is connected: what `CLIENT` shows.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::session::Protocol;

/// Every connection.
#[derive(Debug, Default)]
pub struct Clients {
    by_id: Mutex<BTreeMap<u64, Arc<Client>>>,
    last_id: AtomicU64,
}

/// What everybody can see of one connection. The worker that owns the connection writes most of it, once per wake-up.
#[derive(Debug)]
pub struct Client {
    /// Its number; never given twice.
    pub id: u64,
    /// The other end.
    pub peer: SocketAddr,
    /// This end.
    pub local: SocketAddr,
    /// Milliseconds since 1970.
    pub connected_at: u64,
    /// Which worker has it.
    pub worker: usize,
    last_active: AtomicU64,
    commands: AtomicU64,
    /// The place of its last command in the table of commands.
    last_command: AtomicU32,
    protocol: AtomicU8,
    input_bytes: AtomicU64,
    output_bytes: AtomicU64,
    /// Commands that wait for `EXEC`; -1: no `MULTI`.
    queued: AtomicI64,
    watched: AtomicU64,
    transaction_bytes: AtomicU64,
    killed: AtomicBool,
    no_evict: AtomicBool,
    no_touch: AtomicBool,
    names: Mutex<Names>,
}

/// What a client says about itself.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// `CLIENT SETNAME`.
    pub name: String,
    /// `CLIENT SETINFO lib-name`.
    pub library: String,
    /// `CLIENT SETINFO lib-ver`.
    pub library_version: String,
}

impl Clients {
    /// Adds a connection.
    pub(crate) fn add(&self, peer: SocketAddr, local: SocketAddr, worker: usize, now: u64) -> Arc<Client> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let client = Arc::new(Client {
            id,
            peer,
            local,
            connected_at: now,
            worker,
            last_active: AtomicU64::new(now),
            commands: AtomicU64::new(0),
            last_command: AtomicU32::new(u32::MAX),
            protocol: AtomicU8::new(Protocol::Two.version()),
            input_bytes: AtomicU64::new(0),
            output_bytes: AtomicU64::new(0),
            queued: AtomicI64::new(-1),
            watched: AtomicU64::new(0),
            transaction_bytes: AtomicU64::new(0),
            killed: AtomicBool::new(false),
            no_evict: AtomicBool::new(false),
            no_touch: AtomicBool::new(false),
            names: Mutex::default(),
        });
        self.lock().insert(id, Arc::clone(&client));
        client
    }

    pub(crate) fn remove(&self, id: u64) {
        self.lock().remove(&id);
    }

    /// All of them, in the order in which they came.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Client>> {
        self.lock().values().cloned().collect()
    }

    /// One of them.
    #[must_use]
    pub fn find(&self, id: u64) -> Option<Arc<Client>> {
        self.lock().get(&id).cloned()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Client>>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client {
    /// What it says about itself.
    #[must_use]
    pub fn names(&self) -> Names {
        self.names_lock().clone()
    }

    /// Changes what it says about itself.
    pub fn set_names(&self, change: impl FnOnce(&mut Names)) {
        change(&mut self.names_lock());
    }

    /// 2 or 3.
    #[must_use]
    pub fn protocol_version(&self) -> u8 {
        self.protocol.load(Ordering::Relaxed)
    }

    pub(crate) fn set_protocol(&self, protocol: Protocol) {
        self.protocol.store(protocol.version(), Ordering::Relaxed);
    }

    /// When it last sent something, in milliseconds since 1970.
    #[must_use]
    pub fn last_active(&self) -> u64 {
        self.last_active.load(Ordering::Relaxed)
    }

    /// How many commands it has sent.
    #[must_use]
    pub fn commands(&self) -> u64 {
        self.commands.load(Ordering::Relaxed)
    }

    /// The place in the table of commands (`commands::table()`) of the command it sent last; none yet: `None`.
    #[must_use]
    pub fn last_command(&self) -> Option<usize> {
        match self.last_command.load(Ordering::Relaxed) {
            u32::MAX => None,
            place => Some(place as usize),
        }
    }

    /// Bytes of a request that has not come whole yet.
    #[must_use]
    pub fn input_bytes(&self) -> u64 {
        self.input_bytes.load(Ordering::Relaxed)
    }

    /// Bytes of replies that it has not taken yet.
    #[must_use]
    pub fn output_bytes(&self) -> u64 {
        self.output_bytes.load(Ordering::Relaxed)
    }

    /// After a wake-up: what it sent, and what waits.
    pub(crate) fn note(&self, now: u64, commands: u64, last_command: Option<u32>) {
        self.last_active.store(now, Ordering::Relaxed);
        self.commands.store(self.commands() + commands, Ordering::Relaxed);
        if let Some(place) = last_command {
            self.last_command.store(place, Ordering::Relaxed);
        }
    }

    pub(crate) fn note_buffers(&self, input: usize, output: usize) {
        self.input_bytes.store(input as u64, Ordering::Relaxed);
        self.output_bytes.store(output as u64, Ordering::Relaxed);
    }

    pub(crate) fn note_transaction(&self, queued: Option<usize>, watched: usize, bytes: usize) {
        let queued = queued.map_or(-1, |count| i64::try_from(count).unwrap_or(i64::MAX));
        self.queued.store(queued, Ordering::Relaxed);
        self.watched.store(watched as u64, Ordering::Relaxed);
        self.transaction_bytes.store(bytes as u64, Ordering::Relaxed);
    }

    /// Commands that wait for `EXEC`; -1 without a `MULTI`.
    #[must_use]
    pub fn queued(&self) -> i64 {
        self.queued.load(Ordering::Relaxed)
    }

    /// Keys that it watches.
    #[must_use]
    pub fn watched(&self) -> u64 {
        self.watched.load(Ordering::Relaxed)
    }

    /// Bytes of commands that wait for `EXEC`, and of keys that it watches.
    #[must_use]
    pub fn transaction_bytes(&self) -> u64 {
        self.transaction_bytes.load(Ordering::Relaxed)
    }

    /// Whether it is to be disconnected. Its worker does it as soon as it is woken.
    #[must_use]
    pub fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Relaxed)
    }

    pub(crate) fn mark_killed(&self) {
        self.killed.store(true, Ordering::Relaxed);
    }

    /// `CLIENT NO-EVICT`. Nothing is evicted here; it is remembered so that `CLIENT LIST` shows it.
    #[must_use]
    pub fn no_evict(&self) -> bool {
        self.no_evict.load(Ordering::Relaxed)
    }

    /// Sets that.
    pub fn set_no_evict(&self, on: bool) {
        self.no_evict.store(on, Ordering::Relaxed);
    }

    /// `CLIENT NO-TOUCH`: whether its commands don't count as a use of keys. `TOUCH` does.
    #[must_use]
    pub fn no_touch(&self) -> bool {
        self.no_touch.load(Ordering::Relaxed)
    }

    /// Sets that.
    pub fn set_no_touch(&self, on: bool) {
        self.no_touch.store(on, Ordering::Relaxed);
    }

    pub(crate) fn reset(&self) {
        self.set_no_evict(false);
        self.set_no_touch(false);
        self.set_names(|names| names.name.clear());
    }

    fn names_lock(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
