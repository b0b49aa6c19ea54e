//! A server for one test, and connections to it.

#![allow(dead_code, unreachable_pub)] // Each test file includes this one and uses its part.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use mayhap_server::{Handle, Server, Settings};

/// Longer than anything takes that works.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server on a port of its own, stopped at the end.
#[derive(Debug)]
pub struct Running {
    pub address: SocketAddr,
    pub handle: Handle,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Running {
    /// With these settings beside the defaults of tests.
    pub fn with(settings: &[(&str, &str)]) -> Self {
        let mut all = Settings::new().expect("random bytes");
        for (name, value) in [("port", "0"), ("threads", "2"), ("log-level", "error")].iter().chain(settings)
        {
            all.set(name, value).expect("a setting");
        }
        let server = Server::bind(all).expect("a free port");
        let (address, handle) = (server.local_addr(), server.handle());
        let thread = Some(std::thread::spawn(move || server.run()));
        Self { address, handle, thread }
    }

    pub fn new() -> Self {
        Self::with(&[])
    }

    pub fn connect(&self) -> Client {
        let stream = TcpStream::connect(self.address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
        stream.set_write_timeout(Some(PATIENCE)).expect("a time limit");
        stream.set_nodelay(true).expect("no delay");
        Client { stream }
    }

    /// Waits for the end of a server that was told to stop.
    pub fn join(mut self) {
        self.wait();
    }

    fn wait(&mut self) {
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server doesn't panic").expect("the server ends well");
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.handle.stop_now();
        if !std::thread::panicking() {
            self.wait();
        }
    }
}

/// A connection whose every byte is looked at.
#[derive(Debug)]
pub struct Client {
    pub stream: TcpStream,
}

impl Client {
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).expect("the server takes it");
    }

    /// Sends words as an array.
    pub fn command(&mut self, words: &[&[u8]]) {
        self.send(array(words));
    }

    /// Reads as much as is expected, and compares.
    pub fn expect(&mut self, expected: impl AsRef<[u8]>) {
        let expected = expected.as_ref();
        let mut got = vec![0; expected.len()];
        let mut len = 0;
        while len < got.len() {
            match self.stream.read(&mut got[len..]) {
                Ok(0) => break,
                Ok(read) => len += read,
                Err(error) => panic!("{error} after {:?}", got[..len].escape_ascii().to_string()),
            }
        }
        let (got, expected) = (got[..len].escape_ascii().to_string(), expected.escape_ascii().to_string());
        assert_eq!(got, expected);
    }

    /// Sends a line or an array, and expects a reply.
    pub fn ask(&mut self, request: impl AsRef<[u8]>, expected: impl AsRef<[u8]>) {
        self.send(request);
        self.expect(expected);
    }

    /// All that comes until the server closes.
    pub fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            Err(error) => panic!("{error}: the connection is still open"),
        }
        rest.escape_ascii().to_string()
    }

    /// Expects that the server closes, and says nothing more.
    pub fn expect_end(&mut self) {
        assert_eq!(self.rest(), "");
    }

    /// Says that nothing more will be sent.
    pub fn finish(&mut self) {
        self.stream.shutdown(Shutdown::Write).expect("a half-closed connection");
    }
}

/// Words as an array of bulk strings.
pub fn array(words: &[&[u8]]) -> Vec<u8> {
    let mut request = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        request.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        request.extend_from_slice(word);
        request.extend_from_slice(b"\r\n");
    }
    request
}
