//! Where filters live: the seam between commands and their host.

use std::ops::Deref;

use crate::settings::Settings;
use crate::transfer::Transfers;
use crate::value::Value;

/// A host of filters: a server's own keyspace, or that of Redis or Valkey.
///
/// There is a *shared* way in, [`find`](Self::find): asking, and adding to a filter that exists, from many threads at
/// once. The exclusive ways, which create, replace and remove, are short and happen as a whole.
pub trait Keyspace {
    /// A value that stays alive while it is held, even if its key is removed meanwhile.
    type Held: Deref<Target = Value>;

    /// The value of a key, if there is one and it has not expired.
    fn find(&self, key: &[u8]) -> Option<Self::Held>;

    /// Puts a value under a key that has none. If another has been put there first, gives that one back, and the value
    /// is dropped: so of two who create a filter at the same time both add to the same one.
    ///
    /// # Errors
    /// When the host has no room.
    fn create(&self, key: &[u8], value: Value) -> Result<Created<Self::Held>, NoRoom>;

    /// Keeps away what a host does while nobody else executes a command, such as removing all keys, until it is dropped:
    /// asked for when a filter that has come in pieces is put under its key, and for each step of a compaction. For hosts
    /// that let no such thing happen during a command it is nothing.
    fn hold(&self) -> impl Sized {}

    /// Bytes that a new or growing filter may take; commands refuse more before they allocate.
    fn room(&self) -> u64;

    /// The settings, as they are now.
    fn settings(&self) -> &Settings;

    /// Dumps and loads that are under way.
    fn transfers(&self) -> &Transfers;

    /// Milliseconds since some fixed moment, for the age of transfers.
    fn now(&self) -> u64;
}

/// What became of a creation.
#[derive(Debug)]
pub enum Created<H> {
    /// The value is there now.
    New(H),
    /// Another value was there.
    Found(H),
}

impl<H> Created<H> {
    /// The value that is there now, whoever put it.
    pub fn into_held(self) -> H {
        match self {
            Self::New(held) | Self::Found(held) => held,
        }
    }
}

/// The host's memory is used up: the limit, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom {
    /// The most bytes that all values may take.
    pub limit: u64,
}
