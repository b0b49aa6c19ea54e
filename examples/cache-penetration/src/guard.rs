//! The filter that is asked before anything else: in this process, or on a server.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use mayhap::BloomFilter;
use mayhap::hash::SecretKey;

/// A filter of the keys that exist.
pub trait Guard {
    /// Whether the key may exist; `false` is certain. An error if the filter can't say.
    fn may_exist(&mut self, key: &str) -> io::Result<bool>;

    /// Adds keys. Those that are in it already do no harm.
    fn add(&mut self, keys: &[&str]) -> io::Result<()>;

    /// Says that all keys are in it now, so that it can be believed.
    fn warmed(&mut self) -> io::Result<()>;
}

/// A filter in this process. It sees the writes of this process alone: right if there is one, or if writes are
/// announced to all.
#[derive(Debug)]
pub struct LocalGuard {
    filter: BloomFilter,
    is_warm: bool,
}

impl LocalGuard {
    /// For so many keys, those to come included. The secret key keeps strangers from making up false positives.
    pub fn new(keys: u64, rate: f64, secret_key: SecretKey) -> Result<Self, mayhap::Error> {
        let filter = BloomFilter::builder().keys(keys).rate(rate).secret_key(secret_key).build()?;
        Ok(Self { filter, is_warm: false })
    }

    /// The filter.
    pub fn filter(&self) -> &BloomFilter {
        &self.filter
    }
}

impl Guard for LocalGuard {
    fn may_exist(&mut self, key: &str) -> io::Result<bool> {
        if self.is_warm { Ok(self.filter.contains(key)) } else { Err(io::Error::other("not warmed yet")) }
    }

    fn add(&mut self, keys: &[&str]) -> io::Result<()> {
        self.filter.extend(keys);
        Ok(())
    }

    fn warmed(&mut self) -> io::Result<()> {
        self.is_warm = true;
        Ok(())
    }
}

/// A filter on a server that speaks the Redis protocol (`mayhap serve`), for any number of processes.
#[derive(Debug)]
pub struct RemoteGuard {
    address: SocketAddr,
    keys: u64,
    rate: f64,
    connection: Option<BufReader<TcpStream>>,
    /// After a failure the server is left alone until then: nobody should wait for it with every request.
    retry_at: Option<Instant>,
}

/// The name of the filter.
const FILTER: &str = "users";

/// A key that no user can have, added when all others are in. A filter without it isn't believed: a server that was
/// started again has an empty one, which would say "no" to everybody.
const MARK: &str = "\0warmed";

/// A filter that doesn't answer in this time is no help.
const PATIENCE: Duration = Duration::from_millis(100);

impl RemoteGuard {
    /// On a server, for so many keys.
    pub fn new(address: SocketAddr, keys: u64, rate: f64) -> Self {
        Self { address, keys, rate, connection: None, retry_at: None }
    }

    /// Sends one command and returns the integers of its reply.
    fn ask(&mut self, words: &[&str]) -> io::Result<Vec<i64>> {
        if self.retry_at.is_some_and(|instant| Instant::now() < instant) {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let reply = self.connect().and_then(|connection| exchange(connection, words));
        self.retry_at = None;
        if reply.is_err() {
            // What comes on this connection later would be the answer to another question.
            self.connection = None;
            self.retry_at = Some(Instant::now() + PATIENCE);
        }
        reply
    }

    fn connect(&mut self) -> io::Result<&mut BufReader<TcpStream>> {
        if self.connection.is_none() {
            let stream = TcpStream::connect_timeout(&self.address, PATIENCE)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            stream.set_nodelay(true)?;
            self.connection = Some(BufReader::new(stream));
        }
        self.connection.as_mut().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl Guard for RemoteGuard {
    fn may_exist(&mut self, key: &str) -> io::Result<bool> {
        match self.ask(&["BF.MEXISTS", FILTER, MARK, key])?[..] {
            [1, found] => Ok(found == 1),
            _ => Err(io::Error::other("not warmed yet")),
        }
    }

    fn add(&mut self, keys: &[&str]) -> io::Result<()> {
        let (capacity, error) = (self.keys.to_string(), self.rate.to_string());
        for keys in keys.chunks(1_000) {
            let words = ["BF.INSERT", FILTER, "CAPACITY", &capacity, "ERROR", &error, "ITEMS"];
            self.ask(&[&words, keys].concat())?;
        }
        Ok(())
    }

    fn warmed(&mut self) -> io::Result<()> {
        self.add(&[MARK])
    }
}

/// The Redis protocol, as much of it as is needed: words go out as an array, integers or an array of them come back.
fn exchange(connection: &mut BufReader<TcpStream>, words: &[&str]) -> io::Result<Vec<i64>> {
    let mut request = format!("*{}\r\n", words.len());
    for word in words {
        request += &format!("${}\r\n{word}\r\n", word.len());
    }
    connection.get_mut().write_all(request.as_bytes())?;
    let (mut expected, mut integers, mut line) = (1, Vec::new(), String::new());
    while integers.len() < expected {
        line.clear();
        if connection.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let number = |text: &str| text.trim_end().parse::<i64>().map_err(io::Error::other);
        match line.split_at_checked(1) {
            Some(("*", count)) => expected = usize::try_from(number(count)?).map_err(io::Error::other)?,
            Some((":", integer)) => integers.push(number(integer)?),
            _ => return Err(io::Error::other(line)),
        }
    }
    Ok(integers)
}
