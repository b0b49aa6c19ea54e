//! `CLIENT`: who is connected, and how.

use mayhap_commands::spec::{Argument, ArgumentKind, Keys};
use mayhap_commands::words::{integer, is};
use mayhap_commands::{Outcome, Reply};

use super::client_kill::{self, ADDRESS, FILTERS};
use super::client_list;
use super::connection::client_name;
use super::definition::{Group, container, number, one_of, text, word};
use super::{Command, errors, needs_subcommand};
use crate::context::Context;
use crate::session::Replies;

const CONNECTION: Group = Group {
    name: "connection",
    categories: &["connection"],
    flags: &["noscript", "loading", "stale"],
    keys: Keys::NONE,
};
const ADMIN: Group = CONNECTION.flags(&["admin", "noscript", "loading", "stale"]);

const ON_OR_OFF: &[Argument] = &[one_of("enabled", &[word("on", "ON"), word("off", "OFF")])];

pub(super) const COMMANDS: &[Command] = &[container(
    CONNECTION.command(
        ("CLIENT", -2),
        ("2.4.0", "Tells about connections, and changes them.", "Depends on the subcommand"),
        &[],
        needs_subcommand,
    ),
    &[
        CONNECTION.command(
            ("CLIENT|ID", 2),
            ("5.0.0", "Tells the number of this connection.", "O(1)"),
            &[],
            |context, _| Reply::count(context.session.client.id).into(),
        ),
        CONNECTION.command(
            ("CLIENT|GETNAME", 2),
            ("2.6.9", "Tells the name of this connection.", "O(1)"),
            &[],
            get_name,
        ),
        CONNECTION.command(
            ("CLIENT|SETNAME", 3),
            ("2.6.9", "Names this connection; an empty name is none.", "O(1)"),
            &[text("connection-name")],
            set_name,
        ),
        CONNECTION.command(
            ("CLIENT|SETINFO", 4),
            ("7.2.0", "Tells the server which library this client uses.", "O(1)"),
            &[one_of("attr", &[text("libname").token("LIB-NAME"), text("libver").token("LIB-VER")])],
            set_info,
        ),
        CONNECTION.command(("CLIENT|INFO", 2), ("6.2.0", "Tells about this connection.", "O(1)"), &[], info),
        ADMIN.command(
            ("CLIENT|LIST", -2),
            ("2.4.0", "Tells about all connections, or some.", "O(N) for N connections"),
            &[
                text("client-type").token("TYPE").optional(),
                number("client-id").token("ID").optional().multiple(),
            ],
            list,
        ),
        ADMIN.command(
            ("CLIENT|KILL", -3),
            (
                "2.4.0",
                "Closes connections. Tells how many, unless it is one by its address.",
                "O(N) for N connections",
            ),
            &[Argument::new("filter", ArgumentKind::OneOf(&[ADDRESS, FILTERS]))],
            client_kill::kill,
        ),
        ADMIN.command(
            ("CLIENT|NO-EVICT", 3),
            ("7.0.0", "Marks this connection as one that should not be evicted. None is.", "O(1)"),
            ON_OR_OFF,
            |context, words| switch(words, |on| context.session.client.set_no_evict(on)),
        ),
        CONNECTION.command(
            ("CLIENT|NO-TOUCH", 3),
            ("7.2.0", "Marks this connection as one whose commands don't count as a use of keys.", "O(1)"),
            ON_OR_OFF,
            |context, words| switch(words, |on| context.session.client.set_no_touch(on)),
        ),
        CONNECTION.command(
            ("CLIENT|REPLY", 3),
            ("3.2.0", "Chooses whether this connection gets replies.", "O(1)"),
            &[one_of("action", &[word("on", "ON"), word("off", "OFF"), word("skip", "SKIP")])],
            reply,
        ),
        CONNECTION.command(
            ("CLIENT|GETREDIR", 2),
            ("6.0.0", "Tells where news about keys go: -1, nowhere.", "O(1)"),
            &[],
            |_, _| Reply::Integer(-1).into(),
        ),
        ADMIN.command(
            ("CLIENT|UNBLOCK", -3),
            ("5.0.0", "Ends a command that waits. None does: 0.", "O(1)"),
            &[
                number("client-id"),
                one_of("what", &[word("timeout", "TIMEOUT"), word("error", "ERROR")]).optional(),
            ],
            unblock,
        ),
    ],
)];

