//! `KEYS` and `SCAN`: walking through the keys.

use mayhap_commands::spec::{Argument, ArgumentKind, Keys};
use mayhap_commands::words::{integer, is};
use mayhap_commands::{Outcome, Reply};

use super::definition::{Group, number, text};
use super::glob::{Case, matches};
use super::{Command, errors};
use crate::context::Context;

const GENERIC: Group =
    Group { name: "generic", categories: &["keyspace"], flags: &["readonly"], keys: Keys::NONE };

const PATTERN: Argument = Argument::new("pattern", ArgumentKind::Pattern);

/// How many keys a step of a walk looks at, if it isn't told.
const COUNT: usize = 10;

pub(super) const COMMANDS: &[Command] = &[
    Group { categories: &["keyspace", "dangerous"], ..GENERIC }.command(
        ("KEYS", 2),
        ("1.0.0", "Tells all keys that match a pattern.", "O(N) for N keys"),
        &[PATTERN],
        keys,
    ),
    GENERIC.command(
        ("SCAN", -2),
        (
            "2.8.0",
            "Tells some keys, and the cursor to go on with; 0 at the end.",
            "O(1) for each call, O(N) for a whole walk through N keys",
        ),
        &[
            number("cursor"),
            PATTERN.token("MATCH").optional(),
            number("count").token("COUNT").optional(),
            text("type").token("TYPE").optional(),
        ],
        scan,
    ),
];

fn keys(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let pattern = words.get(1).copied().unwrap_or_default();
    let mut found = Vec::new();
    context.shared.keyspace.for_each(context.now, |key, _| {
        if pattern == b"*" || matches(pattern, key, Case::Matters) {
            found.push(Reply::Bulk(key.to_vec()));
        }
    });
    Reply::Array(found).into()
}

fn scan(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let [_, cursor, options @ ..] = words else { return Reply::error(errors::SYNTAX).into() };
    let wanted = cursor_of(cursor).ok_or("ERR invalid cursor").and_then(|cursor| Walk::new(cursor, options));
    match wanted {
        Ok(walk) => walk.step(context).into(),
        Err(error) => Reply::error(error).into(),
    }
}

/// A number without a sign, as C reads one: a sign is taken, and makes one that is past the end.
fn cursor_of(word: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(word).ok()?;
    match text.strip_prefix('-') {
        Some(digits) if digits.starts_with(|c: char| c.is_ascii_digit()) => {
            digits.parse::<u64>().ok().map(u64::wrapping_neg)
        }
        _ => text.parse().ok(),
    }
}

/// What one `SCAN` asks for.
struct Walk<'w> {
    cursor: u64,
    count: usize,
    pattern: Option<&'w [u8]>,
    type_name: Option<&'w [u8]>,
}

impl<'w> Walk<'w> {
    fn new(cursor: u64, mut options: &[&'w [u8]]) -> Result<Self, &'static str> {
        let mut walk = Self { cursor, count: COUNT, pattern: None, type_name: None };
        while let [option, value, rest @ ..] = options {
            if is(option, "COUNT") {
                let count = integer(value).ok_or(errors::NOT_AN_INTEGER)?;
                walk.count = usize::try_from(count).ok().filter(|count| *count > 0).ok_or(errors::SYNTAX)?;
            } else if is(option, "MATCH") {
                walk.pattern = Some(*value).filter(|pattern| *pattern != b"*");
            } else if is(option, "TYPE") {
                walk.type_name = Some(value);
            } else {
                return Err(errors::SYNTAX);
            }
            options = rest;
        }
        if options.is_empty() { Ok(walk) } else { Err(errors::SYNTAX) }
    }

    fn step(&self, context: &Context<'_>) -> Reply {
        let mut found = Vec::new();
        let next = context.shared.keyspace.scan(self.cursor, self.count, context.now, |key, entry| {
            let has_name = self.pattern.is_none_or(|pattern| matches(pattern, key, Case::Matters));
            let has_type = self.type_name.is_none_or(|name| is(name, entry.value.type_name()));
            if has_name && has_type {
                found.push(Reply::Bulk(key.to_vec()));
            }
        });
        Reply::Array(vec![Reply::text(&next.to_string()), Reply::Array(found)])
    }
}
