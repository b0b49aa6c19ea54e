//! Filters that forget: who runs, the rounds, the medians, and the sentences under the tables. The cells
//! `cuckoo`, `counting` and `deletable` differ in who runs and in the table.

mod measure;
mod verdict;

use serde_json::{Value, json};

use crate::contestants::{Contestant, Removing};
use crate::keys::{self, Streams};
use crate::measure::{Sample, Times, Workload, median, run};
use crate::report;
use crate::single::Role;
use crate::{Failure, Settings};

use measure::{RemovalSample, run_removing};

/// The integer keys of one filter size.
pub(crate) struct IntegerKeys {
    pub(crate) n: usize,
    inserted: Vec<u64>,
    hits: Vec<u64>,
    misses: Vec<u64>,
}

impl IntegerKeys {
    pub(crate) fn make(n: usize, settings: &Settings) -> Self {
        let streams = Streams::of::<u64>(n, settings);
        let [inserted, hits, misses] = [
            keys::integers(streams.inserted()),
            keys::integers(streams.hits()),
            keys::integers(streams.misses()),
        ];
        Self { n, inserted, hits, misses }
    }

    pub(crate) fn workload(&self, p: f64) -> Workload<'_, u64> {
        Workload { n: self.n, p, inserted: &self.inserted, hits: &self.hits, misses: &self.misses }
    }
}

/// A contestant that can be run.
pub(crate) struct Entrant {
    name: &'static str,
    role: Role,
    when_full: &'static str,
    loses: Option<&'static str>,
    run: fn(&Workload<'_, u64>, u64) -> Result<RemovalSample, Failure>,
}

pub(crate) fn entrant<C: Removing<u64>>(role: Role) -> Entrant {
    Entrant { name: C::NAME, role, when_full: C::WHEN_FULL, loses: C::LOSES, run: run_removing::<u64, C> }
}

/// One that can't remove, beside those that can.
pub(crate) fn entrant_that_keeps_all<C: Contestant<u64>>(role: Role, when_full: &'static str) -> Entrant {
    let run = |work: &Workload<'_, u64>, seed| {
        Ok(RemovalSample::without_removal(run::<u64, C>(work, seed)?, work.n))
    };
    Entrant { name: C::NAME, role, when_full, loses: None, run }
}

/// What is timed. The second is of tables of slots only; the last asks for the keys that are deleted next.
pub(crate) const OPERATIONS: [&str; 6] =
    ["insert", "insert above half", "hit", "miss", "delete", "hit before delete"];
pub(crate) const INSERT: usize = 0;
pub(crate) const LATE_INSERT: usize = 1;
pub(crate) const HIT: usize = 2;
pub(crate) const MISS: usize = 3;
pub(crate) const DELETE: usize = 4;
pub(crate) const DOOMED_HIT: usize = 5;

/// What one contestant has done in all the rounds.
pub(crate) struct Standing {
    pub(crate) name: &'static str,
    pub(crate) role: Role,
    pub(crate) when_full: &'static str,
    /// NaN for what there is not.
    pub(crate) times: Times<6>,
    pub(crate) bits_per_key: f64,
    pub(crate) bits_per_slot: f64,
    /// The fewest keys a round's filter took.
    held: usize,
    false_positives: u64,
    pub(crate) absent_asked: u64,
    lost: u64,
    known_asked: u64,
    loses: Option<&'static str>,
}

impl Standing {
    fn of(entrant: &Entrant, samples: &[RemovalSample]) -> Self {
        let middle =
            |value: fn(&RemovalSample) -> f64| median(&samples.iter().map(value).collect::<Vec<_>>());
        Self {
            name: entrant.name,
            role: entrant.role,
            when_full: entrant.when_full,
            times: Times::of_rounds(samples.iter().map(|s| {
                let Sample { insert_ns, hit_ns, miss_ns, .. } = s.sample;
                [insert_ns, s.late_insert_ns, hit_ns, miss_ns, s.remove_ns, s.doomed_hit_ns]
            })),
            bits_per_key: middle(|s| s.sample.bits_per_key),
            bits_per_slot: middle(|s| s.bits_per_slot),
            held: samples.iter().map(|s| s.held).min().unwrap_or(0),
            false_positives: samples.iter().map(|s| s.sample.false_positives).sum(),
            absent_asked: samples.iter().map(|s| s.sample.absent_asked).sum(),
            lost: samples.iter().map(|s| s.lost).sum(),
            known_asked: samples.iter().map(|s| s.known_asked).sum(),
            loses: entrant.loses,
        }
    }

