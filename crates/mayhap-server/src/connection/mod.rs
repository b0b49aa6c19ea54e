//! A connection: bytes in, a batch executed, bytes out.
//!
//! What a connection keeps between wake-ups is small: the start of a request whose end has not come, and replies that
//! the other side has not taken. Everything else happens in buffers that its worker lends to one connection after the
//! other. So a thousand silent connections take next to nothing.
//!
//! ```text
//! open ──► closing (replies are still being sent) ──► lingering (nothing more to say; waits for the other end) ──► gone
//! ```

mod stream;

use std::io;
use std::net::Shutdown;

use mayhap_commands::Reply;
use mio::net::TcpStream;

use crate::execute::{End, Executor};
use crate::resp::{RequestParser, reply, write_reply};
use crate::session::Session;
use crate::shared::Shared;
use crate::statistics::Count;
use stream::{Unsent, read};

/// What one read takes in. Small enough that nobody's turn is long, large enough that a pipeline comes in one piece.
const READ_BYTES: usize = 64 << 10;

/// The start of a request up to this size is put before the next read in the worker's buffer; a longer one is kept, and
/// what is read is added to it.
const SMALL_PENDING: usize = 16 << 10;

/// Buffers of up to this size are kept for the next time, and not counted.
const KEPT_BYTES: usize = 16 << 10;

/// How long the other end is waited for after the last word, in milliseconds.
const LINGER_MS: u64 = 2_000;

/// What the other end may still send after the last word.
const LINGER_BYTES: usize = 16 << 20;

/// Buffers that a worker lends.
#[derive(Debug)]
pub(crate) struct Lent {
    input: Box<[u8]>,
    output: Vec<u8>,
}

impl Default for Lent {
    fn default() -> Self {
        Self {
            input: vec![0; SMALL_PENDING + READ_BYTES].into_boxed_slice(),
            output: Vec::with_capacity(READ_BYTES),
        }
    }
}

/// What a connection gets for its turn.
#[derive(Debug)]
pub(crate) struct Turn<'w> {
    pub(crate) lent: &'w mut Lent,
    pub(crate) executor: &'w mut Executor,
    pub(crate) shared: &'w Shared,
    /// Milliseconds since 1970.
    pub(crate) now: u64,
}

impl Turn<'_> {
    fn count(&self, count: Count, by: u64) {
        if let Some(counters) = self.executor.counters() {
            counters.add(count, by);
        }
    }
}

/// One client's connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    pub(crate) session: Session,
    parser: RequestParser,
    /// The start of a request.
    pending: Vec<u8>,
    unsent: Unsent,
    /// Bytes of these two that are counted in [`Shared::buffers`].
    counted: u64,
    state: State,
    /// Whether a command is being executed aside. Until it is done, nothing is read, and nothing that was is executed.
    is_waiting: bool,
    /// Whether the other end has said that it sends nothing more. Its end may stand behind bytes that were not read yet,
    /// and there will be no event for it again.
    is_finished: bool,
    /// Milliseconds since 1970: when something was last read, and written or nothing was left to write.
    last_read: u64,
    last_written: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// Nothing more is read; what is unsent is sent.
    Closing,
    /// Everything is said. Closing at once could destroy replies that are on their way, if the other end has sent
    /// something that was not read: so what it sends is read and forgotten until it closes, too.
    Lingering {
        since: u64,
        read: usize,
    },
}

