use std::sync::{Arc, Barrier};
use std::thread;

use super::Desk;

#[test]
fn keys_come_and_go() {
    Desk::new().play(&[
        ("DEL a", ":0"),
        ("BF.ADD a x", ":1"),
        ("CF.ADD b x", ":1"),
        ("SETBIT c 1 1", ":0"),
        ("DBSIZE", ":3"),
        ("EXISTS a b c d a", ":4"),
        ("TOUCH a d", ":1"),
        ("TYPE a", "+MBbloom--"),
        ("TYPE b", "+MBbloomCF"),
        ("TYPE c", "+string"),
        ("TYPE d", "+none"),
        ("DEL a b a", ":2"),
        ("UNLINK c", ":1"),
        ("EXISTS a", ":0"),
        ("RANDOMKEY", "$-1"),
        ("BF.ADD only x", ":1"),
        ("RANDOMKEY", "$4 only"),
        ("FLUSHALL", "+OK"),
        ("FLUSHALL async", "+OK"),
        ("FLUSHDB SYNC", "+OK"),
        ("FLUSHALL foo", "-ERR syntax error"),
        ("FLUSHALL sync async", "-ERR syntax error"),
        ("DBSIZE", ":0"),
        ("DEL", "-ERR wrong number of arguments for 'del' command"),
        ("TYPE a b", "-ERR wrong number of arguments for 'type' command"),
        ("FOO bar baz", "-ERR unknown command 'FOO', with args beginning with: 'bar' 'baz' "),
    ]);
}

/// Otherwise a key could be moved or copied from where keys still are to where they are removed already.
#[test]
fn all_keys_are_removed_while_nobody_executes_a_command() {
    let mut desk = Desk::new();
    desk.ask("BF.ADD a x");
    let (shared, barrier) = (Arc::clone(&desk.shared), Arc::new(Barrier::new(2)));
    let begun = Arc::clone(&barrier);
    let other = thread::spawn(move || {
        let inside = shared.gate.enter_beside();
        begun.wait();
        while !shared.gate.is_wanted() && shared.keyspace.len() == 1 {
            thread::yield_now();
        }
        let keys = shared.keyspace.len();
        drop(inside);
        keys
    });
    barrier.wait();
    assert_eq!(desk.ask("FLUSHALL"), "+OK");
    assert_eq!(other.join().unwrap(), 1, "it has waited");
    // A transaction is alone already.
    desk.play(&[
        ("DBSIZE", ":0"),
        ("BF.ADD a x", ":1"),
        ("MULTI", "+OK"),
        ("FLUSHALL", "+QUEUED"),
        ("FLUSHDB foo", "+QUEUED"),
        ("DBSIZE", "+QUEUED"),
        ("EXEC", "*3 +OK -ERR syntax error :0"),
    ]);
}

#[test]
fn values_get_other_names() {
    Desk::new().play(&[
        ("RENAME a b", "-ERR no such key"),
        ("RENAMENX a b", "-ERR no such key"),
        ("BF.ADD a x", ":1"),
        ("BF.ADD c y", ":1"),
        ("RENAMENX a c", ":0"),
        ("RENAMENX a b", ":1"),
        ("BF.EXISTS b x", ":1"),
        ("RENAME b b", "+OK"),
        ("RENAME b c", "+OK"),
        ("BF.MEXISTS c x y", "*2 :1 :0"),
        ("DBSIZE", ":1"),
    ]);
}

#[test]
fn copies_are_independent() {
    for (layout, kind) in [("native", "BF"), ("redisbloom", "BF"), ("native", "CF"), ("redisbloom", "CF")] {
        let mut desk = Desk::with(&[("bf-layout", layout), ("cf-layout", layout)]);
        assert_eq!(desk.ask(&format!("{kind}.ADD a x")), ":1");
        desk.play(&[
            ("PEXPIRE a 5000", ":1"),
            ("COPY a b", ":1"),
            ("PTTL b", ":5000"),
            ("COPY a b", ":0"),
            ("COPY none c", ":0"),
            ("COPY a b db 0 Replace", ":1"),
        ]);
        assert_eq!(desk.ask(&format!("{kind}.ADD b y")), ":1");
        assert_eq!(desk.ask(&format!("{kind}.MEXISTS a x y")), "*2 :1 :0");
        assert_eq!(desk.ask(&format!("{kind}.MEXISTS b x y")), "*2 :1 :1");
    }
    Desk::new().play(&[
        ("SETBIT a 100 1", ":0"),
        ("COPY a b", ":1"),
        ("SETBIT b 7 1", ":0"),
        ("BITCOUNT a", ":1"),
        ("BITCOUNT b", ":2"),
        ("COPY a a", "-ERR source and destination objects are the same"),
        ("COPY a b DB x", "-ERR value is not an integer or out of range"),
        ("COPY a b DB 1", "-ERR DB index is out of range"),
        ("COPY a b DB", "-ERR syntax error"),
        ("COPY a b foo", "-ERR syntax error"),
    ]);
}

