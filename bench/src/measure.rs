//! Clocks and the timed loops.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

use crate::Failure;
use crate::contestants::Contestant;
use crate::keys::{BenchKey, fetch};

/// The CPU time of this thread in nanoseconds: what other processes take from a busy machine isn't in it.
pub(crate) fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec on this stack. The call can't fail for this clock on Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Runs `work` and returns its answer and the thread's CPU time for it.
///
/// The answer goes through one `black_box`, outside of the loop it sums up: inside, it would forbid what a
/// user's loop allows.
#[inline(always)]
pub(crate) fn cpu_time<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let start = thread_cpu_ns();
    let answer = black_box(work());
    (answer, thread_cpu_ns() - start)
}

/// The median; the mean of the middle two for an even number. NaN for none.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => sorted[length / 2],
        length => f64::midpoint(sorted[length / 2 - 1], sorted[length / 2]),
    }
}

/// What `N` operations took, in nanoseconds: a value for each round.
///
/// The clock of a shared machine wanders by a fifth within seconds, so two contestants are compared round by
/// round, where they ran right after each other, and not by their medians.
#[derive(Clone, Debug)]
pub(crate) struct Times<const N: usize>([Vec<f64>; N]);

impl<const N: usize> Times<N> {
    /// From a value of each operation for each round; NaN for what a contestant doesn't do.
    pub(crate) fn of_rounds(rounds: impl IntoIterator<Item = [f64; N]>) -> Self {
        let rounds: Vec<[f64; N]> = rounds.into_iter().collect();
        Self(std::array::from_fn(|operation| rounds.iter().map(|times| times[operation]).collect()))
    }

    pub(crate) fn median(&self, operation: usize) -> f64 {
        median(&self.0[operation])
    }

    pub(crate) fn medians(&self) -> [f64; N] {
        self.0.each_ref().map(|rounds| median(rounds))
    }

    /// How many times as fast as `other`: the median of the quotients of each round.
    pub(crate) fn ratio(&self, other: &Self, operation: usize) -> f64 {
        paired_ratio(&other.0[operation], &self.0[operation])
    }

    /// How many times as long one operation takes as another of the same contestant.
    pub(crate) fn cost_ratio(&self, operation: usize, basis: usize) -> f64 {
        paired_ratio(&self.0[operation], &self.0[basis])
    }
}

/// The median of the quotients of values that were measured in the same round.
pub(crate) fn paired_ratio(dividends: &[f64], divisors: &[f64]) -> f64 {
    median(&dividends.iter().zip(divisors).map(|(dividend, divisor)| dividend / divisor).collect::<Vec<_>>())
}

/// One filter size, one rate, one kind of key.
pub(crate) struct Workload<'a, K> {
    /// The keys of a filter.
    pub(crate) n: usize,
    pub(crate) p: f64,
    /// `n` keys for each of several filters. Small filters are built more than once, each from other keys.
    pub(crate) inserted: &'a [K],
    /// Random draws from the last `n` of `inserted`.
    pub(crate) hits: &'a [K],
    /// Distinct keys that are in none.
    pub(crate) misses: &'a [K],
}

/// What one contestant did in one round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) insert_ns: f64,
    pub(crate) hit_ns: f64,
    pub(crate) miss_ns: f64,
    pub(crate) bits_per_key: f64,
    pub(crate) false_positives: u64,
    pub(crate) absent_asked: u64,
}

/// Builds, asks for present keys, asks for absent ones; CPU time of this thread.
pub(crate) fn run<K: BenchKey, C: Contestant<K>>(
    work: &Workload<'_, K>,
    seed: u64,
) -> Result<Sample, Failure> {
    let mut insert_total = 0;
    let mut last = None;
    for keys in work.inserted.chunks_exact(work.n) {
        drop(last.take());
        let mut filter = C::new(work.n, work.p, seed)?;
        fetch(keys);
        let (_, time) = cpu_time(|| insert_loop(&mut filter, keys));
        insert_total += time;
        last = Some(filter);
    }
    let filter = last.ok_or("a workload has at least one filter of keys")?;
    let insert_ns = insert_total as f64 / work.inserted.len() as f64;
    let (sample, found) = ask(&filter, insert_ns, work.n, work.hits, work.misses);
    all_found::<K, C>(found, work.hits.len())?;
    Ok(sample)
}

