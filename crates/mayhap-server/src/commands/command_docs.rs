//! What `COMMAND DOCS` says about a command: what redis-cli makes its hints of.

use mayhap_commands::Reply;
use mayhap_commands::spec::{Argument, ArgumentKind};

use super::command::Known;
use super::command_info::name;

/// A command's name, and what there is to read about it.
pub(super) fn docs(known: Known) -> (Reply, Reply) {
    let Known { spec, subcommands } = known;
    let mut fields = vec![
        text("summary", spec.summary),
        text("since", spec.since),
        text("group", spec.group),
        text("complexity", spec.complexity),
    ];
    if !spec.arguments.is_empty() {
        fields.push((Reply::text("arguments"), arguments(spec.arguments)));
    }
    if !subcommands.is_empty() {
        let docs = subcommands.iter().map(|sub| docs(sub.into())).collect();
        fields.push((Reply::text("subcommands"), Reply::Map(docs)));
    }
    (name(spec), Reply::Map(fields))
}

fn text(name: &str, value: &str) -> (Reply, Reply) {
    (Reply::text(name), Reply::text(value))
}

fn arguments(all: &[Argument]) -> Reply {
    Reply::Array(all.iter().map(argument).collect())
}

fn argument(argument: &Argument) -> Reply {
    let mut fields = vec![text("name", argument.name), text("type", type_of(argument.kind))];
    let parts = match argument.kind {
        ArgumentKind::OneOf(parts) | ArgumentKind::Block(parts) => Some(parts),
        _ => {
            fields.push(text("display_text", argument.name));
            None
        }
    };
    if matches!(argument.kind, ArgumentKind::Key) {
        // All keys of a command are found by its only key specification.
        fields.push((Reply::text("key_spec_index"), Reply::Integer(0)));
    }
    if let Some(token) = argument.token {
        fields.push(text("token", token));
    }
    let flags: Vec<Reply> = [(argument.optional, "optional"), (argument.multiple, "multiple")]
        .into_iter()
        .filter(|(is_set, _)| *is_set)
        .map(|(_, flag)| Reply::Simple(flag))
        .collect();
    if !flags.is_empty() {
        fields.push((Reply::text("flags"), Reply::Set(flags)));
    }
    if let Some(parts) = parts {
        fields.push((Reply::text("arguments"), arguments(parts)));
    }
    Reply::Map(fields)
}

fn type_of(kind: ArgumentKind) -> &'static str {
    match kind {
        ArgumentKind::Key => "key",
        ArgumentKind::Text => "string",
        ArgumentKind::Integer => "integer",
        ArgumentKind::Double => "double",
        ArgumentKind::Token => "pure-token",
        ArgumentKind::Pattern => "pattern",
        ArgumentKind::UnixTime => "unix-time",
        ArgumentKind::OneOf(_) => "oneof",
        ArgumentKind::Block(_) => "block",
    }
}