    /// The measured rate, pooled over the rounds.
    pub(crate) fn rate(&self) -> f64 {
        self.false_positives as f64 / self.absent_asked as f64
    }

    /// The part of the slots that was in use when it was asked.
    pub(crate) fn load(&self) -> f64 {
        self.bits_per_slot / self.bits_per_key
    }
}

/// Everybody's medians, and every sample for the file.
pub(crate) struct Race {
    pub(crate) rounds: usize,
    pub(crate) standings: Vec<Standing>,
    pub(crate) json: Vec<Value>,
}

/// Runs everybody in turn, round after round.
pub(crate) fn race(
    mut entrants: Vec<Entrant>,
    work: &Workload<'_, u64>,
    settings: &Settings,
) -> Result<Race, Failure> {
    entrants.retain(|entrant| settings.admits(entrant.name));
    let rounds = settings.rounds_of(work.n);
    let mut samples: Vec<Vec<RemovalSample>> = vec![Vec::new(); entrants.len()];
    for round in 0..rounds {
        eprintln!("  {}, round {} of {rounds}", report::rate(work.p), round + 1);
        for (entrant, samples) in entrants.iter().zip(&mut samples) {
            samples.push((entrant.run)(work, 0x5eed + round as u64)?);
        }
    }
    let both = || entrants.iter().zip(&samples);
    Ok(Race {
        rounds,
        standings: both().map(|(entrant, samples)| Standing::of(entrant, samples)).collect(),
        json: both().map(|(entrant, samples)| samples_json(entrant.name, samples)).collect(),
    })
}

impl Race {
    pub(crate) fn ours(&self) -> impl Iterator<Item = &Standing> {
        self.standings.iter().filter(|standing| standing.role != Role::Peer)
    }

    pub(crate) fn peers(&self) -> impl Iterator<Item = &Standing> {
        self.standings.iter().filter(|standing| standing.role == Role::Peer)
    }

    /// How it was measured, for the first line under a table.
    pub(crate) fn method(&self) -> String {
        let asked = self.standings.first().map_or(0, |standing| standing.absent_asked);
        format!(
            "Medians of {} interleaved rounds, CPU time; ratios within a round; rates on {} absent keys. \
             Deleted is half of the keys (of a large filter as many as are asked for), right after asking for \
             the same keys in the same order; then the others are looked for.",
            self.rounds,
            report::count(usize::try_from(asked).unwrap_or(0)),
        )
    }
}

fn samples_json(name: &str, samples: &[RemovalSample]) -> Value {
    let all = |value: fn(&RemovalSample) -> f64| samples.iter().map(value).collect::<Vec<_>>();
    json!({
        "name": name,
        "bits_per_key": all(|s| s.sample.bits_per_key),
        "insert_ns": all(|s| s.sample.insert_ns), "late_insert_ns": all(|s| s.late_insert_ns),
        "hit_ns": all(|s| s.sample.hit_ns), "miss_ns": all(|s| s.sample.miss_ns),
        "hit_before_remove_ns": all(|s| s.doomed_hit_ns), "remove_ns": all(|s| s.remove_ns),
        "held": samples.iter().map(|s| s.held).collect::<Vec<_>>(),
        "lost": samples.iter().map(|s| s.lost).sum::<u64>(),
        "false_positives": samples.iter().map(|s| s.sample.false_positives).sum::<u64>(),
        "absent_asked": samples.iter().map(|s| s.sample.absent_asked).sum::<u64>(),
    })
}
