//! Requests: arrays of bulk strings, and inline commands.
//!
//! Words are not copied: they are slices of what was read. A request that has not come whole leaves behind how far it
//! was read, so that one that arrives in a thousand pieces is read once, not a thousand times.

use std::fmt;
use std::ops::Range;

use super::inline;

/// The longest line of an array's or a word's length. A number of 64 bits has twenty digits.
const MAX_LENGTH_LINE: usize = 32;

/// The longest inline command.
const MAX_INLINE: usize = 64 << 10;

/// What a request may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a request.
    pub request_bytes: usize,
    /// Words of a request.
    pub arguments: usize,
}

/// What was found at the start of some input.
#[derive(Debug, PartialEq, Eq)]
pub enum Parsed {
    /// A request of so many bytes, whose words have been pushed.
    Whole(usize),
    /// An inline command of so many bytes. Its words may have been quoted, so they are not in the input.
    Inline(usize, Vec<Vec<u8>>),
    /// Not a whole request yet.
    More,
}

/// A request that is none. Nothing that follows it can be understood, so the connection has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    /// The length of an array.
    ArrayLength,
    /// The length of a word.
    WordLength,
    /// Something else where a word's length should be.
    ExpectedWord(u8),
    /// No line end after a word.
    ExpectedLineEnd,
    /// More bytes than are allowed.
    TooLong,
    /// A line too long for an inline command.
    InlineTooLong,
    /// A quote that doesn't end, or ends inside a word.
    Quotes,
    /// A line of HTTP.
    Http,
}

/// Reads requests one by one.
#[derive(Debug, Default)]
pub struct RequestParser {
    /// Of the request that has begun.
    partial: Option<Partial>,
}

#[derive(Debug)]
struct Partial {
    cursor: Cursor,
    words: Vec<Range<usize>>,
}

/// How far an array has been read.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    /// Where the next thing begins.
    position: usize,
    /// Words to come.
    remaining: usize,
    /// The length of the next word, if that has been read.
    word: Option<usize>,
}

impl RequestParser {
    /// Reads the request at the start of `input` and pushes its words. If there is only a part of one, the next call must
    /// have the same bytes again, with more of them.
    ///
    /// # Errors
    /// When it is no request, or one that is too large; as soon as that can be known.
    pub fn parse<'i>(
        &mut self,
        input: &'i [u8],
        limits: &Limits,
        words: &mut Vec<&'i [u8]>,
    ) -> Result<Parsed, ProtocolError> {
        if let Some(partial) = self.partial.take() {
            return self.go_on(partial, input, limits, words);
        }
        match input {
            [] => Ok(Parsed::More),
            [b'*', ..] => {
                let Some(mut cursor) = Cursor::start(input, limits)? else { return Ok(Parsed::More) };
                let before = words.len();
                if cursor.advance(input, limits, |range| words.push(&input[range]))? {
                    return Ok(Parsed::Whole(cursor.position));
                }
                // Slices of one input: their places are the differences of their addresses.
                let place = |word: &&[u8]| {
                    let start = word.as_ptr().addr() - input.as_ptr().addr();
                    start..start + word.len()
                };
                self.partial =
                    Some(Partial { cursor, words: words.drain(before..).map(|word| place(&word)).collect() });
                Ok(Parsed::More)
            }
            _ => inline_command(input),
        }
    }

    /// Whether a request has begun.
    #[must_use]
    pub fn is_within_request(&self) -> bool {
        self.partial.is_some()
    }

    fn go_on<'i>(
        &mut self,
        mut partial: Partial,
        input: &'i [u8],
        limits: &Limits,
        words: &mut Vec<&'i [u8]>,
    ) -> Result<Parsed, ProtocolError> {
        if partial.cursor.advance(input, limits, |range| partial.words.push(range))? {
            words.extend(partial.words.into_iter().filter_map(|range| input.get(range)));
            return Ok(Parsed::Whole(partial.cursor.position));
        }
        self.partial = Some(partial);
        Ok(Parsed::More)
    }
}

