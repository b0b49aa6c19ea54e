//! The server's own commands, and the table in which all are found.
//!
//! One file for each group. A file has a `COMMANDS` table: what each command is (a [`Spec`], as for the filter commands)
//! and the function that runs it.

mod bit_range;
mod bitmap;
mod client;
mod client_kill;
mod client_list;
mod command;
mod command_docs;
mod command_info;
mod config;
mod connection;
mod copy;
mod definition;
mod dump;
pub mod errors;
mod expiry;
mod glob;
mod help;
mod info;
mod inspect;
mod keys;
mod payload;
mod process;
mod scan;
mod server;
mod slowlog;
mod table;
#[cfg(test)]
mod tests;
mod transactions;

pub(crate) use table::Row;
pub use table::{Table, table};

pub use help::needs_subcommand;
pub(crate) use help::{help, unknown_command};
pub(crate) use keys::remove_all;
pub(crate) use transactions::{NOT_IN_TRANSACTIONS, is_never_queued};

use mayhap_commands::{Outcome, Reply, Spec};

use crate::context::Context;
use help::unknown_subcommand;

/// A command of the server.
#[derive(Debug)]
pub struct Command {
    /// What is known about it before it runs. The name of a subcommand is in full: `CLIENT ID` is `CLIENT|ID`, and its
    /// number of words counts both.
    pub spec: Spec,
    /// Runs it. The number of words is one that the spec takes. If there are subcommands, this is run only when the name
    /// comes alone.
    pub run: Handler,
    /// `ID` and the like of `CLIENT`. `HELP` is made from them.
    pub subcommands: &'static [Command],
}

/// What runs a command. `words[0]` is the name.
pub type Handler = fn(&mut Context<'_>, &[&[u8]]) -> Outcome;

/// Every group of commands.
const GROUPS: &[&[Command]] = &[
    connection::COMMANDS,
    client::COMMANDS,
    command::COMMANDS,
    config::COMMANDS,
    info::COMMANDS,
    keys::COMMANDS,
    scan::COMMANDS,
    expiry::COMMANDS,
    dump::COMMANDS,
    inspect::COMMANDS,
    bitmap::COMMANDS,
    slowlog::COMMANDS,
    server::COMMANDS,
    transactions::COMMANDS,
];

impl Command {
    /// The command or subcommand that words mean, if their number is right; otherwise the error to be answered. `HELP`,
    /// which every command with subcommands has, is that command itself.
    pub(crate) fn resolve(&'static self, words: &[&[u8]]) -> Result<&'static Self, Reply> {
        let name = match words.get(1) {
            Some(name) if !self.subcommands.is_empty() => name,
            _ => return Ok(self),
        };
        let is_it = |sub: &&Self| sub.last_name().as_bytes().eq_ignore_ascii_case(name);
        match self.subcommands.iter().find(is_it) {
            Some(sub) if sub.spec.takes(words.len()) => Ok(sub),
            Some(sub) => Err(sub.spec.wrong_arity()),
            None if name.eq_ignore_ascii_case(b"HELP") => Ok(self),
            None => Err(unknown_subcommand(self, name)),
        }
    }

    /// The name of a subcommand without that of its command.
    #[must_use]
    pub fn last_name(&self) -> &'static str {
        self.spec.name.rsplit('|').next().unwrap_or_default()
    }
}
