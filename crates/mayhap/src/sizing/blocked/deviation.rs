//! How much the rate differs between filters of one layout and number of keys: by how the keys fell.

use libm::{pow, sqrt};

use super::mixture::{CERTAINLY_FULL, Geometry, Load, NEGLIGIBLE};
use crate::bloom::Shape;

/// The standard deviation of the rate among filters of `blocks` blocks that hold `keys` keys each, and differ by their
/// seeds.
///
/// [`rate`](super::rate()) is their mean. The rate of one filter is the mean over its blocks, each of which errs by how
/// many keys it holds and where their bits lie. The loads of all blocks add up to the number of keys: what is in proportion
/// to the load doesn't vary in the sum, and is taken off.
///
/// ```
/// use mayhap::bloom::Shape;
/// use mayhap::sizing::blocked;
///
/// // Ten bits per key: filters of a thousand keys differ by 7 % of their rate, those of a million by 0.2 %.
/// let of_rate = |keys| {
///     let (shape, blocks) = (Shape::Eight, keys / 50);
///     blocked::rate_deviation(shape, keys, blocks) / blocked::rate(shape, keys, blocks)
/// };
/// assert!((of_rate(1_000) - 0.072).abs() < 0.004);
/// assert!((of_rate(1_000_000) - 0.0023).abs() < 0.0002);
/// ```
#[must_use]
pub fn rate_deviation(shape: Shape, keys: u64, blocks: u64) -> f64 {
    Geometry::from(shape).rate_deviation(keys, blocks)
}

impl Geometry {
    /// [`rate_deviation`], for any cells.
    pub(in crate::sizing) fn rate_deviation(self, keys: u64, blocks: u64) -> f64 {
        let line_blocks = blocks / self.lines;
        if keys == 0 || line_blocks == 0 {
            return 0.0;
        }
        let (mean, variance) = mean_and_variance(self, Load::of(keys, line_blocks), line_blocks as f64);
        // Two halves fill independently of each other, and both must say "mayhap": the variance of a product.
        sqrt(if self.lines == 2 { variance * (2.0 * mean * mean + variance) } else { variance })
    }
}

/// Mean and variance of the rate of one line, of so many blocks.
///
/// Let f(t) be the expected rate of a block that holds t keys, and s(t) that of its square. Given all loads, the blocks
/// are independent, so their mean has the variance E\[s(t) - f(t)²\] / N from the places of the bits. The loads give
/// Var\[f(t)\] - Cov\[t, f(t)\]² / Var\[t\], which is what a straight line through f leaves over; because the loads of two
/// blocks hang together, the rest is N / (N - 1) times as large as in N independent blocks.
fn mean_and_variance(geometry: Geometry, load: Load, blocks: f64) -> (f64, f64) {
    let middle = load.mean();
    if middle > CERTAINLY_FULL {
        return (1.0, 0.0);
    }
    let mut sums = Sums::default();
    load.for_each(|t, weight| sums.take(geometry, t, t - middle, weight));
    let Sums { weights, rates, squares, squares_of_rates, products, distances } = sums;
    let mean = rates / weights;
    let places = (squares - squares_of_rates) / weights;
    let loads = if distances > 0.0 {
        let of_means = squares_of_rates / weights - mean * mean;
        let straight = products * products / (distances * weights);
        (of_means - straight) * (blocks / (blocks - 1.0))
    } else {
        0.0
    };
    // Rounding may leave a full or an empty filter a hair below 0.
    (mean, (places + loads).max(0.0) / blocks)
}

/// Sums over loads t, all of them weighted.
#[derive(Debug, Default)]
struct Sums {
    weights: f64,
    /// Of f(t).
    rates: f64,
    /// Of s(t).
    squares: f64,
    /// Of f(t)².
    squares_of_rates: f64,
    /// Of (t - mean) f(t).
    products: f64,
    /// Of (t - mean)².
    distances: f64,
}

impl Sums {
    /// Adds a load, and returns whether it and those further away are too little to matter.
    fn take(&mut self, geometry: Geometry, t: f64, distance: f64, weight: f64) -> bool {
        let rate = geometry.chance(t, geometry.draws);
        // Two independent questions to one block, both of them answered "mayhap".
        let square = geometry.chance(t, 2 * geometry.draws);
        self.weights += weight;
        self.rates += weight * rate;
        self.squares += weight * square;
        self.squares_of_rates += weight * rate * rate;
        self.products += weight * distance * rate;
        self.distances += weight * distance * distance;
        weight < self.weights * NEGLIGIBLE && weight * square <= self.squares * NEGLIGIBLE
    }
}

