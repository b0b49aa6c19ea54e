//! Counting Bloom filters against the one everybody would write, and against those of other crates.

use std::collections::hash_map::RandomState;

use foldhash::fast::FixedState;
use serde_json::json;

use crate::contestants::{BloomCounting, Bloomcraft, Contestant, FastBloomRs, NaiveCounting, Rustywallet};
use crate::ours::{Batches, Calls, Counting};
use crate::removing::{DELETE, Entrant, HIT, INSERT, IntegerKeys, MISS, Race, Standing, entrant, race};
use crate::report::{self, Report};
use crate::single::Role;
use crate::{Failure, Settings};

/// Our target against every peer, for everything a filter does.
const LEAST_RATIO: f64 = 3.0;

/// From here on only 4-bit counters run: the others do the same in twice and four times the memory.
const NARROW_ONLY: usize = 20_000_000;

fn everybody(n: usize) -> Vec<Entrant> {
    let mut entrants = vec![
        entrant::<NaiveCounting<0>>(Role::Peer),
        entrant::<NaiveCounting<4, true>>(Role::Peer),
        entrant::<NaiveCounting<4, false, 4, RandomState>>(Role::Peer),
        entrant::<BloomCounting<RandomState>>(Role::Peer),
        entrant::<BloomCounting<FixedState>>(Role::Peer),
        entrant::<FastBloomRs>(Role::Peer),
        entrant::<Bloomcraft<u64>>(Role::Peer),
        entrant::<Rustywallet>(Role::Peer),
        // The yardstick of each width runs right before ours, while the clock is the same.
        entrant::<NaiveCounting<4>>(Role::Peer),
        entrant::<Calls<Counting<4>>>(Role::Calls),
        entrant::<Batches<Counting<4>>>(Role::Batches),
    ];
    if n < NARROW_ONLY {
        entrants.extend([
            entrant::<NaiveCounting<4, false, 8, RandomState>>(Role::Peer),
            entrant::<NaiveCounting<4, false, 8>>(Role::Peer),
            entrant::<Calls<Counting<8>>>(Role::Calls),
            entrant::<Batches<Counting<8>>>(Role::Batches),
            entrant::<NaiveCounting<4, false, 16, RandomState>>(Role::Peer),
            entrant::<NaiveCounting<4, false, 16>>(Role::Peer),
            entrant::<Calls<Counting<16>>>(Role::Calls),
            entrant::<Batches<Counting<16>>>(Role::Batches),
        ]);
    }
    entrants
}

/// Fills a filter of `n` keys, asks it, and takes keys out again; one report for each rate.
pub(crate) fn run(n: usize, settings: &Settings) -> Result<Vec<Report>, Failure> {
    eprintln!("counting filters, {} keys: making them", report::count(n));
    let keys = IntegerKeys::make(n, settings);
    let run_rate = |&p: &f64| Ok(table(n, p, &race(everybody(n), &keys.workload(p), settings)?));
    settings.rates.iter().map(run_rate).collect()
}

/// The naive filters of four counters, one for each width.
const YARDSTICKS: [&str; 3] = [
    <NaiveCounting<4> as Contestant<u64>>::NAME,
    <NaiveCounting<4, false, 8> as Contestant<u64>>::NAME,
    <NaiveCounting<4, false, 16> as Contestant<u64>>::NAME,
];

/// Bits of a contestant's counters; four where its name doesn't say.
fn width(standing: &Standing) -> u32 {
    [8, 16].into_iter().find(|bits| standing.name.contains(&format!(" {bits}-bit"))).unwrap_or(4)
}

fn table(n: usize, p: f64, race: &Race) -> Report {
    let equal_widths = |a: &Standing, b: &Standing| width(a) == width(b);
    let yardstick = |standing| {
        let mut naive = race.standings.iter().filter(|naive| YARDSTICKS.contains(&naive.name));
        naive.find(|naive| equal_widths(naive, standing))
    };
    let rows = race.standings.iter().map(|standing| row(standing, yardstick(standing))).collect();
    let mut notes = vec![
        race.method(),
        String::from(
            "Ratios against the naive filter of four counters of the same width, 4 bits where none is said.",
        ),
    ];
    notes.extend(race.targets(LEAST_RATIO, &OPERATIONS, equal_widths));
    notes.extend(race.deletes_against_hits(|_| true));
    notes.extend(race.faster_peers(equal_widths));
    notes.extend(race.promises(p));
    notes.extend(race.accidents(n));
    Report {
        title: format!("Counting Bloom filters: {} u64 keys, {}", report::count(n), report::rate(p)),
        header: vec![
            "filter",
            "bits/key",
            "rate",
            "insert ns",
            "hit ns",
            "miss ns",
            "delete ns",
            "insert",
            "hit",
            "miss",
            "delete",
        ],
        rows,
        notes,
        json: json!({"cell": "counting", "n": n, "p": p, "rounds": race.rounds, "contestants": race.json}),
    }
}

const OPERATIONS: [usize; 4] = [INSERT, HIT, MISS, DELETE];

fn row(standing: &Standing, yardstick: Option<&Standing>) -> Vec<String> {
    let mut row = vec![
        String::from(standing.name),
        format!("{:.2}", standing.bits_per_key),
        report::percent(standing.rate()),
    ];
    row.extend(OPERATIONS.map(|operation| report::nanoseconds(standing.times.median(operation))));
    row.extend(OPERATIONS.map(|operation| {
        report::ratio(
            yardstick.map_or(f64::NAN, |yardstick| standing.times.ratio(&yardstick.times, operation)),
        )
    }));
    row
}
