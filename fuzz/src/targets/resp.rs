//! The server's protocol: any bytes, through its parser and through a whole server.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use mayhap_server::resp::{Limits, Parsed, ProtocolError, RequestParser};
use mayhap_server::{Handle, Server, Settings};

use crate::Target;

/// See [`run`].
pub const TARGET: Target = Target {
    name: "resp",
    about: "requests to a server: pieces parse as the whole does, each gets a reply, broken ones an error",
    run,
    seeds,
    largest_allocation: 16 << 20,
};

/// As the settings of the server below have it.
const LIMITS: Limits = Limits { request_bytes: 1 << 20, arguments: 1024 };

/// Words with which a client stops the server, changes its limits or ends its own connection.
const STOPPING: [&str; 3] = ["shutdown", "config", "debug"];
const ENDING: [&str; 4] = ["quit", "client", "reset", "hello"];

/// Parses the input as a whole and in pieces, which must agree. Then sends it to a server: there must be as many replies
/// as there were requests, and one more, an error, if what followed them was none.
pub fn run(data: &[u8]) {
    let whole = parse(data, data.len().max(1));
    for piece in [1, 7, 64] {
        // Byte by byte, a long input takes long.
        if data.len() / piece < 4096 {
            assert_eq!(parse(data, piece), whole, "in pieces of {piece}");
        }
    }
    let text = data.to_ascii_lowercase();
    let has = |words: &[&str]| {
        words.iter().any(|word| text.windows(word.len()).any(|window| window == word.as_bytes()))
    };
    if has(&STOPPING) {
        return;
    }
    let server = server();
    server.handle.shared().keyspace.clear();
    let replies = exchange(server.address, data);
    let kinds = kinds(&replies);
    if !has(&ENDING) {
        let expected = whole.requests.iter().filter(|words| !words.is_empty()).count();
        assert_eq!(kinds.len(), expected + usize::from(whole.error.is_some()), "replies");
        assert!(whole.error.is_none() || kinds.last() == Some(&b'-'), "no error at the end");
    }
    assert_eq!(exchange(server.address, b"PING\r\n"), b"+PONG\r\n");
}

/// What the parser made of an input.
#[derive(Debug, Default, PartialEq)]
struct Requests {
    requests: Vec<Vec<Vec<u8>>>,
    error: Option<ProtocolError>,
}

/// Hands the parser so many bytes more each time.
fn parse(data: &[u8], piece: usize) -> Requests {
    let mut parser = RequestParser::default();
    let mut parsed = Requests::default();
    let (mut from, mut to) = (0, piece.min(data.len()));
    loop {
        let mut words = Vec::new();
        match parser.parse(&data[from..to], &LIMITS, &mut words) {
            Ok(Parsed::Whole(length)) => {
                assert!(length > 0, "a request of no bytes");
                parsed.requests.push(words.iter().map(|word| word.to_vec()).collect());
                from += length;
            }
            Ok(Parsed::Inline(length, words)) => {
                assert!(length > 0, "a request of no bytes");
                parsed.requests.push(words);
                from += length;
            }
            Ok(Parsed::More) if to == data.len() => return parsed,
            Ok(Parsed::More) => to = (to + piece).min(data.len()),
            Err(error) => {
                parsed.error = Some(error);
                return parsed;
            }
        }
    }
}

/// Sends all, says that this was all, and reads until the server ends the connection.
fn exchange(address: SocketAddr, data: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a time limit");
    let mut replies = Vec::new();
    thread::scope(|scope| {
        let mut half = stream.try_clone().expect("a second handle");
        scope.spawn(move || {
            // The server may have had enough before this.
            let _ = half.write_all(data).and_then(|()| half.shutdown(Shutdown::Write));
        });
        // A connection that is ended while input is on its way may be reset.
        let _ = stream.read_to_end(&mut replies);
    });
    replies
}

