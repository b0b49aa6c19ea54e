//! What a command of the server can reach.

use crate::session::Session;
use crate::shared::Shared;

/// Lent to a command while it runs.
#[derive(Debug)]
pub struct Context<'a> {
    /// What all connections share: keyspace, settings, clients, statistics, slow log.
    pub shared: &'a Shared,
    /// The connection that sent the command.
    pub session: &'a mut Session,
    /// Milliseconds since 1970, when the batch began.
    pub now: u64,
}
