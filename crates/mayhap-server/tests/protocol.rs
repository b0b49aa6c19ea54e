//! The protocol, over real connections: every byte that goes in and comes out.

mod running;

use std::io::Read as _;
use std::thread;
use std::time::{Duration, Instant};

use running::{Running, array};

#[test]
fn requests_come_as_arrays_and_as_lines() {
    let server = Running::new();
    let mut client = server.connect();
    client.ask(array(&[b"PING"]), "+PONG\r\n");
    client.ask("PING\r\n", "+PONG\r\n");
    client.ask("ping\n", "+PONG\r\n");
    client.ask(array(&[b"PiNg", b"hello\r\n\0"]), "$8\r\nhello\r\n\0\r\n");
    client.ask("ECHO \"a b\\x41\\n\" \r\n", "$5\r\na bA\n\r\n");
    client.ask("ECHO 'it\\'s'\r\n", "$4\r\nit's\r\n");
    // Requests for nothing have no reply.
    client.ask("\r\n*0\r\n*-1\r\n  \r\nPING\r\n", "+PONG\r\n");
    client.ask(array(&[b"ECHO", b""]), "$0\r\n\r\n");
}

#[test]
fn unknown_commands_and_wrong_numbers_of_words_are_told() {
    let server = Running::new();
    let mut client = server.connect();
    client.ask("NOSUCH a b\r\n", "-ERR unknown command 'NOSUCH', with args beginning with: 'a' 'b' \r\n");
    client.ask("ECHO\r\n", "-ERR wrong number of arguments for 'echo' command\r\n");
    client.ask("PING a b\r\n", "-ERR wrong number of arguments for 'ping' command\r\n");
    client.ask("SELECT 0\r\n", "+OK\r\n");
    client.ask("SELECT 1\r\n", "-ERR DB index is out of range\r\n");
    client.ask("SELECT x\r\n", "-ERR value is not an integer or out of range\r\n");
    // It goes on.
    client.ask("PING\r\n", "+PONG\r\n");
}

