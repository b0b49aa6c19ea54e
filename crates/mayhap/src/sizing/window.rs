//! Sizing of a window: how large each generation must be for the whole window to keep its rate.
//!
//! A window of g slots is held in g + 1 generations, because the slot that is filling and the one that is partly too
//! old exist at once. A question asks all of them, so their rates add up.
//!
//! **The budget.** Let a window see at most n keys, and one slot at most c of them (n / g if they come evenly, more if
//! they come in bursts). Then g + 1 slots see at most n + c. The rate f of a Bloom filter rises faster than its number
//! of keys, f(x) / x ≤ f(c) / c for x ≤ c, so the sum of the rates is at most f(c) · (n + c) / c, however the keys are
//! spread. Each generation is therefore sized for c keys at the rate p / (n / c + 1): that is p / (g + 1) for an even
//! stream, and a larger part of p when bursts leave other generations nearly empty.
//!
//! `docs/maths.md` has the derivation and the table of generations against memory.

use libm::ceil;

use super::blocked::{BlockedPlan, rate as blocked_rate};
use super::error::SizingError;
use super::limits::{check_bytes, check_rate};

/// Slots in a window, if nothing else is asked for: forgetting takes up to a quarter longer than remembering.
///
/// At 1 % the memory falls from 23.2 bits a key with one slot to 17.4 with four, and at best to 17.2, with five; from
/// there it rises again, and a question about an absent key asks one generation more than there are slots.
pub const DEFAULT_GENERATIONS: u32 = 4;

/// The most slots in a window. Each is a line to read for every absent key.
pub const MAX_GENERATIONS: u32 = 64;

/// A window on paper: keys, rate, slots, and the filter that each generation is.
///
/// ```
/// use mayhap::sizing::WindowPlan;
///
/// let plan = WindowPlan::for_rate(1_000_000, 0.01, 4)?;
/// assert_eq!((plan.slot_keys(), plan.generation().rate()), (250_000, 0.01 / 5.0));
/// assert!(plan.bits_per_key() < 17.5 && plan.expected_rate() <= 0.01);
/// # Ok::<(), mayhap::sizing::SizingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowPlan {
    keys: u64,
    rate: f64,
    generations: u32,
    generation: BlockedPlan,
}

impl WindowPlan {
    /// A window of `generations` slots that sees up to `keys` keys, evenly over the slots, and answers "mayhap" for at
    /// most `rate` of the keys that it hasn't seen.
    ///
    /// Fails for 0 keys, a rate outside (0, 1) or too low for 64-bit digests, 0 generations or more than
    /// [`MAX_GENERATIONS`], and sizes above [`MAX_BYTES`](super::MAX_BYTES).
    pub fn for_rate(keys: u64, rate: f64, generations: u32) -> Result<Self, SizingError> {
        Self::for_bursts(keys, rate, generations, 1.0)
    }

    /// The same for keys that come in bursts: one slot may get `burst` times its even share.
    ///
    /// All keys of a window in one slot is a burst of `generations`; more than that changes nothing. Fails as
    /// [`for_rate`](Self::for_rate) does, and for a burst below 1.
    pub fn for_bursts(keys: u64, rate: f64, generations: u32, burst: f64) -> Result<Self, SizingError> {
        check_generations(generations, u64::MAX)?;
        check_rate(rate)?;
        if burst.is_nan() || burst < 1.0 {
            return Err(SizingError::BurstOutOfRange { got: burst });
        }
        let share = keys.div_ceil(u64::from(generations));
        #[allow(clippy::cast_possible_truncation)] // `as` saturates, and `clamp` bounds it.
        let slot_keys = ceil(keys as f64 * (burst / f64::from(generations))) as u64;
        let slot_keys = if burst > 1.0 { slot_keys.clamp(share, keys.max(share)) } else { share };
        // A part of the lowest number is 0. That is too low for every filter, but nobody asked for it.
        let share = generation_rate(rate, keys, slot_keys).max(f64::MIN_POSITIVE);
        let generation = BlockedPlan::for_rate(slot_keys, share)
            .map_err(|error| error.of_promise(rate, keys, generation_rate(1.0, keys, slot_keys)))?;
        let plan = Self { keys, rate, generations, generation };
        check_bytes(plan.bytes(), super::MAX_BYTES).map(|()| plan)
    }

