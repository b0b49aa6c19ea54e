use std::sync::atomic::Ordering;

use super::{Desk, NOW};
use crate::shared::now;

#[test]
fn keys_end() {
    let mut desk = Desk::new();
    desk.play(&[
        ("TTL a", ":-2"),
        ("PTTL a", ":-2"),
        ("EXPIRETIME a", ":-2"),
        ("EXPIRE a 10", ":0"),
        ("PERSIST a", ":0"),
        ("BF.ADD a x", ":1"),
        ("TTL a", ":-1"),
        ("PEXPIRETIME a", ":-1"),
        ("PERSIST a", ":0"),
        ("EXPIRE a 10", ":1"),
        ("TTL a", ":10"),
        ("PTTL a", ":10000"),
        ("EXPIRETIME a", ":1700000010"),
        ("PEXPIRETIME a", ":1700000010000"),
        ("PEXPIRE a 1499", ":1"),
        ("TTL a", ":1"),
        ("PEXPIRE a 1500", ":1"),
        ("TTL a", ":2"),
        ("PERSIST a", ":1"),
        ("TTL a", ":-1"),
        ("PEXPIREAT a 1700000000050", ":1"),
        ("PTTL a", ":50"),
    ]);
    desk.later(49);
    assert_eq!(desk.ask("EXISTS a"), ":1");
    desk.later(1);
    desk.play(&[
        ("EXISTS a", ":0"),
        ("TTL a", ":-2"),
        ("BF.ADD a x", ":1"),
        ("TTL a", ":-1"),
        ("EXPIREAT a 1", ":1"),
        ("EXISTS a", ":0"),
        ("BF.ADD a x", ":1"),
        ("EXPIRE a -1", ":1"),
        ("EXISTS a", ":0"),
    ]);
    desk.ask("SETBIT b 1 1");
    desk.ask("SETBIT c 1 1");
    desk.ask("EXPIRE b 1");
    desk.ask("EXPIRE c 100");
    assert_eq!(desk.shared.keyspace.remove_expired(NOW + 2000, || ()), 1);
    assert_eq!(desk.shared.keyspace.expiring(), 1);
}

/// Whoever finds that the time of a key has come removes it, and counts it.
#[test]
fn keys_that_end_are_counted_once() {
    let mut desk = Desk::new();
    for key in ["asked", "added", "deleted", "renamed", "left"] {
        desk.ask(&format!("BF.ADD {key} x"));
        desk.ask(&format!("PEXPIRE {key} 10"));
    }
    desk.later(10);
    desk.play(&[
        ("EXISTS asked asked", ":0"),
        ("BF.ADD added x", ":1"),
        ("DEL deleted", ":0"),
        ("RENAME renamed other", "-ERR no such key"),
        ("EXISTS renamed", ":0"),
    ]);
    assert_eq!(desk.shared.keyspace.remove_expired(NOW + 10, || ()), 1);
    assert!(desk.ask("INFO stats").contains(" expired_keys:5 "));
    desk.ask("CONFIG RESETSTAT");
    assert!(desk.ask("INFO stats").contains(" expired_keys:0 "));
}

/// What came in one read may take long to execute; a key must not be gone before its time is set.
#[test]
fn times_count_from_the_command_and_not_from_its_batch() {
    let mut desk = Desk::with(&[("enable-debug-command", "yes")]);
    desk.ask("BF.ADD dumped x");
    let payload = desk.bulk(&[b"DUMP", b"dumped"]);
    desk.shared.stopped_clock.store(0, Ordering::Relaxed);
    let begun = now();
    let mut requests = b"BF.ADD a x\r\nDEBUG SLEEP 0.05\r\nPEXPIRE a 100000\r\n".to_vec();
    requests.extend_from_slice(
        format!("*4\r\n$7\r\nRESTORE\r\n$1\r\nb\r\n$6\r\n100000\r\n${}\r\n", payload.len()).as_bytes(),
    );
    requests.extend_from_slice(&payload);
    requests.extend_from_slice(b"\r\n");
    assert_eq!(desk.together(&requests), b":1\r\n+OK\r\n:1\r\n+OK\r\n");
    for key in ["a", "b"] {
        let end: u64 = desk.ask(&format!("PEXPIRETIME {key}"))[1..].parse().unwrap();
        assert!(end >= begun + 50 + 100_000, "{key}: {} too early", begun + 50 + 100_000 - end);
    }
}

#[test]
fn ends_under_conditions() {
    Desk::new().play(&[
        ("SETBIT a 1 1", ":0"),
        ("EXPIRE a 10 XX", ":0"),
        ("EXPIRE a 10 GT", ":0"),
        ("EXPIRE a 10 LT", ":1"),
        ("EXPIRE a 20 NX", ":0"),
        ("EXPIRE a 20 LT", ":0"),
        ("EXPIRE a 10 GT", ":0"),
        ("EXPIRE a 20 gt", ":1"),
        ("EXPIRE a 30 xx", ":1"),
        ("EXPIRE a 5 xx lt", ":1"),
        ("TTL a", ":5"),
        ("PERSIST a", ":1"),
        ("EXPIRE a 7 NX", ":1"),
        ("EXPIRE a -1 NX", ":0"),
        ("EXPIRE a -1 LT", ":1"),
        ("EXISTS a", ":0"),
    ]);
}

#[test]
fn what_is_no_time_is_refused() {
    Desk::new().play(&[
        ("EXPIRE a", "-ERR wrong number of arguments for 'expire' command"),
        ("EXPIRE a b", "-ERR value is not an integer or out of range"),
        ("EXPIRE a 1 foo", "-ERR Unsupported option foo"),
        ("PEXPIREAT a x foo", "-ERR Unsupported option foo"),
        ("EXPIRE a 1 nx xx", "-ERR NX and XX, GT or LT options at the same time are not compatible"),
        ("EXPIRE a 1 gt lt", "-ERR GT and LT options at the same time are not compatible"),
        ("EXPIRE a 99999999999999999", "-ERR invalid expire time in 'expire' command"),
        ("EXPIREAT a 99999999999999999", "-ERR invalid expire time in 'expireat' command"),
        ("PEXPIRE a 9223372036854775807", "-ERR invalid expire time in 'pexpire' command"),
        ("PEXPIREAT a 9223372036854775807", ":0"),
    ]);
}
