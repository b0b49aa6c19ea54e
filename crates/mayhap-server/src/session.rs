//! What a connection's commands can know and change about it.

use std::sync::Arc;

use crate::clients::Client;

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
}

impl Session {
    /// A fresh one.
    #[must_use]
    pub fn new(client: Arc<Client>) -> Self {
        Self { client, protocol: Protocol::Two, replies: Replies::On, closing: false }
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
