//! How often a blocked filter is wrong: the mixture of its blocks' loads.

use libm::{exp, floor, log1p};

use super::BLOCK_BITS;
use crate::bloom::Shape;
use crate::sizing::limits::shared_digests;

/// Above this many keys per block every bit is set, as far as a float can tell.
const CERTAINLY_FULL: f64 = 8192.0;

/// Terms of the mixture below this share of the sum are left out; they shrink faster than geometrically by then.
const NEGLIGIBLE: f64 = 1e-18;

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
/// assert!((rate - 0.0097).abs() < 0.0001);
/// ```
#[must_use]
pub fn rate(shape: Shape, keys: u64, blocks: u64) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    let blocks_per_line = blocks / shape.lines();
    if blocks_per_line == 0 {
        return 1.0;
    }
    (rate_of_lines(shape, Load::of(keys, blocks_per_line)) + shared_digests(keys)).min(1.0)
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
    if mean > CERTAINLY_FULL { 1.0 } else { rate_of_lines(shape, Load::Poisson { mean }) }
}

/// The probability that a key sets a given bit of the block it falls into: 1 - (1 - 1/G)^d.
pub(super) fn chance_to_set(shape: Shape) -> f64 {
    -libm::expm1(f64::from(shape.bits_per_group()) * log1p(-1.0 / group_bits(shape)))
}

/// The bits of one group (G).
pub(super) fn group_bits(shape: Shape) -> f64 {
    BLOCK_BITS as f64 / f64::from(shape.groups())
}

/// The keys that fall into the block a question is about.
#[derive(Clone, Copy, Debug)]
enum Load {
    /// All of them: there is one block.
    Fixed { keys: f64 },
    /// Each with the same chance.
    Binomial { keys: f64, blocks: f64 },
    /// The limit of many keys and blocks.
    Poisson { mean: f64 },
}

impl Load {
    fn of(keys: u64, blocks: u64) -> Self {
        match blocks {
            1 => Self::Fixed { keys: keys as f64 },
            _ => Self::Binomial { keys: keys as f64, blocks: blocks as f64 },
        }
    }

    fn mean(self) -> f64 {
        match self {
            Self::Fixed { keys } => keys,
            Self::Binomial { keys, blocks } => keys / blocks,
            Self::Poisson { mean } => mean,
        }
    }

    /// How much more probable a load of t + 1 is than one of t.
    fn ratio(self, t: f64) -> f64 {
        match self {
            Self::Fixed { .. } => 0.0,
            Self::Binomial { keys, blocks } => (keys - t).max(0.0) / ((t + 1.0) * (blocks - 1.0)),
            Self::Poisson { mean } => mean / (t + 1.0),
        }
    }
}

/// The rate over all lines. A key falls into its block of the first half and of the second independently, so the two
/// loads are independent and so are the two answers.
fn rate_of_lines(shape: Shape, load: Load) -> f64 {
    let line = rate_of_line(shape, load);
    if shape.lines() == 2 { line * line } else { line }
}

/// The rate of one line: the expectation of `chance_to_pass` over the load.
///
/// Weights are followed by their ratios from the middle outwards and divided by their sum at the end: no factorial, no
/// large logarithm, nothing to overflow or cancel at any n. The terms (weight times chance) rise to one peak and fall
/// again, because the logarithms of both factors are concave in t; so the sum is complete once they are falling and
/// negligible.
fn rate_of_line(shape: Shape, load: Load) -> f64 {
    let mean = load.mean();
    if mean > CERTAINLY_FULL {
        return 1.0;
    }
    let unset = Unset::of(shape);
    let middle = floor(mean);
    let (mut weights, mut terms) = (1.0, unset.chance_to_pass(middle));
    if let Load::Fixed { .. } = load {
        return terms;
    }

    // Upwards the chance grows, so a term's share of the terms is at least its weight's share of the weights.
    let (mut t, mut weight, mut previous) = (middle, 1.0, terms);
    loop {
        weight *= load.ratio(t);
        t += 1.0;
        let term = weight * unset.chance_to_pass(t);
        weights += weight;
        terms += term;
        if weight == 0.0 || (term < previous && term < terms * NEGLIGIBLE) {
            break;
        }
        previous = term;
    }
    // Downwards it is the other way round.
    (t, weight) = (middle, 1.0);
    while t > 0.0 {
        t -= 1.0;
        weight /= load.ratio(t);
        weights += weight;
        terms += weight * unset.chance_to_pass(t);
        if weight < weights * NEGLIGIBLE {
            break;
        }
    }
    terms / weights
}

/// What a group looks like after t keys.
#[derive(Clone, Copy, Debug)]
struct Unset {
    shape: Shape,
    /// ln of the probability that one key leaves a given bit of the group unset.
    one: f64,
    /// ln of the probability that one key leaves two given bits of the group unset.
    two: f64,
    bits: f64,
}

impl Unset {
    fn of(shape: Shape) -> Self {
        let bits = group_bits(shape);
        let draws = f64::from(shape.bits_per_group());
        Self { shape, one: draws * log1p(-1.0 / bits), two: draws * log1p(-2.0 / bits), bits }
    }

    /// The probability that an absent key finds all its bits set in a block that holds t keys.
    ///
    /// One draw finds a set bit with probability 1 - one^t. Two draws (with replacement) find two set bits with
    /// probability 1 - P(first unset) - P(second unset) + P(both unset), where the two are the same bit once in G times.
    /// Groups draw independently, so the probabilities multiply.
    fn chance_to_pass(&self, t: f64) -> f64 {
        let one = exp(self.one * t);
        let group = if self.shape.bits_per_group() == 1 {
            1.0 - one
        } else {
            let both = one / self.bits + (1.0 - 1.0 / self.bits) * exp(self.two * t);
            (1.0 - 2.0 * one + both).max(0.0)
        };
        let squared = group * group;
        let fourth = squared * squared;
        if self.shape.groups() == 8 { fourth * fourth } else { fourth }
    }
}
