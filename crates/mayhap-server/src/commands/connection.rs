//! Commands about the connection itself.

use mayhap_commands::spec::{Argument, ArgumentKind, CommandId, Keys};
use mayhap_commands::words::{integer, is};
use mayhap_commands::{Outcome, Reply, Spec};

use super::{Command, errors};
use crate::REDIS_VERSION;
use crate::context::Context;
use crate::session::Protocol;

pub(super) const COMMANDS: &[Command] = &[
    command(
        "PING",
        -1,
        &[Argument::new("message", ArgumentKind::Text).optional()],
        "1.0.0",
        "Answers PONG, or the message.",
        ping,
    ),
    command(
        "ECHO",
        2,
        &[Argument::new("message", ArgumentKind::Text)],
        "1.0.0",
        "Answers the message.",
        echo,
    ),
    command(
        "HELLO",
        -1,
        HELLO,
        "6.0.0",
        "Chooses a version of the protocol, and tells about the server.",
        hello,
    ),
    command("QUIT", -1, &[], "1.0.0", "Closes the connection.", quit),
    command("RESET", 1, &[], "6.2.0", "Makes the connection as it was at first.", reset),
    command(
        "SELECT",
        2,
        &[Argument::new("index", ArgumentKind::Integer)],
        "1.0.0",
        "Chooses a database; there is only number 0.",
        select,
    ),
];

const HELLO: &[Argument] = &[Argument::new("arguments", ArgumentKind::Block(HELLO_ARGUMENTS)).optional()];

const HELLO_ARGUMENTS: &[Argument] = &[
    Argument::new("protover", ArgumentKind::Integer),
    Argument::new(
        "auth",
        ArgumentKind::Block(&[
            Argument::new("username", ArgumentKind::Text),
            Argument::new("password", ArgumentKind::Text),
        ]),
    )
    .token("AUTH")
    .optional(),
    Argument::new("clientname", ArgumentKind::Text).token("SETNAME").optional(),
];

const fn command(
    name: &'static str,
    arity: i32,
    arguments: &'static [Argument],
    since: &'static str,
    summary: &'static str,
    run: super::Handler,
) -> Command {
    Command {
        spec: Spec {
            name,
            id: CommandId::Host,
            arity,
            flags: &["noscript", "loading", "stale", "fast", "no_auth", "allow_busy"],
            keys: Keys::NONE,
            categories: &["connection"],
            group: "connection",
            since,
            summary,
            complexity: "O(1)",
            arguments,
        },
        run,
        subcommands: &[],
    }
}

fn ping(_: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    match words {
        [_] => Reply::Simple("PONG"),
        [_, message] => Reply::Bulk(message.to_vec()),
        _ => Reply::error("ERR wrong number of arguments for 'ping' command"),
    }
    .into()
}

fn echo(_: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    Reply::Bulk(words.get(1).map_or_else(Vec::new, |message| message.to_vec())).into()
}

fn quit(context: &mut Context<'_>, _: &[&[u8]]) -> Outcome {
    context.session.closing = true;
    Reply::OK.into()
}

fn reset(context: &mut Context<'_>, _: &[&[u8]]) -> Outcome {
    context.session.discard(&context.shared.keyspace);
    context.session.reset();
    Reply::Simple("RESET").into()
}

fn select(_: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    match words.get(1).and_then(|word| integer(word)) {
        Some(0) => Reply::OK,
        Some(_) => Reply::error(errors::NO_SUCH_DATABASE),
        None => Reply::error(errors::NOT_AN_INTEGER),
    }
    .into()
}

fn hello(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    match hello_arguments(words) {
        Ok((protocol, name)) => {
            // Only now, when all of it is right: a wrong HELLO changes nothing.
            if let Some(protocol) = protocol {
                context.session.set_protocol(protocol);
            }
            if let Some(name) = name {
                context.session.client.set_names(|names| names.name = name);
            }
            about_server(context).into()
        }
        Err(error) => Reply::error_of(error).into(),
    }
}

fn hello_arguments(words: &[&[u8]]) -> Result<(Option<Protocol>, Option<String>), String> {
    let Some(version) = words.get(1) else { return Ok((None, None)) };
    let protocol = match integer(version) {
        Some(2) => Protocol::Two,
        Some(3) => Protocol::Three,
        Some(_) => return Err(errors::NO_PROTOCOL.to_owned()),
        None => return Err("ERR Protocol version is not an integer or out of range".to_owned()),
    };
    let (mut name, mut rest) = (None, words.get(2..).unwrap_or_default());
    while let [option, after @ ..] = rest {
        rest = match after {
            // There are no users but the default one, which needs no password: as in a Redis without one.
            [user, _, after @ ..] if is(option, "AUTH") => {
                if *user != b"default" {
                    return Err(errors::WRONG_PASSWORD.to_owned());
                }
                after
            }
            [text, after @ ..] if is(option, "SETNAME") => {
                name = Some(client_name(text).ok_or(errors::BAD_CLIENT_NAME)?);
                after
            }
            _ => {
                let option = String::from_utf8_lossy(option);
                return Err(format!("ERR Syntax error in HELLO option '{option}'"));
            }
        };
    }
    Ok((Some(protocol), name))
}

/// The longest name of a client or its library: they are kept as long as it is connected.
const MAX_NAME_BYTES: usize = 1024;

/// A name that a client may have, by `CLIENT SETNAME` or `HELLO`: it prints, has no spaces, and isn't too long.
pub(super) fn client_name(word: &[u8]) -> Option<String> {
    if word.len() > MAX_NAME_BYTES {
        return None;
    }
    let text = word.iter().all(u8::is_ascii_graphic).then(|| word.to_vec())?;
    String::from_utf8(text).ok()
}

fn about_server(context: &Context<'_>) -> Reply {
    let field = |name: &str, value| (Reply::text(name), value);
    Reply::Map(vec![
        // What clients expect to read here before they use what came with RESP3.
        field("server", Reply::text("redis")),
        field("version", Reply::text(REDIS_VERSION)),
        field("proto", Reply::Integer(context.session.protocol.version().into())),
        field("id", Reply::count(context.session.client.id)),
        field("mode", Reply::text("standalone")),
        field("role", Reply::text("master")),
        field("modules", Reply::Array(vec![])),
    ])
}
