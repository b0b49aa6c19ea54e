//! Many clients at once: most of them silent, some busy, some in the middle of a word.

mod running;
mod talking;
#[path = "../../mayhap-commands/tests/transcript/mod.rs"]
mod transcript;

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use running::{Client, Running, array};
use talking::Talking;
use transcript::resp::Token;

const IDLE: usize = 1000;
const BUSY: usize = 100;

#[test]
fn a_thousand_silent_ones_and_a_hundred_at_work() {
    let (idle, busy) = within_the_limit_of_files();
    let server = Running::new();
    let mut silent: Vec<Client> = (0..idle).map(|_| server.connect()).collect();
    let mut first = server.connect();
    first.ask("BF.RESERVE all 0.000001 1000\r\n", "+OK\r\n");
    // Each has filters of its own and one that all share; every reply is known beforehand.
    let rounds = 20;
    let per_thread = busy.div_ceil(10);
    thread::scope(|scope| {
        for thread in 0..10 {
            let server = &server;
            scope.spawn(move || {
                let mut clients: Vec<Client> = (0..per_thread).map(|_| server.connect()).collect();
                for round in 0..rounds {
                    for (number, client) in clients.iter_mut().enumerate() {
                        let own = format!("own {thread} {number}");
                        let item = format!("{thread} {number} {round}");
                        for words in [
                            ["BF.ADD", "all", &item],
                            ["BF.EXISTS", "all", &item],
                            ["CF.ADD", &own, &item],
                            ["CF.DEL", &own, &item],
                            ["CF.EXISTS", &own, &item],
                        ] {
                            client.send(array(&words.map(str::as_bytes)));
                        }
                    }
                    for client in &mut clients {
                        client.expect(":1\r\n:1\r\n:1\r\n:1\r\n:0\r\n");
                    }
                }
            });
        }
    });
    first.ask("BF.CARD all\r\n", format!(":{}\r\n", per_thread * 10 * rounds));
    assert!(server.handle.shared().clients.len() > idle);
    for client in &mut silent {
        client.ask("PING\r\n", "+PONG\r\n");
    }
    drop(silent);
    wait_until(|| server.handle.shared().clients.len() <= 1);
}

#[test]
fn whoever_waits_in_the_middle_of_a_word_holds_nobody_up() {
    let server = Running::with(&[("threads", "1")]);
    let request = array(&[b"BF.ADD", b"half", b"an item"]);
    // A client for each place where the request can be cut.
    let mut waiting: Vec<Client> = (1..request.len())
        .map(|cut| {
            let mut client = server.connect();
            client.send(&request[..cut]);
            client
        })
        .collect();
    let mut other = server.connect();
    other.ask("BF.CARD half\r\n", ":0\r\n");
    other.ask("BF.ADD half another\r\n", ":1\r\n");
    // Every second one gives up; what it has begun is never executed.
    let mut news = 0;
    for (index, mut client) in waiting.drain(..).enumerate() {
        if index % 2 == 0 {
            client.send(&request[index + 1..]);
            let mut reply = [0; 4];
            client.stream.read_exact(&mut reply).expect("a reply");
            news += u32::from(reply[1] - b'0');
        }
    }
    assert_eq!(news, 1);
    other.ask("BF.CARD half\r\n", ":2\r\n");
    wait_until(|| server.handle.shared().clients.len() == 1);
}

#[test]
fn whoever_stops_in_the_middle_of_a_word_is_disconnected_in_the_end() {
    let server = Running::with(&[("stall-timeout", "1")]);
    let mut silent = server.connect();
    let mut half = server.connect();
    half.send("*3\r\n$6\r\nBF.ADD\r\n$4\r\nha");
    let start = Instant::now();
    half.rest();
    assert!(start.elapsed() >= Duration::from_millis(900), "{:?}", start.elapsed());
    // One who owes nothing may be silent.
    silent.ask("PING\r\n", "+PONG\r\n");
}

#[test]
fn a_slow_reader_holds_neither_memory_nor_others() {
    let limit = 1 << 20;
    let server = Running::with(&[
        ("threads", "1"),
        ("client-output-limit", &limit.to_string()),
        ("stall-timeout", "2"),
        ("bf-layout", "redisbloom"),
    ]);
    let mut other = Talking::to(&server);
    // A dump of about 300 kB, asked for again and again by one who never looks.
    assert_eq!(other.run("BF.RESERVE large 0.01 200000"), [Token::Simple("OK".into())]);
    let slow = TcpStream::connect(server.address).expect("a connection");
    slow.set_nonblocking(true).expect("a socket that doesn't wait");
    let request = array(&[b"BF.SCANDUMP", b"large", b"1"]);
    let (start, mut slowest) = (Instant::now(), Duration::ZERO);
    let mut is_open = true;
    while is_open && start.elapsed() < Duration::from_secs(15) {
        match (&slow).write(&request) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(2)),
            result => is_open = result.is_ok(),
        }
        let before = Instant::now();
        assert_eq!(other.run("BF.ADD names somebody").len(), 1);
        slowest = slowest.max(before.elapsed());
        let waiting: u64 =
            server.handle.shared().clients.all().iter().map(|client| client.output_bytes()).sum();
        // The limit, and one reply that came to it.
        assert!(waiting <= limit + (1 << 20), "{waiting} bytes wait");
    }
    assert!(!is_open, "it is still connected");
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
}

/// Both ends of each connection are files of this process.
fn within_the_limit_of_files() -> (usize, usize) {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let most = limits.lines().find_map(|line| {
        line.strip_prefix("Max open files")?.split_whitespace().next()?.parse::<usize>().ok()
    });
    let room = most.unwrap_or(1 << 20).saturating_sub(100) / 2;
    if room >= IDLE + BUSY {
        return (IDLE, BUSY);
    }
    println!("only {room} connections: this process may open {most:?} files");
    (room.saturating_sub(room / 10), room / 10)
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(10), "it doesn't come to be so");
        thread::sleep(Duration::from_millis(5));
    }
}
