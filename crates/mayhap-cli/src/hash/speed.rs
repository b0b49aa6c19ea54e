//! How fast a function is.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::function::Hasher;
use crate::measure::mix;

/// Lengths of keys that are measured: an integer, a URL, a line of text.
pub(super) const LENGTHS: [usize; 3] = [8, 30, 256];

/// Different keys of one length. All of them stay in the innermost cache.
const KEYS: usize = 64;

/// Functions take turns so many times; the median of the rounds is shown.
pub(super) const ROUNDS: usize = 5;

/// How long one function hashes keys of one length in one round.
const SLICE: Duration = Duration::from_millis(4);

/// Keys to be hashed.
#[derive(Debug)]
pub(super) struct Keys(Vec<u8>);

impl Keys {
    pub(super) fn new() -> Self {
        let bytes = KEYS * LENGTHS.iter().sum::<usize>();
        Self((0..bytes as u64).map(|i| mix(i).to_le_bytes()[0]).collect())
    }

    /// Nanoseconds for a key of this length.
    pub(super) fn nanoseconds(&self, hasher: &Hasher, length: usize) -> f64 {
        let mut hashed = 0u64;
        let start = Instant::now();
        loop {
            let mut sum = 0;
            for key in self.0.chunks_exact(length).take(KEYS) {
                sum ^= hasher.hash(black_box(key));
            }
            black_box(sum);
            hashed += KEYS as u64;
            let elapsed = start.elapsed();
            if elapsed >= SLICE {
                return elapsed.as_secs_f64() * 1e9 / hashed as f64;
            }
        }
    }
}
