//! The memory that values may take together.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use mayhap_commands::NoRoom;

/// How much is used, of how much.
#[derive(Debug)]
pub(super) struct Room {
    /// Less than nothing for a moment, when a value that grew is removed before its growth is counted.
    used: AtomicI64,
    /// 0: none.
    limit: AtomicU64,
}

impl Room {
    pub(super) fn new(limit: u64) -> Self {
        Self { used: AtomicI64::new(0), limit: AtomicU64::new(limit) }
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed).max(0).cast_unsigned()
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    pub(super) fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    pub(super) fn left(&self) -> u64 {
        match self.limit() {
            0 => u64::MAX,
            limit => limit.saturating_sub(self.used()),
        }
    }

    /// Takes so many bytes, if they are there.
    pub(super) fn take(&self, bytes: u64) -> Result<(), NoRoom> {
        let limit = self.limit();
        let most = if limit == 0 { u64::MAX } else { limit };
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                used.checked_add_unsigned(bytes).filter(|sum| sum.max(&0).cast_unsigned() <= most)
            })
            .map(|_| ())
            .map_err(|_| NoRoom { limit })
    }

    pub(super) fn give_back(&self, bytes: u64) {
        self.change(0_i64.wrapping_sub_unsigned(bytes));
    }

    /// Counts bytes that are in use, or free again, already.
    pub(super) fn change(&self, by: i64) {
        if by != 0 {
            self.used.fetch_add(by, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_given_back() {
        let room = Room::new(100);
        assert_eq!(room.take(60), Ok(()));
        assert_eq!(room.take(60), Err(NoRoom { limit: 100 }));
        assert_eq!(room.left(), 40);
        room.change(50);
        assert_eq!((room.left(), room.used()), (0, 110));
        room.change(-50);
        room.give_back(60);
        assert_eq!((room.left(), room.used()), (100, 0));
        // Of a value that grew by 50 and went, the growth is counted last.
        room.give_back(50);
        assert_eq!((room.left(), room.used()), (100, 0));
        assert_eq!(room.take(60), Ok(()));
        room.change(50);
        assert_eq!((room.left(), room.used()), (40, 60));
        room.set_limit(0);
        assert_eq!(room.left(), u64::MAX);
    }
}
