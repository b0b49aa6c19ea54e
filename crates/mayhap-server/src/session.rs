//! What a connection's commands can know and change about it.

use std::sync::Arc;

use crate::clients::Client;
use crate::keyspace::Keyspace;
use crate::transaction::{Transaction, Watch};

/// The state of a connection between commands.
#[derive(Debug)]
pub struct Session {
    /// What other connections can see of it.
    pub client: Arc<Client>,
    /// How replies are written.
    pub protocol: Protocol,
    /// Whether replies are written at all.
    pub replies: Replies,
    /// Set by a command after whose reply the connection ends. Commands that were sent after it are not executed.
    pub closing: bool,
    /// Between `MULTI` and `EXEC`.
    pub(crate) transaction: Option<Box<Transaction>>,
    /// After `WATCH`.
    pub(crate) watch: Option<Box<Watch>>,
    /// What a command asks for that can't be done while others execute theirs.
    pub(crate) due: Option<Due>,
    /// More replies than a connection may have were lost: it has to end.
    pub(crate) has_lost_replies: bool,
}

/// What has to be done alone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// `EXEC`.
    Execute,
    /// `WATCH`: the words after it.
    Watch,
    /// `FLUSHALL`: a command that moves or copies a value must not carry it from keys that are still there to where they
    /// are removed already.
    Flush,
}

/// The version of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// RESP2, with which every connection begins.
    #[default]
    Two,
    /// RESP3, after `HELLO 3`.
    Three,
}

/// What `CLIENT REPLY` chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replies {
    /// All replies.
    #[default]
    On,
    /// None.
    Off,
    /// Not that to the next command; nor that to `CLIENT REPLY SKIP` itself.
    SkipNext,
    /// Not that to the command that is being executed, unless it says otherwise.
    SkipThis,
}

impl Session {
    /// A fresh one.
    #[must_use]
    pub fn new(client: Arc<Client>) -> Self {
        Self {
            client,
            protocol: Protocol::Two,
            replies: Replies::On,
            closing: false,
            transaction: None,
            watch: None,
            due: None,
            has_lost_replies: false,
        }
    }

    /// Whether a command is executed at once, and answered.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.replies == Replies::On && self.transaction.is_none()
    }

    /// Bytes that it keeps for a transaction.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.transaction.as_ref().map_or(0, |transaction| transaction.bytes())
            + self.watch.as_ref().map_or(0, |watch| watch.bytes())
    }

    /// Forgets commands that wait for `EXEC`, and watches nothing any more.
    pub(crate) fn discard(&mut self, keyspace: &Keyspace) {
        self.transaction = None;
        self.unwatch(keyspace);
    }

    /// Watches nothing any more.
    pub(crate) fn unwatch(&mut self, keyspace: &Keyspace) {
        if let Some(watch) = self.watch.take() {
            watch.end(keyspace);
        }
    }

    /// Chooses a protocol.
    pub fn set_protocol(&mut self, protocol: Protocol) {
        self.protocol = protocol;
        self.client.set_protocol(protocol);
    }

    /// Makes it what it was at first: `RESET`.
    pub fn reset(&mut self) {
        self.set_protocol(Protocol::Two);
        self.replies = Replies::On;
        self.client.reset();
    }
}

impl Protocol {
    /// 2 or 3.
    #[must_use]
    pub const fn version(self) -> u8 {
        match self {
            Self::Two => 2,
            Self::Three => 3,
        }
    }
}
