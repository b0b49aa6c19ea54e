use std::sync::RwLock;

use mayhap::ScalableCuckoo;
use mayhap_commands::{NativeCuckoo, Value};

use super::super::payload;
use super::Desk;

const VALUES: &[(&str, &[(&str, &str)])] = &[
    ("native", &[("BF.MADD a x y", "BF.MEXISTS b x y z"), ("CF.INSERT a ITEMS x y", "CF.MEXISTS b x y z")]),
    (
        "redisbloom",
        &[("BF.MADD a x y", "BF.MEXISTS b x y z"), ("CF.INSERT a ITEMS x y", "CF.MEXISTS b x y z")],
    ),
    ("native", &[("SETBIT a 77 1", "BITPOS b 1")]),
];

fn restore(desk: &mut Desk, key: &str, time: &str, payload: &[u8], options: &str) -> String {
    let mut words: Vec<&[u8]> = vec![b"RESTORE", key.as_bytes(), time.as_bytes(), payload];
    words.extend(options.split_ascii_whitespace().map(str::as_bytes));
    String::from_utf8_lossy(&desk.send(&words)).trim_end().to_owned()
}

/// Makes each kind of value as `a`, and calls back with its payload and what `b` should answer then.
fn each_value(check: impl Fn(&mut Desk, &[u8], &str, &str)) {
    for (layout, values) in VALUES {
        for (make, question) in *values {
            let mut desk = Desk::with(&[("bf-layout", layout), ("cf-layout", layout)]);
            assert!(!desk.ask(make).starts_with('-'), "{make}");
            let answer = desk.ask(&question.replace(" b ", " a "));
            let payload = desk.bulk(&[b"DUMP", b"a"]);
            check(&mut desk, &payload, question, &answer);
        }
    }
}

#[test]
fn what_is_dumped_is_restored() {
    each_value(|desk, payload, question, answer| {
        assert_eq!(restore(desk, "b", "0", payload, ""), "+OK");
        assert_eq!(desk.ask(question), answer);
        assert_eq!(desk.ask("TTL b"), ":-1");
        assert_eq!(desk.bulk(&[b"DUMP", b"b"]), payload);
        assert_eq!(restore(desk, "b", "0", payload, ""), "-BUSYKEY Target key name already exists.");
        assert_eq!(restore(desk, "b", "1500", payload, "replace"), "+OK");
        assert_eq!(desk.ask("PTTL b"), ":1500");
        assert_eq!(restore(desk, "b", "1700000002000", payload, "REPLACE ABSTTL IDLETIME 9"), "+OK");
        assert_eq!((desk.ask("PTTL b"), desk.ask("OBJECT IDLETIME b")), (":2000".into(), ":9".into()));
        assert_eq!(restore(desk, "b", "1", payload, "REPLACE ABSTTL FREQ 3"), "+OK");
        assert_eq!(desk.ask("EXISTS b"), ":0", "its time had come");
    });
    assert_eq!(Desk::new().ask("DUMP none"), "$-1");
}

#[test]
fn a_bitmap_keeps_its_length() {
    let mut desk = Desk::new();
    desk.ask("SETBIT a 1 1");
    desk.ask("SETBIT a 100 0");
    let payload = desk.bulk(&[b"DUMP", b"a"]);
    assert_eq!(restore(&mut desk, "b", "0", &payload, ""), "+OK");
    desk.play(&[("BITCOUNT b -13 -13", ":1"), ("BITPOS b 0 12 -1", ":96"), ("BITPOS b 0 13 -1", ":-1")]);
}

#[test]
fn damaged_payloads_are_refused() {
    each_value(|desk, payload, _, _| {
        let wrong = "-ERR DUMP payload version or checksum are wrong";
        for place in 0..payload.len() {
            let mut damaged = payload.to_vec();
            damaged[place] ^= 1;
            assert_eq!(restore(desk, "b", "0", &damaged, ""), wrong, "byte {place}");
        }
        for length in 0..payload.len() {
            assert_eq!(restore(desk, "b", "0", &payload[..length], ""), wrong, "length {length}");
        }
        assert_eq!(desk.ask("EXISTS b"), ":0");
    });
}

/// Redis compares the version with its own first, and refuses a larger one before it looks at anything else.
#[test]
fn redis_refuses_native_payloads() {
    for make in ["BF.ADD a x", "CF.ADD a x", "SETBIT a 1 1"] {
        let mut desk = Desk::new();
        desk.ask(make);
        let payload = desk.bulk(&[b"DUMP", b"a"]);
        assert_eq!(payload[payload.len() - 10..][..2], [0xff, 0xff]);
    }
}

