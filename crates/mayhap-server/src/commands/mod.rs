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

pub use table::{Table, table};

pub use help::needs_subcommand;
pub(crate) use help::{help, unknown_command, unknown_subcommand};

use mayhap_commands::{Outcome, Spec};

use crate::context::Context;

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
];

impl Command {
    /// The name of a subcommand without that of its command.
    #[must_use]
    pub fn last_name(&self) -> &'static str {
        self.spec.name.rsplit('|').next().unwrap_or_default()
    }
}
