//! One filter at every size, from the innermost cache to beyond 2³³ bits: what an operation costs.

mod plot;

use std::fs;
use std::path::Path;

use mayhap::BloomFilter;
use serde_json::json;

use crate::keys::{self, mix};
use crate::limits::LineArray;
use crate::measure::{cpu_time, median};
use crate::report::{self, Report};
use crate::{Failure, Settings};

/// Keys made, and then handed over, at a time: making them is not what is measured.
const CHUNK: usize = 1 << 16;
/// Keys asked for in a round.
const QUESTIONS: usize = 4_000_000;
/// Keys inserted in a round, at least; smaller filters are built several times.
const INSERTS: usize = 2_000_000;

/// The costs at one size, in nanoseconds of CPU time for a key.
#[derive(Clone, Copy, Debug)]
struct Costs {
    keys: usize,
    bits: f64,
    insert: f64,
    hit: f64,
    miss: f64,
    /// Reading one random line of an array as large.
    limit: f64,
    /// The part of the absent keys that were found.
    rate: f64,
}

/// Sizes from 10 000 to `largest`, two or three to a power of ten, and the two beside 2³² bits.
pub(crate) fn run(largest: usize, settings: &Settings, svg: Option<&Path>) -> Result<Report, Failure> {
    let rate = settings.rates.first().copied().unwrap_or(0.001);
    let mut all = Vec::new();
    for keys in sizes(largest, rate)? {
        eprintln!("sizes: {} keys", report::count(keys));
        all.push(measure(keys, rate, settings)?);
    }
    if let Some(path) = svg {
        fs::write(path, plot::draw(&all, rate))?;
    }
    let rows = all.iter().map(|costs| {
        let mut row = vec![report::count(costs.keys), format!("2^{:.1}", costs.bits.log2())];
        row.extend([costs.insert, costs.hit, costs.miss, costs.limit].map(report::nanoseconds));
        row.push(report::percent(costs.rate));
        row
    });
    let samples: Vec<_> = all
        .iter()
        .map(|costs| {
            json!({"keys": costs.keys, "bits": costs.bits, "insert_ns": costs.insert, "hit_ns": costs.hit,
                   "miss_ns": costs.miss, "random_line_ns": costs.limit, "rate": costs.rate})
        })
        .collect();
    Ok(Report {
        title: format!("sizes: BloomFilter at {}, u64 keys in batches", report::percent(rate)),
        header: vec!["keys", "bits", "insert ns", "hit ns", "miss ns", "random line ns", "measured rate"],
        rows: rows.collect(),
        notes: vec![String::from(
            "CPU time for a key, median of the rounds (9; 3 from 50M keys on, inserts once). The random line is the \
             machine's own limit: an array as large as the filter, on the same pages.",
        )],
        json: json!({"cell": "sizes", "rate": rate, "sizes": samples}),
    })
}

fn sizes(largest: usize, rate: f64) -> Result<Vec<usize>, Failure> {
    let steps = (0..).map(|step: u32| [1, 2, 5][step as usize % 3] * 10_usize.pow(4 + step / 3));
    let mut sizes: Vec<usize> = steps.take_while(|&keys| keys <= largest).collect();
    // Just below and just above 2^32 bits, where filters that count in 32 bits break.
    let bits_per_key = mayhap::sizing::BlockedPlan::for_rate(1_000_000_000, rate)?.bits_per_key();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some hundred million")]
    let at_border = (2f64.powi(32) / bits_per_key) as usize;
    sizes.extend([at_border / 100 * 99, at_border / 100 * 101].into_iter().filter(|&keys| keys <= largest));
    sizes.sort_unstable();
    Ok(sizes)
}

fn measure(keys: usize, rate: f64, settings: &Settings) -> Result<Costs, Failure> {
    let rounds = settings.rounds.unwrap_or(if keys >= 50_000_000 { 3 } else { 9 });
    // Large filters are filled once: that alone takes minutes.
    let fillings = if keys >= 50_000_000 { 1 } else { rounds };
    let mut inserts = Vec::new();
    let mut filter = BloomFilter::with_rate(keys as u64, rate)?;
    for _ in 0..fillings {
        let mut nanoseconds = 0;
        let repeats = (INSERTS / keys).max(1);
        for _ in 0..repeats {
            filter.clear();
            nanoseconds += fill(&mut filter, keys);
        }
        inserts.push(nanoseconds as f64 / (keys * repeats) as f64);
    }
    let questions = settings.questions.unwrap_or(QUESTIONS);
    let present = keys::integers(keys::asked(0, keys, questions));
    let absent = keys::integers(keys::absent(questions));
    let lines = LineArray::new(filter.len_bytes(), true)?;
    let (mut hits, mut misses, mut limits, mut wrong) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for _ in 0..rounds {
        let (found, hit) = ask(&filter, &present);
        if found != questions {
            return Err(format!("{} of {questions} present keys are not found", questions - found).into());
        }
        let (found, miss) = ask(&filter, &absent);
        wrong = found;
        hits.push(hit);
        misses.push(miss);
        limits.push(lines.random_read_ns(&absent));
    }
    Ok(Costs {
        keys,
        bits: filter.len_bytes() as f64 * 8.0,
        insert: median(&inserts),
        hit: median(&hits),
        miss: median(&misses),
        limit: median(&limits),
        rate: wrong as f64 / questions as f64,
    })
}

/// Fills the filter, and returns the nanoseconds that took.
fn fill(filter: &mut BloomFilter, keys: usize) -> u64 {
    let (mut chunk, mut new) = (vec![0u64; CHUNK], vec![false; CHUNK]);
    let mut nanoseconds = 0;
    for first in (0..keys).step_by(CHUNK) {
        let count = CHUNK.min(keys - first);
        for (place, key) in chunk[..count].iter_mut().enumerate() {
            *key = mix((first + place) as u64);
        }
        nanoseconds += cpu_time(|| filter.insert_each(&chunk[..count], &mut new[..count])).1;
    }
    nanoseconds
}

/// How many of the keys are found, and nanoseconds for each.
fn ask(filter: &BloomFilter, keys: &[u64]) -> (usize, f64) {
    let mut found = vec![false; CHUNK];
    let (mut count, mut nanoseconds) = (0, 0);
    for keys in keys.chunks(CHUNK) {
        let found = &mut found[..keys.len()];
        nanoseconds += cpu_time(|| filter.contains_each(keys, found)).1;
        count += found.iter().filter(|found| **found).count();
    }
    (count, nanoseconds as f64 / keys.len() as f64)
}
