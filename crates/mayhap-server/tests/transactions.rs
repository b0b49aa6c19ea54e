//! Transactions among many clients: nobody sees the half of one, and nobody's change of a watched key goes unnoticed.

#![allow(clippy::unwrap_used, reason = "a check that panics has failed")]

mod running;

use std::io::Read as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use running::{Client, Running, array};

/// Lines as one request.
fn request(lines: &[&str]) -> Vec<u8> {
    lines.iter().flat_map(|line| array(&line.split(' ').map(str::as_bytes).collect::<Vec<_>>())).collect()
}

/// A line of a reply.
fn line(client: &mut Client) -> String {
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        let mut byte = [0];
        client.stream.read_exact(&mut byte).unwrap();
        line.push(byte[0]);
    }
    String::from_utf8_lossy(&line).trim_end().to_owned()
}

fn lines(client: &mut Client, count: usize) -> Vec<String> {
    (0..count).map(|_| line(client)).collect()
}

/// Each transaction adds one item to two filters, and takes one from a third to a fourth. Whoever looks, in a transaction
/// of his own or in one pipeline, sees both or none. The clients are on both workers.
#[test]
fn nobody_sees_half_of_a_transaction() {
    let server = Running::new();
    let is_over = AtomicBool::new(false);
    let seen = AtomicU64::new(0);
    server.connect().ask("CF.ADD c token\r\n", ":1\r\n");
    thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                let server = &server;
                scope.spawn(move || {
                    let mut client = server.connect();
                    for number in 0..1_000 {
                        let item = format!("{writer}:{number}");
                        client.ask(
                            request(&[
                                "MULTI",
                                &format!("BF.ADD a {item}"),
                                &format!("BF.ADD b {item}"),
                                "CF.DEL c token",
                                "CF.ADD c token",
                                "EXEC",
                            ]),
                            "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*4\r\n",
                        );
                        let replies = lines(&mut client, 4);
                        assert_eq!(replies[2..], [":1", ":1"], "the token was not there");
                        assert_eq!(replies[0], replies[1], "two filters that were always equal");
                    }
                })
            })
            .collect();
        for is_transaction in [true, true, false, false] {
            let (server, seen, is_over) = (&server, &seen, &is_over);
            scope.spawn(move || {
                let mut client = server.connect();
                let look = ["BF.CARD a", "CF.COUNT c token", "BF.CARD b"];
                // A long one: there is time for others in between. It is small enough to come in one piece.
                let pipeline = request(&[&look[..1], &["PING"; 500], &look[1..]].concat());
                while !is_over.load(Ordering::Relaxed) {
                    if is_transaction {
                        client.send(request(&[&["MULTI"], &look[..], &["EXEC"]].concat()));
                        client.expect("+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n");
                    } else {
                        client.send(&pipeline);
                    }
                    let first = line(&mut client);
                    if !is_transaction {
                        client.expect("+PONG\r\n".repeat(500));
                    }
                    let [token, second] = [line(&mut client), line(&mut client)];
                    assert_eq!(token, ":1", "the token was on its way");
                    assert_eq!(first, second, "one filter was ahead of the other");
                    seen.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        // Whatever becomes of the writers: the others have to end.
        let results: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        is_over.store(true, Ordering::Relaxed);
        assert!(results.iter().all(Result::is_ok));
    });
    assert!(seen.into_inner() > 100);
}

/// The textbook use: read, decide, write if nobody else has. A bit that two clients set is a change that went unnoticed.
#[test]
fn a_counter_by_watch_loses_no_step() {
    let server = Running::new();
    let steps: u64 = thread::scope(|scope| {
        let count = || {
            let mut client = server.connect();
            let mut done = 0;
            while done < 200 {
                client.send(request(&["WATCH bits", "BITCOUNT bits"]));
                client.expect("+OK\r\n");
                let next = line(&mut client);
                let set = format!("SETBIT bits {} 1", &next[1..]);
                client.ask(request(&["MULTI", &set, "EXEC"]), "+OK\r\n+QUEUED\r\n");
                match line(&mut client).as_str() {
                    "*-1" => {}
                    "*1" => {
                        client.expect(":0\r\n");
                        done += 1;
                    }
                    other => panic!("{other}"),
                }
            }
            done
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    server.connect().ask("BITCOUNT bits\r\n", format!(":{steps}\r\n"));
}

#[test]
fn somebody_else_s_change_is_seen() {
    let server = Running::new();
    let (mut one, mut two) = (server.connect(), server.connect());
    for change in
        ["BF.ADD k a", "BF.ADD k b", "DEL k", "BF.RESERVE k 0.01 10", "RENAME k l", "RENAME l k", "FLUSHALL"]
    {
        one.ask("WATCH k\r\n", "+OK\r\n");
        two.send(format!("{change}\r\n"));
        assert!(!line(&mut two).starts_with('-'), "{change}");
        one.ask(request(&["MULTI", "PING", "EXEC"]), "+OK\r\n+QUEUED\r\n*-1\r\n");
    }
    // Time passes for all, and the janitor's removal is a change like any.
    two.ask("BF.ADD k a\r\nPEXPIRE k 30\r\n", ":1\r\n:1\r\n");
    one.ask("WATCH k\r\n", "+OK\r\n");
    thread::sleep(Duration::from_millis(600));
    one.ask(request(&["MULTI", "PING", "EXEC"]), "+OK\r\n+QUEUED\r\n*-1\r\n");
    // A loaded filter comes with its last piece.
    two.ask("BF.ADD from a\r\n", ":1\r\n");
    two.send("BF.SCANDUMP from 0\r\n");
    let head = lines(&mut two, 3);
    let mut piece = vec![0; head[2][1..].parse().unwrap()];
    two.stream.read_exact(&mut piece).unwrap();
    two.expect("\r\n");
    one.ask("WATCH k\r\n", "+OK\r\n");
    two.ask(array(&[b"BF.LOADCHUNK", b"k", &head[1].as_bytes()[1..], &piece]), "+OK\r\n");
    one.ask(request(&["MULTI", "PING", "EXEC"]), "+OK\r\n+QUEUED\r\n*-1\r\n");
}

#[test]
fn half_a_transaction_is_none() {
    let server = Running::with(&[("client-output-limit", "64kb")]);
    let mut one = server.connect();
    one.ask(request(&["WATCH k", "MULTI", "BF.ADD k a"]), "+OK\r\n+OK\r\n+QUEUED\r\n");
    drop(one);
    let mut two = server.connect();
    two.ask("EXISTS k\r\n", ":0\r\n");
    // In pieces, one byte at a time.
    for byte in request(&["MULTI", "BF.ADD k a", "EXEC"]) {
        two.send([byte]);
    }
    two.expect("+OK\r\n+QUEUED\r\n*1\r\n:1\r\n");
    // More replies than may wait end the connection; the commands were executed.
    let long = "x".repeat(1_000);
    two.send("MULTI\r\n");
    two.send(format!("ECHO {long}\r\n").repeat(100));
    two.send("BF.ADD k b\r\nEXEC\r\nPING\r\n");
    let rest = two.rest();
    assert!(rest.ends_with(r"+QUEUED\r\n"), "{}", rest.len());
    server.connect().ask("BF.EXISTS k b\r\n", ":1\r\n");
}

#[test]
fn what_is_queued_counts_as_memory_of_clients() {
    let server = Running::with(&[("maxmemory-clients", "1mb")]);
    let mut greedy = server.connect();
    greedy.ask("MULTI\r\n", "+OK\r\n");
    let item = "x".repeat(10_000);
    for _ in 0..60 {
        greedy.ask(format!("BF.ADD k {item}\r\n"), "+QUEUED\r\n");
    }
    // What is told of a client is written down after its replies are sent.
    let listed = || {
        let mut other = server.connect();
        other.send("CLIENT LIST\r\n");
        line(&mut other);
        line(&mut other)
    };
    let start = Instant::now();
    let mut first = listed();
    while !first.contains(" multi=60 ") && start.elapsed() < Duration::from_secs(10) {
        first = listed();
    }
    assert!(
        first.contains(" flags=x ") && first.contains(" multi=60 ") && first.contains(" multi-mem=6"),
        "{first}"
    );
    greedy.send(format!("BF.ADD k {item}\r\n").repeat(60));
    assert!(greedy.rest().len() < 60 * 12, "the connection was not closed");
    // What it had is free again.
    let mut third = server.connect();
    third.ask(request(&["MULTI", &format!("BF.ADD k {item}"), "EXEC"]), "+OK\r\n+QUEUED\r\n*1\r\n:1\r\n");
}
