//! The loop everything else serves: split, hash, ask the filter, write what is wanted.

use std::io::Write;

use mayhap::Digest;
use mayhap::hash::KeyHasher;

use super::loss::Loss;
use super::seen::Seen;
use super::time::{now, parse_time};
use crate::failure::Failure;
use crate::keys::{Batch, Pending, Written};

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Each line the first time it is seen.
    New,
    /// Each line every further time.
    Repeats,
    /// Nothing: they are counted.
    Count,
}

/// Where the time of a line comes from. It matters to a window alone.
#[derive(Clone, Copy, Debug)]
pub(super) enum Clock {
    /// It is the time at which the line passes.
    Wall,
    /// It is a field of the line. Time never goes back: what is older than the newest seen counts as the newest.
    Column { newest: u64, late_lines: u64 },
}

/// Lets each line through once, or every time but once.
#[derive(Debug)]
pub(super) struct Sieve<W> {
    seen: Seen,
    hasher: KeyHasher,
    wanted: Wanted,
    clock: Clock,
    output: W,
    pending: Pending,
    digests: Vec<Digest>,
    answers: Vec<bool>,
    loss: Loss,
    lines: u64,
    new: u64,
    written: Written,
}

impl<W: Write> Sieve<W> {
    pub(super) fn new(seen: Seen, loss: Loss, wanted: Wanted, clock: Clock, output: W) -> Self {
        Self {
            hasher: seen.hasher().clone(),
            seen,
            wanted,
            clock,
            output,
            pending: Pending::new(),
            digests: Vec::with_capacity(Pending::MOST),
            answers: vec![false; Pending::MOST],
            loss,
            lines: 0,
            new: 0,
            written: Written::default(),
        }
    }

    /// Takes whole records and writes those that are wanted.
    pub(super) fn pass(&mut self, batch: &Batch) -> Result<(), Failure> {
        let text = batch.text();
        if matches!(self.clock, Clock::Column { .. }) {
            batch.for_each_timed(|key, time, place| {
                let time = parse_time(time).ok_or_else(|| no_time(batch, time))?;
                self.tick(time, text)?;
                self.digests.push(self.hasher.digest(key));
                if self.pending.push(place) { self.write_wanted(text) } else { Ok(()) }
            })?;
        } else {
            batch.in_groups(|keys, places| {
                let before = self.digests.len();
                self.digests.resize(before + keys.len(), Digest::new(0));
                self.hasher.digest_each(keys, &mut self.digests[before..]);
                if self.pending.push_all(places) { self.write_wanted(text) } else { Ok(()) }
            })?;
        }
        self.write_wanted(text)
    }

    /// It is a record's time. Records wait together as long as their times are the same to the filter.
    fn tick(&mut self, time: u64, text: &[u8]) -> Result<(), Failure> {
        if time > self.seen.slot_end() {
            self.write_wanted(text)?;
            self.seen.advance(time);
        }
        if let Clock::Column { newest, late_lines } = &mut self.clock {
            *late_lines += u64::from(time < *newest);
            *newest = time.max(*newest);
        }
        Ok(())
    }

    /// Asks the filter about the records that are pending and writes those that are wanted.
    fn write_wanted(&mut self, text: &[u8]) -> Result<(), Failure> {
        let instant = match self.clock {
            Clock::Column { newest, .. } => newest,
            // Nobody looks at the clock who doesn't have to.
            Clock::Wall if self.seen.window().is_some() => now(),
            Clock::Wall => 0,
        };
        let answers = &mut self.answers[..self.digests.len()];
        self.seen.insert_hashes(&self.digests, instant, answers);
        let new = answers.iter().filter(|is_new| **is_new).count() as u64;
        if self.wanted == Wanted::Repeats {
            answers.iter_mut().for_each(|answer| *answer = !*answer);
        }
        if self.wanted == Wanted::Count {
            self.pending.clear();
        } else {
            let written = self.pending.write(text, answers, &mut self.output)?;
            self.written.records += written.records;
            self.written.bytes += written.bytes;
        }
        self.new += new;
        self.lines += self.digests.len() as u64;
        self.digests.clear();
        self.loss.count(self.new, self.lines, &self.seen);
        Ok(())
    }

    /// Writes something that is no record, such as the header of a table.
    pub(super) fn write_header(&mut self, header: &[u8]) -> Result<(), Failure> {
        self.written.bytes += header.len() as u64;
        self.output.write_all(header).map_err(|error| Failure::from_output(&error))
    }

    /// Sends out what was written.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        self.output.flush().map_err(|error| Failure::from_output(&error))
    }

    pub(super) fn wanted(&self) -> Wanted {
        self.wanted
    }

    /// Lines seen.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// Lines that were new.
    pub(super) fn new_lines(&self) -> u64 {
        self.new
    }

    /// What was written, terminators included.
    pub(super) fn written(&self) -> Written {
        self.written
    }

    /// Lines whose time was before that of a line before them.
    pub(super) fn late_lines(&self) -> u64 {
        match self.clock {
            Clock::Wall => 0,
            Clock::Column { late_lines, .. } => late_lines,
        }
    }

    /// The filter holds more lines than it can at the promised rate.
    pub(super) fn is_over_rate(&self) -> bool {
        self.loss.is_over_rate()
    }

    pub(super) fn seen(&self) -> &Seen {
        &self.seen
    }

    /// What was mistaken, up to the last line.
    pub(super) fn loss(&mut self) -> &Loss {
        self.loss.settle(self.new, self.lines, &self.seen);
        &self.loss
    }
}

#[cold]
fn no_time(batch: &Batch, time: &[u8]) -> Failure {
    let shown: String = String::from_utf8_lossy(time).chars().take(40).collect();
    Failure::Message(format!(
        "{}: {shown:?} is no time; --time names a field with seconds or milliseconds since 1970, or times like \
         2026-11-16T05:40:32Z",
        batch.source()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mayhap::BloomFilter;
    use std::collections::HashSet;

    fn sieved(input: &[u8], wanted: Wanted) -> Vec<u8> {
        let seen = Seen::Ever(BloomFilter::with_rate(100_000, 1e-9).unwrap());
        let loss = Loss::new(&seen, 1e-9, true);
        let mut sieve = Sieve::new(seen, loss, wanted, Clock::Wall, Vec::new());
        sieve.pass(&Batch::of_lines(input)).unwrap();
        assert_eq!(sieve.written().bytes, sieve.output.len() as u64);
        sieve.output
    }

    #[test]
    fn the_first_of_equal_lines_stays_in_its_place() {
        assert_eq!(sieved(b"", Wanted::New), b"");
        assert_eq!(sieved(b"\n\n", Wanted::New), b"\n");
        assert_eq!(sieved(b"b\na\nb\nc\na\nd\n", Wanted::New), b"b\na\nc\nd\n");
        assert_eq!(sieved(b"b\na\nb\nc\na\nb\n", Wanted::Repeats), b"b\na\nb\n");
        assert_eq!(sieved(b"b\na\nb\n", Wanted::Count), b"");
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
        let (new, repeats): (Vec<_>, Vec<_>) =
            input.split_inclusive(|byte| *byte == b'\n').partition(|line| seen.insert(*line));
        assert_eq!(sieved(&input, Wanted::New), new.concat());
        assert_eq!(sieved(&input, Wanted::Repeats), repeats.concat());
    }
}