impl Cursor {
    /// Reads the length of the array, if it is there.
    fn start(input: &[u8], limits: &Limits) -> Result<Option<Self>, ProtocolError> {
        let Some((count, position)) = length(input, 1, ProtocolError::ArrayLength)? else { return Ok(None) };
        // An array of nothing, or of less, is a request for nothing.
        let remaining = usize::try_from(count).unwrap_or(0);
        if remaining > limits.arguments {
            return Err(ProtocolError::ArrayLength);
        }
        Ok(Some(Self { position, remaining, word: None }))
    }

    /// Reads on; true if that was the end of the array.
    #[inline]
    fn advance(
        &mut self,
        input: &[u8],
        limits: &Limits,
        mut push: impl FnMut(Range<usize>),
    ) -> Result<bool, ProtocolError> {
        while self.remaining > 0 {
            let len = match self.word {
                Some(len) => len,
                None => {
                    match input.get(self.position) {
                        Some(b'$') => {}
                        Some(other) => return Err(ProtocolError::ExpectedWord(*other)),
                        None => return Ok(false),
                    }
                    let Some((len, next)) = length(input, self.position + 1, ProtocolError::WordLength)?
                    else {
                        return Ok(false);
                    };
                    let len = usize::try_from(len).map_err(|_| ProtocolError::WordLength)?;
                    if len > limits.request_bytes {
                        return Err(ProtocolError::WordLength);
                    }
                    self.position = next;
                    self.word = Some(len);
                    len
                }
            };
            let end = self.position.saturating_add(len);
            if end > limits.request_bytes {
                return Err(ProtocolError::TooLong);
            }
            match input.get(end..end + 2) {
                Some(b"\r\n") => {}
                Some(_) => return Err(ProtocolError::ExpectedLineEnd),
                None => return Ok(false),
            }
            push(self.position..end);
            self.position = end + 2;
            self.word = None;
            self.remaining -= 1;
        }
        Ok(true)
    }
}

/// A number and its line end, from a place on, and the place after them; nothing if it has not come whole.
#[inline]
fn length(input: &[u8], from: usize, error: ProtocolError) -> Result<Option<(i64, usize)>, ProtocolError> {
    // Nearly all are of one or two digits.
    match input.get(from..).unwrap_or_default() {
        [one @ b'0'..=b'9', b'\r', b'\n', ..] => Ok(Some((i64::from(one - b'0'), from + 3))),
        [ten @ b'0'..=b'9', one @ b'0'..=b'9', b'\r', b'\n', ..] => {
            Ok(Some((i64::from(ten - b'0') * 10 + i64::from(one - b'0'), from + 4)))
        }
        rest => any_length(rest, error).map(|found| found.map(|(value, len)| (value, from + len))),
    }
}

/// As [`length`], for any number, from the start of `rest` on.
fn any_length(rest: &[u8], error: ProtocolError) -> Result<Option<(i64, usize)>, ProtocolError> {
    let (is_negative, digits_from) = match rest.first() {
        Some(b'-') => (true, 1),
        _ => (false, 0),
    };
    let mut value: i64 = 0;
    for (place, byte) in rest.iter().enumerate().take(MAX_LENGTH_LINE).skip(digits_from) {
        match byte {
            b'0'..=b'9' => {
                let digit = i64::from(byte - b'0');
                value = value.checked_mul(10).and_then(|value| value.checked_add(digit)).ok_or(error)?;
            }
            b'\r' if place > digits_from => {
                return match rest.get(place + 1) {
                    Some(b'\n') => Ok(Some((if is_negative { -value } else { value }, place + 2))),
                    Some(_) => Err(error),
                    None => Ok(None),
                };
            }
            _ => return Err(error),
        }
    }
    if rest.len() < MAX_LENGTH_LINE { Ok(None) } else { Err(error) }
}

