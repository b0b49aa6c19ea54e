//! Choosing a window before making it.

use super::clock::{Clock, Hand};
use super::{Generation, WindowBloom};
use crate::bloom::BloomFilter;
use crate::choices::{DEFAULT_RATE, NO_KEYS, choices};
use crate::error::Error;
use crate::hash::KeyHasher;
use crate::plan::Plan;
use crate::sizing::window::{DEFAULT_GENERATIONS, check_generations};
use crate::sizing::{SizingError, WindowPlan};

/// Every choice a [`WindowBloom`] has.
///
/// Without a [`window`](Self::window) of time it is a window of the last [`keys`](Self::keys) insertions.
///
/// ```
/// use mayhap::WindowBloom;
///
/// // A day in seconds, in slots of an hour, a million keys; an hour may bring a fifth of them.
/// let builder = WindowBloom::builder().window(86_400).generations(24).keys(1_000_000).rate(0.001).burst(4.8);
/// assert_eq!(builder.plan()?.slot_keys(), 200_000);
/// let mut filter = builder.build()?;
/// assert!(filter.insert_at("apple", 1_700_000_000));
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until it is told to build"]
pub struct WindowBuilder {
    window: Option<u64>,
    generations: Option<u32>,
    keys: Option<u64>,
    rate: Option<f64>,
    burst: Option<f64>,
    hasher: KeyHasher,
    max_bytes: Option<u64>,
}

choices!(WindowBuilder {
    /// The length of the window, in any unit of time: for so long a key is remembered, at least.
    window: u64,

    /// The slots that the window has: a key is forgotten a slot after the window, at the latest. 4 if not given, or as many
    /// as a shorter window has instants.
    generations: u32,

    /// How many keys a window sees. A key that is seen in several slots counts in each of them.
    ///
    /// By count this is the window: so many insertions back a key is remembered, at least.
    keys: u64,

    /// Of the keys that were not seen, the part that is answered "mayhap" at most, by all generations together. 1 % if
    /// not given.
    rate: f64,

    /// How many times its even share one slot may get: 1 if not given. With 3, a slot may see three times
    /// `keys / generations`, as long as the window sees no more than `keys`.
    ///
    /// By count every slot gets its even share, and this changes nothing.
    burst: f64,

    /// Refuse, instead of allocating more than this for all generations together.
    max_bytes: u64,
});

impl WindowBuilder {
    /// The plan that these choices lead to, without making the filter.
    ///
    /// # Errors
    /// When the choices ask for what can't be.
    pub fn plan(&self) -> Result<WindowPlan, SizingError> {
        let rate = self.rate.unwrap_or(DEFAULT_RATE);
        let keys = self.keys.ok_or(NO_KEYS)?;
        let length = self.window.unwrap_or(keys);
        let generations = self.generations.unwrap_or_else(|| default_generations(length));
        let burst = self.burst.unwrap_or(1.0);
        let plan = match self.window {
            Some(window) => {
                check_generations(generations, window)?;
                WindowPlan::for_bursts(keys, rate, generations, burst)?
            }
            None if keys == 0 => return Err(SizingError::ZeroKeys),
            None => {
                check_generations(generations, keys)?;
                WindowPlan::for_rate(keys, rate, generations)?
            }
        };
        plan.within(self.max_bytes.unwrap_or(u64::MAX))
    }

    /// Makes the filter, at instant 0.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and when the memory can't be had.
    pub fn build(self) -> Result<WindowBloom, Error> {
        let plan = self.plan()?;
        let (window, hand) = match self.window {
            Some(window) => (window, Hand::Time),
            None => (plan.keys(), Hand::Insertions(0)),
        };
        let generation = |_| {
            let filter = BloomFilter::with_plan(plan.generation(), self.hasher.clone())?;
            Ok(Generation { filter, used: false })
        };
        Ok(WindowBloom {
            ring: (0..=plan.generations()).map(generation).collect::<Result<_, Error>>()?,
            newest: 0,
            clock: Clock::new(window, plan.generations(), hand),
            plan: Plan { keys: plan.keys(), rate: plan.rate() },
        })
    }
}

/// A window of fewer instants than the usual slots has a slot for each.
fn default_generations(length: u64) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX).clamp(1, DEFAULT_GENERATIONS)
}
