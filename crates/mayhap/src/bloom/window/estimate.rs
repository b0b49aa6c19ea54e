//! What the bits say about the window: how full, how many keys, which rate.
//!
//! These look at every block of every generation. Ask once in a while, not with every key.

use libm::sqrt;

use super::WindowBloom;
use crate::bits::Blocks;
use crate::plan::Plan;
use crate::sizing::blocked::standard_error;
use crate::sizing::window::any;

impl<S: Blocks> WindowBloom<S> {
    /// The part of all bits that is set.
    #[must_use]
    pub fn fill_ratio(&self) -> f64 {
        self.by_age().map(|generation| generation.filter.fill_ratio()).sum::<f64>() / self.ring.len() as f64
    }

    /// How many keys the generations hold, estimated from the bits. A key that was seen in several slots is in several
    /// generations, and counts in each; those of the slot that is partly too old are among them.
    #[must_use]
    pub fn estimated_len(&self) -> u64 {
        self.by_age().map(|generation| generation.filter.estimated_len()).sum()
    }

    /// The rate at which the window, as it is at the newest instant seen, answers "mayhap" for keys that it hasn't
    /// seen: computed from the bits really set, as if the generations erred independently. (Where the same keys are in
    /// several it is lower.)
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        any(self.by_age().map(|generation| generation.filter.expected_rate()))
    }

    /// Whether a slot, or all of them together, got more keys than planned, so that the rate may have risen above the
    /// promise. It ends when the slot is forgotten.
    #[must_use]
    pub fn is_over_plan(&self) -> bool {
        let mut total = (0u64, 0.0);
        for generation in self.by_age() {
            if generation.filter.is_over_plan() {
                return true;
            }
            let keys = generation.filter.estimated_len();
            let error = standard_error(generation.filter.shape(), keys, generation.filter.block_count());
            total = (total.0.saturating_add(keys), total.1 + error * error);
        }
        // What a window may see, and the slot before it, which is still there.
        let most = self.plan.keys.saturating_add(self.planned_slot_keys());
        Plan { keys: most, rate: self.plan.rate }.is_exceeded_by(total.0, sqrt(total.1))
    }

    /// The number of keys that a window was made for. By count, the window itself.
    #[must_use]
    pub fn planned_keys(&self) -> u64 {
        self.plan.keys
    }

    /// The number of keys that one slot was made for.
    #[must_use]
    pub fn planned_slot_keys(&self) -> u64 {
        self.newest().planned_keys()
    }

    /// The rate that the whole window keeps up to [`planned_keys`](Self::planned_keys) and
    /// [`planned_slot_keys`](Self::planned_slot_keys).
    #[must_use]
    pub fn planned_rate(&self) -> f64 {
        self.plan.rate
    }

    /// How many insertions there were, if it goes by their number.
    #[must_use]
    pub fn inserted(&self) -> Option<u64> {
        match self.clock.hand {
            super::Hand::Time => None,
            super::Hand::Insertions(count) => Some(count),
        }
    }
}
