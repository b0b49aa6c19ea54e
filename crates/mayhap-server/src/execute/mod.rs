//! Executing what came in one read, as a batch.
//!
//! Requests are parsed one after the other. As long as the same command comes for the same key, nothing is executed: the
//! items are collected, and then the whole run goes through one lookup of the key, one pass of hashing, one of fetching
//! and one of probing. Replies are written in the order of the requests.
//!
//! While a worker executes a batch it is inside the [`Gate`](crate::gate::Gate), which keeps transactions out.

mod counting;
mod transaction;

use std::sync::Arc;
use std::time::Instant;

use mayhap_commands::{CommandId, Effect, Outcome, Reply};

use crate::aside::{Job, is_long};
use crate::commands::{Command, Row, Table, help, table, unknown_command};
use crate::context::Context;
use crate::gate::Inside;
use crate::keyspace::{View, WorkerCache};
use crate::resp::{Limits, Parsed, ProtocolError, RequestParser, write_reply};
use crate::session::{Replies, Session};
use crate::shared::Shared;
use crate::statistics::{Count, Counters};

/// Items of a run. Hashes and answers of so many stay in the nearest cache.
const MAX_RUN: usize = 256;

/// When so many bytes of replies have come together, they are sent before more commands are executed.
const OUTPUT_PIECE: usize = 1 << 20;

/// Executes commands for one worker.
#[derive(Debug)]
pub(crate) struct Executor {
    shared: Arc<Shared>,
    table: &'static Table,
    worker: usize,
    cache: WorkerCache,
    /// Of a run; kept so that its memory is.
    replies: Vec<Reply>,
    /// How many were executed in this wake-up.
    commands: u64,
}

/// How far a batch came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Bytes of the input that have been executed.
    pub(crate) consumed: usize,
    /// Why it ended there.
    pub(crate) end: End,
}

/// Why a batch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// There is no further whole request.
    NoMore,
    /// The replies should be sent first.
    OutputFull,
    /// There were more replies than may wait; they are lost, and the connection with them.
    OutputLost,
    /// A command is being executed aside; what follows it has to wait.
    Waiting,
    /// The connection is to end.
    Closing,
    /// The server is: what is left is not executed.
    Stopped,
    /// What follows can't be understood.
    Broken(ProtocolError),
}

/// One batch.
struct Batch<'b, 'i> {
    shared: &'b Shared,
    table: &'static Table,
    worker: usize,
    cache: &'b WorkerCache,
    replies: &'b mut Vec<Reply>,
    /// Not while it is alone.
    inside: Option<Inside<'b>>,
    session: &'b mut Session,
    output: &'b mut Vec<u8>,
    now: u64,
    /// When the last command ended, which is when the next began.
    clock: Instant,
    /// The run that is being collected.
    run: Option<Run<'i>>,
    items: Vec<&'i [u8]>,
    /// How many of them each command has, if they may have more than one.
    counts: Vec<usize>,
    /// The name of the last command, as it was written, and its place: most often the next is the same.
    last_found: Option<(&'i [u8], usize)>,
    commands: u64,
    last_place: Option<usize>,
    /// Whether a command went aside.
    is_waiting: bool,
}

/// Where a batch is executed, and when it began.
#[derive(Clone, Copy)]
struct Station<'b> {
    shared: &'b Shared,
    table: &'static Table,
    worker: usize,
    cache: &'b WorkerCache,
    now: u64,
}

#[derive(Clone, Copy)]
struct Run<'i> {
    place: usize,
    id: CommandId,
    key: &'i [u8],
    /// Whether its commands have any number of items.
    is_wide: bool,
}

impl Executor {
    pub(crate) fn new(shared: Arc<Shared>, worker: usize) -> Self {
        let (cache, replies) = (WorkerCache::default(), Vec::new());
        Self { shared, table: table(), worker, cache, replies, commands: 0 }
    }