/// What a worker does with a connection next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Waits for an event.
    Wait,
    /// Comes back without waiting: there may be more to read.
    Again,
    /// Drops it.
    Drop(Reason),
}

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The other end closed it, or it was told to.
    Closed,
    /// It is broken.
    Broken,
    /// It didn't take its replies.
    OutputLimit,
    /// All connections together hold too much.
    ClientMemory,
    /// It was silent for too long.
    TimedOut,
    /// Somebody killed it.
    Killed,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream, session: Session, now: u64) -> Self {
        Self {
            stream,
            session,
            parser: RequestParser::default(),
            pending: Vec::new(),
            unsent: Unsent::default(),
            counted: 0,
            state: State::Open,
            is_waiting: false,
            is_finished: false,
            last_read: now,
            last_written: now,
        }
    }

    /// Notes that the other end has said that it sends nothing more.
    pub(crate) fn note_finished(&mut self) {
        self.is_finished = true;
    }

    /// Does what can be done without waiting.
    pub(crate) fn advance(&mut self, turn: &mut Turn<'_>) -> Next {
        if self.session.client.is_killed() && self.state == State::Open {
            return Next::Drop(Reason::Killed);
        }
        let next = self.try_advance(turn).unwrap_or(Next::Drop(Reason::Broken));
        self.settle(next, turn.shared)
    }

    /// Counts what it holds, and doesn't let it hold too much.
    fn settle(&mut self, next: Next, shared: &Shared) -> Next {
        self.count_buffers(shared);
        if shared.buffers.bytes() > shared.settings.maxmemory_clients() && self.counted > 0 {
            return Next::Drop(Reason::ClientMemory);
        }
        next
    }

    fn try_advance(&mut self, turn: &mut Turn<'_>) -> io::Result<Next> {
        if !self.unsent.is_empty() && self.unsent.send_waiting(&mut self.stream)? > 0 {
            self.last_written = turn.now;
        }
        match self.state {
            State::Open if self.is_waiting => Ok(Next::Wait),
            State::Open => self.read_and_execute(turn),
            State::Closing => self.close_if_sent(turn.now),
            State::Lingering { since, read } => self.linger(turn.lent, since, read),
        }
    }

    fn read_and_execute(&mut self, turn: &mut Turn<'_>) -> io::Result<Next> {
        let front = if self.pending.len() <= SMALL_PENDING { self.pending.len() } else { 0 };
        let read = match read(&mut self.stream, &mut turn.lent.input[front..front + READ_BYTES])? {
            Some(0) => {
                // A client that closes only its own direction still gets what it asked for.
                self.state = State::Closing;
                return self.close_if_sent(turn.now);
            }
            Some(read) => read,
            None => return Ok(Next::Wait),
        };
        self.last_read = turn.now;
        turn.count(Count::InputBytes, read as u64);
        turn.lent.output.clear();
        // Either all in the worker's buffer, or all in our own.
        if front == self.pending.len() {
            // Out of the hand that lends for a moment: the output is needed, too.
            let mut input = std::mem::take(&mut turn.lent.input);
            input[..front].copy_from_slice(&self.pending);
            self.pending.clear();
            let consumed = self.execute(&input[..front + read], turn);
            self.pending.extend_from_slice(&input[consumed..front + read]);
            turn.lent.input = input;
        } else {
            self.pending.extend_from_slice(&turn.lent.input[..read]);
            self.execute_pending(turn);
        }
        // A full read: there may be more. A short one took all there was, and what comes next is an event.
        self.end_batch(turn, read == READ_BYTES || self.is_finished)
    }

    /// Goes on after a command that was executed aside.
    pub(crate) fn resume(&mut self, reply: &Reply, turn: &mut Turn<'_>) -> Next {
        self.is_waiting = false;
        self.last_read = turn.now;
        turn.lent.output.clear();
        write_reply(reply, self.session.protocol, &mut turn.lent.output);
        self.execute_pending(turn);
        let next = self.end_batch(turn, true).unwrap_or(Next::Drop(Reason::Broken));
        self.settle(next, turn.shared)
    }

    fn execute_pending(&mut self, turn: &mut Turn<'_>) {
        let mut pending = std::mem::take(&mut self.pending);
        let consumed = self.execute(&pending, turn);
        pending.drain(..consumed);
        self.pending = pending;
    }

    /// Executes all whole requests of some input; how many bytes they were.
    fn execute(&mut self, input: &[u8], turn: &mut Turn<'_>) -> usize {
        let mut consumed = 0;
        loop {
            let rest = input.get(consumed..).unwrap_or_default();
            let (session, parser) = (&mut self.session, &mut self.parser);
            let progress = turn.executor.execute(session, parser, rest, &mut turn.lent.output);
            consumed += progress.consumed;
            match progress.end {
                End::NoMore | End::Stopped => return consumed,
                // A connection that can't be written to any more is noticed at the end of the batch.
                End::OutputFull if self.send(turn).is_ok() && !self.has_too_much(turn.shared) => {}
                End::OutputFull | End::OutputLost => return consumed,
                End::Waiting => {
                    self.is_waiting = true;
                    return consumed;
                }
                End::Closing => {
                    self.state = State::Closing;
                    return consumed;
                }
                End::Broken(error) => {
                    reply::write_error(&error, &mut turn.lent.output);
                    turn.count(Count::ProtocolErrors, 1);
                    self.state = State::Closing;
                    return consumed;
                }
            }
        }
    }

    fn end_batch(&mut self, turn: &mut Turn<'_>, may_have_more: bool) -> io::Result<Next> {
        self.send(turn)?;
        if self.has_too_much(turn.shared) {
            return Ok(Next::Drop(Reason::OutputLimit));
        }
        if self.state != State::Open {
            return self.close_if_sent(turn.now);
        }
        Ok(if may_have_more && !self.is_waiting { Next::Again } else { Next::Wait })
    }

    /// Sends replies, as far as the other end takes them; keeps the rest.
    fn send(&mut self, turn: &mut Turn<'_>) -> io::Result<()> {
        if self.unsent.is_empty() {
            self.last_written = turn.now;
        }
        turn.count(Count::OutputBytes, turn.lent.output.len() as u64);
        let output = &mut turn.lent.output;
        self.unsent.send(&mut self.stream, output)?;
        output.clear();
        if output.capacity() > 4 * READ_BYTES {
            output.shrink_to(READ_BYTES);
        }
        Ok(())
    }

    fn has_too_much(&self, shared: &Shared) -> bool {
        self.session.has_lost_replies || self.unsent.len() > shared.settings.client_output_limit()
    }

    fn close_if_sent(&mut self, now: u64) -> io::Result<Next> {
        if !self.unsent.is_empty() {
            return Ok(Next::Wait);
        }
        self.stream.shutdown(Shutdown::Write)?;
        self.pending = Vec::new();
        self.state = State::Lingering { since: now, read: 0 };
        Ok(Next::Again)
    }

    fn linger(&mut self, lent: &mut Lent, since: u64, mut already: usize) -> io::Result<Next> {
        loop {
            match read(&mut self.stream, &mut lent.input)? {
                Some(0) => return Ok(Next::Drop(Reason::Closed)),
                Some(read) => already += read,
                None => {
                    self.state = State::Lingering { since, read: already };
                    return Ok(Next::Wait);
                }
            }
            if already > LINGER_BYTES {
                return Ok(Next::Drop(Reason::Closed));
            }
        }
    }

    /// Asked every second: whether it has been waited for long enough.
    pub(crate) fn check_time(&self, shared: &Shared, now: u64) -> Option<Reason> {
        let settings = &shared.settings;
        let is_over = |since: u64, milliseconds: u64| now.saturating_sub(since) > milliseconds;
        let stall = settings.stall_timeout().saturating_mul(1000);
        let idle = settings.timeout().saturating_mul(1000);
        if let State::Lingering { since, .. } = self.state {
            return is_over(since, LINGER_MS).then_some(Reason::Closed);
        }
        let is_stalled = !self.unsent.is_empty() && is_over(self.last_written, stall)
            || !self.pending.is_empty() && !self.is_waiting && is_over(self.last_read, stall);
        let is_idle = idle > 0 && !self.is_waiting && is_over(self.last_read.max(self.last_written), idle);
        (is_stalled || is_idle).then_some(Reason::TimedOut)
    }

    /// For a stop: executes what has come, then says goodbye.
    pub(crate) fn drain(&mut self, turn: &mut Turn<'_>) -> Next {
        let next = self.advance(turn);
        if self.state == State::Open && next == Next::Wait && !self.is_waiting {
            self.state = State::Closing;
            return self.advance(turn);
        }
        next
    }

    /// Whether everything has been said.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.state, State::Lingering { .. })
    }

    fn count_buffers(&mut self, shared: &Shared) {
        if self.pending.is_empty() && self.pending.capacity() > KEPT_BYTES {
            self.pending = Vec::new();
        }
        self.unsent.shrink(KEPT_BYTES);
        let bytes = self.pending.capacity() + self.unsent.capacity() + self.session.kept_bytes();
        let counted = if bytes > 2 * KEPT_BYTES { bytes as u64 } else { 0 };
        shared.buffers.change(self.counted, counted);
        self.counted = counted;
        let client = &self.session.client;
        client.note_buffers(self.pending.len(), self.unsent.len());
        client.note_transaction(
            self.session.transaction.as_ref().map(|transaction| transaction.len()),
            self.session.watch.as_ref().map_or(0, |watch| watch.len()),
            self.session.kept_bytes(),
        );
    }

    /// At its end: what it held isn't counted any more, and nobody tells it of keys.
    pub(crate) fn release(&mut self, shared: &Shared) {
        self.session.discard(&shared.keyspace);
        shared.buffers.change(self.counted, 0);
    }
}
