//! The server's commands, in one thread and without a connection: words in, bytes out.

mod bitmaps;
mod clients;
mod dumps;
mod expiry;
mod figures;
mod keys;
mod tables;
mod transactions;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mio::{Poll, Token, Waker};

use crate::Settings;
use crate::execute::Executor;
use crate::resp::RequestParser;
use crate::session::Session;
use crate::shared::Shared;

/// When tests begin; [`Desk::later`] goes on from there.
const NOW: u64 = 1_700_000_000_000;

/// A server without sockets, one client, and a clock that stands still.
struct Desk {
    shared: Arc<Shared>,
    executor: Executor,
    session: Session,
    /// Wakers need them; nobody waits for them.
    _polls: [Poll; 2],
}

impl Desk {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(settings: &[(&str, &str)]) -> Self {
        let mut all = Settings::new().unwrap();
        let key = ("secret-key", "000102030405060708090a0b0c0d0e0f");
        for (name, value) in [("log-level", "error"), key].iter().chain(settings) {
            all.set(name, value).unwrap();
        }
        let polls = [Poll::new().unwrap(), Poll::new().unwrap()];
        let [acceptor, worker] = polls.each_ref().map(|poll| Waker::new(poll.registry(), Token(0)).unwrap());
        let shared = Shared::new(all, address(25_666), acceptor, vec![worker], [7; 28]);
        let shared = Arc::new(shared);
        let client = shared.clients.add(address(40_001), address(25_666), 0, NOW);
        let executor = Executor::new(Arc::clone(&shared), 0);
        shared.stopped_clock.store(NOW, Ordering::Relaxed);
        Self { session: Session::new(client), executor, shared, _polls: polls }
    }

    fn later(&mut self, milliseconds: u64) {
        self.shared.stopped_clock.fetch_add(milliseconds, Ordering::Relaxed);
    }

    /// Sends words, and gives the reply as bytes.
    fn send(&mut self, words: &[&[u8]]) -> Vec<u8> {
        let mut request = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            request.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            request.extend_from_slice(word);
            request.extend_from_slice(b"\r\n");
        }
        self.together(&request)
    }

    /// Sends requests in one piece, and gives their replies as bytes.
    fn together(&mut self, requests: &[u8]) -> Vec<u8> {
        let mut output = Vec::new();
        let mut parser = RequestParser::default();
        self.executor.execute(&mut self.session, &mut parser, requests, &mut output);
        self.executor.forget();
        output
    }

    /// Sends a line; its reply with a space for each line end.
    fn ask(&mut self, line: &str) -> String {
        let words: Vec<&[u8]> = line
            .split_ascii_whitespace()
            .map(|word| if word == "''" { b"" } else { word.as_bytes() })
            .collect();
        String::from_utf8_lossy(&self.send(&words)).trim_end_matches("\r\n").replace("\r\n", " ")
    }

    /// Lines and their replies, one after the other.
    fn play(&mut self, transcript: &[(&str, &str)]) {
        for (line, expected) in transcript {
            assert_eq!(self.ask(line), *expected, "{line}");
        }
    }

    /// The bytes of a bulk reply.
    fn bulk(&mut self, words: &[&[u8]]) -> Vec<u8> {
        let reply = self.send(words);
        assert_eq!(reply[0], b'$', "{}", reply.escape_ascii());
        let end = reply.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        reply[end..reply.len() - 2].to_vec()
    }
}

fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}
