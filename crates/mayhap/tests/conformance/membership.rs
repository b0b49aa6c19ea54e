//! Keys go in and are found again.

use mayhap::filter::{Filter, Insert};

use crate::interval::{SIGMAS, mean_and_error};
use crate::keys::{KeyBytes, Keys};
use crate::subject::{Keyed, Subject};

/// Keys of a filter of more than a MiB, where batches are prefetched.
const LARGE: u64 = 900_000;

pub(crate) fn no_false_negatives<S: Subject<Filter: Insert>>(subject: &S) {
    for (keys, rate) in [(1, 0.3), (1, 1e-9), (10, 0.1), (1_000, 0.01), (1_000_000, 0.01)] {
        let seed = keys;
        let mut filter = subject.make(keys, rate, seed);
        let present = Keys::of(seed).present(&filter, keys);
        for hash in &present {
            filter.insert_hash(*hash).unwrap();
        }
        let missing = present.iter().filter(|hash| !filter.contains_hash(**hash)).count();
        assert_eq!(missing, 0, "{subject:?}, {keys} keys at {rate}, seed {seed}, one by one");
        let mut found = vec![false; present.len()];
        filter.contains_hashes(&present, &mut found);
        let missing = found.iter().filter(|found| !**found).count();
        assert_eq!(missing, 0, "{subject:?}, {keys} keys at {rate}, seed {seed}, in a batch");
    }
}

pub(crate) fn batch_is_one_by_one<S: Subject<Filter: Insert + PartialEq>>(subject: &S) {
    for keys in [2_000, LARGE] {
        let seed = 11;
        let (mut one_by_one, mut batch) = (subject.make(keys, 0.01, seed), subject.make(keys, 0.01, seed));
        // Every key twice, far apart and right behind itself, and half of them past the plan.
        let mut hashes = Keys::of(seed).present(&batch, keys + keys / 2);
        hashes.extend_from_within(..hashes.len() / 3);
        let mut doubled = Vec::with_capacity(hashes.len() + 1_000);
        doubled.extend(hashes[..1_000].iter().flat_map(|hash| [*hash, *hash]));
        doubled.extend_from_slice(&hashes[1_000..]);

        let expected: Vec<bool> = doubled.iter().map(|hash| one_by_one.insert_hash(*hash).unwrap()).collect();
        let mut new = vec![true; doubled.len()];
        for (hashes, new) in in_pieces(&doubled, &mut new) {
            batch.insert_hashes(hashes, new).unwrap();
        }
        assert!(new == expected, "{subject:?}, {keys} keys, seed {seed}: other answers of insert");
        assert!(batch == one_by_one, "{subject:?}, {keys} keys, seed {seed}: other bits");

        let mut questions = Keys::of(seed).absent(&batch, keys);
        questions.extend_from_slice(&hashes);
        let expected: Vec<bool> = questions.iter().map(|hash| one_by_one.contains_hash(*hash)).collect();
        let mut found = vec![false; questions.len()];
        for (hashes, found) in in_pieces(&questions, &mut found) {
            batch.contains_hashes(hashes, found);
        }
        assert!(found == expected, "{subject:?}, {keys} keys, seed {seed}: other answers of contains");
    }
}

/// A filter that is full in the middle of a batch has taken the keys before that, and says of no other that it was new.
pub(crate) fn keys_that_are_refused_are_not_new<S: Subject<Filter: Insert + PartialEq>>(subject: &S) {
    for keys in [1, 10, 1_000, 40_000] {
        let seed = 15;
        let (mut one_by_one, mut batch) = (subject.make(keys, 0.01, seed), subject.make(keys, 0.01, seed));
        let hashes = Keys::of(seed).present(&batch, 3 * keys + 200);
        let mut new = vec![true; hashes.len()];
        let error = batch.insert_hashes(&hashes, &mut new).expect_err("three times as many as planned");
        let mut expected = vec![false; hashes.len()];
        let refused = hashes
            .iter()
            .zip(&mut expected)
            .find_map(|(hash, new)| one_by_one.insert_hash(*hash).map(|answer| *new = answer).err());
        assert_eq!(refused, Some(error), "{subject:?}, {keys} keys, seed {seed}");
        assert!(new == expected, "{subject:?}, {keys} keys, seed {seed}: other answers");
        assert!(batch == one_by_one, "{subject:?}, {keys} keys, seed {seed}: other bits");
    }
}

pub(crate) fn keys_are_their_digests<S: Subject<Filter: Insert + Keyed + PartialEq>>(subject: &S) {
    let (seed, keys) = (12, 3_000);
    let mut by_hash = subject.make(keys, 0.01, seed);
    let (mut by_key, mut by_batch) = (subject.make(keys, 0.01, seed), subject.make(keys, 0.01, seed));
    let set: Vec<KeyBytes> = (0..keys + 500).map(|number| Keys::of(seed).key(number)).collect();
    let hashes = Keys::of(seed).hashes(&by_hash, 0..keys + 500);
    let (inserted, _) = set.split_at(keys as usize);

    let expected: Vec<bool> =
        hashes[..inserted.len()].iter().map(|hash| by_hash.insert_hash(*hash).unwrap()).collect();
    let new: Vec<bool> = inserted.iter().map(|key| by_key.insert(key)).collect();
    let mut new_in_batch = vec![false; inserted.len()];
    by_batch.insert_each(inserted, &mut new_in_batch);
    assert!(new == expected && new_in_batch == expected, "{subject:?}: other answers of insert");
    assert!(by_key == by_hash && by_batch == by_hash, "{subject:?}: other bits");

    let expected: Vec<bool> = hashes.iter().map(|hash| by_hash.contains_hash(*hash)).collect();
    let found: Vec<bool> = set.iter().map(|key| by_hash.contains(key)).collect();
    let mut found_in_batch = vec![false; set.len()];
    by_hash.contains_each(&set, &mut found_in_batch);
    assert!(found == expected && found_in_batch == expected, "{subject:?}: other answers of contains");
}

