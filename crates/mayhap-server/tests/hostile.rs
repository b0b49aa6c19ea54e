//! Clients that mean no good, or die at a bad moment.

mod running;
mod talking;
#[path = "../../mayhap-commands/tests/transcript/mod.rs"]
mod transcript;

use std::thread;

use running::{Running, array};
use talking::{Talking, load};
use transcript::resp::Token;

const KINDS: [(&str, &str); 4] =
    [("BF", "native"), ("BF", "redisbloom"), ("CF", "native"), ("CF", "redisbloom")];

/// A server of a layout. What its values and loads may take is little.
fn with_layout(layout: &str) -> Running {
    Running::with(&[
        ("bf-layout", layout),
        ("cf-layout", layout),
        ("maxmemory", "64mb"),
        ("maxmemory-transfers", "64mb"),
        ("filter-max-bytes", "16mb"),
    ])
}

/// A filter of three layers, dumped.
fn dump_of_layers(client: &mut Talking, family: &str) -> Vec<(i64, Vec<u8>)> {
    let options = if family == "BF" { "0.01 8 EXPANSION 2" } else { "8 BUCKETSIZE 2 EXPANSION 2" };
    assert_eq!(client.run(&format!("{family}.RESERVE from {options}")), [Token::Simple("OK".into())]);
    for number in 0..30 {
        client.run(&format!("{family}.ADD from item:{number}"));
    }
    let pieces = client.dump(family, "from");
    assert!(!pieces.is_empty());
    pieces
}

/// How many of the items of [`dump_of_layers`] are found.
fn found(client: &mut Talking, family: &str, key: &str) -> usize {
    let mut words = vec![format!("{family}.MEXISTS"), key.to_owned()];
    words.extend((0..30).map(|number| format!("item:{number}")));
    let reply = client.command(&words);
    reply.iter().filter(|token| matches!(token, Token::Integer(1))).count()
}

#[test]
fn a_client_killed_while_it_loads_leaves_nothing() {
    for (family, layout) in KINDS {
        let server = with_layout(layout);
        let mut watcher = Talking::to(&server);
        let pieces = dump_of_layers(&mut watcher, family);
        let requests: Vec<u8> = pieces
            .iter()
            .flat_map(|(iterator, piece)| {
                let words = load(family, "to", *iterator, piece);
                array(&words.each_ref().map(Vec::as_slice))
            })
            .collect();
        // It dies after any number of bytes, but before the last.
        for cut in (0..requests.len()).step_by(7).chain([requests.len() - 1]) {
            let mut victim = server.connect();
            victim.send(&requests[..cut]);
            drop(victim);
            assert_eq!(found(&mut watcher, family, "to"), 0, "{family} {layout} after {cut} bytes");
            assert_eq!(watcher.run("EXISTS to"), [Token::Integer(0)]);
        }
        // Another begins again, and is done.
        for (iterator, piece) in &pieces {
            assert_eq!(found(&mut watcher, family, "to"), 0);
            let reply = watcher.command(&load(family, "to", *iterator, piece));
            assert_eq!(reply, [Token::Simple("OK".into())], "{family} {layout}");
        }
        assert_eq!(found(&mut watcher, family, "to"), 30);
    }
}

#[test]
fn a_load_over_a_filter_leaves_the_old_one() {
    for (family, layout) in KINDS {
        let server = with_layout(layout);
        let mut client = Talking::to(&server);
        let pieces = dump_of_layers(&mut client, family);
        client.run(&format!("{family}.ADD old me"));
        let (iterator, header) = &pieces[0];
        let reply = client.command(&load(family, "old", *iterator, header));
        assert!(matches!(reply.as_slice(), [Token::Error(_)]), "{family} {layout}: {reply:?}");
        assert_eq!(client.run(&format!("{family}.EXISTS old me")), [Token::Integer(1)]);
        assert!(found(&mut client, family, "old") < 3);
    }
}

