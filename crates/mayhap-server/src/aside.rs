//! A thread for commands that take long: a dump or a compaction of gigabytes.
//!
//! A worker that ran them itself would let all its other connections wait. So the command goes to this thread, the
//! connection that sent it waits, without being read from, and goes on when the reply comes back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Instant;

use mayhap_commands::{CommandId, Effect, Reply};

use crate::clients::Client;
use crate::keyspace::{View, WorkerCache};
use crate::log::Level;
use crate::shared::{Message, Shared, now};
use crate::statistics::CommandCounts;

/// More than so many don't wait here: their words are copies, which are not counted anywhere. The rest is executed where
/// it came.
pub(crate) const MOST: usize = 16;

/// A value of so many bytes, or a chunk of it, makes a command long.
const LONG_BYTES: u64 = 4 << 20;

/// A command to execute.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) client: Arc<Client>,
    /// In the table of commands.
    pub(crate) place: usize,
    pub(crate) id: CommandId,
    pub(crate) words: Vec<Vec<u8>>,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) client: Arc<Client>,
    pub(crate) place: usize,
    pub(crate) reply: Reply,
    pub(crate) counts: CommandCounts,
}

/// Whether a command may take long.
pub(crate) fn is_long(shared: &Shared, id: CommandId, words: &[&[u8]], now: u64) -> bool {
    match id {
        CommandId::CfCompact | CommandId::BfScandump | CommandId::CfScandump => words
            .get(1)
            .and_then(|key| shared.keyspace.find(key, now))
            .is_some_and(|entry| entry.bytes() >= LONG_BYTES),
        CommandId::BfLoadchunk | CommandId::CfLoadchunk => {
            words.last().is_some_and(|chunk| chunk.len() as u64 >= LONG_BYTES)
        }
        _ => false,
    }
}

/// Works until nobody sends any more.
pub(crate) fn run(shared: &Shared, jobs: &Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        let worker = job.client.worker;
        let done = execute(shared, job);
        shared.aside.leave();
        shared.tell(worker, Message::Done(Box::new(done)));
    }
}

fn execute(shared: &Shared, job: Job) -> Done {
    let (start, started_at) = (Instant::now(), now());
    let words: Vec<&[u8]> = job.words.iter().map(Vec::as_slice).collect();
    let work = || {
        let cache = WorkerCache::default();
        let view = View {
            keyspace: &shared.keyspace,
            settings: &shared.settings.filters,
            transfers: &shared.transfers,
            cache: &cache,
            gate: Some(&shared.gate),
            touches: !job.client.no_touch(),
            now: started_at,
        };
        let outcome = mayhap_commands::execute(&view, job.id, &words);
        if outcome.effect != Effect::None
            && let Some(key) = words.get(1)
        {
            view.note_change(key);
        }
        outcome.reply
    };
    // A fault here must not end the thread, or whoever waits for it would wait for ever.
    let reply = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        shared.log.event(Level::Error, "a command panicked", &[]);
        Reply::error("ERR internal error")
    });
    let taken = start.elapsed();
    shared.note_if_slow(&job.client, taken, started_at, 1, &words);
    let counts = CommandCounts {
        calls: 1,
        nanoseconds: u64::try_from(taken.as_nanos()).unwrap_or(u64::MAX),
        failed: u64::from(reply.is_error()),
    };
    Done { client: job.client, place: job.place, reply, counts }
}
