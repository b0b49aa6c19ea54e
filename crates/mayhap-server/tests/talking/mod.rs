//! A client that reads replies, one by one, whatever they are.

#![allow(dead_code, unreachable_pub)] // Each test file includes this one and uses its part.

use std::io::Read as _;

use crate::running::{Client, Running, array};
use crate::transcript::resp::{Token, first_reply};

/// A connection, and what has come over it and was not looked at yet.
#[derive(Debug)]
pub struct Talking {
    pub client: Client,
    arrived: Vec<u8>,
}

impl Talking {
    pub fn to(server: &Running) -> Self {
        Self { client: server.connect(), arrived: Vec::new() }
    }

    /// Sends a command of words without spaces, and gives its reply.
    pub fn run(&mut self, command: &str) -> Vec<Token> {
        self.command(&command.split(' ').collect::<Vec<_>>())
    }

    /// Sends a command, and gives its reply.
    pub fn command(&mut self, words: &[impl AsRef<[u8]>]) -> Vec<Token> {
        self.send(words);
        self.reply()
    }

    pub fn send(&mut self, words: &[impl AsRef<[u8]>]) {
        let words: Vec<&[u8]> = words.iter().map(AsRef::as_ref).collect();
        self.client.send(array(&words));
    }

    /// The next reply.
    pub fn reply(&mut self) -> Vec<Token> {
        let (tokens, length) = self.read();
        self.arrived.drain(..length);
        tokens
    }

    /// The next reply, as it came.
    pub fn raw_reply(&mut self) -> Vec<u8> {
        let (_, length) = self.read();
        self.arrived.drain(..length).collect()
    }

    /// The next reply, and its length.
    fn read(&mut self) -> (Vec<Token>, usize) {
        let mut buffer = [0; 1 << 16];
        loop {
            if let Some((tokens, rest)) = first_reply(&self.arrived) {
                return (tokens, self.arrived.len() - rest.len());
            }
            let read = self.client.stream.read(&mut buffer).expect("a reply");
            assert!(read > 0, "the server closed after {:?}", self.arrived.escape_ascii().to_string());
            self.arrived.extend_from_slice(&buffer[..read]);
        }
    }

    /// All pieces of a dump, each with the iterator to load it with.
    pub fn dump(&mut self, family: &str, key: &str) -> Vec<(i64, Vec<u8>)> {
        let (mut pieces, mut iterator) = (Vec::new(), 0);
        loop {
            let reply = self.run(&format!("{family}.SCANDUMP {key} {iterator}"));
            let [Token::Array(2), Token::Integer(next), piece] = reply.as_slice() else {
                panic!("{reply:?}")
            };
            if *next == 0 {
                return pieces;
            }
            iterator = *next;
            pieces.push((iterator, piece.payload()));
        }
    }
}

/// The words that load a piece of a dump.
pub fn load(family: &str, key: &str, iterator: i64, piece: &[u8]) -> [Vec<u8>; 4] {
    [
        format!("{family}.LOADCHUNK").into_bytes(),
        key.as_bytes().to_vec(),
        iterator.to_string().into_bytes(),
        piece.to_vec(),
    ]
}
