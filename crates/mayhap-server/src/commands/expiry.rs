//! Commands about when a key ends.

use mayhap_commands::spec::{Argument, ArgumentKind, Keys};
use mayhap_commands::words::{integer, is};
use mayhap_commands::{Outcome, Reply};

use super::definition::{About, Group, KEY, number, one_of, word};
use super::{Command, Handler, errors};
use crate::context::Context;

const GENERIC: Group =
    Group { name: "generic", categories: &["keyspace"], flags: &["write", "fast"], keys: Keys::ONE };

const CONDITION: Argument =
    one_of("condition", &[word("nx", "NX"), word("xx", "XX"), word("gt", "GT"), word("lt", "LT")]).optional();

pub(super) const COMMANDS: &[Command] = &[
    setter(
        "EXPIRE",
        ("1.0.0", "Lets a key end after some seconds.", "O(1)"),
        &[KEY, number("seconds"), CONDITION],
        |context, words| expire(context, words, Unit::Seconds, Base::Now),
    ),
    setter(
        "PEXPIRE",
        ("2.6.0", "Lets a key end after some milliseconds.", "O(1)"),
        &[KEY, number("milliseconds"), CONDITION],
        |context, words| expire(context, words, Unit::Milliseconds, Base::Now),
    ),
    setter(
        "EXPIREAT",
        ("1.2.0", "Lets a key end at a moment, in seconds since 1970.", "O(1)"),
        &[KEY, Argument::new("unix-time-seconds", ArgumentKind::UnixTime), CONDITION],
        |context, words| expire(context, words, Unit::Seconds, Base::Epoch),
    ),
    setter(
        "PEXPIREAT",
        ("2.6.0", "Lets a key end at a moment, in milliseconds since 1970.", "O(1)"),
        &[KEY, Argument::new("unix-time-milliseconds", ArgumentKind::UnixTime), CONDITION],
        |context, words| expire(context, words, Unit::Milliseconds, Base::Epoch),
    ),
    getter(
        "TTL",
        ("1.0.0", "Tells after how many seconds a key ends; -1: never; -2: it isn't there.", "O(1)"),
        |context, words| remaining(context, words, Unit::Seconds, Base::Now),
    ),
    getter(
        "PTTL",
        ("2.6.0", "Tells after how many milliseconds a key ends; -1: never; -2: it isn't there.", "O(1)"),
        |context, words| remaining(context, words, Unit::Milliseconds, Base::Now),
    ),
    getter(
        "EXPIRETIME",
        ("7.0.0", "Tells when a key ends, in seconds since 1970; -1: never; -2: it isn't there.", "O(1)"),
        |context, words| remaining(context, words, Unit::Seconds, Base::Epoch),
    ),
    getter(
        "PEXPIRETIME",
        (
            "7.0.0",
            "Tells when a key ends, in milliseconds since 1970; -1: never; -2: it isn't there.",
            "O(1)",
        ),
        |context, words| remaining(context, words, Unit::Milliseconds, Base::Epoch),
    ),
    GENERIC.command(
        ("PERSIST", 2),
        ("2.2.0", "Lets a key never end. Tells whether it would have.", "O(1)"),
        &[KEY],
        persist,
    ),
];

const fn setter(name: &'static str, about: About, arguments: &'static [Argument], run: Handler) -> Command {
    GENERIC.command((name, -3), about, arguments, run)
}

const fn getter(name: &'static str, about: About, run: Handler) -> Command {
    GENERIC.flags(&["readonly", "fast"]).command((name, 2), about, &[KEY], run)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Seconds,
    Milliseconds,
}

/// What a time is counted from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Now,
    Epoch,
}

/// `NX`, `XX`, `GT` and `LT`.
#[derive(Clone, Copy, Default)]
struct Conditions {
    none: bool,
    some: bool,
    later: bool,
    earlier: bool,
}

fn expire(context: &mut Context<'_>, words: &[&[u8]], unit: Unit, base: Base) -> Outcome {
    let [name, key, time, options @ ..] = words else { return Reply::error(errors::SYNTAX).into() };
    let now = context.moment();
    let parsed = Conditions::new(options).and_then(|conditions| {
        let time = integer(time).ok_or_else(|| errors::NOT_AN_INTEGER.to_owned())?;
        let from = if base == Base::Now { now.cast_signed() } else { 0 };
        let moment = match unit {
            Unit::Seconds => time.checked_mul(1000),
            Unit::Milliseconds => Some(time),
        };
        let moment = moment.and_then(|moment| moment.checked_add(from)).ok_or_else(|| {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase();
            format!("ERR invalid expire time in '{name}' command")
        })?;
        Ok((conditions, moment))
    });
    match parsed {
        Ok((conditions, moment)) => {
            let did = set(context, key, (moment, now), conditions);
            Outcome::changed(Reply::Integer(did.into()), did)
        }
        Err(error) => Reply::error_of(error).into(),
    }
}

fn set(context: &Context<'_>, key: &[u8], (moment, now): (i64, u64), conditions: Conditions) -> bool {
    let (keyspace, begun) = (&context.shared.keyspace, context.now);
    match u64::try_from(moment).ok().filter(|moment| *moment > now) {
        None => {
            // A moment that has come removes the key, as DEL would.
            keyspace
                .remove_if(key, |entry| entry.is_live(begun) && conditions.allow(entry.expires_at(), moment))
        }
        future => keyspace.set_expiry(key, future, begun, |before| conditions.allow(before, moment)),
    }
}

impl Conditions {
    fn new(options: &[&[u8]]) -> Result<Self, String> {
        let mut all = Self::default();
        for option in options {
            let known = [
                ("NX", &mut all.none),
                ("XX", &mut all.some),
                ("GT", &mut all.later),
                ("LT", &mut all.earlier),
            ];
            match known.into_iter().find(|(name, _)| is(option, name)) {
                Some((_, flag)) => *flag = true,
                None => return Err(format!("ERR Unsupported option {}", String::from_utf8_lossy(option))),
            }
        }
        if all.none && (all.some || all.later || all.earlier) {
            return Err("ERR NX and XX, GT or LT options at the same time are not compatible".to_owned());
        }
        if all.later && all.earlier {
            return Err("ERR GT and LT options at the same time are not compatible".to_owned());
        }
        Ok(all)
    }

    /// Whether a key that ends then, or never, may end at this moment instead. Never is later than any.
    fn allow(self, before: Option<u64>, moment: i64) -> bool {
        let before = before.map(|before| i64::try_from(before).unwrap_or(i64::MAX));
        match before {
            None => !self.some && !self.later,
            Some(before) => {
                !self.none && (!self.later || moment > before) && (!self.earlier || moment < before)
            }
        }
    }
}

fn remaining(context: &mut Context<'_>, words: &[&[u8]], unit: Unit, base: Base) -> Outcome {
    let entry = words.get(1).and_then(|key| context.read(key));
    let Some(entry) = entry else { return Reply::Integer(-2).into() };
    let Some(moment) = entry.expires_at() else { return Reply::Integer(-1).into() };
    let time = if base == Base::Now { moment.saturating_sub(context.moment()) } else { moment };
    Reply::count(match unit {
        // To the nearest second.
        Unit::Seconds => time.saturating_add(500) / 1000,
        Unit::Milliseconds => time,
    })
    .into()
}

fn persist(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let [_, key] = words else { return Reply::error(errors::SYNTAX).into() };
    let keyspace = &context.shared.keyspace;
    let would_have_ended = keyspace.set_expiry(key, None, context.now, |before| before.is_some());
    Outcome::changed(Reply::Integer(would_have_ended.into()), would_have_ended)
}
