//! Many keys at once: the two lines of later keys are on their way while earlier ones are looked at.
//!
//! The place of a key is worked out once, with its prefetch, and kept until its turn. From a digest to its place is a chain of
//! five multiplications, about as long as that from there to the answer. Left out of the turn, it lets more turns be under way
//! at once.

use super::DLeftCounting;
use super::cell::Cell;
use super::place::{Geometry, Place};
use super::table::{self, Removed};
use super::tags::{Baseline, Compare};
use crate::bits::{Block, Blocks, Line, prefetch_line};
use crate::bloom::kernel::{GROUP, Keys, Pace, Source, Step, count_true, in_groups};
use crate::cpu;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Avx2;
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
        let mut step = ContainsStep { cell: self.geometry.cell, lines: self.blocks.lines(), answers };
        run(&Places(self.geometry, source), &mut step, self.pace());
    }

    /// Counts the copies of many keys at once: `counts[i]` for `keys[i]`.
    ///
    /// ```
    /// use mayhap::DLeftCounting;
    ///
    /// let mut filter = DLeftCounting::with_rate(1_000, 0.001)?;
    /// filter.insert_each(&["apple", "pear", "apple"], &mut [false; 3])?;
    /// let mut counts = [0; 3];
    /// filter.count_each(&["apple", "quince", "pear"], &mut counts);
    /// assert_eq!(counts, [2, 0, 1]);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn count_each<K: Key>(&self, keys: &[K], counts: &mut [u64]) {
        assert_eq!(keys.len(), counts.len(), "one count for each key");
        match self.hasher.as_xxh3() {
            Some(xxh3) => self.count_batch(&Keys(xxh3, keys), counts),
            None => self.count_batch(&Keys(&self.hasher, keys), counts),
        }
    }

    /// [`count_each`](Self::count_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn count_hashes(&self, digests: &[Digest], counts: &mut [u64]) {
        assert_eq!(digests.len(), counts.len(), "one count for each digest");
        self.count_batch(&digests, counts);
    }

    fn count_batch(&self, source: &impl Source, counts: &mut [u64]) {
        let mut step = CountStep { cell: self.geometry.cell, lines: self.blocks.lines(), counts };
        run(&Places(self.geometry, source), &mut step, self.pace());
    }

    fn pace(&self) -> Pace {
        Pace::of(self.blocks.lines().len(), true)
    }
}

/// The places of the keys of a batch.
struct Places<'a, In>(Geometry, &'a In);

impl<In: Source> Source<Place> for Places<'_, In> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.1.len()
    }

    #[inline(always)]
    fn digests(&self, from: usize, places: &mut [Place]) {
        let mut digests = [0; GROUP];
        let digests = &mut digests[..places.len()];
        self.1.digests(from, digests);
        for (place, digest) in places.iter_mut().zip(digests) {
            *place = self.0.place(*digest);
        }
    }

    #[inline(always)]
    fn fetch(&self, from: usize, group: usize) {
        self.1.fetch(from, group);
    }
}

/// What a batch does, to be compiled for each way to compare tags.
///
/// A turn begins with copies of what it reads of `self`: the compiler can't know that no answer is written over it, and would
/// read it again for each key.
trait Work {
    fn prefetch(&self, places: &[Place]);
    fn probe(&mut self, compare: impl Compare, from: usize, places: &[Place]);
}

/// Does it, in the best way of this CPU.
#[inline(always)]
fn run(source: &impl Source<Place>, work: &mut impl Work, pace: Pace) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = Avx2::detect() {
        return avx2.run(InGroups { source, step: Comparing(avx2, work), pace });
    }
    cpu::Work::run(InGroups { source, step: Comparing(Baseline, work), pace });
}

struct InGroups<'a, In, T> {
    source: &'a In,
    step: T,
    pace: Pace,
}

impl<In: Source<Place>, T: Step<Place>> cpu::Work for InGroups<'_, In, T> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        in_groups(self.source, &mut self.step, self.pace);
    }
}

struct Comparing<'a, T, W>(T, &'a mut W);

impl<T: Compare, W: Work> Step<Place> for Comparing<'_, T, W> {
    #[inline(always)]
    fn prefetch(&self, places: &[Place]) {
        self.1.prefetch(places);
    }

    #[inline(always)]
    fn probe(&mut self, from: usize, places: &[Place]) {
        self.1.probe(self.0, from, places);
    }
}

