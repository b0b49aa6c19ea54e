//! Many digests at once: the lines of later ones are on their way while earlier ones are looked at.

use super::buckets::{Buckets, Operation};
use super::eight::InEights;
use super::places::{Places, Spot};
use super::{Count, Insert, Located, Search, Table};
use crate::bits::{BLOCK_BYTES, Block, Blocks, Line, Owned, is_worth_prefetching};
use crate::bloom::kernel::count_true;
use crate::filter::InsertError;
use crate::hash::Digest;

/// Digests in a group.
const GROUP: usize = 32;

/// A digest's two lines each: with more digests in a group a core waits for its own requests.
const GROUP_FROM_MEMORY: usize = 16;

impl<S: Blocks> Table<S> {
    /// `found[i]` for the i-th digest.
    pub(in crate::cuckoo) fn contains_many(&self, digests: &[Digest], found: &mut [bool]) {
        let Self { lines, layout, format, places, .. } = self;
        let lines = lines.lines();
        let done = InEights::of(*layout, format, places, digests.len())
            .map_or(0, |eights| eights.contains(lines, digests, found));
        let (digests, found) = (&digests[done..], &mut found[done..]);
        if !digests.is_empty() {
            format.run(ContainsMany { lines, places, digests, found });
        }
    }

    /// `counts[i]` for the i-th digest.
    pub(in crate::cuckoo) fn count_many(&self, digests: &[Digest], counts: &mut [u64]) {
        let Self { lines, format, places, .. } = self;
        format.run(CountMany { lines: lines.lines(), places, digests, counts });
    }
}

impl Table<Owned> {
    /// `new[i]` for the i-th digest; stops at the first that is refused.
    pub(in crate::cuckoo) fn insert_many(
        &mut self,
        digests: &[Digest],
        new: &mut [bool],
        search: Search,
    ) -> Result<(), InsertError> {
        let Self { lines, places, format, len, .. } = self;
        format.run(InsertMany { blocks: lines, places, len, digests, new, search })
    }

    /// `removed[i]` for the i-th digest.
    pub(in crate::cuckoo) fn remove_many(&mut self, digests: &[Digest], removed: &mut [bool]) {
        let Self { lines: blocks, layout, format, places, len } = self;
        let done = InEights::of(*layout, format, places, digests.len())
            .map_or(0, |eights| eights.remove(blocks, digests, removed));
        let (digests, last) = (&digests[done..], &mut removed[done..]);
        if !digests.is_empty() {
            format.run(RemoveMany { blocks, places, digests, removed: last });
        }
        *len -= count_true(removed) as u64;
    }
}

/// What is done with each digest: a trait and not closures, so that it is inlined into each of the loops.
trait Step {
    /// What is kept of a digest between its prefetch and its turn.
    type Kept: Copy + Default;
    type Answer: Copy + PartialEq;
    /// The answer that nearly every digest gets, where there is one. It is written for all of them before the first.
    const USUAL: Option<Self::Answer> = None;

    fn keep(&self, spot: Spot) -> Self::Kept;
    fn prefetch(&self, kept: &Self::Kept);
    /// The answer; an error ends the batch.
    fn step(&mut self, kept: Self::Kept) -> Result<Self::Answer, InsertError>;
}

/// Runs a step on every digest, each some time after its prefetch.
#[inline(always)]
fn in_groups<S: Step>(
    places: &Places,
    lines: usize,
    digests: &[Digest],
    answers: &mut [S::Answer],
    step: &mut S,
) -> Result<(), InsertError> {
    let prefetch = is_worth_prefetching((lines * BLOCK_BYTES) as u64);
    let group = if prefetch { GROUP_FROM_MEMORY } else { GROUP };
    let mut groups = [[S::Kept::default(); GROUP]; 2];
    let (mut turn, mut held) = (0, 0);
    if let Some(usual) = S::USUAL {
        answers.fill(usual);
    }
    let (mut digests, mut left) = (digests.iter(), answers);
    loop {
        let [even, odd] = &mut groups;
        let (current, next) = if turn == 0 { (&*even, odd) } else { (&*odd, even) };
        turn ^= 1;
        let mut located = 0;
        for (kept, digest) in next[..group].iter_mut().zip(digests.by_ref()) {
            *kept = step.keep(places.of(digest.get()));
            if prefetch {
                step.prefetch(kept);
            }
            located += 1;
        }
        let (answers, rest) = left.split_at_mut(held.min(left.len()));
        left = rest;
        for (kept, answer) in current[..held].iter().zip(answers) {
            let given = step.step(*kept)?;
            if S::USUAL != Some(given) {
                *answer = given;
            }
        }
        held = located;
        if held == 0 {
            return Ok(());
        }
    }
}

struct ContainsMany<'a, L> {
    lines: &'a [L],
    places: &'a Places,
    digests: &'a [Digest],
    found: &'a mut [bool],
}

