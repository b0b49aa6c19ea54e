//! What is done with many keys at once.

use core::marker::PhantomData;
use core::ops::Range;

use super::ask::{LineQuestion, ask_each};
#[cfg(feature = "std")]
use super::fast_range;
use super::one::{SharedTarget, contains_one, insert_one};
use super::{Draw, Regions, Simd, second_digest};
use crate::bits::{
    AtomicBlock, Block, Line, Stripes, Target as _, is_worth_prefetching, prefetch_line, prefetch_row,
};
use crate::hash::{Digest, Digester, Key, prefetch_keys};

/// A batch, to be compiled for each [`Simd`] and each shape.
pub(crate) trait Batch {
    fn run<V: Simd, D: Draw, const TWO: bool>(self, simd: V);
}

/// How a batch is paced.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    /// Keys in a group.
    group: usize,
    /// Whether the lines of a group are asked for before they are looked at.
    prefetch: bool,
}

/// The most keys in a group.
pub(crate) const GROUP: usize = 32;

/// Keys in a group whose lines come from memory. Two groups are under way; with more lines a core waits for its own
/// requests. Groups of 8 to 32 were tried, on CPUs of AMD and Intel: at 30 M keys 12 to 24 were best with one line for
/// each key, 8 to 12 with two; at 1 M keys of two lines 12 (7.3 ns, and 9.5 with 8). Multiples of 8 are twice as fast
/// as the numbers between them with one line, when digests are given and the filter is in the third-level cache (1 M
/// keys: 2.9 ns with 24, 4.7 to 5.5 with 20).
const GROUP_FROM_MEMORY: usize = 24;
const GROUP_OF_TWO_LINES: usize = 12;

impl Pace {
    #[inline(always)]
    pub(crate) fn of(blocks: usize, two: bool) -> Self {
        let prefetch = is_worth_prefetching(size_of::<Block>() as u64 * blocks as u64);
        let from_memory = if two { GROUP_OF_TWO_LINES } else { GROUP_FROM_MEMORY };
        Self { group: if prefetch { from_memory } else { GROUP }, prefetch }
    }

    /// Keys in a group.
    #[inline(always)]
    pub(crate) fn keys(self) -> usize {
        self.group
    }

    /// The same with so many keys in a group; at most [`GROUP`].
    #[inline(always)]
    pub(crate) fn with_keys(self, group: usize) -> Self {
        Self { group, ..self }
    }

    /// Whether the lines of a group are asked for before they are looked at.
    #[inline(always)]
    pub(crate) fn prefetches(self) -> bool {
        self.prefetch
    }
}

/// What a batch does with each digest, or with what was made of it.
///
/// A trait and not a pair of closures: a closure that is called from two places is left out of line, and out of line it
/// is compiled without AVX2, where every vector instruction becomes a call (measured: 27 ns per insert instead of 4).
pub(crate) trait Step<D = u64> {
    /// Starts loading the lines of the digests.
    fn prefetch(&self, digests: &[D]);
    /// Does the work for the digests, which are those of the keys from number `from` on.
    fn probe(&mut self, from: usize, digests: &[D]);
}

/// Where a batch's digests come from.
pub(crate) trait Source<D = u64> {
    fn len(&self) -> usize;
    /// Writes the digests of the keys from number `from` on into `digests`, as many as it holds.
    fn digests(&self, from: usize, digests: &mut [D]);
    /// Starts loading the keys from number `from` on, `group` of them or as many as there are. The group after them is
    /// loaded as far as it says where its keys' bytes are.
    ///
    /// Keys in a row are what a CPU fetches ahead by itself, but not while its requests for the filter's lines are
    /// under way: then every eighth integer was a wait for the third-level cache.
    fn fetch(&self, from: usize, group: usize);
}

/// A source that can be taken part by part.
pub(crate) trait Parted: Source {
    fn part(&self, keys: Range<usize>) -> Self;
}

/// Keys, to be hashed on the way. `H` is the hash function where it is known at compile time, which spares the inner
/// loop a choice for every key; else the [`KeyHasher`](crate::hash::KeyHasher).
pub(crate) struct Keys<'a, K, H>(pub(crate) H, pub(crate) &'a [K]);