#[test]
fn hello_chooses_the_protocol() {
    let server = Running::new();
    let mut client = server.connect();
    let id = |client: &running::Client| {
        let local = client.stream.local_addr().unwrap();
        server.handle.shared().clients.all().into_iter().find(|other| other.peer == local).unwrap().id
    };
    client.ask("PING\r\n", "+PONG\r\n");
    let fields = |proto: u8, id: u64| {
        format!(
            "$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n8.0.0\r\n$5\r\nproto\r\n:{proto}\r\n$2\r\nid\r\n:{id}\r\n\
             $4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n"
        )
    };
    let number = id(&client);
    client.ask("HELLO\r\n", format!("*14\r\n{}", fields(2, number)));
    client.ask("HELLO 3\r\n", format!("%7\r\n{}", fields(3, number)));
    client.ask("HELLO 3 AUTH default x SETNAME me\r\n", format!("%7\r\n{}", fields(3, number)));
    assert_eq!(server.handle.shared().clients.find(number).unwrap().names().name, "me");
    client.ask("HELLO 4\r\n", "-NOPROTO unsupported protocol version\r\n");
    client.ask("HELLO x\r\n", "-ERR Protocol version is not an integer or out of range\r\n");
    client.ask("HELLO 2 SETNAME\r\n", "-ERR Syntax error in HELLO option 'SETNAME'\r\n");
    client
        .ask("HELLO 2 AUTH bob x\r\n", "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
    // None of these changed anything.
    client.ask("HELLO\r\n", format!("%7\r\n{}", fields(3, number)));
    client.ask("RESET\r\n", "+RESET\r\n");
    client.ask("HELLO\r\n", format!("*14\r\n{}", fields(2, number)));
    assert_eq!(server.handle.shared().clients.find(number).unwrap().names().name, "");
}

#[test]
fn a_pipeline_is_answered_in_order() {
    let server = Running::new();
    let mut client = server.connect();
    let (mut requests, mut replies) = (Vec::new(), Vec::new());
    for number in 0..20_000 {
        let word = format!("word {number}");
        requests.extend(array(&[b"ECHO", word.as_bytes()]));
        replies.extend(format!("${}\r\n{word}\r\n", word.len()).into_bytes());
        if number % 7 == 0 {
            requests.extend(b"PING\r\n");
            replies.extend(b"+PONG\r\n");
        }
    }
    let mut sender = client.stream.try_clone().unwrap();
    let writing = thread::spawn(move || std::io::Write::write_all(&mut sender, &requests).unwrap());
    client.expect(&replies);
    writing.join().unwrap();
}

#[test]
fn a_client_may_send_everything_before_it_reads() {
    // More than the sockets hold, in both directions: the server must keep the replies, or both would wait for ever.
    let server = Running::new();
    let mut client = server.connect();
    let word = vec![b'x'; 1000];
    let (mut requests, mut replies) = (Vec::new(), Vec::new());
    for _ in 0..20_000 {
        requests.extend(array(&[b"ECHO", &word]));
        replies.extend(b"$1000\r\n");
        replies.extend(&word);
        replies.extend(b"\r\n");
    }
    client.send(&requests);
    client.expect(&replies);
}

#[test]
fn a_request_in_pieces_is_one_request() {
    let server = Running::new();
    let mut client = server.connect();
    for byte in array(&[b"ECHO", b"hello"]) {
        client.send([byte]);
        thread::sleep(Duration::from_millis(1));
    }
    client.expect("$5\r\nhello\r\n");
    // Longer than what one read takes, and the buffer that is lent.
    let long: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
    let mut reply = format!("${}\r\n", long.len()).into_bytes();
    reply.extend_from_slice(&long);
    reply.extend_from_slice(b"\r\n");
    let request = array(&[b"ECHO", &long]);
    for _ in 0..2 {
        for piece in request.chunks(300_000) {
            client.send(piece);
            thread::sleep(Duration::from_millis(2));
        }
        client.expect(&reply);
    }
    client.ask("PING\r\n", "+PONG\r\n");
}

#[test]
fn what_breaks_the_protocol_ends_the_connection_with_an_error() {
    let server = Running::with(&[("max-request-bytes", "1mb"), ("max-arguments", "100")]);
    let long_line = [b'x'; 70_000];
    let cases: &[(&[u8], &str)] = &[
        (b"*x\r\n", "invalid multibulk length"),
        (b"*101\r\n", "invalid multibulk length"),
        (b"*9223372036854775807\r\n", "invalid multibulk length"),
        (b"*99999999999999999999999\r\n", "invalid multibulk length"),
        (b"*1\r\n$9223372036854775807\r\n", "invalid bulk length"),
        (b"*1\r\n$-1\r\n", "invalid bulk length"),
        (b"*2\r\n$4\r\nECHO\r\n$1048577\r\n", "invalid bulk length"),
        (b"*2\r\n$4\r\nECHO\r\n$1048576\r\n", "too big request"),
        (b"*1\r\n+PING\r\n", "expected \\'$\\', got \\'+\\'"),
        (b"*1\r\n$4\r\nPINGxxxx", "expected a line end after a bulk string"),
        (b"ECHO \"a\r\n", "unbalanced quotes in request"),
        (&long_line, "too big inline request"),
        (b"POST / HTTP/1.1\r\n", "this is a request of HTTP, and nothing of it is executed"),
    ];
    for (request, error) in cases {
        let mut client = server.connect();
        // What came before is answered, what comes after is not.
        client.send(b"PING\r\n");
        client.send(request);
        client.send(b"\r\nPING\r\n");
        assert_eq!(client.rest(), format!("+PONG\\r\\n-ERR Protocol error: {error}\\r\\n"));
    }
}

/// A page that somebody looks at can have his browser send this to a server on his machine.
#[test]
fn commands_inside_a_request_of_http_are_not_executed() {
    let server = Running::new();
    server.connect().ask("BF.ADD seen a\r\n", ":1\r\n");
    for (method, header) in [("POST", "Accept: */*"), ("GET", "Host: 127.0.0.1:25666"), ("PUT", "hOST: x")] {
        let mut browser = server.connect();
        browser.send(format!("{method} / HTTP/1.1\r\n{header}\r\nContent-Length: 10\r\n\r\nFLUSHALL\r\n"));
        let replies = browser.rest();
        assert!(
            replies.ends_with(
                "-ERR Protocol error: this is a request of HTTP, and nothing of it is executed\\r\\n"
            ),
            "{replies}"
        );
    }
    server.connect().ask("DBSIZE\r\n", ":1\r\n");
}

#[test]
fn lengths_that_are_only_announced_take_no_memory() {
    let server = Running::new();
    let mut clients: Vec<_> = (0..50).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.send(b"*1000000\r\n$4\r\nECHO\r\n$500000000\r\nabc");
    }
    let shared = server.handle.shared();
    wait_until(|| shared.clients.all().iter().filter(|client| client.input_bytes() > 0).count() == 50);
    assert!(shared.clients.all().iter().all(|client| client.input_bytes() < 100));
    server.connect().ask("PING\r\n", "+PONG\r\n");
}

