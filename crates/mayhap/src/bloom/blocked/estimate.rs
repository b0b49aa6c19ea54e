//! What the bits say about the filter: how full, how many keys, which rate.
//!
//! These look at every block: about a second for 10 GiB. Ask once in a while, not with every key.

use alloc::vec;
use alloc::vec::Vec;

use super::BloomFilter;
use crate::bits::{BLOCK_BITS, Blocks, Line};
use crate::bloom::shape::Shape;
use crate::filter::Census;
use crate::sizing::blocked;

impl<S: Blocks> BloomFilter<S> {
    /// The part of all bits that is set.
    #[must_use]
    pub fn fill_ratio(&self) -> f64 {
        self.fill_of(self.bits_set())
    }

    /// How many distinct keys have been added, estimated from the bits. Exact within a percent for filters of a
    /// hundred thousand keys or more, and unaware of repeats, which set no new bits.
    ///
    /// When every bit is set there is no estimate; a lower bound is returned.
    #[must_use]
    pub fn estimated_len(&self) -> u64 {
        blocked::estimated_keys(self.shape, self.bits_set(), self.block_count())
    }

    /// The rate at which the filter, as it is now, answers "mayhap" for absent keys: computed from the bits really
    /// set in every block, not from a count of insertions.
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        self.mean_over_blocks(|_| ())
    }

    /// All of that from one look at the bits.
    #[must_use]
    pub fn census(&self) -> Census {
        let mut bits_set = 0;
        let expected_rate = self.mean_over_blocks(|ones| bits_set += u64::from(ones));
        Census {
            estimated_len: blocked::estimated_keys(self.shape, bits_set, self.block_count()),
            expected_rate,
            fill_ratio: self.fill_of(bits_set),
            is_over_plan: self.is_over_plan_with(bits_set),
        }
    }

    /// The rate, from every block; `count` gets to know how many bits of it are set.
    fn mean_over_blocks(&self, mut count: impl FnMut(u32)) -> f64 {
        let region = self.blocks.lines().len() / if self.shape.lines() == 2 { 2 } else { 1 };
        // The mean over the blocks of a region: a digest picks each with the same probability. Two regions are picked
        // independently.
        self.blocks
            .lines()
            .chunks(region)
            .map(|region| {
                let passes = region.iter().map(|line| {
                    count(ones(line));
                    pass_probability(self.shape, line)
                });
                passes.sum::<f64>() / region.len() as f64
            })
            .product()
    }

    /// Whether more keys have been added than were planned, so that the rate has risen above the promise.
    #[must_use]
    pub fn is_over_plan(&self) -> bool {
        self.is_over_plan_with(self.bits_set())
    }

    fn fill_of(&self, bits_set: u64) -> f64 {
        bits_set as f64 / (self.block_count() * BLOCK_BITS) as f64
    }

    fn is_over_plan_with(&self, bits_set: u64) -> bool {
        // Full, it can't be estimated; and no filter is full that holds what it was planned for.
        if bits_set == self.block_count() * BLOCK_BITS {
            return true;
        }
        let keys = blocked::estimated_keys(self.shape, bits_set, self.block_count());
        self.plan.is_exceeded_by(keys, blocked::standard_error(self.shape, keys, self.block_count()))
    }

    /// How many blocks have 0, 1, 2 … 512 bits set: how evenly the keys fell.
    ///
    /// ```
    /// use mayhap::BloomFilter;
    ///
    /// let mut filter = BloomFilter::with_rate(1_000, 0.01)?;
    /// filter.insert("apple");
    /// let loads = filter.block_loads();
    /// assert_eq!((loads[0], loads[8]), (filter.block_count() - 1, 1));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[must_use]
    pub fn block_loads(&self) -> Vec<u64> {
        let mut loads = vec![0; 513];
        for line in self.blocks.lines() {
            loads[ones(line) as usize] += 1;
        }
        loads
    }

    pub(in crate::bloom) fn bits_set(&self) -> u64 {
        self.blocks.lines().iter().map(|line| u64::from(ones(line))).sum()
    }
}

/// The bits of a block that are set: 512 at most.
fn ones(line: &impl Line) -> u32 {
    line.words().iter().map(|word| word.count_ones()).sum()
}

/// The probability that the mask of a random digest is covered by this block.
fn pass_probability(shape: Shape, line: &impl Line) -> f64 {
    let words = line.words();
    match shape {
        Shape::Four => words
            .chunks_exact(2)
            .map(|pair| f64::from(pair[0].count_ones() + pair[1].count_ones()) / 128.0)
            .product(),
        Shape::Eight | Shape::SixteenTwoLines => {
            words.iter().map(|word| f64::from(word.count_ones()) / 64.0).product()
        }
        Shape::Sixteen => words
            .iter()
            .map(|word| {
                let fill = f64::from(word.count_ones()) / 64.0;
                fill * fill
            })
            .product(),
    }
}
