//! The rate of false positives: one-sided against the promise, two-sided against the model.
//!
//! Small filters differ much from one another, so their false positives are pooled over many seeds and the
//! variance is taken between the filters. A million keys are one filter, whose rate differs little from the
//! model's; how little is taken from smaller filters.

use mayhap::filter::{Estimate, Insert};

use crate::interval::{Pool, assert_count, assert_count_at_most, mean_and_error};
use crate::keys::Keys;
use crate::subject::{Limited, Subject};

const RATES: [f64; 6] = [0.3, 0.1, 0.01, 1e-3, 1e-4, 1e-6];

pub(crate) fn one_key<S: Subject<Filter: Insert>>(subject: &S) {
    RATES.into_iter().for_each(|rate| pooled(subject, 1, rate, 4_000));
}

pub(crate) fn ten_keys<S: Subject<Filter: Insert>>(subject: &S) {
    RATES.into_iter().for_each(|rate| pooled(subject, 10, rate, 2_000));
}

pub(crate) fn a_thousand_keys<S: Subject<Filter: Insert>>(subject: &S) {
    RATES.into_iter().for_each(|rate| pooled(subject, 1_000, rate, 200));
}

fn pooled<S: Subject<Filter: Insert>>(subject: &S, keys: u64, rate: f64, filters: u64) {
    let context = format!("{subject:?}, {keys} keys at {rate:e}, seeds 0 to {filters}");
    measure(subject, subject.maker(keys, rate), keys, rate, filters, &context);
}

/// Filters made for a memory, and not for a number of keys: they promise to hold so many keys that even a
/// single block is as full as it may be.
pub(crate) fn small_filters_full_to_the_brim<S: Limited<Filter: Insert>>(subject: &S) {
    for blocks in [1, 2, 3, 8] {
        for rate in [0.3, 0.1, 0.01, 1e-3, 1e-4] {
            let Some(keys) = subject.capacity(blocks * 64, rate) else { continue };
            let context = format!("{subject:?}, all of {keys} keys at {rate:e} in {blocks} blocks");
            measure(subject, subject.within(blocks * 64, rate), keys, rate, 1_000, &context);
        }
    }
}

fn measure<S: Subject<Filter: Insert>>(
    subject: &S,
    make: impl Fn(u64) -> S::Filter,
    keys: u64,
    rate: f64,
    filters: u64,
    context: &str,
) {
    let questions = questions_in_all(rate) / filters;
    let mut pool = Pool::of_questions(questions);
    for seed in 0..filters {
        let filter = filled(make(seed), seed, keys);
        pool.add(Keys::of(seed).false_positives(&filter, questions));
    }
    pool.assert_at_most(rate, context);
    pool.assert_agrees(subject.modelled_rate(&make(0), keys), context);
}

/// As many that a rate twice as high as promised would stand out.
fn questions_in_all(rate: f64) -> u64 {
    if rate < 1e-5 {
        20_000_000
    } else if rate < 1e-3 {
        4_000_000
    } else {
        2_000_000
    }
}

pub(crate) fn a_million_keys<S: Subject<Filter: Insert + Estimate>>(subject: &S) {
    const KEYS: u64 = 1_000_000;
    for (rate, questions) in [
        (0.3, 1_000_000),
        (0.1, 1_000_000),
        (0.01, 2_000_000),
        (1e-3, 3_000_000),
        (1e-4, 6_000_000),
        (1e-6, 24_000_000),
    ] {
        let seed = 1;
        let filter = filled(subject.make(KEYS, rate, seed), seed, KEYS);
        let count = Keys::of(seed).false_positives(&filter, questions);
        let context = format!("{subject:?}, {KEYS} keys at {rate:e}, seed {seed}");
        let spread = spread(subject, rate, KEYS);
        assert_count_at_most(count, questions, rate, spread, &context);
        assert_count(count, questions, subject.modelled_rate(&filter, KEYS), spread, &context);
    }
}

/// The relative variance of the rate between filters of `keys` keys.
///
/// A filter's rate is a mean over its blocks (or bits), so its variance falls as their number grows: it is
/// taken from the bits of small filters, and divided.
fn spread<S: Subject<Filter: Insert + Estimate>>(subject: &S, rate: f64, keys: u64) -> f64 {
    const SMALL: u64 = 5_000;
    const FILTERS: u64 = 60;
    let make = subject.maker(SMALL, rate);
    let rates: Vec<f64> = (0..FILTERS).map(|seed| filled(make(seed), seed, SMALL).expected_rate()).collect();
    let (mean, error) = mean_and_error(&rates);
    (error / mean).powi(2) * FILTERS as f64 * SMALL as f64 / keys as f64
}

fn filled<F: Insert>(mut filter: F, seed: u64, keys: u64) -> F {
    let hashes = Keys::of(seed).present(&filter, keys);
    filter.insert_hashes(&hashes, &mut vec![false; hashes.len()]).unwrap();
    filter
}
