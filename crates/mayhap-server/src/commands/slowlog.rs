//! `SLOWLOG`: commands that took long.

use mayhap_commands::spec::Keys;
use mayhap_commands::words::integer;
use mayhap_commands::{Outcome, Reply};

use super::definition::{Group, container, number};
use super::{Command, errors, needs_subcommand};
use crate::context::Context;
use crate::slowlog::SlowCommand;

const SERVER: Group = Group {
    name: "server",
    categories: &["dangerous"],
    flags: &["admin", "loading", "stale"],
    keys: Keys::NONE,
};

/// How many are told, if nobody says.
const COUNT: usize = 10;

pub(super) const COMMANDS: &[Command] = &[container(
    SERVER.command(
        ("SLOWLOG", -2),
        ("2.2.12", "Tells which commands took long.", "Depends on the subcommand"),
        &[],
        needs_subcommand,
    ),
    &[
        SERVER.command(
            ("SLOWLOG|GET", -2),
            (
                "2.2.12",
                "Tells the last slow commands, the newest first; -1: all that are kept.",
                "O(N) for N commands",
            ),
            &[number("count").optional()],
            get,
        ),
        SERVER.command(
            ("SLOWLOG|LEN", 2),
            ("2.2.12", "Tells how many slow commands are kept.", "O(1)"),
            &[],
            |context, _| Reply::count(context.shared.slowlog.len() as u64).into(),
        ),
        SERVER.command(
            ("SLOWLOG|RESET", 2),
            ("2.2.12", "Forgets all slow commands.", "O(N) for N commands"),
            &[],
            |context, _| {
                context.shared.slowlog.clear();
                Reply::OK.into()
            },
        ),
    ],
)];

fn get(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let count = match words.get(2..).unwrap_or_default() {
        [] => COUNT,
        [count] => match integer(count) {
            Some(-1) => usize::MAX,
            Some(count @ 0..) => usize::try_from(count).unwrap_or(usize::MAX),
            _ => return Reply::error("ERR count should be greater than or equal to -1").into(),
        },
        _ => return Reply::error(errors::SYNTAX).into(),
    };
    Reply::Array(context.shared.slowlog.newest(count).into_iter().map(entry).collect()).into()
}

fn entry(slow: SlowCommand) -> Reply {
    Reply::Array(vec![
        Reply::count(slow.id),
        Reply::count(slow.at),
        Reply::count(slow.micros),
        Reply::Array(slow.words.into_iter().map(Reply::Bulk).collect()),
        Reply::text(&slow.peer),
        Reply::text(&slow.name),
    ])
}
