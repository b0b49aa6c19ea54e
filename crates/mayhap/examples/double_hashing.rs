//! Measures what it costs to derive all positions of a key from two numbers.
//!
//! ```text
//! cargo run --release --example double_hashing
//! ```
//!
//! Prints the table of section 7 of `docs/maths.md`: the measured rate of small filters over the exact rate of
//! independent positions, for several ways from a key to its positions. Keys and seeds are fixed, so that it comes out
//! the same every time. Takes less than a minute.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use mayhap::hash::KeyHasher;
use mayhap::sizing::{ClassicPlan, SizingError};

/// 2^64 divided by the golden ratio.
const GROWTH: u64 = 0x9e37_79b9_7f4a_7c15;

/// Keys, promised rate, filters, and questions to each filter.
const CASES: [(u64, f64, u64, u64); 6] = [
    (1, 1e-2, 20_000, 500),
    (1, 1e-4, 20_000, 2_000),
    (10, 1e-4, 2_000, 20_000),
    (10, 1e-6, 2_000, 80_000),
    (100, 1e-6, 200, 800_000),
    (1_000, 1e-4, 40, 1_000_000),
];

/// A way from two hashes of a key to its positions.
#[derive(Clone, Copy)]
enum Recipe {
    /// x, x + d, x + 2d …
    Plain,
    /// The step grows by a constant.
    Growing,
    /// The step grows by multiples 1, 2, 3 … of a constant.
    GrowingFaster,
    /// Each number is the last one times a constant, plus the step made odd: what `ClassicBloom` does.
    Multiplied,
}

fn main() -> Result<(), SizingError> {
    println!("| keys | promised | d fixed | d + g | d + i·g | multiplied |\n|---|---|---|---|---|---|");
    for (keys, rate, filters, questions) in CASES {
        let plan = ClassicPlan::for_rate(keys, rate)?;
        print!("| {keys} | {rate:e} |");
        for recipe in [Recipe::Plain, Recipe::Growing, Recipe::GrowingFaster, Recipe::Multiplied] {
            let (ratio, error) = measure(plan, recipe, filters, questions);
            print!(" {ratio:.2} ± {error:.2} |");
        }
        println!();
    }
    Ok(())
}

/// The measured rate over the exact one, and the standard error of that ratio, from the spread between filters.
fn measure(plan: ClassicPlan, recipe: Recipe, filters: u64, questions: u64) -> (f64, f64) {
    let mut ratios = Vec::new();
    for filter in 0..filters {
        let hashers = [KeyHasher::xxh3(2 * filter), KeyHasher::xxh3(2 * filter + 1)];
        let mut bits = vec![false; plan.bits() as usize];
        for key in 0..plan.keys() {
            positions(key, &hashers, recipe, plan).for_each(|position| bits[position] = true);
        }
        let absent = plan.keys()..plan.keys() + questions;
        let wrong = absent
            .filter(|key| positions(*key, &hashers, recipe, plan).all(|position| bits[position]))
            .count();
        ratios.push(wrong as f64 / questions as f64 / plan.expected_rate());
    }
    let filters = filters as f64;
    let mean = ratios.iter().sum::<f64>() / filters;
    let variance = ratios.iter().map(|ratio| (ratio - mean) * (ratio - mean)).sum::<f64>() / (filters - 1.0);
    (mean, (variance / filters).sqrt())
}

fn positions(
    key: u64,
    hashers: &[KeyHasher; 2],
    recipe: Recipe,
    plan: ClassicPlan,
) -> impl Iterator<Item = usize> + use<> {
    let [mut x, mut step] = hashers.each_ref().map(|hasher| hasher.digest(&key).get());
    let bits = u128::from(plan.bits());
    (1..=u64::from(plan.hashes())).map(move |i| {
        let position = ((u128::from(x) * bits) >> 64) as usize;
        x = match recipe {
            Recipe::Multiplied => x.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(step | 1),
            _ => x.wrapping_add(step),
        };
        step = match recipe {
            Recipe::Growing => step.wrapping_add(GROWTH),
            Recipe::GrowingFaster => step.wrapping_add(i.wrapping_mul(GROWTH)),
            _ => step,
        };
        position
    })
}
