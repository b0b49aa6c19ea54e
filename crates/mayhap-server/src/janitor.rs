//! A thread for what nobody should wait for: freeing large values, and all that were flushed, removing keys whose time has
//! come, forgetting dumps and loads that nobody goes on with.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::keyspace::Removed;
use crate::shared::{Shared, now};

/// How often expired keys are looked for. Nobody sees one in between: whoever asks for it removes it.
const PERIOD: Duration = Duration::from_millis(250);

/// Works until nobody sends any more.
pub(crate) fn run(shared: &Shared, removed: &Receiver<Removed>) {
    let mut next = Instant::now() + PERIOD;
    loop {
        match removed.recv_timeout(next.saturating_duration_since(Instant::now())) {
            Ok(values) => drop(values),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if Instant::now() >= next {
            shared.transfers.expire(now());
            shared.keyspace.remove_expired(now(), || shared.gate.enter_beside());
            next = Instant::now() + PERIOD;
        }
    }
}
