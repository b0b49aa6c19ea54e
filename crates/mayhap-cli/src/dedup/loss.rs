//! How many lines were probably taken for repeats by mistake.

use mayhap::bloom::Shape;
use mayhap::sizing::blocked;

use super::seen::Seen;
use crate::numbers::whole;

/// The rate is worked out again after this share of the planned lines: often enough for the curve, seldom enough to cost
/// nothing.
const STEPS: u64 = 1024;

/// A batch of lines may be more than that share of a small plan; it is then accounted for in up to so many pieces.
const MOST_PIECES: u64 = 16;

/// In a window it is measured after this share of the lines planned for it, because that looks at all of its memory.
const WINDOW_STEPS: u64 = 16;

/// Adds up, while the filter fills, the chance each new line had to be taken for a repeat.
///
/// The rate at the end would be too pessimistic: the first lines met an almost empty filter. So the rate is followed
/// along the way. Of the lines that were new, a share r is taken for repeats and 1 - r is not; for every line that was
/// found to be new, r / (1 - r) were mistaken.
#[derive(Debug)]
pub(super) struct Loss {
    curve: Curve,
    promised_rate: f64,
    /// New lines that are accounted for.
    counted: u64,
    rate_now: f64,
    expected: f64,
    step: u64,
}

/// Where the rate comes from.
#[derive(Debug)]
enum Curve {
    /// From the number of lines in the filter; so many were in it at the start.
    Computed { shape: Shape, blocks: u64, before: u64 },
    /// From the bits, which alone know how many lines a window has forgotten. Last measured after so many lines.
    Measured { lines: u64 },
}

impl Loss {
    /// For a filter that may hold something already.
    pub(super) fn new(seen: &Seen, promised_rate: f64, is_empty: bool) -> Self {
        let (curve, rate_now, steps) = match seen {
            Seen::Ever(filter) => {
                let before = if is_empty { 0 } else { filter.estimated_len() };
                let (shape, blocks) = (filter.shape(), filter.block_count());
                (Curve::Computed { shape, blocks, before }, blocked::rate(shape, before, blocks), STEPS)
            }
            Seen::Lately(filter) => {
                let rate = if is_empty { 0.0 } else { filter.expected_rate() };
                (Curve::Measured { lines: 0 }, rate, WINDOW_STEPS)
            }
        };
        let step = (seen.planned_lines() / steps).max(1);
        Self { curve, promised_rate, counted: 0, rate_now, expected: 0.0, step }
    }

    /// By now `lines` lines have passed, of which `new` were found to be new.
    pub(super) fn count(&mut self, new: u64, lines: u64, seen: &Seen) {
        let passed = match self.curve {
            Curve::Computed { .. } => new - self.counted,
            Curve::Measured { lines: measured } => lines - measured,
        };
        if passed >= self.step {
            self.settle(new, lines, seen);
        }
    }

    /// Accounts for all lines up to now.
    pub(super) fn settle(&mut self, new: u64, lines: u64, seen: &Seen) {
        match (&mut self.curve, seen) {
            (Curve::Measured { lines: measured }, Seen::Lately(filter)) => {
                if *measured < lines {
                    *measured = lines;
                    self.advance(new - self.counted, filter.expected_rate());
                }
            }
            _ => {
                let pieces = ((new - self.counted) / self.step).clamp(1, MOST_PIECES);
                for left in (1..=pieces).rev() {
                    let lines = (new - self.counted) / left;
                    let rate = self.rate_after(lines);
                    self.advance(lines, rate);
                }
            }
        }
    }

    /// The rate when so many more new lines are in the filter.
    fn rate_after(&self, lines: u64) -> f64 {
        let Curve::Computed { shape, blocks, before } = self.curve else { return self.rate_now };
        // A mistaken line leaves the filter as if it had been inserted: all of its bits were set.
        let counted = self.counted.saturating_add(lines);
        let held = before.saturating_add(counted).saturating_add(whole(self.expected));
        blocked::rate(shape, held, blocks)
    }

    /// Accounts for the next `lines` that were new, up to when the rate is `rate`.
    fn advance(&mut self, lines: u64, rate: f64) {
        self.counted += lines;
        // The rate bends upwards, so the straight line between two points errs on the pessimistic side.
        let mean = (self.rate_now + rate) / 2.0;
        // A full filter finds nothing new any more, and says nothing about how much it mistakes.
        self.expected += lines as f64 * mean / (1.0 - mean).max(f64::EPSILON);
        self.rate_now = rate;
    }

