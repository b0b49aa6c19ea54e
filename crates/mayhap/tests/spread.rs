//! Filters that differ by their seeds alone differ in their rates as `sizing` says.
//!
//! Of each kind some filters are filled with the same keys under different seeds, and asked for keys they don't hold. The
//! variance of the measured rates is that between the filters and that of the questions; the latter is known (a binomial
//! one) and taken off. What is left must agree with the formula within a factor of √2 in the standard deviation.
//!
//! That is wide enough for chance: the standard error of a deviation from 96 filters is 7 %, and 14 % where half of the
//! variance is due to the questions, which is the most that is let pass. And seeds and keys are fixed, so that no test
//! fails once in a while. It is also narrow enough: a formula that is off by a factor of two, either way, can't pass.

#![allow(clippy::unwrap_used, reason = "a check that panics has failed")]

use std::f64::consts::SQRT_2;

use mayhap::bloom::Shape;
use mayhap::counting::{CounterLayout, CounterShape, CounterWidth};
use mayhap::cuckoo::CuckooLayout;
use mayhap::hash::KeyHasher;
use mayhap::sizing::{ClassicPlan, blocked, classic, counting, cuckoo, d_left, layers};
use mayhap::{
    AnyFilter, BloomFilter, ClassicBloom, CountingBloom, CuckooFilter, DLeftCounting, Digest, ScalableBloom,
    ScalableCuckoo, WindowBloom,
};

const FILTERS: u64 = 96;

/// Fills filters with keys 0, 1, 2 …, asks each for as many others, and compares how much their rates differ with what
/// `expected` says.
#[track_caller]
fn differ_as_said(name: &str, keys: u64, questions: u64, expected: f64, make: impl Fn(u64) -> AnyFilter) {
    let rates: Vec<f64> = (0..FILTERS)
        .map(|seed| {
            let mut filter = make(seed);
            let digests: Vec<Digest> = (0..keys).map(|key| filter.hash(&key)).collect();
            filter.insert_hashes(&digests, &mut vec![false; digests.len()]).unwrap();
            let digests: Vec<Digest> = (keys..keys + questions).map(|key| filter.hash(&key)).collect();
            let mut found = vec![false; digests.len()];
            filter.contains_hashes(&digests, &mut found);
            found.iter().filter(|found| **found).count() as f64 / questions as f64
        })
        .collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let middle = mean(&rates);
    let seen = rates.iter().map(|rate| (rate - middle).powi(2)).sum::<f64>() / (rates.len() - 1) as f64;
    let of_questions: Vec<f64> =
        rates.iter().map(|rate| rate * (1.0 - rate) / (questions - 1) as f64).collect();
    let of_questions = mean(&of_questions);
    assert!(of_questions < 0.5 * seen, "{name}: too few questions, {of_questions} of {seen}");
    let got = (seen - of_questions).sqrt();
    assert!(
        (1.0 / SQRT_2..SQRT_2).contains(&(got / expected)),
        "{name}: filters differ by {got}, the formula says {expected}, the rate is {middle}"
    );
}

#[test]
fn bloom_filters() {
    // From one block on, and with so many keys that it errs often enough to be measured.
    for (shape, keys, blocks) in [
        (Shape::Four, 100, 1),
        (Shape::Four, 200, 2),
        (Shape::Four, 300, 3),
        (Shape::Eight, 80, 1),
        (Shape::Eight, 160, 2),
        (Shape::Eight, 240, 3),
        (Shape::Eight, 1_000, 16),
        (Shape::Sixteen, 60, 1),
        (Shape::Sixteen, 200, 4),
        (Shape::SixteenTwoLines, 80, 2),
        (Shape::SixteenTwoLines, 160, 4),
        (Shape::SixteenTwoLines, 320, 8),
    ] {
        let make = |seed| {
            let builder = BloomFilter::builder().keys(keys).bytes(blocks * blocked::BLOCK_BYTES).shape(shape);
            builder.seed(seed).build().unwrap()
        };
        assert_eq!(make(0).block_count(), blocks);
        let expected = blocked::rate_deviation(shape, keys, blocks);
        differ_as_said(&format!("{shape:?}, {keys} keys, {blocks} blocks"), keys, 20_000, expected, |seed| {
            make(seed).into()
        });
    }
}

