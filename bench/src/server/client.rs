//! A client that does as little as it can: bytes are written as they are, replies only counted.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::Failure;

/// Commands, written out.
#[derive(Default)]
pub(super) struct Pipeline {
    bytes: Vec<u8>,
    commands: usize,
}

impl Pipeline {
    pub(super) fn push<W: AsRef<str>>(&mut self, words: &[W]) {
        let _ = write!(self.bytes, "*{}\r\n", words.len());
        for word in words {
            let word = word.as_ref();
            let _ = write!(self.bytes, "${}\r\n{word}\r\n", word.len());
        }
        self.commands += 1;
    }
}

pub(super) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    pub(super) fn connect(port: u16) -> Result<Self, Failure> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Self { stream, buffer: vec![0; 1 << 18] })
    }

    /// Sends the commands, and waits for as many replies. An error among them ends the run: it would be fast, and not
    /// what was to be measured.
    pub(super) fn send(&mut self, pipeline: &Pipeline) -> Result<(), Failure> {
        self.stream.write_all(&pipeline.bytes)?;
        let mut replies = Replies::default();
        while replies.complete < pipeline.commands {
            let read = self.stream.read(&mut self.buffer)?;
            if read == 0 {
                return Err("the server closed the connection".into());
            }
            replies.take(&self.buffer[..read])?;
        }
        Ok(())
    }
}

/// Counts replies in a stream of RESP2: lines, of which some say how much belongs to them.
#[derive(Default)]
struct Replies {
    complete: usize,
    /// Parts of the reply that is under way: 0 between replies.
    missing: usize,
    /// Bytes of a bulk string, with its line end, that have not come.
    skip: usize,
    line: Vec<u8>,
}

impl Replies {
    fn take(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        loop {
            let skipped = self.skip.min(bytes.len());
            bytes = &bytes[skipped..];
            self.skip -= skipped;
            if bytes.is_empty() {
                return Ok(());
            }
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                self.line.extend_from_slice(bytes);
                return Ok(());
            };
            self.line.extend_from_slice(&bytes[..=end]);
            bytes = &bytes[end + 1..];
            self.line_ended()?;
        }
    }

    fn line_ended(&mut self) -> Result<(), Failure> {
        let line = String::from_utf8_lossy(&self.line).trim_end().to_owned();
        self.line.clear();
        let number = || line.get(1..).and_then(|digits| digits.parse::<i64>().ok()).unwrap_or(0);
        if self.missing == 0 {
            self.missing = 1;
        }
        self.missing -= 1;
        match line.as_bytes().first() {
            Some(b'-') => return Err(format!("the server answered {line}").into()),
            Some(b'*') => self.missing += usize::try_from(number()).unwrap_or(0),
            Some(b'$') => self.skip = usize::try_from(number()).map_or(0, |length| length + 2),
            _ => {}
        }
        // What is left of a bulk string is skipped before anything else is looked at.
        if self.missing == 0 {
            self.complete += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Replies;

    #[test]
    fn replies_are_counted_however_they_are_cut() {
        let stream = b"+OK\r\n:1\r\n$5\r\nab\r\nc\r\n*2\r\n:1\r\n*1\r\n$-1\r\n*0\r\n:7\r\n";
        for cut in 0..stream.len() {
            let mut replies = Replies::default();
            replies.take(&stream[..cut]).unwrap();
            replies.take(&stream[cut..]).unwrap();
            assert_eq!((replies.complete, replies.missing), (6, 0), "cut at {cut}");
        }
        assert!(Replies::default().take(b"-ERR no\r\n").is_err());
    }
}
