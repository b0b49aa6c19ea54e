//! A signal ends the command, and what was printed is kept.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use crate::failure::Failure;

/// Does `work`; a first SIGINT or SIGTERM meanwhile runs `stop` on another thread and ends the process with 128 and the
/// signal's number, as shells have it, or with what `stop` says. A second one ends it at once.
pub(super) fn stopping_on_signals<T>(
    work: impl FnOnce() -> Result<T, Failure>,
    stop: impl FnOnce() -> Result<(), i32> + Send,
) -> Result<T, Failure> {
    let failure = |error: std::io::Error| Failure::Message(format!("cannot watch for signals: {error}"));
    let has_stopped = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&has_stopped))
            .map_err(failure)?;
    }
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(failure)?;
    let watching = signals.handle();
    thread::scope(|scope| {
        scope.spawn(move || {
            if let Some(signal) = signals.forever().next() {
                has_stopped.store(true, Ordering::SeqCst);
                process::exit(stop().err().unwrap_or(128 + signal));
            }
        });
        let outcome = work();
        watching.close();
        outcome
    })
}
