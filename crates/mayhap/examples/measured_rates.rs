//! Measures how often real filters are wrong, beside what the model says.
//!
//! ```text
//! cargo run --release --example measured_rates
//! ```
//!
//! Prints the table of `docs/maths.md`. Keys and seeds are fixed, so that it comes out the same every time. Takes one or
//! two minutes.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use mayhap::bloom::Shape;
use mayhap::hash::KeyHasher;
use mayhap::sizing::{ClassicPlan, blocked, classic};
use mayhap::{BloomFilter, ClassicBloom, Digest, Error};

/// Rates, and the questions asked for each: more at low rates, so that there are wrong answers to count.
const RATES: [(f64, u64); 3] = [(0.01, 8_000_000), (1e-4, 60_000_000), (1e-6, 300_000_000)];

/// Questions asked at once.
const BATCH: u64 = 1 << 16;

/// A filled filter, as far as this program is concerned: digests in, answers out.
type Ask = Box<dyn Fn(&[Digest], &mut [bool])>;

fn main() -> Result<(), Error> {
    println!("| filter | keys | promised | model | measured, 95 % interval |\n|---|---|---|---|---|");
    for (rate, questions) in RATES {
        for keys in [1, 10, 1_000, 1_000_000] {
            for shape in Shape::ALL {
                let empty =
                    |seed| BloomFilter::builder().keys(keys).rate(rate).shape(shape).seed(seed).build();
                let expected = blocked::rate(shape, keys, empty(0)?.block_count());
                measure(&format!("`{shape:?}`"), keys, rate, expected, questions, |seed, present| {
                    let mut filter = empty(seed)?;
                    filter.insert_hashes(present, &mut vec![false; present.len()]);
                    Ok(Box::new(move |asked, found| filter.contains_hashes(asked, found)))
                })?;
            }
            let plan = ClassicPlan::for_rate(keys, rate)?;
            let empty = |seed| ClassicBloom::with_plan(plan, KeyHasher::xxh3(seed));
            let expected = classic::rate(keys, empty(0)?.bits(), plan.hashes());
            measure("classic", keys, rate, expected, questions, |seed, present| {
                let mut filter = empty(seed)?;
                filter.insert_hashes(present, &mut vec![false; present.len()]);
                Ok(Box::new(move |asked, found| filter.contains_hashes(asked, found)))
            })?;
        }
    }
    Ok(())
}

/// Fills many filters of `keys` keys each, asks them `questions` questions in all, and prints the rate of wrong answers
/// with its 95 % interval, which comes from the spread between filters.
fn measure(
    name: &str,
    keys: u64,
    rate: f64,
    expected: f64,
    questions: u64,
    fill: impl Fn(u64, &[Digest]) -> Result<Ask, Error>,
) -> Result<(), Error> {
    // A handful of keys in one block is hardly ever wrong: nothing to measure.
    if expected * (questions as f64) < 200.0 {
        return Ok(());
    }
    let filters = (4_000_000 / keys).clamp(4, 4_000);
    let each = questions / filters;
    let mut found = vec![false; BATCH.min(each) as usize];
    let mut rates = Vec::new();
    for seed in 0..filters {
        let hasher = KeyHasher::xxh3(seed);
        let digests = |keys: std::ops::Range<u64>| keys.map(|key| hasher.digest(&key)).collect::<Vec<_>>();
        let ask = fill(seed, &digests(0..keys))?;
        let mut wrong = 0;
        for start in (keys..keys + each).step_by(BATCH as usize) {
            let absent = digests(start..(start + BATCH).min(keys + each));
            ask(&absent, &mut found[..absent.len()]);
            wrong += found[..absent.len()].iter().filter(|found| **found).count();
        }
        rates.push(wrong as f64 / each as f64);
    }
    let mean = rates.iter().sum::<f64>() / filters as f64;
    let spread = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>() / (filters - 1) as f64;
    // The spread of four filters is itself uncertain; the count of wrong answers bounds it from below.
    let interval = 1.96 * (spread / filters as f64).max(mean / questions as f64).sqrt();
    println!(
        "| {name} | {keys} | {rate:e} | {expected:.3e} | {mean:.3e} ± {:.1} % |",
        interval / mean * 100.0
    );
    Ok(())
}
