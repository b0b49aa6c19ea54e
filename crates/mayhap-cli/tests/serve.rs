//! `mayhap serve`, as a program.

mod run;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use run::{Directory, command, fails, mayhap};

/// A server, and the address it says it has.
fn start(arguments: &[&str]) -> (Child, String) {
    let mut all = vec!["serve", "--port", "0"];
    all.extend_from_slice(arguments);
    started(&mut command(&all))
}

fn started(command: &mut Command) -> (Child, String) {
    let mut child = command.spawn().expect("the program starts");
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
        // A terminal that is closed doesn't end it.
        signal(&child, "-HUP");
        std::thread::sleep(Duration::from_millis(50));
        client.write_all(b"PING\r\n").expect("it is taken");
        client.read_exact(&mut replies[..7]).expect("a reply");
        assert_eq!(&replies[..7], b"+PONG\r\n");
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

/// How many of so many clients are answered by a server under a limit of open files, and what it wrote about it.
fn answered(limit: &str, maxclients: usize, clients: usize) -> (usize, String) {
    let program = env!("CARGO_BIN_EXE_mayhap");
    let serve = format!("serve --port 0 --threads 1 --set maxclients={maxclients}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit {limit} && exec '{program}' {serve}")]);
    let (child, address) = started(shell.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let clients: Vec<_> = (0..clients).map(|_| TcpStream::connect(&address).expect("a connection")).collect();
    let is_answered = |mut client: &TcpStream| {
        client.set_read_timeout(Some(Duration::from_secs(1))).expect("a time limit");
        client.write_all(b"PING\r\n").is_ok() && client.read_exact(&mut [0; 7]).is_ok()
    };
    // They are accepted in order: after one that isn't there is none.
    let answered = clients.iter().take_while(|client| is_answered(client)).count();
    drop(clients);
    signal(&child, "-TERM");
    (answered, end(child).1)
}

#[test]
fn the_limit_of_open_files_is_raised_for_clients() {
    let (count, log) = answered("-S -n 40", 60, 60);
    assert_eq!(count, 60, "{log}");
    assert!(!log.contains("warning"), "{log}");
}

#[test]
fn a_limit_of_open_files_that_cannot_be_raised_is_told() {
    let (count, log) = answered("-n 40", 60, 60);
    assert!((1..40).contains(&count), "{count}: {log}");
    assert!(log.contains("allows this process 40 open files, too few for maxclients 60"), "{log}");
    // Not with every attempt: there were ten in the second in which nobody was answered.
    assert!((1..5).contains(&log.matches("event=\"cannot accept connections\"").count()), "{log}");
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
    // A name that `CONFIG GET *` has isn't denied.
    fails(&["serve", "--set", "appendonly=yes"], b"", "appendonly can only be \"no\" in this server");
    fails(
        &["serve", "--set", "appendonly=no", "--set", "save=", "--set", "save=60"],
        b"",
        "save can only be \"\"",
    );
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
