//! What a filter says about itself.

use mayhap::filter::{Estimate, Insert};

use crate::interval::{SIGMAS, assert_count, mean_and_error};
use crate::keys::Keys;
use crate::subject::{Estimated, Subject};

pub(crate) fn length_is_within_its_standard_error<S: Estimated<Filter: Insert + Estimate>>(subject: &S) {
    const SEEDS: u64 = 100;
    for (planned, rate) in [(1_000, 0.3), (5_000, 0.01), (5_000, 1e-4)] {
        for keys in [planned / 10, planned, 2 * planned] {
            let make = subject.maker(planned, rate);
            let error = subject.standard_error(&make(0), keys);
            let context =
                format!("{subject:?}, {keys} keys in a filter for {planned} at {rate:e}, error {error:.2}");
            let mut squares = 0.0;
            for seed in 0..SEEDS {
                let mut filter = make(seed);
                insert(&mut filter, seed, 0, keys);
                let z = (filter.estimated_len() as f64 - keys as f64) / error;
                let estimate = filter.estimated_len();
                // Rounding to a whole key may add half of one.
                let limit = SIGMAS + 0.5 / error;
                assert!(z.abs() <= limit, "{context}, seed {seed}: {estimate} keys, {z:.1} standard errors");
                squares += z * z;
            }
            // The sum of squares is chi-squared, its mean has a standard deviation of √(2 / seeds). A
            // standard error of a fraction of a key is hidden by the rounding, whose variance is a twelfth.
            let mean = squares / SEEDS as f64;
            let rounding = 1.0 / (12.0 * error * error);
            let tolerance = SIGMAS * (2.0 / SEEDS as f64).sqrt() * (1.0 + rounding);
            assert!(
                mean <= 1.0 + rounding + tolerance && mean >= 1.0 - tolerance,
                "{context}, seeds 0 to {SEEDS}: squared deviations are {mean:.2} times the standard error's"
            );
        }
    }
}

pub(crate) fn rate_from_the_bits_is_the_measured_one<S: Subject<Filter: Insert + Estimate>>(subject: &S) {
    for (planned, rate, questions) in
        [(20_000, 0.3, 400_000), (50_000, 0.01, 1_000_000), (50_000, 1e-3, 2_000_000)]
    {
        for keys in [planned, 2 * planned] {
            let seed = 21;
            let mut filter = subject.make(planned, rate, seed);
            insert(&mut filter, seed, 0, keys);
            let context =
                format!("{subject:?}, {keys} keys in a filter for {planned} at {rate:e}, seed {seed}");
            let count = Keys::of(seed).false_positives(&filter, questions);
            // The rate is that of this very filter: nothing varies but which keys are asked for.
            assert_count(count, questions, filter.expected_rate(), 0.0, &context);
        }
    }
}

pub(crate) fn rate_from_the_bits_is_the_modelled_one_on_average<S: Subject<Filter: Insert + Estimate>>(
    subject: &S,
) {
    const SEEDS: u64 = 300;
    const KEYS: u64 = 1_000;
    for rate in [0.3, 0.1, 0.01, 1e-3, 1e-4] {
        let make = subject.maker(KEYS, rate);
        let rates: Vec<f64> = (0..SEEDS)
            .map(|seed| {
                let mut filter = make(seed);
                insert(&mut filter, seed, 0, KEYS);
                filter.expected_rate()
            })
            .collect();
        let (mean, error) = mean_and_error(&rates);
        let model = subject.modelled_rate(&make(0), KEYS);
        let z = (mean - model) / error;
        assert!(
            z.abs() <= SIGMAS,
            "{subject:?}, {KEYS} keys at {rate:e}, seeds 0 to {SEEDS}: {mean:.5e} on average by the bits, {model:.5e} \
             by the model: {z:.1} standard errors"
        );
    }
}

pub(crate) fn over_plan_is_told_and_not_too_early<S: Subject<Filter: Insert + Estimate>>(subject: &S) {
    for (planned, seeds) in [(1, 100), (10, 100), (1_000, 20), (50_000, 3)] {
        for rate in [0.3, 0.01, 1e-4] {
            let make = subject.maker(planned, rate);
            for seed in 0..seeds {
                let context = format!("{subject:?}, {planned} keys at {rate:e}, seed {seed}");
                let mut filter = make(seed);
                insert(&mut filter, seed, 0, planned);
                assert!(!filter.is_over_plan(), "{context}: called over plan when it holds its plan");
                insert(&mut filter, seed, planned, 2 * planned);
                // The smallest filters can't tell twice their plan from their plan.
                if planned >= 1_000 {
                    assert!(
                        filter.is_over_plan(),
                        "{context}: not called over plan when it holds twice that"
                    );
                }
                insert(&mut filter, seed, 2 * planned, 50 * planned.min(2_000));
                assert!(filter.is_over_plan(), "{context}: not called over plan when it is full");
            }
        }
    }
}

pub(crate) fn empty_and_filling<S: Subject<Filter: Insert + Estimate>>(subject: &S) {
    for planned in [1, 10, 1_000] {
        let seed = 22;
        let context = format!("{subject:?}, {planned} keys, seed {seed}");
        let mut filter = subject.make(planned, 0.01, seed);
        assert_eq!(filter.estimated_len(), 0, "{context}: keys in an empty filter");
        assert!(
            filter.fill_ratio() == 0.0 && filter.expected_rate() == 0.0 && !filter.is_over_plan(),
            "{context}"
        );
        let mut before = (0, 0.0, 0.0);
        for step in 0..20 {
            insert(&mut filter, seed, step * planned, (step + 1) * planned);
            let now = (filter.estimated_len(), filter.expected_rate(), filter.fill_ratio());
            assert!(
                now.0 >= before.0 && now.1 >= before.1 && now.2 >= before.2,
                "{context}: {now:?} after {before:?}"
            );
            assert!(now.1 <= 1.0 && now.2 <= 1.0, "{context}: {now:?}");
            before = now;
        }
        // Filled until nothing is left: yes to everything, and a number of keys that is finite.
        insert(&mut filter, seed, 20 * planned, 20_000 * planned.min(20));
        assert!(
            // (A window whose keys are all of one slot has generations that stay empty.)
            filter.fill_ratio() >= before.2 && filter.fill_ratio() <= 1.0 && filter.expected_rate() == 1.0,
            "{context}: {}",
            filter.fill_ratio()
        );
        assert!(filter.estimated_len() >= before.0 && filter.estimated_len() < u64::MAX, "{context}");
        assert_eq!(Keys::of(seed).false_positives(&filter, 1_000), 1_000, "{context}");
    }
}

fn insert<F: Insert>(filter: &mut F, seed: u64, from: u64, to: u64) {
    let hashes = Keys::of(seed).hashes(filter, from..to.max(from));
    filter.insert_hashes(&hashes, &mut vec![false; hashes.len()]).unwrap();
}
