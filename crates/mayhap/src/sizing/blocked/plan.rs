//! The parameters of one blocked filter.

use super::fold::{foldable, foldable_within};
use super::size::{blocks, capacity, largest_shape, shape_for};
use super::{BLOCK_BITS, BLOCK_BYTES, MAX_BLOCKS};
use crate::bloom::Shape;
use crate::sizing::error::SizingError;
use crate::sizing::limits::{MAX_BYTES, check_bytes, check_promise, check_rate, lowest_rate};

/// A blocked filter on paper: keys, rate, shape and blocks that go together.
///
/// ```
/// use mayhap::bloom::Shape;
/// use mayhap::sizing::BlockedPlan;
///
/// let plan = BlockedPlan::for_rate(1_000_000, 0.01)?;
/// assert_eq!((plan.shape(), plan.lines(), plan.hashes()), (Shape::Eight, 1, 8));
/// assert!(plan.expected_rate() <= plan.rate());
/// assert!(plan.bits_per_key() < 10.2);
/// # Ok::<(), mayhap::sizing::SizingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockedPlan {
    keys: u64,
    rate: f64,
    shape: Shape,
    blocks: u64,
}

impl BlockedPlan {
    /// The least memory in which `keys` keys have a rate of at most `rate`, rounded up to blocks that fold well.
    ///
    /// The shape is that of [`shape_for`](super::shape_for()). Fails for 0 keys, a rate outside (0, 1) or below
    /// [`lowest_rate`], and sizes above [`MAX_BYTES`].
    pub fn for_rate(keys: u64, rate: f64) -> Result<Self, SizingError> {
        Self::for_rate_with_shape(shape_for(keys, rate)?, keys, rate)
    }

    /// The same with a given shape. Fails as [`for_rate`](Self::for_rate) does.
    pub fn for_rate_with_shape(shape: Shape, keys: u64, rate: f64) -> Result<Self, SizingError> {
        let blocks = foldable(shape, blocks(shape, keys, rate)?);
        check_blocks(shape, blocks)?;
        Ok(Self { keys, rate, shape, blocks })
    }

    /// `keys` keys in at most `bytes` bytes, in the shape with the lowest rate. The promised rate is the expected one.
    ///
    /// Fails for 0 keys, less than one block, sizes above [`MAX_BYTES`], and so many keys that every answer would be yes.
    pub fn for_bytes(keys: u64, bytes: u64) -> Result<Self, SizingError> {
        // A budget too small for two lines may still serve one, so the first error is not the last word.
        let mut best = Self::for_bytes_with_shape(Shape::Four, keys, bytes);
        for shape in [Shape::Eight, Shape::Sixteen, Shape::SixteenTwoLines] {
            let candidate = Self::for_bytes_with_shape(shape, keys, bytes);
            best = match (best, candidate) {
                (Ok(best), Ok(candidate)) if candidate.expected_rate() < best.expected_rate() => {
                    Ok(candidate)
                }
                (Err(_), Ok(candidate)) => Ok(candidate),
                (best, _) => best,
            };
        }
        best
    }

    /// The same with a given shape. Fails as [`for_bytes`](Self::for_bytes) does; two lines need two blocks.
    pub fn for_bytes_with_shape(shape: Shape, keys: u64, bytes: u64) -> Result<Self, SizingError> {
        check_bytes(bytes, MAX_BYTES)?;
        let blocks = foldable_within(shape, bytes / BLOCK_BYTES);
        if blocks == 0 {
            return Err(SizingError::TooSmall { bytes, needed: shape.lines() * BLOCK_BYTES });
        }
        Self::with_blocks(shape, blocks, keys)
    }

    /// As many keys as at most `bytes` bytes hold at a rate of at most `rate`, in the shape that holds the most.
    ///
    /// One line is preferred unless two hold over an eighth more. Fails for a rate outside (0, 1), sizes above
    /// [`MAX_BYTES`], and too little memory for one key at that rate.
    pub fn for_capacity(bytes: u64, rate: f64) -> Result<Self, SizingError> {
        check_rate(rate)?;
        check_bytes(bytes, MAX_BYTES)?;
        let (shape, keys) = largest_shape(|shape| foldable_within(shape, bytes / BLOCK_BYTES), rate);
        if keys == 0 {
            // Not what this shape needs, which is as good as any here, but the one that needs least.
            return Err(SizingError::TooSmall { bytes, needed: Self::for_rate(1, rate)?.bytes() });
        }
        Self::for_capacity_with_shape(shape, bytes, rate)
    }