    /// This plan, if it needs at most `limit` bytes.
    pub fn within(self, limit: u64) -> Result<Self, SizingError> {
        check_bytes(self.bytes(), limit).map(|()| self)
    }

    /// The keys that a window may see. A key that is seen again in another slot counts again.
    #[must_use]
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// The promised rate of the whole window.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The slots of a window. There is one generation more than this.
    #[must_use]
    pub fn generations(&self) -> u32 {
        self.generations
    }

    /// The keys that one slot may see.
    #[must_use]
    pub fn slot_keys(&self) -> u64 {
        self.generation.keys()
    }

    /// The filter that each generation is.
    #[must_use]
    pub fn generation(&self) -> BlockedPlan {
        self.generation
    }

    /// The rate the model expects when the keys come evenly, at its highest: just before a slot ends.
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        let (slots, plan) = (u64::from(self.generations), self.generation);
        // What doesn't divide evenly is one key more in some of the slots of the window, and in the one before it.
        let keys = (0..slots).map(|slot| self.keys / slots + u64::from(slot < self.keys % slots));
        any(keys
            .chain([self.keys.div_ceil(slots)])
            .map(|keys| blocked_rate(plan.shape(), keys, plan.blocks())))
    }

    /// The bytes of all generations.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.generation.bytes().saturating_mul(u64::from(self.generations) + 1)
    }

    /// The bits of all generations for each key of a window.
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        self.bytes() as f64 * 8.0 / self.keys as f64
    }
}

/// The rate of a generation of `slot_keys` keys, in a window of `keys` keys that promises `rate`.
pub(crate) fn generation_rate(rate: f64, keys: u64, slot_keys: u64) -> f64 {
    rate / (keys as f64 / slot_keys.max(1) as f64 + 1.0)
}

/// The rate of a question that any of several filters may answer with "mayhap", if they err independently.
pub(crate) fn any(rates: impl Iterator<Item = f64>) -> f64 {
    1.0 - rates.map(|rate| 1.0 - rate).product::<f64>()
}

