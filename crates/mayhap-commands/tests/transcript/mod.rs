//! Transcripts: commands and the replies they must get, as text. The same files are played in memory, over TCP and,
//! later, inside Redis, so reading them and comparing replies is here, in a module that others include by its path:
//!
//! ```text
//! #[path = "../../mayhap-commands/tests/transcript/mod.rs"]
//! mod transcript;
//! ```
//!
//! # The format
//!
//! ```text
//! # A remark.
//! ## A section begins with no keys and default settings | native resp3
//! ! bf-initial-size 4             a setting; bf-layout and cf-layout are set by the tag
//! !bitmap key                     a bitmap with one bit under this key: a value of another type
//! > BF.MADD key a "b\x00\n" 'c'   a command, its words quoted as redis-cli does
//! < *3 :1 :1 :1                   its reply: one or more lines of tokens
//! > BF.SCANDUMP key 0
//! < *2 :1 =header                 keeps what came, under a name
//! > BF.LOADCHUNK other 1 {header} and uses it as a word
//! < +OK
//! > BF.INFO key SIZE
//! < *1 ?                          whatever it is
//! ```
//!
//! Tags after the `|`: `native`, `redisbloom`, `resp2`, `resp3`. A section without a layout is played in both, and one
//! without a protocol in both.
//!
//! Tokens are RESP, with the payload of a string behind its type: `+OK`, `-ERR no`, `:1`, `$"bytes"`, `$-1`, `*2`, `%1`,
//! `~1`, `#t`, `,0.5`, `_`. For sections of both protocols `yes`, `no` and `nil` stand for what each of them writes: `:1`
//! or `#t`, `:0` or `#f`, `$-1` or `_`. A status or an error goes on to the end of its line. What stands in an array, map or set
//! follows it, on the same line or on the next ones.
#![allow(clippy::unwrap_used, reason = "a check that panics has failed")]
#![allow(dead_code, reason = "each test that includes this uses a part of it")]

pub(crate) mod resp;
pub(crate) mod text;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use resp::{Protocol, Token};

/// A part of a transcript: played from the beginning, in each of its layouts and protocols.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
    pub(crate) title: String,
    /// As the settings call them.
    pub(crate) layouts: Vec<&'static str>,
    pub(crate) protocols: Vec<Protocol>,
    pub(crate) steps: Vec<Step>,
}

#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) line: usize,
    pub(crate) action: Action,
}

#[derive(Debug)]
pub(crate) enum Action {
    /// A setting, as `CONFIG SET` takes it.
    Set {
        name: String,
        value: String,
    },
    /// A bitmap under a key, as `SETBIT key 0 1` makes it.
    Bitmap {
        key: Vec<u8>,
    },
    Command {
        words: Vec<Word>,
        expected: Vec<Pattern>,
    },
}

/// A word of a command.
#[derive(Clone, Debug)]
pub(crate) enum Word {
    Bytes(Vec<u8>),
    /// What was kept under this name.
    Kept(String),
}

/// What a token must be.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Is(Token),
    /// `:1` or `#t`, `:0` or `#f`.
    Flag(bool),
    /// `$-1` or `_`.
    Nil,
    /// Any value, with all that is in it.
    Any,
    /// The same, and its payload is kept.
    Keep(String),
}

/// Who plays a section.
pub(crate) trait Player {
    fn set(&mut self, name: &str, value: &str);
    fn bitmap(&mut self, key: &[u8]);
    /// Sends a command and gives its reply, as it stands on the wire.
    fn command(&mut self, words: &[Vec<u8>]) -> Vec<u8>;
}

/// Every section of every file of a folder whose name ends with `.txt`.
pub(crate) fn sections(folder: &Path) -> Vec<Section> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    files.iter().flat_map(|file| text::parse(file, &std::fs::read_to_string(file).unwrap())).collect()
}

impl Section {
    /// Plays the section, and panics at the first reply that isn't as it must be.
    pub(crate) fn play(&self, layout: &str, protocol: Protocol, player: &mut impl Player) {
        player.set("bf-layout", layout);
        player.set("cf-layout", layout);
        let mut kept: HashMap<String, Vec<u8>> = HashMap::new();
        for step in &self.steps {
            let place = || Place { section: self, line: step.line, layout, protocol };
            match &step.action {
                Action::Set { name, value } => player.set(name, value),
                Action::Bitmap { key } => player.bitmap(key),
                Action::Command { words, expected } => {
                    let words: Vec<Vec<u8>> = words
                        .iter()
                        .map(|word| match word {
                            Word::Bytes(bytes) => bytes.clone(),
                            Word::Kept(name) => {
                                kept.get(name).unwrap_or_else(|| panic!("{}: no {name}", place())).clone()
                            }
                        })
                        .collect();
                    let reply = player.command(&words);
                    let tokens =
                        resp::tokens(&reply).unwrap_or_else(|| panic!("{}: not RESP: {reply:?}", place()));
                    if !matches(expected, &tokens, protocol, &mut kept) {
                        let shown: Vec<String> = tokens.iter().map(ToString::to_string).collect();
                        panic!("{}: got {}", place(), shown.join(" "));
                    }
                }
            }
        }
    }
}

fn matches(
    expected: &[Pattern],
    got: &[Token],
    protocol: Protocol,
    kept: &mut HashMap<String, Vec<u8>>,
) -> bool {
    let is_resp3 = protocol == Protocol::Resp3;
    let mut rest = got;
    for pattern in expected {
        let Some((token, after)) = rest.split_first() else { return false };
        rest = match pattern {
            Pattern::Is(token_must_be) if token == token_must_be => after,
            Pattern::Flag(flag) if is_resp3 && *token == Token::Boolean(*flag) => after,
            Pattern::Flag(flag) if !is_resp3 && *token == Token::Integer((*flag).into()) => after,
            Pattern::Nil if *token == (if is_resp3 { Token::Null } else { Token::NullBulk }) => after,
            Pattern::Is(_) | Pattern::Flag(_) | Pattern::Nil => return false,
            Pattern::Any => resp::after_value(rest),
            Pattern::Keep(name) => {
                kept.insert(name.clone(), token.payload());
                resp::after_value(rest)
            }
        };
    }
    rest.is_empty()
}

/// Where a transcript is, for messages.
struct Place<'a> {
    section: &'a Section,
    line: usize,
    layout: &'a str,
    protocol: Protocol,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { section, line, layout, protocol } = self;
        write!(f, "{}:{line} ({}; {layout}, {protocol:?})", section.file.display(), section.title)
    }
}
