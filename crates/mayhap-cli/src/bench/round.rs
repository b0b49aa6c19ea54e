//! One round of one kind: build, ask for what is there, ask for what isn't, remove a little.

use std::hint::black_box;
use std::time::{Duration, Instant};

use mayhap::Digest;

use super::contestant::{Contestant, Kind};
use crate::failure::Failure;
use crate::measure::mix;

/// What a round is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub(super) keys: u64,
    pub(super) rate: f64,
    /// Every round has other keys.
    pub(super) round: u64,
}

/// What one round found out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figures {
    pub(super) insert: Pair,
    pub(super) hit: Pair,
    pub(super) miss: Pair,
    pub(super) remove: Option<Pair>,
    pub(super) bytes: u64,
    pub(super) asked: u64,
    pub(super) false_positives: u64,
}

/// Nanoseconds for a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) in_batches: f64,
    pub(super) one_by_one: f64,
}

/// Keys in a batch.
pub(super) const BATCH: usize = 1024;

/// While a filter is built, one batch in so many is added key by key. Large filters are built mostly in batches: it
/// takes long enough.
const ONE_BY_ONE_OF_INSERTS: u64 = 8;

/// Questions of each sort in a round.
const LEAST_QUESTIONS: u64 = 200_000;
const MOST_QUESTIONS: u64 = 2_000_000;

/// The part of the keys that is removed: a dual filter has room for one in ten.
const REMOVED_SHARE: u64 = 20;

/// Keys of a round are numbered from its own multiple of this; absent ones from far above.
const ROUND_KEYS: u64 = 1 << 40;
const ABSENT: u64 = 1 << 60;

/// Runs a round.
pub(super) fn run<C: Contestant>(kind: Kind, work: Work) -> Result<Figures, Failure> {
    let Work { keys, rate, round } = work;
    let mut filter = C::make(keys, rate)?;
    let first = round * ROUND_KEYS;
    let questions = keys.clamp(LEAST_QUESTIONS, MOST_QUESTIONS);
    let mut desk = Desk::default();

    let mut insert = Clock::default();
    let refused = |error: &dyn std::fmt::Display| {
        Failure::Message(format!("{} refused a key within its plan: {error}", kind.label()))
    };
    for (turn, numbers) in batches(keys) {
        desk.lay(numbers.map(|number| mix(first + number)));
        if turn % ONE_BY_ONE_OF_INSERTS == 1 {
            insert.one_by_one(&desk.keys, |keys| {
                keys.iter().try_for_each(|key| {
                    let digest = filter.hash_bytes(&key.to_le_bytes());
                    filter.insert_hash(digest).map(|_| ())
                })
            })
        } else {
            insert.in_batches(&desk.keys, |keys| {
                let digests = hash_all(&filter, keys, &mut desk.digests);
                filter.insert_hashes(digests, &mut desk.answers[..keys.len()])
            })
        }
        .map_err(|error| refused(&error))?;
    }

    let mut hit = Clock::default();
    // Drawn at random, because the order of insertion is the order of nothing else.
    let found = ask(&filter, &mut hit, &mut desk, questions, |question| {
        mix(first + multiply_high(mix(!question), keys))
    });
    if found != questions {
        return Err(Failure::Message(format!(
            "{} lost {} of {questions} keys, which must not be: please report it",
            kind.label(),
            questions - found
        )));
    }
    let mut miss = Clock::default();
    let false_positives =
        ask(&filter, &mut miss, &mut desk, questions, |question| mix(ABSENT + first + question));

    let mut remove = Clock::default();
    if C::REMOVES {
        for (turn, numbers) in batches((keys / REMOVED_SHARE).max(2 * BATCH as u64).min(keys / 10)) {
            desk.lay(numbers.map(|number| mix(first + number)));
            if turn % 2 == 1 {
                remove.one_by_one(&desk.keys, |keys| {
                    for key in keys {
                        let digest = filter.hash_bytes(&key.to_le_bytes());
                        black_box(filter.take(digest));
                    }
                });
            } else {
                remove.in_batches(&desk.keys, |keys| {
                    let digests = hash_all(&filter, keys, &mut desk.digests);
                    filter.take_many(digests, &mut desk.answers[..keys.len()]);
                });
            }
        }
    }
    Ok(Figures {
        insert: insert.pair(),
        hit: hit.pair(),
        miss: miss.pair(),
        remove: C::REMOVES.then(|| remove.pair()),
        bytes: filter.len_bytes(),
        asked: questions,
        false_positives,
    })
}

