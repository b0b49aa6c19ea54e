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

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: [f64; 9] = [0.9, 0.5, 0.3, 0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-9];

    #[test]
    fn bits_per_key_of_the_design() {
        let table = [
            (0.1, [4.89, 5.88, 8.19, 8.04]),
            (0.01, [10.79, 10.10, 12.36, 11.76]),
            (1e-4, [42.0, 23.61, 22.8, 20.2]),
            (1e-6, [174.0, 51.9, 38.9, 31.4]),
        ];
        for (rate, row) in table {
            for (shape, expected) in Shape::ALL.into_iter().zip(row) {
                let got = bits_per_key(shape, rate).unwrap();
                assert!((got / expected - 1.0).abs() < 0.005, "{rate} {shape:?}: {got}, not {expected}");
            }
        }
        assert!((bits_per_key(Shape::Eight, 1e-3).unwrap() - 15.72).abs() < 0.01);
    }

    #[test]
    fn two_lines_are_two_filters_at_the_root_of_the_rate() {
        for rate in [0.01, 1e-4, 1e-6] {
            let two = bits_per_key(Shape::SixteenTwoLines, rate).unwrap();
            let one = bits_per_key(Shape::Eight, libm::sqrt(rate)).unwrap();
            assert!((two / (2.0 * one) - 1.0).abs() < 1e-3, "{rate}: {two} {one}");
        }
    }

    #[test]
    fn the_least_blocks_keep_the_promise_and_one_line_fewer_does_not() {
        for shape in Shape::ALL {
            for keys in [1, 2, 10, 37, 1_000, 123_456, 100_000_000] {
                for rate in RATES {
                    let n = blocks(shape, keys, rate).unwrap();
                    assert!(self::rate(shape, keys, n) <= rate, "{shape:?} {keys} {rate}");
                    assert_eq!(n % shape.lines(), 0);
                    if n > shape.lines() {
                        assert!(self::rate(shape, keys, n - shape.lines()) > rate, "{shape:?} {keys} {rate}");
                    }
                }
            }
        }
    }

    #[test]
    fn capacity_is_the_inverse_of_blocks() {
        for shape in Shape::ALL {
            for keys in [1, 100, 5_000, 1_000_000] {
                for rate in [0.3, 0.01, 1e-6] {
                    let n = blocks(shape, keys, rate).unwrap();
                    let held = capacity(shape, n, rate);
                    assert!(held >= keys && self::rate(shape, held, n) <= rate, "{shape:?} {keys} {rate}");
                    assert!(self::rate(shape, held + 1, n) > rate, "{shape:?} {keys} {rate}");
                    if n > shape.lines() {
                        assert!(capacity(shape, n - shape.lines(), rate) < keys, "{shape:?} {keys} {rate}");
                    }
                }
            }
            assert_eq!(capacity(shape, 0, 0.01), 0);
            assert_eq!(capacity(shape, 100, f64::NAN), 0);
            assert_eq!(capacity(shape, 100, 0.0), 0);
            assert_eq!(capacity(shape, 100, 1.0), 0);
        }
        assert_eq!(capacity(Shape::SixteenTwoLines, 1, 0.01), 0);
        assert_eq!(capacity(Shape::Four, 1, 1e-15), 0);
    }

    #[test]
    fn the_shape_follows_the_rate() {
        let shape = |rate| shape_for(10_000_000, rate).unwrap();
        assert_eq!([0.5, 0.1, 0.025].map(shape), [Shape::Four; 3]);
        assert_eq!([0.015, 0.01, 1e-3].map(shape), [Shape::Eight; 3]);
        assert_eq!([1e-5, 1e-6, 1e-9].map(shape), [Shape::SixteenTwoLines; 3]);
        for rate in RATES {
            let cost = |shape| blocks(shape, 10_000_000, rate).unwrap();
            let chosen = cost(shape(rate));
            let least = Shape::ALL.map(cost).into_iter().min().unwrap();
            assert!(chosen <= least + least / 8, "{rate}");
            if shape(rate).lines() == 2 {
                assert!(cost(Shape::Eight).min(cost(Shape::Sixteen)) > chosen + chosen / 8, "{rate}");
            }
        }
        // A handful of keys fits into one block, whatever the rate.
        assert_eq!(shape_for(1, 1e-9).map(Shape::lines), Ok(1));
    }

    #[test]
    fn the_largest_sizes_are_right_or_refused() {
        for keys in [1_u64 << 33, 1 << 40, 1 << 50] {
            let n = blocks(Shape::Eight, keys, 0.01).unwrap();
            let per_key = n as f64 * 512.0 / keys as f64;
            assert!((per_key / 10.1 - 1.0).abs() < 0.001 + lowest_rate(keys) * 10.0, "{keys}: {per_key}");
        }
        assert!(matches!(blocks(Shape::Eight, u64::MAX, 0.5), Err(SizingError::RateTooLow { .. })));
        assert!(matches!(blocks(Shape::Eight, 1 << 60, 0.01), Err(SizingError::RateTooLow { .. })));
        // The digest gives out before the bytes do: the most wasteful shape at the lowest rate is still counted.
        for exponent in 1..=60 {
            let keys = 1_u64 << exponent;
            for shape in Shape::ALL {
                let n = blocks(shape, keys, lowest_rate(keys)).unwrap();
                assert!(self::rate(shape, keys, n) <= lowest_rate(keys), "2^{exponent} {shape:?}");
            }
        }
        assert_eq!(blocks(Shape::Eight, 0, 0.5), Err(SizingError::ZeroKeys));
        assert_eq!(shape_for(0, 0.5), Err(SizingError::ZeroKeys));
        assert!(matches!(shape_for(1, -1.0), Err(SizingError::RateOutOfRange { .. })));
        // The digest's share of a rate of one half, to the precision of a float.
        assert!(capacity(Shape::Four, u64::MAX, 0.5).abs_diff(1 << 61) <= 256);
    }
}
