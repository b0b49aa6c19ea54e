//! The server: a socket that listens, the threads behind it, and their end.

use std::fmt;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};
use socket2::{SockRef, TcpKeepalive};

use crate::log::Level;
use crate::settings::Settings;
use crate::shared::{Message, Shared, Shutdown, now};
use crate::worker::{WAKE, Worker};
use crate::{aside, janitor};

const LISTENER: Token = Token(0);

/// After a connection could not be accepted, for want of file descriptors for one, it is tried again this much later.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// Whether threads have ended is looked at this often, when the server stops.
const JOIN_AGAIN: Duration = Duration::from_millis(2);

/// When the server has to stop, its threads have this long to end.
const LAST_PATIENCE: Duration = Duration::from_millis(200);

/// A server that listens and does not serve yet.
///
/// ```
/// use std::io::{Read as _, Write as _};
/// use std::net::TcpStream;
/// use mayhap_server::{Server, Settings};
///
/// let mut settings = Settings::new()?;
/// settings.set("port", "0")?; // any that is free
/// settings.set("log-level", "warn")?;
/// let server = Server::bind(settings)?;
/// let (address, handle) = (server.local_addr(), server.handle());
/// let thread = std::thread::spawn(|| server.run());
///
/// let mut client = TcpStream::connect(address)?;
/// client.write_all(b"PING\r\n")?;
/// let mut reply = [0; 7];
/// client.read_exact(&mut reply)?;
/// assert_eq!(&reply, b"+PONG\r\n");
///
/// handle.shutdown();
/// thread.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    listener: TcpListener,
    poll: Poll,
    /// One for each worker.
    polls: Vec<Poll>,
}

/// Stops a server, from any thread.
#[derive(Clone, Debug)]
pub struct Handle(Arc<Shared>);