/// Asks `questions` keys, every other batch key by key, and tells how many were found.
fn ask<C: Contestant>(
    filter: &C,
    clock: &mut Clock,
    desk: &mut Desk,
    questions: u64,
    key: impl Fn(u64) -> u64,
) -> u64 {
    let mut found = 0;
    for (turn, numbers) in batches(questions) {
        desk.lay(numbers.map(&key));
        found += if turn % 2 == 1 {
            clock.one_by_one(&desk.keys, |keys| {
                let is_there = |key: &u64| filter.contains_hash(filter.hash_bytes(&key.to_le_bytes()));
                keys.iter().filter(|key| is_there(key)).count() as u64
            })
        } else {
            clock.in_batches(&desk.keys, |keys| {
                let digests = hash_all(filter, keys, &mut desk.digests);
                let answers = &mut desk.answers[..keys.len()];
                filter.contains_hashes(digests, answers);
                answers.iter().filter(|found| **found).count() as u64
            })
        };
    }
    found
}

fn hash_all<'a, C: Contestant>(filter: &C, keys: &[u64], digests: &'a mut [Digest]) -> &'a [Digest] {
    let digests = &mut digests[..keys.len()];
    for (digest, key) in digests.iter_mut().zip(keys) {
        *digest = filter.hash_bytes(&key.to_le_bytes());
    }
    digests
}

/// The numbers from 0 to `count`, a batch at a time, each with its turn.
fn batches(count: u64) -> impl Iterator<Item = (u64, std::ops::Range<u64>)> {
    let size = BATCH as u64;
    (0..count.div_ceil(size)).map(move |turn| (turn, turn * size..((turn + 1) * size).min(count)))
}

/// Where keys lie while they are asked: made before the clock runs.
#[derive(Debug)]
struct Desk {
    keys: Vec<u64>,
    digests: Vec<Digest>,
    answers: Vec<bool>,
}

impl Default for Desk {
    fn default() -> Self {
        Self {
            keys: Vec::with_capacity(BATCH),
            digests: vec![Digest::new(0); BATCH],
            answers: vec![false; BATCH],
        }
    }
}

impl Desk {
    fn lay(&mut self, keys: impl Iterator<Item = u64>) {
        self.keys.clear();
        self.keys.extend(keys);
    }
}

/// Time and keys, both ways.
#[derive(Debug, Default)]
struct Clock {
    in_batches: (Duration, u64),
    one_by_one: (Duration, u64),
}

impl Clock {
    fn in_batches<T>(&mut self, keys: &[u64], work: impl FnOnce(&[u64]) -> T) -> T {
        timed(&mut self.in_batches, keys, work)
    }

    fn one_by_one<T>(&mut self, keys: &[u64], work: impl FnOnce(&[u64]) -> T) -> T {
        timed(&mut self.one_by_one, keys, work)
    }

    fn pair(&self) -> Pair {
        let each = |(time, keys): (Duration, u64)| time.as_secs_f64() * 1e9 / keys as f64;
        Pair { in_batches: each(self.in_batches), one_by_one: each(self.one_by_one) }
    }
}

#[inline(always)]
fn timed<T>(total: &mut (Duration, u64), keys: &[u64], work: impl FnOnce(&[u64]) -> T) -> T {
    let start = Instant::now();
    let answer = black_box(work(black_box(keys)));
    total.0 += start.elapsed();
    total.1 += keys.len() as u64;
    answer
}

/// The upper half of the product: maps a random number evenly to `0..range`.
#[inline]
pub(super) fn multiply_high(word: u64, range: u64) -> u64 {
    #[allow(clippy::cast_possible_truncation, reason = "the upper half of 128 bits has 64")]
    let upper = ((u128::from(word) * u128::from(range)) >> 64) as u64;
    upper
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_keeps_its_promise_and_every_clock_runs() {
        for kind in Kind::ALL {
            let figures = kind.measure(Work { keys: 20_000, rate: 0.01, round: 3 }).unwrap();
            let rate = figures.false_positives as f64 / figures.asked as f64;
            // Six standard deviations of 200 000 questions.
            assert!(rate < 0.01 + 0.0014, "{kind:?}: {rate}");
            for pair in [Some(figures.insert), Some(figures.hit), Some(figures.miss), figures.remove] {
                let Some(pair) = pair else { continue };
                assert!(pair.in_batches > 0.0 && pair.one_by_one > 0.0, "{kind:?}: {figures:?}");
            }
            let removes = [Kind::Counting, Kind::Dual, Kind::DLeft, Kind::Cuckoo, Kind::ScalableCuckoo];
            assert_eq!(figures.remove.is_some(), removes.contains(&kind));
        }
    }

    #[test]
    fn batches_cover_all_numbers() {
        let numbers: Vec<u64> = batches(2_500).flat_map(|(_, numbers)| numbers).collect();
        assert!(numbers.into_iter().eq(0..2_500));
    }
}
