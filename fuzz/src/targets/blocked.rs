//! The blocked Bloom filter against a set, in every shape and many sizes.

use mayhap::{BloomFilter, Shape};

use super::model;
use crate::Target;

/// See [`run`].
pub const TARGET: Target = Target {
    name: "blocked",
    about: "operations on a BloomFilter against a set: no key lost, batches and files agree",
    run,
    seeds,
    largest_allocation: 4 << 20,
};

/// The first three bytes choose shape, size and seed; the others are the program.
pub fn run(data: &[u8]) {
    let [shape, blocks, seed, program @ ..] = data else { return };
    let shape = Shape::ALL[usize::from(shape % 4)];
    let bytes = shape.lines() * 64 * (1 + u64::from(*blocks));
    let builder = BloomFilter::builder().shape(shape).bytes(bytes).rate(0.3).seed(u64::from(seed / 2));
    let builder = if seed % 2 == 0 { builder } else { builder.portable() };
    let filter = builder.build().expect("there is room for a key at 30 % in any block");
    model::run(filter, program);
}

fn seeds() -> Vec<Vec<u8>> {
    let choices: Vec<Vec<u8>> = (0..4)
        .flat_map(|shape| [0, 1, 5, 59, 255].map(|blocks| vec![shape, blocks, shape + blocks % 2]))
        .collect();
    model::seeds(&choices)
}
