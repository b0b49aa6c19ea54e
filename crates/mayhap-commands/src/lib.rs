//! The commands of Redis's filters: what they are, what they mean, what they answer.
//!
//! Pure: words in, an [`Outcome`] out, over any [`Keyspace`]. Nothing here knows of sockets, of a protocol's bytes, or of
//! Redis's module interface. The server and the module are two hosts of the same commands.
//!
//! ```text
//! words of a command ──► Spec (the table) ──► execute ──► Outcome { reply, effect }
//!                                               │
//!                                               ▼
//!                                  Keyspace ──► Value (a filter that many threads share)
//! ```

mod allowance;
mod ask;
pub mod bf;
pub mod cf;
pub mod errors;
mod keyspace;
mod outcome;
mod reply;
mod runs;
pub mod settings;
pub mod spec;
pub mod transfer;
mod value;
pub mod words;

pub use keyspace::{Created, Keyspace, NoRoom};
pub use outcome::{Effect, Outcome};
pub use reply::Reply;
pub use runs::{execute_run, execute_wide_run, runs, runs_wide};
pub use settings::{Layout, Settings};
pub use spec::{CommandId, Spec};
pub use transfer::Transfers;
pub use value::{Bits, NativeCuckoo, Value};

/// Executes a command. `words[0]` is its name, and their number is one that its [`Spec`] takes.
pub fn execute<K: Keyspace>(host: &K, id: CommandId, words: &[&[u8]]) -> Outcome {
    if bf::has(id) { bf::execute(host, id, words) } else { cf::execute(host, id, words) }
}
