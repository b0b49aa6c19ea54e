//! How many keys a blocked filter holds, from its set bits.

use libm::{exp, expm1, log, log1p, round, sqrt};

use super::mixture::Geometry;
use crate::bloom::Shape;

/// The number of keys that most likely set `bits_set` bits of `blocks` blocks.
///
/// A key leaves a given bit unset with probability 1 - a/N, where a is its chance to set that bit once it falls into the
/// block and N the number of blocks of a line. So n is ln(1 - fill) / ln(1 - a/N), whatever the other bits do. When every
/// bit is set the answer is a lower bound, the count at which half a bit would be expected unset.
///
/// ```
/// use mayhap::bloom::Shape;
/// use mayhap::sizing::blocked;
///
/// let estimate = blocked::estimated_keys(Shape::Eight, 280_000, 1_000);
/// assert_eq!(estimate, 50_661);
/// assert!(blocked::standard_error(Shape::Eight, estimate, 1_000) < 100.0);
/// ```
#[must_use]
pub fn estimated_keys(shape: Shape, bits_set: u64, blocks: u64) -> u64 {
    Geometry::from(shape).estimated_keys(bits_set, blocks)
}

/// The standard error of [`estimated_keys`] when the filter holds `keys` keys, in keys.
///
/// It is the standard deviation of the number of set bits, divided by how many bits the next key is expected to set.
/// Bits of one block vary together, so it is a little larger than for a classic filter. Infinite when a further key
/// changes nothing.
#[must_use]
pub fn standard_error(shape: Shape, keys: u64, blocks: u64) -> f64 {
    Geometry::from(shape).standard_error(keys, blocks)
}

/// The share of bits that `keys` keys are expected to set in `blocks` blocks: what [`estimated_keys`] inverts.
///
/// ```
/// use mayhap::bloom::Shape;
/// use mayhap::sizing::blocked;
///
/// let fill = blocked::expected_fill(Shape::Eight, 50_661, 1_000);
/// assert!((fill - 280_000.0 / 512_000.0).abs() < 1e-5);
/// ```
#[must_use]
pub fn expected_fill(shape: Shape, keys: u64, blocks: u64) -> f64 {
    let geometry = Geometry::from(shape);
    if blocks < geometry.lines {
        return 0.0;
    }
    -expm1(keys as f64 * log1p(-geometry.chance_per_key(blocks)))
}

/// The number of set cells.
#[derive(Clone, Copy, Debug)]
pub(in crate::sizing) struct Spread {
    pub(in crate::sizing) mean: f64,
    pub(in crate::sizing) deviation: f64,
    /// How many the next key is expected to set.
    per_further_key: f64,
}

impl Geometry {
    /// [`estimated_keys`], for any cells.
    pub(in crate::sizing) fn estimated_keys(self, cells_set: u64, blocks: u64) -> u64 {
        if cells_set == 0 || blocks < self.lines {
            return 0;
        }
        let cells = blocks as f64 * self.block_cells();
        let unset = (cells - cells_set as f64).max(0.5);
        let keys = round(log(unset / cells) / log1p(-self.chance_per_key(blocks)));
        #[allow(clippy::cast_possible_truncation)] // `as` saturates.
        let keys = keys as u64;
        keys.max(1)
    }

    /// [`standard_error`], for any cells.
    pub(in crate::sizing) fn standard_error(self, keys: u64, blocks: u64) -> f64 {
        if keys == 0 {
            return 0.0;
        }
        let spread = self.spread(keys, blocks);
        if spread.per_further_key > 0.0 { spread.deviation / spread.per_further_key } else { f64::INFINITY }
    }

    /// How many cells `keys` keys set, and how much that varies.
    pub(in crate::sizing) fn spread(self, keys: u64, blocks: u64) -> Spread {
        let lines = self.lines as f64;
        let line_blocks = (blocks / self.lines) as f64;
        if line_blocks < 1.0 {
            return Spread { mean: 0.0, deviation: 0.0, per_further_key: 0.0 };
        }
        let (n, block, group) = (keys as f64, self.block_cells(), self.group_cells);
        let draws = f64::from(self.draws);
        let set = self.chance_to_set();
        let stays = log1p(-set / line_blocks);
        let unset = exp(n * stays);

        // How much likelier two cells are both unset than if they were independent, by where they lie.
        let excess = |log_both: f64| unset * unset * expm1(n * (log_both - 2.0 * stays));
        let same_group = excess(log1p(expm1(draws * log1p(-2.0 / group)) / line_blocks));
        let same_block = excess(log1p(expm1(2.0 * draws * log1p(-1.0 / group)) / line_blocks));
        let other_block = if line_blocks > 1.0 {
            let away = set / (line_blocks - set);
            unset * unset * expm1(n * log1p(-away * away))
        } else {
            0.0
        };
        let line_cells = line_blocks * block;
        let variance = line_cells
            * (unset * (1.0 - unset)
                + (group - 1.0) * same_group
                + (block - group) * same_block
                + (line_cells - block) * other_block);
        Spread {
            mean: lines * line_cells * (1.0 - unset),
            // The lines fill independently of each other.
            deviation: sqrt((lines * variance).max(0.0)),
            per_further_key: lines * line_cells * unset * -stays,
        }
    }

