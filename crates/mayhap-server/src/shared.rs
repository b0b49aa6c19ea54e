//! What all connections share.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mayhap_commands::Transfers;
use mio::Waker;
use mio::net::TcpStream;

use crate::aside::{Done, Job, MOST};
use crate::clients::{Client, Clients};
use crate::commands::table;
use crate::gate::Gate;
use crate::keyspace::Keyspace;
use crate::log::{Level, Log};
use crate::settings::{SettingError, Settings};
use crate::slowlog::{SlowCommand, Slowlog, shortened};
use crate::statistics::Statistics;
use crate::wait::Pollers;

/// The state of a server.
#[derive(Debug)]
pub struct Shared {
    /// Keys and values.
    pub keyspace: Keyspace,
    /// What the operator chose.
    pub settings: Settings,
    /// Dumps and loads that take several commands.
    pub transfers: Transfers,
    /// Who is connected.
    pub clients: Clients,
    /// What was done.
    pub statistics: Statistics,
    /// What took long.
    pub slowlog: Slowlog,
    /// What is said on standard error.
    pub log: Log,
    /// Forty hexadecimal digits, different at every start.
    pub run_id: String,
    /// Milliseconds since 1970.
    pub started_at: u64,
    pub(crate) gate: Gate,
    pub(crate) pollers: Pollers,
    pub(crate) buffers: Buffers,
    pub(crate) aside: Aside,
    pub(crate) inboxes: Box<[Inbox]>,
    pub(crate) acceptor: Waker,
    local_addr: SocketAddr,
    stop: AtomicU8,
    /// When a stop that drains has to be over.
    stop_by: OnceLock<Instant>,
    random: AtomicU64,
    /// Where the clock stands still for a test; 0: it doesn't.
    #[cfg(test)]
    pub(crate) stopped_clock: AtomicU64,
}

/// How to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Shutdown {
    /// No new connections; what was read is executed, and its replies are sent.
    Drain = 1,
    /// At once.
    Now = 2,
}

/// How a worker is told something.
#[derive(Debug)]
pub(crate) struct Inbox {
    messages: Mutex<Vec<Message>>,
    waker: Waker,
}

#[derive(Debug)]
pub(crate) enum Message {
    /// A new connection for it.
    Connection(TcpStream, std::sync::Arc<Client>),
    /// Some client of it was killed.
    Killed,
    /// A command that was executed aside.
    Done(Box<Done>),
}

/// The way to the thread for long commands.
#[derive(Debug, Default)]
pub(crate) struct Aside {
    jobs: Mutex<Option<Sender<Job>>>,
    waiting: AtomicUsize,
}

/// The bytes that the buffers of all connections hold beyond their small first ones.
#[derive(Debug, Default)]
pub(crate) struct Buffers(AtomicU64);

impl Shared {
    /// The bytes of keys, values, transfers under way and clients' buffers.
    pub(crate) fn used_bytes(&self) -> u64 {
        self.keyspace.used_bytes() + self.transfers.bytes() + self.buffers.bytes()
    }