impl Geometry {
    /// The chance that so many cells of every group, drawn anew each, are all set when the block holds `t` keys.
    fn chance(self, t: f64, asked: u32) -> f64 {
        let (cells, asked) = (self.group_cells, asked as usize);
        let set = t * f64::from(self.draws);
        // That `different` given cells are set: inclusion and exclusion of those that aren't.
        let all_set = |different: usize| -> f64 {
            (0..=different)
                .map(|unset| {
                    SIGNED_BINOMIALS[different][unset] * pow((1.0 - unset as f64 / cells).max(0.0), set)
                })
                .sum()
        };
        let group: f64 = (1..=asked)
            .map(|different| {
                // The draws that meet so many different cells, of all draws.
                let share: f64 = (0..different).map(|taken| 1.0 - taken as f64 / cells).product();
                PARTITIONS[asked][different] * share / pow(cells, (asked - different) as f64)
                    * all_set(different)
            })
            .sum();
        pow(group.clamp(0.0, 1.0), f64::from(self.groups))
    }
}

/// Binomial coefficients with the signs of inclusion and exclusion.
const SIGNED_BINOMIALS: [[f64; 5]; 5] = [
    [1.0, 0.0, 0.0, 0.0, 0.0],
    [1.0, -1.0, 0.0, 0.0, 0.0],
    [1.0, -2.0, 1.0, 0.0, 0.0],
    [1.0, -3.0, 3.0, -1.0, 0.0],
    [1.0, -4.0, 6.0, -4.0, 1.0],
];

/// In how many ways so many things fall into so many parts: Stirling numbers of the second kind.
const PARTITIONS: [[f64; 5]; 5] = [
    [1.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 1.0, 0.0, 0.0],
    [0.0, 1.0, 3.0, 1.0, 0.0],
    [0.0, 1.0, 7.0, 6.0, 1.0],
];

impl Load {
    /// All loads with weights in proportion to their probabilities, from the middle outwards until `take` says that the
    /// rest is too little to matter.
    fn for_each(self, mut take: impl FnMut(f64, f64) -> bool) {
        let middle = libm::floor(self.mean());
        take(middle, 1.0);
        if let Self::Fixed { .. } = self {
            return;
        }
        let (mut t, mut weight) = (middle, 1.0);
        loop {
            weight *= self.ratio(t);
            t += 1.0;
            if weight == 0.0 || take(t, weight) {
                break;
            }
        }
        (t, weight) = (middle, 1.0);
        while t > 0.0 {
            t -= 1.0;
            weight /= self.ratio(t);
            if take(t, weight) {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sizing::blocked::rate;

    #[test]
    fn nothing_varies_where_nothing_can() {
        for shape in Shape::ALL {
            assert_eq!(rate_deviation(shape, 0, 100), 0.0);
            assert_eq!(rate_deviation(shape, 100, 0), 0.0);
            assert_eq!(rate_deviation(shape, u64::MAX, 2), 0.0);
            assert!(rate_deviation(shape, 8_192 * 1_000, 1_000 * shape.lines()) < 1e-9);
            assert!(rate_deviation(shape, 1, u64::MAX).is_finite());
        }
        // One key has one bit in every group, wherever it lies: but for rounding, no filter differs from another.
        for shape in [Shape::Four, Shape::Eight, Shape::SixteenTwoLines] {
            for blocks in [2, 3, 10, 1_000] {
                let (deviation, rate) = (rate_deviation(shape, 1, blocks), rate(shape, 1, blocks));
                assert!(deviation < 1e-6 * rate, "{shape:?}, {blocks} blocks: {deviation} {rate}");
            }
        }
    }

    #[test]
    fn two_keys_in_a_block_by_hand() {
        // They share their bit of a group once in G times: the rate is a product of ones and twos over G.
        for (shape, groups, cells) in [(Shape::Four, 4.0, 128.0), (Shape::Eight, 8.0, 64.0)] {
            let mean = pow((2.0 - 1.0 / cells) / cells, groups);
            let square = pow((4.0 - 3.0 / cells) / (cells * cells), groups);
            let expected = sqrt(square - mean * mean);
            let got = rate_deviation(shape, 2, 1);
            assert!((got / expected - 1.0).abs() < 1e-6, "{shape:?}: {got}, not {expected}");
        }
    }

    #[test]
    fn the_mean_is_the_rate() {
        for shape in Shape::ALL {
            for (keys, blocks) in [(10, 1), (50, 1), (90, 2), (240, 3), (1_600, 16), (50_000, 1_000)] {
                let (mean, _) = mean_and_variance(shape.into(), Load::of(keys, blocks), blocks as f64);
                let line = Geometry { lines: 1, ..shape.into() }.rate(keys, blocks);
                assert!((mean / line - 1.0).abs() < 1e-9, "{shape:?} {keys} {blocks}: {mean} {line}");
            }
        }
    }

    /// Four times the filter, half the deviation.
    #[test]
    fn larger_filters_differ_less() {
        for shape in Shape::ALL {
            for blocks in [64, 1 << 20, 1 << 40] {
                let ratio = rate_deviation(shape, 50 * blocks, blocks)
                    / rate_deviation(shape, 200 * blocks, 4 * blocks);
                assert!((ratio - 2.0).abs() < 0.02, "{shape:?} {blocks}: {ratio}");
            }
        }
    }
}
