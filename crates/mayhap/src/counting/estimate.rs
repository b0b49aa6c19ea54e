//! What the counters say about the filter: how full, how many keys, which rate, how many are stuck.
//!
//! These look at every line: about a second for 10 GiB. Ask once in a while, not with every key.

use alloc::vec;
use alloc::vec::Vec;

use super::CountingBloom;
use super::fields::Fields;
use crate::bits::{BLOCK_WORDS, Blocks, Line};
use crate::sizing::counting;

impl<S: Blocks> CountingBloom<S> {
    /// The part of all counters that is above zero.
    #[must_use]
    pub fn fill_ratio(&self) -> f64 {
        self.counters_above_zero() as f64 / self.counter_count() as f64
    }

    /// How many distinct keys are in the filter, estimated from the counters above zero. Exact within a percent for
    /// filters of a hundred thousand keys or more. [`len`](Self::len) counts copies too, and exactly.
    ///
    /// When no counter is zero there is no estimate; a lower bound is returned. Stuck counters count as in use.
    #[must_use]
    pub fn estimated_len(&self) -> u64 {
        counting::estimated_keys(self.layout, self.counters_above_zero(), self.block_count())
    }

    /// The rate at which the filter, as it is now, answers "mayhap" for absent keys: computed from the counters really
    /// above zero in every line, not from a count of insertions.
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        let region = self.blocks.lines().len() / if self.layout.shape.lines() == 2 { 2 } else { 1 };
        // The mean over the lines of a region: a digest picks each with the same probability. Two regions are picked
        // independently.
        self.blocks
            .lines()
            .chunks(region)
            .map(|region| {
                region.iter().map(|line| self.pass_probability(line)).sum::<f64>() / region.len() as f64
            })
            .product()
    }

    /// Whether more distinct keys are in it than were planned, so that the rate has risen above the promise.
    #[must_use]
    pub fn is_over_plan(&self) -> bool {
        let above_zero = self.counters_above_zero();
        // Full, it can't be estimated; and no filter is full that holds what it was planned for.
        if above_zero == self.counter_count() {
            return true;
        }
        above_zero as f64 > counting::most_counters(self.layout, self.plan.keys, self.block_count())
    }

    /// How many counters have reached their maximum. They have lost count, so removes leave them as they are for ever,
    /// and each adds a little to the rate.
    ///
    /// ```
    /// use mayhap::CountingBloom;
    ///
    /// let mut filter = CountingBloom::with_rate(1_000, 0.01)?;
    /// for _ in 0..14 {
    ///     filter.insert("apple");
    /// }
    /// assert_eq!(filter.stuck_counters(), 0);
    /// filter.insert("apple"); // the fifteenth
    /// assert_eq!(filter.stuck_counters(), 8);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[must_use]
    pub fn stuck_counters(&self) -> u64 {
        self.sum_over_words(Fields::stuck)
    }

    /// How many lines have 0, 1, 2 … counters above zero: how evenly the keys fell.
    ///
    /// ```
    /// use mayhap::CountingBloom;
    ///
    /// let mut filter = CountingBloom::with_rate(1_000, 0.01)?;
    /// assert_eq!(filter.line_loads()[0], filter.block_count());
    /// filter.insert("apple");
    /// assert!(filter.line_loads()[0] < filter.block_count());
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "a line has 128 counters at most")]
    pub fn line_loads(&self) -> Vec<u64> {
        let fields = Fields::new(self.layout.width);
        // The most there can be, for the narrowest counters; the rest is cut off.
        let mut loads = vec![0; 129];
        for line in self.blocks.lines() {
            loads[line.words().iter().map(|word| fields.above_zero(*word)).sum::<u64>() as usize] += 1;
        }
        loads.truncate(self.layout.counters_per_line() as usize + 1);
        loads
    }

    fn counters_above_zero(&self) -> u64 {
        self.sum_over_words(Fields::above_zero)
    }

    /// The sum of all counters: k times [`len`](Self::len), unless some are stuck.
    pub(super) fn sum_of_counters(&self) -> u64 {
        self.sum_over_words(Fields::sum)
    }

    #[inline(always)]
    fn sum_over_words(&self, of: impl Fn(Fields, u64) -> u64) -> u64 {
        let fields = Fields::new(self.layout.width);
        self.blocks
            .lines()
            .iter()
            .map(|line| line.words().iter().map(|word| of(fields, *word)).sum::<u64>())
            .sum()
    }

    /// The probability that a random digest finds all its counters in this line above zero.
    fn pass_probability(&self, line: &S::Line) -> f64 {
        let (fields, words) = (Fields::new(self.layout.width), line.words());
        let group = self.layout.counters_per_group() as f64;
        if self.layout.shape.groups() as usize == BLOCK_WORDS {
            words.iter().map(|word| fields.above_zero(*word) as f64 / group).product()
        } else {
            let (low, high) = words.split_at(BLOCK_WORDS / 2);
            let pairs = low.iter().zip(high);
            pairs
                .map(|(low, high)| (fields.above_zero(*low) + fields.above_zero(*high)) as f64 / group)
                .product()
        }
    }
}
