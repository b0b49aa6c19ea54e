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

/// Where it is measured, that is done after this share of the planned lines, because it looks at all of the memory.
const MEASURED_STEPS: u64 = 16;

/// At this rate a filter is full: so few lines are found to be new that nothing can be concluded from their number.
const FULL: f64 = 0.99;

/// Up to this rate it is known well how many of the lines were new.
const HALF_FULL: f64 = 0.5;

/// Adds up, while the filter fills, the chance each new line had to be taken for a repeat.
///
/// The rate at the end would be too pessimistic: the first lines met an almost empty filter. So the rate is followed
/// along the way. Of the lines that were new, a share r is taken for repeats and 1 - r is not; for every line that was
/// found to be new, r / (1 - r) were mistaken.
///
/// A full filter finds nothing new any more, and says nothing about how much it mistakes. What it drops may all be repeats,
/// or none of it; as many are expected to be new as of the lines before.
#[derive(Debug)]
pub(super) struct Loss {
    curve: Curve,
    promised_rate: f64,
    /// New lines that are accounted for.
    counted: u64,
    /// All lines that are.
    lines: u64,
    rate_now: f64,
    /// As concluded from the lines that were found to be new.
    concluded: f64,
    /// Lines that a full filter took for repeats, and of which nothing can be concluded.
    unknown: f64,
    /// How many of the lines before were new, as far as that is known well. Of none, all: the summary shouldn't promise
    /// what nobody knows.
    new_share: f64,
    step: u64,
}

