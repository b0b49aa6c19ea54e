//! `mayhap serve`, as a program.

mod run;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use run::{Directory, command, fails, mayhap};

/// A server, and the address it says it has.
fn start(arguments: &[&str]) -> (Child, String) {
    let mut all = vec!["serve", "--port", "0"];
    all.extend_from_slice(arguments);
    let mut child = command(&all).spawn().expect("the program starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("stdout is piped")).read_line(&mut line).expect("a line");
    let address =
        line.split(" serves on ").nth(1).and_then(|rest| rest.split(' ').next()).expect("an address");
    assert!(line.contains("redis-cli -h 127.0.0.1 -p "), "{line}");
    (child, address.to_owned())
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
}

fn end(mut child: Child) -> (Option<i32>, String) {
    let deadline = Instant::now() + Duration::from_secs(20);
    let status = loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            break status;
        }
        assert!(Instant::now() < deadline, "it doesn't end");
        std::thread::sleep(Duration::from_millis(10));
    };
    let mut log = String::new();
    child.stderr.take().expect("stderr is piped").read_to_string(&mut log).expect("text");
    (status.code(), log)
}

#[test]
fn it_serves_and_stops_when_told() {
    for name in ["-TERM", "-INT"] {
        let (child, address) = start(&["--threads", "1"]);
        let mut client = TcpStream::connect(address).expect("a connection");
        client.write_all(b"PING\r\nBF.ADD users alice\r\n").expect("it is taken");
        let mut replies = [0; 11];
        client.read_exact(&mut replies).expect("replies");
        assert_eq!(&replies, b"+PONG\r\n:1\r\n");
        signal(&child, name);
        let (code, log) = end(child);
        assert_eq!(code, Some(0), "{log}");
        assert!(log.contains("level=info event=listening address=127.0.0.1:"), "{log}");
        assert!(log.contains("event=stopped"), "{log}");
    }
}

#[test]
fn a_second_signal_stops_at_once() {
    let (child, address) = start(&["--set", "shutdown-timeout=1000"]);
    let mut client = TcpStream::connect(address).expect("a connection");
    // Replies that nobody takes.
    let word = vec![b'x'; 1 << 20];
    for _ in 0..16 {
        client.write_all(format!("*2\r\n$4\r\nECHO\r\n${}\r\n", word.len()).as_bytes()).expect("it is taken");
        client.write_all(&word).and_then(|()| client.write_all(b"\r\n")).expect("it is taken");
    }
    signal(&child, "-TERM");
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "-TERM");
    assert_eq!(end(child).0, Some(0));
}

#[test]
fn settings_come_from_everywhere() {
    let directory = Directory::new("serve");
    let file =
        directory.file("mayhap.toml", b"threads = 2\nlog-level = \"debug\"\n[bf]\nlayout = \"redisbloom\"\n");
    let output = mayhap(&["serve", "--config", &file, "--set", "maxmemory=1gb", "--check-config"], b"");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "the settings are right\n");
    let wrong = directory.file("wrong.toml", b"thread = 2\n");
    fails(
        &["serve", "--config", &wrong, "--check-config"],
        b"",
        "wrong.toml: thread: there is no such setting",
    );
    let broken = directory.file("broken.toml", b"threads = = 2\n");
    fails(&["serve", "--config", &broken, "--check-config"], b"", "broken.toml: ");
    fails(&["serve", "--config", "/no/such/file"], b"", "/no/such/file: ");
    fails(&["serve", "--set", "maxmemory"], b"", "--set takes a name and a value");
    fails(&["serve", "--set", "maxmemroy=1"], b"", "there is no setting \"maxmemroy\"");
    fails(&["serve", "--set", "maxmemory=much"], b"", "maxmemory must be a number of bytes");
    fails(&["serve", "--bind", "nowhere"], b"", "bind must be an address");
    let mut environment = command(&["serve", "--check-config"]);
    let output = environment.env("MAYHAP_TIMEOUT", "soon").output().expect("the program runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .contains("in the environment: MAYHAP_TIMEOUT: timeout must be")
    );
}

#[test]
fn a_port_that_is_taken_is_told() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    fails(&["serve", "--port", &port], b"", "is another server running there?");
}
