//! The commands `CF.*`: cuckoo filters, from which items can be removed.
//!
//! ```text
//! table    what the commands are
//! create   what a new filter is to be, and making it in the layout that the settings say
//! filter   a filter of either layout: asking, adding, removing
//! native   what a native one does beyond that: limits, compaction in steps
//! reserve  add  delete  info  dump          the commands; asking is in `crate::ask`
//! ```
//!
//! Arguments, defaults, replies and texts of errors are those of RedisBloom; `docs/commands.md` lists where the native
//! layout differs, and what is added.

pub(crate) mod add;
mod create;
pub(crate) mod delete;
mod dump;
mod errors;
pub(crate) mod filter;
mod info;
mod native;
mod reserve;
mod table;

pub use table::SPECS;

use crate::ask;
use crate::spec::{CommandId, wrong_arity};
use crate::words::is;
use crate::{Keyspace, Outcome};
use filter::{Cuckoo, Mode};

/// Whether a command is one of these.
#[must_use]
pub const fn has(id: CommandId) -> bool {
    matches!(
        id,
        CommandId::CfReserve
            | CommandId::CfAdd
            | CommandId::CfAddnx
            | CommandId::CfInsert
            | CommandId::CfInsertnx
            | CommandId::CfExists
            | CommandId::CfMexists
            | CommandId::CfDel
            | CommandId::CfCount
            | CommandId::CfCompact
            | CommandId::CfInfo
            | CommandId::CfDebug
            | CommandId::CfScandump
            | CommandId::CfLoadchunk
    )
}

/// Executes a command.
pub fn execute<K: Keyspace>(host: &K, id: CommandId, words: &[&[u8]]) -> Outcome {
    match (id, words) {
        (CommandId::CfReserve, [_, key, _, ..]) => reserve::reserve(host, key, words),
        (CommandId::CfAdd, [_, key, item]) => add::add(host, key, item, Mode::Always),
        (CommandId::CfAddnx, [_, key, item]) => add::add(host, key, item, Mode::Unique),
        (CommandId::CfInsert, [_, key, rest @ ..]) => add::insert(host, key, rest, Mode::Always),
        (CommandId::CfInsertnx, [_, key, rest @ ..]) => add::insert(host, key, rest, Mode::Unique),
        (CommandId::CfExists, [_, key, item]) => {
            ask::exists(host.find(key).as_deref().and_then(Cuckoo::of), item).into()
        }
        (CommandId::CfMexists, [_, key, items @ ..]) => {
            ask::exist_many(host.find(key).as_deref().and_then(Cuckoo::of), items).into()
        }
        (CommandId::CfDel, [_, key, item]) => delete::delete(host, key, item),
        (CommandId::CfCount, [_, key, item]) => info::count(host, key, item).into(),
        (CommandId::CfCompact, [_, key]) => delete::compact(host, key),
        (CommandId::CfInfo, [_, key]) => info::info(host, key).into(),
        (CommandId::CfInfo, [_, key, option]) if is(option, "FULL") => info::full(host, key).into(),
        (CommandId::CfDebug, [_, key]) => info::debug(host, key).into(),
        (CommandId::CfScandump, [_, key, position]) => dump::scan_dump(host, key, position).into(),
        (CommandId::CfLoadchunk, [_, key, position, bytes]) => dump::load_chunk(host, key, position, bytes),
        _ => wrong_arity(id).into(),
    }
}
