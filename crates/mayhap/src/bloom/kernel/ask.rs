//! Questions about many keys.
//!
//! Where a key has two lines, an absent one is nearly always told by its first line alone, and fetching the second takes half
//! of the time. For keys that are there, one line after the other takes longer than both at once. So such a batch is asked in
//! parts, and a part decides how the next one is asked: if most of its keys were there, both lines are fetched together, and
//! else the second for those keys only of which the first leaves the answer open.

use core::hint::black_box;

use super::batch::{GROUP, Pace, Parted, Step, in_groups};
use super::{Regions, second_digest};
use crate::bits::{Line, prefetch_line};

/// A question that is put to the lines of a key.
pub(crate) trait LineQuestion<L> {
    /// Whether a key has two lines.
    const TWO: bool;
    type Answer: Copy;
    /// Asks all lines of a key.
    fn ask(&self, lines: Regions<&[L]>, digest: u64) -> Self::Answer;
    /// Asks one of two; `lines` is one region.
    fn ask_one(&self, lines: Regions<&[L]>, digest: u64) -> Self::Answer;
    /// Whether a first line with this answer leaves it to the second.
    fn is_open(answer: Self::Answer) -> bool;
    /// The answer of both lines, where the first left it open.
    fn of_both(first: Self::Answer, second: Self::Answer) -> Self::Answer;
}

/// Asks for every key of `source`, fetching lines before they are looked at.
#[inline(always)]
pub(crate) fn ask_each<L: Line, Q: LineQuestion<L>>(
    question: &Q,
    lines: &[L],
    source: &impl Parted,
    answers: &mut [Q::Answer],
) {
    let (pace, lines) = (Pace::of(lines.len(), Q::TWO), Regions::new(lines, Q::TWO));
    if Q::TWO && pace.prefetches() {
        ask_two_lines(question, lines, source, answers, pace);
    } else {
        in_groups(source, &mut AtOnce { question, lines, answers }, pace);
    }
}

/// All lines of a key at once.
struct AtOnce<'a, L, Q: LineQuestion<L>> {
    question: &'a Q,
    lines: Regions<&'a [L]>,
    answers: &'a mut [Q::Answer],
}

impl<L: Line, Q: LineQuestion<L>> Step for AtOnce<'_, L, Q> {
    #[inline(always)]
    fn prefetch(&self, digests: &[u64]) {
        for digest in digests {
            self.lines.prefetch(Q::TWO, *digest);
        }
    }

    #[inline(always)]
    fn probe(&mut self, from: usize, digests: &[u64]) {
        for (answer, digest) in self.answers[from..from + digests.len()].iter_mut().zip(digests) {
            *answer = self.question.ask(self.lines, *digest);
        }
    }
}

/// Keys in the first part of a batch, and in the others: a few to learn from, and then so many that it doesn't matter that lines
/// are waited for at the beginning of each.
const FIRST_PART: usize = 64;
const PART: usize = 512;

#[inline(always)]
fn ask_two_lines<L: Line, Q: LineQuestion<L>>(
    question: &Q,
    lines: Regions<&[L]>,
    source: &impl Parted,
    answers: &mut [Q::Answer],
    pace: Pace,
) {
    // The compiler must not know this number. It would unroll a loop of twelve, and hash key by key what it hashes eight at a
    // time otherwise: hits took 14 % longer.
    let pace = pace.with_keys(black_box(pace.keys()));
    let (mut from, mut most_are_there) = (0, true);
    while from < source.len() {
        let left = source.len() - from;
        let len = if left <= 2 * FIRST_PART {
            left
        } else if from == 0 {
            FIRST_PART
        } else {
            left.min(PART)
        };
        let source = source.part(from..from + len);
        let answers = &mut answers[from..from + len];
        if most_are_there {
            in_groups(&source, &mut AtOnce { question, lines, answers: &mut *answers }, pace);
        } else {
            let [first, second] = lines.halves();
            let open = Open { numbers: [0; GROUP], digests: [0; GROUP], len: 0 };
            let mut step = OneByOne { question, first, second, answers: &mut *answers, open };
            in_groups(&source, &mut step, pace.with_keys(GROUP));
            step.ask_second_lines();
        }
        from += len;
        if len < left {
            most_are_there = 2 * answers.iter().filter(|answer| Q::is_open(**answer)).count() > len;
        }
    }
}

/// The first line, and the second where it has a say.
struct OneByOne<'a, L, Q: LineQuestion<L>> {
    question: &'a Q,
    first: Regions<&'a [L]>,
    second: Regions<&'a [L]>,
    answers: &'a mut [Q::Answer],
    open: Open,
}

