//! What layers cost: a chain that has grown to 1 … 10 layers, beside one filter that was sized right.

use serde_json::{Value, json};

use crate::measure::{Sample, Workload, median, run as run_one};
use crate::ours::{Batches, Bloom, Calls, Layers};
use crate::removing::IntegerKeys;
use crate::report::{self, Report};
use crate::{Failure, Settings};

type Run = fn(&Workload<'_, u64>, u64) -> Result<Sample, Failure>;

/// What the chains are compared with.
const ONE_FILTER: &str = "BloomFilter, sized right";

/// A filter in both ways of asking.
struct Entrant {
    name: String,
    reserved: u64,
    runs: [Run; 2],
}

fn one_filter(n: usize) -> Entrant {
    let runs: [Run; 2] = [run_one::<u64, Calls<Bloom<false>>>, run_one::<u64, Batches<Bloom<false>>>];
    Entrant { name: String::from(ONE_FILTER), reserved: n as u64, runs }
}

fn chain<const LAYERS: usize>(n: usize) -> Entrant {
    let runs: [Run; 2] = [run_one::<u64, Calls<Layers<LAYERS>>>, run_one::<u64, Batches<Layers<LAYERS>>>];
    let layers = if LAYERS == 1 { "layer" } else { "layers" };
    let name = format!("ScalableBloom, {LAYERS} {layers}");
    Entrant { name, reserved: Layers::<LAYERS>::reserved(n), runs }
}

fn everybody(n: usize) -> Vec<Entrant> {
    vec![
        one_filter(n),
        chain::<1>(n),
        chain::<2>(n),
        chain::<3>(n),
        chain::<4>(n),
        chain::<5>(n),
        chain::<6>(n),
        chain::<7>(n),
        chain::<8>(n),
        chain::<9>(n),
        chain::<10>(n),
    ]
}

/// Fills and asks chains of `n` keys; one report for each rate.
pub(crate) fn run(n: usize, settings: &Settings) -> Result<Vec<Report>, Failure> {
    eprintln!("layers, {} keys: making them", report::count(n));
    let keys = IntegerKeys::make(n, settings);
    settings.rates.iter().map(|&p| run_rate(&keys.workload(p), settings)).collect()
}

fn run_rate(work: &Workload<'_, u64>, settings: &Settings) -> Result<Report, Failure> {
    let mut entrants = everybody(work.n);
    entrants.retain(|entrant| settings.admits(&entrant.name));
    let rounds = settings.rounds_of(work.n);
    let mut samples = vec![[const { Vec::new() }; 2]; entrants.len()];
    for round in 0..rounds {
        eprintln!("  {}, round {} of {rounds}", report::rate(work.p), round + 1);
        for (entrant, samples) in entrants.iter().zip(&mut samples) {
            for (run, samples) in entrant.runs.iter().zip(samples) {
                samples.push(run(work, 0x5eed + round as u64)?);
            }
        }
    }

    let one_filter = entrants.iter().zip(&samples).find(|(entrant, _)| entrant.name == ONE_FILTER);
    let one_filter = one_filter.map(|(_, [calls, batches])| [times(calls), times(batches)]);
    let rows = entrants.iter().zip(&samples).map(|(entrant, samples)| row(entrant, samples, one_filter));
    let json: Vec<Value> = entrants
        .iter()
        .zip(&samples)
        .map(|(entrant, samples)| samples_json(&entrant.name, samples))
        .collect();
    let asked: u64 = samples.first().map_or(0, |[calls, _]| calls.iter().map(|s| s.absent_asked).sum());
    Ok(Report {
        title: format!("Layers: {} u64 keys, {}", report::count(work.n), report::rate(work.p)),
        header: vec![
            "filter",
            "reserved",
            "bits/key",
            "rate",
            "insert ns",
            "hit ns",
            "miss ns",
            "insert ns, batches",
            "hit ns, batches",
            "miss ns, batches",
            "slower: hit",
            "miss",
            "hit, batches",
            "miss, batches",
        ],
        rows: rows.collect(),
        notes: vec![format!(
            "Medians of {rounds} interleaved rounds, CPU time; rates on {} absent keys. Each layer is twice as \
             large as the one before it, and the first is reserved so that all the keys just fill the last. \
             Slower: than {ONE_FILTER}.",
            report::count(usize::try_from(asked).unwrap_or(0))
        )],
        json: json!({"cell": "layers", "n": work.n, "p": work.p, "rounds": rounds, "filters": json}),
    })
}

/// The medians of insert, hit and miss.
fn times(samples: &[Sample]) -> [f64; 3] {
    let middle = |time: fn(&Sample) -> f64| median(&samples.iter().map(time).collect::<Vec<_>>());
    [middle(|s| s.insert_ns), middle(|s| s.hit_ns), middle(|s| s.miss_ns)]
}

fn row(entrant: &Entrant, samples: &[Vec<Sample>; 2], one_filter: Option<[[f64; 3]; 2]>) -> Vec<String> {
    let [calls, batches] = samples;
    let false_positives: u64 = calls.iter().map(|s| s.false_positives).sum();
    let asked: u64 = calls.iter().map(|s| s.absent_asked).sum();
    let ours = [times(calls), times(batches)];
    let mut row = vec![
        entrant.name.clone(),
        entrant.reserved.to_string(),
        format!("{:.2}", calls.first().map_or(f64::NAN, |sample| sample.bits_per_key)),
        report::percent(false_positives as f64 / asked as f64),
    ];
    row.extend(ours.as_flattened().iter().copied().map(report::nanoseconds));
    let yardstick = one_filter.unwrap_or([[f64::NAN; 3]; 2]);
    for (ours, yardstick) in ours.iter().zip(yardstick) {
        row.extend([1, 2].map(|operation| report::ratio(ours[operation] / yardstick[operation])));
    }
    row
}

fn samples_json(name: &str, samples: &[Vec<Sample>; 2]) -> Value {
    let ways = samples.each_ref().map(|samples| {
        let all = |value: fn(&Sample) -> f64| samples.iter().map(value).collect::<Vec<_>>();
        json!({
            "insert_ns": all(|s| s.insert_ns), "hit_ns": all(|s| s.hit_ns), "miss_ns": all(|s| s.miss_ns),
            "false_positives": samples.iter().map(|s| s.false_positives).sum::<u64>(),
            "absent_asked": samples.iter().map(|s| s.absent_asked).sum::<u64>(),
        })
    });
    let [calls, batches] = ways;
    let bits_per_key = samples[0].first().map(|sample| sample.bits_per_key);
    json!({"name": name, "bits_per_key": bits_per_key, "calls": calls, "batches": batches})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;
    use crate::ours::Setup;

    fn layers_when_full<const LAYERS: usize>() -> usize {
        let present = keys::integers(keys::present(0, 50_000));
        let mut filter = <Layers<LAYERS> as Setup>::build(present.len(), 0.01, 1).expect("a small chain");
        present.iter().for_each(|key| assert!(filter.insert(key).is_ok()));
        filter.layer_count()
    }

    #[test]
    fn chains_have_the_layers_they_are_named_for() {
        assert_eq!([layers_when_full::<1>(), layers_when_full::<2>()], [1, 2]);
        assert_eq!([layers_when_full::<5>(), layers_when_full::<9>(), layers_when_full::<10>()], [5, 9, 10]);
    }
}
