//! What a command did.

use crate::reply::Reply;

/// The answer to a command, and what it changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// For the client.
    pub reply: Reply,
    /// For the host: what to count, to log and to send on.
    pub effect: Effect,
}

/// What a command changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    #[default]
    None,
    /// The value of a key that was there.
    Changed,
    /// A key is there that was not.
    Created,
}

impl From<Reply> for Outcome {
    /// A command that changed nothing.
    fn from(reply: Reply) -> Self {
        Self { reply, effect: Effect::None }
    }
}

impl Outcome {
    /// A command that changed the value of a key, if `changed`.
    #[must_use]
    pub const fn changed(reply: Reply, changed: bool) -> Self {
        Self { reply, effect: if changed { Effect::Changed } else { Effect::None } }
    }

    /// A command that made a key.
    #[must_use]
    pub const fn created(reply: Reply) -> Self {
        Self { reply, effect: Effect::Created }
    }
}
