//! What a filter of Guava's becomes when more keys are put into it than it was made for.
//!
//! ```text
//! cargo run --release --features formats --example guava_overfilled
//! ```
//!
//! Prints the table of the module `formats::guava`. Keys are fixed, so that it comes out the same every time.

use mayhap::Error;
use mayhap::formats::guava::{GuavaBloom, Sizing};

/// The keys that each filter is made for.
const PLANNED: i64 = 100_000;

/// Keys that are asked for and were never put.
const ABSENT: i64 = 1_000_000;

/// Keys put, as multiples of the plan.
const TIMES: [f64; 11] = [0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0];

fn main() -> Result<(), Error> {
    println!(
        "| keys put / planned | bits set | count, estimated | 3 %: expected | measured | 1 %: expected | measured |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|");
    let planned = PLANNED.cast_unsigned();
    let mut three = GuavaBloom::with_rate(planned, 0.03, Sizing::Guava31)?;
    let mut one = GuavaBloom::with_rate(planned, 0.01, Sizing::Guava31)?;
    let mut put = 0;
    for times in TIMES {
        #[allow(clippy::cast_possible_truncation, reason = "a million at most")]
        let keys = (PLANNED as f64 * times) as i64;
        for filter in [&mut three, &mut one] {
            filter.extend(put..keys);
        }
        put = keys;
        let count = one.approximate_element_count().map_or("none".to_owned(), |count| count.to_string());
        println!(
            "| {times} | {:.1} % | {count} | {} | {} | {} | {} |",
            100.0 * one.bits_set() as f64 / one.bits() as f64,
            percent(three.expected_fpp()),
            percent(measured(&three)),
            percent(one.expected_fpp()),
            percent(measured(&one)),
        );
    }
    Ok(())
}

/// The part of absent keys that are answered "mayhap".
fn measured(filter: &GuavaBloom) -> f64 {
    let keys: Vec<i64> = (1..=ABSENT).map(|key| -key).collect();
    let mut found = vec![false; keys.len()];
    filter.contains_each(&keys, &mut found);
    found.iter().filter(|found| **found).count() as f64 / ABSENT as f64
}

fn percent(rate: f64) -> String {
    format!("{:.*} %", if rate < 0.001 { 4 } else { 2 }, 100.0 * rate)
}
