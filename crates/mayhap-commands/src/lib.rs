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

mod ask;
pub mod bf;
pub mod cf;
pub mod errors;
mod keyspace;
mod outcome;
mod reply;
pub mod settings;
pub mod spec;
pub mod transfer;
mod value;
pub mod words;

pub use keyspace::{Created, Keyspace, NoRoom};
pub use outcome::{Effect, Outcome};
pub use reply::Reply;
pub use settings::{Layout, Settings};
pub use spec::{CommandId, Spec};
pub use transfer::Transfers;
pub use value::{Bits, NativeCuckoo, Value};

/// Executes a command. `words[0]` is its name, and their number is one that its [`Spec`] takes.
pub fn execute<K: Keyspace>(host: &K, id: CommandId, words: &[&[u8]]) -> Outcome {
    if bf::has(id) { bf::execute(host, id, words) } else { cf::execute(host, id, words) }
}

/// Whether several of these commands in a row, on one key and with one item each, can be executed together by
/// [`execute_run`].
#[must_use]
pub const fn runs(id: CommandId) -> bool {
    matches!(
        id,
        CommandId::BfAdd | CommandId::BfExists | CommandId::CfAdd | CommandId::CfExists | CommandId::CfDel
    )
}

/// Whether several of these commands in a row, on one key and with any number of items each, can be executed together by
/// [`execute_wide_run`].
#[must_use]
pub const fn runs_wide(id: CommandId) -> bool {
    matches!(id, CommandId::BfMadd | CommandId::BfMexists | CommandId::CfMexists)
}

/// [`execute_run`] for commands of several items: of all `items`, the first command has as many as `counts` says first,
/// and so on. Pushes one reply for each command.
pub fn execute_wide_run<K: Keyspace>(
    host: &K,
    id: CommandId,
    key: &[u8],
    items: &[&[u8]],
    counts: &[usize],
    replies: &mut Vec<Reply>,
) -> Effect {
    if bf::has(id) {
        bf::execute_wide_run(host, id, key, items, counts, replies)
    } else {
        cf::execute_wide_run(host, id, key, items, counts, replies)
    }
}

/// Executes several commands of one kind on one key, one for each item, exactly as [`execute`] would one by one, and
/// faster: the key is looked up once, all items are hashed, their lines fetched together, and locks taken once. Pushes
/// one reply for each item. The effect is the strongest of all.
pub fn execute_run<K: Keyspace>(
    host: &K,
    id: CommandId,
    key: &[u8],
    items: &[&[u8]],
    replies: &mut Vec<Reply>,
) -> Effect {
    if bf::has(id) {
        bf::execute_run(host, id, key, items, replies)
    } else {
        cf::execute_run(host, id, key, items, replies)
    }
}