struct ContainsStep<'a, L> {
    cell: Cell,
    lines: &'a [L],
    answers: &'a mut [bool],
}

impl<L: Line> Work for ContainsStep<'_, L> {
    #[inline(always)]
    fn prefetch(&self, places: &[Place]) {
        prefetch(places, |line| prefetch_line(&self.lines[line]));
    }

    #[inline(always)]
    fn probe(&mut self, compare: impl Compare, from: usize, places: &[Place]) {
        let (cell, lines) = (self.cell, self.lines);
        for (answer, place) in self.answers[from..].iter_mut().zip(places) {
            *answer = table::contains(compare, cell, lines, place);
        }
    }
}

struct CountStep<'a, L> {
    cell: Cell,
    lines: &'a [L],
    counts: &'a mut [u64],
}

impl<L: Line> Work for CountStep<'_, L> {
    #[inline(always)]
    fn prefetch(&self, places: &[Place]) {
        prefetch(places, |line| prefetch_line(&self.lines[line]));
    }

    #[inline(always)]
    fn probe(&mut self, compare: impl Compare, from: usize, places: &[Place]) {
        let (cell, lines) = (self.cell, self.lines);
        for (count, place) in self.counts[from..].iter_mut().zip(places) {
            *count = table::count(compare, cell, lines, place);
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
        let (pace, geometry, before) = (filter.pace(), filter.geometry, filter.len);
        let mut step = Self { filter, new, outcome: Ok(()) };
        run(&Places(geometry, source), &mut step, pace);
        if step.outcome.is_err() {
            // Each key that was taken is a copy more.
            let taken = step.filter.len - before;
            step.new
                .iter_mut()
                .skip(usize::try_from(taken).unwrap_or(usize::MAX))
                .for_each(|new| *new = false);
        }
        step.outcome
    }
}

impl Work for InsertStep<'_> {
    #[inline(always)]
    fn prefetch(&self, places: &[Place]) {
        prefetch(places, |line| prefetch_line(&self.filter.blocks[line]));
    }

    #[inline(always)]
    fn probe(&mut self, compare: impl Compare, from: usize, places: &[Place]) {
        for (new, place) in self.new[from..].iter_mut().zip(places) {
            if self.outcome.is_err() {
                return;
            }
            match self.filter.insert_at(compare, place) {
                Ok(answer) => *new = answer,
                Err(error) => self.outcome = Err(error),
            }
        }
    }
}

/// Removes keys.
pub(super) struct RemoveStep<'a> {
    cell: Cell,
    blocks: &'a mut [Block],
    removed: &'a mut [bool],
    /// Copies taken away from cells that have not become free.
    lowered: u64,
}

impl<'a> RemoveStep<'a> {
    pub(super) fn run(filter: &'a mut DLeftCounting, source: &impl Source, removed: &'a mut [bool]) {
        let (pace, geometry) = (filter.pace(), filter.geometry);
        let mut step = Self { cell: geometry.cell, blocks: &mut filter.blocks, removed, lowered: 0 };
        run(&Places(geometry, source), &mut step, pace);
        let copies = count_true(step.removed) as u64;
        let cells = copies - step.lowered;
        // Counted from the same cells, so neither falls below zero.
        filter.len -= copies;
        filter.used_cells -= cells;
    }
}

impl Work for RemoveStep<'_> {
    #[inline(always)]
    fn prefetch(&self, places: &[Place]) {
        prefetch(places, |line| prefetch_line(&self.blocks[line]));
    }

    #[inline(always)]
    fn probe(&mut self, compare: impl Compare, from: usize, places: &[Place]) {
        let (cell, blocks) = (self.cell, &mut *self.blocks);
        for (removed, place) in self.removed[from..].iter_mut().zip(places) {
            *removed = match table::remove(compare, cell, blocks, place) {
                Removed::Nothing => false,
                Removed::Freed => true,
                Removed::Lowered => {
                    self.lowered += 1;
                    true
                }
            };
        }
    }
}

#[inline(always)]
fn prefetch(places: &[Place], start: impl Fn(usize)) {
    for place in places {
        place.lines.into_iter().for_each(&start);
    }
}
