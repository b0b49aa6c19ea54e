//! How many lines were probably lost.

use mayhap::BloomFilter;
use mayhap::bloom::Shape;
use mayhap::sizing::blocked;

use crate::numbers::whole;

/// The rate is worked out again after this share of the planned lines: often enough for the curve, seldom enough to cost
/// nothing.
const STEPS: u64 = 1024;

/// A batch of lines may be more than that share of a small plan; it is then accounted for in up to so many pieces.
const MOST_PIECES: u64 = 16;

/// Adds up, while the filter fills, the chance each new line had to be taken for a repeat.
///
/// The rate at the end would be too pessimistic: the first lines met an almost empty filter. So the rate is followed
/// along the way. Of the lines that were new, a share r is dropped and 1 - r printed; for every line printed, r / (1 - r)
/// were lost.
#[derive(Debug)]
pub(super) struct Loss {
    shape: Shape,
    blocks: u64,
    promised_rate: f64,
    /// Lines in the filter when the rate was last worked out.
    counted: u64,
    rate_now: f64,
    expected: f64,
    step: u64,
}

impl Loss {
    /// For an empty filter.
    pub(super) fn new(filter: &BloomFilter, promised_rate: f64) -> Self {
        Self {
            shape: filter.shape(),
            blocks: filter.block_count(),
            promised_rate,
            counted: 0,
            rate_now: 0.0,
            expected: 0.0,
            step: (filter.planned_keys() / STEPS).max(1),
        }
    }

    /// There are now `printed` lines in the filter.
    pub(super) fn count(&mut self, printed: u64) {
        if printed - self.counted >= self.step {
            self.settle(printed);
        }
    }

    /// Accounts for all lines up to now.
    pub(super) fn settle(&mut self, printed: u64) {
        let pieces = ((printed - self.counted) / self.step).clamp(1, MOST_PIECES);
        for left in (1..=pieces).rev() {
            self.advance((printed - self.counted) / left);
        }
    }

    /// Accounts for the next `lines` that were printed.
    fn advance(&mut self, lines: u64) {
        if lines == 0 {
            return;
        }
        self.counted += lines;
        // A lost line leaves the filter as if it had been inserted: all of its bits were set.
        let held = self.counted.saturating_add(whole(self.expected));
        let rate = blocked::rate(self.shape, held, self.blocks);
        // The rate bends upwards, so the straight line between two points errs on the pessimistic side.
        let mean = (self.rate_now + rate) / 2.0;
        // A full filter prints nothing any more, and says nothing about how much it drops.
        self.expected += lines as f64 * mean / (1.0 - mean).max(f64::EPSILON);
        self.rate_now = rate;
    }

    /// The expected number of new lines that were dropped.
    pub(super) fn expected(&self) -> f64 {
        self.expected
    }

    /// The chance of the next new line to be dropped.
    pub(super) fn rate_now(&self) -> f64 {
        self.rate_now
    }

    /// The rate asked for.
    pub(super) fn promised_rate(&self) -> f64 {
        self.promised_rate
    }

    /// The rate has passed the one asked for.
    pub(super) fn is_over_rate(&self) -> bool {
        self.rate_now > self.promised_rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_the_rate_as_the_filter_fills() {
        let filter = BloomFilter::with_rate(100_000, 0.01).unwrap();
        let mut loss = Loss::new(&filter, 0.01);
        let mut exact = 0.0;
        for printed in 1..=100_000 {
            if printed % 100 == 0 {
                let rate = blocked::rate(filter.shape(), printed, filter.block_count());
                exact += 100.0 * rate / (1.0 - rate);
            }
            loss.count(printed);
        }
        loss.settle(100_000);
        assert!(!loss.is_over_rate());
        assert!((loss.expected() / exact - 1.0).abs() < 0.02, "{} {exact}", loss.expected());
        // Far less than the 1000 the last rate alone would give.
        assert!(loss.expected() < 300.0, "{}", loss.expected());
    }

    #[test]
    fn is_what_really_happens() {
        // 20 filters of 5 000 lines, filled to three times their plan: the counts pool to a few thousand lost lines.
        let (mut expected, mut lost) = (0.0, 0.0);
        for seed in 0..20u64 {
            let mut filter = BloomFilter::builder().keys(5_000).rate(0.01).seed(seed).build().unwrap();
            let mut loss = Loss::new(&filter, 0.01);
            let mut printed = 0;
            for key in 0..15_000u64 {
                if filter.insert(&key) {
                    printed += 1;
                    loss.count(printed);
                } else {
                    lost += 1.0;
                }
            }
            loss.settle(printed);
            assert!(loss.is_over_rate());
            expected += loss.expected();
        }
        // Losses are independent but for the filter they share; four standard errors of a Poisson count of this size.
        assert!(f64::abs(lost - expected) < 4.0 * f64::sqrt(expected), "{lost} lost, {expected} expected");
    }

    #[test]
    fn a_filter_far_over_its_plan_stays_a_number() {
        let filter = BloomFilter::with_rate(1, 0.5).unwrap();
        let mut loss = Loss::new(&filter, 0.5);
        loss.count(1_000_000);
        loss.settle(2_000_000);
        assert!(loss.is_over_rate() && loss.expected().is_finite());
    }
}
