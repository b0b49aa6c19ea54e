//! The commands `BF.*`: Bloom filters that grow.
//!
//! ```text
//! table    what the commands are
//! create   what a new filter is to be, and making it in the layout that the settings say
//! filter   a filter of either layout: asking, adding
//! reserve  insert  add  info  dump          the commands; asking is in `crate::ask`
//! ```
//!
//! Arguments, defaults, replies and texts of errors are those of RedisBloom; `docs/commands.md` lists where the native
//! layout differs, and what is added.

pub(crate) mod add;
mod create;
mod dump;
mod errors;
pub(crate) mod filter;
mod info;
mod insert;
mod reserve;
mod table;

pub use table::SPECS;

use crate::ask;
use crate::spec::{CommandId, wrong_arity};
use crate::{Keyspace, Outcome};
use filter::Bloom;

/// Whether a command is one of these.
#[must_use]
pub const fn has(id: CommandId) -> bool {
    matches!(
        id,
        CommandId::BfReserve
            | CommandId::BfAdd
            | CommandId::BfMadd
            | CommandId::BfInsert
            | CommandId::BfExists
            | CommandId::BfMexists
            | CommandId::BfCard
            | CommandId::BfInfo
            | CommandId::BfDebug
            | CommandId::BfScandump
            | CommandId::BfLoadchunk
    )
}

/// Executes a command.
pub fn execute<K: Keyspace>(host: &K, id: CommandId, words: &[&[u8]]) -> Outcome {
    match (id, words) {
        (CommandId::BfReserve, [_, key, ..]) => reserve::reserve(host, key, words),
        (CommandId::BfAdd, [_, key, item]) => add::add(host, key, item),
        (CommandId::BfMadd, [_, key, items @ ..]) => add::add_many(host, key, items),
        (CommandId::BfInsert, [_, key, rest @ ..]) => insert::insert(host, key, rest),
        (CommandId::BfExists, [_, key, item]) => {
            ask::exists(host.find(key).as_deref().and_then(Bloom::of), item).into()
        }
        (CommandId::BfMexists, [_, key, items @ ..]) => {
            ask::exist_many(host.find(key).as_deref().and_then(Bloom::of), items).into()
        }
        (CommandId::BfCard, [_, key]) => info::card(host, key).into(),
        (CommandId::BfInfo, [_, key]) => info::info(host, key, None).into(),
        (CommandId::BfInfo, [_, key, field]) => info::info(host, key, Some(field)).into(),
        (CommandId::BfDebug, [_, key]) => info::debug(host, key).into(),
        (CommandId::BfScandump, [_, key, iterator]) => dump::scan_dump(host, key, iterator).into(),
        (CommandId::BfLoadchunk, [_, key, iterator, bytes]) => dump::load_chunk(host, key, iterator, bytes),
        _ => wrong_arity(id).into(),
    }
}
