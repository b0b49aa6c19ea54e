//! `COMMAND`: what the server understands.

use mayhap_commands::spec::{Argument, ArgumentKind, Keys};
use mayhap_commands::words::is;
use mayhap_commands::{Outcome, Reply, Spec};

use super::definition::{Group, container, text};
use super::glob::{Case, matches};
use super::{Command, command_docs, command_info, errors, table};
use crate::context::Context;

const SERVER: Group =
    Group { name: "server", categories: &["connection"], flags: &["loading", "stale"], keys: Keys::NONE };

const NAMES: &[Argument] = &[text("command-name").optional().multiple()];

pub(super) const COMMANDS: &[Command] = &[container(
    SERVER.command(
        ("COMMAND", -1),
        ("2.8.13", "Tells about all commands, or about some.", "O(N) for N commands"),
        &[],
        all,
    ),
    &[
        SERVER.command(
            ("COMMAND|COUNT", 2),
            ("2.8.13", "Tells how many commands there are.", "O(1)"),
            &[],
            |_, _| Reply::count(table().len() as u64).into(),
        ),
        SERVER.command(
            ("COMMAND|INFO", -2),
            ("2.8.13", "Tells arity, flags and keys of some commands, or of all.", "O(N) for N commands"),
            NAMES,
            info,
        ),
        SERVER.command(
            ("COMMAND|DOCS", -2),
            ("7.0.0", "Tells what some commands are for, or all.", "O(N) for N commands"),
            NAMES,
            docs,
        ),
        SERVER.command(
            ("COMMAND|LIST", -2),
            ("7.0.0", "Tells the names of all commands, or of some.", "O(N) for N commands"),
            &[Argument::new(
                "filterby",
                ArgumentKind::OneOf(&[
                    text("module-name").token("MODULE"),
                    text("category").token("ACLCAT"),
                    Argument::new("pattern", ArgumentKind::Pattern).token("PATTERN"),
                ]),
            )
            .token("FILTERBY")
            .optional()],
            list,
        ),
        SERVER.command(
            ("COMMAND|GETKEYS", -3),
            ("2.8.13", "Tells which words of a whole command are keys.", "O(N) for N words"),
            &[text("command"), text("arg").optional().multiple()],
            get_keys,
        ),
    ],
)];

/// A command, or a subcommand of one, by its full name.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) spec: &'static Spec,
    pub(super) subcommands: &'static [Command],
}

impl Known {
    fn all() -> impl Iterator<Item = Self> {
        table()
            .specs()
            .enumerate()
            .map(|(place, spec)| Self { spec, subcommands: table().subcommands(place) })
    }

    /// `CLIENT` or `client|id`.
    fn find(name: &[u8]) -> Option<Self> {
        let bar = name.iter().position(|byte| *byte == b'|').unwrap_or(name.len());
        let place = table().find(name.get(..bar)?)?;
        let spec = table().spec(place)?;
        let subcommands = table().subcommands(place);
        if bar == name.len() {
            return Some(Self { spec, subcommands });
        }
        subcommands.iter().find(|sub| is(name, sub.spec.name)).map(Self::from)
    }
}

impl From<&'static Command> for Known {
    fn from(command: &'static Command) -> Self {
        Self { spec: &command.spec, subcommands: command.subcommands }
    }
}

fn all(_: &mut Context<'_>, _: &[&[u8]]) -> Outcome {
    Reply::Array(Known::all().map(command_info::info).collect()).into()
}

fn info(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let names = words.get(2..).unwrap_or_default();
    if names.is_empty() {
        return all(context, words);
    }
    let infos = names.iter().map(|name| Known::find(name).map_or(Reply::Null, command_info::info));
    Reply::Array(infos.collect()).into()
}

fn docs(_: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let names = words.get(2..).unwrap_or_default();
    if names.is_empty() {
        return Reply::Map(Known::all().map(command_docs::docs).collect()).into();
    }
    Reply::Map(names.iter().filter_map(|name| Known::find(name)).map(command_docs::docs).collect()).into()
}

fn list(_: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let names = |is_wanted: &dyn Fn(&Known) -> bool| {
        let mut names = Vec::new();
        for command in Known::all() {
            for known in std::iter::once(command).chain(command.subcommands.iter().map(Known::from)) {
                if is_wanted(&known) {
                    names.push(command_info::name(known.spec));
                }
            }
        }
        Reply::Set(names)
    };
    match words.get(2..).unwrap_or_default() {
        [] => names(&|known| !known.spec.name.contains('|')),
        [by, what, value] if is(by, "FILTERBY") => {
            if is(what, "MODULE") {
                // Filters are part of this server, and of no module.
                Reply::Set(vec![])
            } else if is(what, "ACLCAT") {
                names(&|known| {
                    command_info::categories(known.spec)
                        .any(|category| is(value, category.trim_start_matches('@')))
                })
            } else if is(what, "PATTERN") {
                names(&|known| matches(value, known.spec.name.as_bytes(), Case::Ignored))
            } else {
                Reply::error(errors::SYNTAX)
            }
        }
        _ => Reply::error(errors::SYNTAX),
    }
    .into()
}

fn get_keys(_: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let command = words.get(2..).unwrap_or_default();
    keys_of(command).map_or_else(Reply::error, Reply::Array).into()
}

fn keys_of(words: &[&[u8]]) -> Result<Vec<Reply>, &'static str> {
    let known = words.first().and_then(|name| Known::find(name)).ok_or("ERR Invalid command specified")?;
    // OBJECT ENCODING key: it is the subcommand that has the key.
    let sub = words
        .get(1)
        .and_then(|name| known.subcommands.iter().find(|sub| is(name, sub.last_name())).map(|sub| &sub.spec));
    let spec = sub.unwrap_or(known.spec);
    if spec.keys == Keys::NONE {
        return Err("ERR The command has no key arguments");
    }
    if !spec.takes(words.len()) {
        return Err("ERR Invalid number of arguments specified for command");
    }
    let Keys { first, last, step } = spec.keys;
    let length = i32::try_from(words.len()).unwrap_or(i32::MAX);
    let last = if last < 0 { length + last } else { last };
    let places = (first..=last).step_by(usize::try_from(step).unwrap_or(1).max(1));
    let keys = places.filter_map(|place| words.get(usize::try_from(place).ok()?));
    Ok(keys.map(|key| Reply::Bulk(key.to_vec())).collect())
}
