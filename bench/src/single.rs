//! One thread, one kind of key, one filter size, one rate: everybody in turn.

use foldhash::fast::FixedState;
use serde_json::{Value, json};

use crate::contestants::{
    BloomFilterCrate, Contestant, ExactSet, FastBloomAtomic, FastBloomDefault, FastBloomFold, Growable,
    ParquetSbbf, SbbfRs, Xxh3, YARDSTICK,
};
use crate::keys::{self, BenchKey, Streams, UrlArena};
use crate::limits::LineArray;
use crate::measure::{Sample, Times, Workload, median, run};
use crate::ours::{Batches, Bloom, Calls};
use crate::report::{self, Report};
use crate::{Failure, Settings, verdict};

/// How a contestant is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Peer,
    Calls,
    Batches,
    PortableCalls,
    PortableBatches,
}

/// What the keys are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Integers,
    Urls,
}

impl KeyKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Integers => "u64",
            Self::Urls => "URLs of 20–40 bytes",
        }
    }
}

/// A contestant that can be run.
struct Entrant<K> {
    name: &'static str,
    role: Role,
    run: fn(&Workload<'_, K>, u64) -> Result<Sample, Failure>,
}

fn entrant<K: BenchKey, C: Contestant<K>>(role: Role) -> Entrant<K> {
    Entrant { name: C::NAME, role, run: run::<K, C> }
}

fn everybody<K: BenchKey>() -> Vec<Entrant<K>> {
    vec![
        entrant::<K, FastBloomDefault>(Role::Peer),
        entrant::<K, FastBloomAtomic>(Role::Peer),
        entrant::<K, BloomFilterCrate<K>>(Role::Peer),
        entrant::<K, Growable>(Role::Peer),
        entrant::<K, SbbfRs<Xxh3>>(Role::Peer),
        entrant::<K, SbbfRs<FixedState>>(Role::Peer),
        entrant::<K, ParquetSbbf>(Role::Peer),
        entrant::<K, ExactSet<K>>(Role::Peer),
        // The yardstick runs right before ours, while the clock is the same.
        entrant::<K, FastBloomFold>(Role::Peer),
        entrant::<K, Calls<Bloom<false>>>(Role::Calls),
        entrant::<K, Batches<Bloom<false>>>(Role::Batches),
        entrant::<K, Calls<Bloom<true>>>(Role::PortableCalls),
        entrant::<K, Batches<Bloom<true>>>(Role::PortableBatches),
    ]
}

/// What one contestant has done in all the rounds.
pub(crate) struct Standing {
    pub(crate) name: &'static str,
    pub(crate) role: Role,
    /// Of insert, hit, miss.
    pub(crate) times: Times<3>,
    pub(crate) bits_per_key: f64,
    pub(crate) false_positives: u64,
    pub(crate) absent_asked: u64,
}

pub(crate) const OPERATIONS: [&str; 3] = ["insert", "hit", "miss"];

impl Standing {
    fn of(name: &'static str, role: Role, samples: &[Sample]) -> Self {
        let middle = |time: fn(&Sample) -> f64| median(&samples.iter().map(time).collect::<Vec<_>>());
        Self {
            name,
            role,
            times: Times::of_rounds(samples.iter().map(|s| [s.insert_ns, s.hit_ns, s.miss_ns])),
            bits_per_key: middle(|s| s.bits_per_key),
            false_positives: samples.iter().map(|s| s.false_positives).sum(),
            absent_asked: samples.iter().map(|s| s.absent_asked).sum(),
        }
    }