impl Server {
    /// Listens where the settings say.
    ///
    /// # Errors
    /// When the address can't be listened on, or the system gives no event queues or no random bytes.
    pub fn bind(settings: Settings) -> io::Result<Self> {
        let mut listener = TcpListener::bind(SocketAddr::new(settings.bind(), settings.port()))?;
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let polls = (0..threads(&settings)).map(|_| Poll::new()).collect::<io::Result<Vec<_>>>()?;
        let waker = |poll: &Poll| Waker::new(poll.registry(), WAKE);
        let wakers = polls.iter().map(waker).collect::<io::Result<Vec<_>>>()?;
        let mut seed = [0; 28];
        getrandom::fill(&mut seed).map_err(io::Error::other)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(settings, address, waker(&poll)?, wakers, seed));
        Ok(Self { shared, listener, poll, polls })
    }

    /// Where it listens: with the port, if any was asked for.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.shared.local_addr()
    }

    /// How many threads serve connections.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.polls.len()
    }

    /// What stops it.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle(Arc::clone(&self.shared))
    }

    /// Serves, until it is stopped. If it is stopped at once, or draining takes too long, a thread that is in the middle
    /// of a long command is not waited for: it ends after that command, or with the process.
    ///
    /// # Errors
    /// When threads can't be started, or connections can't be waited for.
    pub fn run(mut self) -> io::Result<()> {
        let (attic, removed) = mpsc::channel();
        self.shared.keyspace.send_removed_to(Some(attic));
        let shared = Arc::clone(&self.shared);
        let janitor = spawn("mayhap-janitor", move || janitor::run(&shared, &removed))?;
        let (aside, jobs) = mpsc::channel();
        self.shared.aside.lead_to(Some(aside));
        let shared = Arc::clone(&self.shared);
        let aside = spawn("mayhap-aside", move || aside::run(&shared, &jobs))?;
        let mut threads = Vec::new();
        for (index, poll) in std::mem::take(&mut self.polls).into_iter().enumerate() {
            let shared = Arc::clone(&self.shared);
            let work = move || Worker::new(index, poll, shared).run();
            threads.push(spawn(&format!("mayhap-worker-{index}"), work)?);
        }
        let address = self.shared.local_addr();
        let fields: [(&str, &dyn fmt::Display); 2] = [("address", &address), ("threads", &threads.len())];
        self.shared.log.event(Level::Info, "listening", &fields);

        let result = self.accept();
        // Also when accepting failed: then the workers have to stop, too.
        self.shared.shutdown(Shutdown::Drain);
        drop(self.listener);
        self.shared.log.event(Level::Info, "stopping", &[("clients", &self.shared.clients.len())]);
        let panicked = join(&self.shared, threads);
        self.shared.keyspace.send_removed_to(None);
        self.shared.aside.lead_to(None);
        let panicked = panicked + join(&self.shared, vec![janitor, aside]);
        self.shared.log.event(Level::Info, "stopped", &[]);
        if panicked > 0 {
            return Err(io::Error::other("a thread of the server panicked"));
        }
        result
    }

    fn accept(&mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(8);
        let mut timeout = None;
        let mut worker = 0;
        // Told once, and not ten times a second for as long as it lasts.
        let mut is_told = false;
        while self.shared.stopping().is_none() {
            match self.poll.poll(&mut events, timeout) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            timeout = None;
            loop {
                match self.listener.accept() {
                    Ok((stream, peer)) => {
                        is_told = false;
                        worker = (worker + 1) % self.shared.inboxes.len();
                        self.hand_over(stream, peer, worker);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    // The other end left while it waited.
                    Err(error)
                        if matches!(
                            error.kind(),
                            io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
                        ) => {}
                    Err(error) => {
                        if !is_told {
                            let fields: [(&str, &dyn fmt::Display); 1] = [("error", &error)];
                            self.shared.log.event(Level::Error, "cannot accept connections", &fields);
                        }
                        is_told = true;
                        timeout = Some(ACCEPT_AGAIN);
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives a connection to a worker, each in its turn.
    fn hand_over(&self, mut stream: TcpStream, peer: SocketAddr, worker: usize) {
        let shared = &self.shared;
        if shared.clients.len() >= shared.settings.maxclients() {
            shared.statistics.rejected_connections.fetch_add(1, Ordering::Relaxed);
            shared.log.event(Level::Warn, "refused: maxclients are connected", &[("peer", &peer)]);
            // A few bytes into an empty socket: never waits. If it fails, the client sees the end all the same.
            let _ = stream.write(b"-ERR max number of clients reached\r\n");
            return;
        }
        // Replies are written once per wake-up, whole: nothing to wait for.
        let _ = stream.set_nodelay(true);
        keep_alive(&stream, shared.settings.tcp_keepalive());
        let local = stream.local_addr().unwrap_or_else(|_| shared.local_addr());
        let client = shared.clients.add(peer, local, worker, now());
        shared.tell(worker, Message::Connection(stream, client));
    }
}

impl Handle {
    /// Stops accepting; executes what has come, sends the replies, and ends. Returns at once.
    pub fn shutdown(&self) {
        self.0.shutdown(Shutdown::Drain);
    }

    /// Ends at once: replies that were not sent are lost.
    pub fn stop_now(&self) {
        self.0.shutdown(Shutdown::Now);
    }

    /// The state of the server: for its host, and for tests.
    #[must_use]
    pub fn shared(&self) -> &Shared {
        &self.0
    }
}

/// Lets the system find out about a client that is gone without a word: a machine that lost its power keeps its
/// connection for ever otherwise. As Redis does: asked after so many seconds, and given up after two thirds more.
fn keep_alive(stream: &TcpStream, seconds: u64) {
    if seconds > 0 {
        let keepalive = TcpKeepalive::new()
            .with_time(Duration::from_secs(seconds))
            .with_interval(Duration::from_secs((seconds / 3).max(1)))
            .with_retries(3);
        // A connection without is one all the same.
        let _ = SockRef::from(stream).set_tcp_keepalive(&keepalive);
    }
}

fn threads(settings: &Settings) -> usize {
    match settings.threads() {
        0 => thread::available_parallelism().map_or(1, std::num::NonZero::get),
        threads => threads,
    }
}

/// Waits for threads to end, and says how many of them panicked. Not for longer than the server may take to stop: they
/// may be in the middle of something long.
fn join(shared: &Shared, threads: Vec<thread::JoinHandle<()>>) -> usize {
    let are_running = || threads.iter().any(|thread| !thread.is_finished());
    while are_running() && !shared.is_over() {
        thread::sleep(JOIN_AGAIN);
    }
    // What isn't long ends cleanly, also when the stop is one at once.
    let last = Instant::now() + LAST_PATIENCE;
    while are_running() && Instant::now() < last {
        thread::sleep(JOIN_AGAIN);
    }
    let ended = threads.into_iter().filter(thread::JoinHandle::is_finished);
    ended.map(thread::JoinHandle::join).filter(Result::is_err).count()
}

fn spawn<T: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> T + Send + 'static,
) -> io::Result<thread::JoinHandle<T>> {
    thread::Builder::new().name(name.to_owned()).spawn(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_kept_alive_as_the_setting_says() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = || {
            let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            stream.set_nonblocking(true).unwrap();
            TcpStream::from_std(stream)
        };
        let (kept, other) = (stream(), stream());
        keep_alive(&kept, 300);
        keep_alive(&other, 0);
        assert!(SockRef::from(&kept).keepalive().unwrap() && !SockRef::from(&other).keepalive().unwrap());
        #[cfg(target_os = "linux")]
        {
            let socket = SockRef::from(&kept);
            assert_eq!(socket.tcp_keepalive_time().unwrap(), Duration::from_secs(300));
            assert_eq!(socket.tcp_keepalive_interval().unwrap(), Duration::from_secs(100));
            assert_eq!(socket.tcp_keepalive_retries().unwrap(), 3);
        }
    }
}