    /// Executes the requests at the start of `input`.
    pub(crate) fn execute(
        &mut self,
        session: &mut Session,
        parser: &mut RequestParser,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Progress {
        let shared = &*self.shared;
        let settings = &shared.settings;
        let limits =
            Limits { request_bytes: settings.max_request_bytes(), arguments: settings.max_arguments() };
        let inside = shared.gate.enter(self.worker);
        // Only now: others may have been waited for.
        let now = shared.now();
        let station = Station { shared, table: self.table, worker: self.worker, cache: &self.cache, now };
        let mut batch = Batch::new(station, inside, session, &mut self.replies, output);
        let mut words: Vec<&[u8]> = Vec::new();
        let mut consumed = 0;
        let end = loop {
            if shared.is_over() {
                break End::Stopped;
            }
            words.clear();
            match parser.parse(input.get(consumed..).unwrap_or_default(), &limits, &mut words) {
                Ok(Parsed::Whole(len)) => {
                    consumed += len;
                    batch.take(&words);
                }
                Ok(Parsed::Inline(len, owned)) => {
                    consumed += len;
                    let words: Vec<&[u8]> = owned.iter().map(Vec::as_slice).collect();
                    batch.end_run();
                    batch.execute(&words);
                }
                Ok(Parsed::More) => break End::NoMore,
                Err(error) => break End::Broken(error),
            }
            if batch.is_waiting {
                break End::Waiting;
            }
            if batch.session.has_lost_replies {
                break End::OutputLost;
            }
            if batch.session.closing {
                break End::Closing;
            }
            if batch.output.len() >= OUTPUT_PIECE {
                break End::OutputFull;
            }
        };
        self.commands += batch.finish();
        Progress { consumed, end }
    }

    /// At the end of a wake-up: lets go of what was found. How many commands were executed.
    pub(crate) fn forget(&mut self) -> u64 {
        self.cache.clear();
        std::mem::take(&mut self.commands)
    }

    pub(crate) fn counters(&self) -> Option<&Counters> {
        self.shared.statistics.worker(self.worker)
    }
}

impl<'b, 'i> Batch<'b, 'i> {
    fn new(
        station: Station<'b>,
        inside: Option<Inside<'b>>,
        session: &'b mut Session,
        replies: &'b mut Vec<Reply>,
        output: &'b mut Vec<u8>,
    ) -> Self {
        let Station { shared, table, worker, cache, now } = station;
        Self {
            shared,
            table,
            worker,
            cache,
            replies,
            inside,
            session,
            output,
            now,
            clock: Instant::now(),
            run: None,
            items: Vec::new(),
            counts: Vec::new(),
            last_found: None,
            commands: 0,
            last_place: None,
            is_waiting: false,
        }
    }

