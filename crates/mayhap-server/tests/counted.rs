//! What `maxmemory` is compared with is what was asked of the allocator, also for values that have grown through many
//! layers, or had many bits that are cleared now. `memory.rs` compares with the memory of the process, of small new ones.

#[path = "../../mayhap/tests/held/mod.rs"]
mod held;
mod running;

use std::io::Read as _;
use std::sync::atomic::Ordering::Relaxed;

use held::{HELD, PIECES};
use running::{Client, Running};

const KEYS: usize = 300;

/// What allocators add to a piece, about: notes of their own, rounding up, alignment.
const ADDED: i64 = 24;

/// Bytes that are taken from the system, but for those of the largest pieces, which are none of the allocator's.
fn taken() -> i64 {
    HELD.load(Relaxed) + ADDED * PIECES.load(Relaxed)
}

/// Gives each of many keys the same commands, and takes the replies for granted. Values grow by turns.
fn play(client: &mut Client, letter: char, commands: &[String]) {
    for command in commands {
        let line = |key: usize| command.replace("KEY", &format!("{letter}:{key}")) + "\r\n";
        client.send((0..KEYS).map(line).collect::<String>());
        client.send("PING played\r\n");
        let mut end = Vec::new();
        while !end.ends_with(b"played\r\n") {
            let mut replies = [0; 4096];
            let read = client.stream.read(&mut replies).expect("replies");
            assert!(read > 0, "the server closed");
            end.extend_from_slice(&replies[..read]);
            end.drain(..end.len().saturating_sub(8));
        }
    }
}

/// Adds so many items, a hundred with each command.
fn adding(command: &str, items: usize) -> Vec<String> {
    let hundred = |first: usize| (first..first + 100).map(|item| format!(" {item}")).collect::<String>();
    (0..items).step_by(100).map(|first| format!("{command}{}", hundred(first))).collect()
}

/// One test, because all tests of a file share the allocator.
#[test]
fn grown_values_are_counted_as_what_they_take() {
    let bits = |value: u8, each: usize| {
        (0..1_000)
            .filter(move |bit| bit % each != 0)
            .map(move |bit| format!("SETBIT KEY {} {value}", bit * 150))
    };
    let cases: [(&str, Vec<String>); 8] = [
        ("BF.RESERVE KEY 0.01 100", vec![]),
        ("BF.RESERVE KEY 0.01 10 EXPANSION 1", adding("BF.MADD KEY", 200)),
        ("BF.RESERVE KEY 0.01 100 EXPANSION 2", adding("BF.MADD KEY", 1_500)),
        ("CF.RESERVE KEY 200", vec![]),
        ("CF.RESERVE KEY 64 EXPANSION 1", adding("CF.INSERT KEY ITEMS", 500)),
        ("CF.RESERVE KEY 200 EXPANSION 2", adding("CF.INSERT KEY ITEMS", 1_500)),
        ("SETBIT KEY 0 1", bits(1, 3_000).collect()),
        ("SETBIT KEY 1 1", bits(1, 3_000).chain(bits(0, 50)).collect()),
    ];
    for layout in ["native", "redisbloom"] {
        let server = Running::with(&[("bf-layout", layout), ("cf-layout", layout), ("threads", "1")]);
        let mut client = server.connect();
        // Buffers, and shards without a key.
        play(&mut client, 'z', &["SETBIT KEY 0 1".into()]);
        let mut of_cases = Vec::new();
        for (letter, (first, more)) in ('a'..).zip(&cases) {
            let keyspace = &server.handle.shared().keyspace;
            let before = (keyspace.used_bytes(), taken());
            play(&mut client, letter, &[(*first).into()]);
            play(&mut client, letter, more);
            // Bitmaps are counted now and then only, but always when somebody asks.
            play(&mut client, letter, &["MEMORY USAGE KEY".into()]);
            let (counted, taken) = ((keyspace.used_bytes() - before.0) as f64, (taken() - before.1) as f64);
            let (each, ratio) = (taken / KEYS as f64, counted / taken);
            println!("{layout}, {first}, {} more: {each:.0} taken for each, {ratio:.2} counted", more.len());
            of_cases.push(taken);
            assert!((0.85..1.25).contains(&ratio), "{layout}, {first}, {} more: {ratio:.2}", more.len());
        }
        // The last two are bitmaps of the same bits, all but a fiftieth of which were cleared in the second.
        let [.., filled, cleared] = of_cases[..] else { unreachable!("there are eight") };
        assert!(cleared < filled * 0.6, "{layout}: {cleared} of {filled} are kept");
    }
}
