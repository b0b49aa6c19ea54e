//! `CONFIG`: the settings, while the server runs.

use mayhap_commands::spec::{Argument, ArgumentKind, Keys};
use mayhap_commands::{Outcome, Reply};

use super::definition::{Group, container, text};
use super::glob::{Case, matches};
use super::{Command, needs_subcommand};
use crate::Settings;
use crate::context::Context;
use crate::settings::SettingError;

const SERVER: Group = Group {
    name: "server",
    categories: &["dangerous"],
    flags: &["admin", "noscript", "loading", "stale"],
    keys: Keys::NONE,
};

pub(super) const COMMANDS: &[Command] = &[container(
    SERVER.command(
        ("CONFIG", -2),
        ("2.0.0", "Tells and changes settings.", "Depends on the subcommand"),
        &[],
        needs_subcommand,
    ),
    &[
        SERVER.command(
            ("CONFIG|GET", -3),
            ("2.0.0", "Tells the settings whose names match patterns.", "O(N) for N settings"),
            &[Argument::new("parameter", ArgumentKind::Pattern).multiple()],
            get,
        ),
        SERVER.command(
            ("CONFIG|SET", -4),
            ("2.0.0", "Changes settings: all of these, or none.", "O(N) for N settings"),
            &[Argument::new("data", ArgumentKind::Block(&[text("parameter"), text("value")])).multiple()],
            set,
        ),
        SERVER.command(
            ("CONFIG|RESETSTAT", 2),
            ("2.0.0", "Begins to count anew what INFO tells.", "O(1)"),
            &[],
            reset_statistics,
        ),
        SERVER.command(
            ("CONFIG|REWRITE", 2),
            (
                "2.8.0",
                "Would write the settings to their file. Files are not written by this server.",
                "O(1)",
            ),
            &[],
            |_, _| Reply::error("ERR The server is running without a config file").into(),
        ),
    ],
)];

fn get(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let patterns = words.get(2..).unwrap_or_default();
    let is_wanted =
        |name: &str| patterns.iter().any(|pattern| matches(pattern, name.as_bytes(), Case::Ignored));
    let settings = &context.shared.settings;
    let found = Settings::names()
        .filter(|name| is_wanted(name))
        .filter_map(|name| settings.get(name).map(|value| (Reply::text(name), Reply::text(&value))));
    Reply::Map(found.collect()).into()
}

fn set(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let pairs = words.get(2..).unwrap_or_default();
    if pairs.len() % 2 != 0 {
        return Reply::error("ERR wrong number of arguments for 'config|set' command").into();
    }
    match set_all(context, pairs) {
        Ok(()) => Reply::OK,
        Err(error) => Reply::error_of(error),
    }
    .into()
}

/// Checks all before the first is changed.
fn set_all(context: &Context<'_>, words: &[&[u8]]) -> Result<(), String> {
    let mut wanted: Vec<(String, String)> = Vec::new();
    for pair in words.chunks_exact(2) {
        let [name, value] = pair else { continue };
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        let value = String::from_utf8_lossy(value).into_owned();
        context.shared.settings.check(&name, &value).map_err(|error| refusal(&name, &error))?;
        if wanted.iter().any(|(before, _)| *before == name) {
            return Err(failed(&name, "duplicate parameter"));
        }
        wanted.push((name, value));
    }
    for (name, value) in &wanted {
        context.shared.change_setting(name, value).map_err(|error| refusal(name, &error))?;
    }
    Ok(())
}

fn refusal(name: &str, error: &SettingError) -> String {
    match error {
        SettingError::Unknown => {
            format!("ERR Unknown option or number of arguments for CONFIG SET - '{name}'")
        }
        SettingError::Fixed => failed(name, "can't set immutable config"),
        SettingError::Invalid(message) => failed(name, message),
    }
}

fn failed(name: &str, why: &str) -> String {
    format!("ERR CONFIG SET failed (possibly related to argument '{name}') - {why}")
}

fn reset_statistics(context: &mut Context<'_>, _: &[&[u8]]) -> Outcome {
    context.shared.statistics.reset();
    context.shared.keyspace.reset_expired();
    Reply::OK.into()
}
