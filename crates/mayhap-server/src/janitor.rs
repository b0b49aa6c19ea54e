//! A thread for what nobody should wait for: freeing large values, and all that were flushed, removing keys whose time has
//! come, forgetting dumps and loads that nobody goes on with, giving memory back to the system.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::keyspace::Removed;
use crate::shared::{Shared, now};
use crate::trim::{Trim, give_back};

/// How often expired keys are looked for. Nobody sees one in between: whoever asks for it removes it.
const PERIOD: Duration = Duration::from_millis(250);

/// Works until nobody sends any more.
pub(crate) fn run(shared: &Shared, removed: &Receiver<Removed>) {
    let mut next = Instant::now() + PERIOD;
    let mut trim = Trim::default();
    loop {
        match removed.recv_timeout(next.saturating_duration_since(Instant::now())) {
            Ok(values) => drop(values),
            Err(RecvTimeoutError::Timeout) => {
                // Nothing waits to be freed.
                if trim.is_due(shared.used_bytes()) {
                    give_back();
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if Instant::now() >= next {
            shared.transfers.expire(now());
            shared.keyspace.remove_expired(now(), || shared.gate.enter_beside());
            next = Instant::now() + PERIOD;
        }
    }
}
