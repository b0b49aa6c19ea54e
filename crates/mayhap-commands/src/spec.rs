//! What a command is: the one place that parsing, `COMMAND`, the documentation and, later, the module read.

use std::fmt;

use crate::reply::Reply;

/// A command. Everything that is known about it before it runs.
#[derive(Debug)]
pub struct Spec {
    /// Its name, in capitals: `BF.ADD`.
    pub name: &'static str,
    /// Which it is.
    pub id: CommandId,
    /// How many words it has, its name included; less than 0: at least so many.
    pub arity: i32,
    /// What it does to its host.
    pub flags: &'static [&'static str],
    /// Which words are keys.
    pub keys: Keys,
    /// Access control categories, without the `@`, beyond those that follow from the flags.
    pub categories: &'static [&'static str],
    /// The group `COMMAND DOCS` shows it in.
    pub group: &'static str,
    /// The version of RedisBloom, or of Redis, that brought it.
    pub since: &'static str,
    /// One line that says what it does.
    pub summary: &'static str,
    /// How its cost grows.
    pub complexity: &'static str,
    /// Its arguments, after the name.
    pub arguments: &'static [Argument],
}

/// Which words of a command are keys: the first, the last (less than 0: counted from the end) and the step between them;
/// all 0 if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// The place of the first key; the name is at 0.
    pub first: i32,
    /// The place of the last key.
    pub last: i32,
    /// From one key to the next.
    pub step: i32,
}

impl Keys {
    /// No keys.
    pub const NONE: Self = Self { first: 0, last: 0, step: 0 };
    /// One, after the name.
    pub const ONE: Self = Self { first: 1, last: 1, step: 1 };
}

/// An argument, as `COMMAND DOCS` describes it.
#[derive(Debug)]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: ArgumentKind,
    /// The word that stands before it, or that it is.
    pub token: Option<&'static str>,
    /// Whether it may be left out.
    pub optional: bool,
    /// Whether it may come several times.
    pub multiple: bool,
}

/// What an argument is.
#[derive(Clone, Copy, Debug)]
pub enum ArgumentKind {
    /// A key.
    Key,
    /// Any bytes.
    Text,
    /// An integer.
    Integer,
    /// A fraction.
    Double,
    /// A word that is there or not.
    Token,
    /// A pattern.
    Pattern,
    /// A moment.
    UnixTime,
    /// One of several.
    OneOf(&'static [Argument]),
    /// Several together.
    Block(&'static [Argument]),
}

impl Argument {
    /// An argument that must be there.
    #[must_use]
    pub const fn new(name: &'static str, kind: ArgumentKind) -> Self {
        Self { name, kind, token: None, optional: false, multiple: false }
    }

    /// With a word before it, or as a word.
    #[must_use]
    pub const fn token(self, token: &'static str) -> Self {
        Self { token: Some(token), ..self }
    }

    /// May be left out.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    /// May come several times.
    #[must_use]
    pub const fn multiple(self) -> Self {
        Self { multiple: true, ..self }
    }
}

/// As it is typed: `[COUNT <n>]`.
impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, close) = if self.optional { ("[", "]") } else { ("", "") };
        write!(f, "{open}{}", self.token.unwrap_or_default())?;
        if self.token.is_some() && !matches!(self.kind, ArgumentKind::Token) {
            f.write_str(" ")?;
        }
        match self.kind {
            ArgumentKind::Token => {}
            ArgumentKind::OneOf(choices) => write_all(f, choices, "|")?,
            ArgumentKind::Block(block) => write_all(f, block, " ")?,
            _ => write!(f, "<{}>", self.name)?,
        }
        write!(f, "{}{close}", if self.multiple { " ..." } else { "" })
    }
}

fn write_all(f: &mut fmt::Formatter<'_>, arguments: &[Argument], between: &str) -> fmt::Result {
    for (place, argument) in arguments.iter().enumerate() {
        write!(f, "{}{argument}", if place > 0 { between } else { "" })?;
    }
    Ok(())
}