    /// The same with a given shape. Fails as [`for_capacity`](Self::for_capacity) does.
    pub fn for_capacity_with_shape(shape: Shape, bytes: u64, rate: f64) -> Result<Self, SizingError> {
        check_rate(rate)?;
        check_bytes(bytes, MAX_BYTES)?;
        let blocks = foldable_within(shape, bytes / BLOCK_BYTES);
        if capacity(shape, blocks, rate) == 0 {
            let needed = foldable(shape, super::blocks(shape, 1, rate)?).saturating_mul(BLOCK_BYTES);
            return Err(SizingError::TooSmall { bytes, needed });
        }
        Self::with_blocks_at_rate(shape, blocks, rate)
    }

    /// `keys` keys in exactly `blocks` blocks. The promised rate is the expected one.
    ///
    /// Fails for 0 keys, no blocks or an odd number of them for two lines, sizes above [`MAX_BYTES`], and so many keys
    /// that every answer would be yes.
    pub fn with_blocks(shape: Shape, blocks: u64, keys: u64) -> Result<Self, SizingError> {
        check_blocks(shape, blocks)?;
        if keys == 0 {
            return Err(SizingError::ZeroKeys);
        }
        // With memory in plenty it is the digest that limits what can be promised.
        let rate = super::rate(shape, keys, blocks).max(lowest_rate(keys));
        if rate >= 1.0 {
            let needed = super::blocks(shape, keys, 0.5)?.saturating_mul(BLOCK_BYTES);
            return Err(SizingError::TooSmall { bytes: blocks * BLOCK_BYTES, needed });
        }
        Ok(Self { keys, rate, shape, blocks })
    }

    /// As many keys as exactly `blocks` blocks hold at a rate of at most `rate`.
    ///
    /// Fails for a rate outside (0, 1), no blocks or an odd number of them for two lines, sizes above [`MAX_BYTES`], and
    /// too little memory for one key at that rate.
    pub fn with_blocks_at_rate(shape: Shape, blocks: u64, rate: f64) -> Result<Self, SizingError> {
        check_rate(rate)?;
        check_blocks(shape, blocks)?;
        let keys = capacity(shape, blocks, rate);
        if keys == 0 {
            let needed = foldable(shape, super::blocks(shape, 1, rate)?).saturating_mul(BLOCK_BYTES);
            return Err(SizingError::TooSmall { bytes: blocks * BLOCK_BYTES, needed });
        }
        Ok(Self { keys, rate, shape, blocks })
    }

    /// The plan of a filter that exists already, such as one read from a file, where all four numbers are given.
    ///
    /// Fails when a number alone is out of range; that the rate is kept is the filter's own business.
    pub fn from_parts(shape: Shape, blocks: u64, keys: u64, rate: f64) -> Result<Self, SizingError> {
        check_blocks(shape, blocks)?;
        check_promise(keys, rate)?;
        Ok(Self { keys, rate, shape, blocks })
    }

    /// This plan, if it needs at most `limit` bytes.
    pub fn within(self, limit: u64) -> Result<Self, SizingError> {
        check_bytes(self.bytes(), limit).map(|()| self)
    }

    /// The keys it is planned for.
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
        super::rate(self.shape, self.keys, self.blocks)
    }

    /// How a key's bits lie in its blocks.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The blocks of 512 bits.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The bits set for each key (k).
    #[must_use]
    pub fn hashes(&self) -> u32 {
        self.shape.hashes()
    }

    /// The cache lines that one key touches.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.shape.lines()
    }

    /// The bytes of all blocks.
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

