//! Every kind that can delete, in one table for each rate: what it costs in memory and time, and what happens
//! when it is full.

use serde_json::json;

use crate::contestants::{ExactMap, ExactSet};
use crate::ours::{
    Batches, Bloom, Calls, Counting, Cuckoo, CuckooByHand, DLeft, DualForHalf, GrowingCuckoo, RemovingSetup,
};
use crate::removing::{
    DELETE, Entrant, HIT, INSERT, IntegerKeys, MISS, Race, Standing, entrant, entrant_that_keeps_all, race,
};
use crate::report::{self, Report};
use crate::single::Role;
use crate::{Failure, Settings};

/// The rate at which buckets chosen by hand run too.
const BY_HAND: f64 = 0.01;

fn both<S: RemovingSetup>() -> [Entrant; 2] {
    [entrant::<Calls<S>>(Role::Calls), entrant::<Batches<S>>(Role::Batches)]
}

fn everybody(p: f64) -> Vec<Entrant> {
    const CANNOT: &str = "rate rises; can't delete";
    let mut entrants = vec![
        entrant_that_keeps_all::<Calls<Bloom<false>>>(Role::Calls, CANNOT),
        entrant_that_keeps_all::<Batches<Bloom<false>>>(Role::Batches, CANNOT),
    ];
    entrants.extend(both::<Counting<4>>());
    entrants.extend(both::<Counting<8>>());
    entrants.extend(both::<Counting<16>>());
    entrants.extend(both::<DualForHalf>());
    entrants.extend(both::<DLeft>());
    entrants.extend(both::<Cuckoo>());
    if (p - BY_HAND).abs() < 1e-9 {
        entrants.extend(both::<CuckooByHand<2, false>>());
        entrants.extend(both::<CuckooByHand<4, false>>());
        entrants.extend(both::<CuckooByHand<4, true>>());
        entrants.extend(both::<CuckooByHand<8, false>>());
    }
    entrants.extend(both::<GrowingCuckoo<1>>());
    entrants.extend(both::<GrowingCuckoo<100>>());
    entrants.push(entrant::<ExactSet<u64>>(Role::Peer));
    entrants.push(entrant::<ExactMap<u64>>(Role::Peer));
    entrants
}

/// Fills filters of `n` keys, asks them, and takes half of the keys out again; two reports for each rate, one
/// key per call and in batches.
pub(crate) fn run(n: usize, settings: &Settings) -> Result<Vec<Report>, Failure> {
    eprintln!("deletable filters, {} keys: making them", report::count(n));
    let keys = IntegerKeys::make(n, settings);
    let mut reports = Vec::new();
    for &p in &settings.rates {
        let race = race(everybody(p), &keys.workload(p), settings)?;
        reports.extend([Role::Calls, Role::Batches].map(|role| table(n, p, role, &race)));
    }
    Ok(reports)
}

fn table(n: usize, p: f64, role: Role, race: &Race) -> Report {
    let mut notes = Vec::new();
    let (way, json) = if role == Role::Calls {
        notes.push(race.method());
        notes.extend(race.promises(p));
        notes.extend(race.accidents(n));
        notes.extend(d_left_against_counting(race));
        ("one key per call", json!({"n": n, "p": p, "rounds": race.rounds, "contestants": race.json}))
    } else {
        notes.push(String::from("From the same rounds as the table before."));
        ("batches of 1024", json!({"samples": "with those of the cell before"}))
    };
    notes.extend(race.deletes_against_hits(|standing| standing.role == role));
    let shown = race.standings.iter().filter(|standing| [role, Role::Peer].contains(&standing.role));
    Report {
        title: format!("Filters that delete: {} u64 keys, {}, {way}", report::count(n), report::rate(p)),
        header: vec![
            "filter",
            "bits/key",
            "rate",
            "insert ns",
            "hit ns",
            "miss ns",
            "delete ns",
            "when full",
        ],
        rows: shown.map(|standing| row(standing, role)).collect(),
        notes,
        json: json!({"cell": "deletable", "way": way, "race": json}),
    }
}

/// How the names of a way's contestants end.
fn suffix(role: Role) -> &'static str {
    if role == Role::Batches { ", batches" } else { ", per call" }
}

fn row(standing: &Standing, role: Role) -> Vec<String> {
    let name = standing.name.strip_suffix(suffix(role)).unwrap_or(standing.name);
    let mut row = vec![
        String::from(if name == "mayhap" { "mayhap BloomFilter" } else { name }),
        format!("{:.2}", standing.bits_per_key),
        report::percent(standing.rate()),
    ];
    row.extend(
        [INSERT, HIT, MISS, DELETE].map(|operation| report::nanoseconds(standing.times.median(operation))),
    );
    row.push(String::from(standing.when_full));
    row
}

/// The promise of the d-left filter: half the memory of 4-bit counters.
fn d_left_against_counting(race: &Race) -> Option<String> {
    let bits = |name: &str| {
        let found = race.standings.iter().find(|standing| standing.name.contains(name));
        found.map(|standing| standing.bits_per_key)
    };
    let share = bits("DLeftCounting")? / bits("CountingBloom 4-bit")?;
    let outcome = if share <= 0.5 { "met" } else { "MISSED" };
    Some(format!("DLeftCounting in half of the memory of 4-bit counters: {outcome} ({share:.3})."))
}
