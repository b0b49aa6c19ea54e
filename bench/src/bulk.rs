//! Building a large filter from digests that are all there: partitioned and parallel, against batches in
//! order.

use std::time::Instant;

use mayhap::{BloomFilter, Digest};
use serde_json::{Value, json};

use crate::measure::median;
use crate::ours::BATCH;
use crate::report::{self, Report};
use crate::{Failure, Settings, keys};

type Build = fn(&mut BloomFilter, &[Digest]);

const WAYS: [(&str, Build); 3] = [
    ("batches of 1024, one thread", in_batches),
    ("bulk, one thread", |filter, digests| filter.insert_bulk(digests, 1)),
    ("bulk, two threads", |filter, digests| filter.insert_bulk(digests, 2)),
];

fn in_batches(filter: &mut BloomFilter, digests: &[Digest]) {
    let mut new = [false; BATCH];
    for batch in digests.chunks(BATCH) {
        filter.insert_hashes(batch, &mut new[..batch.len()]);
    }
}

/// Builds a filter of `n` digests in each way; wall time of the build, without the hashing.
pub(crate) fn run(n: usize, settings: &Settings) -> Result<Vec<Report>, Failure> {
    settings.rates.iter().map(|&p| run_cell(n, p, settings)).collect()
}

fn run_cell(n: usize, p: f64, settings: &Settings) -> Result<Report, Failure> {
    eprintln!("bulk build, {} keys at {}", report::count(n), report::rate(p));
    let empty = BloomFilter::with_rate(n as u64, p)?;
    let digests: Vec<Digest> =
        keys::integers(keys::present(0, n)).iter().map(|key| empty.hash(key)).collect();
    let rounds = settings.rounds.unwrap_or(5);
    let mut times = [const { Vec::new() }; WAYS.len()];
    let mut fills = Vec::new();
    for round in 0..rounds {
        eprintln!("  round {} of {rounds}", round + 1);
        for ((_, build), times) in WAYS.iter().zip(&mut times) {
            let mut filter = empty.empty_like()?;
            // Touches the pages, so that each way is timed on memory the system has already handed over.
            filter.clear();
            let start = Instant::now();
            build(&mut filter, &digests);
            times.push(start.elapsed().as_nanos() as f64 / n as f64);
            fills.push(filter.fill_ratio());
        }
    }
    if fills.iter().any(|fill| fill.to_bits() != fills[0].to_bits()) {
        return Err(format!("the ways of building don't set the same bits: fill {fills:?}").into());
    }
    let medians = times.each_ref().map(|times| median(times));
    let rows = WAYS.iter().zip(medians).map(|((name, _), time)| {
        vec![String::from(*name), report::nanoseconds(time), report::ratio(medians[0] / time)]
    });
    let samples: Vec<Value> =
        WAYS.iter().zip(&times).map(|((name, _), times)| json!({"name": name, "ns": times})).collect();
    Ok(Report {
        title: format!("Bulk build: {} digests, {}", report::count(n), report::rate(p)),
        header: vec!["way", "ns per key", "ratio"],
        rows: rows.collect(),
        notes: vec![format!(
            "Medians of {rounds} interleaved rounds, wall time, from digests, into a fresh filter \
             whose pages have been touched. Target: 2x with two threads."
        )],
        json: json!({"cell": "bulk", "n": n, "p": p, "ways": samples}),
    })
}