fn inline_command(input: &[u8]) -> Result<Parsed, ProtocolError> {
    let start = &input[..input.len().min(MAX_INLINE)];
    match start.iter().position(|byte| *byte == b'\n') {
        Some(end) => {
            let line = &input[..end];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let words = inline::split(line).ok_or(ProtocolError::Quotes)?;
            if is_http(&words) { Err(ProtocolError::Http) } else { Ok(Parsed::Inline(end + 1, words)) }
        }
        None if input.len() >= MAX_INLINE => Err(ProtocolError::InlineTooLong),
        None => Ok(Parsed::More),
    }
}

/// Whether a line is one that every request of a browser has before its body. Any page can make the browser of whoever
/// looks at it send a request to this machine, and the lines of its body would be executed as commands. As in Redis.
fn is_http(words: &[Vec<u8>]) -> bool {
    let is = |name: &[u8]| words.first().is_some_and(|first| first.eq_ignore_ascii_case(name));
    is(b"POST") || is(b"Host:")
}

impl fmt::Display for ProtocolError {
    /// As Redis says it, where Redis has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Protocol error: ")?;
        match self {
            Self::ArrayLength => f.write_str("invalid multibulk length"),
            Self::WordLength => f.write_str("invalid bulk length"),
            Self::ExpectedWord(got) if got.is_ascii_graphic() || *got == b' ' => {
                write!(f, "expected '$', got '{}'", char::from(*got))
            }
            Self::ExpectedWord(got) => write!(f, "expected '$', got byte 0x{got:02x}"),
            Self::ExpectedLineEnd => f.write_str("expected a line end after a bulk string"),
            Self::TooLong => f.write_str("too big request"),
            Self::InlineTooLong => f.write_str("too big inline request"),
            Self::Quotes => f.write_str("unbalanced quotes in request"),
            Self::Http => f.write_str("this is a request of HTTP, and nothing of it is executed"),
        }
    }
}

