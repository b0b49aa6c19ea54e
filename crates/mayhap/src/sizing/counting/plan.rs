//! The parameters of one counting filter.

use super::{blocks, capacity, rate, saturation, shape_for, size::largest_shape, stuck_counters};
use crate::counting::{CounterLayout, CounterShape, CounterWidth};
use crate::sizing::blocked::{BLOCK_BITS, BLOCK_BYTES, MAX_BLOCKS};
use crate::sizing::divisible::{divisible_from, divisible_within};
use crate::sizing::error::SizingError;
use crate::sizing::limits::{BEYOND_COUNTING, MAX_BYTES, check_bytes, check_rate, lowest_rate};

/// A counting filter on paper: keys, rate, layout and lines that go together.
///
/// ```
/// use mayhap::counting::{CounterShape, CounterWidth};
/// use mayhap::sizing::CountingPlan;
///
/// let plan = CountingPlan::for_rate(1_000_000, 0.01, CounterWidth::Four)?;
/// assert_eq!((plan.shape(), plan.lines(), plan.hashes()), (CounterShape::Eight, 1, 8));
/// assert!(plan.expected_rate() <= plan.rate());
/// assert!(plan.bits_per_key() < 46.2);
/// # Ok::<(), mayhap::sizing::SizingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountingPlan {
    keys: u64,
    rate: f64,
    layout: CounterLayout,
    blocks: u64,
}

impl CountingPlan {
    /// The least memory in which `keys` distinct keys have a rate of at most `rate`, rounded up to lines that fold well.
    ///
    /// The shape is that of [`shape_for`](super::shape_for()). Fails for 0 keys, a rate outside (0, 1) or below
    /// [`lowest_rate`], and sizes above [`MAX_BYTES`].
    pub fn for_rate(keys: u64, rate: f64, width: CounterWidth) -> Result<Self, SizingError> {
        let shape = shape_for(width, keys, rate)?;
        Self::for_rate_with_layout(CounterLayout { shape, width }, keys, rate)
    }

    /// The same with a given layout. Fails as [`for_rate`](Self::for_rate) does.
    pub fn for_rate_with_layout(layout: CounterLayout, keys: u64, rate: f64) -> Result<Self, SizingError> {
        let lines = layout.shape.lines();
        let blocks = divisible_from(blocks(layout, keys, rate)? / lines) * lines;
        if blocks > MAX_BLOCKS {
            return Err(BEYOND_COUNTING);
        }
        Ok(Self { keys, rate, layout, blocks })
    }

    /// `keys` distinct keys in at most `bytes` bytes, in the shape with the lowest rate. The promised rate is the
    /// expected one.
    ///
    /// Fails for 0 keys, less than one line, sizes above [`MAX_BYTES`], and so many keys that every answer would be yes.
    pub fn for_bytes(keys: u64, bytes: u64, width: CounterWidth) -> Result<Self, SizingError> {
        let of = |shape| Self::for_bytes_with_layout(CounterLayout { shape, width }, keys, bytes);
        // A budget too small for two lines may still serve one, so the first error is not the last word.
        let mut best = of(CounterShape::Four);
        for shape in [CounterShape::Eight, CounterShape::EightTwoLines, CounterShape::SixteenTwoLines] {
            best = match (best, of(shape)) {
                (Ok(best), Ok(candidate)) if candidate.expected_rate() < best.expected_rate() => {
                    Ok(candidate)
                }
                (Err(_), Ok(candidate)) => Ok(candidate),
                (best, _) => best,
            };
        }
        best
    }

    /// The same with a given layout. Fails as [`for_bytes`](Self::for_bytes) does; two lines need 128 bytes.
    pub fn for_bytes_with_layout(layout: CounterLayout, keys: u64, bytes: u64) -> Result<Self, SizingError> {
        check_bytes(bytes, MAX_BYTES)?;
        let blocks = blocks_within(layout.shape, bytes);
        if blocks == 0 {
            return Err(SizingError::TooSmall { bytes, needed: layout.shape.lines() * BLOCK_BYTES });
        }
        if keys == 0 {
            return Err(SizingError::ZeroKeys);
        }
        // With memory in plenty it is the digest that limits what can be promised.
        let rate = rate(layout, keys, blocks).max(lowest_rate(keys));
        if rate >= 1.0 {
            let needed = super::blocks(layout, keys, 0.5)?.saturating_mul(BLOCK_BYTES);
            return Err(SizingError::TooSmall { bytes, needed });
        }
        Ok(Self { keys, rate, layout, blocks })
    }

