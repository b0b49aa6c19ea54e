//! From keys and rate to lines, and back.

use core::cmp::Reverse;

use super::rate;
use crate::counting::{CounterLayout, CounterShape, CounterWidth};
use crate::sizing::blocked::{BLOCK_BITS, MAX_BLOCKS};
use crate::sizing::classic::bits_per_key_with_hashes;
use crate::sizing::error::SizingError;
use crate::sizing::limits::{BEYOND_COUNTING, check_promise, check_rate, lowest_rate};
use crate::sizing::search::{least, most, rounded_up};

/// Two lines are two cache misses; one line is preferred until it costs more than one part in this many more memory.
/// (A Bloom filter has 8 here. Counters are not chosen to save memory, so they pay more for their speed.)
const TWO_LINES_SAVE: u64 = 4;

/// Keys in the filter on which [`bits_per_key`] is measured: large enough that nothing depends on it.
const MANY_KEYS: u64 = 1 << 24;

/// The least number of lines with which `keys` distinct keys have a rate of at most `rate`; even for a shape of two
/// lines.
///
/// Fails for 0 keys, a rate outside (0, 1) or below what a 64-bit digest gives, and sizes above
/// [`MAX_BYTES`](crate::sizing::MAX_BYTES).
pub fn blocks(layout: CounterLayout, keys: u64, rate: f64) -> Result<u64, SizingError> {
    check_promise(keys, rate)?;
    let lines = layout.shape.lines();
    let guess = rounded_up(keys as f64 * textbook_bits_per_key(layout, rate) / BLOCK_BITS as f64) / lines;
    let meets = |line: u64| self::rate(layout, keys, line * lines) <= rate;
    least(guess, 1..=MAX_BLOCKS / lines, meets).map(|line| line * lines).ok_or(BEYOND_COUNTING)
}

/// The most distinct keys that `blocks` lines hold at a rate of at most `rate`.
///
/// 0 if not even one key can be held at that rate, or if there is no line in each half or no rate in (0, 1).
#[must_use]
pub fn capacity(layout: CounterLayout, blocks: u64, rate: f64) -> u64 {
    if check_rate(rate).is_err() {
        return 0;
    }
    let guess = rounded_up(blocks as f64 * BLOCK_BITS as f64 / textbook_bits_per_key(layout, rate));
    let meets = |keys| lowest_rate(keys) <= rate && self::rate(layout, keys, blocks) <= rate;
    most(guess, 1..=u64::MAX, meets).unwrap_or(0)
}

/// The shape with the least memory for `keys` distinct keys at a rate of at most `rate`, preferring one cache line to
/// two.
///
/// Two lines are chosen only if one line would cost more than a quarter more memory. Fails as [`blocks`] does.
pub fn shape_for(width: CounterWidth, keys: u64, rate: f64) -> Result<CounterShape, SizingError> {
    check_promise(keys, rate)?;
    // A shape that would be too large is no candidate as long as another one is not.
    let cost = |shape| blocks(CounterLayout { shape, width }, keys, rate).unwrap_or(u64::MAX);
    let (shape, _) = prefer_one_line(
        |candidate| Reverse(cost(candidate)),
        |one, two| two.0.saturating_add(two.0 / TWO_LINES_SAVE) < one.0,
    );
    blocks(CounterLayout { shape, width }, keys, rate).map(|_| shape)
}

/// The shape with the most capacity, preferring one cache line to two by the same measure.
pub(super) fn largest_shape(capacity_of: impl Fn(CounterShape) -> u64) -> (CounterShape, u64) {
    prefer_one_line(capacity_of, |one, two| *two > one.saturating_add(one / TWO_LINES_SAVE))
}

/// The best shape by `merit`: the best of one line, unless the best of two is `much_better` than it.
fn prefer_one_line<M: Ord>(
    merit: impl Fn(CounterShape) -> M,
    much_better: impl Fn(&M, &M) -> bool,
) -> (CounterShape, M) {
    let better = |a: CounterShape, b: CounterShape| {
        let (merit_a, merit_b) = (merit(a), merit(b));
        if merit_b > merit_a { (b, merit_b) } else { (a, merit_a) }
    };
    let one = better(CounterShape::Four, CounterShape::Eight);
    let two = better(CounterShape::EightTwoLines, CounterShape::SixteenTwoLines);
    if much_better(&one.1, &two.1) { two } else { one }
}

/// The bits each key costs in a large filter of this layout. Fails for a rate outside (0, 1).
///
/// ```
/// use mayhap::counting::{CounterLayout, CounterShape, CounterWidth};
///
/// let layout = CounterLayout { shape: CounterShape::Eight, width: CounterWidth::Four };
/// let per_key = mayhap::sizing::counting::bits_per_key(layout, 0.01)?;
/// assert!((per_key - 45.7).abs() < 0.1);
/// # Ok::<(), mayhap::sizing::SizingError>(())
/// ```
pub fn bits_per_key(layout: CounterLayout, rate: f64) -> Result<f64, SizingError> {
    Ok(blocks(layout, MANY_KEYS, rate)? as f64 * BLOCK_BITS as f64 / MANY_KEYS as f64)
}