impl<K: Key, H: Digester> Source for Keys<'_, K, H> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.1.len()
    }

    #[inline(always)]
    fn digests(&self, from: usize, digests: &mut [u64]) {
        for (digest, key) in digests.iter_mut().zip(&self.1[from..]) {
            *digest = self.0.digest_bytes(key.key_bytes().as_ref()).get();
        }
    }

    #[inline(always)]
    fn fetch(&self, from: usize, group: usize) {
        prefetch_row(self.1, from + group, group);
        prefetch_keys(self.1[from..].iter().take(group));
    }
}

impl<K: Key, H: Digester + Copy> Parted for Keys<'_, K, H> {
    #[inline(always)]
    fn part(&self, keys: Range<usize>) -> Self {
        Self(self.0, &self.1[keys])
    }
}

impl Source for &[Digest] {
    #[inline(always)]
    fn len(&self) -> usize {
        <[Digest]>::len(self)
    }

    #[inline(always)]
    fn digests(&self, from: usize, digests: &mut [u64]) {
        for (slot, digest) in digests.iter_mut().zip(&self[from..]) {
            *slot = digest.get();
        }
    }

    #[inline(always)]
    fn fetch(&self, from: usize, group: usize) {
        prefetch_row(self, from + group, group);
    }
}

impl Parted for &[Digest] {
    #[inline(always)]
    fn part(&self, keys: Range<usize>) -> Self {
        &self[keys]
    }
}

/// Where a batch's answers go.
pub(crate) trait Answers {
    /// Writes the same answer for all keys.
    fn fill(&mut self, answer: bool);
    /// The place for the answers to `len` keys from number `from` on; `len` is at most a group.
    fn group(&mut self, from: usize, len: usize) -> &mut [bool];
}

impl Answers for &mut [bool] {
    #[inline(always)]
    fn fill(&mut self, answer: bool) {
        <[bool]>::fill(self, answer);
    }

    #[inline(always)]
    fn group(&mut self, from: usize, len: usize) -> &mut [bool] {
        &mut self[from..from + len]
    }
}

/// How many of the answers are `true`.
pub(crate) fn count_true(answers: &[bool]) -> usize {
    // In bytes, as long as they can't overflow: sixteen at a time, where the compiler adds words one by one.
    let short = answers.chunks(usize::from(u8::MAX));
    short.map(|answers| usize::from(answers.iter().map(|answer| u8::from(*answer)).sum::<u8>())).sum()
}

/// Nowhere: each group is written over the last one.
#[derive(Default)]
pub(crate) struct Unasked([bool; GROUP]);

impl Answers for Unasked {
    #[inline(always)]
    fn fill(&mut self, _: bool) {}

    #[inline(always)]
    fn group(&mut self, _: usize, len: usize) -> &mut [bool] {
        &mut self.0[..len]
    }
}

/// Runs a step on every digest of a batch, each some time after its prefetch.
///
/// In groups: while the lines of one group are on their way, the next group is hashed. Groups are handed over as slices,
/// so that neither loop has a bounds check or a choice for each key.
#[inline(always)]
pub(crate) fn in_groups<D: Copy + Default>(source: &impl Source<D>, step: &mut impl Step<D>, pace: Pace) {
    let len = source.len();
    let mut digests = [[D::default(); GROUP]; 2];
    let mut turn = 0;
    let (mut probed, mut hashed) = (0, 0);
    // One loop for first, middle and last group, so that hash and probe are compiled once. The first time there is
    // nothing to probe yet, the last time nothing more to hash.
    while probed < len {
        let [even, odd] = &mut digests;
        let (current, next) = if turn == 0 { (&*even, odd) } else { (&*odd, even) };
        turn ^= 1;
        let next = &mut next[..pace.group.min(len - hashed)];
        if pace.prefetch {
            source.fetch(hashed + next.len(), pace.group);
        }
        source.digests(hashed, next);
        if pace.prefetch {
            step.prefetch(next);
        }
        step.probe(probed, &current[..hashed - probed]);
        probed = hashed;
        hashed += next.len();
    }
}

