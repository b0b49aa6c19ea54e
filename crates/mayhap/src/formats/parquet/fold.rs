//! Smaller filters from larger ones.

use super::blocks::SplitBlocks as _;
use super::filter::{SplitBlockBloom, to_the_eighth};
use crate::bits::{self, Owned, WordsMut as _};
use crate::merge_error::MergeError;

impl SplitBlockBloom {
    /// Makes the filter `factor` times smaller, at a higher rate: exactly the filter that the same keys would have given
    /// had it been made that small.
    ///
    /// ```
    /// use mayhap::formats::parquet::SplitBlockBloom;
    ///
    /// let mut large = SplitBlockBloom::with_bytes(4_096)?;
    /// let mut small = SplitBlockBloom::with_bytes(512)?;
    /// for key in 0..100i64 {
    ///     large.insert(&key);
    ///     small.insert(&key);
    /// }
    /// large.fold(8)?;
    /// assert!(large == small);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When `factor` is 0 or doesn't divide the number of blocks, or the memory for the copy can't be had.
    pub fn fold(&mut self, factor: u64) -> Result<(), MergeError> {
        if factor == 0 || !self.blocks.is_multiple_of(factor) {
            return Err(MergeError::Factor { factor, size: self.blocks });
        }
        let blocks = self.blocks / factor;
        let mut folded = Owned::zeroed((blocks * super::blocks::BLOCK_BITS).div_ceil(bits::BLOCK_BITS))?;
        for index in 0..self.blocks {
            for (words, to) in self.storage.block(index).into_iter().zip(4 * (index / factor)..) {
                folded.or(to, words);
            }
        }
        (self.storage, self.blocks) = (folded, blocks);
        Ok(())
    }

    /// Halves the filter as often as the rate stays at or below `rate`, and says by which factor it is smaller now
    /// (1: not at all). It is what the crate `parquet` 60 does before it writes a filter.
    ///
    /// The rate is estimated from the part f of all bits that is set: after j times it is (1 − (1 − f)^(2^j))^8. An empty
    /// filter is left with one block.
    ///
    /// # Errors
    /// When `rate` isn't between 0 and 1, or the memory for the copy can't be had.
    pub fn fold_to_rate(&mut self, rate: f64) -> Result<u64, MergeError> {
        if !(rate > 0.0 && rate < 1.0) {
            return Err(MergeError::Rate { got: rate });
        }
        let mut unset = 1.0 - self.bits_set() as f64 / self.bits() as f64;
        let mut factor = 1;
        while self.blocks.is_multiple_of(2 * factor) {
            unset *= unset;
            if to_the_eighth(1.0 - unset) > rate {
                break;
            }
            factor *= 2;
        }
        if factor > 1 {
            self.fold(factor)?;
        }
        Ok(factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_by_any_factor_is_building_smaller() {
        for (blocks, factor) in [(12u64, 1u64), (12, 2), (12, 3), (12, 4), (12, 12), (15, 5), (1024, 32)] {
            let mut large = SplitBlockBloom::with_blocks(blocks).unwrap();
            let mut small = SplitBlockBloom::with_blocks(blocks / factor).unwrap();
            large.extend(0..500u64);
            small.extend(0..500u64);
            large.fold(factor).unwrap();
            assert!(large == small, "{blocks} by {factor}");
        }
    }

    #[test]
    fn impossible_folds_are_refused() {
        let mut filter = SplitBlockBloom::with_blocks(12).unwrap();
        assert_eq!(filter.fold(5), Err(MergeError::Factor { factor: 5, size: 12 }));
        assert!(filter.fold(0).is_err() && filter.fold(24).is_err());
        for rate in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(filter.fold_to_rate(rate).is_err());
        }
        assert_eq!(filter.fold_to_rate(0.01), Ok(4), "three is odd");
        assert_eq!(filter.fold_to_rate(0.01), Ok(1));
    }
}
