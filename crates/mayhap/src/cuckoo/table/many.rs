//! Many digests at once: the lines of later ones are on their way while earlier ones are looked at.

use super::buckets::{Buckets, Operation};
use super::places::{Places, Spot};
use super::{Contains, Insert, Remove, Search, Table};
use crate::bits::{
    BLOCK_BYTES, Block, Blocks, Line, Owned, is_worth_prefetching, prefetch_read, prefetch_write,
};
use crate::filter::InsertError;

/// Digests in a group.
const GROUP: usize = 32;

/// A digest's two lines each: with more digests in a group a core waits for its own requests.
const GROUP_FROM_MEMORY: usize = 16;

impl<S: Blocks> Table<S> {
    /// `found[i]` for the i-th digest.
    pub(in crate::cuckoo) fn contains_many(&self, digests: impl Iterator<Item = u64>, found: &mut [bool]) {
        let Self { lines, places, .. } = self;
        self.format.run(ContainsMany { lines: lines.lines(), places, digests, found });
    }
}

impl Table<Owned> {
    /// `new[i]` for the i-th digest; stops at the first that is refused.
    pub(in crate::cuckoo) fn insert_many(
        &mut self,
        digests: impl Iterator<Item = u64>,
        new: &mut [bool],
        search: &mut Search,
    ) -> Result<(), InsertError> {
        let Self { lines, places, format, len, .. } = self;
        format.run(InsertMany { blocks: lines, places, len, digests, new, search })
    }

    /// `removed[i]` for the i-th digest.
    pub(in crate::cuckoo) fn remove_many(
        &mut self,
        digests: impl Iterator<Item = u64>,
        removed: &mut [bool],
    ) {
        let Self { lines, places, format, len, .. } = self;
        format.run(RemoveMany { blocks: lines, places, len, digests, removed });
    }
}

/// What is done with each digest: a trait and not closures, so that it is inlined into each of the loops.
trait Step {
    fn prefetch(&self, spot: &Spot);
    /// An error ends the batch.
    fn step(&mut self, number: usize, spot: Spot) -> Result<(), InsertError>;
}

/// Runs a step on every digest, each some time after its prefetch.
#[inline(always)]
fn in_groups(
    places: &Places,
    lines: usize,
    mut digests: impl Iterator<Item = u64>,
    step: &mut impl Step,
) -> Result<(), InsertError> {
    let prefetch = is_worth_prefetching((lines * BLOCK_BYTES) as u64);
    let group = if prefetch { GROUP_FROM_MEMORY } else { GROUP };
    let mut spots = [[Spot::default(); GROUP]; 2];
    let (mut turn, mut held, mut done) = (0, 0, 0);
    loop {
        let [even, odd] = &mut spots;
        let (current, next) = if turn == 0 { (&*even, odd) } else { (&*odd, even) };
        turn ^= 1;
        let mut located = 0;
        for (spot, digest) in next[..group].iter_mut().zip(digests.by_ref()) {
            *spot = places.of(digest);
            if prefetch {
                step.prefetch(spot);
            }
            located += 1;
        }
        for (number, spot) in (done..).zip(&current[..held]) {
            step.step(number, *spot)?;
        }
        done += held;
        held = located;
        if held == 0 {
            return Ok(());
        }
    }
}

#[inline(always)]
fn prefetch_both<B: Buckets, L>(buckets: B, lines: &[L], spot: &Spot, prefetch: impl Fn(&L)) {
    for bucket in [spot.first, spot.second] {
        prefetch(&lines[buckets.grid().locate(bucket).0]);
    }
}

struct ContainsMany<'a, L, D> {
    lines: &'a [L],
    places: &'a Places,
    digests: D,
    found: &'a mut [bool],
}

impl<L: Line, D: Iterator<Item = u64>> Operation for ContainsMany<'_, L, D> {
    type Output = ();

    #[inline(always)]
    fn run<B: Buckets>(self, buckets: B) {
        let Self { lines, places, digests, found } = self;
        let mut step = ContainsStep { buckets, lines, found };
        // Asking can't fail.
        let _ = in_groups(places, lines.len(), digests, &mut step);
    }
}

struct ContainsStep<'a, B, L> {
    buckets: B,
    lines: &'a [L],
    found: &'a mut [bool],
}

impl<B: Buckets, L: Line> Step for ContainsStep<'_, B, L> {
    #[inline(always)]
    fn prefetch(&self, spot: &Spot) {
        prefetch_both(self.buckets, self.lines, spot, prefetch_read);
    }

    #[inline(always)]
    fn step(&mut self, number: usize, spot: Spot) -> Result<(), InsertError> {
        self.found[number] = Contains { lines: self.lines, spot }.run(self.buckets);
        Ok(())
    }
}

struct InsertMany<'a, D> {
    blocks: &'a mut [Block],
    places: &'a Places,
    len: &'a mut u64,
    digests: D,
    new: &'a mut [bool],
    search: &'a mut Search,
}

impl<D: Iterator<Item = u64>> Operation for InsertMany<'_, D> {
    type Output = Result<(), InsertError>;

    #[inline(always)]
    fn run<B: Buckets>(self, buckets: B) -> Result<(), InsertError> {
        let Self { blocks, places, len, digests, new, search } = self;
        let lines = blocks.len();
        in_groups(places, lines, digests, &mut InsertStep { buckets, blocks, places, len, new, search })
    }
}

struct InsertStep<'a, B> {
    buckets: B,
    blocks: &'a mut [Block],
    places: &'a Places,
    len: &'a mut u64,
    new: &'a mut [bool],
    search: &'a mut Search,
}

impl<B: Buckets> Step for InsertStep<'_, B> {
    #[inline(always)]
    fn prefetch(&self, spot: &Spot) {
        prefetch_both(self.buckets, self.blocks, spot, prefetch_write);
    }

    #[inline(always)]
    fn step(&mut self, number: usize, spot: Spot) -> Result<(), InsertError> {
        let Self { buckets, blocks, places, len, new, search } = self;
        new[number] = Insert { blocks, places, len, spot, unless_there: false, search }.run(*buckets)?;
        Ok(())
    }
}

struct RemoveMany<'a, D> {
    blocks: &'a mut [Block],
    places: &'a Places,
    len: &'a mut u64,
    digests: D,
    removed: &'a mut [bool],
}

impl<D: Iterator<Item = u64>> Operation for RemoveMany<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run<B: Buckets>(self, buckets: B) {
        let Self { blocks, places, len, digests, removed } = self;
        let lines = blocks.len();
        // Removing can't fail.
        let _ = in_groups(places, lines, digests, &mut RemoveStep { buckets, blocks, len, removed });
    }
}

struct RemoveStep<'a, B> {
    buckets: B,
    blocks: &'a mut [Block],
    len: &'a mut u64,
    removed: &'a mut [bool],
}

impl<B: Buckets> Step for RemoveStep<'_, B> {
    #[inline(always)]
    fn prefetch(&self, spot: &Spot) {
        prefetch_both(self.buckets, self.blocks, spot, prefetch_write);
    }

    #[inline(always)]
    fn step(&mut self, number: usize, spot: Spot) -> Result<(), InsertError> {
        let Self { buckets, blocks, len, removed } = self;
        removed[number] = Remove { blocks, len, spot }.run(*buckets);
        Ok(())
    }
}
