//! A value, and what the keyspace knows about it.

use std::sync::atomic::{AtomicU64, Ordering};

use mayhap_commands::Value;

use super::size_of as value_bytes;

/// Values of this size and more are freed by a thread of their own.
pub(super) const SLOW_TO_FREE_BYTES: u64 = 1 << 20;

/// Never expires.
const NEVER: u64 = u64::MAX;

/// What an entry takes beside what its value has elsewhere: itself, its place in the map with its share of the map's
/// nodes, and what an allocator adds to each of them.
const OVERHEAD_BYTES: u64 = size_of::<Entry>() as u64 + 112;

/// The bytes of an entry that is not counted any more.
const REMOVED: u64 = 0;

/// A value with its time of expiry.
#[derive(Debug)]
pub struct Entry {
    /// The filter or bitmap.
    pub value: Value,
    expires_at: AtomicU64,
    last_used: AtomicU64,
    key_bytes: AtomicU64,
    /// As last counted; [`REMOVED`] at the end.
    bytes: AtomicU64,
}

impl Entry {
    pub(super) fn new(key: &[u8], value: Value, expires_at: Option<u64>, now: u64) -> Self {
        let key_bytes = key.len() as u64;
        let bytes = value_bytes(&value) + key_bytes + OVERHEAD_BYTES;
        Self {
            value,
            expires_at: AtomicU64::new(expires_at.unwrap_or(NEVER)),
            last_used: AtomicU64::new(now),
            key_bytes: AtomicU64::new(key_bytes),
            bytes: AtomicU64::new(bytes),
        }
    }

    /// When it expires, in milliseconds since 1970.
    #[must_use]
    pub fn expires_at(&self) -> Option<u64> {
        match self.expires_at.load(Ordering::Relaxed) {
            NEVER => None,
            moment => Some(moment),
        }
    }

    /// Gives it another time to expire at, or none. The shard that it is in has to know.
    pub(super) fn set_expires_at(&self, moment: Option<u64>) {
        self.expires_at.store(moment.unwrap_or(NEVER), Ordering::Relaxed);
    }

    /// Whether it has not expired.
    #[must_use]
    pub fn is_live(&self, now: u64) -> bool {
        self.expires_at.load(Ordering::Relaxed) > now
    }

    /// When a command last asked for it, in milliseconds since 1970: to about a tenth of a second.
    #[must_use]
    pub fn last_used(&self) -> u64 {
        self.last_used.load(Ordering::Relaxed)
    }

    /// Says when it was last asked for.
    pub fn set_last_used(&self, moment: u64) {
        self.last_used.store(moment, Ordering::Relaxed);
    }

    /// Notes that it was asked for. Only now and then: workers that share a hot filter would otherwise write to one line
    /// of memory in turns.
    pub(crate) fn touch(&self, now: u64) {
        if now > self.last_used().saturating_add(100) {
            self.last_used.store(now, Ordering::Relaxed);
        }
    }

    /// Its bytes with key and overhead, as last counted.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Says that it has another key. Its bytes are to be counted again.
    pub(super) fn set_key(&self, key: &[u8]) {
        self.key_bytes.store(key.len() as u64, Ordering::Relaxed);
    }

    /// Counts its bytes again; by how many it grew.
    pub(super) fn weigh(&self) -> i64 {
        self.note_size(|| value_bytes(&self.value))
    }

    /// Notes how many bytes the value has; by how many it grew.
    ///
    /// Between looking at the value and noting what was seen, another thread may have made it grow, and noted that: its
    /// figure would be lost until the next change. So whoever notes a figure looks again, until it is still true. Most
    /// changes don't change the size, and look once.
    fn note_size(&self, look: impl Fn() -> u64) -> i64 {
        let mut grown = 0;
        loop {
            let now = look() + self.key_bytes.load(Ordering::Relaxed) + OVERHEAD_BYTES;
            // Whose figure is replaced has seen the value before: the next look sees no older one.
            let noted = self.bytes.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |before| {
                (before != now && before != REMOVED).then_some(now)
            });
            let Ok(before) = noted else { return grown };
            grown += now.cast_signed().wrapping_sub(before.cast_signed());
        }
    }

    /// Says that no key means it any more; how many bytes were counted for it. Who still works on it counts no more.
    pub(super) fn retire(&self) -> u64 {
        self.bytes.swap(REMOVED, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::RwLock;

    use mayhap::Bitmap;
    use mayhap_commands::Bits;

    use super::*;

    #[test]
    fn a_figure_that_is_no_longer_true_is_not_kept() {
        let value = Value::Bitmap(RwLock::new(Bits { set: Bitmap::sparse(), bytes: 0 }));
        let entry = Entry::new(b"key", value, None, 0);
        let (before, looks) = (entry.bytes(), Cell::new(0));
        let mut grown = entry.note_size(|| 1_000);
        // While one has looked and not noted yet, another lets the value grow, and counts it.
        let by_another = Cell::new(0);
        grown += entry.note_size(|| {
            looks.set(looks.get() + 1);
            if looks.get() > 1 {
                return 3_000;
            }
            by_another.set(entry.note_size(|| 3_000));
            2_000
        });
        assert_eq!(entry.bytes(), 3_000 + 3 + OVERHEAD_BYTES);
        assert_eq!(before.wrapping_add_signed(grown + by_another.get()), entry.bytes());
        // What has the same size is looked at once.
        looks.set(0);
        assert_eq!(entry.note_size(|| looks.replace(looks.get() + 1).max(3_000)), 0);
        assert_eq!(looks.get(), 1);
        // And what is gone is not counted any more.
        assert_eq!(entry.retire(), 3_000 + 3 + OVERHEAD_BYTES);
        assert_eq!((entry.note_size(|| 5_000), entry.bytes()), (0, REMOVED));
    }
}
