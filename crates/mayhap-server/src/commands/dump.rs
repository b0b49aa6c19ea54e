//! `DUMP` and `RESTORE`: a value in one piece.
//!
//! A filter in RedisBloom's layout is dumped as Redis with RedisBloom dumps it, and its payloads are taken. A native one
//! has a payload of its own, which Redis refuses cleanly: see [`payload`].

use std::sync::{PoisonError, RwLock};

use mayhap::codec::{FormatError, Part};
use mayhap::formats::redisbloom::{RdbVersion, RedisValue};
use mayhap::{Error, ReadOptions};
use mayhap_commands::spec::{Argument, ArgumentKind, Keys};
use mayhap_commands::words::{integer, is};
use mayhap_commands::{Created, Outcome, Reply, Value};

use super::definition::{Group, KEY, number, text, word};
use super::{Command, errors, payload};
use crate::context::Context;

const GENERIC: Group =
    Group { name: "generic", categories: &["keyspace"], flags: &["readonly"], keys: Keys::ONE };

/// The oldest version whose servers can have RedisBloom's filters in this encoding: newer ones take it, too.
const VERSION: RdbVersion = RdbVersion::REDIS_7_0;

const WRONG_CHECKSUM: &str = "ERR DUMP payload version or checksum are wrong";
const BUSY_KEY: &str = "BUSYKEY Target key name already exists.";

pub(super) const COMMANDS: &[Command] = &[
    GENERIC.command(
        ("DUMP", 2),
        ("2.6.0", "Tells a value as bytes, for RESTORE.", "O(N) for a value of N bytes"),
        &[KEY],
        dump,
    ),
    Group { categories: &["keyspace", "dangerous"], ..GENERIC.flags(&["write", "denyoom"]) }.command(
        ("RESTORE", -4),
        ("2.6.0", "Makes a value of the bytes that DUMP told.", "O(N) for a value of N bytes"),
        &[
            KEY,
            number("ttl"),
            text("serialized-value"),
            word("replace", "REPLACE").optional(),
            word("absttl", "ABSTTL").optional(),
            number("seconds").token("IDLETIME").optional(),
            Argument::new("frequency", ArgumentKind::Integer).token("FREQ").optional(),
        ],
        restore,
    ),
];

fn dump(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let entry = words.get(1).and_then(|key| context.read(key));
    let Some(entry) = entry else { return Reply::Null.into() };
    context.touch(&entry);
    // A reply that may not wait for its client would only close the connection.
    let limit = context.shared.settings.client_output_limit();
    if entry.bytes() > limit as u64 {
        return Reply::error_of(format!(
            "ERR the value is larger than client-output-limit ({limit} bytes): dump it in pieces, by BF.SCANDUMP or \
             CF.SCANDUMP"
        ))
        .into();
    }
    let bytes = match &entry.value {
        Value::RedisBloom(filter) => filter.read().unwrap_or_else(PoisonError::into_inner).to_dump(VERSION),
        Value::RedisCuckoo(filter) => filter.read().unwrap_or_else(PoisonError::into_inner).to_dump(VERSION),
        native => payload::of(native),
    };
    bytes.map_or_else(|error| Reply::error_of(format!("ERR {error}")), Reply::Bulk).into()
}

fn restore(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let [_, key, time, bytes, options @ ..] = words else { return Reply::error(errors::SYNTAX).into() };
    restored(context, key, time, bytes, options).unwrap_or_else(Outcome::from)
}

