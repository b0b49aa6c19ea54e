//! Which slot it is: all the arithmetic of time, in whole numbers.
//!
//! A window of length T has g slots. Slot number s holds the instants t with ⌊t·g / T⌋ = s. The division is exact (in
//! 128 bits) and T needn't be a multiple of g: slots then differ by one instant in length, and any g neighbouring ones
//! are exactly T long together. A generation of slot s is asked while the slot of *now* is at most s + g.
//!
//! - *Remembered for T.* now − t ≤ T gives now·g/T ≤ t·g/T + g, and so ⌊now·g/T⌋ ≤ ⌊t·g/T⌋ + g: it is asked.
//! - *Forgotten by T + T/g.* now − t ≥ T + T/g gives now·g/T ≥ t·g/T + g + 1, and so ⌊now·g/T⌋ ≥ ⌊t·g/T⌋ + g + 1: it
//!   isn't.
//!
//! Counting insertions is the same with another clock: the n-th insertion happens at the instant n.

/// What moves the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hand {
    /// The caller says what time it is.
    Time,
    /// Every insertion is an instant; so many have been.
    Insertions(u64),
}

/// Counting ends here: the highest number means "by time" in a file.
pub(super) const MOST_INSERTIONS: u64 = u64::MAX - 1;

/// The newest instant seen, as far as it matters: its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    window: u64,
    slots: u32,
    slot: u64,
    /// The last instant of the slot: most questions are decided by one comparison with it.
    last: u64,
    pub(super) hand: Hand,
}

impl Clock {
    /// A clock at instant 0. There are 1 to `window` slots.
    pub(super) fn new(window: u64, slots: u32, hand: Hand) -> Self {
        debug_assert!(slots > 0 && u64::from(slots) <= window);
        Self { window, slots, slot: 0, last: 0, hand }.at(0)
    }

    /// The same clock at instant 0.
    pub(super) fn restarted(self) -> Self {
        let hand = match self.hand {
            Hand::Time => Hand::Time,
            Hand::Insertions(_) => Hand::Insertions(0),
        };
        Self::new(self.window, self.slots, hand)
    }

    /// The clock in a slot.
    pub(super) fn at(mut self, slot: u64) -> Self {
        self.slot = slot;
        // One instant before the next slot begins at ⌈(slot + 1)·T / g⌉. Neither factor exceeds 2^64, and not both do.
        let next = (u128::from(slot) + 1) * u128::from(self.window);
        self.last = u64::try_from((next - 1) / u128::from(self.slots)).unwrap_or(u64::MAX);
        self
    }

    pub(super) fn window(&self) -> u64 {
        self.window
    }

    pub(super) fn slots(&self) -> u32 {
        self.slots
    }

    pub(super) fn slot(&self) -> u64 {
        self.slot
    }

    /// The last instant of the slot.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// The slot of an instant. Not above `instant`, because a window is at least as long as it has slots.
    pub(super) fn slot_of(&self, instant: u64) -> u64 {
        let slot = u128::from(instant) * u128::from(self.slots) / u128::from(self.window);
        u64::try_from(slot).unwrap_or(u64::MAX)
    }

    /// How many slots `now` is ahead. An instant that has passed already counts as the newest one: 0.
    #[inline]
    pub(super) fn ahead(&self, now: u64) -> u64 {
        if now <= self.last { 0 } else { self.slot_of(now) - self.slot }
    }

    /// Moves on to `now`, and says by how many slots.
    #[inline]
    pub(super) fn advance(&mut self, now: u64) -> u64 {
        let ahead = self.ahead(now);
        if ahead > 0 {
            *self = self.at(self.slot + ahead);
        }
        ahead
    }

    /// How many more instants the slot has from `now` on; at least one.
    pub(super) fn room(&self, now: u64) -> u64 {
        self.last.saturating_sub(now).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_for_the_window_and_forgets_by_a_slot_more_exactly() {
        for slots in 1..=7u64 {
            for window in slots..=24 {
                let clock = Clock::new(window, slots as u32, Hand::Time);
                let (mut shortest, mut longest) = (u64::MAX, 0);
                for then in 0..3 * window {
                    for now in then..then + 3 * window {
                        let asked = clock.slot_of(now) <= clock.slot_of(then) + slots;
                        let age = now - then;
                        if age <= window {
                            assert!(asked, "{then} to {now}: {window} in {slots}");
                        }
                        if age * slots >= window * slots + window {
                            assert!(!asked, "{then} to {now}: {window} in {slots}");
                        }
                        if asked {
                            longest = longest.max(age);
                        } else {
                            shortest = shortest.min(age);
                        }
                    }
                }
                // Both bounds are reached, as far as whole numbers can.
                assert_eq!(shortest, window + 1, "{window} in {slots}");
                assert_eq!(longest, (window * (slots + 1)).div_ceil(slots) - 1, "{window} in {slots}");
            }
        }
    }

    #[test]
    fn the_short_cut_agrees_with_the_division() {
        for slots in 1..=9u32 {
            for window in (u64::from(slots)..40).chain([1 << 40, u64::MAX / 2, u64::MAX - 1, u64::MAX]) {
                let start = Clock::new(window, slots, Hand::Time);
                let near = |instant: u64| instant.saturating_sub(3)..=instant.saturating_add(3);
                let instants = near(0)
                    .chain(4..100)
                    .chain(near(window / u64::from(slots)))
                    .chain(near(window))
                    .chain(near(u64::MAX));
                for now in instants.clone() {
                    let mut clock = start;
                    assert_eq!(clock.advance(now), clock.slot_of(now));
                    assert_eq!(clock.slot(), start.slot_of(now));
                    assert!(clock.last() >= now && clock.slot_of(clock.last()) == clock.slot());
                    if let Some(next) = clock.last().checked_add(1) {
                        assert_eq!(clock.slot_of(next), clock.slot() + 1);
                    }
                    for later in instants.clone() {
                        let expected = start.slot_of(later).saturating_sub(clock.slot());
                        assert_eq!(clock.ahead(later), expected, "{window} in {slots}: {now}, then {later}");
                    }
                }
            }
        }
    }
}
