//! What the bits say about the filter: how full, how many keys, which rate. Each looks at every word.

use super::ClassicBloom;
use crate::bits::Words;
use crate::bloom::scheme::Scheme;
use crate::sizing::classic;

impl<C: Scheme, S: Words> ClassicBloom<C, S> {
    /// The part of all bits that is set.
    #[must_use]
    pub fn fill_ratio(&self) -> f64 {
        self.bits_set() as f64 / self.bits as f64
    }

    /// How many distinct keys have been added, estimated from the bits; when every bit is set, a lower bound.
    #[must_use]
    pub fn estimated_len(&self) -> u64 {
        classic::estimated_keys(self.bits_set(), self.bits, self.hashes)
    }

    /// The rate at which the filter, as it is now, answers "mayhap" for absent keys.
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        classic::rate_of_fill(self.fill_ratio(), self.hashes)
    }

    /// Whether more keys have been added than were planned, so that the rate has risen above the promise.
    #[must_use]
    pub fn is_over_plan(&self) -> bool {
        let bits_set = self.bits_set();
        // Full, it can't be estimated; and no filter is full that holds what it was planned for.
        if bits_set == self.bits {
            return true;
        }
        let keys = classic::estimated_keys(bits_set, self.bits, self.hashes);
        self.plan.is_exceeded_by(keys, classic::standard_error(keys, self.bits, self.hashes))
    }

    /// How many bits are set.
    pub(crate) fn bits_set(&self) -> u64 {
        (0..self.bits.div_ceil(64)).map(|index| u64::from(self.words.word(index).count_ones())).sum()
    }
}