/// Refuses a number of blocks that no filter of this shape has.
fn check_blocks(shape: Shape, blocks: u64) -> Result<(), SizingError> {
    if blocks == 0 || !blocks.is_multiple_of(shape.lines()) {
        return Err(SizingError::BlocksOutOfRange { got: blocks, multiple_of: shape.lines() });
    }
    if blocks > MAX_BLOCKS {
        return Err(SizingError::TooLarge { bytes: blocks.saturating_mul(BLOCK_BYTES), limit: MAX_BYTES });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_keeps_its_promise_at_every_size() {
        for keys in [1, 2, 10, 100, 1_000, 1_000_000, 1_000_000_000] {
            for rate in [0.5, 0.3, 0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-9] {
                let plan = BlockedPlan::for_rate(keys, rate).unwrap();
                assert_eq!((plan.keys(), plan.rate()), (keys, rate));
                assert!(plan.expected_rate() <= rate, "{plan:?}");
                let least = super::super::blocks(plan.shape(), keys, rate).unwrap();
                assert!(plan.blocks() >= least && plan.blocks() - least <= least / 128 + 2, "{plan:?}");
            }
        }
    }

    #[test]
    fn any_two_numbers_lead_to_the_same_plan() {
        for rate in [0.1, 0.01, 1e-6] {
            let plan = BlockedPlan::for_rate(1_000_000, rate).unwrap();
            let by_bytes = BlockedPlan::for_bytes(1_000_000, plan.bytes()).unwrap();
            assert_eq!((by_bytes.shape(), by_bytes.blocks()), (plan.shape(), plan.blocks()), "{rate}");
            assert_eq!(by_bytes.rate(), plan.expected_rate());
            let by_capacity = BlockedPlan::for_capacity(plan.bytes(), rate).unwrap();
            assert_eq!((by_capacity.shape(), by_capacity.blocks()), (plan.shape(), plan.blocks()), "{rate}");
            assert!(by_capacity.keys() >= 1_000_000 && by_capacity.keys() < 1_010_000, "{by_capacity:?}");
            assert!(by_capacity.expected_rate() <= rate);
            assert_eq!(
                BlockedPlan::from_parts(plan.shape(), plan.blocks(), plan.keys(), plan.rate()),
                Ok(plan)
            );
        }
    }

    #[test]
    fn memory_is_never_exceeded_and_hardly_wasted() {
        for bytes in [64, 127, 128, 1_000, 100_000, 64 << 20, 1 << 30, 1 << 40, MAX_BYTES] {
            let plan = BlockedPlan::for_capacity(bytes, 0.01).unwrap();
            assert!(plan.bytes() <= bytes && plan.bytes() + bytes / 128 + 128 > bytes, "{bytes}: {plan:?}");
            assert!(plan.expected_rate() <= 0.01, "{plan:?}");
            let plan = BlockedPlan::for_bytes(40, bytes).unwrap();
            assert!(plan.bytes() <= bytes, "{bytes}: {plan:?}");
        }
    }

    #[test]
    fn impossible_plans_are_refused_with_the_reason() {
        use SizingError::{BlocksOutOfRange, RateOutOfRange, RateTooLow, TooLarge, TooSmall, ZeroKeys};
        let two = Shape::SixteenTwoLines;
        assert_eq!(BlockedPlan::for_rate(0, 0.01), Err(ZeroKeys));
        assert_eq!(BlockedPlan::for_bytes(0, 640), Err(ZeroKeys));
        assert_eq!(BlockedPlan::from_parts(two, 2, 0, 0.5), Err(ZeroKeys));
        assert!(matches!(BlockedPlan::for_rate(10, 1.0), Err(RateOutOfRange { .. })));
        assert!(matches!(BlockedPlan::for_capacity(640, f64::NAN), Err(RateOutOfRange { .. })));
        assert!(matches!(BlockedPlan::with_blocks_at_rate(two, 2, 0.0), Err(RateOutOfRange { .. })));
        assert!(matches!(BlockedPlan::for_rate(1 << 40, 1e-9), Err(RateTooLow { .. })));
        assert!(matches!(BlockedPlan::for_capacity(1 << 40, 1e-19), Err(RateTooLow { .. })));
        assert_eq!(BlockedPlan::for_bytes(1, 63), Err(TooSmall { bytes: 63, needed: 64 }));
        assert_eq!(BlockedPlan::for_bytes_with_shape(two, 1, 127), Err(TooSmall { bytes: 127, needed: 128 }));
        assert!(matches!(BlockedPlan::for_bytes(1 << 40, 64), Err(TooSmall { bytes: 64, needed: 65.. })));
        assert_eq!(BlockedPlan::for_capacity(63, 0.01), Err(TooSmall { bytes: 63, needed: 64 }));
        assert!(matches!(
            BlockedPlan::for_capacity_with_shape(Shape::Four, 64, 1e-12),
            Err(TooSmall { bytes: 64, needed: 65.. })
        ));
        assert!(matches!(BlockedPlan::for_bytes(1, MAX_BYTES + 1), Err(TooLarge { .. })));
        assert!(matches!(BlockedPlan::for_capacity(u64::MAX, 0.5), Err(TooLarge { .. })));
        assert!(matches!(BlockedPlan::with_blocks(two, u64::MAX - 1, 5), Err(TooLarge { .. })));
        let plan = BlockedPlan::for_rate(1_000_000, 0.01).unwrap();
        assert_eq!(plan.within(plan.bytes()), Ok(plan));
        assert_eq!(plan.within(1_000_000), Err(TooLarge { bytes: plan.bytes(), limit: 1_000_000 }));
        assert_eq!(BlockedPlan::with_blocks(two, 7, 5), Err(BlocksOutOfRange { got: 7, multiple_of: 2 }));
        assert_eq!(
            BlockedPlan::with_blocks(Shape::Four, 0, 5),
            Err(BlocksOutOfRange { got: 0, multiple_of: 1 })
        );
        assert!(matches!(BlockedPlan::from_parts(two, 3, 5, 0.1), Err(BlocksOutOfRange { .. })));
    }

    #[test]
    fn memory_beyond_the_digest_promises_what_the_digest_gives() {
        let plan = BlockedPlan::for_bytes(1_000, 1 << 30).unwrap();
        assert_eq!(plan.rate(), lowest_rate(1_000));
        assert!(plan.expected_rate() < plan.rate());
    }
}
