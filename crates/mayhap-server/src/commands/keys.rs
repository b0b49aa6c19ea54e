//! Commands about keys, whatever they hold.

use mayhap::Error;
use mayhap::codec::FormatError;
use mayhap_commands::spec::{Argument, ArgumentKind, Keys};
use mayhap_commands::words::{integer, is};
use mayhap_commands::{Created, Outcome, Reply};

use super::definition::{ALL_KEYS, Group, KEY, KEYS, TWO_KEYS, number, one_of, word};
use super::{Command, copy, errors};
use crate::context::Context;
use crate::keyspace::Renamed;
use crate::session::Due;
use crate::shared::Shared;

const GENERIC: Group =
    Group { name: "generic", categories: &["keyspace"], flags: &["write"], keys: ALL_KEYS };
const READ: Group = GENERIC.flags(&["readonly", "fast"]);
const SERVER: Group = Group { name: "server", keys: Keys::NONE, ..GENERIC };

const HOW: &[Argument] = &[one_of("flush-type", &[word("async", "ASYNC"), word("sync", "SYNC")]).optional()];

pub(super) const COMMANDS: &[Command] = &[
    GENERIC.command(
        ("DEL", -2),
        ("1.0.0", "Removes keys and their values. Tells how many there were.", "O(N) for N keys"),
        &[KEYS],
        del,
    ),
    GENERIC.flags(&["write", "fast"]).command(
        ("UNLINK", -2),
        ("4.0.0", "Removes keys, as DEL does: large values are always freed aside.", "O(N) for N keys"),
        &[KEYS],
        del,
    ),
    READ.command(
        ("EXISTS", -2),
        ("1.0.0", "Tells how many of the keys are there.", "O(N) for N keys"),
        &[KEYS],
        exists,
    ),
    READ.command(
        ("TOUCH", -2),
        ("3.2.1", "Counts as a use of the keys. Tells how many are there.", "O(N) for N keys"),
        &[KEYS],
        touch,
    ),
    READ.keys(Keys::ONE).command(
        ("TYPE", 2),
        ("1.0.0", "Tells what a key holds: MBbloom--, MBbloomCF, string for a bitmap, or none.", "O(1)"),
        &[KEY],
        type_of,
    ),
    GENERIC.keys(TWO_KEYS).command(
        ("RENAME", 3),
        ("1.0.0", "Gives a value another key, whatever that held.", "O(1)"),
        &[KEY, NEW_KEY],
        rename,
    ),
    GENERIC.flags(&["write", "fast"]).keys(TWO_KEYS).command(
        ("RENAMENX", 3),
        ("1.0.0", "Gives a value another key, if that holds nothing.", "O(1)"),
        &[KEY, NEW_KEY],
        rename_if_free,
    ),
    GENERIC.flags(&["write", "denyoom"]).keys(TWO_KEYS).command(
        ("COPY", -3),
        ("6.2.0", "Copies a value to another key.", "O(N) for a value of N bytes"),
        &[
            Argument::new("source", ArgumentKind::Key),
            Argument::new("destination", ArgumentKind::Key),
            number("destination-db").token("DB").optional(),
            word("replace", "REPLACE").optional(),
        ],
        copy,
    ),
    READ.flags(&["readonly"]).keys(Keys::NONE).command(
        ("RANDOMKEY", 1),
        ("1.0.0", "Tells some key.", "O(1)"),
        &[],
        random_key,
    ),
    READ.keys(Keys::NONE).command(
        ("DBSIZE", 1),
        ("1.0.0", "Tells how many keys there are.", "O(1)"),
        &[],
        size,
    ),
    SERVER.command(("FLUSHALL", -1), ("1.0.0", "Removes all keys.", "O(N) for N keys"), HOW, flush),
    SERVER.command(
        ("FLUSHDB", -1),
        ("1.0.0", "Removes all keys: there is one database.", "O(N) for N keys"),
        HOW,
        flush,
    ),
];

const NEW_KEY: Argument = Argument::new("newkey", ArgumentKind::Key);

fn del(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let removed = words.iter().skip(1).filter(|key| context.shared.keyspace.remove(key, context.now)).count();
    Outcome::changed(Reply::count(removed as u64), removed > 0)
}

fn exists(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let there = words.iter().skip(1).filter(|key| context.read(key).is_some()).count();
    Reply::count(there as u64).into()
}

