//! Cuckoo filters at the same load: 16-bit fingerprints in buckets of four, 95 % of the slots in use.

use serde_json::json;

use crate::contestants::{
    CuckooFilterCrate, Fold, FoldTwice, PdatastructsCuckoo, ProbabilisticCuckoo, ScalableCuckooCrate, Sip,
};
use crate::ours::{Batches, Calls, Cuckoo16};
use crate::removing::{
    DELETE, Entrant, HIT, INSERT, IntegerKeys, LATE_INSERT, MISS, Race, Standing, entrant, race,
};
use crate::report::{self, Report};
use crate::single::Role;
use crate::{Failure, Settings};

/// Our target against every peer, for inserts up to half of the slots, hits and misses.
const LEAST_RATIO: f64 = 2.0;

/// From here on the peer that allocates for every slot it looks at stays away: it would take most of the time.
const TOO_MANY_FOR_THE_SLOWEST: usize = 20_000_000;

/// What eight 16-bit fingerprints give. Nobody is built by it: the fingerprints are given.
const RATE: f64 = 8.0 / 65_536.0;

fn everybody(n: usize) -> Vec<Entrant> {
    let mut entrants = vec![
        entrant::<CuckooFilterCrate<Sip>>(Role::Peer),
        entrant::<CuckooFilterCrate<Fold>>(Role::Peer),
        entrant::<CuckooFilterCrate<FoldTwice>>(Role::Peer),
        entrant::<ScalableCuckooCrate<u64, Sip>>(Role::Peer),
        entrant::<ScalableCuckooCrate<u64, Fold>>(Role::Peer),
        entrant::<PdatastructsCuckoo<u64>>(Role::Peer),
        entrant::<Calls<Cuckoo16>>(Role::Calls),
        entrant::<Batches<Cuckoo16>>(Role::Batches),
    ];
    if n < TOO_MANY_FOR_THE_SLOWEST {
        entrants.push(entrant::<ProbabilisticCuckoo<u64>>(Role::Peer));
    }
    entrants
}

/// Fills a filter of `n` keys, asks it, and takes keys out again.
pub(crate) fn run(n: usize, settings: &Settings) -> Result<Vec<Report>, Failure> {
    eprintln!("cuckoo filters, {} keys: making them", report::count(n));
    let keys = IntegerKeys::make(n, settings);
    let race = race(everybody(n), &keys.workload(RATE), settings)?;
    Ok(vec![table(n, &race)])
}

fn table(n: usize, race: &Race) -> Report {
    let mut notes = vec![
        race.method(),
        String::from(
            "Inserts are timed up to half of each filter's own slots, and from there to the last key. Other \
             crates have a power of two of slots, the smallest that holds the keys; cuckoofilter has 8-bit \
             fingerprints, so that its memory is ours with twice the slots.",
        ),
    ];
    if n >= TOO_MANY_FOR_THE_SLOWEST {
        notes.push(String::from(
            "probabilistic-collections stays away: it allocates for every slot it looks at.",
        ));
    }
    notes.extend(race.targets(LEAST_RATIO, &[INSERT, HIT, MISS], |_, _| true));
    notes.extend(race.deletes_against_hits(|_| true));
    notes.extend(race.faster_peers(|_, _| true));
    notes.extend(race.accidents(n));
    Report {
        title: format!("Cuckoo filters: {} u64 keys, 16-bit fingerprints", report::count(n)),
        header: vec![
            "filter",
            "load",
            "bits/slot",
            "bits/key",
            "rate",
            "insert to half ns",
            "insert above half ns",
            "hit ns",
            "miss ns",
            "delete ns",
        ],
        rows: race.standings.iter().map(row).collect(),
        notes,
        json: json!({"cell": "cuckoo", "n": n, "rounds": race.rounds, "contestants": race.json}),
    }
}

fn row(standing: &Standing) -> Vec<String> {
    let mut row = vec![
        String::from(standing.name),
        report::percent(standing.load()),
        format!("{:.2}", standing.bits_per_slot),
        format!("{:.2}", standing.bits_per_key),
        report::percent(standing.rate()),
    ];
    let times = [INSERT, LATE_INSERT, HIT, MISS, DELETE].map(|operation| standing.times.median(operation));
    row.extend(times.map(report::nanoseconds));
    row
}
