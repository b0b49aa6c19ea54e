//! Union, and smaller filters from larger ones.

use super::CountingBloom;
use super::fields::Fields;
use crate::bits::{Block, Blocks, Line, Owned};
use crate::bloom::fold::{Fit, check_rate, largest_divisor};
use crate::merge_error::MergeError;
use crate::plan::Plan;
use crate::sizing::counting;

impl CountingBloom {
    /// Adds every key of `other`, as often as it is there: afterwards this filter is what it would be had all keys been
    /// inserted here. Counters whose sum passes the maximum stick.
    ///
    /// If one filter is larger by a whole factor it is folded first, and the result has the smaller size.
    ///
    /// ```
    /// use mayhap::CountingBloom;
    ///
    /// let mut monday = CountingBloom::with_rate(10_000, 0.01)?;
    /// let mut tuesday = monday.empty_like()?;
    /// monday.insert("ada");
    /// tuesday.extend(["ada", "grace"]);
    /// monday.merge(&tuesday)?;
    /// assert_eq!((monday.count("ada"), monday.count("grace")), (2, 1));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the two hash differently, have different layouts, or sizes that don't fit; or when `other` is mapped or
    /// borrowed and its counters are not those of so many keys as its header says. Nothing is changed then.
    pub fn merge<T: Blocks>(&mut self, other: &CountingBloom<T>) -> Result<(), MergeError> {
        let fit = self.fit(other)?;
        other.check_count().map_err(MergeError::Contradiction)?;
        match fit {
            Fit::Same => self.add_lines(other.blocks.lines()),
            Fit::FoldOurs(factor) => {
                self.fold(factor)?;
                self.add_lines(other.blocks.lines());
            }
            Fit::FoldTheirs(factor) => self.add_lines(&other.folded_blocks(factor)?),
        }
        self.len = self.len.saturating_add(other.len);
        self.plan = self.plan.either(other.plan).within(|rate| self.capacity(rate));
        Ok(())
    }

    fn add_lines(&mut self, lines: &[impl Line]) {
        let fields = Fields::new(self.layout.width);
        for (block, line) in self.blocks.iter_mut().zip(lines) {
            add_line(fields, block, line);
        }
    }

    fn fit<T: Blocks>(&self, other: &CountingBloom<T>) -> Result<Fit, MergeError> {
        if self.hasher != other.hasher {
            return Err(MergeError::Hashers);
        }
        if self.layout.width != other.layout.width {
            return Err(MergeError::Different { what: "counter widths" });
        }
        if self.layout.shape != other.layout.shape {
            return Err(MergeError::Different { what: "counter shapes" });
        }
        Fit::of(self.region_blocks(), other.region_blocks())
            .ok_or(MergeError::Sizes { ours: self.block_count(), theirs: other.block_count() })
    }

    /// Makes the filter `factor` times smaller, at a higher rate: exactly the filter that the same keys would have
    /// given had it been made that small (where no counter is stuck). The plan keeps its rate, for as many keys as the
    /// smaller filter holds.
    ///
    /// # Errors
    /// When `factor` doesn't divide the number of lines (of half the lines, for a shape of two), is 0, or the memory for
    /// the copy can't be had.
    pub fn fold(&mut self, factor: u64) -> Result<(), MergeError> {
        self.blocks = self.folded_blocks(factor)?;
        self.plan = self.plan.within(|rate| self.capacity(rate));
        Ok(())
    }

    /// How many keys it holds at a rate.
    fn capacity(&self, rate: f64) -> u64 {
        counting::capacity(self.layout, self.block_count(), rate)
    }

    /// Folds as far as the rate stays at or below `rate` with the keys that are in the filter now, and says by which
    /// factor (1: not at all). An empty filter keeps room for one key.
    ///
    /// # Errors
    /// When `rate` isn't between 0 and 1, or the memory for the copy can't be had.
    pub fn fold_to_rate(&mut self, rate: f64) -> Result<u64, MergeError> {
        check_rate(rate)?;
        // An empty filter, too, is planned for a key, which must have the rate.
        let keys = self.estimated_len().max(1);
        let largest = largest_divisor(self.region_blocks(), |factor| {
            counting::rate(self.layout, keys, self.block_count() / factor) <= rate
        });
        if largest > 1 {
            self.blocks = self.folded_blocks(largest)?;
            self.plan = Plan { keys, rate };
        }
        Ok(largest)
    }
}

impl<S: Blocks> CountingBloom<S> {
    /// Lines in one region: a shape of two lines has a region for each.
    fn region_blocks(&self) -> u64 {
        self.block_count() / self.layout.shape.lines()
    }

    /// Adds up every `factor` neighbouring lines. A region stays a region, because the factor divides its length.
    fn folded_blocks(&self, factor: u64) -> Result<Owned, MergeError> {
        let size = self.region_blocks();
        let step = usize::try_from(factor).unwrap_or(0);
        if step == 0 || !size.is_multiple_of(factor) {
            return Err(MergeError::Factor { factor, size });
        }
        let fields = Fields::new(self.layout.width);
        let mut folded = Owned::zeroed(self.block_count() / factor)?;
        for (block, lines) in folded.iter_mut().zip(self.blocks.lines().chunks_exact(step)) {
            for line in lines {
                add_line(fields, block, line);
            }
        }
        Ok(folded)
    }
}

fn add_line(fields: Fields, block: &mut Block, line: &impl Line) {
    for (word, theirs) in block.0.iter_mut().zip(line.words()) {
        *word = fields.add(*word, theirs);
    }
}