#[test]
fn quit_answers_and_ends() {
    let server = Running::new();
    let mut client = server.connect();
    client.send("PING\r\nQUIT\r\nPING\r\n");
    assert_eq!(client.rest(), "+PONG\\r\\n+OK\\r\\n");
    // A client that closes its side first still gets its answers.
    let mut client = server.connect();
    client.send("PING\r\nECHO half");
    client.finish();
    assert_eq!(client.rest(), "+PONG\\r\\n");
    wait_until(|| server.handle.shared().clients.is_empty());
}

#[test]
fn a_client_that_does_not_read_is_disconnected_and_holds_nobody_up() {
    let server = Running::with(&[("client-output-limit", "1mb"), ("threads", "1")]);
    let mut slow = server.connect();
    let word = vec![b'x'; 60_000];
    let request = array(&[b"ECHO", &word]);
    let mut sender = slow.stream.try_clone().unwrap();
    let sending = thread::spawn(move || {
        for _ in 0..2000 {
            if std::io::Write::write_all(&mut sender, &request).is_err() {
                return true;
            }
        }
        false
    });
    for _ in 0..100 {
        server.connect().ask("PING\r\n", "+PONG\r\n");
    }
    assert!(sending.join().unwrap(), "the server took everything");
    let mut taken = vec![0; 1 << 16];
    let end = Instant::now() + Duration::from_secs(10);
    while let Ok(1..) = slow.stream.read(&mut taken) {
        assert!(Instant::now() < end);
    }
    wait_until(|| server.handle.shared().clients.is_empty());
}

#[test]
fn all_buffers_together_have_a_limit() {
    let server = Running::with(&[("maxmemory-clients", "4mb"), ("threads", "1")]);
    let mut clients: Vec<_> = (0..20).map(|_| server.connect()).collect();
    clients.iter_mut().for_each(|client| client.ask("PING\r\n", "+PONG\r\n"));
    let half = vec![b'x'; 500_000];
    let mut refused = 0;
    for client in &mut clients {
        client.send(b"*2\r\n$4\r\nECHO\r\n$1000000\r\n");
        refused += usize::from(std::io::Write::write_all(&mut client.stream, &half).is_err());
    }
    let shared = server.handle.shared();
    wait_until(|| shared.clients.len() <= 9);
    assert!(refused <= 20 && shared.clients.len() >= 3, "{} are left", shared.clients.len());
    server.connect().ask("PING\r\n", "+PONG\r\n");
}