macro_rules! command_ids {
    ($($(#[$doc:meta])* $id:ident),* $(,)?) => {
        /// Which command it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum CommandId {
            $($(#[$doc])* $id,)*
        }
    };
}

command_ids! {
    /// `BF.RESERVE`
    BfReserve,
    /// `BF.ADD`
    BfAdd,
    /// `BF.MADD`
    BfMadd,
    /// `BF.INSERT`
    BfInsert,
    /// `BF.EXISTS`
    BfExists,
    /// `BF.MEXISTS`
    BfMexists,
    /// `BF.CARD`
    BfCard,
    /// `BF.INFO`
    BfInfo,
    /// `BF.DEBUG`
    BfDebug,
    /// `BF.SCANDUMP`
    BfScandump,
    /// `BF.LOADCHUNK`
    BfLoadchunk,
    /// `CF.RESERVE`
    CfReserve,
    /// `CF.ADD`
    CfAdd,
    /// `CF.ADDNX`
    CfAddnx,
    /// `CF.INSERT`
    CfInsert,
    /// `CF.INSERTNX`
    CfInsertnx,
    /// `CF.EXISTS`
    CfExists,
    /// `CF.MEXISTS`
    CfMexists,
    /// `CF.DEL`
    CfDel,
    /// `CF.COUNT`
    CfCount,
    /// `CF.COMPACT`
    CfCompact,
    /// `CF.INFO`
    CfInfo,
    /// `CF.DEBUG`
    CfDebug,
    /// `CF.SCANDUMP`
    CfScandump,
    /// `CF.LOADCHUNK`
    CfLoadchunk,
    /// A command of the host itself, such as `PING`: the host knows it by its name.
    Host,
}

impl Spec {
    /// Whether so many words, the name included, can be this command.
    #[must_use]
    pub fn takes(&self, words: usize) -> bool {
        let arity = self.arity.unsigned_abs() as usize;
        if self.arity < 0 { words >= arity } else { words == arity }
    }

    /// How it is typed, under this name: with all its arguments.
    #[must_use]
    pub fn syntax(&self, name: &str) -> String {
        self.arguments.iter().fold(name.to_owned(), |line, argument| format!("{line} {argument}"))
    }

    /// What Redis answers when the number of words is wrong.
    #[must_use]
    pub fn wrong_arity(&self) -> Reply {
        let name = self.name.to_ascii_lowercase();
        Reply::error_of(format!("ERR wrong number of arguments for '{name}' command"))
    }
}

/// What is answered when a command has a number of words, or is executed in a way, that it hasn't.
pub(crate) fn wrong_arity(id: CommandId) -> Reply {
    let spec = all().find(|spec| spec.id == id);
    spec.map_or(Reply::error("ERR unknown command"), Spec::wrong_arity)
}

/// The commands of filters, in the order in which documents list them.
pub fn all() -> impl Iterator<Item = &'static Spec> {
    crate::bf::SPECS.iter().chain(crate::cf::SPECS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_each_command_once() {
        let specs: Vec<&Spec> = all().collect();
        for (place, spec) in specs.iter().enumerate() {
            assert!(crate::bf::has(spec.id) || crate::cf::has(spec.id), "{}", spec.name);
            assert!(specs.iter().skip(place + 1).all(|other| other.id != spec.id && other.name != spec.name));
            assert_eq!(spec.name, spec.name.to_ascii_uppercase());
            assert!(spec.summary.ends_with('.') && !spec.arguments.is_empty());
        }
        assert_eq!((crate::bf::SPECS.len(), crate::cf::SPECS.len()), (11, 14));
    }

    #[test]
    fn arguments_are_shown_as_they_are_typed() {
        const CHOICES: &[Argument] = &[
            Argument::new("on", ArgumentKind::Token).token("ON"),
            Argument::new("off", ArgumentKind::Token).token("OFF"),
        ];
        let shown = |argument: Argument| argument.to_string();
        assert_eq!(shown(Argument::new("key", ArgumentKind::Key).multiple()), "<key> ...");
        assert_eq!(shown(Argument::new("n", ArgumentKind::Integer).token("COUNT").optional()), "[COUNT <n>]");
        assert_eq!(shown(Argument::new("mode", ArgumentKind::OneOf(CHOICES))), "ON|OFF");
    }
}
