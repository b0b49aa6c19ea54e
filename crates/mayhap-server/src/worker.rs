//! A worker: a thread with an event loop and its share of the connections.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use crate::aside::Done;
use crate::clients::Client;
use crate::connection::{Connection, Lent, Next, Reason, Turn};
use crate::execute::Executor;
use crate::log::Level;
use crate::session::Session;
use crate::shared::{Message, Shared, Shutdown, now};
use crate::statistics::Count;
use crate::wait::{Look, Waiting};

/// The token of the waker; connections have the numbers of their places, which are smaller.
pub(crate) const WAKE: Token = Token(usize::MAX);

/// Time limits of connections are looked at this often.
const TICK: Duration = Duration::from_secs(1);

const EVENTS: usize = 1024;

#[derive(Debug)]
pub(crate) struct Worker {
    index: usize,
    poll: Poll,
    waiting: Waiting,
    shared: Arc<Shared>,
    executor: Executor,
    lent: Lent,
    /// By token. Places of connections that ended are used again.
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// Those that may have more to read and will get no event for it.
    again: Vec<usize>,
    next_tick: Instant,
    /// Whether it knows that the server stops.
    is_draining: bool,
}

impl Worker {
    pub(crate) fn new(index: usize, poll: Poll, shared: Arc<Shared>) -> Self {
        Self {
            index,
            poll,
            waiting: Waiting::default(),
            executor: Executor::new(Arc::clone(&shared), index),
            shared,
            lent: Lent::default(),
            connections: Vec::new(),
            free: Vec::new(),
            again: Vec::new(),
            next_tick: Instant::now() + TICK,
            is_draining: false,
        }
    }