/// Where the rate comes from.
#[derive(Debug)]
enum Curve {
    /// From the number of lines in the filter; so many were in it at the start.
    Computed { shape: Shape, blocks: u64, before: u64 },
    /// From the bits. They alone know how many lines a window has forgotten, and what a filter far over its plan holds.
    Measured,
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
                (Curve::Measured, rate, MEASURED_STEPS)
            }
        };
        let step = (seen.planned_lines() / steps).max(1);
        let (concluded, unknown, new_share) = (0.0, 0.0, 1.0);
        let mut loss = Self {
            curve,
            promised_rate,
            counted: 0,
            lines: 0,
            rate_now,
            concluded,
            unknown,
            new_share,
            step,
        };
        loss.measure_if_far_over(seen);
        loss
    }

    /// By now `lines` lines have passed, of which `new` were found to be new.
    pub(super) fn count(&mut self, new: u64, lines: u64, seen: &Seen) {
        let passed = match self.curve {
            Curve::Computed { .. } => new - self.counted,
            Curve::Measured => lines - self.lines,
        };
        if passed >= self.step {
            self.settle(new, lines, seen);
        }
    }

    /// Accounts for all lines up to now.
    pub(super) fn settle(&mut self, new: u64, lines: u64, seen: &Seen) {
        let concluded_before = self.concluded;
        let repeats = (lines - self.lines).saturating_sub(new - self.counted) as f64;
        match self.curve {
            Curve::Measured if lines == self.lines => return,
            Curve::Measured => self.advance(new - self.counted, seen.expected_rate()),
            Curve::Computed { .. } => {
                let pieces = ((new - self.counted) / self.step).clamp(1, MOST_PIECES);
                for left in (1..=pieces).rev() {
                    let lines = (new - self.counted) / left;
                    let rate = self.rate_after(lines);
                    self.advance(lines, rate);
                }
                self.measure_if_far_over(seen);
            }
        }
        self.lines = lines;
        if self.rate_now >= FULL {
            self.concluded = self.concluded.min(concluded_before + repeats);
            self.unknown += concluded_before + repeats - self.concluded;
        } else if lines > 0 && self.rate_now < HALF_FULL {
            let known = (lines as f64 - self.unknown).max(1.0);
            self.new_share = ((new as f64 + self.concluded) / known).min(1.0);
        }
    }

    /// Leaves the curve once the filter is far over its plan. From the lines that were found to be new it would be seen
    /// less and less how many there were.
    fn measure_if_far_over(&mut self, seen: &Seen) {
        if matches!(self.curve, Curve::Computed { .. }) && self.rate_now > (2.0 * self.promised_rate).min(0.5)
        {
            self.curve = Curve::Measured;
            self.rate_now = seen.expected_rate();
            self.step = (seen.planned_lines() / MEASURED_STEPS).max(1);
        }
    }

    /// The rate when so many more new lines are in the filter.
    fn rate_after(&self, lines: u64) -> f64 {
        let Curve::Computed { shape, blocks, before } = self.curve else { return self.rate_now };
        // A mistaken line leaves the filter as if it had been inserted: all of its bits were set.
        let counted = self.counted.saturating_add(lines);
        let held = before.saturating_add(counted).saturating_add(whole(self.concluded));
        blocked::rate(shape, held, blocks)
    }

    /// Accounts for the next `lines` that were new, up to when the rate is `rate`.
    fn advance(&mut self, lines: u64, rate: f64) {
        self.counted += lines;
        // The rate bends upwards, so the straight line between two points errs on the pessimistic side.
        let mean = (self.rate_now + rate) / 2.0;
        // One line that a full filter finds to be new stands for a number that is mostly chance.
        self.concluded += lines as f64 * mean / (1.0 - mean).max(1.0 - FULL);
        self.rate_now = rate;
    }

    /// The expected number of new lines that were taken for repeats.
    pub(super) fn expected(&self) -> f64 {
        self.concluded + self.unknown * self.new_share
    }

    /// Between what and what that number is, about, if the filter was full at some time: then nobody can say more.
    pub(super) fn bounds(&self) -> Option<(f64, f64)> {
        (self.unknown > 0.0).then_some((self.concluded, self.concluded + self.unknown))
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

    /// Lines of which each comes `times` times, through filters of which most are full long before the last.
    fn through_a_full_filter(planned: u64, times: u64) -> (Loss, f64) {
        let mut seen = Seen::Ever(BloomFilter::with_rate(planned, 1e-6).unwrap());
        let mut loss = Loss::new(&seen, 1e-6, true);
        let (mut new, mut lines) = (0, 0);
        for first in (0..60_000u64).step_by(1_000) {
            let digests: Vec<_> =
                (first..first + 1_000).map(|line| seen.hasher().digest(&(line / times))).collect();
            let mut is_new = vec![false; digests.len()];
            seen.insert_hashes(&digests, 0, &mut is_new);
            new += is_new.iter().filter(|is_new| **is_new).count() as u64;
            lines += 1_000;
            loss.count(new, lines, &seen);
        }
        loss.settle(new, lines, &seen);
        assert!((loss.rate_now() - seen.expected_rate()).abs() < 1e-9, "{planned}: {}", loss.rate_now());
        assert!(loss.is_over_rate());
        (loss, (60_000 / times - new) as f64)
    }

    #[test]
    fn a_full_filter_is_not_taken_for_one_that_sees_only_repeats() {
        for planned in [1, 10, 100, 1_000] {
            for times in [1, 2] {
                let (loss, mistaken) = through_a_full_filter(planned, times);
                let (least, most) = loss.bounds().unwrap();
                assert!(
                    least <= 1.1 * mistaken && mistaken <= 1.01 * most,
                    "{planned}: {least} {mistaken} {most}"
                );
                // Of the smallest not even the first thousand lines could be told apart: then all count as new.
                let factor = loss.expected() / mistaken;
                let highest = if times == 1 { 1.1 } else { 2.2 };
                assert!(
                    factor > 0.8 && factor < highest,
                    "{planned}: {mistaken}, {} expected",
                    loss.expected()
                );
            }
        }
        // Over its plan and not full: the number can be told.
        let (loss, mistaken) = through_a_full_filter(10_000, 1);
        assert_eq!(loss.bounds(), None);
        assert!((loss.expected() / mistaken - 1.0).abs() < 0.1, "{mistaken}, {} expected", loss.expected());
    }

    #[test]
    fn a_full_state_says_that_nothing_is_known() {
        let mut seen = Seen::Ever(BloomFilter::with_rate(10, 1e-6).unwrap());
        let digests: Vec<_> = (0..10_000u64).map(|line| seen.hasher().digest(&line)).collect();
        seen.insert_hashes(&digests, 0, &mut vec![false; digests.len()]);
        let mut loss = Loss::new(&seen, 1e-6, false);
        assert!(loss.is_over_rate());
        loss.settle(0, 500, &seen);
        assert_eq!((loss.expected(), loss.bounds()), (500.0, Some((0.0, 500.0))));
    }
}
