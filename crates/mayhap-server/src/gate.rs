//! Who may execute when: every worker its batches, all at a time; or one of them a transaction, alone.
//!
//! A worker holds a lock of its own while it executes a batch. Nobody else wants it, so it costs next to nothing and
//! its line of memory stays where it is. Who wants to be alone takes all of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The way in.
#[derive(Debug)]
pub(crate) struct Gate {
    /// One for each worker, and one for the threads beside them.
    places: Box<[Place]>,
    /// How many want to be alone.
    wanted: AtomicUsize,
    /// Held by the one that is alone, or next to be.
    turnstile: Mutex<()>,
}

/// Aligned so that two workers' never share a line of memory, nor the pair that is fetched together.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Place(Mutex<()>);

/// Somebody is inside, with others.
pub(crate) type Inside<'g> = MutexGuard<'g, ()>;

/// Somebody is inside, alone.
#[derive(Debug)]
pub(crate) struct Alone<'g> {
    gate: &'g Gate,
    _places: Vec<MutexGuard<'g, ()>>,
    _turnstile: MutexGuard<'g, ()>,
}

impl Gate {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            places: (0..=workers).map(|_| Place::default()).collect(),
            wanted: AtomicUsize::new(0),
            turnstile: Mutex::default(),
        }
    }

    /// Lets a worker in, as soon as nobody is alone. It must not be inside already.
    #[inline]
    pub(crate) fn enter(&self, worker: usize) -> Option<Inside<'_>> {
        // Without this a busy worker would be back at its place before the one that waits for it has woken up.
        if self.wanted.load(Ordering::Relaxed) > 0 {
            drop(lock(&self.turnstile));
        }
        self.places.get(worker).map(|place| lock(&place.0))
    }

    /// Lets a thread in that isn't a worker.
    pub(crate) fn enter_beside(&self) -> Option<Inside<'_>> {
        self.enter(self.places.len() - 1)
    }

    /// Waits until all others are out. Whoever calls must not be inside.
    pub(crate) fn enter_alone(&self) -> Alone<'_> {
        self.wanted.fetch_add(1, Ordering::Relaxed);
        let turnstile = lock(&self.turnstile);
        let places = self.places.iter().map(|place| lock(&place.0)).collect();
        Alone { gate: self, _places: places, _turnstile: turnstile }
    }
}

#[cfg(test)]
impl Gate {
    /// Whether somebody waits to be alone, or is.
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) > 0
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.gate.wanted.fetch_sub(1, Ordering::Relaxed);
    }
}

fn lock(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    // It guards no data of its own: a command that panicked has left its connection, and is out.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_alone_is_alone() {
        let gate = Gate::new(3);
        // Two steps, with everybody's chance to come between them.
        let counter = AtomicUsize::new(0);
        let raise = || {
            let before = counter.load(Ordering::Relaxed);
            std::thread::yield_now();
            counter.store(before + 1, Ordering::Relaxed);
        };
        std::thread::scope(|scope| {
            for worker in 0..3 {
                let (gate, counter, raise) = (&gate, &counter, &raise);
                scope.spawn(move || {
                    for round in 0..2_000 {
                        let inside = gate.enter(worker);
                        let seen = counter.load(Ordering::Relaxed);
                        std::thread::yield_now();
                        assert_eq!(counter.load(Ordering::Relaxed), seen, "somebody was not alone");
                        drop(inside);
                        if round % 4 == worker {
                            let _alone = gate.enter_alone();
                            raise();
                        }
                    }
                });
            }
            scope.spawn(|| (0..2_000).for_each(|_| drop(gate.enter_beside())));
        });
        assert_eq!(counter.into_inner(), 1_500);
        assert_eq!(gate.wanted.into_inner(), 0);
    }
}