/// The keys of the last group whose first line left the answer open. Their second lines are on their way.
struct Open {
    /// Their numbers.
    numbers: [usize; GROUP],
    /// Their digests for the second line.
    digests: [u64; GROUP],
    len: usize,
}

impl<L: Line, Q: LineQuestion<L>> OneByOne<'_, L, Q> {
    #[inline(always)]
    fn ask_second_lines(&mut self) {
        let Self { question, second, answers, open, .. } = self;
        let len = open.len.min(GROUP);
        for (number, digest) in open.numbers[..len].iter().zip(&open.digests[..len]) {
            let answer = &mut answers[*number];
            *answer = Q::of_both(*answer, question.ask_one(*second, *digest));
        }
    }
}

impl<L: Line, Q: LineQuestion<L>> Step for OneByOne<'_, L, Q> {
    #[inline(always)]
    fn prefetch(&self, digests: &[u64]) {
        for digest in digests {
            prefetch_line(self.first.first(*digest));
        }
    }

    #[inline(always)]
    fn probe(&mut self, from: usize, digests: &[u64]) {
        self.ask_second_lines();
        let Self { question, first, second, answers, open } = self;
        let mut len = 0;
        for (number, (answer, digest)) in
            answers[from..from + digests.len()].iter_mut().zip(digests).enumerate()
        {
            *answer = question.ask_one(*first, *digest);
            // Without a branch, which nobody could predict: written always, and kept if it is needed.
            open.numbers[len % GROUP] = number;
            len += usize::from(Q::is_open(*answer));
        }
        open.len = len;
        let len = len.min(GROUP);
        for (number, open) in open.numbers[..len].iter_mut().zip(&mut open.digests) {
            *open = second_digest(digests[*number]);
            *number += from;
            prefetch_line(second.first(*open));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bloom::{BloomFilter, Shape};
    use crate::counting::{CounterShape, CounterWidth, CountingBloom};
    use std::vec::Vec;

    /// Keys below it are there.
    const THERE: u64 = 30_000;

    /// Present and absent keys: either alone, by turns, and in runs that change in the middle of a part and of a group.
    fn batches() -> Vec<Vec<u64>> {
        let patterns: [fn(u64) -> bool; 8] = [
            |_| true,
            |_| false,
            |i| i % 2 == 0,
            |i| i % 7 == 0,
            |i| i < FIRST_PART as u64,
            |i| i >= FIRST_PART as u64,
            |i| i / 100 % 2 == 0,
            |i| i / 1_000 % 2 == 1,
        ];
        let part = FIRST_PART + PART;
        let lengths = [0, 1, 31, FIRST_PART, 2 * FIRST_PART, 2 * FIRST_PART + 1, part, part + 33, 5_000];
        let keys = |is_there: fn(u64) -> bool, len: usize| {
            (0..len as u64).map(|i| if is_there(i) { i * 7 % THERE } else { THERE + i }).collect()
        };
        patterns.iter().flat_map(|pattern| lengths.map(|len| keys(*pattern, len))).collect()
    }

    #[test]
    fn a_batch_of_two_lines_has_the_answers_of_single_calls() {
        let mut bloom =
            BloomFilter::builder().keys(THERE).shape(Shape::SixteenTwoLines).bytes(300_000).build().unwrap();
        let counting = CountingBloom::builder().keys(THERE).rate(0.01).width(CounterWidth::Sixteen);
        let mut counting = counting.build().unwrap();
        assert_eq!(counting.layout().shape, CounterShape::EightTwoLines);
        assert!(bloom.len_bytes().min(counting.len_bytes()) > 256 << 10, "lines are fetched");
        // Far more than they were made for, so that many absent keys are told by their second line only.
        let others = 1 << 40;
        bloom.extend((0..THERE).chain(others..others + 5 * THERE));
        // Some twice, one at a time, which no batch has a part in.
        for key in (0..THERE).chain(0..THERE / 3).chain(others..others + THERE) {
            counting.insert(&key);
        }
        for keys in batches() {
            let (mut found, mut counts) = (std::vec![false; keys.len()], std::vec![0; keys.len()]);
            bloom.contains_each(&keys, &mut found);
            assert!(found.iter().copied().eq(keys.iter().map(|key| bloom.contains(key))));
            counting.contains_each(&keys, &mut found);
            assert!(found.iter().copied().eq(keys.iter().map(|key| counting.contains(key))));
            counting.count_each(&keys, &mut counts);
            assert!(counts.iter().copied().eq(keys.iter().map(|key| counting.count(key))));
        }
    }
}