#[test]
fn while_one_loads_all_others_see_all_or_nothing() {
    for (family, layout) in KINDS {
        let server = with_layout(layout);
        let mut loader = Talking::to(&server);
        let pieces = dump_of_layers(&mut loader, family);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut watcher = Talking::to(&server);
                    for _ in 0..100 {
                        let seen = found(&mut watcher, family, "to");
                        assert!(seen == 0 || seen == 30, "{family} {layout}: {seen} of 30");
                    }
                });
            }
            for _ in 0..50 {
                for (iterator, piece) in &pieces {
                    let reply = loader.command(&load(family, "to", *iterator, piece));
                    assert_eq!(reply, [Token::Simple("OK".into())]);
                }
                assert_eq!(loader.run("DEL to"), [Token::Integer(1)]);
            }
        });
    }
}

#[test]
fn no_crafted_dump_does_harm() {
    for (family, layout) in KINDS {
        let server = with_layout(layout);
        let mut client = Talking::to(&server);
        let pieces = dump_of_layers(&mut client, family);
        let (_, first) = &pieces[0];
        let mut crafted = Vec::new();
        for length in 0..first.len() {
            crafted.push(first[..length].to_vec());
        }
        for place in 0..first.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut changed = first.clone();
                changed[place] ^= change;
                crafted.push(changed);
            }
        }
        // Every number of eight bytes and of four, aligned or not, as large as it gets.
        for number in [1 << 63, (1 << 63) - 1, u64::MAX, 1 << 40, 1 << 32, 0] {
            for place in 0..first.len().saturating_sub(7) {
                let mut changed = first.clone();
                changed[place..place + 8].copy_from_slice(&u64::to_le_bytes(number));
                crafted.push(changed);
            }
        }
        println!("{family} {layout}: {} crafted dumps", crafted.len());
        for crafted in &crafted {
            try_crafted(&mut client, family, &pieces, crafted);
        }
        assert_eq!(client.run("PING"), [Token::Simple("PONG".into())]);
        let used = server.handle.shared().keyspace.used_bytes();
        assert!(used < 1 << 20, "{used} bytes are in use");
    }
}

/// Loads a dump whose first piece is another, and asks all there is of what comes of it.
fn try_crafted(client: &mut Talking, family: &str, pieces: &[(i64, Vec<u8>)], crafted: &[u8]) {
    let mut expected = 0;
    for (index, (iterator, piece)) in pieces.iter().enumerate() {
        client.send(&load(family, "crafted", *iterator, if index == 0 { crafted } else { piece }));
        expected += 1;
    }
    expected += ask_everything(client, family);
    for _ in 0..expected {
        assert!(!client.reply().is_empty());
    }
}

/// Sends all there is to ask of a filter, and then removes it. How many replies will come.
fn ask_everything(client: &mut Talking, family: &str) -> usize {
    let mut sent = 0;
    for command in
        ["INFO", "DEBUG", "ADD a", "EXISTS a", "ADD b", "SCANDUMP 0", "SCANDUMP 1", "DEL a", "COMPACT"]
    {
        let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
        if family == "BF" && matches!(name, "DEL" | "COMPACT") {
            continue;
        }
        let mut words = vec![format!("{family}.{name}"), "crafted".to_owned()];
        words.extend(rest.split_whitespace().map(str::to_owned));
        client.send(&words);
        sent += 1;
    }
    client.send(&["DEL", "crafted"]);
    sent + 1
}

#[test]
fn a_dump_with_a_piece_cut_short_is_never_whole() {
    for (family, layout) in KINDS {
        let server = with_layout(layout);
        let mut client = Talking::to(&server);
        let pieces = dump_of_layers(&mut client, family);
        for short in 0..pieces.len() {
            for length in 0..pieces[short].1.len() {
                for (index, (iterator, piece)) in pieces.iter().enumerate() {
                    let piece = if index == short { &piece[..length] } else { piece };
                    client.command(&load(family, "to", *iterator, piece));
                }
                let seen = client.run("EXISTS to");
                assert_eq!(seen, [Token::Integer(0)], "{family} {layout}: piece {short}, {length} bytes");
            }
        }
    }
}

