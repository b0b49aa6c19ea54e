//! What a command of the server can reach.

use std::sync::Arc;

use crate::keyspace::Entry;
use crate::session::Session;
use crate::shared::Shared;
use crate::statistics::Count;

/// Lent to a command while it runs.
#[derive(Debug)]
pub struct Context<'a> {
    /// What all connections share: keyspace, settings, clients, statistics, slow log.
    pub shared: &'a Shared,
    /// The connection that sent the command.
    pub session: &'a mut Session,
    /// Milliseconds since 1970, when the batch began: what has expired then has, and nothing else.
    pub now: u64,
}

impl Context<'_> {
    /// Milliseconds since 1970, now: for a time that is told as so long from now, or to be told so. The batch may have
    /// begun long before.
    #[must_use]
    pub fn moment(&self) -> u64 {
        self.shared.now()
    }

    /// The value of a key for a command that reads it: whether it is there is counted.
    #[must_use]
    pub fn read(&self, key: &[u8]) -> Option<Arc<Entry>> {
        let found = self.shared.keyspace.find(key, self.now);
        if let Some(counters) = self.shared.statistics.worker(self.session.client.worker) {
            counters.add(if found.is_some() { Count::Hits } else { Count::Misses }, 1);
        }
        found
    }

    /// Notes that a command has used a value, unless its client wants to leave no trace.
    pub fn touch(&self, entry: &Entry) {
        if !self.session.client.no_touch() {
            entry.touch(self.now);
        }
    }
}