/// Refuses 0 generations, more than [`MAX_GENERATIONS`], and more than the window has instants.
pub(crate) fn check_generations(generations: u32, window: u64) -> Result<(), SizingError> {
    let most = u64::from(MAX_GENERATIONS).min(window);
    if (1..=most).contains(&u64::from(generations)) {
        Ok(())
    } else {
        Err(SizingError::GenerationsOutOfRange { got: generations, most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bloom::Shape;
    use crate::sizing::blocked;

    #[test]
    fn a_generation_gets_its_part_of_keys_and_rate() {
        let plan = WindowPlan::for_rate(1_000_003, 0.01, 8).unwrap();
        assert_eq!(plan.slot_keys(), 125_001);
        assert!((plan.generation().rate() / (0.01 / 9.0) - 1.0).abs() < 1e-4);
        assert_eq!(plan.bytes(), plan.generation().bytes() * 9);
        let bursts = WindowPlan::for_bursts(1_000_000, 0.01, 8, 4.0).unwrap();
        assert_eq!((bursts.slot_keys(), bursts.generation().rate()), (500_000, 0.01 / 3.0));
        let all_at_once = WindowPlan::for_bursts(1_000_000, 0.01, 8, 8.0).unwrap();
        assert_eq!((all_at_once.slot_keys(), all_at_once.generation().rate()), (1_000_000, 0.005));
        assert_eq!(WindowPlan::for_bursts(1_000_000, 0.01, 8, f64::INFINITY).unwrap(), all_at_once);
        assert_eq!(WindowPlan::for_rate(3, 0.01, 8).unwrap().slot_keys(), 1);
    }

    #[test]
    fn the_expected_rate_keeps_the_promise_where_keys_divide_unevenly() {
        for (keys, generations) in [(1_794, 64), (65, 64), (129, 64), (3, 2), (1, 4), (10_001, 16), (100, 7)]
        {
            for rate in [0.1, 0.01, 0.001, 1e-5] {
                let plan = WindowPlan::for_rate(keys, rate, generations).unwrap();
                let expected = plan.expected_rate();
                assert!(expected > 0.0 && expected <= rate, "{keys} in {generations} at {rate}: {expected}");
            }
        }
    }

    /// What the budget rests on: a filter with fewer keys has a lower rate for each of them.
    #[test]
    fn the_rate_rises_faster_than_the_keys() {
        for shape in Shape::ALL {
            for rate in [0.49, 0.2, 0.01, 1e-4, 1e-6] {
                for keys in [1u64, 2, 7, 50, 1_000, 100_000] {
                    let blocks = blocked::blocks(shape, keys, rate).unwrap();
                    let full = blocked::rate(shape, keys, blocks) / keys as f64;
                    for part in [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99] {
                        let fewer = ((keys as f64 * part) as u64).max(1);
                        let each = blocked::rate(shape, fewer, blocks) / fewer as f64;
                        assert!(each <= full * (1.0 + 1e-9), "{shape:?}, {rate}, {fewer} of {keys}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_table_of_generations_in_the_documents() {
        // Bits per key of a window of a hundred million keys at 10 %, 1 %, 0.1 % and 0.01 %.
        for (generations, expected) in [
            (1, [12.70, 23.22, 35.66, 43.35]),
            (2, [10.99, 18.89, 28.72, 33.91]),
            (3, [10.73, 17.75, 26.94, 30.97]),
            (4, [10.84, 17.42, 26.19, 29.68]),
            (5, [10.92, 17.19, 25.86, 29.11]),
            (6, [10.94, 17.25, 22.71, 28.72]),
            (8, [11.13, 17.42, 22.49, 28.27]),
            (12, [11.55, 17.88, 22.52, 28.23]),
            (16, [11.97, 18.39, 22.69, 28.39]),
        ] {
            for (rate, expected) in [0.1, 0.01, 0.001, 1e-4].into_iter().zip(expected) {
                let got = WindowPlan::for_rate(100_000_000, rate, generations).unwrap().bits_per_key();
                assert!((got - expected).abs() < 0.006, "{generations} at {rate}: {got}, not {expected}");
            }
        }
    }

    #[test]
    fn impossible_windows_are_refused() {
        use SizingError::{
            BurstOutOfRange, GenerationsOutOfRange, RateOutOfRange, RateTooLow, TooLarge, ZeroKeys,
        };
        assert_eq!(WindowPlan::for_rate(0, 0.01, 4), Err(ZeroKeys));
        assert_eq!(WindowPlan::for_rate(9, 0.01, 0), Err(GenerationsOutOfRange { got: 0, most: 64 }));
        assert_eq!(WindowPlan::for_rate(9, 0.01, 65), Err(GenerationsOutOfRange { got: 65, most: 64 }));
        assert!(matches!(WindowPlan::for_rate(9, 1.0, 4), Err(RateOutOfRange { .. })));
        assert!(matches!(WindowPlan::for_rate(9, f64::NAN, 4), Err(RateOutOfRange { .. })));
        assert!(matches!(WindowPlan::for_rate(9, 1e-19, 4), Err(RateTooLow { .. })));
        assert!(matches!(WindowPlan::for_rate(1 << 61, 0.9, 1), Err(TooLarge { .. } | RateTooLow { .. })));
        for (keys, generations) in [(9, 4), (1, 1), (1_000_000, 64), (1_000_000, 1)] {
            // Of the lowest number that there is a generation's part is 0.
            for rate in [1e-300, 5e-324] {
                let Err(RateTooLow { asked, lowest, .. }) = WindowPlan::for_rate(keys, rate, generations)
                else {
                    panic!("{keys} keys")
                };
                assert_eq!(asked, rate);
                assert!(
                    WindowPlan::for_rate(keys, lowest, generations).is_ok(),
                    "{keys} {generations}: {lowest}"
                );
            }
        }
        for burst in [0.99, 0.0, -1.0, f64::NAN] {
            assert!(
                matches!(WindowPlan::for_bursts(9, 0.01, 4, burst), Err(BurstOutOfRange { .. })),
                "{burst}"
            );
        }
        let plan = WindowPlan::for_rate(1_000, 0.01, 4).unwrap();
        assert_eq!(plan.within(plan.bytes()), Ok(plan));
        assert!(matches!(plan.within(plan.bytes() - 1), Err(TooLarge { .. })));
    }
}