/// Asks for the keys of `source`; `answers` get whether each may be there.
pub(crate) struct ContainsBatch<'a, L, In> {
    pub(crate) lines: &'a [L],
    pub(crate) source: In,
    pub(crate) answers: &'a mut [bool],
}

impl<L: Line, In: Parted> Batch for ContainsBatch<'_, L, In> {
    #[inline(always)]
    fn run<V: Simd, D: Draw, const TWO: bool>(self, simd: V) {
        let Self { lines, source, answers } = self;
        ask_each(&IsThere::<V, D, TWO>(simd, PhantomData), lines, &source, answers);
    }
}

/// Whether a key is there.
struct IsThere<V, D, const TWO: bool>(V, PhantomData<D>);

impl<V: Simd, D: Draw, const TWO: bool, L: Line> LineQuestion<L> for IsThere<V, D, TWO> {
    const TWO: bool = TWO;
    type Answer = bool;

    #[inline(always)]
    fn ask(&self, lines: Regions<&[L]>, digest: u64) -> bool {
        contains_one::<V, D, TWO, L>(self.0, lines, digest)
    }

    #[inline(always)]
    fn ask_one(&self, lines: Regions<&[L]>, digest: u64) -> bool {
        contains_one::<V, D, false, L>(self.0, lines, digest)
    }

    #[inline(always)]
    fn is_open(answer: bool) -> bool {
        answer
    }

    #[inline(always)]
    fn of_both(_: bool, second: bool) -> bool {
        second
    }
}

/// Adds the keys of `source`; `answers` get whether each was new.
pub(crate) struct InsertBatch<'a, In, Out> {
    pub(crate) blocks: &'a mut [Block],
    pub(crate) source: In,
    pub(crate) answers: Out,
}

impl<In: Source, Out: Answers> Batch for InsertBatch<'_, In, Out> {
    #[inline(always)]
    fn run<V: Simd, D: Draw, const TWO: bool>(self, simd: V) {
        let pace = Pace::of(self.blocks.len(), TWO);
        let regions = Regions::new_mut(self.blocks, TWO);
        let mut step = InsertStep::<V, D, TWO, _> { simd, regions, answers: self.answers, draw: PhantomData };
        in_groups(&self.source, &mut step, pace);
    }
}

struct InsertStep<'a, V, D, const TWO: bool, Out> {
    simd: V,
    regions: Regions<&'a mut [Block]>,
    answers: Out,
    draw: PhantomData<D>,
}

impl<V: Simd, D: Draw, const TWO: bool, Out: Answers> Step for InsertStep<'_, V, D, TWO, Out> {
    #[inline(always)]
    fn prefetch(&self, digests: &[u64]) {
        for digest in digests {
            self.regions.shared().prefetch(TWO, *digest);
        }
    }

    #[inline(always)]
    fn probe(&mut self, from: usize, digests: &[u64]) {
        for (answer, digest) in self.answers.group(from, digests.len()).iter_mut().zip(digests) {
            *answer = insert_one::<V, D, TWO>(self.simd, &mut self.regions, *digest);
        }
    }
}

/// Adds the keys of `source` to shared blocks. With stripes, `answers` get whether each was new, which is so for
/// exactly one caller; without, nobody asks and nothing is locked: then they are [open](Stripes::open).
pub(crate) struct SharedBatch<'a, In, Out> {
    pub(crate) blocks: &'a [AtomicBlock],
    pub(crate) stripes: Option<&'a Stripes>,
    pub(crate) source: In,
    pub(crate) answers: Out,
}

impl<In: Source, Out: Answers> Batch for SharedBatch<'_, In, Out> {
    #[inline(always)]
    fn run<V: Simd, D: Draw, const TWO: bool>(self, simd: V) {
        let mut step = SharedStep::<V, D, TWO, _> {
            simd,
            regions: Regions::new(self.blocks, TWO),
            stripes: self.stripes,
            answers: self.answers,
            draw: PhantomData,
        };
        in_groups(&self.source, &mut step, Pace::of(self.blocks.len(), TWO));
    }
}

