//! What the server has done: what `INFO` shows.
//!
//! Every worker counts for itself, in memory that only it writes: a shared counter would go from core to core with every
//! command. Who asks adds them up.

use std::sync::atomic::{AtomicU64, Ordering};

/// All counters.
#[derive(Debug)]
pub struct Statistics {
    workers: Box<[Counters]>,
    /// Connections that were refused because there were too many.
    pub(crate) rejected_connections: AtomicU64,
}

/// One worker's counters. Aligned so that two workers' never share a line of memory, nor the pair that is fetched
/// together.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Counters {
    totals: [AtomicU64; Count::ALL],
    by_command: Box<[[AtomicU64; 3]]>,
}

/// What is counted.
#[derive(Clone, Copy, Debug)]
pub enum Count {
    /// Connections that came.
    Connections,
    /// Commands executed, those that failed included.
    Commands,
    /// Bytes read.
    InputBytes,
    /// Bytes written.
    OutputBytes,
    /// Errors that were sent.
    Errors,
    /// Requests that broke the protocol.
    ProtocolErrors,
    /// Connections closed because they didn't take their replies.
    OutputLimit,
    /// Connections closed because they were silent for too long.
    TimedOut,
    /// Keys that commands which read asked for, and that were there.
    Hits,
    /// Those that were not.
    Misses,
    /// How often a worker looked for the next command before it slept, and found it.
    PollsCaught,
    /// How often it didn't.
    PollsInVain,
}

impl Count {
    const ALL: usize = Self::PollsInVain as usize + 1;
}

/// What is known about one command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandCounts {
    /// How often it was executed.
    pub calls: u64,
    /// How long that took altogether.
    pub nanoseconds: u64,
    /// How often its answer was an error.
    pub failed: u64,
}

impl Statistics {
    pub(crate) fn new(workers: usize, commands: usize) -> Self {
        let counters = || Counters {
            totals: Default::default(),
            by_command: (0..commands).map(|_| Default::default()).collect(),
        };
        Self { workers: (0..workers).map(|_| counters()).collect(), rejected_connections: AtomicU64::new(0) }
    }

    /// A total over all workers.
    #[must_use]
    pub fn total(&self, count: Count) -> u64 {
        self.workers.iter().map(|worker| worker.totals[count as usize].load(Ordering::Relaxed)).sum()
    }

    /// What is known about the command at this place of the table.
    #[must_use]
    pub fn command(&self, place: usize) -> CommandCounts {
        let sum = |which: usize| {
            self.workers
                .iter()
                .filter_map(|worker| worker.by_command.get(place))
                .map(|counts| counts[which].load(Ordering::Relaxed))
                .sum()
        };
        CommandCounts { calls: sum(0), nanoseconds: sum(1), failed: sum(2) }
    }

    /// Connections that were refused because there were too many.
    #[must_use]
    pub fn rejected_connections(&self) -> u64 {
        self.rejected_connections.load(Ordering::Relaxed)
    }

    /// Sets all to 0: `CONFIG RESETSTAT`. What a worker counts at the same moment may survive.
    pub fn reset(&self) {
        for worker in &self.workers {
            for counter in worker.totals.iter().chain(worker.by_command.iter().flatten()) {
                counter.store(0, Ordering::Relaxed);
            }
        }
        self.rejected_connections.store(0, Ordering::Relaxed);
    }

    pub(crate) fn worker(&self, index: usize) -> Option<&Counters> {
        self.workers.get(index)
    }
}

impl Counters {
    pub(crate) fn add(&self, count: Count, by: u64) {
        raise(&self.totals[count as usize], by);
    }

    pub(crate) fn add_command(&self, place: usize, counts: CommandCounts) {
        if let Some([calls, nanoseconds, failed]) = self.by_command.get(place) {
            raise(calls, counts.calls);
            raise(nanoseconds, counts.nanoseconds);
            if counts.failed > 0 {
                raise(failed, counts.failed);
            }
        }
    }
}

/// Adds to a counter that only one thread writes: cheaper than an atomic addition.
fn raise(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}