impl std::error::Error for ProtocolError {}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { request_bytes: 1 << 20, arguments: 1000 };

    /// All requests of some input, read with so many bytes at hand at first, and the rest later.
    fn requests(input: &[u8], cuts: &[usize]) -> Result<Vec<Vec<Vec<u8>>>, ProtocolError> {
        let mut parser = RequestParser::default();
        let (mut start, mut found) = (0, vec![]);
        for end in cuts.iter().copied().chain([input.len()]) {
            loop {
                let mut words = Vec::new();
                match parser.parse(&input[start..end], &LIMITS, &mut words)? {
                    Parsed::Whole(len) => {
                        start += len;
                        found.push(words.into_iter().map(<[u8]>::to_vec).collect());
                    }
                    Parsed::Inline(len, words) => {
                        start += len;
                        found.push(words);
                    }
                    Parsed::More => break assert!(words.is_empty()),
                }
            }
        }
        Ok(found)
    }

    const SEVERAL: &[u8] = b"*3\r\n$6\r\nBF.ADD\r\n$1\r\nk\r\n$12\r\nhello\r\nworld\r\nPING \"a b\"\r\n*0\r\n*-1\r\n*2\r\n$4\r\nECHO\r\n$0\r\n\r\n\r\n*1\r\n$4\r\nPING\r\n";

    #[test]
    fn every_cut_gives_the_same_requests() {
        let whole = requests(SEVERAL, &[]).unwrap();
        assert_eq!(whole.len(), 7);
        assert_eq!(whole[0], [&b"BF.ADD"[..], b"k", b"hello\r\nworld"]);
        assert_eq!(whole[1], [&b"PING"[..], b"a b"]);
        assert_eq!(whole[4], [&b"ECHO"[..], b""]);
        for first in 0..=SEVERAL.len() {
            assert_eq!(requests(SEVERAL, &[first]).unwrap(), whole, "cut at {first}");
            for second in first..=SEVERAL.len() {
                assert_eq!(
                    requests(SEVERAL, &[first, second]).unwrap(),
                    whole,
                    "cuts at {first} and {second}"
                );
            }
        }
        let every: Vec<usize> = (0..SEVERAL.len()).collect();
        assert_eq!(requests(SEVERAL, &every).unwrap(), whole);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let long_inline = [b'x'; MAX_INLINE];
        let cases: &[(&[u8], ProtocolError)] = &[
            (b"*x\r\n", ProtocolError::ArrayLength),
            (b"*\r\n", ProtocolError::ArrayLength),
            (b"*-\r\n", ProtocolError::ArrayLength),
            (b"*1\rx", ProtocolError::ArrayLength),
            (b"*1001\r\n", ProtocolError::ArrayLength),
            (b"*99999999999999999999\r\n", ProtocolError::ArrayLength),
            (b"*9223372036854775807\r\n", ProtocolError::ArrayLength),
            (b"*00000000000000000000000000000001", ProtocolError::ArrayLength),
            (b"*1\r\n$-1\r\n", ProtocolError::WordLength),
            (b"*1\r\n$x\r\n", ProtocolError::WordLength),
            (b"*1\r\n$9223372036854775807\r\n", ProtocolError::WordLength),
            (b"*1\r\n$1048577\r\n", ProtocolError::WordLength),
            (b"*1\r\n$1048576\r\n", ProtocolError::TooLong),
            (b"*1\r\n:4\r\n", ProtocolError::ExpectedWord(b':')),
            (b"*1\r\n$4\r\nPINGxx", ProtocolError::ExpectedLineEnd),
            (b"PING \"a\r\n", ProtocolError::Quotes),
            (b"POST / HTTP/1.1\r\n", ProtocolError::Http),
            (b"GET / HTTP/1.1\r\nhost: localhost:25666\r\n", ProtocolError::Http),
            (&long_inline, ProtocolError::InlineTooLong),
        ];
        for (input, error) in cases {
            assert_eq!(requests(input, &[]), Err(*error), "{}", input.escape_ascii());
            for cut in 0..input.len().min(64) {
                assert_eq!(requests(input, &[cut]), Err(*error), "{}, cut at {cut}", input.escape_ascii());
            }
        }
    }

    #[test]
    fn errors_are_those_of_redis() {
        let says = |error: ProtocolError| error.to_string();
        assert_eq!(says(ProtocolError::ExpectedWord(b':')), "Protocol error: expected '$', got ':'");
        assert_eq!(says(ProtocolError::ExpectedWord(b'\r')), "Protocol error: expected '$', got byte 0x0d");
        assert_eq!(says(ProtocolError::WordLength), "Protocol error: invalid bulk length");
    }

    #[test]
    fn a_request_in_many_pieces_is_read_once() {
        let mut parser = RequestParser::default();
        let mut input = b"*3\r\n$1\r\na\r\n".to_vec();
        assert_eq!(parser.parse(&input, &LIMITS, &mut vec![]), Ok(Parsed::More));
        // What was read is not looked at again.
        input[..8].fill(b'!');
        input.extend_from_slice(b"$1\r\nb\r\n$2\r\ncd\r\n");
        let mut words = vec![];
        assert_eq!(parser.parse(&input, &LIMITS, &mut words), Ok(Parsed::Whole(input.len())));
        assert_eq!(words, [&b"a"[..], b"b", b"cd"]);
    }

    #[test]
    fn any_bytes_are_read_without_panic() {
        // A multiplicative generator; half of the bytes come from the alphabet of the protocol.
        let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut next = move || {
            state = state.wrapping_mul(0xd129_42d5_dfd0_5a35).wrapping_add(1);
            (state >> 33) as u32
        };
        for _ in 0..200_000 {
            let input: Vec<u8> = (0..next() % 40)
                .map(|_| match next() % 3 {
                    0 => b"*$\r\n0123-\"' "[next() as usize % 12],
                    1 => b'\n',
                    _ => (next() & 0xff) as u8,
                })
                .collect();
            let cut = if input.is_empty() { 0 } else { next() as usize % input.len() };
            assert_eq!(requests(&input, &[cut]), requests(&input, &[]), "{}", input.escape_ascii());
        }
    }
}
