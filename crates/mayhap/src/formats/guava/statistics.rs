//! What the bits say about the filter, in Guava's terms. Each looks at every word.

use super::GuavaBloom;
use crate::bits::Words;
use crate::formats::correctly_rounded::power;

impl<S: Words> GuavaBloom<S> {
    /// How many bits are set.
    #[must_use]
    pub fn bits_set(&self) -> u64 {
        each!(&self.filter, filter => filter.bits_set())
    }

    /// Guava's `expectedFpp`: the rate at which the filter, as it is now, answers "mayhap" for absent keys. It is the part
    /// of all bits that is set, to the power of the number of hashes.
    #[must_use]
    pub fn expected_fpp(&self) -> f64 {
        power(self.bits_set() as f64 / self.bits() as f64, i32::from(self.plan().hashes()))
    }

    /// Guava's `approximateElementCount`: how many distinct keys have been added, estimated from the bits. `None` when
    /// every bit is set and nothing can be said; Guava throws an `ArithmeticException` then.
    ///
    /// ```
    /// use mayhap::formats::guava::{GuavaBloom, Sizing};
    ///
    /// let mut filter = GuavaBloom::with_rate(10_000, 0.01, Sizing::Guava31)?;
    /// filter.extend(0..5_000_i64);
    /// assert_eq!(filter.approximate_element_count(), Some(5_008));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[must_use]
    pub fn approximate_element_count(&self) -> Option<u64> {
        let (set, bits) = (self.bits_set(), self.bits() as f64);
        let count = -libm::log1p(-(set as f64 / bits)) * bits / f64::from(self.hashes());
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "finite, and not negative"
        )]
        count.is_finite().then(|| libm::round(count) as u64)
    }
}
