//! The transcripts, played in memory.

#![allow(clippy::unwrap_used, reason = "a check that panics has failed")]

mod memory;
mod transcript;

use std::path::Path;
use std::sync::RwLock;

use mayhap::Bitmap;
use mayhap_commands::{Bits, Value};
use memory::{Memory, wire};
use transcript::Player;
use transcript::resp::Protocol;

#[test]
fn every_transcript_in_every_layout_and_protocol() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let sections = transcript::sections(&folder);
    assert!(!sections.is_empty(), "{}", folder.display());
    let mut played = 0;
    for section in &sections {
        for layout in &section.layouts {
            for protocol in &section.protocols {
                let mut player = InMemory { memory: Memory::new(), protocol: *protocol };
                section.play(layout, *protocol, &mut player);
                played += 1;
            }
        }
    }
    println!("{} sections, played {played} times", sections.len());
}

struct InMemory {
    memory: Memory,
    protocol: Protocol,
}

impl Player for InMemory {
    fn set(&mut self, name: &str, value: &str) {
        self.memory.set(name, value);
    }

    fn bitmap(&mut self, key: &[u8]) {
        let bits = Bits { set: Bitmap::sparse(), bytes: 8 };
        self.memory.put(key, Value::Bitmap(RwLock::new(bits)));
    }

    fn command(&mut self, words: &[Vec<u8>]) -> Vec<u8> {
        let mut out = Vec::new();
        wire::write(&self.memory.reply(words), self.protocol == Protocol::Resp3, &mut out);
        out
    }
}
