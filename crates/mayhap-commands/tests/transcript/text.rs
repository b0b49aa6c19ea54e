//! Reading the files.

use std::path::Path;

use super::resp::{Protocol, Token};
use super::{Action, Pattern, Section, Step, Word};

/// The sections of a file. Panics, with the place, where it isn't a transcript.
pub(crate) fn parse(file: &Path, text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let wrong = |what: &str| -> ! { panic!("{}:{number}: {what}: {line}", file.display()) };
        if let Some(title) = line.strip_prefix("## ") {
            sections.push(section(file, number, title).unwrap_or_else(|| wrong("no such tag")));
            continue;
        }
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let Some(section) = sections.last_mut() else { wrong("before the first section") };
        if let Some(tokens) = line.strip_prefix("< ") {
            let Some(Step { action: Action::Command { expected, .. }, .. }) = section.steps.last_mut() else {
                wrong("a reply without a command")
            };
            expected.extend(patterns(tokens).unwrap_or_else(|| wrong("not a reply")));
            continue;
        }
        let action = action(line).unwrap_or_else(|| wrong("neither command nor reply"));
        section.steps.push(Step { line: number, action });
    }
    for section in &sections {
        for step in &section.steps {
            let has_reply = !matches!(&step.action, Action::Command { expected, .. } if expected.is_empty());
            assert!(has_reply, "{}:{}: no reply is expected", file.display(), step.line);
        }
    }
    sections
}

fn section(file: &Path, line: usize, title: &str) -> Option<Section> {
    let (title, tags) = title.split_once('|').unwrap_or((title, ""));
    let (mut layouts, mut protocols) = (Vec::new(), Vec::new());
    for tag in tags.split_whitespace() {
        match tag {
            "native" => layouts.push("native"),
            "redisbloom" => layouts.push("redisbloom"),
            "resp2" => protocols.push(Protocol::Resp2),
            "resp3" => protocols.push(Protocol::Resp3),
            _ => return None,
        }
    }
    if layouts.is_empty() {
        layouts = vec!["native", "redisbloom"];
    }
    if protocols.is_empty() {
        protocols = vec![Protocol::Resp2, Protocol::Resp3];
    }
    let title = title.trim().to_owned();
    Some(Section { file: file.to_owned(), line, title, layouts, protocols, steps: Vec::new() })
}

fn action(line: &str) -> Option<Action> {
    if let Some(key) = line.strip_prefix("!bitmap ") {
        return Some(Action::Bitmap { key: key.trim().as_bytes().to_vec() });
    }
    if let Some(setting) = line.strip_prefix("! ") {
        let (name, value) = setting.trim().split_once(' ')?;
        return Some(Action::Set { name: name.to_owned(), value: value.trim().to_owned() });
    }
    let words = words(line.strip_prefix("> ")?)?;
    Some(Action::Command { words, expected: Vec::new() })
}

/// Words between spaces. In double quotes `\n \r \t \b \a \\ \" \xHH` stand for bytes, in single ones only `\'` does.
fn words(text: &str) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (word, after) = match rest.as_bytes()[0] {
            b'"' => quoted(&rest[1..]).map(|(bytes, after)| (Word::Bytes(bytes), after))?,
            b'\'' => single_quoted(&rest[1..]).map(|(bytes, after)| (Word::Bytes(bytes), after))?,
            _ => {
                let end = rest.find(' ').unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                let kept = word.strip_prefix('{').and_then(|word| word.strip_suffix('}'));
                let word = kept.map_or_else(
                    || Word::Bytes(word.as_bytes().to_vec()),
                    |name| Word::Kept(name.to_owned()),
                );
                (word, after)
            }
        };
        words.push(word);
        if !after.is_empty() && !after.starts_with(' ') {
            return None;
        }
        rest = after.trim_start();
    }
    Some(words)
}

fn quoted(text: &str) -> Option<(Vec<u8>, &str)> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    loop {
        match rest {
            [b'"', after @ ..] => return Some((bytes, std::str::from_utf8(after).ok()?)),
            [b'\\', b'x', high, low, after @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let digits = [*high, *low];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
                rest = after;
            }
            [b'\\', escaped, after @ ..] => {
                bytes.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                });
                rest = after;
            }
            [byte, after @ ..] => {
                bytes.push(*byte);
                rest = after;
            }
            [] => return None,
        }
    }
}

fn single_quoted(text: &str) -> Option<(Vec<u8>, &str)> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    loop {
        match rest {
            [b'\\', b'\'', after @ ..] => {
                bytes.push(b'\'');
                rest = after;
            }
            [b'\'', after @ ..] => return Some((bytes, std::str::from_utf8(after).ok()?)),
            [byte, after @ ..] => {
                bytes.push(*byte);
                rest = after;
            }
            [] => return None,
        }
    }
}

/// The tokens of a line.
fn patterns(text: &str) -> Option<Vec<Pattern>> {
    let mut patterns = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let is_to_the_end = rest.starts_with(['+', '-']);
        if let Some(bytes) = rest.strip_prefix("$\"") {
            let (bytes, after) = quoted(bytes)?;
            patterns.push(Pattern::Is(Token::Bulk(bytes)));
            rest = after.trim_start();
            continue;
        }
        let end = if is_to_the_end { rest.len() } else { rest.find(' ').unwrap_or(rest.len()) };
        let (word, after) = rest.split_at(end);
        patterns.push(pattern(word)?);
        rest = after.trim_start();
    }
    Some(patterns)
}

fn pattern(word: &str) -> Option<Pattern> {
    match word {
        "yes" => return Some(Pattern::Flag(true)),
        "no" => return Some(Pattern::Flag(false)),
        "nil" => return Some(Pattern::Nil),
        _ => {}
    }
    let (kind, text) = word.split_at(1);
    Some(Pattern::Is(match kind {
        "?" => return text.is_empty().then_some(Pattern::Any),
        "=" => return Some(Pattern::Keep(text.to_owned())),
        "+" => Token::Simple(text.to_owned()),
        "-" => Token::Error(text.to_owned()),
        ":" => Token::Integer(text.parse().ok()?),
        "$" if text == "-1" => Token::NullBulk,
        "_" if text.is_empty() => Token::Null,
        "#" => Token::Boolean(match text {
            "t" => true,
            "f" => false,
            _ => return None,
        }),
        "," => Token::Double(text.to_owned()),
        "*" => Token::Array(text.parse().ok()?),
        "%" => Token::Map(text.parse().ok()?),
        "~" => Token::Set(text.parse().ok()?),
        _ => return None,
    }))
}