    /// As many distinct keys as at most `bytes` bytes hold at a rate of at most `rate`, in the shape that holds the most.
    ///
    /// One line is preferred unless two hold over a quarter more. Fails for a rate outside (0, 1), sizes above
    /// [`MAX_BYTES`], and too little memory for one key at that rate.
    pub fn for_capacity(bytes: u64, rate: f64, width: CounterWidth) -> Result<Self, SizingError> {
        check_rate(rate)?;
        check_bytes(bytes, MAX_BYTES)?;
        let (shape, keys) = largest_shape(|shape| {
            capacity(CounterLayout { shape, width }, blocks_within(shape, bytes), rate)
        });
        if keys == 0 {
            // Not what this shape needs, which is as good as any here, but the one that needs least.
            return Err(SizingError::TooSmall { bytes, needed: Self::for_rate(1, rate, width)?.bytes() });
        }
        Self::for_capacity_with_layout(CounterLayout { shape, width }, bytes, rate)
    }

    /// The same with a given layout. Fails as [`for_capacity`](Self::for_capacity) does.
    pub fn for_capacity_with_layout(
        layout: CounterLayout,
        bytes: u64,
        rate: f64,
    ) -> Result<Self, SizingError> {
        check_rate(rate)?;
        check_bytes(bytes, MAX_BYTES)?;
        let blocks = blocks_within(layout.shape, bytes);
        let keys = capacity(layout, blocks, rate);
        if keys == 0 {
            let needed = Self::for_rate_with_layout(layout, 1, rate)?.bytes();
            return Err(SizingError::TooSmall { bytes, needed });
        }
        Ok(Self { keys, rate, layout, blocks })
    }

    /// This plan, if it needs at most `limit` bytes.
    pub fn within(self, limit: u64) -> Result<Self, SizingError> {
        check_bytes(self.bytes(), limit).map(|()| self)
    }

    /// The distinct keys it is planned for.
    #[must_use]
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// The promised rate: with the planned keys inserted, false positives are at most this frequent.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The rate the model expects with the planned keys inserted.
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        rate(self.layout, self.keys, self.blocks)
    }

    /// The probability that a given counter sticks when each planned key is added once; see [`saturation`](saturation()).
    #[must_use]
    pub fn saturation(&self) -> f64 {
        saturation(self.layout, self.keys, self.blocks)
    }

    /// How many counters are expected to stick when each planned key is added once.
    #[must_use]
    pub fn stuck_counters(&self) -> f64 {
        stuck_counters(self.layout, self.keys, self.blocks)
    }

    /// Shape and width of the counters.
    #[must_use]
    pub fn layout(&self) -> CounterLayout {
        self.layout
    }

    /// How a key's counters lie in its lines.
    #[must_use]
    pub fn shape(&self) -> CounterShape {
        self.layout.shape
    }

    /// How wide a counter is.
    #[must_use]
    pub fn width(&self) -> CounterWidth {
        self.layout.width
    }

    /// The lines of 64 bytes.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The counters of each key (k).
    #[must_use]
    pub fn hashes(&self) -> u32 {
        self.layout.shape.hashes()
    }

    /// The cache lines that one key touches.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.layout.shape.lines()
    }

    /// The bytes of all lines.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.blocks * BLOCK_BYTES
    }

    /// The bits of the filter for each planned key.
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        self.blocks as f64 * BLOCK_BITS as f64 / self.keys as f64
    }
}

