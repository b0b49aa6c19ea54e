//! How often a blocked filter is wrong: the mixture of its blocks' loads.

use libm::{exp, expm1, floor, log1p};

use super::BLOCK_BITS;
use crate::bloom::Shape;
use crate::sizing::limits::shared_digests;

/// Above this many keys per block every bit is set, as far as a float can tell.
pub(super) const CERTAINLY_FULL: f64 = 8192.0;

/// Terms of the mixture below this share of the sum are left out; they shrink faster than geometrically by then.
pub(super) const NEGLIGIBLE: f64 = 1e-18;

/// The expected rate of false positives of a filter of `blocks` blocks that holds `keys` keys.
///
/// Exact for independent uniform positions, from one block and one key up, plus n / 2^64 for digests that an absent
/// key shares with a present one. An empty filter has rate 0; one with fewer blocks than the shape has lines answers yes
/// to everything.
///
/// ```
/// use mayhap::bloom::Shape;
/// use mayhap::sizing::blocked;
///
/// // A thousand keys in 20 blocks: about ten bits per key.
/// let rate = blocked::rate(Shape::Eight, 1_000, 20);
/// assert!((rate - 0.0097).abs() < 0.0005);
/// ```
#[must_use]
pub fn rate(shape: Shape, keys: u64, blocks: u64) -> f64 {
    Geometry::from(shape).rate(keys, blocks)
}

/// The same for Parquet's blocks of 256 bits: eight words of 32, in each of which a key sets one bit.
///
/// ```
/// use mayhap::sizing::blocked;
///
/// // Ten bits per key.
/// let rate = blocked::split_block_rate(1_024_000, 40_000);
/// assert!((rate - 0.013).abs() < 0.0005);
/// ```
#[must_use]
pub fn split_block_rate(keys: u64, blocks: u64) -> f64 {
    Geometry { lines: 1, groups: 8, group_cells: 32.0, draws: 1 }.rate(keys, blocks)
}

/// The rate of false positives of a large filter whose share of set bits is `fill`.
///
/// The load that fills the bits so far is inferred and mixed as in [`rate`], so this is more than fill^k: for two
/// filters equally full, the blocked one errs more than the classic one. For a filter of a few blocks take [`rate`] at
/// [`estimated_keys`](super::estimated_keys), which knows their number.
#[must_use]
pub fn rate_of_fill(shape: Shape, fill: f64) -> f64 {
    if fill <= 0.0 {
        return 0.0;
    }
    let mean = -log1p(-fill.min(1.0)) / chance_to_set(shape);
    if mean > CERTAINLY_FULL { 1.0 } else { rate_of_lines(shape.into(), Load::Poisson { mean }) }
}

/// A block as the model sees it: equal groups of cells, in each of which a key draws some. The cells of a Bloom filter
/// are its bits; those of a counting filter are its counters.
#[derive(Clone, Copy, Debug)]
pub(in crate::sizing) struct Geometry {
    /// Blocks that a key falls into, one in each half of the filter if there are two.
    pub(in crate::sizing) lines: u64,
    /// Groups in a block: 4 or 8.
    pub(in crate::sizing) groups: u32,
    /// Cells of a group (G).
    pub(in crate::sizing) group_cells: f64,
    /// Draws in each group, with replacement (d): 1 or 2.
    pub(in crate::sizing) draws: u32,
}

impl From<Shape> for Geometry {
    fn from(shape: Shape) -> Self {
        Self {
            lines: shape.lines(),
            groups: shape.groups(),
            group_cells: group_bits(shape),
            draws: shape.bits_per_group(),
        }
    }
}

impl Geometry {
    /// [`rate`], for any cells.
    pub(in crate::sizing) fn rate(self, keys: u64, blocks: u64) -> f64 {
        if keys == 0 {
            return 0.0;
        }
        let blocks_per_line = blocks / self.lines;
        if blocks_per_line == 0 {
            return 1.0;
        }
        (rate_of_lines(self, Load::of(keys, blocks_per_line)) + shared_digests(keys)).min(1.0)
    }

    /// The probability that a key sets a given cell of the block it falls into: 1 - (1 - 1/G)^d.
    pub(super) fn chance_to_set(self) -> f64 {
        -expm1(f64::from(self.draws) * log1p(-1.0 / self.group_cells))
    }
}