#[test]
fn silent_clients_are_disconnected_if_told_so() {
    let server = Running::with(&[("timeout", "1"), ("stall-timeout", "1")]);
    let mut silent = server.connect();
    let mut half = server.connect();
    half.send("*1\r\n$4\r\nPI");
    silent.expect_end();
    half.expect_end();
    let server = Running::with(&[("stall-timeout", "1")]);
    let (mut silent, mut half) = (server.connect(), server.connect());
    half.send("*1\r\n$4\r\nPI");
    half.expect_end();
    silent.ask("PING\r\n", "+PONG\r\n");
}

#[test]
fn more_clients_than_allowed_are_refused() {
    let server = Running::with(&[("maxclients", "3")]);
    let mut clients: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.ask("PING\r\n", "+PONG\r\n");
    }
    assert_eq!(server.connect().rest(), "-ERR max number of clients reached\\r\\n");
    drop(clients);
    wait_until(|| server.handle.shared().clients.is_empty());
    server.connect().ask("PING\r\n", "+PONG\r\n");
    assert_eq!(server.handle.shared().statistics.rejected_connections(), 1);
}

#[test]
fn a_thousand_idle_clients_and_a_hundred_busy_ones() {
    let server = Running::new();
    let mut idle: Vec<_> = (0..1000).map(|_| server.connect()).collect();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut busy: Vec<_> = (0..25).map(|_| server.connect()).collect();
                for _ in 0..40 {
                    busy.iter_mut().for_each(|client| client.send("PING\r\nECHO a\r\n".repeat(16)));
                    busy.iter_mut().for_each(|client| client.expect("+PONG\r\n$1\r\na\r\n".repeat(16)));
                }
            });
        }
    });
    for client in &mut idle {
        client.ask("PING\r\n", "+PONG\r\n");
    }
}

#[test]
fn a_killed_client_is_gone_at_once() {
    let server = Running::new();
    let (mut first, mut second) = (server.connect(), server.connect());
    first.ask("PING\r\n", "+PONG\r\n");
    second.ask("PING\r\n", "+PONG\r\n");
    let shared = server.handle.shared();
    let local = first.stream.local_addr().unwrap();
    let client = shared.clients.all().into_iter().find(|client| client.peer == local).unwrap();
    shared.kill(&client);
    first.expect_end();
    second.ask("PING\r\n", "+PONG\r\n");
}

#[test]
fn a_stop_answers_what_was_sent() {
    let server = Running::new();
    let mut clients: Vec<_> = (0..20).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.ask("PING\r\n", "+PONG\r\n");
        client.send("ECHO last\r\n".repeat(100));
    }
    let address = server.address;
    server.handle.shutdown();
    for client in &mut clients {
        assert_eq!(client.rest(), "$4\\r\\nlast\\r\\n".repeat(100));
    }
    server.join();
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn a_stop_waits_for_replies_to_be_taken_but_not_for_ever() {
    let server = Running::with(&[("shutdown-timeout", "1")]);
    let mut slow = server.connect();
    let word = vec![b'x'; 1 << 20];
    for _ in 0..16 {
        slow.command(&[b"ECHO", &word]);
    }
    wait_until(|| server.handle.shared().clients.all().iter().any(|client| client.output_bytes() > 0));
    let start = Instant::now();
    server.handle.shutdown();
    server.join();
    assert!(start.elapsed() < Duration::from_secs(5));
}

/// Whatever its threads are in the middle of.
#[test]
fn a_stop_at_once_does_not_wait_for_a_command() {
    for is_told_twice in [false, true] {
        let timeout = if is_told_twice { "100" } else { "1" };
        let settings = [("enable-debug-command", "yes"), ("shutdown-timeout", timeout), ("threads", "1")];
        let server = Running::with(&settings);
        let mut client = server.connect();
        client.ask("PING\r\n", "+PONG\r\n");
        client.send("PING\r\nDEBUG SLEEP 30\r\nDEBUG SLEEP 30\r\n");
        thread::sleep(Duration::from_millis(100));
        let start = Instant::now();
        server.handle.shutdown();
        if is_told_twice {
            server.handle.stop_now();
        }
        server.join();
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < end, "it takes too long");
        thread::sleep(Duration::from_millis(5));
    }
}