/// The most lines in so many bytes that fold well.
fn blocks_within(shape: CounterShape, bytes: u64) -> u64 {
    divisible_within(bytes / BLOCK_BYTES / shape.lines()) * shape.lines()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_keeps_its_promise_at_every_size() {
        for width in CounterWidth::ALL {
            for keys in [1, 2, 10, 1_000, 1_000_000, 1_000_000_000] {
                for rate in [0.5, 0.03, 0.01, 1e-3, 1e-6] {
                    let plan = CountingPlan::for_rate(keys, rate, width).unwrap();
                    assert_eq!((plan.keys(), plan.rate(), plan.width()), (keys, rate, width));
                    assert!(plan.expected_rate() <= rate, "{plan:?}");
                    let least = blocks(plan.layout(), keys, rate).unwrap();
                    assert!(plan.blocks() >= least && plan.blocks() - least <= least / 128 + 2, "{plan:?}");
                }
            }
        }
    }

    #[test]
    fn any_two_numbers_lead_to_the_same_plan() {
        for width in CounterWidth::ALL {
            for rate in [0.03, 0.01, 1e-3] {
                let plan = CountingPlan::for_rate(1_000_000, rate, width).unwrap();
                let by_bytes =
                    CountingPlan::for_bytes_with_layout(plan.layout(), 1_000_000, plan.bytes()).unwrap();
                assert_eq!(by_bytes.blocks(), plan.blocks());
                assert_eq!(by_bytes.rate(), plan.expected_rate());
                let best = CountingPlan::for_bytes(1_000_000, plan.bytes(), width).unwrap();
                assert!(best.expected_rate() <= by_bytes.expected_rate());
                let by_capacity = CountingPlan::for_capacity(plan.bytes(), rate, width).unwrap();
                assert_eq!((by_capacity.layout(), by_capacity.blocks()), (plan.layout(), plan.blocks()));
                assert!((1_000_000..1_010_000).contains(&by_capacity.keys()), "{by_capacity:?}");
            }
        }
    }

    #[test]
    fn memory_is_never_exceeded_and_hardly_wasted() {
        for bytes in [64, 127, 128, 1_000, 100_000, 64 << 20, 1 << 40, MAX_BYTES] {
            for width in CounterWidth::ALL {
                let plan = CountingPlan::for_capacity(bytes, 0.1, width).unwrap();
                assert!(
                    plan.bytes() <= bytes && plan.bytes() + bytes / 128 + 128 > bytes,
                    "{bytes}: {plan:?}"
                );
                assert!(plan.expected_rate() <= 0.1, "{plan:?}");
            }
        }
    }

    #[test]
    fn impossible_plans_are_refused_with_the_reason() {
        use SizingError::{RateOutOfRange, RateTooLow, TooLarge, TooSmall, ZeroKeys};
        let four = CounterWidth::Four;
        assert_eq!(CountingPlan::for_rate(0, 0.01, four), Err(ZeroKeys));
        assert_eq!(CountingPlan::for_bytes(0, 640, four), Err(ZeroKeys));
        assert!(matches!(CountingPlan::for_rate(10, 1.0, four), Err(RateOutOfRange { .. })));
        assert!(matches!(CountingPlan::for_capacity(640, f64::NAN, four), Err(RateOutOfRange { .. })));
        assert!(matches!(CountingPlan::for_rate(1 << 40, 1e-9, four), Err(RateTooLow { .. })));
        assert_eq!(CountingPlan::for_bytes(1, 63, four), Err(TooSmall { bytes: 63, needed: 64 }));
        assert!(matches!(
            CountingPlan::for_bytes(1 << 40, 64, four),
            Err(TooSmall { bytes: 64, needed: 65.. })
        ));
        assert_eq!(CountingPlan::for_capacity(63, 0.01, four), Err(TooSmall { bytes: 63, needed: 64 }));
        assert!(matches!(CountingPlan::for_bytes(1, MAX_BYTES + 1, four), Err(TooLarge { .. })));
        assert!(matches!(CountingPlan::for_capacity(u64::MAX, 0.5, four), Err(TooLarge { .. })));
        let plan = CountingPlan::for_rate(1_000_000, 0.01, four).unwrap();
        assert_eq!(plan.within(plan.bytes()), Ok(plan));
        assert_eq!(plan.within(1_000_000), Err(TooLarge { bytes: plan.bytes(), limit: 1_000_000 }));
    }
}
