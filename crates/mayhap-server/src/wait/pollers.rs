//! How many workers may look for events at once, instead of sleeping.

use std::fs;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Places for those who look.
#[derive(Debug)]
pub(crate) struct Pollers {
    free: AtomicUsize,
}

/// Somebody has one of them.
#[derive(Debug)]
pub(crate) struct Place<'p>(&'p Pollers);

impl Pollers {
    /// As many as leave a core to whoever is waited for.
    pub(crate) fn of_this_machine() -> Self {
        Self::new(match thread::available_parallelism().map_or(1, NonZero::get) {
            1 => usize::from(is_pinned_to_one_of_several()),
            cores => cores - 1,
        })
    }

    fn new(places: usize) -> Self {
        Self { free: AtomicUsize::new(places) }
    }

    /// Takes a place, if there is one.
    pub(crate) fn enter(&self) -> Option<Place<'_>> {
        let fewer = |free: usize| free.checked_sub(1);
        let taken = self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
        taken.is_ok().then(|| Place(self))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.free.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whether this process is bound to one core of a machine with several: then its clients are likely to be on another.
/// A share of the machine's time that is worth one core is something else: looking would use it up.
fn is_pinned_to_one_of_several() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    allowed.is_some_and(is_one) && !online.trim().is_empty() && !is_one(&online)
}

/// Whether a list such as `0-3,7` is of one core.
fn is_one(list: &str) -> bool {
    list.trim().parse::<usize>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_only_so_many_places() {
        let pollers = Pollers::new(2);
        let (first, second) = (pollers.enter(), pollers.enter());
        assert!(first.is_some() && second.is_some() && pollers.enter().is_none());
        drop(first);
        let third = pollers.enter();
        assert!(third.is_some() && pollers.enter().is_none());
        assert!(Pollers::new(0).enter().is_none());
    }

    #[test]
    fn a_core_is_left_to_others() {
        let cores = thread::available_parallelism().unwrap().get();
        assert!(Pollers::of_this_machine().free.into_inner() < cores.max(2));
    }

    #[test]
    fn lists_of_cores() {
        assert!(is_one("\t0\n") && is_one("17"));
        assert!(!is_one("0-1") && !is_one("0,2") && !is_one(""));
    }
}
