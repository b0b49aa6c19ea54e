//! The loop everything else serves: split, hash, ask the filter, write what is new.

use std::io::{self, Write};

use mayhap::{BloomFilter, Digest};

use super::loss::Loss;

/// Lines asked about at once: enough to hide the latency of memory, few enough that what is known about them stays in
/// the innermost cache.
const BATCH: usize = 1024;

/// Lets each line through once.
#[derive(Debug)]
pub(super) struct Sieve<W> {
    filter: BloomFilter,
    terminator: u8,
    output: W,
    batch: Batch,
    loss: Loss,
    lines: u64,
    printed: u64,
    output_bytes: u64,
}

/// Lines that have been hashed and not yet asked about.
#[derive(Debug)]
struct Batch {
    digests: Vec<Digest>,
    /// Where each line ends, its terminator included, in the piece of input they come from.
    ends: Vec<usize>,
    is_new: Vec<bool>,
}

impl<W: Write> Sieve<W> {
    pub(super) fn new(filter: BloomFilter, terminator: u8, rate: f64, output: W) -> Self {
        let batch = Batch {
            digests: Vec::with_capacity(BATCH),
            ends: Vec::with_capacity(BATCH),
            is_new: vec![false; BATCH],
        };
        let loss = Loss::new(&filter, rate);
        Self { filter, terminator, output, batch, loss, lines: 0, printed: 0, output_bytes: 0 }
    }

    /// Takes whole lines, each with its terminator, and writes those that are new.
    pub(super) fn pass(&mut self, lines: &[u8]) -> io::Result<()> {
        let mut line_start = 0;
        let mut batch_start = 0;
        for terminator in memchr::memchr_iter(self.terminator, lines) {
            self.batch.digests.push(self.filter.hash(&lines[line_start..terminator]));
            line_start = terminator + 1;
            self.batch.ends.push(line_start);
            if self.batch.digests.len() == BATCH {
                self.write_new(lines, batch_start)?;
                batch_start = line_start;
            }
        }
        self.write_new(lines, batch_start)
    }

    /// Asks the filter about the lines of the batch and writes the new ones. Neighbours go out as one piece.
    fn write_new(&mut self, lines: &[u8], batch_start: usize) -> io::Result<()> {
        let Batch { digests, ends, is_new } = &mut self.batch;
        let is_new = &mut is_new[..digests.len()];
        self.filter.insert_hashes(digests, is_new);

        let mut printed = 0;
        let mut run_start = batch_start;
        let mut line_start = batch_start;
        for (&end, &is_new) in ends.iter().zip(&*is_new) {
            if is_new {
                printed += 1;
            } else {
                self.output.write_all(&lines[run_start..line_start])?;
                self.output_bytes += (line_start - run_start) as u64;
                run_start = end;
            }
            line_start = end;
        }
        self.output.write_all(&lines[run_start..line_start])?;
        self.output_bytes += (line_start - run_start) as u64;

        self.lines += digests.len() as u64;
        self.printed += printed;
        digests.clear();
        ends.clear();
        self.loss.count(self.printed);
        Ok(())
    }

    pub(super) fn output_mut(&mut self) -> &mut W {
        &mut self.output
    }

    /// Lines seen.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// Lines let through.
    pub(super) fn printed(&self) -> u64 {
        self.printed
    }

    /// Bytes let through, terminators included.
    pub(super) fn output_bytes(&self) -> u64 {
        self.output_bytes
    }

    /// The filter holds more lines than it can at the promised rate.
    pub(super) fn is_over_rate(&self) -> bool {
        self.loss.is_over_rate()
    }

    pub(super) fn filter(&self) -> &BloomFilter {
        &self.filter
    }

    /// What was lost, up to the last line.
    pub(super) fn loss(&mut self) -> &Loss {
        self.loss.settle(self.printed);
        &self.loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn sieved(input: &[u8]) -> Vec<u8> {
        let filter = BloomFilter::with_rate(100_000, 1e-9).unwrap();
        let mut sieve = Sieve::new(filter, b'\n', 1e-9, Vec::new());
        sieve.pass(input).unwrap();
        assert_eq!(sieve.output_bytes(), sieve.output.len() as u64);
        sieve.output
    }

    #[test]
    fn the_first_of_equal_lines_stays_in_its_place() {
        assert_eq!(sieved(b""), b"");
        assert_eq!(sieved(b"\n\n"), b"\n");
        assert_eq!(sieved(b"b\na\nb\nc\na\nd\n"), b"b\na\nc\nd\n");
    }

    #[test]
    fn agrees_with_a_hash_set_over_many_batches() {
        let mut input = Vec::new();
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            input.extend_from_slice(format!("line {}\n", (state >> 33) % 5_000).as_bytes());
        }
        let mut seen = HashSet::new();
        let expected: Vec<u8> = input
            .split_inclusive(|byte| *byte == b'\n')
            .filter(|line| seen.insert(*line))
            .flatten()
            .copied()
            .collect();
        assert_eq!(sieved(&input), expected);
    }
}