pub(crate) fn every_answer_of_insert_is_right<S: Subject<Filter: Insert>>(subject: &S) {
    for (keys, rate) in [(1, 0.1), (10, 0.3), (3_000, 0.1)] {
        let seed = 13;
        let mut filter = subject.make(keys, rate, seed);
        for (number, hash) in Keys::of(seed).present(&filter, 2 * keys).into_iter().enumerate() {
            let known = filter.contains_hash(hash);
            let new = filter.insert_hash(hash).unwrap();
            assert_eq!(
                new, !known,
                "{subject:?}, {keys} keys, seed {seed}, key {number}: new, or not in the filter"
            );
            assert!(
                filter.contains_hash(hash),
                "{subject:?}, {keys} keys, seed {seed}, key {number} is lost"
            );
            let again = filter.insert_hash(hash).unwrap();
            assert!(!again, "{subject:?}, {keys} keys, seed {seed}, key {number} is new twice");
        }
    }
}

/// Among n different keys, those that are false positives when they come are not "new": the sum of the
/// model's rate from 0 to n - 1 keys.
pub(crate) fn new_answers_fall_short_by_the_false_positives<S: Subject<Filter: Insert>>(subject: &S) {
    const SEEDS: u64 = 200;
    let (keys, inserted) = (2_000, 3_000);
    for rate in [0.3, 0.05] {
        let make = subject.maker(keys, rate);
        let shortfall: Vec<f64> = (0..SEEDS)
            .map(|seed| {
                let mut filter = make(seed);
                let hashes = Keys::of(seed).present(&filter, inserted);
                let mut new = vec![false; hashes.len()];
                filter.insert_hashes(&hashes, &mut new).unwrap();
                new.iter().filter(|new| !**new).count() as f64
            })
            .collect();
        let expected = sum_of_rates(subject, &make(0), inserted);
        let (mean, error) = mean_and_error(&shortfall);
        let z = (mean - expected) / error;
        assert!(
            z.abs() <= SIGMAS,
            "{subject:?} at {rate}: {mean:.2} of {inserted} keys not new on average over seeds 0 to {SEEDS}, \
             {expected:.2} expected: {z:.1} standard errors"
        );
    }
}

pub(crate) fn extend_is_insert<S>(subject: &S)
where
    S: Subject<Filter: Insert + PartialEq + Extend<KeyBytes> + Extend<<S::Filter as Filter>::Hash>>,
{
    // Around the length of the batches in which extend works.
    for keys in [0, 1, 1_023, 1_024, 1_025, 5_000] {
        let seed = 14;
        let make = || subject.make(3_000, 0.01, seed);
        let (mut inserted, mut by_key, mut by_hash) = (make(), make(), make());
        let hashes = Keys::of(seed).present(&inserted, keys);
        for hash in &hashes {
            inserted.insert_hash(*hash).unwrap();
        }
        by_key.extend((0..keys).map(|number| Keys::of(seed).key(number)));
        by_hash.extend(hashes);
        assert!(
            by_key == inserted && by_hash == inserted,
            "{subject:?}, {keys} keys, seed {seed}: other bits"
        );
    }
}

/// The model's rate, summed over 0 to `keys` - 1 keys in the filter.
fn sum_of_rates<S: Subject>(subject: &S, filter: &S::Filter, keys: u64) -> f64 {
    // Trapezoids: the rate is smooth, so what they leave out is some millionths.
    const STEPS: u64 = 300;
    let width = keys as f64 / STEPS as f64;
    let rate = |step: u64| subject.modelled_rate(filter, (step as f64 * width).round() as u64);
    let middle: f64 = (1..STEPS).map(rate).sum();
    // The sum over whole numbers is the integral up to n, less half of the last term.
    width * (middle + rate(STEPS) / 2.0) - rate(STEPS) / 2.0
}

/// Pieces of all lengths around those that the batch code treats differently.
fn in_pieces<'a, H>(
    hashes: &'a [H],
    answers: &'a mut [bool],
) -> impl Iterator<Item = (&'a [H], &'a mut [bool])> {
    let mut lengths = [0, 1, 2, 7, 8, 9, 10, 11, 19, 20, 21, 31, 32, 33, 40, 41, 63, 64, 65, 1_000, 50_000]
        .into_iter()
        .cycle();
    let (mut hashes, mut answers) = (hashes, answers);
    std::iter::from_fn(move || {
        if hashes.is_empty() {
            return None;
        }
        let length = lengths.next().unwrap().min(hashes.len());
        let (now, later) = hashes.split_at(length);
        let (answers_now, answers_later) = std::mem::take(&mut answers).split_at_mut(length);
        (hashes, answers) = (later, answers_later);
        Some((now, answers_now))
    })
}
