//! How many keys a blocked filter holds, from its set bits.

use libm::{exp, expm1, log, log1p, round, sqrt};

use super::BLOCK_BITS;
use super::mixture::{chance_to_set, group_bits};
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
/// assert_eq!(estimate, 50_709);
/// assert!(blocked::standard_error(Shape::Eight, estimate, 1_000) < 100.0);
/// ```
#[must_use]
pub fn estimated_keys(shape: Shape, bits_set: u64, blocks: u64) -> u64 {
    if bits_set == 0 || blocks < shape.lines() {
        return 0;
    }
    let bits = blocks as f64 * BLOCK_BITS as f64;
    let unset = (bits - bits_set as f64).max(0.5);
    let keys = round(log(unset / bits) / log1p(-chance_per_key(shape, blocks)));
    #[allow(clippy::cast_possible_truncation)] // `as` saturates.
    let keys = keys as u64;
    keys.max(1)
}

/// The standard error of [`estimated_keys`] when the filter holds `keys` keys, in keys.
///
/// It is the standard deviation of the number of set bits, divided by how many bits the next key is expected to set.
/// Bits of one block vary together, so it is a little larger than for a classic filter. Infinite when a further key
/// changes nothing.
#[must_use]
pub fn standard_error(shape: Shape, keys: u64, blocks: u64) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    let lines = shape.lines() as f64;
    let line_blocks = (blocks / shape.lines()) as f64;
    if line_blocks < 1.0 {
        return f64::INFINITY;
    }
    let (n, block, group) = (keys as f64, BLOCK_BITS as f64, group_bits(shape));
    let draws = f64::from(shape.bits_per_group());
    let set = chance_to_set(shape);
    let stays = log1p(-set / line_blocks);
    let unset = exp(n * stays);

    // How much likelier two bits are both unset than if they were independent, by where they lie.
    let excess = |log_both: f64| unset * unset * expm1(n * (log_both - 2.0 * stays));
    let same_group = excess(log1p(expm1(draws * log1p(-2.0 / group)) / line_blocks));
    let same_block = excess(log1p(expm1(2.0 * draws * log1p(-1.0 / group)) / line_blocks));
    let other_block = if line_blocks > 1.0 {
        let away = set / (line_blocks - set);
        unset * unset * expm1(n * log1p(-away * away))
    } else {
        0.0
    };
    let line_bits = line_blocks * block;
    let variance = line_bits
        * (unset * (1.0 - unset)
            + (group - 1.0) * same_group
            + (block - group) * same_block
            + (line_bits - block) * other_block);
    // The lines fill independently of each other.
    let deviation = sqrt((lines * variance).max(0.0));
    let bits_per_further_key = lines * line_bits * unset * -stays;
    if bits_per_further_key > 0.0 { deviation / bits_per_further_key } else { f64::INFINITY }
}

/// The probability that a key sets a given bit of the filter.
fn chance_per_key(shape: Shape, blocks: u64) -> f64 {
    chance_to_set(shape) / (blocks / shape.lines()) as f64
}
