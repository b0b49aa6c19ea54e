//! Which bytes of something have come.

use std::collections::BTreeMap;

/// The most stretches that don't touch. Somebody who sends every other byte must not fill the memory with their places.
const MOST_STRETCHES: usize = 1 << 16;

/// Stretches of bytes, in any order and overlapping or not, until all are there.
///
/// For layouts whose loader doesn't keep count itself.
#[derive(Clone, Debug)]
pub(crate) struct Coverage {
    needed: u64,
    covered: u64,
    /// Where each stretch begins and ends. No two touch.
    stretches: BTreeMap<u64, u64>,
}

impl Coverage {
    /// Nothing of so many bytes yet.
    pub(crate) const fn new(needed: u64) -> Self {
        Self { needed, covered: 0, stretches: BTreeMap::new() }
    }

    /// These bytes have come. Whether now all have; nothing if what has come is too scattered to be kept track of, and
    /// these bytes don't count.
    pub(crate) fn add(&mut self, start: u64, length: u64) -> Option<bool> {
        let is_alone = self
            .stretches
            .range(..=start.saturating_add(length))
            .next_back()
            .is_none_or(|(_, to)| *to < start);
        if is_alone && self.stretches.len() >= MOST_STRETCHES {
            return None;
        }
        let (mut start, mut end) = (start, start.saturating_add(length).min(self.needed));
        while start < end {
            // The last stretch that begins at or before our end: if it reaches our start, it becomes part of ours.
            let Some((&from, &to)) = self.stretches.range(..=end).next_back().filter(|(_, to)| **to >= start)
            else {
                break;
            };
            self.stretches.remove(&from);
            self.covered -= to - from;
            (start, end) = (start.min(from), end.max(to));
        }
        if start < end {
            self.stretches.insert(start, end);
            self.covered += end - start;
        }
        Some(self.covered == self.needed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_in_any_order_come_together() {
        let mut coverage = Coverage::new(100);
        for (start, length) in [(50, 10), (0, 20), (80, 20), (20, 0), (10, 45)] {
            assert_eq!(coverage.add(start, length), Some(false));
        }
        assert_eq!(coverage.stretches, BTreeMap::from([(0, 60), (80, 100)]));
        assert_eq!(coverage.add(0, 60), Some(false), "once more changes nothing");
        assert_eq!(coverage.add(60, 20), Some(true));
        assert_eq!(coverage.stretches.len(), 1);
        assert_eq!((coverage.add(5, u64::MAX), coverage.add(200, 5)), (Some(true), Some(true)));
    }

    #[test]
    fn a_byte_at_a_time_is_counted_right() {
        let mut coverage = Coverage::new(257);
        for place in (0..257).map(|i| i * 91 % 257) {
            let seen = coverage.covered;
            let whole = coverage.add(place, 1);
            assert_eq!((coverage.covered, whole), (seen + 1, Some(seen + 1 == 257)));
        }
    }

    #[test]
    fn every_other_byte_is_too_much() {
        let mut coverage = Coverage::new(u64::MAX);
        let most = (0..).step_by(2).take_while(|place| coverage.add(*place, 1).is_some()).count();
        assert_eq!(most, MOST_STRETCHES);
        assert_eq!(coverage.add(1, 1), Some(false), "what touches others is welcome");
        assert_eq!(coverage.stretches.len(), MOST_STRETCHES - 1);
    }
}
