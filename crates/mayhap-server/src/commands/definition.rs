//! Shorter ways to write a command's row.

use mayhap_commands::Spec;
use mayhap_commands::spec::{Argument, ArgumentKind, CommandId, Keys};

use super::{Command, Handler};

/// A key.
pub(super) const KEY: Argument = Argument::new("key", ArgumentKind::Key);
/// One key or more.
pub(super) const KEYS: Argument = KEY.multiple();

/// All words after the name are keys.
pub(super) const ALL_KEYS: Keys = Keys { first: 1, last: -1, step: 1 };
/// The first two words after the name are keys.
pub(super) const TWO_KEYS: Keys = Keys { first: 1, last: 2, step: 1 };

/// What a row of one group leaves open, beside its name.
#[derive(Clone, Copy)]
pub(super) struct Group {
    /// As `COMMAND DOCS` calls it.
    pub(super) name: &'static str,
    /// Access control categories.
    pub(super) categories: &'static [&'static str],
    /// What its commands do to the server, unless they say otherwise.
    pub(super) flags: &'static [&'static str],
    /// Which words are keys, unless a command says otherwise.
    pub(super) keys: Keys,
}

/// The description of a command: since which version of Redis, what it does, what it costs.
pub(super) type About = (&'static str, &'static str, &'static str);

impl Group {
    /// A command of the group.
    pub(super) const fn command(
        self,
        (name, arity): (&'static str, i32),
        (since, summary, complexity): About,
        arguments: &'static [Argument],
        run: Handler,
    ) -> Command {
        let Self { name: group, categories, flags, keys } = self;
        let spec = Spec {
            name,
            id: CommandId::Host,
            arity,
            flags,
            keys,
            categories,
            group,
            since,
            summary,
            complexity,
            arguments,
        };
        Command { spec, run, subcommands: &[] }
    }

    /// The same group, with other flags.
    pub(super) const fn flags(self, flags: &'static [&'static str]) -> Self {
        Self { flags, ..self }
    }

    /// The same group, with other keys.
    pub(super) const fn keys(self, keys: Keys) -> Self {
        Self { keys, ..self }
    }
}

/// A command with these subcommands.
pub(super) const fn container(command: Command, subcommands: &'static [Command]) -> Command {
    // Nothing to drop: a command is made of what lives for ever.
    let Command { spec, run, .. } = command;
    Command { spec, run, subcommands }
}

/// A word that is there or not.
pub(super) const fn word(name: &'static str, token: &'static str) -> Argument {
    Argument::new(name, ArgumentKind::Token).token(token)
}

/// One of several.
pub(super) const fn one_of(name: &'static str, choices: &'static [Argument]) -> Argument {
    Argument::new(name, ArgumentKind::OneOf(choices))
}

/// A whole number.
pub(super) const fn number(name: &'static str) -> Argument {
    Argument::new(name, ArgumentKind::Integer)
}

/// Any bytes.
pub(super) const fn text(name: &'static str) -> Argument {
    Argument::new(name, ArgumentKind::Text)
}
