//! How often it errs, either way, and whether it has outgrown its plan.
//!
//! What is computed from the bits looks at every block: ask once in a while, not with every key.

use super::DualBloom;
use crate::bits::Blocks;

/// How often a [`DualBloom`] gives a wrong answer. Every other filter of this crate has the first rate only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualRates {
    /// Of the keys that are not in the set, the part that is answered "mayhap".
    pub false_yes: f64,
    /// Of the keys that are in the set, the part that is answered "no".
    pub false_no: f64,
}

impl<S: Blocks> DualBloom<S> {
    /// Both rates of the filter as it is now, computed from the bits that are set.
    ///
    /// The rate of wrong "mayhaps" is that of the added side, less what the removed side hides, if the two err
    /// independently. Where they don't (removed keys are on both sides) it is lower.
    ///
    /// ```
    /// use mayhap::DualBloom;
    ///
    /// let mut filter = DualBloom::builder().keys(10_000).rate(0.01).removals(1_000).hidden_rate(0.001).build()?;
    /// assert_eq!(filter.expected_rates().false_no, 0.0, "nothing was removed yet");
    /// for key in 0..10_000u32 {
    ///     filter.insert(&key)?;
    /// }
    /// for key in 0..1_000u32 {
    ///     filter.remove(&key);
    /// }
    /// let rates = filter.expected_rates();
    /// assert!(rates.false_yes < 0.011 && rates.false_no < 0.0011);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[must_use]
    pub fn expected_rates(&self) -> DualRates {
        let false_no = self.hidden_rate();
        DualRates { false_yes: self.added_rate() * (1.0 - false_no), false_no }
    }

    /// The rate of the added side as it is now: of the keys that were never added, the part that it says it has.
    #[must_use]
    pub fn added_rate(&self) -> f64 {
        self.added.expected_rate()
    }

    /// The rate of the removed side as it is now: of the keys that were never removed, the part that it hides.
    #[must_use]
    pub fn hidden_rate(&self) -> f64 {
        self.removed.expected_rate()
    }

    /// How many distinct keys were ever added, estimated from the bits.
    #[must_use]
    pub fn estimated_added(&self) -> u64 {
        self.added.estimated_len()
    }

    /// How many distinct keys were removed, estimated from the bits.
    #[must_use]
    pub fn estimated_removed(&self) -> u64 {
        self.removed.estimated_len()
    }

    /// Whether more keys were added, or more removed, than were planned, so that a rate has risen above its promise.
    #[must_use]
    pub fn is_over_plan(&self) -> bool {
        self.added.is_over_plan() || self.removed.is_over_plan()
    }

    /// The number of distinct keys it was made for, those that are removed later among them.
    #[must_use]
    pub fn planned_keys(&self) -> u64 {
        self.added.planned_keys()
    }

    /// The rate of wrong "mayhaps" it keeps up to [`planned_keys`](Self::planned_keys).
    #[must_use]
    pub fn planned_rate(&self) -> f64 {
        self.added.planned_rate()
    }

    /// The number of removals it was made for.
    #[must_use]
    pub fn planned_removals(&self) -> u64 {
        self.removed.planned_keys()
    }

    /// The rate of hidden keys it keeps up to [`planned_removals`](Self::planned_removals).
    #[must_use]
    pub fn planned_hidden_rate(&self) -> f64 {
        self.removed.planned_rate()
    }
}
