//! What a batch counts.

use std::time::Instant;

use super::Batch;
use crate::keyspace::View;
use crate::statistics::{CommandCounts, Count, Counters};

impl<'b> Batch<'b, '_> {
    /// Counts commands that have just been executed, and notes them if they were slow.
    pub(super) fn count(&mut self, place: usize, calls: u64, failed: u64, words: &[&[u8]]) {
        let now = Instant::now();
        let taken = now.duration_since(self.clock);
        self.clock = now;
        self.commands += calls;
        self.last_place = Some(place);
        if let Some(counters) = self.counters() {
            let nanoseconds = u64::try_from(taken.as_nanos()).unwrap_or(u64::MAX);
            counters.add_command(place, CommandCounts { calls, nanoseconds, failed });
        }
        self.count_errors(failed);
        self.shared.note_if_slow(&self.session.client, taken, self.now, calls, words);
    }

    /// Counts commands that have just asked for a key to read it.
    pub(super) fn count_lookups(&self, view: &View<'_>, calls: u64) {
        if let Some(counters) = self.counters() {
            counters.add(if view.was_found() { Count::Hits } else { Count::Misses }, calls);
        }
    }

    pub(super) fn count_errors(&self, failed: u64) {
        if failed > 0
            && let Some(counters) = self.counters()
        {
            counters.add(Count::Errors, failed);
        }
    }

    pub(super) fn counters(&self) -> Option<&'b Counters> {
        self.shared.statistics.worker(self.worker)
    }
}
