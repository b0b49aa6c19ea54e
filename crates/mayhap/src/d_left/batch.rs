//! Many keys at once: the two lines of later keys are on their way while earlier ones are looked at.

use super::DLeftCounting;
use super::place::Geometry;
use super::table::{self, Removed};
use crate::bits::{Block, Blocks, Line, prefetch_read, prefetch_write};
use crate::bloom::kernel::{Keys, Pace, Source, Step, in_groups};
use crate::filter::InsertError;
use crate::hash::{Digest, Key};

impl<S: Blocks> DLeftCounting<S> {
    /// Asks for many keys at once: `found[i]` tells whether `keys[i]` may be in the set.
    ///
    /// ```
    /// use mayhap::DLeftCounting;
    ///
    /// let mut filter = DLeftCounting::with_rate(1_000, 0.001)?;
    /// filter.insert("apple")?;
    /// filter.insert("pear")?;
    /// let mut found = [false; 3];
    /// filter.contains_each(&["apple", "quince", "pear"], &mut found);
    /// assert_eq!(found, [true, false, true]);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
        assert_eq!(keys.len(), found.len(), "one answer for each key");
        match self.hasher.as_xxh3() {
            Some(xxh3) => self.contains_batch(&Keys(xxh3, keys), found),
            None => self.contains_batch(&Keys(&self.hasher, keys), found),
        }
    }

    /// [`contains_each`](Self::contains_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hashes(&self, digests: &[Digest], found: &mut [bool]) {
        assert_eq!(digests.len(), found.len(), "one answer for each digest");
        self.contains_batch(&digests, found);
    }

    fn contains_batch(&self, source: &impl Source, answers: &mut [bool]) {
        let mut step = ContainsStep { geometry: self.geometry, lines: self.blocks.lines(), answers };
        in_groups(source, &mut step, self.pace());
    }

    /// Counts the copies of many keys at once: `counts[i]` for `digests[i]`.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn count_hashes(&self, digests: &[Digest], counts: &mut [u64]) {
        assert_eq!(digests.len(), counts.len(), "one count for each digest");
        let mut step = CountStep { geometry: self.geometry, lines: self.blocks.lines(), counts };
        in_groups(&digests, &mut step, self.pace());
    }

    fn pace(&self) -> Pace {
        Pace::of(self.blocks.lines().len(), true)
    }
}

struct ContainsStep<'a, L> {
    geometry: Geometry,
    lines: &'a [L],
    answers: &'a mut [bool],
}

impl<L: Line> Step for ContainsStep<'_, L> {
    #[inline(always)]
    fn prefetch(&self, digests: &[u64]) {
        prefetch(&self.geometry, digests, |line| prefetch_read(&self.lines[line]));
    }

    #[inline(always)]
    fn probe(&mut self, from: usize, digests: &[u64]) {
        for (answer, digest) in self.answers[from..].iter_mut().zip(digests) {
            *answer = table::contains(self.geometry.cell, self.lines, &self.geometry.place(*digest));
        }
    }
}

struct CountStep<'a, L> {
    geometry: Geometry,
    lines: &'a [L],
    counts: &'a mut [u64],
}

impl<L: Line> Step for CountStep<'_, L> {
    #[inline(always)]
    fn prefetch(&self, digests: &[u64]) {
        prefetch(&self.geometry, digests, |line| prefetch_read(&self.lines[line]));
    }

    #[inline(always)]
    fn probe(&mut self, from: usize, digests: &[u64]) {
        for (count, digest) in self.counts[from..].iter_mut().zip(digests) {
            *count = table::count(self.geometry.cell, self.lines, &self.geometry.place(*digest));
        }
    }
}

/// Adds keys until one is refused.
pub(super) struct InsertStep<'a> {
    filter: &'a mut DLeftCounting,
    new: &'a mut [bool],
    outcome: Result<(), InsertError>,
}

impl<'a> InsertStep<'a> {
    pub(super) fn run(
        filter: &'a mut DLeftCounting,
        source: &impl Source,
        new: &'a mut [bool],
    ) -> Result<(), InsertError> {
        let pace = filter.pace();
        let mut step = Self { filter, new, outcome: Ok(()) };
        in_groups(source, &mut step, pace);
        step.outcome
    }
}

impl Step for InsertStep<'_> {
    #[inline(always)]
    fn prefetch(&self, digests: &[u64]) {
        prefetch(&self.filter.geometry, digests, |line| prefetch_write(&self.filter.blocks[line]));
    }

    #[inline(always)]
    fn probe(&mut self, from: usize, digests: &[u64]) {
        for (new, digest) in self.new[from..].iter_mut().zip(digests) {
            if self.outcome.is_err() {
                return;
            }
            match self.filter.insert_hash(Digest::new(*digest)) {
                Ok(answer) => *new = answer,
                Err(error) => self.outcome = Err(error),
            }
        }
    }
}

/// Removes keys.
pub(super) struct RemoveStep<'a> {
    geometry: Geometry,
    blocks: &'a mut [Block],
    removed: &'a mut [bool],
    /// Copies taken away from cells that have not become free.
    lowered: u64,
}

impl<'a> RemoveStep<'a> {
    pub(super) fn run(filter: &'a mut DLeftCounting, source: &impl Source, removed: &'a mut [bool]) {
        let (pace, geometry) = (filter.pace(), filter.geometry);
        let mut step = Self { geometry, blocks: &mut filter.blocks, removed, lowered: 0 };
        in_groups(source, &mut step, pace);
        let copies: u64 = step.removed.iter().map(|removed| u64::from(*removed)).sum();
        let cells = copies - step.lowered;
        // Counted from the same cells, so neither falls below zero.
        filter.len -= copies;
        filter.used_cells -= cells;
    }
}

impl Step for RemoveStep<'_> {
    #[inline(always)]
    fn prefetch(&self, digests: &[u64]) {
        prefetch(&self.geometry, digests, |line| prefetch_write(&self.blocks[line]));
    }

    #[inline(always)]
    fn probe(&mut self, from: usize, digests: &[u64]) {
        let Self { geometry, blocks, removed, lowered } = self;
        for (removed, digest) in removed[from..].iter_mut().zip(digests) {
            *removed = match table::remove(geometry.cell, blocks, &geometry.place(*digest)) {
                Removed::Nothing => false,
                Removed::Freed => true,
                Removed::Lowered => {
                    *lowered += 1;
                    true
                }
            };
        }
    }
}

#[inline(always)]
fn prefetch(geometry: &Geometry, digests: &[u64], start: impl Fn(usize)) {
    for digest in digests {
        let [left, right] = geometry.place(*digest).lines;
        start(left);
        start(right);
    }
}
