//! The machine's own limit: one random line of an array as large as the filter, and nothing else.

use std::hint::black_box;
use std::time::Instant;

use mayhap::bits::{BLOCK_BYTES, Block, Owned};

use super::round::multiply_high;
use crate::failure::Failure;
use crate::measure::mix;

/// Lines that are read.
const READS: u64 = 2_000_000;

/// Nanoseconds to read a word of a random line. The addresses don't depend on what was read, and the memory is had in the
/// way a filter has its own, huge pages included.
pub(super) fn random_line_ns(bytes: u64) -> Result<f64, Failure> {
    let blocks = bytes.div_ceil(BLOCK_BYTES as u64).max(1);
    let mut lines = Owned::zeroed(blocks).map_err(|error| Failure::Message(error.to_string()))?;
    // Memory that was never written is one page of zeros, whatever its length.
    lines.fill(Block([1; 8]));
    let start = Instant::now();
    let sum = sum_random_lines(black_box(&lines));
    let elapsed = start.elapsed();
    black_box(sum);
    Ok(elapsed.as_secs_f64() * 1e9 / READS as f64)
}

#[inline(never)]
#[allow(clippy::cast_possible_truncation, reason = "below the length of a slice")]
fn sum_random_lines(lines: &[Block]) -> u64 {
    (0..READS).fold(0, |sum: u64, number| {
        sum.wrapping_add(lines[multiply_high(mix(number), lines.len() as u64) as usize].0[0])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_read_is_of_a_line() {
        assert_eq!(sum_random_lines(&[Block([1; 8]); 7]), READS);
        assert!(random_line_ns(1).unwrap() > 0.0);
    }
}