fn touch(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let there = words.iter().skip(1).filter_map(|key| context.read(key));
    Reply::count(there.inspect(|entry| entry.set_last_used(context.now)).count() as u64).into()
}

fn type_of(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let entry = words.get(1).and_then(|key| context.read(key));
    Reply::Simple(entry.map_or("none", |entry| entry.value.type_name())).into()
}

fn rename(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let [_, from, to] = words else { return Reply::error(errors::SYNTAX).into() };
    match context.shared.keyspace.rename(from, to, true, context.now) {
        Renamed::Done => Outcome::changed(Reply::OK, true),
        _ => Reply::error(errors::NO_SUCH_KEY).into(),
    }
}

fn rename_if_free(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let [_, from, to] = words else { return Reply::error(errors::SYNTAX).into() };
    match context.shared.keyspace.rename(from, to, false, context.now) {
        Renamed::Done => Outcome::changed(Reply::Integer(1), true),
        Renamed::Taken => Reply::Integer(0).into(),
        Renamed::NoSuchKey => Reply::error(errors::NO_SUCH_KEY).into(),
    }
}

fn copy(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let [_, from, to, options @ ..] = words else { return Reply::error(errors::SYNTAX).into() };
    copy_key(context, from, to, options).unwrap_or_else(Outcome::from)
}

fn copy_key(context: &Context<'_>, from: &[u8], to: &[u8], mut options: &[&[u8]]) -> Result<Outcome, Reply> {
    let mut replace = false;
    while let [option, rest @ ..] = options {
        options = match rest {
            rest if is(option, "REPLACE") => {
                replace = true;
                rest
            }
            [database, rest @ ..] if is(option, "DB") => match integer(database) {
                Some(0) => rest,
                Some(_) => return Err(Reply::error(errors::NO_SUCH_DATABASE)),
                None => return Err(Reply::error(errors::NOT_AN_INTEGER)),
            },
            _ => return Err(Reply::error(errors::SYNTAX)),
        };
    }
    if from == to {
        return Err(Reply::error("ERR source and destination objects are the same"));
    }
    let keyspace = &context.shared.keyspace;
    let Some(entry) = keyspace.find(from, context.now) else { return Ok(Reply::Integer(0).into()) };
    context.touch(&entry);
    // Asked before the copy is made; made sure of when it is put there.
    if !replace && keyspace.find(to, context.now).is_some() {
        return Ok(Reply::Integer(0).into());
    }
    let no_room = |_| Reply::error(errors::OUT_OF_MEMORY);
    if entry.bytes() > keyspace.room() {
        return Err(Reply::error(errors::OUT_OF_MEMORY));
    }
    let value = copy::copy(&entry.value).map_err(|error| match error {
        Error::Alloc(_) | Error::Format(FormatError::OutOfMemory { .. }) => {
            Reply::error(errors::OUT_OF_MEMORY)
        }
        error => Reply::error_of(format!("ERR {error}")),
    })?;
    let expires_at = entry.expires_at();
    if replace {
        keyspace.replace(to, value, expires_at, context.now).map_err(no_room)?;
        return Ok(Outcome::created(Reply::Integer(1)));
    }
    match keyspace.create(to, value, expires_at, context.now).map_err(no_room)? {
        Created::New(_) => Ok(Outcome::created(Reply::Integer(1))),
        Created::Found(_) => Ok(Reply::Integer(0).into()),
    }
}

fn random_key(context: &mut Context<'_>, _: &[&[u8]]) -> Outcome {
    let shared = context.shared;
    shared.keyspace.key_after(shared.random(), context.now).map_or(Reply::Null, Reply::Bulk).into()
}

fn size(context: &mut Context<'_>, _: &[&[u8]]) -> Outcome {
    Reply::count(context.shared.keyspace.len() as u64).into()
}

/// `ASYNC` or `SYNC`, it makes no difference: what is removed is always freed aside.
fn flush(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    match words {
        [_] => {}
        [_, how] if is(how, "ASYNC") || is(how, "SYNC") => {}
        _ => return Reply::error(errors::SYNTAX).into(),
    }
    context.session.due = Some(Due::Flush);
    Reply::OK.into()
}

/// What `FLUSHALL` does, while nobody else executes a command.
pub(crate) fn remove_all(shared: &Shared) -> Reply {
    // What is half loaded must not appear afterwards.
    shared.keyspace.free_aside(shared.transfers.clear());
    shared.keyspace.clear();
    Reply::OK
}