/// The first byte of each reply. They must be well formed to the end.
fn kinds(mut replies: &[u8]) -> Vec<u8> {
    let mut kinds = Vec::new();
    while let Some(kind) = replies.first() {
        kinds.push(*kind);
        let mut missing = 1;
        while missing > 0 {
            let end = replies.windows(2).position(|pair| pair == b"\r\n").expect("a line end");
            let (line, rest) = (&replies[..end], &replies[end + 2..]);
            let number = || std::str::from_utf8(&line[1..]).ok().and_then(|text| text.parse::<usize>().ok());
            replies = rest;
            missing -= 1;
            match line.first() {
                Some(b'+' | b'-' | b':' | b'_' | b'#' | b',') => {}
                Some(b'$') if line == b"$-1" => {}
                Some(b'$') => {
                    let length = number().expect("a length");
                    assert_eq!(rest.get(length..length + 2), Some(&b"\r\n"[..]), "the end of a string");
                    replies = &rest[length + 2..];
                }
                Some(b'*') if line == b"*-1" => {}
                Some(b'*' | b'~') => missing += number().expect("a length"),
                Some(b'%') => missing += 2 * number().expect("a length"),
                _ => panic!("not a reply: {}", line.escape_ascii()),
            }
        }
    }
    kinds
}

/// One for all inputs: it must survive them.
struct Running {
    address: SocketAddr,
    handle: Handle,
}

fn server() -> &'static Running {
    static SERVER: OnceLock<Running> = OnceLock::new();
    SERVER.get_or_init(|| {
        let mut settings = Settings::new().expect("random bytes");
        for (name, value) in [
            ("port", "0"),
            ("threads", "1"),
            ("log-level", "error"),
            ("max-request-bytes", "1mb"),
            ("max-arguments", "1024"),
            ("maxmemory", "32mb"),
            ("maxmemory-transfers", "4mb"),
            ("filter-max-bytes", "1mb"),
            ("secret-key", "000102030405060708090a0b0c0d0e0f"),
        ] {
            settings.set(name, value).expect("a setting");
        }
        let server = Server::bind(settings).expect("a free port");
        let running = Running { address: server.local_addr(), handle: server.handle() };
        thread::spawn(move || server.run());
        running
    })
}

fn seeds() -> Vec<Vec<u8>> {
    let array = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let mut request = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            request.extend(format!("${}\r\n{word}\r\n", word.len()).bytes());
        }
        request
    };
    let lines = [
        "PING",
        "BF.ADD k a",
        "BF.ADD k b",
        "BF.EXISTS k a",
        "BF.MADD k a b c d",
        "BF.RESERVE r 0.01 100 EXPANSION 2",
        "BF.INSERT i CAPACITY 10 ERROR 0.1 ITEMS a b",
        "BF.INFO k",
        "BF.SCANDUMP k 0",
        "BF.LOADCHUNK l 1 header",
        "CF.RESERVE c 64 BUCKETSIZE 2 MAXITERATIONS 5 EXPANSION 1",
        "CF.INSERTNX c ITEMS a b a",
        "CF.ADD c a",
        "CF.DEL c a",
        "CF.SCANDUMP c 1",
        "SCAN 0 MATCH * COUNT 10",
        "EXPIRE k 100",
        "DUMP k",
        "RESTORE s 0 bytes",
        "SETBIT b 100 1",
        "BITCOUNT b 0 -1",
        "RENAME k m",
        "NOSUCH command",
    ];
    let mut seeds: Vec<Vec<u8>> = lines.iter().map(|line| array(line)).collect();
    seeds.push(lines.iter().flat_map(|line| array(line)).collect());
    seeds.push(lines.iter().flat_map(|line| format!("{line}\r\n").into_bytes()).collect());
    seeds.push(b"BF.ADD k \"quoted \\x00 \\n\"\nBF.ADD k 'single'\n\r\nPING\r\n".to_vec());
    seeds.push((0..200).flat_map(|number| array(&format!("BF.ADD k {number}"))).collect());
    seeds.push(b"*2\r\n$4\r\nECHO\r\n$9223372036854775807\r\n".to_vec());
    seeds.push(b"*9223372036854775807\r\n$4\r\n".to_vec());
    seeds.push(b"*0\r\n*-1\r\n*1\r\n$4\r\nPING\r\n*1\r\n$-1\r\n".to_vec());
    seeds.push(b"*3\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nAUTH\r\n".to_vec());
    seeds
        .push([&b"*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n"[..], &array("BF.INFO k"), &array("BF.ADD k a")].concat());
    seeds
}
