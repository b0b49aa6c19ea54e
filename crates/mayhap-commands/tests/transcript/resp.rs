//! Replies as tokens.

use std::fmt;

/// Which RESP a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Resp2,
    Resp3,
}

/// A line of RESP, with the payload of a bulk string.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Simple(String),
    Error(String),
    Integer(i64),
    Bulk(Vec<u8>),
    /// `$-1`
    NullBulk,
    /// `_`
    Null,
    Boolean(bool),
    /// As it was written.
    Double(String),
    Array(usize),
    Map(usize),
    Set(usize),
}

impl Token {
    /// What stands in it, as a word of a command.
    pub(crate) fn payload(&self) -> Vec<u8> {
        match self {
            Self::Simple(text) | Self::Error(text) | Self::Double(text) => text.as_bytes().to_vec(),
            Self::Bulk(bytes) => bytes.clone(),
            Self::Integer(number) => number.to_string().into_bytes(),
            _ => Vec::new(),
        }
    }

    /// Values that follow and belong to it.
    pub(crate) const fn inside(&self) -> usize {
        match self {
            Self::Array(length) | Self::Set(length) => *length,
            Self::Map(length) => *length * 2,
            _ => 0,
        }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simple(text) => write!(f, "+{text}"),
            Self::Error(text) => write!(f, "-{text}"),
            Self::Integer(number) => write!(f, ":{number}"),
            Self::Bulk(bytes) => write!(f, "$\"{}\"", bytes.escape_ascii()),
            Self::NullBulk => write!(f, "$-1"),
            Self::Null => write!(f, "_"),
            Self::Boolean(value) => write!(f, "#{}", if *value { 't' } else { 'f' }),
            Self::Double(text) => write!(f, ",{text}"),
            Self::Array(length) => write!(f, "*{length}"),
            Self::Map(length) => write!(f, "%{length}"),
            Self::Set(length) => write!(f, "~{length}"),
        }
    }
}

/// The tokens of exactly one reply; nothing if the bytes are anything else.
pub(crate) fn tokens(bytes: &[u8]) -> Option<Vec<Token>> {
    let (tokens, rest) = first_reply(bytes)?;
    rest.is_empty().then_some(tokens)
}

/// The tokens of the first reply, and the bytes after it; nothing if they end too early, or are no reply.
pub(crate) fn first_reply(bytes: &[u8]) -> Option<(Vec<Token>, &[u8])> {
    let (mut tokens, mut rest, mut missing) = (Vec::new(), bytes, 1_usize);
    while missing > 0 {
        let (token, after) = first_token(rest)?;
        missing = missing - 1 + token.inside();
        tokens.push(token);
        rest = after;
    }
    Some((tokens, rest))
}

fn first_token(bytes: &[u8]) -> Option<(Token, &[u8])> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let (line, rest) = (&bytes[..end], &bytes[end + 2..]);
    let (kind, text) = line.split_first()?;
    let text = String::from_utf8(text.to_vec()).ok()?;
    let token = match kind {
        b'+' => Token::Simple(text),
        b'-' => Token::Error(text),
        b':' => Token::Integer(text.parse().ok()?),
        b'$' if text == "-1" => Token::NullBulk,
        b'$' => {
            let length: usize = text.parse().ok()?;
            let (payload, rest) = rest.split_at_checked(length)?;
            return Some((Token::Bulk(payload.to_vec()), rest.strip_prefix(b"\r\n")?));
        }
        b'_' => Token::Null,
        b'#' => Token::Boolean(text == "t"),
        b',' => Token::Double(text),
        b'*' => Token::Array(text.parse().ok()?),
        b'%' => Token::Map(text.parse().ok()?),
        b'~' => Token::Set(text.parse().ok()?),
        _ => return None,
    };
    Some((token, rest))
}

/// What follows the first value and all that is in it.
pub(crate) fn after_value(tokens: &[Token]) -> &[Token] {
    let (mut rest, mut missing) = (tokens, 1_usize);
    while missing > 0
        && let Some((token, after)) = rest.split_first()
    {
        missing = missing - 1 + token.inside();
        rest = after;
    }
    rest
}
