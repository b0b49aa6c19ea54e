//! What is said to those who don't know a command.

use std::fmt::Write as _;

use mayhap_commands::{Outcome, Reply};

use super::Command;
use crate::context::Context;

/// Names and arguments are repeated in errors up to so many bytes.
const SHOWN: usize = 128;

/// `CLIENT HELP` and the like: every subcommand with its arguments, and what it does.
pub(crate) fn help(command: &Command) -> Reply {
    let name = command.spec.name;
    let mut lines = vec![format!("{name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")];
    for sub in command.subcommands {
        lines.push(sub.spec.syntax(sub.last_name()));
        lines.push(format!("    {}", sub.spec.summary));
    }
    lines.extend(["HELP".to_owned(), "    Print this help.".to_owned()]);
    Reply::Array(lines.iter().map(|line| Reply::text(line)).collect())
}

/// What runs a command that can't come alone. Its number of words says so before this is called.
pub fn needs_subcommand(_: &mut Context<'_>, _: &[&[u8]]) -> Outcome {
    Reply::error(super::errors::SYNTAX).into()
}

/// What Redis answers to a command it doesn't know.
pub(crate) fn unknown_command(words: &[&[u8]]) -> Reply {
    let mut begin = String::new();
    for word in words.iter().skip(1) {
        if begin.len() >= SHOWN {
            break;
        }
        let _ = write!(begin, "'{}' ", shown(word, SHOWN - begin.len()));
    }
    let name = words.first().map_or_else(String::new, |name| shown(name, SHOWN));
    Reply::error_of(format!("ERR unknown command '{name}', with args beginning with: {begin}"))
}

/// What Redis answers to a subcommand it doesn't know.
pub(crate) fn unknown_subcommand(command: &Command, name: &[u8]) -> Reply {
    Reply::error_of(format!(
        "ERR unknown subcommand '{}'. Try {} HELP.",
        shown(name, SHOWN),
        command.spec.name
    ))
}

fn shown(word: &[u8], most: usize) -> String {
    String::from_utf8_lossy(word.get(..most).unwrap_or(word)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_commands_are_told_apart() {
        let error = |words: &[&[u8]]| match unknown_command(words) {
            Reply::Error(text) => text.into_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(error(&[b"foo"]), "ERR unknown command 'foo', with args beginning with: ");
        assert_eq!(
            error(&[b"f\no", b"a", b"b"]),
            "ERR unknown command 'f o', with args beginning with: 'a' 'b' "
        );
        let long = [b'x'; 200];
        assert!(error(&[&long, &long, &long]).len() < 350);
    }
}