    /// Takes a request: into the run, or executes it.
    // Always, as `find`: a handful of comparisons for most requests, of which the compiler, seeing two callers, would make
    // a call that takes 30 instructions more.
    #[inline(always)]
    fn take(&mut self, words: &[&'i [u8]]) {
        if let [name, key, items @ ..] = words
            && let [first, more @ ..] = items
            && self.session.is_plain()
            && let Some(place) = self.find(name)
        {
            if let Some(run) = self.run
                && run.place == place
                && run.key == *key
                && self.items.len() + more.len() < MAX_RUN
                && (run.is_wide || more.is_empty())
            {
                return self.collect(run, first, more);
            }
            if let Some(spec) = self.table.spec(place)
                && items.len() <= MAX_RUN
            {
                let is_wide = mayhap_commands::runs_wide(spec.id);
                if is_wide || more.is_empty() && mayhap_commands::runs(spec.id) {
                    self.end_run();
                    let run = Run { place, id: spec.id, key, is_wide };
                    self.run = Some(run);
                    return self.collect(run, first, more);
                }
            }
        }
        self.end_run();
        self.execute(words);
    }

    #[inline(always)]
    fn collect(&mut self, run: Run<'i>, first: &'i [u8], more: &[&'i [u8]]) {
        self.items.push(first);
        if run.is_wide {
            self.items.extend_from_slice(more);
            self.counts.push(more.len() + 1);
        }
    }

    #[inline(always)]
    fn find(&mut self, name: &'i [u8]) -> Option<usize> {
        if let Some((last, place)) = self.last_found
            && last == name
        {
            return Some(place);
        }
        self.find_in_table(name)
    }

    #[inline(never)]
    fn find_in_table(&mut self, name: &'i [u8]) -> Option<usize> {
        let place = self.table.find(name)?;
        self.last_found = Some((name, place));
        Some(place)
    }

    /// Executes the run that has been collected.
    fn end_run(&mut self) {
        let Some(Run { place, id, key, is_wide }) = self.run.take() else { return };
        let mut replies = std::mem::take(self.replies);
        let view = self.view();
        let items_of_first = self.counts.first().copied().unwrap_or(1);
        let effect = if is_wide {
            mayhap_commands::execute_wide_run(&view, id, key, &self.items, &self.counts, &mut replies)
        } else {
            mayhap_commands::execute_run(&view, id, key, &self.items, &mut replies)
        };
        self.counts.clear();
        if effect != Effect::None {
            view.note_change(key);
        }
        let row = self.table.row(place);
        let count = replies.len() as u64;
        if row.is_some_and(|row| row.is_read) {
            self.count_lookups(&view, count);
        }
        let mut failed = 0;
        for reply in &replies {
            failed += u64::from(reply.is_error());
            write_reply(reply, self.session.protocol, self.output);
        }
        replies.clear();
        *self.replies = replies;
        let name = row.map_or("", |row| row.spec.name);
        let first_command: Vec<&[u8]> =
            [name.as_bytes(), key].into_iter().chain(self.items.drain(..).take(items_of_first)).collect();
        self.count(place, count, failed, &first_command);
    }

    /// Executes one command.
    fn execute(&mut self, words: &[&[u8]]) {
        let Some(name) = words.first() else { return };
        if self.session.replies == Replies::SkipNext {
            // That is this one, which may ask for the same again.
            self.session.replies = Replies::SkipThis;
        }
        let place = self.table.find(name);
        let reply = match place {
            _ if self.is_to_be_queued(place, words) => return self.queue(place, words),
            Some(place) if self.goes_aside(place, words) => return,
            Some(place) => self.execute_at(place, words),
            None => unknown_command(words),
        };
        // Some only ask for what has to be done alone, and that may write its reply itself.
        let reply = match self.session.due.take() {
            Some(due) => self.do_alone(&due, words),
            None => Some(reply),
        };
        self.answer(reply.as_ref());
        let failed = u64::from(reply.is_some_and(|reply| reply.is_error()));
        match place {
            Some(place) => self.count(place, 1, failed, words),
            None => {
                self.commands += 1;
                self.count_errors(failed);
            }
        }
    }

    /// Writes a reply, unless `CLIENT REPLY` wants none.
    fn answer(&mut self, reply: Option<&Reply>) {
        match (self.session.replies, reply) {
            (Replies::On, Some(reply)) => write_reply(reply, self.session.protocol, self.output),
            (Replies::SkipThis, _) => self.session.replies = Replies::On,
            _ => {}
        }
    }

    /// Sends a command that takes long to the thread for those.
    fn goes_aside(&mut self, place: usize, words: &[&[u8]]) -> bool {
        let shared = self.shared;
        let Some(spec) = self.table.spec(place) else { return false };
        let is_wanted = spec.id != CommandId::Host
            && spec.takes(words.len())
            && self.inside.is_some()
            && self.session.replies == Replies::On
            && is_long(shared, spec.id, words, self.now)
            && shared.aside.has_room();
        if is_wanted {
            let words = words.iter().map(|word| word.to_vec()).collect();
            let job = Job { client: Arc::clone(&self.session.client), place, id: spec.id, words };
            self.is_waiting = shared.aside.send(job).is_ok();
        }
        self.is_waiting
    }

    fn execute_at(&mut self, place: usize, words: &[&[u8]]) -> Reply {
        let Some(row) = self.table.row(place) else { return unknown_command(words) };
        if !row.spec.takes(words.len()) {
            return row.spec.wrong_arity();
        }
        let outcome = match row.command {
            None => self.filter_command(row, words),
            Some(command) => self.server_command(command, words),
        };
        outcome.reply
    }

    fn filter_command(&mut self, row: Row, words: &[&[u8]]) -> Outcome {
        let view = self.view();
        let outcome = mayhap_commands::execute(&view, row.spec.id, words);
        if row.is_read {
            self.count_lookups(&view, 1);
        }
        if outcome.effect != Effect::None
            && let Some(key) = words.get(1)
        {
            view.note_change(key);
        }
        outcome
    }

    fn server_command(&mut self, command: &'static Command, words: &[&[u8]]) -> Outcome {
        let resolved = match command.resolve(words) {
            Ok(resolved) => resolved,
            Err(error) => return error.into(),
        };
        if !resolved.subcommands.is_empty() && words.len() > 1 {
            return help(command).into();
        }
        let mut context = Context { shared: self.shared, session: &mut *self.session, now: self.now };
        let outcome = (resolved.run)(&mut context, words);
        // Somebody who kills himself gets his answer, and nothing after it.
        self.session.closing |= self.session.client.is_killed();
        outcome
    }

    fn view(&self) -> View<'b> {
        View {
            keyspace: &self.shared.keyspace,
            settings: &self.shared.settings.filters,
            transfers: &self.shared.transfers,
            cache: self.cache,
            gate: None,
            touches: !self.session.client.no_touch(),
            now: self.now,
        }
    }

    /// How many commands it was.
    fn finish(mut self) -> u64 {
        self.end_run();
        if self.last_place.is_some() || self.commands > 0 {
            let last = self.last_place.and_then(|place| u32::try_from(place).ok());
            self.session.client.note(self.now, self.commands, last);
            if let Some(counters) = self.counters() {
                counters.add(Count::Commands, self.commands);
            }
        }
        self.commands
    }
}