/// The probability that a key sets a given bit of the block it falls into.
pub(super) fn chance_to_set(shape: Shape) -> f64 {
    Geometry::from(shape).chance_to_set()
}

/// The bits of one group.
pub(super) fn group_bits(shape: Shape) -> f64 {
    BLOCK_BITS as f64 / f64::from(shape.groups())
}

/// The keys that fall into the block a question is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Load {
    /// All of them: there is one block.
    Fixed { keys: f64 },
    /// Each with the same chance.
    Binomial { keys: f64, blocks: f64 },
    /// The limit of many keys and blocks.
    Poisson { mean: f64 },
}

impl Load {
    pub(super) fn of(keys: u64, blocks: u64) -> Self {
        match blocks {
            1 => Self::Fixed { keys: keys as f64 },
            _ => Self::Binomial { keys: keys as f64, blocks: blocks as f64 },
        }
    }

    pub(super) fn mean(self) -> f64 {
        match self {
            Self::Fixed { keys } => keys,
            Self::Binomial { keys, blocks } => keys / blocks,
            Self::Poisson { mean } => mean,
        }
    }

    /// How much more probable a load of t + 1 is than one of t.
    pub(super) fn ratio(self, t: f64) -> f64 {
        match self {
            Self::Fixed { .. } => 0.0,
            Self::Binomial { keys, blocks } => (keys - t).max(0.0) / ((t + 1.0) * (blocks - 1.0)),
            Self::Poisson { mean } => mean / (t + 1.0),
        }
    }
}

/// The rate over all lines. A key falls into its block of the first half and of the second independently, so the two
/// loads are independent and so are the two answers.
fn rate_of_lines(geometry: Geometry, load: Load) -> f64 {
    let line = rate_of_line(geometry, load);
    if geometry.lines == 2 { line * line } else { line }
}

/// The rate of one line: the expectation of `chance_to_pass` over the load.
///
/// Weights are followed by their ratios from the middle outwards and divided by their sum at the end: no factorial, no
/// large logarithm, nothing to overflow or cancel at any n. The terms (weight times chance) rise to one peak and fall
/// again, because the logarithms of both factors are concave in t; so the sum is complete once they are falling and
/// negligible.
fn rate_of_line(geometry: Geometry, load: Load) -> f64 {
    let mean = load.mean();
    if mean > CERTAINLY_FULL {
        return 1.0;
    }
    let middle = floor(mean);
    let block = Block::holding(geometry, middle);
    let (mut weights, mut terms) = (1.0, block.chance_to_pass());
    if let Load::Fixed { .. } = load {
        return terms;
    }

    // Upwards the chance grows, so a term's share of the terms is at least its weight's share of the weights.
    let (mut t, mut weight, mut above, mut previous) = (middle, 1.0, block, terms);
    loop {
        weight *= load.ratio(t);
        t += 1.0;
        above.add_key();
        let term = weight * above.chance_to_pass();
        weights += weight;
        terms += term;
        if weight == 0.0 || (term < previous && term < terms * NEGLIGIBLE) {
            break;
        }
        previous = term;
    }
    // Downwards it is the other way round.
    let (mut t, mut weight, mut below) = (middle, 1.0, block);
    while t > 0.0 {
        t -= 1.0;
        weight /= load.ratio(t);
        below.remove_key();
        weights += weight;
        terms += weight * below.chance_to_pass();
        if weight < weights * NEGLIGIBLE {
            break;
        }
    }
    terms / weights
}

/// What the groups of a block look like after some number of keys.
#[derive(Clone, Copy, Debug)]
struct Block {
    geometry: Geometry,
    /// The probability that one key leaves a given bit of the group unset, and two given bits.
    key_leaves: (f64, f64),
    /// The same for all keys of the block.
    all_leave: (f64, f64),
}

impl Block {
    fn holding(geometry: Geometry, keys: f64) -> Self {
        let (cells, draws) = (geometry.group_cells, f64::from(geometry.draws));
        let (one, two) = (draws * log1p(-1.0 / cells), draws * log1p(-2.0 / cells));
        Self { geometry, key_leaves: (exp(one), exp(two)), all_leave: (exp(one * keys), exp(two * keys)) }
    }

    fn add_key(&mut self) {
        self.all_leave.0 *= self.key_leaves.0;
        self.all_leave.1 *= self.key_leaves.1;
    }

