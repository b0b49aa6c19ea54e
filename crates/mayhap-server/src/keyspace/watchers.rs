//! Keys that somebody wants to know the changes of: `WATCH`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is raised when a key of a connection has changed.
pub(crate) type Flag = Arc<AtomicBool>;

/// Who watches which key.
///
/// Whoever changes a key says so, which is one read of a number as long as nobody watches anything. The number is raised
/// by `WATCH` while no other command is executed, so none misses it.
#[derive(Debug, Default)]
pub(super) struct Watchers {
    /// Of all entries of the map.
    count: AtomicUsize,
    by_key: Mutex<HashMap<Box<[u8]>, Vec<Flag>>>,
}

impl Watchers {
    pub(super) fn add(&self, key: &[u8], flag: &Flag) {
        self.lock().entry(key.into()).or_default().push(Arc::clone(flag));
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn remove(&self, key: &[u8], flag: &Flag) {
        let mut by_key = self.lock();
        let Some(flags) = by_key.get_mut(key) else { return };
        let Some(place) = flags.iter().position(|other| Arc::ptr_eq(other, flag)) else { return };
        flags.swap_remove(place);
        if flags.is_empty() {
            by_key.remove(key);
        }
        self.count.fetch_sub(1, Ordering::Relaxed);
    }

    /// A key has changed.
    #[inline]
    pub(super) fn tell(&self, key: &[u8]) {
        if self.count.load(Ordering::Relaxed) > 0 {
            self.raise(key);
        }
    }

    /// These keys have changed.
    pub(super) fn tell_of(&self, keys: impl Iterator<Item = impl AsRef<[u8]>>) {
        if self.count.load(Ordering::Relaxed) > 0 {
            keys.for_each(|key| self.raise(key.as_ref()));
        }
    }

    #[cold]
    fn raise(&self, key: &[u8]) {
        for flag in self.lock().get(key).into_iter().flatten() {
            flag.store(true, Ordering::Relaxed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Box<[u8]>, Vec<Flag>>> {
        // A thread that panicked can't have left it half changed: every change is one call.
        self.by_key.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_watch_are_told_and_nobody_else() {
        let watchers = Watchers::default();
        let [one, two]: [Flag; 2] = Default::default();
        watchers.add(b"a", &one);
        watchers.add(b"a", &two);
        watchers.add(b"b", &two);
        watchers.tell(b"c");
        watchers.tell(b"b");
        assert_eq!([&one, &two].map(|flag| flag.swap(false, Ordering::Relaxed)), [false, true]);
        watchers.tell_of([b"b", b"a"].iter());
        assert_eq!([&one, &two].map(|flag| flag.swap(false, Ordering::Relaxed)), [true, true]);
        watchers.remove(b"a", &two);
        watchers.remove(b"a", &two);
        watchers.tell(b"a");
        assert_eq!([&one, &two].map(|flag| flag.swap(false, Ordering::Relaxed)), [true, false]);
        watchers.remove(b"a", &one);
        watchers.remove(b"b", &two);
        assert!(watchers.count.load(Ordering::Relaxed) == 0 && watchers.lock().is_empty());
    }
}
