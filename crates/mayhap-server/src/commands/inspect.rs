//! `OBJECT` and `MEMORY`: how a value is kept.

use std::sync::Arc;

use mayhap_commands::spec::Keys;
use mayhap_commands::words::{integer, is};
use mayhap_commands::{Outcome, Reply};

use super::definition::{Group, KEY, container, number};
use super::{Command, errors, needs_subcommand};
use crate::context::Context;
use crate::keyspace::Entry;

/// The key is the second word after the name.
const SECOND: Keys = Keys { first: 2, last: 2, step: 1 };

const GENERIC: Group =
    Group { name: "generic", categories: &["keyspace"], flags: &["readonly"], keys: SECOND };
const SERVER: Group = Group { name: "server", categories: &[], ..GENERIC };

const NO_FREQUENCY: &str = "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note \
                            that when switching between policies at runtime LRU and LFU data will take some time to \
                            adjust.";

pub(super) const COMMANDS: &[Command] = &[
    container(
        GENERIC.keys(Keys::NONE).command(
            ("OBJECT", -2),
            ("2.2.3", "Tells how a value is kept.", "Depends on the subcommand"),
            &[],
            needs_subcommand,
        ),
        &[
            GENERIC.command(
                ("OBJECT|ENCODING", 3),
                ("2.2.3", "Tells the encoding of a value: raw, as there is only one.", "O(1)"),
                &[KEY],
                |context, words| about(context, words, |_, _| Reply::text("raw")),
            ),
            GENERIC.command(
                ("OBJECT|FREQ", 3),
                ("4.0.0", "Would tell how often a value is used. That is not counted.", "O(1)"),
                &[KEY],
                |context, words| about(context, words, |_, _| Reply::error(NO_FREQUENCY)),
            ),
            GENERIC.command(
                ("OBJECT|IDLETIME", 3),
                ("2.2.3", "Tells for how many seconds a value has not been used.", "O(1)"),
                &[KEY],
                |context, words| {
                    about(context, words, |entry, now| {
                        Reply::count(now.saturating_sub(entry.last_used()) / 1000)
                    })
                },
            ),
            GENERIC.command(
                ("OBJECT|REFCOUNT", 3),
                ("2.2.3", "Tells how many keys share a value: one.", "O(1)"),
                &[KEY],
                |context, words| about(context, words, |_, _| Reply::Integer(1)),
            ),
        ],
    ),
    container(
        SERVER.keys(Keys::NONE).command(
            ("MEMORY", -2),
            ("4.0.0", "Tells about memory.", "Depends on the subcommand"),
            &[],
            needs_subcommand,
        ),
        &[SERVER.command(
            ("MEMORY|USAGE", -3),
            ("4.0.0", "Tells the bytes of a key and its value.", "O(1)"),
            &[KEY, number("count").token("SAMPLES").optional()],
            usage,
        )],
    ),
];

fn find(context: &Context<'_>, words: &[&[u8]]) -> Option<Arc<Entry>> {
    words.get(2).and_then(|key| context.shared.keyspace.find(key, context.now))
}

fn about(context: &Context<'_>, words: &[&[u8]], tell: fn(&Entry, u64) -> Reply) -> Outcome {
    find(context, words).map_or(Reply::Null, |entry| tell(&entry, context.now)).into()
}

fn usage(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    // Values here are not made of parts that would have to be sampled; but whoever says so must say it right.
    match words.get(3..).unwrap_or_default() {
        [] => {}
        [option, samples] if is(option, "SAMPLES") => match integer(samples) {
            Some(0..) => {}
            Some(_) => return Reply::error(errors::SYNTAX).into(),
            None => return Reply::error(errors::NOT_AN_INTEGER).into(),
        },
        _ => return Reply::error(errors::SYNTAX).into(),
    }
    let Some(entry) = find(context, words) else { return Reply::Null.into() };
    // Bitmaps are counted now and then only.
    context.shared.keyspace.weigh(&entry);
    Reply::count(entry.bytes()).into()
}
