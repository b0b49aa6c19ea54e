//! What `maxmemory` is compared with is what keys and values really take, also if they are small and many.

#![cfg(target_os = "linux")]

mod running;

use running::{Client, Running};

const KEYS: usize = 20_000;

/// The memory of this process that is in use, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim_end_matches("kB").trim().parse::<u64>().expect("a number") * 1024
}

/// Gives a command to each of many keys, whose names begin with a letter of its own.
fn fill(client: &mut Client, letter: char, command: &str, reply: &str) {
    for thousand in 0..KEYS / 1000 {
        let line = |key: usize| command.replace("KEY", &format!("{letter}:{thousand}:{key}")) + "\r\n";
        client.send((0..1000).map(line).collect::<String>());
        client.expect(reply.repeat(1000));
    }
}

/// One test, because all tests of a file share the process whose memory is looked at. Nothing is removed: what is free
/// and not given back would be used by what comes next.
#[test]
fn small_values_are_counted_as_what_they_take() {
    for layout in ["native", "redisbloom"] {
        let server = Running::with(&[("bf-layout", layout), ("cf-layout", layout), ("threads", "1")]);
        let mut client = server.connect();
        client.ask("PING\r\n", "+PONG\r\n");
        for (letter, command, reply) in [
            ('a', "SETBIT KEY 7 1", ":0\r\n"),
            ('b', "BF.ADD KEY x", ":1\r\n"),
            ('c', "BF.RESERVE KEY 0.01 10", "+OK\r\n"),
            ('d', "BF.RESERVE KEY 0.001 1000", "+OK\r\n"),
            ('e', "CF.ADD KEY x", ":1\r\n"),
            ('f', "CF.RESERVE KEY 8", "+OK\r\n"),
        ] {
            let keyspace = &server.handle.shared().keyspace;
            let before = (keyspace.used_bytes(), resident());
            fill(&mut client, letter, command, reply);
            let (counted, taken) = (keyspace.used_bytes() - before.0, resident() - before.1);
            let ratio = counted as f64 / taken as f64;
            println!(
                "{layout}, {command}: {} counted, {} taken for each: {ratio:.2}",
                counted / KEYS as u64,
                taken / KEYS as u64
            );
            assert!((0.75..1.25).contains(&ratio), "{layout}, {command}: {counted} counted, {taken} taken");
        }
        // Its memory isn't given back to the second.
        std::mem::forget(client);
        std::mem::forget(server);
    }
}