/// What as many counters would cost spread over all of the memory: where the search starts.
fn textbook_bits_per_key(layout: CounterLayout, rate: f64) -> f64 {
    f64::from(layout.width.bits()) * bits_per_key_with_hashes(rate, layout.shape.hashes()).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: [f64; 7] = [0.9, 0.3, 0.03, 0.01, 1e-3, 1e-4, 1e-6];

    fn layout(shape: CounterShape, width: CounterWidth) -> CounterLayout {
        CounterLayout { shape, width }
    }

    /// The Poisson mixture, computed outside of this crate.
    #[test]
    fn bits_per_key_of_the_design() {
        use CounterShape::{Eight, EightTwoLines, Four, SixteenTwoLines};
        for (shape, width, rate, expected) in [
            (Four, CounterWidth::Four, 0.03, 31.8),
            (Eight, CounterWidth::Four, 0.01, 45.7),
            (Four, CounterWidth::Four, 0.01, 46.5),
            (EightTwoLines, CounterWidth::Four, 0.01, 40.2),
            (Eight, CounterWidth::Four, 0.001, 77.6),
            (EightTwoLines, CounterWidth::Four, 0.001, 62.3),
            (Four, CounterWidth::Eight, 0.01, 102.8),
            (EightTwoLines, CounterWidth::Eight, 0.01, 83.5),
            (Four, CounterWidth::Sixteen, 0.01, 250.3),
            (EightTwoLines, CounterWidth::Sixteen, 0.01, 180.4),
            (SixteenTwoLines, CounterWidth::Four, 1e-6, 155.2),
        ] {
            let got = bits_per_key(layout(shape, width), rate).unwrap();
            assert!(
                (got / expected - 1.0).abs() < 0.002,
                "{shape:?} {width:?} {rate}: {got}, not {expected}"
            );
        }
    }

    #[test]
    fn the_least_lines_keep_the_promise_and_fewer_do_not() {
        for layout in CounterLayout::all() {
            let lines = layout.shape.lines();
            for keys in [1, 2, 37, 1_000, 1_000_000] {
                for rate in RATES {
                    let n = blocks(layout, keys, rate).unwrap();
                    assert!(self::rate(layout, keys, n) <= rate, "{layout:?} {keys} {rate}");
                    assert_eq!(n % lines, 0);
                    if n > lines {
                        assert!(self::rate(layout, keys, n - lines) > rate, "{layout:?} {keys} {rate}");
                    }
                    let held = capacity(layout, n, rate);
                    assert!(held >= keys && self::rate(layout, held, n) <= rate, "{layout:?} {keys} {rate}");
                    assert!(self::rate(layout, held + 1, n) > rate, "{layout:?} {keys} {rate}");
                }
            }
            assert_eq!(capacity(layout, 0, 0.01), 0);
            assert_eq!(capacity(layout, 100, f64::NAN), 0);
        }
    }

    #[test]
    fn the_shape_follows_rate_and_width() {
        for width in CounterWidth::ALL {
            for rate in RATES {
                let cost = |shape| blocks(layout(shape, width), 1_000_000, rate).unwrap();
                let shape = shape_for(width, 1_000_000, rate).unwrap();
                let least = CounterShape::ALL.map(cost).into_iter().min().unwrap();
                assert!(cost(shape) <= least + least / 4, "{width:?} {rate}");
                if shape.lines() == 2 {
                    assert_eq!(cost(shape), least);
                    let one = cost(CounterShape::Four).min(cost(CounterShape::Eight));
                    assert!(one > least + least / 4, "{width:?} {rate}");
                }
            }
        }
        let shape = |width, rate| shape_for(width, 1_000_000, rate).unwrap();
        assert_eq!(shape(CounterWidth::Four, 0.03), CounterShape::Four);
        assert_eq!(shape(CounterWidth::Four, 0.01), CounterShape::Eight);
        assert_eq!(shape(CounterWidth::Four, 1e-3), CounterShape::Eight);
        assert_eq!(shape(CounterWidth::Eight, 0.01), CounterShape::Four);
        assert_eq!(shape(CounterWidth::Eight, 1e-3), CounterShape::EightTwoLines);
        assert_eq!(shape(CounterWidth::Sixteen, 0.01), CounterShape::EightTwoLines);
        assert_eq!(shape(CounterWidth::Four, 1e-6), CounterShape::SixteenTwoLines);
    }

    #[test]
    fn the_impossible_is_refused() {
        let eight = layout(CounterShape::Eight, CounterWidth::Four);
        assert_eq!(blocks(eight, 0, 0.5), Err(SizingError::ZeroKeys));
        assert!(matches!(blocks(eight, 1 << 60, 0.01), Err(SizingError::RateTooLow { .. })));
        assert!(matches!(blocks(eight, 10, 1.0), Err(SizingError::RateOutOfRange { .. })));
        assert_eq!(
            blocks(layout(CounterShape::Four, CounterWidth::Sixteen), 1 << 57, 0.05),
            Err(BEYOND_COUNTING)
        );
        // Up to a quadrillion keys the digest gives out before the bytes do.
        for exponent in (1..=50).step_by(7) {
            let keys = 1_u64 << exponent;
            for layout in CounterLayout::all() {
                let n = blocks(layout, keys, lowest_rate(keys)).unwrap();
                assert!(self::rate(layout, keys, n) <= lowest_rate(keys), "2^{exponent} {layout:?}");
            }
        }
    }
}
