//! Union: what either has seen lately.

use super::WindowBloom;
use super::clock::Hand;
use crate::bits::Blocks;
use crate::merge_error::MergeError;

impl WindowBloom {
    /// Sees everything that `other` has seen, each key in the slot in which it was seen there. The clock moves to that
    /// of the other if that is ahead.
    ///
    /// Slots begin at the same instants in all windows of one length and number of slots, so nothing is lost: the
    /// result is the window that would have seen all insertions itself. Windows by count have no instants in common,
    /// and can't be merged.
    ///
    /// ```
    /// use mayhap::WindowBloom;
    ///
    /// let mut east = WindowBloom::by_time(3_600, 4, 10_000, 0.001)?;
    /// let mut west = east.empty_like()?;
    /// east.insert_at("ada", 5_000);
    /// west.insert_at("grace", 7_000);
    /// east.merge(&west)?;
    /// assert!(east.contains_at("ada", 8_600) && east.contains_at("grace", 8_600));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the two hash differently, or differ in window, slots or plan, or go by count; or when `other` is mapped or
    /// borrowed and has keys that are older than instant 0. Nothing is changed then.
    pub fn merge<T: Blocks>(&mut self, other: &WindowBloom<T>) -> Result<(), MergeError> {
        self.check_fit(other)?;
        other.check_oldest().map_err(MergeError::Contradiction)?;
        let (ours, theirs) = (self.clock.slot(), other.clock.slot());
        if theirs > ours {
            self.clock = self.clock.at(theirs);
            self.turn(theirs - ours);
        }
        // Now ours is the newer one, by so many slots.
        let behind = ours.saturating_sub(theirs);
        let len = self.ring.len();
        for (age, theirs) in (behind..len as u64).zip(other.by_age()) {
            // The cast is exact: an age is below the length of the ring.
            #[allow(clippy::cast_possible_truncation)]
            let index = (self.newest + len - age as usize) % len;
            let ours = &mut self.ring[index];
            ours.used |= theirs.used;
            // Alike in hasher, shape and size, they can't fail to fit. Their plan is one of all generations, also where a
            // file's blocks are too few for it.
            ours.filter.merge_bits(&theirs.filter)?;
        }
        Ok(())
    }

    fn check_fit<T: Blocks>(&self, other: &WindowBloom<T>) -> Result<(), MergeError> {
        let (ours, theirs) = (self.newest(), other.newest());
        if ours.hasher() != theirs.hasher() {
            return Err(MergeError::Hashers);
        }
        if ours.shape() != theirs.shape() {
            return Err(MergeError::Shapes { ours: ours.shape(), theirs: theirs.shape() });
        }
        let different = |what| Err(MergeError::Different { what });
        if self.clock.hand != Hand::Time || other.clock.hand != Hand::Time {
            return Err(MergeError::ByCount);
        }
        if (self.window(), self.generations()) != (other.window(), other.generations()) {
            return different("windows or numbers of slots");
        }
        // Filters of one plan have one size; with two plans it wouldn't be known which of them holds.
        if self.plan != other.plan
            || ours.planned_keys() != theirs.planned_keys()
            || ours.block_count() != theirs.block_count()
        {
            return different("plans");
        }
        Ok(())
    }
}
