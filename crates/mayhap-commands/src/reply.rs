//! What a command answers, before any protocol writes it down.

use std::borrow::Cow;

/// An answer. The same one is written differently in RESP2 and RESP3: a [`Flag`](Self::Flag) is `:1` or `#t`, a
/// [`Map`](Self::Map) a flat array or a map, [`Null`](Self::Null) `$-1` or `_`.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A status: `+OK`.
    Simple(&'static str),
    /// An error, with its code: `ERR not found`. It must not have line ends.
    Error(Cow<'static, str>),
    /// A number.
    Integer(i64),
    /// Yes or no: an integer in RESP2.
    Flag(bool),
    /// Many of them: what the commands for several items answer.
    Flags(Vec<bool>),
    /// Whether each item was added, where the answer to a refusal isn't 0: `:1` and `:-1` in RESP2, `#t` and `#f` in
    /// RESP3.
    Added(Vec<bool>),
    /// A fraction: text in RESP2.
    Double(f64),
    /// Bytes.
    Bulk(Vec<u8>),
    /// Nothing.
    Null,
    /// An array.
    Array(Vec<Reply>),
    /// Names and values: a flat array in RESP2.
    Map(Vec<(Reply, Reply)>),
    /// One name and its value: the value alone, in an array of one, in RESP2. In RESP3 a map of one.
    Field(Box<(Reply, Reply)>),
    /// An unordered collection: an array in RESP2.
    Set(Vec<Reply>),
}

impl Reply {
    /// `+OK`.
    pub const OK: Self = Self::Simple("OK");

    /// An error whose text is known beforehand.
    #[must_use]
    pub const fn error(text: &'static str) -> Self {
        Self::Error(Cow::Borrowed(text))
    }

    /// An error whose text was put together. Line ends, which would end the reply too early, become spaces.
    #[must_use]
    pub fn error_of(text: String) -> Self {
        let breaks = ['\r', '\n'];
        Self::Error(Cow::Owned(if text.contains(breaks) { text.replace(breaks, " ") } else { text }))
    }

    /// Text, as bytes.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Bulk(text.as_bytes().to_vec())
    }

    /// A count; above `i64::MAX`, that.
    #[must_use]
    pub fn count(count: u64) -> Self {
        Self::Integer(i64::try_from(count).unwrap_or(i64::MAX))
    }

    /// Whether it is an error.
    #[must_use]
    pub const fn is_error(&self) -> bool {
        matches!(self, Self::Error(_))
    }
}