#[test]
fn copies_need_room() {
    // 56 kB of blocks and 16 kB of locks.
    let mut desk = Desk::with(&[("maxmemory", "100kb")]);
    assert_eq!(desk.ask("BF.RESERVE a 0.01 30000"), "+OK");
    assert_eq!(desk.ask("COPY a b"), "-OOM command not allowed when used memory > 'maxmemory'.");
}

/// However filters grow, in many commands or in one, they stay below `maxmemory` together.
#[test]
fn growing_filters_share_the_memory() {
    let numbers: Vec<String> = (0..80_000).map(|number| number.to_string()).collect();
    let add = |desk: &mut Desk, command: &[&'static str], numbers: &[String]| {
        let words = command.iter().map(|word| word.as_bytes());
        desk.send(&words.chain(numbers.iter().map(String::as_bytes)).collect::<Vec<_>>())
    };
    for layout in ["native", "redisbloom"] {
        let settings = [
            ("maxmemory", "100kb"),
            ("bf-layout", layout),
            ("cf-layout", layout),
            ("cf-expansion-factor", "2"),
        ];
        for (one, other) in [
            (&["BF.MADD", "a"] as &[_], &["BF.MADD", "b"] as &[_]),
            (&["CF.INSERT", "a", "ITEMS"], &["CF.INSERT", "b", "ITEMS"]),
        ] {
            let mut desk = Desk::with(&settings);
            let refused = add(&mut desk, one, &numbers);
            // The locks of layers that come with one command are counted when it is over.
            let used = desk.shared.keyspace.used_bytes();
            assert!((25_000..=115_000).contains(&used), "{layout} {one:?}: {used}");
            let refused = String::from_utf8_lossy(&refused);
            assert!(refused.ends_with("its limit\r\n") || refused.contains(":-1\r\n"), "{layout} {one:?}");

            desk.ask("FLUSHALL");
            assert_eq!(desk.shared.keyspace.used_bytes(), 0);
            for numbers in numbers.chunks(500) {
                add(&mut desk, one, numbers);
                add(&mut desk, other, numbers);
            }
            let used = desk.shared.keyspace.used_bytes();
            assert!((25_000..=105_000).contains(&used), "{layout} {one:?} and {other:?}: {used}");
        }
    }
}

#[test]
fn keys_are_found_by_patterns() {
    let mut desk = Desk::new();
    for key in ["hello", "hallo", "hxllo", "h*llo"] {
        desk.ask(&format!("SETBIT {key} 1 1"));
    }
    assert_eq!(desk.ask("KEYS h[ae]llo").matches("llo").count(), 2);
    assert_eq!(desk.ask("KEYS h\\*llo"), "*1 $5 h*llo");
    assert!(desk.ask("KEYS *").starts_with("*4 "));
    assert_eq!(desk.ask("KEYS nothing*"), "*0");
    assert_eq!(desk.ask("KEYS"), "-ERR wrong number of arguments for 'keys' command");
}

#[test]
fn a_walk_shows_every_key_once() {
    let mut desk = Desk::new();
    for key in 0..50 {
        desk.ask(&format!("SETBIT bits:{key} 1 1"));
        desk.ask(&format!("BF.ADD bloom:{key} x"));
    }
    for (options, prefix, count) in [
        ("", "", 100),
        (" MATCH bits:*", "bits", 50),
        (" COUNT 3 TYPE mbbloom--", "bloom", 50),
        (" TYPE foo", "", 0),
        (" COUNT 1000 MATCH *:7", "", 2),
    ] {
        let (mut cursor, mut seen) = ("0".to_owned(), vec![]);
        loop {
            let reply = desk.ask(&format!("SCAN {cursor}{options}"));
            // *2 $n cursor *m $n key …
            let words: Vec<&str> = reply.split(' ').collect();
            cursor = words[2].to_owned();
            seen.extend(words[4..].chunks(2).map(|pair| pair[1].to_owned()));
            if cursor == "0" {
                break;
            }
        }
        assert_eq!(seen.len(), count, "{options}");
        assert!(seen.iter().all(|key| key.starts_with(prefix)));
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), count, "{options}");
    }
}

#[test]
fn a_walk_is_asked_for_rightly() {
    Desk::new().play(&[
        ("SCAN 0", "*2 $1 0 *0"),
        ("SCAN a", "-ERR invalid cursor"),
        ("SCAN -1", "*2 $1 0 *0"),
        ("SCAN 99999999999999999999", "-ERR invalid cursor"),
        ("SCAN 0 COUNT 0", "-ERR syntax error"),
        ("SCAN 0 COUNT -5", "-ERR syntax error"),
        ("SCAN 0 COUNT a", "-ERR value is not an integer or out of range"),
        ("SCAN 0 MATCH", "-ERR syntax error"),
        ("SCAN 0 FOO bar", "-ERR syntax error"),
    ]);
}