    /// The expected number of new lines that were taken for repeats.
    pub(super) fn expected(&self) -> f64 {
        self.expected
    }

    /// The chance of the next new line to be taken for one.
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
    use mayhap::{BloomFilter, WindowBloom};

    #[test]
    fn follows_the_rate_as_the_filter_fills() {
        let filter = BloomFilter::with_rate(100_000, 0.01).unwrap();
        let (shape, blocks) = (filter.shape(), filter.block_count());
        let seen = Seen::Ever(filter);
        let mut loss = Loss::new(&seen, 0.01, true);
        let mut exact = 0.0;
        for new in 1..=100_000 {
            if new % 100 == 0 {
                let rate = blocked::rate(shape, new, blocks);
                exact += 100.0 * rate / (1.0 - rate);
            }
            loss.count(new, new, &seen);
        }
        loss.settle(100_000, 100_000, &seen);
        assert!(!loss.is_over_rate());
        assert!((loss.expected() / exact - 1.0).abs() < 0.02, "{} {exact}", loss.expected());
        // Far less than the 1000 the last rate alone would give.
        assert!(loss.expected() < 300.0, "{}", loss.expected());
    }

    #[test]
    fn is_what_really_happens() {
        // 20 filters of 5 000 lines, filled to three times their plan: the counts pool to a few thousand mistaken
        // lines. Every other one is laid down and taken up again in the middle.
        let (mut expected, mut mistaken) = (0.0, 0.0);
        for seed in 0..20u64 {
            let filter = BloomFilter::builder().keys(5_000).rate(0.01).seed(seed).build().unwrap();
            let mut seen = Seen::Ever(filter);
            let mut loss = Loss::new(&seen, 0.01, true);
            let mut new = 0;
            for key in 0..15_000u64 {
                let digest = seen.hasher().digest(&key);
                let mut is_new = [false];
                seen.insert_hashes(&[digest], 0, &mut is_new);
                if is_new[0] {
                    new += 1;
                    loss.count(new, key, &seen);
                } else {
                    mistaken += 1.0;
                }
                if key == 7_000 && seed % 2 == 0 {
                    loss.settle(new, key, &seen);
                    expected += loss.expected();
                    loss = Loss::new(&seen, 0.01, false);
                    new = 0;
                }
            }
            loss.settle(new, 15_000, &seen);
            assert!(loss.is_over_rate());
            expected += loss.expected();
        }
        // Mistakes are independent but for the filter they share; four standard errors of a Poisson count of this size.
        assert!(f64::abs(mistaken - expected) < 4.0 * f64::sqrt(expected), "{mistaken}, {expected} expected");
    }

    #[test]
    fn is_what_really_happens_in_a_window() {
        // 40 000 lines in a window of 10 000 instants, made for half as many lines as come in one: it forgets, and
        // keeps mistaking.
        let (mut expected, mut mistaken) = (0.0, 0.0);
        for seed in 0..10u64 {
            let builder = WindowBloom::builder().window(10_000).keys(5_000).rate(0.02).seed(seed);
            let mut seen = Seen::Lately(builder.build().unwrap());
            let mut loss = Loss::new(&seen, 0.02, true);
            let mut new = 0;
            for key in 0..40_000u64 {
                let digest = seen.hasher().digest(&key);
                let mut is_new = [false];
                seen.insert_hashes(&[digest], key, &mut is_new);
                new += u64::from(is_new[0]);
                mistaken += if is_new[0] { 0.0 } else { 1.0 };
                loss.count(new, key + 1, &seen);
            }
            loss.settle(new, 40_000, &seen);
            assert!(loss.is_over_rate());
            expected += loss.expected();
        }
        // The rate is followed in steps, and saws up and down with the slots: a tenth is as good as it gets.
        assert!(mistaken > 10_000.0);
        assert!(f64::abs(mistaken / expected - 1.0) < 0.1, "{mistaken}, {expected} expected");
    }

    #[test]
    fn a_filter_far_over_its_plan_stays_a_number() {
        let seen = Seen::Ever(BloomFilter::with_rate(1, 0.5).unwrap());
        let mut loss = Loss::new(&seen, 0.5, true);
        loss.count(1_000_000, 1_000_000, &seen);
        loss.settle(2_000_000, 2_000_000, &seen);
        assert!(loss.is_over_rate() && loss.expected().is_finite());
    }
}