    /// The measured rate, pooled over the rounds (each with another seed, where the filter takes one).
    pub(crate) fn rate(&self) -> f64 {
        self.false_positives as f64 / self.absent_asked as f64
    }
}

/// The random-line limit, in nanoseconds.
pub(crate) struct Limit {
    pub(crate) bytes: f64,
    pub(crate) small_pages: f64,
    pub(crate) huge_pages: f64,
}

/// What was run, for the report and the verdict.
#[derive(Clone, Copy)]
pub(crate) struct Cell {
    pub(crate) kind: KeyKind,
    pub(crate) n: usize,
    pub(crate) p: f64,
}

/// Runs the cells of one filter size, one report for each rate. The keys are made once.
pub(crate) fn run_size(kind: KeyKind, n: usize, settings: &Settings) -> Result<Vec<Report>, Failure> {
    eprintln!("{} keys ({}): making them", report::count(n), kind.name());
    // Addresses for the limit come from integers whatever the keys are.
    let addresses = keys::integers(Streams::of::<u64>(n, settings).misses());
    match kind {
        KeyKind::Integers => {
            let streams = Streams::of::<u64>(n, settings);
            let (inserted, hits) = (keys::integers(streams.inserted()), keys::integers(streams.hits()));
            run_rates(kind, n, &inserted, &hits, &addresses, &addresses, settings)
        }
        KeyKind::Urls => {
            let streams = Streams::of::<&str>(n, settings);
            let arenas = [
                UrlArena::of(streams.inserted()),
                UrlArena::of(streams.hits()),
                UrlArena::of(streams.misses()),
            ];
            let [inserted, hits, misses] = arenas.each_ref().map(UrlArena::urls);
            run_rates(kind, n, &inserted, &hits, &misses, &addresses, settings)
        }
    }
}

fn run_rates<K: BenchKey>(
    kind: KeyKind,
    n: usize,
    inserted: &[K],
    hits: &[K],
    misses: &[K],
    addresses: &[u64],
    settings: &Settings,
) -> Result<Vec<Report>, Failure> {
    let rates = settings.rates.iter();
    let run_rate = |&p: &f64| {
        let work = Workload { n, p, inserted, hits, misses };
        run_cell(Cell { kind, n, p }, &work, addresses, settings)
    };
    rates.map(run_rate).collect()
}

fn run_cell<K: BenchKey>(
    cell: Cell,
    work: &Workload<'_, K>,
    addresses: &[u64],
    settings: &Settings,
) -> Result<Report, Failure> {
    let mut entrants = everybody::<K>();
    entrants.retain(|entrant| settings.admits(entrant.name));
    let rounds = settings.rounds_of(cell.n);
    let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); entrants.len()];
    let mut limits = [Vec::new(), Vec::new()];
    let mut bytes = 0;
    for round in 0..rounds {
        eprintln!("  {}, round {} of {rounds}", report::rate(cell.p), round + 1);
        for (entrant, samples) in entrants.iter().zip(&mut samples) {
            samples.push((entrant.run)(work, 0x5eed + round as u64)?);
        }
        let ours = entrants.iter().zip(&samples).find(|(entrant, _)| entrant.role != Role::Peer);
        bytes = limit_bytes(cell.n, cell.p, ours.map(|(_, samples)| samples[0].bits_per_key));
        for (huge_pages, limits) in [false, true].into_iter().zip(&mut limits) {
            limits.push(LineArray::new(bytes, huge_pages)?.random_read_ns(addresses));
        }
    }
    let standings: Vec<Standing> = entrants
        .iter()
        .zip(&samples)
        .map(|(entrant, samples)| Standing::of(entrant.name, entrant.role, samples))
        .collect();
    let limit =
        Limit { bytes: bytes as f64, small_pages: median(&limits[0]), huge_pages: median(&limits[1]) };
    let named = entrants.iter().map(|entrant| entrant.name).zip(&samples);
    let contestants: Vec<Value> = named.map(|(name, samples)| samples_json(name, samples)).collect();
    let json = json!({
        "keys": cell.kind.name(), "n": cell.n, "p": cell.p, "rounds": rounds, "contestants": contestants,
        "random_line_ns": {"bytes": limit.bytes, "small_pages": limits[0], "huge_pages": limits[1]},
    });
    Ok(table(cell, rounds, &standings, &limit, json))
}

/// The size of the array for the limit: that of our filter, or about that when ours doesn't run.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive number of bytes")]
pub(crate) fn limit_bytes(n: usize, p: f64, our_bits_per_key: Option<f64>) -> u64 {
    let bits_per_key = our_bits_per_key.unwrap_or(textbook_bits_per_key(p) * 1.05);
    (n as f64 * bits_per_key / 8.0) as u64
}

/// Bits per key of a classic Bloom filter with the best number of hashes: log2(1/p) / ln 2.
pub(crate) fn textbook_bits_per_key(p: f64) -> f64 {
    -p.log2() / std::f64::consts::LN_2
}

fn table(cell: Cell, rounds: usize, standings: &[Standing], limit: &Limit, json: Value) -> Report {
    let yardstick = standings.iter().find(|standing| standing.name == YARDSTICK);
    let mut rows: Vec<Vec<String>> = standings
        .iter()
        .map(|standing| {
            let mut row = vec![String::from(standing.name)];
            row.push(format!("{:.2}", standing.bits_per_key));
            row.push(report::percent(standing.rate()));
            row.extend(standing.times.medians().map(report::nanoseconds));
            let ratio = |operation| {
                yardstick.map_or(f64::NAN, |yardstick| standing.times.ratio(&yardstick.times, operation))
            };
            row.extend([0, 1, 2].map(ratio).map(report::ratio));
            row
        })
        .collect();
    for (name, time) in [("4 KiB", limit.small_pages), ("huge", limit.huge_pages)] {
        let mut row = vec![format!("*limit: one random line, {name} pages*")];
        row.extend(["–", "–", "–"].map(String::from));
        row.extend([report::nanoseconds(time), report::nanoseconds(time)]);
        row.extend(["–", "–", "–"].map(String::from));
        rows.push(row);
    }
    let mut notes = vec![format!(
        "Medians of {rounds} interleaved rounds, CPU time; ratios against {YARDSTICK} in the same round; rates \
         on {} absent keys. Textbook: {:.2} bits per key. The limit reads from {}.",
        report::count(standings.first().map_or(0, |s| usize::try_from(s.absent_asked).unwrap_or(0))),
        textbook_bits_per_key(cell.p),
        report::bytes(limit.bytes),
    )];
    notes.extend(verdict::of(cell, standings, limit));
    Report {
        title: format!("{} keys ({}), {}", report::count(cell.n), cell.kind.name(), report::rate(cell.p)),
        header: vec!["filter", "bits/key", "rate", "insert ns", "hit ns", "miss ns", "insert", "hit", "miss"],
        rows,
        notes,
        json,
    }
}

fn samples_json(name: &str, samples: &[Sample]) -> Value {
    let all = |value: fn(&Sample) -> f64| samples.iter().map(value).collect::<Vec<_>>();
    json!({
        "name": name,
        "bits_per_key": samples.first().map(|sample| sample.bits_per_key),
        "insert_ns": all(|s| s.insert_ns), "hit_ns": all(|s| s.hit_ns), "miss_ns": all(|s| s.miss_ns),
        "false_positives": samples.iter().map(|s| s.false_positives).sum::<u64>(),
        "absent_asked": samples.iter().map(|s| s.absent_asked).sum::<u64>(),
    })
}