    fn remove_key(&mut self) {
        self.all_leave.0 /= self.key_leaves.0;
        self.all_leave.1 /= self.key_leaves.1;
    }

    /// The probability that an absent key finds all its bits set.
    ///
    /// One draw finds a set bit with probability 1 - P(unset). Two draws (with replacement) find two set bits with
    /// probability 1 - P(first unset) - P(second unset) + P(both unset), where the two are the same bit once in G times.
    /// Groups draw independently, so the probabilities multiply.
    fn chance_to_pass(&self) -> f64 {
        let (one, two) = self.all_leave;
        let group = if self.geometry.draws == 1 {
            1.0 - one
        } else {
            let same = 1.0 / self.geometry.group_cells;
            let both = one * same + (1.0 - same) * two;
            1.0 - 2.0 * one + both
        };
        // Rounding may leave an empty block a hair on the wrong side of 0.
        let group = group.max(0.0);
        let squared = group * group;
        let fourth = squared * squared;
        if self.geometry.groups == 8 { fourth * fourth } else { fourth }
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)] // Simulated filters are small.
mod tests {
    use super::*;
    use crate::sizing::classic;
    use std::vec;

    /// SplitMix64, so that the simulation shares nothing with the filters.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((u128::from(z ^ (z >> 31)) * u128::from(bound)) >> 64) as u64
        }

        /// The positions of one random key, by the words of the recipe.
        fn key(&mut self, shape: Shape, blocks: u64, mut visit: impl FnMut(usize)) {
            let line_blocks = blocks / shape.lines();
            let group_bits = BLOCK_BITS / u64::from(shape.groups());
            for line in 0..shape.lines() {
                let block = line * line_blocks + self.below(line_blocks);
                for group in 0..u64::from(shape.groups()) {
                    for _ in 0..shape.bits_per_group() {
                        visit((block * BLOCK_BITS + group * group_bits + self.below(group_bits)) as usize);
                    }
                }
            }
        }
    }

    /// False positives per question over many filters, and the standard error of that number.
    ///
    /// Questions to one filter are not independent of each other, filters are: so the error is that of the filters' means.
    fn simulate(shape: Shape, keys: u64, blocks: u64, filters: u32, questions: u32, seed: u64) -> (f64, f64) {
        let mut random = Random(seed);
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..filters {
            let mut bits = vec![false; (blocks * BLOCK_BITS) as usize];
            for _ in 0..keys {
                random.key(shape, blocks, |position| bits[position] = true);
            }
            let mut wrong = 0;
            for _ in 0..questions {
                let mut passes = true;
                random.key(shape, blocks, |position| passes &= bits[position]);
                wrong += u32::from(passes);
            }
            let mean = f64::from(wrong) / f64::from(questions);
            sum += mean;
            squares += mean * mean;
        }
        let filters = f64::from(filters);
        let mean = sum / filters;
        (mean, libm::sqrt((squares / filters - mean * mean) / (filters - 1.0)))
    }

    /// Two-sided at five standard errors: one false alarm in 1.7 million cases, and the seeds are fixed.
    #[test]
    fn simulated_filters_of_few_blocks_err_as_often_as_the_model_says() {
        for (index, (blocks, keys)) in
            [(1, 20), (1, 50), (1, 150), (2, 30), (2, 100), (3, 90), (3, 240), (16, 400), (16, 1_600)]
                .into_iter()
                .enumerate()
        {
            for shape in Shape::ALL {
                let blocks = whole_lines(shape, blocks);
                let seed = 1_000 * index as u64 + u64::from(shape.id());
                let (measured, error) = simulate(shape, keys, blocks, 300, 2_000, seed);
                let model = rate(shape, keys, blocks);
                let allowed = 5.0 * error + 1e-5;
                assert!(
                    (measured - model).abs() < allowed,
                    "{shape:?}, {keys} keys, {blocks} blocks, seed {seed}: measured {measured} +- {error}, model {model}"
                );
            }
        }
    }

    fn whole_lines(shape: Shape, blocks: u64) -> u64 {
        blocks.next_multiple_of(shape.lines())
    }

    #[test]
    fn one_key_by_hand() {
        // It passes if it falls into the same block and draws the same bits.
        let near = |got: f64, expected: f64| {
            let expected = expected + shared_digests(1);
            assert!((got / expected - 1.0).abs() < 1e-9, "{got} {expected}");
        };
        near(rate(Shape::Four, 1, 1), libm::pow(128.0, -4.0));
        near(rate(Shape::Eight, 1, 1), libm::pow(64.0, -8.0));
        near(rate(Shape::Eight, 1, 10), 0.1 * libm::pow(64.0, -8.0));
        // Two draws among the at most two bits of the key: one bit with probability 1/64, else two.
        let word = (1.0 / 64.0 + 4.0 * 63.0 / 64.0) / 4096.0;
        near(rate(Shape::Sixteen, 1, 1), libm::pow(word, 8.0));
        near(rate(Shape::SixteenTwoLines, 1, 2), libm::pow(64.0, -16.0));
    }

    #[test]
    fn the_mixture_is_the_plain_sum() {
        // Term by term from the definition, with logarithms of factorials.
        for (keys, blocks) in [(1_000_u64, 20_u64), (50, 3), (5_000, 2), (10, 1_000)] {
            let (n, share) = (keys as f64, 1.0 / blocks as f64);
            let plain: f64 = (0..=keys)
                .map(|t| {
                    let t = t as f64;
                    let ways = libm::lgamma(n + 1.0) - libm::lgamma(t + 1.0) - libm::lgamma(n - t + 1.0);
                    exp(ways + t * libm::log(share) + (n - t) * log1p(-share))
                        * Block::holding(Shape::Eight.into(), t).chance_to_pass()
                })
                .sum();
            let summed = rate(Shape::Eight, keys, blocks) - shared_digests(keys);
            assert!((summed / plain - 1.0).abs() < 1e-9, "{keys} {blocks}: {summed} {plain}");
        }
    }

    #[test]
    fn many_blocks_are_poisson_and_any_number_is_quick() {
        let small = rate(Shape::Eight, 50 * 100_000, 100_000);
        for scale in [1 << 20, 1 << 40, 1 << 50] {
            let large = rate(Shape::Eight, 50 * scale, scale) - shared_digests(50 * scale);
            assert!((large / small - 1.0).abs() < 1e-4, "{scale}");
        }
        assert_eq!(rate(Shape::Four, u64::MAX, u64::MAX), 1.0);
        let lonely = rate(Shape::Four, 1, u64::MAX);
        assert!(lonely > 0.0 && lonely < 1e-19);
    }

    #[test]
    fn overfilled_filters_answer_yes_and_empty_ones_no() {
        for shape in Shape::ALL {
            assert_eq!(rate(shape, 0, 100), 0.0);
            assert_eq!(rate(shape, 1, 0), 1.0);
            assert_eq!(rate(shape, u64::MAX, 2), 1.0);
            assert_eq!(rate(shape, 100_000_000, 2), 1.0);
            // On both sides of the point from which a block counts as full.
            assert!((rate(shape, 8_192 * 1_000, 1_000 * shape.lines()) - 1.0).abs() < 1e-12);
            assert_eq!(rate_of_fill(shape, 0.0), 0.0);
            assert_eq!(rate_of_fill(shape, 1.0), 1.0);
        }
        assert_eq!(rate(Shape::SixteenTwoLines, 1, 1), 1.0);
    }

    #[test]
    fn more_keys_never_help_and_more_blocks_never_hurt() {
        for shape in Shape::ALL {
            let mut last = 0.0;
            for keys in (1..100).chain((100..40_000).step_by(331)) {
                let next = rate(shape, keys, 64);
                assert!(next >= last, "{shape:?} {keys}");
                last = next;
            }
            let mut last = 1.0;
            for blocks in (2..200).step_by(2).chain((200..50_000).step_by(1_000)) {
                let next = rate(shape, 10_000, blocks);
                assert!(next <= last, "{shape:?} {blocks}");
                last = next;
            }
        }
    }

    #[test]
    fn the_fill_gives_the_rate_back() {
        for shape in Shape::ALL {
            let (keys, blocks) = (5_000_000, 100_000);
            let fill = -expm1(keys as f64 * log1p(-chance_to_set(shape) / (blocks / shape.lines()) as f64));
            let by_fill = rate_of_fill(shape, fill);
            let by_keys = rate(shape, keys, blocks);
            assert!((by_fill / by_keys - 1.0).abs() < 1e-3, "{shape:?} {by_fill} {by_keys}");
            assert!(by_fill > classic::rate_of_fill(fill, shape.hashes()), "{shape:?}");
        }
    }
}
