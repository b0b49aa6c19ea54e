//! Union, intersection, and smaller filters from larger ones.

use super::BloomFilter;
use crate::bits::{Block, Blocks, Line, Owned};
use crate::bloom::fold::{Fit, check_rate, largest_divisor};
use crate::merge_error::MergeError;
use crate::plan::Plan;

impl BloomFilter {
    /// Adds every key of `other`: afterwards this filter is what it would be had all keys been inserted here.
    ///
    /// If one filter is larger by a whole factor it is folded first, and the result has the smaller size. (Filters
    /// with the same rate but different planned keys often fit: their sizes are rounded to have many divisors.)
    ///
    /// ```
    /// use mayhap::BloomFilter;
    ///
    /// let mut monday = BloomFilter::with_rate(10_000, 0.01)?;
    /// let mut tuesday = monday.empty_like()?;
    /// monday.insert("ada");
    /// tuesday.insert("grace");
    /// monday.merge(&tuesday)?;
    /// assert!(monday.contains("ada") && monday.contains("grace"));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the two hash differently, have different shapes, or sizes that don't fit. Nothing is changed then.
    pub fn merge<T: Blocks>(&mut self, other: &BloomFilter<T>) -> Result<(), MergeError> {
        self.merge_bits(other)?;
        self.plan = self.plan.either(other.plan).within(|rate| self.capacity(rate));
        Ok(())
    }

    /// [`merge`](Self::merge), for filters of one plan, which stays as it is.
    pub(in crate::bloom) fn merge_bits<T: Blocks>(
        &mut self,
        other: &BloomFilter<T>,
    ) -> Result<(), MergeError> {
        self.combine(other, |word, theirs| word | theirs)
    }

    /// Keeps what may be in both filters.
    ///
    /// Every key of both stays found. The rate is at most that of either filter, and above that of a filter built from
    /// the common keys alone: bits that different keys set in each remain.
    ///
    /// # Errors
    /// As [`merge`](Self::merge).
    pub fn intersect<T: Blocks>(&mut self, other: &BloomFilter<T>) -> Result<(), MergeError> {
        self.combine(other, |word, theirs| word & theirs)
    }

    fn combine<T: Blocks>(
        &mut self,
        other: &BloomFilter<T>,
        operation: impl Fn(u64, u64) -> u64,
    ) -> Result<(), MergeError> {
        let apply = |block: &mut Block, theirs: [u64; 8]| {
            for (word, theirs) in block.0.iter_mut().zip(theirs) {
                *word = operation(*word, theirs);
            }
        };
        match self.fit(other)? {
            Fit::Same => {}
            Fit::FoldOurs(factor) => self.fold(factor)?,
            Fit::FoldTheirs(factor) => {
                let folded = other.folded_blocks(factor)?;
                for (block, theirs) in self.blocks.iter_mut().zip(folded.iter()) {
                    apply(block, theirs.0);
                }
                return Ok(());
            }
        }
        for (block, theirs) in self.blocks.iter_mut().zip(other.blocks.lines()) {
            apply(block, theirs.words());
        }
        Ok(())
    }

    fn fit<T: Blocks>(&self, other: &BloomFilter<T>) -> Result<Fit, MergeError> {
        if self.hasher != other.hasher {
            return Err(MergeError::Hashers);
        }
        if self.shape != other.shape {
            return Err(MergeError::Shapes { ours: self.shape, theirs: other.shape });
        }
        Fit::of(self.region_blocks(), other.region_blocks())
            .ok_or(MergeError::Sizes { ours: self.block_count(), theirs: other.block_count() })
    }

    /// Makes the filter `factor` times smaller, at a higher rate: exactly the filter that the same keys would have
    /// given had it been made that small. The plan keeps its rate, for as many keys as the smaller filter holds.
    ///
    /// # Errors
    /// When `factor` doesn't divide the number of blocks (of half the blocks, for the shape of two lines), is 0, or
    /// the memory for the copy can't be had.
    pub fn fold(&mut self, factor: u64) -> Result<(), MergeError> {
        let blocks = self.folded_blocks(factor)?;
        self.blocks = blocks;
        self.plan = self.plan.within(|rate| self.capacity(rate));
        Ok(())
    }

    /// How many keys it holds at a rate.
    fn capacity(&self, rate: f64) -> u64 {
        crate::sizing::blocked::capacity(self.shape, self.block_count(), rate)
    }

    /// Folds as far as the rate stays at or below `rate` with the keys that are in the filter now, and says by which
    /// factor (1: not at all). An empty filter keeps room for one key.
    ///
    /// This is how to size a filter without knowing the number of keys: build it too large, then fold it.
    ///
    /// ```
    /// use mayhap::BloomFilter;
    ///
    /// let mut filter = BloomFilter::with_rate(1_000_000, 0.01)?;
    /// filter.extend(0..20_000u64); // fewer than planned
    /// let before = filter.len_bytes();
    /// let factor = filter.fold_to_rate(0.01)?;
    /// assert!(factor > 30 && filter.len_bytes() == before / factor);
    /// assert!(filter.expected_rate() <= 0.01 && filter.contains(&19_999u64));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When `rate` isn't between 0 and 1, or the memory for the copy can't be had.
    pub fn fold_to_rate(&mut self, rate: f64) -> Result<u64, MergeError> {
        check_rate(rate)?;
        // An empty filter, too, is planned for a key, which must have the rate.
        let (keys, size) = (self.estimated_len().max(1), self.region_blocks());
        let largest = largest_divisor(size, |factor| {
            let blocks = self.block_count() / factor;
            crate::sizing::blocked::rate(self.shape, keys, blocks) <= rate
        });
        if largest > 1 {
            self.blocks = self.folded_blocks(largest)?;
            self.plan = Plan { keys, rate };
        }
        Ok(largest)
    }
}

impl<S: Blocks> BloomFilter<S> {
    /// Blocks in one region: a shape of two lines has a region for each.
    pub(super) fn region_blocks(&self) -> u64 {
        self.block_count() / self.shape.lines()
    }

    /// ORs every `factor` neighbouring blocks. A region stays a region, because the factor divides its length.
    fn folded_blocks(&self, factor: u64) -> Result<Owned, MergeError> {
        let size = self.region_blocks();
        let step = usize::try_from(factor).unwrap_or(0);
        if step == 0 || !size.is_multiple_of(factor) {
            return Err(MergeError::Factor { factor, size });
        }
        let mut folded = Owned::zeroed(self.block_count() / factor)?;
        for (block, lines) in folded.iter_mut().zip(self.blocks.lines().chunks_exact(step)) {
            for line in lines {
                for (word, theirs) in block.0.iter_mut().zip(line.words()) {
                    *word |= theirs;
                }
            }
        }
        Ok(folded)
    }
}
