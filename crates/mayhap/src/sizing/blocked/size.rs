//! From keys and rate to blocks, and back.

use super::mixture::rate;
use super::{BLOCK_BITS, MAX_BLOCKS};
use crate::bloom::Shape;
use crate::sizing::classic::bits_per_key_with_hashes;
use crate::sizing::error::SizingError;
use crate::sizing::limits::{BEYOND_COUNTING, check_promise, check_rate, lowest_rate};
use crate::sizing::search::{least, most, rounded_up};

/// Two lines are two cache misses; they must save more than one part in this many of the memory of one line.
const TWO_LINES_SAVE: u64 = 8;

/// Keys in the filter on which [`bits_per_key`] is measured: large enough that nothing depends on it.
const MANY_KEYS: u64 = 1 << 24;

/// The least number of blocks with which `keys` keys have a rate of at most `rate`; even for a shape of two lines.
///
/// Fails for 0 keys, a rate outside (0, 1) or below what a 64-bit digest gives, and sizes above
/// [`MAX_BYTES`](crate::sizing::MAX_BYTES).
///
/// ```
/// use mayhap::bloom::Shape;
/// use mayhap::sizing::blocked;
///
/// let blocks = blocked::blocks(Shape::Eight, 1_000_000, 0.01)?;
/// assert!(blocked::rate(Shape::Eight, 1_000_000, blocks) <= 0.01);
/// assert!(blocked::rate(Shape::Eight, 1_000_000, blocks - 1) > 0.01);
/// # Ok::<(), mayhap::sizing::SizingError>(())
/// ```
pub fn blocks(shape: Shape, keys: u64, rate: f64) -> Result<u64, SizingError> {
    check_promise(keys, rate)?;
    let lines = shape.lines();
    let guess = rounded_up(keys as f64 * classic_bits_per_key(shape, rate) / BLOCK_BITS as f64) / lines;
    let meets = |line: u64| self::rate(shape, keys, line * lines) <= rate;
    least(guess, 1..=MAX_BLOCKS / lines, meets).map(|line| line * lines).ok_or(BEYOND_COUNTING)
}

/// The most keys that `blocks` blocks hold at a rate of at most `rate`.
///
/// 0 if not even one key can be held at that rate, or if there is no block for each line or no rate in (0, 1).
#[must_use]
pub fn capacity(shape: Shape, blocks: u64, rate: f64) -> u64 {
    if check_rate(rate).is_err() {
        return 0;
    }
    let guess = rounded_up(blocks as f64 * BLOCK_BITS as f64 / classic_bits_per_key(shape, rate));
    let meets = |keys| lowest_rate(keys) <= rate && self::rate(shape, keys, blocks) <= rate;
    most(guess, 1..=u64::MAX, meets).unwrap_or(0)
}

/// The shape with the least memory for `keys` keys at a rate of at most `rate`, preferring one cache line to two.
///
/// Two lines are chosen only if one line would cost more than an eighth more memory. Fails as [`blocks`] does.
pub fn shape_for(keys: u64, rate: f64) -> Result<Shape, SizingError> {
    check_promise(keys, rate)?;
    // A shape that would be too large is no candidate as long as another one is not.
    let cost = |shape: Shape| blocks(shape, keys, rate).unwrap_or(u64::MAX);
    let (shape, _) = prefer_one_line(
        |candidate| core::cmp::Reverse(cost(candidate)),
        |one, two| two.0.saturating_add(two.0 / TWO_LINES_SAVE) < one.0,
    );
    blocks(shape, keys, rate).map(|_| shape)
}

/// The shape with the most capacity in `blocks` blocks, preferring one cache line to two by the same measure.
pub(super) fn largest_shape(blocks_of: impl Fn(Shape) -> u64, rate: f64) -> (Shape, u64) {
    prefer_one_line(
        |shape| capacity(shape, blocks_of(shape), rate),
        |one, two| *two > one.saturating_add(one / TWO_LINES_SAVE),
    )
}

/// The best shape by `merit`: the best of one line, unless two lines are `much_better` than it.
fn prefer_one_line<M: Ord>(merit: impl Fn(Shape) -> M, much_better: impl Fn(&M, &M) -> bool) -> (Shape, M) {
    let (mut one, mut one_merit) = (Shape::Four, merit(Shape::Four));
    for shape in [Shape::Eight, Shape::Sixteen] {
        let candidate = merit(shape);
        if candidate > one_merit {
            (one, one_merit) = (shape, candidate);
        }
    }
    let two = merit(Shape::SixteenTwoLines);
    if much_better(&one_merit, &two) { (Shape::SixteenTwoLines, two) } else { (one, one_merit) }
}

/// The bits each key costs in a large filter of this shape. Fails for a rate outside (0, 1).
///
/// ```
/// use mayhap::bloom::Shape;
///
/// let per_key = mayhap::sizing::blocked::bits_per_key(Shape::Eight, 0.01)?;
/// assert!((per_key - 10.1).abs() < 0.01);
/// # Ok::<(), mayhap::sizing::SizingError>(())
/// ```
pub fn bits_per_key(shape: Shape, rate: f64) -> Result<f64, SizingError> {
    Ok(blocks(shape, MANY_KEYS, rate)? as f64 * BLOCK_BITS as f64 / MANY_KEYS as f64)
}

/// What a classic filter with as many hashes would cost: where the search starts.
fn classic_bits_per_key(shape: Shape, rate: f64) -> f64 {
    bits_per_key_with_hashes(rate, shape.hashes()).unwrap_or(1.0)
}