impl<L: Line> Operation for ContainsMany<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run<B: Buckets>(self, buckets: B) {
        let Self { lines, places, digests, found } = self;
        // Asking can't fail.
        let _ = in_groups(places, lines.len(), digests, found, &mut ContainsStep { buckets, lines });
    }
}

struct ContainsStep<'a, B, L> {
    buckets: B,
    lines: &'a [L],
}

impl<B: Buckets, L: Line> Step for ContainsStep<'_, B, L> {
    type Kept = Located;
    type Answer = bool;

    #[inline(always)]
    fn keep(&self, spot: Spot) -> Located {
        Located::new(self.buckets, spot)
    }

    #[inline(always)]
    fn prefetch(&self, located: &Located) {
        located.prefetch(self.buckets, self.lines);
    }

    #[inline(always)]
    fn step(&mut self, located: Located) -> Result<bool, InsertError> {
        Ok(located.is_in(self.buckets, self.lines))
    }
}

struct CountMany<'a, L> {
    lines: &'a [L],
    places: &'a Places,
    digests: &'a [Digest],
    counts: &'a mut [u64],
}

impl<L: Line> Operation for CountMany<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run<B: Buckets>(self, buckets: B) {
        let Self { lines, places, digests, counts } = self;
        // Asking can't fail.
        let _ = in_groups(places, lines.len(), digests, counts, &mut CountStep { buckets, lines });
    }
}

struct CountStep<'a, B, L> {
    buckets: B,
    lines: &'a [L],
}

impl<B: Buckets, L: Line> Step for CountStep<'_, B, L> {
    /// Whether both buckets are one is told by their numbers.
    type Kept = Spot;
    type Answer = u64;

    #[inline(always)]
    fn keep(&self, spot: Spot) -> Spot {
        spot
    }

    #[inline(always)]
    fn prefetch(&self, spot: &Spot) {
        Located::new(self.buckets, *spot).prefetch(self.buckets, self.lines);
    }

    #[inline(always)]
    fn step(&mut self, spot: Spot) -> Result<u64, InsertError> {
        Ok(Count { lines: self.lines, spot }.run(self.buckets))
    }
}

struct InsertMany<'a> {
    blocks: &'a mut [Block],
    places: &'a Places,
    len: &'a mut u64,
    digests: &'a [Digest],
    new: &'a mut [bool],
    search: Search,
}

impl Operation for InsertMany<'_> {
    type Output = Result<(), InsertError>;

    #[inline(always)]
    fn run<B: Buckets>(self, buckets: B) -> Result<(), InsertError> {
        let Self { blocks, places, len, digests, new, search } = self;
        let lines = blocks.len();
        in_groups(places, lines, digests, new, &mut InsertStep { buckets, blocks, places, len, search })
    }
}

struct InsertStep<'a, B> {
    buckets: B,
    blocks: &'a mut [Block],
    places: &'a Places,
    len: &'a mut u64,
    search: Search,
}

impl<B: Buckets> Step for InsertStep<'_, B> {
    /// The numbers of the buckets, too, are needed where room must be made.
    type Kept = Spot;
    type Answer = bool;

    #[inline(always)]
    fn keep(&self, spot: Spot) -> Spot {
        spot
    }

    #[inline(always)]
    fn prefetch(&self, spot: &Spot) {
        Located::new(self.buckets, *spot).prefetch(self.buckets, self.blocks);
    }

    #[inline(always)]
    fn step(&mut self, spot: Spot) -> Result<bool, InsertError> {
        let Self { buckets, blocks, places, len, search } = self;
        Insert { blocks, places, len, spot, unless_there: false, search: *search }.run(*buckets)
    }
}

struct RemoveMany<'a> {
    blocks: &'a mut [Block],
    places: &'a Places,
    digests: &'a [Digest],
    removed: &'a mut [bool],
}

impl Operation for RemoveMany<'_> {
    type Output = ();

    #[inline(always)]
    fn run<B: Buckets>(self, buckets: B) {
        let Self { blocks, places, digests, removed } = self;
        let lines = blocks.len();
        // Removing can't fail.
        let _ = in_groups(places, lines, digests, removed, &mut RemoveStep { buckets, blocks });
    }
}

struct RemoveStep<'a, B> {
    buckets: B,
    blocks: &'a mut [Block],
}

impl<B: Buckets> Step for RemoveStep<'_, B> {
    type Kept = Located;
    type Answer = bool;
    /// Who removes what was added is told nothing else.
    const USUAL: Option<bool> = Some(true);

    #[inline(always)]
    fn keep(&self, spot: Spot) -> Located {
        Located::new(self.buckets, spot)
    }

    #[inline(always)]
    fn prefetch(&self, located: &Located) {
        located.prefetch(self.buckets, self.blocks);
    }

    #[inline(always)]
    fn step(&mut self, located: Located) -> Result<bool, InsertError> {
        Ok(located.remove(self.buckets, self.blocks))
    }
}
