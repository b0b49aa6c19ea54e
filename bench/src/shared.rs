//! One filter, two threads.

use std::hash::Hash;

use serde_json::{Value, json};

use crate::contestants::{Contestant, FastBloomAtomic};
use crate::keys::{self, BenchKey};
use crate::limits::LineArray;
use crate::measure::{Times, median, on_threads};
use crate::report::{self, Report};
use crate::single::limit_bytes;
use crate::{Failure, Settings, ours};

pub(crate) const THREADS: usize = 2;

/// A filter that several threads fill and ask at once.
pub(crate) trait SharedContestant<K>: Sized + Sync {
    const NAME: &'static str;
    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure>;
    /// Inserts every key and counts the answers "new", where there are any.
    fn insert_all(&self, keys: &[K]) -> u64;
    fn count_present(&self, keys: &[K]) -> u64;
    fn bits(&self) -> u64;
}

impl<K: Hash> SharedContestant<K> for FastBloomAtomic {
    const NAME: &'static str = <Self as Contestant<K>>::NAME;

    fn new(n: usize, p: f64, seed: u64) -> Result<Self, Failure> {
        <Self as Contestant<K>>::new(n, p, seed)
    }

    fn insert_all(&self, keys: &[K]) -> u64 {
        keys.iter().map(|key| u64::from(!self.0.insert(key))).sum()
    }

    fn count_present(&self, keys: &[K]) -> u64 {
        keys.iter().map(|key| u64::from(self.0.contains(key))).sum()
    }

    fn bits(&self) -> u64 {
        Contestant::<K>::bits(self)
    }
}

/// Wall nanoseconds per key, both threads together.
#[derive(Clone, Copy)]
struct Sample {
    times: [f64; 3],
    bits_per_key: f64,
    rate: f64,
}

struct Entrant<K> {
    name: &'static str,
    run: fn(&Work<'_, K>, u64) -> Result<Sample, Failure>,
}

struct Work<'a, K> {
    p: f64,
    inserted: &'a [K],
    hits: &'a [K],
    misses: &'a [K],
}

fn entrant<K: Sync, C: SharedContestant<K>>() -> Entrant<K> {
    Entrant { name: C::NAME, run: run_one::<K, C> }
}

fn everybody<K: BenchKey>() -> Vec<Entrant<K>> {
    vec![
        entrant::<K, FastBloomAtomic>(),
        entrant::<K, ours::SharedCalls>(),
        entrant::<K, ours::SharedBatches>(),
        entrant::<K, ours::SharedSets>(),
    ]
}

fn run_one<K: Sync, C: SharedContestant<K>>(work: &Work<'_, K>, seed: u64) -> Result<Sample, Failure> {
    let filter = C::new(work.inserted.len(), work.p, seed)?;
    let (_, insert) = on_threads(THREADS, work.inserted, |keys| filter.insert_all(keys))?;
    let (found, hit) = on_threads(THREADS, work.hits, |keys| filter.count_present(keys))?;
    if found != work.hits.len() as u64 {
        return Err(format!("{} lost keys: found {found} of {}", C::NAME, work.hits.len()).into());
    }
    let (false_positives, miss) = on_threads(THREADS, work.misses, |keys| filter.count_present(keys))?;
    Ok(Sample {
        times: [
            insert / work.inserted.len() as f64,
            hit / work.hits.len() as f64,
            miss / work.misses.len() as f64,
        ],
        bits_per_key: filter.bits() as f64 / work.inserted.len() as f64,
        rate: false_positives as f64 / work.misses.len() as f64,
    })
}

/// Fills a filter of `n` keys from two threads and asks it from two threads.
pub(crate) fn run(n: usize, settings: &Settings) -> Result<Vec<Report>, Failure> {
    let questions = settings.questions.unwrap_or(20_000_000);
    eprintln!("shared filter, {} keys: making them", report::count(n));
    let inserted = keys::integers(keys::present(0, n));
    let hits = keys::integers(keys::asked(0, n, questions));
    let misses = keys::integers(keys::absent(questions));
    let run_rate =
        |&p: &f64| run_cell(&Work { p, inserted: &inserted, hits: &hits, misses: &misses }, settings);
    settings.rates.iter().map(run_rate).collect()
}

fn run_cell(work: &Work<'_, u64>, settings: &Settings) -> Result<Report, Failure> {
    let n = work.inserted.len();
    let rounds = settings.rounds.unwrap_or(5);
    let mut entrants = everybody::<u64>();
    entrants.retain(|entrant| settings.admits(entrant.name));
    let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); entrants.len()];
    let mut limits = Vec::new();
    for round in 0..rounds {
        eprintln!("  {}, round {} of {rounds}", report::rate(work.p), round + 1);
        for (entrant, samples) in entrants.iter().zip(&mut samples) {
            samples.push((entrant.run)(work, 0x5eed + round as u64)?);
        }
        let array = LineArray::new(limit_bytes(n, work.p, None), true)?;
        limits.push(array.random_read_ns_on_threads(work.misses, THREADS)?);
    }

    let middle = |samples: &[Sample], value: &dyn Fn(&Sample) -> f64| {
        median(&samples.iter().map(value).collect::<Vec<_>>())
    };
    let times = |samples: &[Sample]| Times::of_rounds(samples.iter().map(|sample| sample.times));
    let peer_name = <FastBloomAtomic as Contestant<u64>>::NAME;
    let peer = entrants.iter().zip(&samples).find(|(entrant, _)| entrant.name == peer_name);
    let peer_times = peer.map(|(_, samples)| times(samples));
    let mut rows = Vec::new();
    let mut json_rows: Vec<Value> = Vec::new();
    for (entrant, samples) in entrants.iter().zip(&samples) {
        let times = times(samples);
        let mut row = vec![String::from(entrant.name)];
        row.push(format!("{:.2}", middle(samples, &|s| s.bits_per_key)));
        row.push(report::percent(middle(samples, &|s| s.rate)));
        row.extend(times.medians().map(report::nanoseconds));
        let ratio = |operation| peer_times.as_ref().map_or(f64::NAN, |peer| times.ratio(peer, operation));
        row.extend([0, 1, 2].map(ratio).map(report::ratio));
        rows.push(row);
        json_rows.push(json!({"name": entrant.name,
            "insert_hit_miss_ns": samples.iter().map(|sample| sample.times).collect::<Vec<_>>()}));
    }
    let limit = report::nanoseconds(median(&limits));
    let mut row = vec![String::from("*limit: one random line, huge pages, both threads*")];
    row.extend(["–", "–", "–", &limit, &limit, "–", "–", "–"].map(String::from));
    rows.push(row);
    Ok(Report {
        title: format!(
            "Shared by {THREADS} threads: {} u64 keys, {}",
            report::count(n),
            report::rate(work.p)
        ),
        header: vec!["filter", "bits/key", "rate", "insert ns", "hit ns", "miss ns", "insert", "hit", "miss"],
        rows,
        notes: vec![format!(
            "Medians of {rounds} interleaved rounds; wall time over all the keys of both threads; ratios \
             against {peer_name} in the same round. Target: 3x in batches."
        )],
        json: json!({
            "cell": "shared", "n": n, "p": work.p, "contestants": json_rows, "random_line_ns": limits,
        }),
    })
}
