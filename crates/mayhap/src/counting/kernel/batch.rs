//! What is done with many keys at once, at the pace of the blocked filter's batches.

use core::marker::PhantomData;

use super::one::{Change, Question};
use super::{Layout, Simd};
use crate::bits::{Block, Line};
use crate::bloom::kernel::{Answers, LineQuestion, Pace, Parted, Regions, Source, Step, ask_each, in_groups};

/// A batch, to be compiled for each [`Simd`] and each layout.
pub(in crate::counting) trait Batch {
    fn run<V: Simd, C: Layout>(self, simd: V);
}

/// Asks a question about each key of `source`.
pub(in crate::counting) struct AskBatch<'a, L, In, Q: Question> {
    pub(in crate::counting) lines: &'a [L],
    pub(in crate::counting) source: In,
    pub(in crate::counting) answers: &'a mut [Q::Answer],
}

impl<L: Line, In: Parted, Q: Question> Batch for AskBatch<'_, L, In, Q> {
    #[inline(always)]
    fn run<V: Simd, C: Layout>(self, simd: V) {
        let Self { lines, source, answers } = self;
        ask_each(&OfLines::<V, C, Q>(simd, PhantomData), lines, &source, answers);
    }
}

/// A question, put to the lines of a key.
struct OfLines<V, C, Q>(V, PhantomData<(C, Q)>);

impl<V: Simd, C: Layout, L: Line, Q: Question> LineQuestion<L> for OfLines<V, C, Q> {
    const TWO: bool = C::TWO;
    type Answer = Q::Answer;

    #[inline(always)]
    fn ask(&self, lines: Regions<&[L]>, digest: u64) -> Q::Answer {
        Q::ask::<V, C, L>(self.0, lines, digest)
    }

    #[inline(always)]
    fn ask_one(&self, lines: Regions<&[L]>, digest: u64) -> Q::Answer {
        Q::ask::<V, C::OneLine, L>(self.0, lines, digest)
    }

    #[inline(always)]
    fn is_open(answer: Q::Answer) -> bool {
        answer > Q::Answer::default()
    }

    #[inline(always)]
    fn of_both(first: Q::Answer, second: Q::Answer) -> Q::Answer {
        first.min(second)
    }
}

/// Makes a change for each key of `source`.
pub(in crate::counting) struct ApplyBatch<'a, In, Out, H> {
    blocks: &'a mut [Block],
    source: In,
    answers: Out,
    change: PhantomData<H>,
}

impl<'a, In, Out, H> ApplyBatch<'a, In, Out, H> {
    pub(in crate::counting) fn new(blocks: &'a mut [Block], source: In, answers: Out, _: H) -> Self {
        Self { blocks, source, answers, change: PhantomData }
    }
}

impl<In: Source, Out: Answers, H: Change> Batch for ApplyBatch<'_, In, Out, H> {
    #[inline(always)]
    fn run<V: Simd, C: Layout>(mut self, simd: V) {
        if let Some(usual) = H::USUAL {
            self.answers.fill(usual);
        }
        let pace = Pace::of(self.blocks.len(), C::TWO);
        let regions = Regions::new_mut(self.blocks, C::TWO);
        let mut step = Applying::<V, C, Out, H> {
            simd,
            regions,
            answers: self.answers,
            layout: PhantomData,
            change: PhantomData,
        };
        in_groups(&self.source, &mut step, pace);
    }
}

struct Applying<'a, V, C, Out, H> {
    simd: V,
    regions: Regions<&'a mut [Block]>,
    answers: Out,
    layout: PhantomData<C>,
    change: PhantomData<H>,
}

impl<V: Simd, C: Layout, Out: Answers, H: Change> Step for Applying<'_, V, C, Out, H> {
    #[inline(always)]
    fn prefetch(&self, digests: &[u64]) {
        for digest in digests {
            self.regions.shared().prefetch(C::TWO, *digest);
        }
    }

    #[inline(always)]
    fn probe(&mut self, from: usize, digests: &[u64]) {
        for (answer, digest) in self.answers.group(from, digests.len()).iter_mut().zip(digests) {
            let given = H::apply::<V, C>(self.simd, &mut self.regions, *digest);
            if H::USUAL != Some(given) {
                *answer = given;
            }
        }
    }
}
