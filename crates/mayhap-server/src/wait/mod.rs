//! How a worker waits: it may look for events again and again for a while before it sleeps.
//!
//! A client that sends its next command when it has the last reply leaves both sides asleep in turn, and waking up a
//! core takes several times as long as answering. A worker that is still awake when the command comes saves that. What
//! it pays is time of a core that nobody else has then. So it only looks where experience says that a client which was
//! just answered asks again soon, and only as many workers do as leave a core to the others.

mod pollers;
mod recent;
mod rule;

pub(crate) use pollers::Pollers;

use std::io;
use std::time::{Duration, Instant};

use mio::{Events, Poll};

use recent::Recent;
use rule::Rule;

/// Clients that send more commands at a time than this, on average, are not looked for: for them a wake-up is a small
/// part of the cost.
const FEW: u64 = 4;

/// The waiting of one worker.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    rule: Rule,
    answered: Recent,
}

/// What became of looking for events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// It slept, or there was no need to wait.
    None,
    /// Somebody who was just answered came back in time.
    Caught,
    /// Nobody came, or only others did: they would have been served as well by sleeping.
    InVain,
}

impl Waiting {
    /// Waits until there are events, but no longer than `longest`. Before it sleeps it looks for them for at most
    /// `limit`, if that promises something. `events` are those of the last time, after which so many commands were
    /// executed.
    pub(crate) fn wait(
        &mut self,
        poll: &mut Poll,
        events: &mut Events,
        commands: u64,
        (limit, longest): (Duration, Duration),
        pollers: &Pollers,
    ) -> io::Result<Look> {
        // Somebody was answered who is likely to wait for the answer before going on?
        let is_dialogue = commands > 0 && commands <= FEW.saturating_mul(events.iter().count() as u64);
        if limit.is_zero() || longest.is_zero() || !is_dialogue {
            return poll.poll(events, Some(longest)).map(|()| Look::None);
        }
        self.answered.note(events);
        let start = Instant::now();
        if self.rule.is_to_poll()
            && let Some(place) = pollers.enter()
        {
            let is_in_time = look(poll, events, start, limit)?;
            drop(place);
            let is_caught = is_in_time && self.answered.is_among(events);
            self.rule.note_polled(is_caught);
            if events.is_empty() {
                poll.poll(events, Some(longest))?;
            }
            return Ok(if is_caught { Look::Caught } else { Look::InVain });
        }
        poll.poll(events, Some(longest))?;
        self.rule.note_slept(start.elapsed(), limit, self.answered.is_among(events));
        Ok(Look::None)
    }
}

/// Looks for events until there are some, or the time is over; whether it is not. What is found late, because something
/// else had the core meanwhile, would have been found as well by sleeping.
fn look(poll: &mut Poll, events: &mut Events, start: Instant, limit: Duration) -> io::Result<bool> {
    loop {
        poll.poll(events, Some(Duration::ZERO))?;
        let is_over = start.elapsed() > limit;
        if is_over || !events.is_empty() {
            return Ok(!is_over);
        }
        // On a core of its own this returns at once. On a shared one the client may be who waits for it.
        std::thread::yield_now();
    }
}
