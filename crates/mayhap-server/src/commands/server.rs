//! `TIME`, `SHUTDOWN` and `DEBUG`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mayhap_commands::spec::{Argument, ArgumentKind, Keys};
use mayhap_commands::words::{double, is};
use mayhap_commands::{Outcome, Reply};

use super::definition::{Group, container, one_of, word};
use super::{Command, errors, needs_subcommand};
use crate::Shutdown;
use crate::context::Context;
use crate::session::Replies;

const SERVER: Group =
    Group { name: "server", categories: &[], flags: &["loading", "stale", "fast"], keys: Keys::NONE };
const ADMIN: Group =
    Group { categories: &["dangerous"], flags: &["admin", "noscript", "loading", "stale"], ..SERVER };

/// `DEBUG SLEEP` holds up a worker with all its connections; not for longer than this, whatever it is told.
const LONGEST_SLEEP: f64 = 60.0;

const NO_DEBUG: &str = "ERR DEBUG command not allowed. Set enable-debug-command to yes in the configuration file, and \
                        then restart the server.";

pub(super) const COMMANDS: &[Command] = &[
    SERVER.command(
        ("TIME", 1),
        ("2.6.0", "Tells the time: seconds since 1970, and microseconds.", "O(1)"),
        &[],
        time,
    ),
    ADMIN.flags(&["admin", "noscript", "loading", "stale", "no_multi"]).command(
        ("SHUTDOWN", -1),
        ("1.0.0", "Stops the server.", "O(1)"),
        &[
            one_of("save-selector", &[word("nosave", "NOSAVE"), word("save", "SAVE")]).optional(),
            word("now", "NOW").optional(),
            word("force", "FORCE").optional(),
            word("abort", "ABORT").optional(),
        ],
        shutdown,
    ),
    container(
        ADMIN.command(
            ("DEBUG", -2),
            ("1.0.0", "For tests of clients; not allowed unless enable-debug-command is yes.", "O(1)"),
            &[],
            needs_subcommand,
        ),
        &[ADMIN.command(
            ("DEBUG|SLEEP", 3),
            ("1.0.0", "Holds up the connection, and others, for some seconds.", "O(1)"),
            &[Argument::new("seconds", ArgumentKind::Double)],
            sleep,
        )],
    ),
];

fn time(_: &mut Context<'_>, _: &[&[u8]]) -> Outcome {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let number = |number: u64| Reply::text(&number.to_string());
    Reply::Array(vec![number(now.as_secs()), number(now.subsec_micros().into())]).into()
}

fn shutdown(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let (mut how, mut is_abort) = (Shutdown::Drain, false);
    for option in words.iter().skip(1) {
        match option {
            option if is(option, "NOSAVE") || is(option, "FORCE") => {}
            option if is(option, "NOW") => how = Shutdown::Now,
            option if is(option, "ABORT") => is_abort = true,
            option if is(option, "SAVE") => {
                return Reply::error(
                    "ERR This server keeps nothing on disk: it can't save. Use SHUTDOWN NOSAVE.",
                )
                .into();
            }
            _ => return Reply::error(errors::SYNTAX).into(),
        }
    }
    match (is_abort, words.len()) {
        (false, _) => {}
        // What has begun to stop doesn't come back.
        (true, 2) => return Reply::error("ERR No shutdown in progress.").into(),
        (true, _) => return Reply::error(errors::SYNTAX).into(),
    }
    context.shared.shutdown(how);
    // Redis answers nothing, and clients take the end of the connection for the answer.
    context.session.replies = Replies::Off;
    context.session.closing = true;
    Reply::OK.into()
}

fn sleep(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    if !context.shared.settings.enable_debug_command() {
        return Reply::error(NO_DEBUG).into();
    }
    let seconds = words.get(2).and_then(|word| double(word)).unwrap_or(0.0).clamp(0.0, LONGEST_SLEEP);
    std::thread::sleep(Duration::from_secs_f64(seconds));
    Reply::OK.into()
}