#[test]
fn no_crafted_payload_does_harm() {
    for (family, layout) in KINDS {
        let server = with_layout(layout);
        let mut client = Talking::to(&server);
        dump_of_layers(&mut client, family);
        let payload = client.run("DUMP from")[0].payload();
        for length in 0..payload.len() {
            let reply = client.command(&[&b"RESTORE"[..], b"crafted", b"0", &payload[..length]]);
            assert!(matches!(reply.as_slice(), [Token::Error(_)]), "{family} {layout}: {length} bytes");
        }
        for place in 0..payload.len() {
            let mut changed = payload.clone();
            changed[place] ^= 0x04;
            let reply = client.command(&[&b"RESTORE"[..], b"crafted", b"0", &changed]);
            assert!(matches!(reply.as_slice(), [Token::Error(_)]), "{family} {layout}: byte {place}");
        }
        // The checksum of RedisBloom's is no secret: whoever changes a byte makes a new one.
        if layout == "redisbloom" {
            let (body, checksum) = payload.split_at(payload.len() - 8);
            assert_eq!(crc64(body).to_le_bytes(), checksum);
            for body in crafted_bodies(body) {
                let changed = [&body[..], &crc64(&body).to_le_bytes()].concat();
                client.send(&[&b"RESTORE"[..], b"crafted", b"0", &changed]);
                let sent = 1 + ask_everything(&mut client, family);
                for _ in 0..sent {
                    assert!(!client.reply().is_empty());
                }
            }
        }
        assert_eq!(client.run("PING"), [Token::Simple("PONG".into())]);
        let whole = client.command(&[&b"RESTORE"[..], b"crafted", b"0", &payload]);
        assert_eq!(whole, [Token::Simple("OK".into())]);
        assert_eq!(found(&mut client, family, "crafted"), 30);
    }
}

/// Bytes changed, and numbers of eight bytes where one was.
fn crafted_bodies(body: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let changes = [0x01, 0x80, 0xff];
    let numbers = [u64::MAX, 1 << 63, (1 << 63) - 1, 1 << 40, 1 << 24];
    (0..body.len()).flat_map(move |place| {
        let changed = changes.map(|change| {
            let mut changed = body.to_vec();
            changed[place] ^= change;
            changed
        });
        // An RDB file has 0x81 before a number of 64 bits.
        let longer = numbers
            .map(|number| [&body[..place], &[0x81], &number.to_be_bytes(), &body[place + 1..]].concat());
        changed.into_iter().chain(longer)
    })
}

/// The checksum at the end of what Redis dumps.
fn crc64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ u64::from(*byte), |crc, _| {
            if crc & 1 == 1 { (crc >> 1) ^ 0x95ac_9329_ac4b_c9b5 } else { crc >> 1 }
        })
    })
}

#[test]
fn every_piece_of_a_dump_may_be_anywhere() {
    for (family, layout) in KINDS {
        let server = with_layout(layout);
        let mut client = Talking::to(&server);
        let pieces = dump_of_layers(&mut client, family);
        let (first, header) = &pieces[0];
        for place in
            ["-9223372036854775808", "-1", "0", "1", "2", "37", "9223372036854775807", "4611686018427387904"]
        {
            for piece in [&b""[..], b"x", header, &[0xff; 4096]] {
                client.command(&load(family, "to", *first, header));
                let words: [&[u8]; 4] =
                    [&format!("{family}.LOADCHUNK").into_bytes(), b"to", place.as_bytes(), piece];
                assert_eq!(client.command(&words).len(), 1, "{family} {layout} {place}");
                assert!(
                    !client
                        .command(&[format!("{family}.SCANDUMP").as_bytes(), b"to", place.as_bytes()])
                        .is_empty()
                );
                client.run("DEL to");
            }
        }
        assert_eq!(found(&mut client, family, "from"), 30);
    }
}