#[test]
fn classic_filters() {
    for (keys, rate) in [(20, 0.1), (200, 0.1), (100, 0.03)] {
        let plan = ClassicPlan::for_rate(keys, rate).unwrap();
        let make = |seed| ClassicBloom::with_plan(plan, KeyHasher::xxh3(seed)).unwrap();
        let expected = classic::rate_deviation(keys, make(0).bits(), plan.hashes());
        differ_as_said(&format!("{keys} keys at {rate}"), keys, 20_000, expected, |seed| make(seed).into());
    }
}

#[test]
fn counting_filters() {
    use CounterShape::{Eight, EightTwoLines, Four, SixteenTwoLines};
    for (shape, width, keys, rate) in [
        (Four, CounterWidth::Four, 100, 0.05),
        (Eight, CounterWidth::Four, 10, 0.1),
        (Eight, CounterWidth::Four, 200, 0.05),
        (Four, CounterWidth::Eight, 200, 0.05),
        (Eight, CounterWidth::Sixteen, 100, 0.1),
        (EightTwoLines, CounterWidth::Four, 200, 0.05),
        (EightTwoLines, CounterWidth::Sixteen, 100, 0.05),
        (SixteenTwoLines, CounterWidth::Four, 200, 0.1),
    ] {
        let layout = CounterLayout { shape, width };
        let make = |seed| {
            let builder = CountingBloom::builder().keys(keys).rate(rate).width(width).shape(shape);
            builder.seed(seed).build().unwrap()
        };
        let expected = counting::rate_deviation(layout, keys, make(0).block_count());
        differ_as_said(&format!("{layout:?}, {keys} keys"), keys, 10_000, expected, |seed| make(seed).into());
    }
}

#[test]
fn d_left_filters() {
    // At high rates: at low ones filters hardly differ.
    for (keys, rate, questions) in [(30, 0.3, 20_000), (60, 0.3, 40_000), (60, 0.2, 60_000)] {
        let make = |seed| DLeftCounting::builder().keys(keys).rate(rate).seed(seed).build().unwrap();
        let sample = make(0);
        let expected = d_left::rate_deviation(sample.cell(), sample.bucket_count(), keys);
        differ_as_said(&format!("{keys} keys at {rate}"), keys, questions, expected, |seed| {
            make(seed).into()
        });
    }
}

#[test]
fn cuckoo_filters() {
    for (entries, bits, keys, questions) in [(2, 4, 10, 80_000), (4, 5, 60, 20_000), (8, 6, 100, 20_000)] {
        let layout = CuckooLayout::new(entries, bits).unwrap();
        let make =
            |seed| CuckooFilter::builder().layout(layout).keys(keys).rate(0.9).seed(seed).build().unwrap();
        let expected = cuckoo::rate_deviation(layout, keys, make(0).buckets());
        differ_as_said(&format!("{layout:?}, {keys} keys"), keys, questions, expected, |seed| {
            make(seed).into()
        });
    }
}

#[test]
fn layers_and_generations() {
    let of_bloom =
        |filter: &BloomFilter, keys| blocked::rate_deviation(filter.shape(), keys, filter.block_count());

    // 40, 80 and 160 keys.
    let scalable = |seed| ScalableBloom::builder().keys(40).rate(0.5).seed(seed).build().unwrap();
    let mut full = scalable(0);
    full.insert_each(&(0..280_u64).collect::<Vec<_>>(), &mut [false; 280]).unwrap();
    let expected =
        layers::rate_deviation(full.layer_filters().map(|layer| of_bloom(layer, layer.planned_keys())));
    assert!(full.layer_count() > 1);
    differ_as_said("layers", 280, 20_000, expected, |seed| scalable(seed).into());

    // Just before a slot ends: five generations of 100 keys.
    let window = |seed| WindowBloom::builder().keys(400).rate(0.2).generations(4).seed(seed).build().unwrap();
    let expected =
        layers::rate_deviation(window(0).generation_filters().map(|generation| of_bloom(generation, 100)));
    differ_as_said("generations", 500, 40_000, expected, |seed| window(seed).into());

    let cuckoo = |seed| ScalableCuckoo::builder().keys(40).rate(0.9).seed(seed).build().unwrap();
    let mut full = cuckoo(0);
    full.insert_each(&(0..200_u64).collect::<Vec<_>>(), &mut [false; 200]).unwrap();
    let expected = cuckoo::rate_deviation_of_layers(
        full.layers().iter().map(|layer| (layer.layout, layer.len, layer.buckets)),
    );
    assert!(full.layer_count() > 1);
    differ_as_said("layers of a cuckoo filter", 200, 100_000, expected, |seed| cuckoo(seed).into());
}
