//! The machine's own limit: one random line of an array as large as the filter, and nothing else.

use memmap2::{Advice, MmapMut};

use crate::Failure;
use crate::keys::multiply_high;
use crate::measure::{cpu_time, on_threads};

const LINE_BYTES: usize = 64;

/// Anonymous memory, written once, on pages of a chosen size.
pub(crate) struct LineArray {
    map: MmapMut,
}

impl LineArray {
    /// At least one line; the length is rounded up to whole lines. With `huge_pages` the kernel is asked for
    /// them (and may have none left); without, it is told not to use them.
    pub(crate) fn new(bytes: u64, huge_pages: bool) -> Result<Self, Failure> {
        let lines = usize::try_from(bytes)?.div_ceil(LINE_BYTES).max(1);
        let mut map = MmapMut::map_anon(lines * LINE_BYTES)?;
        // A kernel built without huge pages refuses the advice; the reading is then of small pages in both
        // cases.
        let _ = map.advise(if huge_pages { Advice::HugePage } else { Advice::NoHugePage });
        map.fill(1);
        Ok(Self { map })
    }

    /// Nanoseconds of CPU time to read one word of a random line. The addresses are independent of what is
    /// read, and come from a stream of random words as a filter's do from its keys.
    pub(crate) fn random_read_ns(&self, words: &[u64]) -> f64 {
        let (_, time) = cpu_time(|| self.sum_random_lines(words));
        time as f64 / words.len() as f64
    }

    /// The same on several threads: wall time over all the reads.
    pub(crate) fn random_read_ns_on_threads(&self, words: &[u64], threads: usize) -> Result<f64, Failure> {
        let (_, wall) = on_threads(threads, words, |share| self.sum_random_lines(share))?;
        Ok(wall / words.len() as f64)
    }

    #[inline(never)]
    #[expect(clippy::cast_possible_truncation, reason = "an index below the length of a slice")]
    fn sum_random_lines(&self, words: &[u64]) -> u64 {
        let lines = self.map.as_chunks::<LINE_BYTES>().0;
        let mut sum = 0;
        for &word in words {
            let line = &lines[multiply_high(word, lines.len() as u64) as usize];
            let (first_word, _) = line.as_chunks::<8>();
            sum = u64::wrapping_add(sum, u64::from_le_bytes(first_word[0]));
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;

    #[test]
    fn reads_within_the_array() {
        let words = keys::integers(keys::absent(1000));
        for bytes in [1, 64, 65, 100_000] {
            let array = LineArray::new(bytes, true).expect("a small anonymous map");
            assert_eq!(array.sum_random_lines(&words), 0x0101_0101_0101_0101_u64.wrapping_mul(1000));
        }
    }
}
