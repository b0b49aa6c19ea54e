//! The transcripts of the commands, over TCP.

mod running;
mod talking;
#[path = "../../mayhap-commands/tests/transcript/mod.rs"]
mod transcript;

use std::path::Path;

use running::Running;
use talking::Talking;
use transcript::Player;
use transcript::resp::Protocol;

#[test]
fn every_transcript_in_every_layout_and_protocol() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mayhap-commands/tests/transcripts");
    let sections = transcript::sections(&folder);
    assert!(!sections.is_empty(), "{}", folder.display());
    for section in &sections {
        for layout in &section.layouts {
            for protocol in &section.protocols {
                let server = Running::with(&[("threads", "1")]);
                let mut talking = Talking::to(&server);
                if *protocol == Protocol::Resp3 {
                    talking.run("HELLO 3");
                }
                section.play(layout, *protocol, &mut OverTcp { server: &server, talking });
            }
        }
    }
}

struct OverTcp<'a> {
    server: &'a Running,
    talking: Talking,
}

impl Player for OverTcp<'_> {
    fn set(&mut self, name: &str, value: &str) {
        self.server.handle.shared().change_setting(name, value).expect("a setting");
    }

    fn bitmap(&mut self, key: &[u8]) {
        self.talking.command(&[b"SETBIT", key, b"0", b"1"]);
    }

    fn command(&mut self, words: &[Vec<u8>]) -> Vec<u8> {
        self.talking.send(words);
        self.talking.raw_reply()
    }
}
