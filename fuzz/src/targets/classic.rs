//! The classic Bloom filter against a set, from one bit up.

use mayhap::ClassicBloom;

use super::model;
use crate::Target;

/// See [`run`].
pub const TARGET: Target = Target {
    name: "classic",
    about: "operations on a ClassicBloom against a set: no key lost, batches and files agree",
    run,
    seeds,
    largest_allocation: 4 << 20,
};

/// The first three bytes choose the number of bits and of hashes; the others are the program.
pub fn run(data: &[u8]) {
    let [low, high, hashes, program @ ..] = data else { return };
    let bits = 1 + u64::from(u16::from_le_bytes([*low, *high]));
    let hashes = 1 + u32::from(hashes % 64);
    // The smallest sizes are refused for too many hashes; that they are refused and don't panic is the point.
    if let Ok(filter) = ClassicBloom::with_bits(bits, hashes) {
        model::run(filter, program);
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let sizes = [[0, 0, 0], [1, 0, 1], [99, 0, 6], [255, 1, 7], [0, 2, 3], [255, 255, 63], [64, 31, 12]];
    model::seeds(&sizes.map(|size| size.to_vec()))
}