fn get_name(context: &mut Context<'_>, _: &[&[u8]]) -> Outcome {
    let name = context.session.client.names().name;
    if name.is_empty() { Reply::Null } else { Reply::text(&name) }.into()
}

fn set_name(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let name = words.get(2).copied().unwrap_or_default();
    match client_name(name) {
        Some(name) => {
            context.session.client.set_names(|names| names.name = name);
            Reply::OK.into()
        }
        None => Reply::error(errors::BAD_CLIENT_NAME).into(),
    }
}

fn set_info(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let [_, _, attribute, value] = words else { return Reply::error(errors::SYNTAX).into() };
    let is_version = is(attribute, "LIB-VER");
    if !is_version && !is(attribute, "LIB-NAME") {
        let attribute = String::from_utf8_lossy(attribute);
        return Reply::error_of(format!("ERR Unrecognized option '{attribute}'")).into();
    }
    match client_name(value) {
        Some(value) => {
            context.session.client.set_names(|names| {
                *(if is_version { &mut names.library_version } else { &mut names.library }) = value;
            });
            Reply::OK.into()
        }
        None => Reply::error_of(format!(
            "ERR {} cannot contain spaces, newlines or special characters.",
            if is_version { "lib-ver" } else { "lib-name" }
        ))
        .into(),
    }
}

fn info(context: &mut Context<'_>, _: &[&[u8]]) -> Outcome {
    let line = client_list::line(&context.session.client, context.now, Some("client|info"));
    Reply::text(&line).into()
}

fn list(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let clients = match words.get(2..).unwrap_or_default() {
        [] => context.shared.clients.all(),
        [what, kind] if is(what, "TYPE") => match client_list::has_type(kind) {
            Ok(true) => context.shared.clients.all(),
            Ok(false) => vec![],
            Err(error) => return Reply::error_of(error).into(),
        },
        [what, ids @ ..] if is(what, "ID") && !ids.is_empty() => {
            let ids: Option<Vec<u64>> =
                ids.iter().map(|id| integer(id).and_then(|id| u64::try_from(id).ok())).collect();
            match ids {
                Some(ids) => ids.into_iter().filter_map(|id| context.shared.clients.find(id)).collect(),
                None => return Reply::error("ERR Invalid client ID").into(),
            }
        }
        _ => return Reply::error(errors::SYNTAX).into(),
    };
    let own = context.session.client.id;
    let lines = clients
        .iter()
        .map(|client| client_list::line(client, context.now, (client.id == own).then_some("client|list")));
    Reply::text(&lines.collect::<String>()).into()
}

fn switch(words: &[&[u8]], set: impl FnOnce(bool)) -> Outcome {
    match words.get(2) {
        Some(word) if is(word, "ON") => set(true),
        Some(word) if is(word, "OFF") => set(false),
        _ => return Reply::error(errors::SYNTAX).into(),
    }
    Reply::OK.into()
}

fn reply(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    context.session.replies = match words.get(2) {
        Some(word) if is(word, "ON") => Replies::On,
        Some(word) if is(word, "OFF") => Replies::Off,
        // Whoever gets no replies at all goes on getting none.
        Some(word) if is(word, "SKIP") => match context.session.replies {
            Replies::Off => Replies::Off,
            _ => Replies::SkipNext,
        },
        _ => return Reply::error(errors::SYNTAX).into(),
    };
    Reply::OK.into()
}

fn unblock(_: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    match words {
        [_, _, id, how @ ..] if how.len() <= 1 => {
            if how.iter().any(|how| !is(how, "TIMEOUT") && !is(how, "ERROR")) {
                return Reply::error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR").into();
            }
            integer(id).map_or(Reply::error(errors::NOT_AN_INTEGER), |_| Reply::Integer(0)).into()
        }
        _ => Reply::error(errors::SYNTAX).into(),
    }
}
