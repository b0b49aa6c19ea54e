//! Several commands of one kind on one key, executed together.
//!
//! Exactly as one by one, and faster: the key is looked up once, all items are hashed, their lines fetched together, and
//! locks taken once.

use crate::bf::{self, filter::Bloom};
use crate::cf::{self, filter::Cuckoo};
use crate::spec::{CommandId, wrong_arity};
use crate::{Effect, Keyspace, Reply, ask};

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

/// Executes several commands that [`runs`] names, one for each item, as [`execute`](crate::execute) would one by one.
/// Pushes one reply for each item. The effect is the strongest of all.
pub fn execute_run<K: Keyspace>(
    host: &K,
    id: CommandId,
    key: &[u8],
    items: &[&[u8]],
    replies: &mut Vec<Reply>,
) -> Effect {
    match id {
        CommandId::BfAdd => return bf::add::run(host, key, items, replies),
        CommandId::CfAdd => return cf::add::run(host, key, items, replies),
        CommandId::CfDel => return cf::delete::run(host, key, items, replies),
        CommandId::BfExists => ask::run(host.find(key).as_deref().and_then(Bloom::of), items, replies),
        CommandId::CfExists => ask::run(host.find(key).as_deref().and_then(Cuckoo::of), items, replies),
        _ => replies.extend(items.iter().map(|_| wrong_arity(id))),
    }
    Effect::None
}

/// Executes several commands that [`runs_wide`] names: of all `items`, the first command has as many as `counts` says
/// first, and so on. Pushes one reply for each command. The effect is the strongest of all.
pub fn execute_wide_run<K: Keyspace>(
    host: &K,
    id: CommandId,
    key: &[u8],
    items: &[&[u8]],
    counts: &[usize],
    replies: &mut Vec<Reply>,
) -> Effect {
    match id {
        CommandId::BfMadd => return bf::add::run_many(host, key, items, counts, replies),
        CommandId::BfMexists => {
            ask::run_many(host.find(key).as_deref().and_then(Bloom::of), items, counts, replies);
        }
        CommandId::CfMexists => {
            ask::run_many(host.find(key).as_deref().and_then(Cuckoo::of), items, counts, replies);
        }
        _ => replies.extend(counts.iter().map(|_| wrong_arity(id))),
    }
    Effect::None
}