    /// The cells of a block.
    fn block_cells(self) -> f64 {
        f64::from(self.groups) * self.group_cells
    }

    /// The probability that a key sets a given cell of the filter.
    fn chance_per_key(self, blocks: u64) -> f64 {
        self.chance_to_set() / (blocks / self.lines) as f64
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)] // Simulated filters are small.
mod tests {
    use super::*;
    use crate::sizing::blocked::{BLOCK_BITS, mixture::group_bits};
    use crate::sizing::search::rounded_up;

    #[test]
    fn the_expected_fill_gives_the_keys_back() {
        for shape in Shape::ALL {
            for blocks in [2_u64, 10, 1_000, 1 << 30] {
                for per_block in [1, 5, 20, 60] {
                    let keys = blocks * per_block;
                    let unset = exp(keys as f64 * log1p(-Geometry::from(shape).chance_per_key(blocks)));
                    let bits_set = rounded_up((1.0 - unset) * (blocks * BLOCK_BITS) as f64 - 0.5);
                    let estimate = estimated_keys(shape, bits_set, blocks);
                    assert!(
                        estimate.abs_diff(keys) <= 1 + keys / 100_000,
                        "{shape:?} {blocks} {keys}: {estimate}"
                    );
                }
            }
        }
    }

    #[test]
    fn full_empty_and_absurd_filters() {
        for shape in Shape::ALL {
            assert_eq!(estimated_keys(shape, 0, 10), 0);
            assert_eq!(estimated_keys(shape, 5, 0), 0);
            assert_eq!(estimated_keys(shape, 1, 10), 1);
            let full = estimated_keys(shape, 5_120, 10);
            assert!(full > estimated_keys(shape, 5_119, 10) && full < 1_000_000, "{full}");
            assert_eq!(estimated_keys(shape, u64::MAX, 10), full);
            assert_eq!(standard_error(shape, 0, 10), 0.0);
            assert_eq!(standard_error(shape, 1, 0), f64::INFINITY);
            assert_eq!(standard_error(shape, u64::MAX, 2), f64::INFINITY);
            assert!(standard_error(shape, 1, u64::MAX) >= 0.0);
        }
    }

    /// Fills simulated filters and compares the estimates' spread with the formula: the standard deviation of 400
    /// estimates is known to 3.5 %, so 15 % is four of its standard errors; the mean within four of its own.
    #[test]
    fn simulated_estimates_spread_as_the_formula_says() {
        let mut state = 1_u64;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mixed = (state ^ (state >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
            ((u128::from(mixed ^ (mixed >> 29)) * u128::from(bound)) >> 64) as u64
        };
        let (keys, blocks, filters) = (900_u64, 20_u64, 400);
        for shape in Shape::ALL {
            let (line_blocks, group) = (blocks / shape.lines(), group_bits(shape) as u64);
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..filters {
                let mut bits = std::vec![false; (blocks * BLOCK_BITS) as usize];
                for _ in 0..keys {
                    for line in 0..shape.lines() {
                        let start = (line * line_blocks + below(line_blocks)) * BLOCK_BITS;
                        for draw in 0..u64::from(shape.groups() * shape.bits_per_group()) {
                            let base = draw % u64::from(shape.groups()) * group;
                            bits[(start + base + below(group)) as usize] = true;
                        }
                    }
                }
                let bits_set = bits.iter().filter(|bit| **bit).count() as u64;
                let estimate = estimated_keys(shape, bits_set, blocks) as f64;
                sum += estimate;
                squares += estimate * estimate;
            }
            let mean = sum / f64::from(filters);
            let deviation = sqrt(squares / f64::from(filters) - mean * mean);
            let expected = standard_error(shape, keys, blocks);
            assert!((deviation / expected - 1.0).abs() < 0.15, "{shape:?}: {deviation}, not {expected}");
            // A curved formula leans by about half its variance over n; 1 % of a deviation each way covers it here.
            let allowed = 4.0 * expected / sqrt(f64::from(filters)) + 0.5 * expected * expected / keys as f64;
            assert!((mean - keys as f64).abs() < allowed, "{shape:?}: {mean}, not {keys}");
        }
    }
}