struct SharedStep<'a, V, D, const TWO: bool, Out> {
    simd: V,
    regions: Regions<&'a [AtomicBlock]>,
    stripes: Option<&'a Stripes>,
    answers: Out,
    draw: PhantomData<D>,
}

impl<V: Simd, D: Draw, const TWO: bool, Out: Answers> Step for SharedStep<'_, V, D, TWO, Out> {
    #[inline(always)]
    fn prefetch(&self, digests: &[u64]) {
        for digest in digests {
            self.regions.prefetch(TWO, *digest);
            // As likely as not the lock was last in another core's cache.
            if let Some(stripes) = self.stripes {
                prefetch_line(stripes.of(self.regions.first_place(*digest)));
                if TWO {
                    prefetch_line(stripes.of(self.regions.second_place(second_digest(*digest))));
                }
            }
        }
    }

    #[inline(always)]
    fn probe(&mut self, from: usize, digests: &[u64]) {
        for (answer, digest) in self.answers.group(from, digests.len()).iter_mut().zip(digests) {
            let target = SharedTarget::<V, D, TWO>::new(self.simd, self.regions, *digest);
            *answer = match self.stripes {
                Some(stripes) => target.insert(stripes),
                None => target.set(),
            };
        }
    }
}

/// Sets one line of every digest in a part of one region that starts at block `from`: the step of a bulk build.
#[cfg(feature = "std")]
pub(crate) struct FillPart<'a> {
    pub(crate) part: &'a mut [Block],
    pub(crate) from: usize,
    pub(crate) region_blocks: usize,
    pub(crate) digests: &'a [Digest],
    /// Lines that will be filled next. They come from memory while these are filled: in order, as a stream. By their own
    /// digests they would come as so many misses.
    pub(crate) coming: &'a [Block],
}

#[cfg(feature = "std")]
impl Batch for FillPart<'_> {
    #[inline(always)]
    fn run<V: Simd, D: Draw, const TWO: bool>(self, simd: V) {
        let mut coming = self.coming.iter();
        let pace = self.digests.len() / self.coming.len().max(1);
        if pace == 0 {
            // With fewer digests than lines, most lines would come in vain.
            coming = [].iter();
        }
        for digests in self.digests.chunks(pace.max(1)) {
            if let Some(line) = coming.next() {
                prefetch_line(line);
            }
            for digest in digests {
                let block = fast_range(digest.get(), self.region_blocks) - self.from;
                simd.insert::<D>(&mut self.part[block], digest.get());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Writes down what a batch does.
    #[derive(Default)]
    struct Record {
        prefetched: core::cell::RefCell<Vec<u64>>,
        probed: Vec<(usize, u64)>,
    }

    impl Step for Record {
        fn prefetch(&self, digests: &[u64]) {
            self.prefetched.borrow_mut().extend_from_slice(digests);
        }
        fn probe(&mut self, from: usize, digests: &[u64]) {
            self.probed.extend((from..).zip(digests.iter().copied()));
        }
    }

    #[test]
    fn answers_are_counted_beyond_a_byte() {
        for len in [0, 1, 254, 255, 256, 511, 10_000] {
            let answers: Vec<bool> = (0..len).map(|i| i % 7 != 3).collect();
            assert_eq!(count_true(&answers), answers.iter().filter(|answer| **answer).count());
            assert_eq!(count_true(&std::vec![true; len]), len);
        }
    }

    #[test]
    fn a_batch_of_any_length_keeps_its_order() {
        for len in [0, 1, GROUP - 1, GROUP, GROUP + 1, 2 * GROUP, 1000] {
            for (group, prefetch) in [(GROUP, false), (GROUP_FROM_MEMORY, true), (1, true)] {
                let digests: Vec<u64> = (0..len as u64).map(|i| i * 3).collect();
                let source: Vec<Digest> = digests.iter().map(|digest| Digest::new(*digest)).collect();
                let mut record = Record::default();
                in_groups(&&source[..], &mut record, Pace { group, prefetch });
                let expected: Vec<(usize, u64)> = digests.iter().copied().enumerate().collect();
                assert_eq!(record.probed, expected);
                assert_eq!(*record.prefetched.borrow(), if prefetch { digests } else { Vec::new() });
            }
        }
    }
}