fn restored(
    context: &Context<'_>,
    key: &[u8],
    time: &[u8],
    bytes: &[u8],
    options: &[&[u8]],
) -> Result<Outcome, Reply> {
    let options = Options::new(options).map_err(Reply::error)?;
    let (keyspace, now, moment) = (&context.shared.keyspace, context.now, context.moment());
    if !options.replace && keyspace.find(key, now).is_some() {
        return Err(Reply::error(BUSY_KEY));
    }
    let time = integer(time).ok_or(Reply::error(errors::NOT_AN_INTEGER))?;
    let time = u64::try_from(time).map_err(|_| Reply::error("ERR Invalid TTL value, must be >= 0"))?;
    let expires_at = match time {
        0 => None,
        time if options.is_absolute => Some(time),
        time => Some(moment.saturating_add(time)),
    };
    let value = value_of(context, bytes)?;
    if expires_at.is_some_and(|end| end <= moment) {
        let removed = keyspace.remove(key, now);
        return Ok(Outcome::changed(Reply::OK, removed));
    }
    let no_room = |_| Reply::error(errors::OUT_OF_MEMORY);
    let entry = if options.replace {
        keyspace.replace(key, value, expires_at, now).map_err(no_room)?
    } else {
        match keyspace.create(key, value, expires_at, now).map_err(no_room)? {
            Created::New(entry) => entry,
            Created::Found(_) => return Err(Reply::error(BUSY_KEY)),
        }
    };
    if let Some(seconds) = options.idle_seconds {
        entry.set_last_used(now.saturating_sub(seconds.saturating_mul(1000)));
    }
    Ok(Outcome::created(Reply::OK))
}

/// The value of a payload: ours, or RedisBloom's, of whatever version of RDB.
fn value_of(context: &Context<'_>, bytes: &[u8]) -> Result<Value, Reply> {
    let filters = &context.shared.settings.filters;
    let max_bytes = filters.filter_max_bytes().min(context.shared.keyspace.room());
    let options = ReadOptions::new().hasher(filters.hasher.clone()).max_bytes(max_bytes);
    if payload::is_one(bytes) {
        return payload::read(bytes, &options).map_err(|error| refusal(&error));
    }
    match RedisValue::from_dump_with(bytes, &options) {
        Ok(RedisValue::Bloom(filter)) => Ok(Value::RedisBloom(RwLock::new(filter))),
        Ok(RedisValue::Cuckoo(filter)) => Ok(Value::RedisCuckoo(RwLock::new(filter))),
        // A payload begins with its type and ends with its checksum: too short for both is a wrong checksum.
        Err(FormatError::Truncated { needed: 11, .. }) => Err(Reply::error(WRONG_CHECKSUM)),
        Err(error) => Err(refusal(&error.into())),
    }
}

/// What Redis says of such a payload, and what is wrong with it.
fn refusal(error: &Error) -> Reply {
    match error {
        Error::Format(FormatError::BadChecksum { what: Part::Payload }) => Reply::error(WRONG_CHECKSUM),
        // Nothing is wrong with the data.
        Error::Format(FormatError::TooLarge { bytes, limit }) => Reply::error_of(format!(
            "ERR Insufficient memory: it would take {bytes} bytes, and {limit} are left for it"
        )),
        error => Reply::error_of(format!("ERR Bad data format: {error}")),
    }
}

#[derive(Default)]
struct Options {
    replace: bool,
    is_absolute: bool,
    idle_seconds: Option<u64>,
}

impl Options {
    fn new(mut words: &[&[u8]]) -> Result<Self, &'static str> {
        let mut options = Self::default();
        let mut has_frequency = false;
        while let [option, rest @ ..] = words {
            words = match rest {
                rest if is(option, "REPLACE") => {
                    options.replace = true;
                    rest
                }
                rest if is(option, "ABSTTL") => {
                    options.is_absolute = true;
                    rest
                }
                [seconds, rest @ ..] if is(option, "IDLETIME") && !has_frequency => {
                    let seconds = integer(seconds).ok_or(errors::NOT_AN_INTEGER)?;
                    let seconds =
                        u64::try_from(seconds).map_err(|_| "ERR Invalid IDLETIME value, must be >= 0")?;
                    options.idle_seconds = Some(seconds);
                    rest
                }
                // Nobody counts how often a key is used: it is read, and forgotten.
                [frequency, rest @ ..] if is(option, "FREQ") && options.idle_seconds.is_none() => {
                    let frequency = integer(frequency).ok_or(errors::NOT_AN_INTEGER)?;
                    if !(0..=255).contains(&frequency) {
                        return Err("ERR Invalid FREQ value, must be >= 0 and <= 255");
                    }
                    has_frequency = true;
                    rest
                }
                _ => return Err(errors::SYNTAX),
            };
        }
        Ok(options)
    }
}
