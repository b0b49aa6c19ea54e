//! Union, intersection, and smaller filters from larger ones.

use super::ClassicBloom;
use crate::bits::{BLOCK_BITS, Blocks, Line, Owned, Words, WordsMut as _};
use crate::bloom::fold::{Fit, check_rate, largest_divisor};
use crate::bloom::scheme::Scheme;
use crate::merge_error::MergeError;
use crate::plan::Plan;
use crate::sizing::classic;

impl<C: Scheme> ClassicBloom<C> {
    /// Adds every key of `other`: afterwards this filter is what it would be had all keys been inserted here.
    ///
    /// If the recipe [folds](Scheme::FOLDS) and one filter is larger by a whole factor it is folded first, and the
    /// result has the smaller size.
    ///
    /// # Errors
    /// When recipe or number of hashes differ, or the sizes don't fit. Nothing is changed then.
    pub fn merge<T: Blocks>(&mut self, other: &ClassicBloom<C, T>) -> Result<(), MergeError> {
        self.combine(other, |word, theirs| word | theirs)?;
        self.plan = self.plan.either(other.plan).within(|rate| self.capacity(rate));
        Ok(())
    }

    /// Keeps what may be in both filters. Every key of both stays found; the rate is at most that of either filter.
    ///
    /// # Errors
    /// As [`merge`](Self::merge).
    pub fn intersect<T: Blocks>(&mut self, other: &ClassicBloom<C, T>) -> Result<(), MergeError> {
        self.combine(other, |word, theirs| word & theirs)
    }

    fn combine<T: Blocks>(
        &mut self,
        other: &ClassicBloom<C, T>,
        operation: impl Fn(u64, u64) -> u64,
    ) -> Result<(), MergeError> {
        match self.fit(other)? {
            Fit::Same => {}
            Fit::FoldOurs(factor) => self.fold(factor)?,
            Fit::FoldTheirs(factor) => {
                let words = other.folded_words(factor)?;
                apply(&mut self.words, &words, operation);
                return Ok(());
            }
        }
        apply(&mut self.words, &other.words, operation);
        Ok(())
    }

    fn fit<T: Blocks>(&self, other: &ClassicBloom<C, T>) -> Result<Fit, MergeError> {
        if self.scheme != other.scheme {
            return Err(MergeError::Hashers);
        }
        if self.hashes != other.hashes {
            return Err(MergeError::Hashes { ours: self.hashes, theirs: other.hashes });
        }
        match Fit::of(self.bits, other.bits) {
            Some(fit) if C::FOLDS || matches!(fit, Fit::Same) => Ok(fit),
            _ => Err(MergeError::Sizes { ours: self.bits, theirs: other.bits }),
        }
    }

    /// Makes the filter `factor` times smaller, at a higher rate: exactly the filter that the same keys would have
    /// given had it been made that small. The plan keeps its rate, for as many keys as the smaller filter holds.
    ///
    /// # Errors
    /// When the recipe doesn't fold, `factor` is 0 or doesn't divide the number of bits, or the memory for the copy
    /// can't be had.
    pub fn fold(&mut self, factor: u64) -> Result<(), MergeError> {
        self.replace_by_folded(factor)?;
        self.plan = self.plan.within(|rate| self.capacity(rate));
        Ok(())
    }

    fn replace_by_folded(&mut self, factor: u64) -> Result<(), MergeError> {
        self.words = self.folded_words(factor)?;
        self.bits /= factor;
        self.range = C::range(self.bits);
        Ok(())
    }

    /// How many keys it holds at a rate.
    fn capacity(&self, rate: f64) -> u64 {
        classic::capacity(self.bits, self.hashes, rate)
    }

    /// Folds as far as the rate stays at or below `rate` with the keys that are in the filter now, and says by which
    /// factor (1: not at all). An empty filter keeps room for one key.
    ///
    /// # Errors
    /// When `rate` isn't between 0 and 1, the recipe doesn't fold, or the memory for the copy can't be had.
    pub fn fold_to_rate(&mut self, rate: f64) -> Result<u64, MergeError> {
        check_rate(rate)?;
        // An empty filter, too, is planned for a key, which must have the rate.
        let keys = self.estimated_len().max(1);
        let factor =
            largest_divisor(self.bits, |factor| classic::rate(keys, self.bits / factor, self.hashes) <= rate);
        if factor > 1 {
            self.replace_by_folded(factor)?;
            self.plan = Plan { keys, rate };
        }
        Ok(factor)
    }
}

impl<C: Scheme, S: Blocks> ClassicBloom<C, S> {
    /// The filter's bits, each at its position divided by `factor`.
    fn folded_words(&self, factor: u64) -> Result<Owned, MergeError> {
        if !C::FOLDS || factor == 0 || !self.bits.is_multiple_of(factor) {
            return Err(MergeError::Factor { factor, size: self.bits });
        }
        let mut folded = Owned::zeroed((self.bits / factor).div_ceil(BLOCK_BITS))?;
        for index in 0..self.bits.div_ceil(64) {
            let mut word = self.words.word(index);
            while word != 0 {
                let position = (index * 64 + u64::from(word.trailing_zeros())) / factor;
                folded.or(position / 64, 1 << (position % 64));
                word &= word - 1;
            }
        }
        Ok(folded)
    }
}

fn apply(words: &mut Owned, others: &impl Blocks, operation: impl Fn(u64, u64) -> u64) {
    for (block, others) in words.iter_mut().zip(others.lines()) {
        for (word, theirs) in block.0.iter_mut().zip(others.words()) {
            *word = operation(*word, theirs);
        }
    }
}