    pub(crate) fn new(
        settings: Settings,
        local_addr: SocketAddr,
        acceptor: Waker,
        wakers: Vec<Waker>,
        seed: [u8; 28],
    ) -> Self {
        let (run_id, random) = seed.split_at(20);
        Self {
            keyspace: Keyspace::new(settings.maxmemory()),
            transfers: Transfers::with_limit(settings.maxmemory_transfers()),
            clients: Clients::default(),
            statistics: Statistics::new(wakers.len(), table().len()),
            slowlog: Slowlog::default(),
            log: Log::new(settings.log_level()),
            run_id: run_id.iter().map(|byte| format!("{byte:02x}")).collect(),
            started_at: now(),
            gate: Gate::new(wakers.len()),
            pollers: Pollers::of_this_machine(),
            buffers: Buffers::default(),
            aside: Aside::default(),
            inboxes: wakers.into_iter().map(|waker| Inbox { messages: Mutex::default(), waker }).collect(),
            acceptor,
            local_addr,
            stop: AtomicU8::new(0),
            stop_by: OnceLock::new(),
            random: AtomicU64::new(random.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))),
            settings,
            #[cfg(test)]
            stopped_clock: AtomicU64::new(0),
        }
    }

    /// Milliseconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        #[cfg(test)]
        if let moment @ 1.. = self.stopped_clock.load(Ordering::Relaxed) {
            return moment;
        }
        now()
    }

    /// Where the server listens.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Changes a setting, at once and everywhere.
    ///
    /// # Errors
    /// When there is no such setting, it is fixed, or it can't have this value.
    pub fn change_setting(&self, name: &str, value: &str) -> Result<(), SettingError> {
        self.settings.change(name, value)?;
        self.keyspace.set_limit(self.settings.maxmemory());
        self.log.set_level(self.settings.log_level());
        self.log.event(Level::Info, "setting changed", &[("name", &name), ("value", &value)]);
        Ok(())
    }

    /// Ends a connection, from any thread: its worker does it as soon as it can. A connection that ends itself still
    /// gets the reply to that.
    pub fn kill(&self, client: &Client) {
        client.mark_killed();
        self.tell(client.worker, Message::Killed);
    }

    /// Stops the server. Returns at once.
    pub fn shutdown(&self, how: Shutdown) {
        let longest = Duration::from_secs(self.settings.shutdown_timeout());
        self.stop_by.get_or_init(|| Instant::now() + longest);
        // A stop at once isn't taken back by one that drains.
        self.stop.fetch_max(how as u8, Ordering::Release);
        // A waker fails when the other side is gone: then it has stopped.
        let _ = self.acceptor.wake();
        for inbox in &self.inboxes {
            let _ = inbox.waker.wake();
        }
    }

    /// Whether the server is to stop, and how.
    #[must_use]
    pub fn stopping(&self) -> Option<Shutdown> {
        match self.stop.load(Ordering::Acquire) {
            0 => None,
            1 => Some(Shutdown::Drain),
            _ => Some(Shutdown::Now),
        }
    }

    /// Whether nothing more is to be done: the server stops at once, or has been draining for as long as it may.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        match self.stopping() {
            None => false,
            Some(Shutdown::Now) => true,
            Some(Shutdown::Drain) => self.stop_by.get().is_some_and(|moment| Instant::now() >= *moment),
        }
    }

    /// A random number: for a random key, not for secrets.
    #[must_use]
    pub fn random(&self) -> u64 {
        // SplitMix64: a counter with an odd step, and a mixer.
        let mut mixed = self.random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Notes commands in the slow log, if they were slow: one, or several in a row of which these are the first's words.
    pub(crate) fn note_if_slow(
        &self,
        client: &Client,
        taken: Duration,
        at: u64,
        calls: u64,
        words: &[&[u8]],
    ) {
        let micros = u64::try_from(taken.as_micros()).unwrap_or(u64::MAX);
        // As Redis has it: 0 notes every command, however quick.
        if micros >= self.settings.slowlog_log_slower_than() {
            let mut words = shortened(words);
            if calls > 1 {
                words.push(format!("... ({} more commands in a row)", calls - 1).into_bytes());
            }
            let (peer, name) = (client.peer.to_string(), client.names().name);
            let command = SlowCommand { id: 0, at: at / 1000, micros, words, peer, name };
            self.slowlog.add(command, self.settings.slowlog_max_len());
        }
    }

    pub(crate) fn tell(&self, worker: usize, message: Message) {
        if let Some(inbox) = self.inboxes.get(worker) {
            inbox.messages.lock().unwrap_or_else(PoisonError::into_inner).push(message);
            let _ = inbox.waker.wake();
        }
    }

    pub(crate) fn messages(&self, worker: usize) -> Vec<Message> {
        self.inboxes.get(worker).map_or_else(Vec::new, |inbox| {
            std::mem::take(&mut *inbox.messages.lock().unwrap_or_else(PoisonError::into_inner))
        })
    }
}

impl Aside {
    /// Opens the way, or closes it.
    pub(crate) fn lead_to(&self, jobs: Option<Sender<Job>>) {
        *self.jobs.lock().unwrap_or_else(PoisonError::into_inner) = jobs;
    }

    /// Whether another command may go there.
    pub(crate) fn has_room(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) < MOST
    }

    /// Sends a command there; back, if there is nobody.
    pub(crate) fn send(&self, job: Job) -> Result<(), Job> {
        match &*self.jobs.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(jobs) => {
                self.waiting.fetch_add(1, Ordering::Relaxed);
                jobs.send(job).map_err(|unsent| {
                    self.leave();
                    unsent.0
                })
            }
            None => Err(job),
        }
    }

    /// One of them is done.
    pub(crate) fn leave(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Buffers {
    /// Counts more or fewer bytes.
    pub(crate) fn change(&self, before: u64, after: u64) {
        if before != after {
            self.0.fetch_add(after.wrapping_sub(before), Ordering::Relaxed);
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
}
