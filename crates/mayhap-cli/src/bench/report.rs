//! The figures, for people and for programs.

use serde_json::{Value, json};

use super::contestant::Kind;
use super::round::{BATCH, Figures, Pair};
use crate::columns::{paragraph, table};
use crate::measure::median;
use crate::numbers::{format_count, format_rate, format_size, group_digits};

/// Everything that was measured.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) rate: f64,
    pub(super) memory: u64,
    pub(super) results: Vec<Results>,
}

/// One size.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) keys: u64,
    pub(super) rounds: u64,
    /// What the last of them took.
    pub(super) round_seconds: f64,
    /// A sample for each round.
    pub(super) kinds: Vec<(Kind, Vec<Figures>)>,
    /// The array of which random lines were read, and what that took in each round.
    pub(super) limit_bytes: u64,
    pub(super) limits: Vec<f64>,
}

/// Medians over the rounds.
struct Standing {
    insert: Pair,
    hit: Pair,
    miss: Pair,
    remove: Option<Pair>,
    bytes: u64,
    measured_rate: f64,
    asked: u64,
}

impl Standing {
    fn of(samples: &[Figures]) -> Self {
        let pair = |get: fn(&Figures) -> Option<Pair>| {
            let of =
                |part: fn(Pair) -> f64| median(&samples.iter().filter_map(get).map(part).collect::<Vec<_>>());
            Pair { in_batches: of(|pair| pair.in_batches), one_by_one: of(|pair| pair.one_by_one) }
        };
        let sum = |get: fn(&Figures) -> u64| samples.iter().map(get).sum::<u64>();
        let asked = sum(|figures| figures.asked);
        Self {
            insert: pair(|figures| Some(figures.insert)),
            hit: pair(|figures| Some(figures.hit)),
            miss: pair(|figures| Some(figures.miss)),
            remove: samples
                .iter()
                .any(|figures| figures.remove.is_some())
                .then(|| pair(|figures| figures.remove)),
            bytes: samples.first().map_or(0, |figures| figures.bytes),
            measured_rate: sum(|figures| figures.false_positives) as f64 / asked as f64,
            asked,
        }
    }
}

const COLUMNS: usize = 8;
const HEADER: [&str; COLUMNS] =
    ["", "insert", "hit", "miss", "delete", "memory", "bits per key", "measured rate"];

impl Report {
    /// A table for each size.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for results in &self.results {
            text += &format!(
                "{} keys at {}; {}\n\n{}\n",
                format_count(results.keys),
                format_rate(self.rate),
                if results.rounds == 1 { "1 round".to_owned() } else { format!("{} rounds", results.rounds) },
                results.table()
            );
        }
        let asked = self
            .results
            .iter()
            .flat_map(|results| &results.kinds)
            .map(|(_, samples)| samples.iter().map(|figures| figures.asked).sum::<u64>());
        let notes = [
            format!(
                "Nanoseconds for a key, in batches of {BATCH} / one by one, on one core; hashing included. Medians over the \
                 rounds."
            ),
            "The limit is one random line of memory at a time; batches can go below it, because they ask for many at once."
                .to_owned(),
            format!(
                "Rates were measured on at least {} keys that were never added. At most {} of memory, one filter at a time.",
                group_digits(asked.min().unwrap_or(0)),
                format_size(self.memory)
            ),
        ];
        text += &notes.map(|note| paragraph(&note)).concat();
        text
    }

    /// The same as JSON.
    pub(super) fn json(&self) -> String {
        let report = json!({
            "planned_rate": self.rate,
            "memory_limit_bytes": self.memory,
            "batch_keys": BATCH,
            "sizes": self.results.iter().map(Results::json).collect::<Vec<_>>(),
        });
        format!("{report:#}\n")
    }
}

impl Results {
    fn table(&self) -> String {
        let mut rows = vec![HEADER.map(str::to_owned)];
        rows.extend(self.kinds.iter().map(|(kind, samples)| {
            let standing = Standing::of(samples);
            [
                kind.label().to_owned(),
                times(standing.insert),
                times(standing.hit),
                times(standing.miss),
                standing.remove.map(times).unwrap_or_default(),
                format_size(standing.bytes),
                format!("{:.2}", standing.bytes as f64 * 8.0 / self.keys as f64),
                format_rate(standing.measured_rate),
            ]
        }));
        let mut limit: [String; COLUMNS] = Default::default();
        limit[0] = "limit: a random line".to_owned();
        limit[2] = format!("{:.1}", median(&self.limits));
        limit[5] = format_size(self.limit_bytes);
        rows.push(limit);
        table(&rows)
    }

    fn json(&self) -> Value {
        let pair = |pair: Pair| json!({"batch_ns": pair.in_batches, "single_ns": pair.one_by_one});
        let kinds: Vec<Value> = self
            .kinds
            .iter()
            .map(|(kind, samples)| {
                let standing = Standing::of(samples);
                json!({
                    "kind": kind.word(),
                    "insert": pair(standing.insert),
                    "hit": pair(standing.hit),
                    "miss": pair(standing.miss),
                    "remove": standing.remove.map(pair),
                    "memory_bytes": standing.bytes,
                    "bits_per_key": standing.bytes as f64 * 8.0 / self.keys as f64,
                    "measured_rate": standing.measured_rate,
                    "absent_asked": standing.asked,
                })
            })
            .collect();
        json!({
            "keys": self.keys,
            "rounds": self.rounds,
            "filters": kinds,
            "random_line": {"memory_bytes": self.limit_bytes, "ns": median(&self.limits)},
        })
    }
}

fn times(pair: Pair) -> String {
    format!("{:.1} / {:.1}", pair.in_batches, pair.one_by_one)
}
