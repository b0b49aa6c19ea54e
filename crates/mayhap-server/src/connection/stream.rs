//! Reading and writing without waiting.

use std::io::{self, Read as _, Write as _};

use mio::net::TcpStream;

/// Replies that could not be sent yet.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    bytes: Vec<u8>,
    /// How many of them have been sent since.
    sent: usize,
}

impl Unsent {
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory it takes.
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Gives back memory, if it has more than this and nothing in it.
    pub(super) fn shrink(&mut self, kept: usize) {
        if self.is_empty() && self.bytes.capacity() > kept {
            *self = Self::default();
        }
    }

    /// Sends `more` after what waits, as far as the other end takes it, and keeps the rest.
    pub(super) fn send(&mut self, stream: &mut TcpStream, more: &[u8]) -> io::Result<()> {
        // If something waits, the other end took no more a moment ago.
        let sent = if self.is_empty() { write(stream, more)? } else { 0 };
        self.bytes.extend_from_slice(more.get(sent..).unwrap_or_default());
        Ok(())
    }

    /// Sends what waits, as far as the other end takes it; how much that was.
    pub(super) fn send_waiting(&mut self, stream: &mut TcpStream) -> io::Result<usize> {
        let sent = write(stream, self.bytes.get(self.sent..).unwrap_or_default())?;
        self.sent += sent;
        if self.is_empty() {
            self.bytes.clear();
            self.sent = 0;
        } else if self.sent > self.bytes.len() / 2 {
            // What was sent makes room, at a cost that what was sent pays for.
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        Ok(sent)
    }
}

/// Reads once. Nothing: there is nothing to read now.
pub(super) fn read(stream: &mut TcpStream, space: &mut [u8]) -> io::Result<Option<usize>> {
    loop {
        return match stream.read(space) {
            Ok(read) => Ok(Some(read)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
    }
}

/// Writes as much as is taken without waiting.
fn write(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<usize> {
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        match stream.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(more) => written += more,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}
