//! Guava's and Spark's streams.

use mayhap::formats::guava::{GuavaBloom, GuavaPlan, Sizing, Strategy};
use mayhap::formats::spark::{SparkBloom, SparkRecipe};

use super::limited;
use crate::Target;

/// Guava's reader.
pub const GUAVA: Target = Target {
    name: "guava",
    about: "damaged streams of Guava's BloomFilter",
    run: run_guava,
    seeds: guava_seeds,
    largest_allocation: 2 << 20,
};

/// Spark's reader.
pub const SPARK: Target = Target {
    name: "spark",
    about: "damaged streams of Spark's BloomFilter",
    run: run_spark,
    seeds: spark_seeds,
    largest_allocation: 2 << 20,
};

fn run_guava(data: &[u8]) {
    let whole = GuavaBloom::from_bytes_with(data, &limited());
    let view = GuavaBloom::view(data);
    assert_eq!(whole.is_ok(), view.is_ok(), "what can be read can be asked in place");
    let (Ok(mut filter), Ok(view)) = (whole, view) else { return };
    assert_eq!(filter.to_bytes().expect("a small filter"), data, "a stream has one spelling");
    assert_eq!((view.contains("key"), view.expected_fpp()), (filter.contains("key"), filter.expected_fpp()));
    let _ = filter.approximate_element_count();
    filter.insert("key");
    assert!(filter.contains("key"));
}

fn guava_seeds() -> Vec<Vec<u8>> {
    let plans = [(1, 0.5), (10, 0.01), (1_000, 1e-6)];
    let filled = |(keys, rate), strategy| {
        let plan = GuavaPlan::for_rate(keys, rate, Sizing::Guava31).expect("a small plan");
        let mut filter = GuavaBloom::with_plan(plan, strategy).expect("a small filter");
        filter.extend(0..keys);
        filter.to_bytes().expect("a small filter")
    };
    plans
        .iter()
        .flat_map(|plan| [Strategy::Mitz32, Strategy::Mitz64].map(|strategy| filled(*plan, strategy)))
        .collect()
}

fn run_spark(data: &[u8]) {
    let whole = SparkBloom::from_bytes_with(data, &limited());
    let view = SparkBloom::view(data);
    assert_eq!(whole.is_ok(), view.is_ok(), "what can be read can be asked in place");
    let (Ok(mut filter), Ok(view)) = (whole, view) else { return };
    assert_eq!(filter.to_bytes().expect("a small filter"), data, "a stream has one spelling");
    // A stream may name any number of hashes, and a question takes as many steps: two thousand million at most.
    if filter.hashes() > 10_000 {
        return;
    }
    assert_eq!((view.contains("key"), view.cardinality()), (filter.contains("key"), filter.cardinality()));
    let _ = filter.expected_fpp();
    let copy = filter.clone();
    let _ = filter.merge(&copy);
    filter.insert("key");
    assert!(filter.contains("key"));
}

fn spark_seeds() -> Vec<Vec<u8>> {
    let recipes = [SparkRecipe::V1, SparkRecipe::V2 { seed: 0 }, SparkRecipe::V2 { seed: -7 }];
    recipes
        .into_iter()
        .flat_map(|recipe| [1, 100].map(|keys| (recipe, keys)))
        .map(|(recipe, keys)| {
            let mut filter = SparkBloom::with_rate(recipe, keys, 0.03).expect("a small filter");
            filter.extend(0..keys);
            filter.to_bytes().expect("a small filter")
        })
        .collect()
}
