//! Several threads that read one input, and whose answers come out in its order.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::batch::Batch;
use super::reader::{KeyReader, on_threads};
use crate::failure::Failure;

impl KeyReader<'_> {
    /// Gives each batch to one of several threads. `work` is done on any of them, with what the thread has at hand, which
    /// `start` makes; then `finish` gets the batches one at a time and in the order of the input, and says whether to go
    /// on. The first failure, in that order, ends all. Returns what the threads had at hand.
    pub(crate) fn share_in_order<T: Send>(
        self,
        threads: usize,
        start: impl Fn() -> T + Sync,
        work: impl Fn(&mut T, &Batch) -> Result<(), Failure> + Sync,
        finish: impl FnMut(&mut T, &Batch) -> Result<bool, Failure> + Send,
    ) -> Result<Vec<T>, Failure> {
        let reader = Mutex::new((self, 0u64));
        let turns = Turns {
            state: Mutex::new(Turn { number: 0, has_ended: false, finish }),
            changed: Condvar::new(),
        };
        let run = || {
            let (mut batch, mut at_hand) = (Batch::default(), start());
            let _guard = EndOnPanic(&turns);
            loop {
                let (outcome, number) = {
                    let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
                    let (reader, next) = &mut *reader;
                    if turns.lock().has_ended {
                        return Ok(at_hand);
                    }
                    let number = *next;
                    *next += 1;
                    (reader.next(&mut batch), number)
                };
                let outcome = match outcome {
                    Ok(false) => return Ok(at_hand),
                    Ok(true) => work(&mut at_hand, &batch),
                    Err(failure) => Err(failure),
                };
                let Some(mut turn) = turns.wait_for(number) else { return Ok(at_hand) };
                let outcome = outcome.and_then(|()| (turn.finish)(&mut at_hand, &batch));
                turn.number += 1;
                turn.has_ended = !matches!(outcome, Ok(true));
                turns.changed.notify_all();
                drop(turn);
                if !outcome? {
                    return Ok(at_hand);
                }
            }
        };
        on_threads(threads, run)
    }
}

/// Whose batch is to be finished next.
struct Turns<F> {
    state: Mutex<Turn<F>>,
    changed: Condvar,
}

struct Turn<F> {
    number: u64,
    has_ended: bool,
    finish: F,
}

impl<F> Turns<F> {
    fn lock(&self) -> MutexGuard<'_, Turn<F>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until this batch is the next; nothing if that will never be.
    fn wait_for(&self, number: u64) -> Option<MutexGuard<'_, Turn<F>>> {
        let is_waiting = |turn: &mut Turn<F>| turn.number != number && !turn.has_ended;
        let waited = self.changed.wait_while(self.lock(), is_waiting);
        let turn = waited.unwrap_or_else(PoisonError::into_inner);
        if turn.has_ended { None } else { Some(turn) }
    }
}

/// Whoever waits for the turn of a thread that is gone would wait for ever.
struct EndOnPanic<'a, F>(&'a Turns<F>);

impl<F> Drop for EndOnPanic<'_, F> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().has_ended = true;
            self.0.changed.notify_all();
        }
    }
}
