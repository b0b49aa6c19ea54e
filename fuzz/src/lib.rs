//! Fuzz targets: plain functions that take any bytes and must not panic.
//!
//! Each target says what must hold for *every* input; a panic is a finding. They need no special toolchain: the program
//! of this crate (`cargo xtask fuzz`) feeds them mutated seeds, and the same functions fit under `cargo fuzz` as they are.

mod mutate;
mod random;
pub mod targets;

pub use mutate::{LONGEST, mutated};
pub use random::Random;

/// A function to feed, and what to feed it with.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it checks.
    pub about: &'static str,
    /// Panics if something is wrong with the code, never because something is wrong with the input.
    pub run: fn(&[u8]),
    /// Inputs worth changing.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// The largest single allocation that any input of at most [`LONGEST`] bytes may cause.
    pub largest_allocation: usize,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    targets::file::TARGET,
    targets::blocked::TARGET,
    targets::classic::TARGET,
    targets::growing::TARGET,
    targets::multiset::TARGET,
    targets::foreign::LEVELDB,
    targets::foreign::GUAVA,
    targets::foreign::SPARK,
    targets::foreign::PARQUET,
    targets::foreign::REDIS_CHUNKS,
    targets::foreign::REDIS_RDB,
    targets::resp::TARGET,
];

/// The input of one case, which the three numbers alone determine.
#[must_use]
pub fn input_of(target: &Target, seeds: &[Vec<u8>], seed: u64, case: u64) -> Vec<u8> {
    let name =
        target.name.bytes().fold(0u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let mut random = Random::new(seed ^ name.rotate_left(32));
    let mut random = Random::new(random.next_u64() ^ case.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mutated(seeds, &mut random)
}
