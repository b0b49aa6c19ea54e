//! How far a filter may grow.

use std::cell::OnceCell;

use crate::Keyspace;

/// How far the filter of a key may grow while one command, or one run of commands, adds to it.
///
/// The host counts a value's bytes when a command is over, so what it has room for is right only as long as the command
/// has not made the filter grow. Therefore it is asked once, before that, and not each time that there is something to
/// add: most commands add to a filter that doesn't grow, and shouldn't pay for the question.
pub(crate) struct Allowance<'h, K> {
    pub(crate) host: &'h K,
    most: OnceCell<u64>,
}

impl<'h, K: Keyspace> Allowance<'h, K> {
    pub(crate) const fn new(host: &'h K) -> Self {
        Self { host, most: OnceCell::new() }
    }

    /// The most bytes that the filter may take. `now` are those that it has: the first time that this is asked, those
    /// that the host has counted.
    pub(crate) fn most_bytes(&self, now: u64) -> u64 {
        let limit = || self.host.settings().filter_max_bytes().min(self.host.room().saturating_add(now));
        *self.most.get_or_init(limit)
    }
}
