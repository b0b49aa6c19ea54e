//! Grows filters far beyond what was reserved, and measures what became of the promised rate.
//!
//! ```text
//! cargo run --release --example growth
//! ```
//!
//! Prints the table of `docs/maths.md`. Keys are fixed, so that it comes out the same every time. The last line takes
//! about 300 MB and some seconds.

use mayhap::hash::KeyHasher;
use mayhap::{Digest, Error, ScalableBloom};

/// Keys reserved, keys inserted, rate, expansion.
const CASES: [(u64, u64, f64, u32); 8] = [
    (10_000, 1_000_000, 0.01, 2),
    (10_000, 1_000_000, 0.001, 2),
    (10_000, 1_000_000, 0.01, 4),
    (100_000, 1_000_000, 0.01, 1),
    (10_000, 10_000_000, 0.01, 2),
    (10_000, 10_000_000, 0.001, 2),
    (100, 100_000_000, 0.01, 4),
    (100, 100_000_000, 0.01, 2),
];

/// Absent keys asked for.
const QUESTIONS: u64 = 20_000_000;

/// Keys hashed and added, or asked for, at once.
const BATCH: u64 = 1 << 16;

fn main() -> Result<(), Error> {
    println!(
        "| reserved | inserted | promised | expansion | layers | bits per key | measured, 95 % interval | expected now |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (reserved, inserted, rate, expansion) in CASES {
        let builder = ScalableBloom::builder().keys(reserved).rate(rate).expansion(expansion);
        let mut filter = builder.build()?;
        for_each_batch(&filter.hasher().clone(), 0..inserted, |digests, answers| {
            filter.insert_hashes(digests, answers)?;
            Ok(())
        })?;
        for_each_batch(filter.hasher(), 0..inserted, |digests, answers| {
            filter.contains_hashes(digests, answers);
            assert!(answers.iter().all(|found| *found), "a key was lost");
            Ok(())
        })?;
        let mut wrong = 0;
        for_each_batch(filter.hasher(), inserted..inserted + QUESTIONS, |digests, answers| {
            filter.contains_hashes(digests, answers);
            wrong += answers.iter().filter(|found| **found).count();
            Ok(())
        })?;
        let measured = wrong as f64 / QUESTIONS as f64;
        let interval = 1.96 * (measured * (1.0 - measured) / QUESTIONS as f64).sqrt();
        println!(
            "| {reserved} | {inserted} | {} % | {expansion} | {} | {:.2} | {:.4} % ± {:.4} | {:.4} % |",
            rate * 100.0,
            filter.layer_count(),
            filter.len_bytes() as f64 * 8.0 / inserted as f64,
            measured * 100.0,
            interval * 100.0,
            filter.expected_rate() * 100.0,
        );
    }
    Ok(())
}

/// Hashes the numbers of a range, and hands them over with room for as many answers.
fn for_each_batch(
    hasher: &KeyHasher,
    numbers: std::ops::Range<u64>,
    mut handle: impl FnMut(&[Digest], &mut [bool]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut digests = Vec::new();
    let mut answers = Vec::new();
    let mut start = numbers.start;
    while start < numbers.end {
        let end = numbers.end.min(start + BATCH);
        digests.clear();
        digests.extend((start..end).map(|number| hasher.digest(&number)));
        answers.resize(digests.len(), false);
        handle(&digests, &mut answers)?;
        start = end;
    }
    Ok(())
}
