//! Keys come and go.

use std::collections::HashMap;

use mayhap::filter::{Count, Filter as _, Insert as _, Persist, Remove};

use crate::keys::{Keys, scattered};
use crate::subject::Subject;

/// Random adds and removes beside a map of true counts: a key that is in the set is always found, and never counted
/// too low. In the end all of them go, and nothing is found any more.
pub(crate) fn no_false_negatives_while_keys_come_and_go<S: Subject<Filter: Remove + Count>>(subject: &S) {
    const KEYS: u64 = 2_000;
    const COPIES: u64 = 4;
    let (seed, mut state) = (51, 51);
    let mut random = |below: u64| {
        state += 1;
        scattered(state) % below
    };
    let mut filter = subject.make(COPIES * KEYS, 0.01, seed);
    let hashes = Keys::of(seed).present(&filter, KEYS);
    let mut model: HashMap<usize, u64> = HashMap::new();
    for step in 0..40_000 {
        let number = random(KEYS) as usize;
        let copies = model.entry(number).or_default();
        let context = format!("{subject:?}, seed {seed}, step {step}: {copies} copies of key {number}");
        if *copies < COPIES && random(2) == 0 {
            // Buckets of one or two places refuse the third copy and the fifth, and nothing may be lost by that.
            *copies += u64::from(filter.insert_hash(hashes[number]).is_ok());
        } else if *copies > 0 {
            assert!(filter.remove_hash(hashes[number]), "{context}, and nothing to remove");
            *copies -= 1;
        }
        if step % 1_000 == 0 {
            for (number, copies) in model.iter().filter(|(_, copies)| **copies > 0) {
                let hash = hashes[*number];
                assert!(filter.contains_hash(hash), "{context}: key {number} is lost");
                assert!(filter.count_hash(hash) >= *copies, "{context}: key {number} is counted too low");
            }
            let expected: Vec<u64> = hashes.iter().map(|hash| filter.count_hash(*hash)).collect();
            let mut counts = vec![99; hashes.len()];
            filter.count_hashes(&hashes, &mut counts);
            assert!(counts == expected, "{context}: a batch counts otherwise");
        }
    }
    let held: u64 = model.values().sum();
    assert!(held > KEYS / 2, "{subject:?}, seed {seed}: only {held} copies of {KEYS} keys were taken");
    for (number, copies) in model {
        for _ in 0..copies {
            assert!(filter.remove_hash(hashes[number]), "{subject:?}, seed {seed}: key {number} is lost");
        }
    }
    let left = hashes.iter().filter(|hash| filter.contains_hash(**hash)).count();
    assert_eq!(left, 0, "{subject:?}, seed {seed}: everything was removed");
}

/// A batch with keys that are there, some of them twice, and keys that are not.
pub(crate) fn removes_in_a_batch_are_one_by_one<S>(subject: &S)
where
    S: Subject<Filter: Remove + PartialEq>,
{
    for keys in [1_000, 300_000] {
        let seed = 52;
        let context = format!("{subject:?}, {keys} keys, seed {seed}");
        let (mut one_by_one, mut batch) = (subject.make(keys, 0.01, seed), subject.make(keys, 0.01, seed));
        let hashes = Keys::of(seed).present(&batch, keys);
        for filter in [&mut one_by_one, &mut batch] {
            filter.insert_hashes(&hashes, &mut vec![false; hashes.len()]).unwrap();
        }
        let absent = Keys::of(seed).absent(&batch, keys / 10);
        let mut gone = hashes[..hashes.len() / 2].to_vec();
        gone.extend_from_slice(&absent);
        gone.extend_from_slice(&hashes[..100]);
        gone.extend(hashes[500..600].iter().flat_map(|hash| [*hash, *hash]));
        let expected: Vec<bool> = gone.iter().map(|hash| one_by_one.remove_hash(*hash)).collect();
        let mut removed = vec![false; gone.len()];
        batch.remove_hashes(&gone, &mut removed);
        assert!(removed == expected, "{context}: other answers");
        assert!(batch == one_by_one, "{context}: other bits");
    }
}

/// What is certainly not there can't be removed, and trying leaves every byte as it was.
pub(crate) fn removing_what_is_not_there_changes_nothing<S>(subject: &S)
where
    S: Subject<Filter: Remove + Persist>,
{
    let (keys, seed) = (1_000, 53);
    let mut filter = subject.make(keys, 0.01, seed);
    for hash in Keys::of(seed).present(&filter, keys) {
        filter.insert_hash(hash).unwrap();
    }
    let before = filter.to_bytes().unwrap();
    let mut absent = Keys::of(seed).absent(&filter, 20 * keys);
    absent.retain(|hash| !filter.contains_hash(*hash));
    assert!(absent.len() > 19 * keys as usize);
    let mut removed = vec![true; absent.len()];
    filter.remove_hashes(&absent, &mut removed);
    assert!(!removed.contains(&true), "{subject:?}, seed {seed}: removed what wasn't there");
    assert!(absent.iter().all(|hash| !filter.remove_hash(*hash)), "{subject:?}, seed {seed}");
    assert!(filter.to_bytes().unwrap() == before, "{subject:?}, seed {seed}: something has changed");
}