#[test]
fn another_secret_key_is_refused() {
    let mut desk = Desk::new();
    desk.ask("BF.ADD a x");
    let payload = desk.bulk(&[b"DUMP", b"a"]);
    let mut other = Desk::with(&[("secret-key", "ffffffffffffffffffffffffffffffff")]);
    let reply = restore(&mut other, "a", "0", &payload, "");
    assert!(reply.starts_with("-ERR Bad data format: ") && reply.contains("key"), "{reply}");
}

#[test]
fn values_of_redis_that_are_no_filters_are_refused() {
    // DUMP of a Redis 7.0.15 after SET a x.
    let payload = b"\x00\x01x\n\x00\x22\x80\x86_\xbd\xe8H\xd0";
    let reply = restore(&mut Desk::new(), "a", "0", payload, "");
    assert!(reply.starts_with("-ERR Bad data format: "), "{reply}");
}

#[test]
fn values_need_room() {
    each_value(|desk, payload, _, _| {
        desk.play(&[("FLUSHALL", "+OK"), ("CONFIG SET maxmemory 10", "+OK")]);
        let reply = restore(desk, "b", "0", payload, "");
        let refused = ["-OOM ", "-ERR Insufficient memory: it would take "];
        assert!(refused.iter().any(|start| reply.starts_with(start)), "{reply}");
    });
    let mut desk = Desk::with(&[("client-output-limit", "64kb")]);
    desk.play(&[("BF.RESERVE a 0.01 100000", "+OK")]);
    assert!(desk.ask("DUMP a").contains("client-output-limit"));
}

#[test]
fn what_is_no_restore_is_refused() {
    Desk::new().play(&[
        ("RESTORE a 0", "-ERR wrong number of arguments for 'restore' command"),
        ("RESTORE a 0 abc", "-ERR DUMP payload version or checksum are wrong"),
        ("RESTORE a 0 ''", "-ERR DUMP payload version or checksum are wrong"),
        ("RESTORE a -1 abc", "-ERR Invalid TTL value, must be >= 0"),
        ("RESTORE a x abc", "-ERR value is not an integer or out of range"),
        ("RESTORE a 0 abc IDLETIME -1", "-ERR Invalid IDLETIME value, must be >= 0"),
        ("RESTORE a 0 abc IDLETIME x", "-ERR value is not an integer or out of range"),
        ("RESTORE a 0 abc FREQ 256", "-ERR Invalid FREQ value, must be >= 0 and <= 255"),
        ("RESTORE a 0 abc IDLETIME 1 FREQ 2", "-ERR syntax error"),
        ("RESTORE a 0 abc FOO", "-ERR syntax error"),
        ("RESTORE a 0 abc IDLETIME", "-ERR syntax error"),
    ]);
}

#[test]
fn seed_and_ratio_go_with_the_filter() {
    let mut desk = Desk::new();
    let made = "BF.INSERT k CAPACITY 50 TIGHTENING 0.5 SEED 0123456789abcdef0123456789abcdef ITEMS a b c";
    desk.play(&[(made, "*3 :1 :1 :1"), ("COPY k copy", ":1")]);
    let payload = desk.bulk(&[b"DUMP", b"k"]);
    // Another secret key doesn't matter, nor do other limits.
    let mut other =
        Desk::with(&[("secret-key", "ffffffffffffffffffffffffffffffff"), ("filter-max-bytes", "1mb")]);
    assert_eq!(other.send(&[b"RESTORE", b"k", b"0", &payload]), b"+OK\r\n");
    assert_eq!(other.bulk(&[b"DUMP", b"k"]), payload);
    assert_eq!(desk.bulk(&[b"DUMP", b"copy"]), payload);
    for desk in [&mut desk, &mut other] {
        desk.play(&[("BF.EXISTS k b", ":1"), ("BF.EXISTS k d", ":0"), ("BF.INFO k TIGHTENING", "*1 $3 0.5")]);
    }
    other.play(&[(made, "*3 :0 :0 :0")]);
}

#[test]
fn a_cuckoo_filter_whose_adds_take_too_long_is_refused() {
    let mut desk = Desk::new();
    let hasher = desk.shared.settings.filters.hasher.clone();
    let filter = ScalableCuckoo::builder().keys(100).max_kicks(1 << 20).hasher(hasher).build().unwrap();
    let value = Value::Cuckoo(RwLock::new(NativeCuckoo { filter, deleted: 0 }));
    let reply = restore(&mut desk, "a", "0", &payload::of(&value).unwrap(), "");
    assert!(reply.starts_with("-ERR Bad data format: ") && reply.contains("most kicks"), "{reply}");
}