    /// Serves until the server stops.
    pub(crate) fn run(mut self) {
        let mut events = Events::with_capacity(EVENTS);
        let mut commands = 0;
        loop {
            match self.wait(&mut events, commands) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.shared.log.event(Level::Error, "cannot wait for events", &[("error", &error)]);
                    self.shared.shutdown(Shutdown::Now);
                }
            }
            let now = now();
            for place in std::mem::take(&mut self.again) {
                self.advance(place, now);
            }
            for event in &events {
                match event.token() {
                    WAKE => self.read_inbox(now),
                    Token(place) => {
                        if event.is_read_closed()
                            && let Some(Some(connection)) = self.connections.get_mut(place)
                        {
                            connection.note_finished();
                        }
                        self.advance(place, now);
                    }
                }
            }
            // A worker that sleeps keeps nothing alive.
            commands = self.executor.forget();
            self.tick(now);
            if self.is_over(now) {
                return;
            }
        }
    }

    /// Waits for events after a turn in which so many commands were executed.
    fn wait(&mut self, events: &mut Events, commands: u64) -> io::Result<()> {
        let longest = if self.again.is_empty() { TICK } else { Duration::ZERO };
        let limit = Duration::from_micros(self.shared.settings.poll_before_sleep());
        let times = (limit, longest);
        let look = self.waiting.wait(&mut self.poll, events, commands, times, &self.shared.pollers)?;
        if let Some(counters) = self.executor.counters() {
            match look {
                Look::None => {}
                Look::Caught => counters.add(Count::PollsCaught, 1),
                Look::InVain => counters.add(Count::PollsInVain, 1),
            }
        }
        Ok(())
    }

    fn read_inbox(&mut self, now: u64) {
        for message in self.shared.messages(self.index) {
            match message {
                Message::Connection(stream, client) => self.add(stream, client, now),
                Message::Killed => self.advance_all_killed(now),
                Message::Done(done) => self.resume(&done, now),
            }
        }
    }

    fn add(&mut self, mut stream: TcpStream, client: Arc<Client>, now: u64) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        // Events are told once, when something changes, for both directions: so nothing has to be registered again.
        let interest = Interest::READABLE | Interest::WRITABLE;
        if let Err(error) = self.poll.registry().register(&mut stream, Token(place), interest) {
            self.shared.log.event(Level::Warn, "cannot watch a connection", &[("error", &error)]);
            self.shared.clients.remove(client.id);
            self.free.push(place);
            return;
        }
        if let Some(counters) = self.executor.counters() {
            counters.add(Count::Connections, 1);
        }
        let fields: [(&str, &dyn std::fmt::Display); 2] = [("id", &client.id), ("peer", &client.peer)];
        self.shared.log.event(Level::Debug, "connected", &fields);
        if let Some(slot) = self.connections.get_mut(place) {
            *slot = Some(Connection::new(stream, Session::new(client), now));
        }
    }

    fn advance(&mut self, place: usize, now: u64) {
        self.give_turn(place, now, Connection::advance);
    }

    /// Lets a connection do something, and follows what comes of it.
    fn give_turn(
        &mut self,
        place: usize,
        now: u64,
        act: impl FnOnce(&mut Connection, &mut Turn<'_>) -> Next,
    ) {
        // An event can be about a connection that has just ended.
        let Some(Some(connection)) = self.connections.get_mut(place) else { return };
        let mut turn = Turn { lent: &mut self.lent, executor: &mut self.executor, shared: &self.shared, now };
        // A fault in a command must not take the other connections of this worker with it.
        let next = catch_unwind(AssertUnwindSafe(|| act(connection, &mut turn)));
        let next = next.unwrap_or_else(|_| self.after_panic());
        self.follow(place, next);
    }

    /// Goes on with a connection whose command was executed aside, if it is still there.
    fn resume(&mut self, done: &Done, now: u64) {
        if let Some(counters) = self.executor.counters() {
            counters.add(Count::Commands, done.counts.calls);
            counters.add(Count::Errors, done.counts.failed);
            counters.add_command(done.place, done.counts);
        }
        for place in self.places(|connection| connection.session.client.id == done.client.id) {
            self.give_turn(place, now, |connection, turn| connection.resume(&done.reply, turn));
        }
    }

    fn follow(&mut self, place: usize, next: Next) {
        match next {
            Next::Wait => {}
            Next::Again => self.again.push(place),
            Next::Drop(reason) => self.remove(place, reason),
        }
    }

    fn after_panic(&mut self) -> Next {
        // Buffers may be in the hands of whoever is gone.
        self.lent = Lent::default();
        self.executor = Executor::new(Arc::clone(&self.shared), self.index);
        self.shared.log.event(Level::Error, "a command panicked; its connection is closed", &[]);
        Next::Drop(Reason::Broken)
    }

    fn remove(&mut self, place: usize, reason: Reason) {
        let Some(mut connection) = self.connections.get_mut(place).and_then(Option::take) else { return };
        connection.release(&self.shared);
        // Dropping closes it, which ends the watching, too; told anyway, as not every system does both.
        let _ = self.poll.registry().deregister(&mut connection.stream);
        let client = &connection.session.client;
        self.shared.clients.remove(client.id);
        self.free.push(place);
        let (level, event) = match reason {
            Reason::Closed => (Level::Debug, "disconnected"),
            Reason::Broken => (Level::Debug, "connection lost"),
            Reason::Killed => (Level::Info, "connection killed"),
            Reason::OutputLimit => {
                (Level::Warn, "disconnected: more replies than client-output-limit waited")
            }
            Reason::ClientMemory => {
                (Level::Warn, "disconnected: buffers of all clients above maxmemory-clients")
            }
            Reason::TimedOut => (Level::Info, "disconnected: silent for too long"),
        };
        if let Some(counters) = self.executor.counters() {
            match reason {
                Reason::OutputLimit | Reason::ClientMemory => counters.add(Count::OutputLimit, 1),
                Reason::TimedOut => counters.add(Count::TimedOut, 1),
                Reason::Closed | Reason::Broken | Reason::Killed => {}
            }
        }
        self.shared.log.event(level, event, &[("id", &client.id), ("peer", &client.peer)]);
    }

    fn advance_all_killed(&mut self, now: u64) {
        for place in self.places(|connection| connection.session.client.is_killed()) {
            self.advance(place, now);
        }
    }

    fn tick(&mut self, now: u64) {
        if Instant::now() < self.next_tick {
            return;
        }
        self.next_tick = Instant::now() + TICK;
        for place in 0..self.connections.len() {
            if let Some(Some(connection)) = self.connections.get(place)
                && let Some(reason) = connection.check_time(&self.shared, now)
            {
                self.remove(place, reason);
            }
        }
    }

    /// Whether the server stops, and there is nothing left to do here.
    fn is_over(&mut self, now: u64) -> bool {
        if self.shared.stopping().is_none() {
            return false;
        }
        if self.shared.is_over() {
            return true;
        }
        if !self.is_draining {
            self.is_draining = true;
            self.read_inbox(now);
        }
        for place in self.places(|connection| !connection.is_done()) {
            self.give_turn(place, now, Connection::drain);
        }
        self.shared.is_over() || self.places(|connection| !connection.is_done()).is_empty()
    }

    fn places(&self, wanted: impl Fn(&Connection) -> bool) -> Vec<usize> {
        let places = self.connections.iter().enumerate();
        places
            .filter(|(_, connection)| connection.as_ref().is_some_and(&wanted))
            .map(|(place, _)| place)
            .collect()
    }
}