/// Asks for present keys and for absent ones; also tells how many of the present ones were found.
pub(crate) fn ask<K: BenchKey, C: Contestant<K>>(
    filter: &C,
    insert_ns: f64,
    held: usize,
    hits: &[K],
    misses: &[K],
) -> (Sample, u64) {
    fetch(hits);
    let (found, hit_time) = cpu_time(|| ask_loop(filter, hits));
    fetch(misses);
    let (false_positives, miss_time) = cpu_time(|| ask_loop(filter, misses));
    let sample = Sample {
        insert_ns,
        hit_ns: hit_time as f64 / hits.len() as f64,
        miss_ns: miss_time as f64 / misses.len() as f64,
        bits_per_key: filter.bits() as f64 / held as f64,
        false_positives,
        absent_asked: misses.len() as u64,
    };
    (sample, found)
}

fn all_found<K, C: Contestant<K>>(found: u64, asked: usize) -> Result<(), Failure> {
    let lost = || format!("{} lost keys: found {found} of {asked}", C::NAME).into();
    if found == asked as u64 { Ok(()) } else { Err(lost()) }
}

// Functions of their own, so that one contestant's loop can't disturb how another's is compiled.

#[inline(never)]
fn insert_loop<K, C: Contestant<K>>(filter: &mut C, keys: &[K]) -> u64 {
    filter.insert_all(keys)
}

#[inline(never)]
pub(crate) fn ask_loop<K, C: Contestant<K>>(filter: &C, keys: &[K]) -> u64 {
    filter.count_present(keys)
}

/// Splits `keys` over `threads` threads that start together, and returns the sum of their answers and the
/// wall time.
pub(crate) fn on_threads<K: Sync>(
    threads: usize,
    keys: &[K],
    work: impl Fn(&[K]) -> u64 + Sync,
) -> Result<(u64, f64), Failure> {
    let start_line = Barrier::new(threads);
    let (start_line, work) = (&start_line, &work);
    std::thread::scope(|scope| {
        let runners: Vec<_> = keys
            .chunks(keys.len().div_ceil(threads))
            .map(|share| {
                scope.spawn(move || {
                    start_line.wait();
                    let start = Instant::now();
                    let answer = black_box(work(share));
                    (answer, start, Instant::now())
                })
            })
            .collect();
        let mut answers = 0;
        let mut first_start: Option<Instant> = None;
        let mut last_end: Option<Instant> = None;
        for runner in runners {
            let (answer, start, end) = runner.join().map_err(|_| "a thread of the benchmark panicked")?;
            answers += answer;
            first_start = Some(first_start.map_or(start, |first| first.min(start)));
            last_end = Some(last_end.map_or(end, |last| last.max(end)));
        }
        let wall = match (first_start, last_end) {
            (Some(start), Some(end)) => (end - start).as_nanos() as f64,
            _ => f64::NAN,
        };
        Ok((answers, wall))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_and_even() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-12);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn ratios_are_of_the_same_round() {
        // The clock halves after the second round; one is twice as fast as the other throughout.
        let quick = Times::of_rounds([[1.0], [1.0], [2.0]]);
        let slow = Times::of_rounds([[2.0], [2.0], [4.0]]);
        assert!((quick.ratio(&slow, 0) - 2.0).abs() < 1e-12);
        assert!((slow.ratio(&quick, 0) - 0.5).abs() < 1e-12);
        assert!((slow.median(0) - 2.0).abs() < 1e-12);
        let both = Times::of_rounds([[3.0, 2.0], [6.0, 4.0]]);
        assert!((both.cost_ratio(0, 1) - 1.5).abs() < 1e-12);
        assert_eq!(both.medians(), [4.5, 3.0]);
    }

    #[test]
    fn threads_share_all_the_keys() {
        let keys: Vec<u64> = (0..1001).collect();
        let (sum, wall) = on_threads(2, &keys, |share| share.iter().sum()).expect("no thread panics");
        assert_eq!(sum, 500_500);
        assert!(wall > 0.0);
    }
}
