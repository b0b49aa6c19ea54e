//! The whole filter, beside a multiset of keys. What RedisBloom did with the same keys is compared in `tests/golden`.

mod dumps;

use std::collections::HashMap;
use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::filter::InsertError;
use crate::formats::redisbloom::rdb::RdbVersion;

fn bytes(filter: &RedisCuckoo) -> Vec<u8> {
    filter.chunks().flat_map(|chunk| chunk.bytes.into_owned()).collect()
}

fn filled(capacity: u64, bucket_size: u64, expansion: u64, keys: u32) -> RedisCuckoo {
    let mut filter = RedisCuckoo::reserve(capacity, bucket_size, 20, expansion).unwrap();
    filter.set_limits(CuckooLimits { max_expansions: 1000, ..filter.limits() });
    for key in 0..keys {
        let _ = filter.add(&key);
    }
    filter
}

#[derive(Clone, Debug)]
enum Step {
    Add(u32),
    AddUnique(u32),
    Remove(u32),
    Compact,
}

fn step() -> impl Strategy<Value = Step> {
    // Keys from a small range are added again and removed again.
    let key = || prop_oneof![0u32..40, any::<u32>()];
    prop_oneof![
        6 => key().prop_map(Step::Add),
        2 => key().prop_map(Step::AddUnique),
        5 => key().prop_map(Step::Remove),
        1 => Just(Step::Compact),
    ]
}

proptest! {
    #[test]
    fn no_key_is_lost(
        bucket_size in 1u64..10,
        capacity in 20u64..60,
        iterations in 1u64..30,
        expansion in 0u64..5,
        steps in prop::collection::vec(step(), 0..400),
    ) {
        let mut filter = RedisCuckoo::reserve(capacity, bucket_size, iterations, expansion).unwrap();
        filter.set_limits(CuckooLimits { max_bytes: 1 << 20, ..filter.limits() });
        let mut model: HashMap<u32, u64> = HashMap::new();
        for step in steps {
            let before = bytes(&filter);
            match step {
                Step::Add(key) => match filter.add(&key) {
                    Ok(()) => *model.entry(key).or_default() += 1,
                    Err(_) => prop_assert!(bytes(&filter) == before),
                },
                Step::AddUnique(key) => {
                    let present = filter.contains(&key);
                    match filter.add_unique(&key) {
                        Ok(new) => {
                            prop_assert_eq!(new, !present);
                            *model.entry(key).or_default() += u64::from(new);
                        }
                        Err(_) => prop_assert!(bytes(&filter) == before),
                    }
                }
                // A key that isn't there might be taken for one that is.
                Step::Remove(key) => if let Some(count) = model.get_mut(&key).filter(|count| **count > 0) {
                    prop_assert!(filter.remove(&key));
                    *count -= 1;
                },
                Step::Compact => {
                    filter.compact();
                    prop_assert_eq!(filter.info().deletes, 0);
                }
            }
            for (key, count) in model.iter().filter(|(_, count)| **count > 0) {
                prop_assert!(filter.contains(key));
                prop_assert!(filter.count(key) >= *count);
            }
            prop_assert_eq!(filter.len(), model.values().sum::<u64>());
            prop_assert_eq!(filter.len(), filter.tables.iter().map(Table::taken).sum::<u64>());
        }
        prop_assert!(filter.clone() == filter);
        let again = RedisCuckoo::from_dump(&filter.to_dump(RdbVersion::REDIS_7_0).unwrap()).unwrap();
        prop_assert!(again == filter);
    }

    #[test]
    fn batches_are_the_same_as_one_by_one(
        bucket_size in 1u64..10,
        expansion in 0u64..3,
        keys in prop::collection::vec(0u32..200, 0..300),
        unique: bool,
    ) {
        let mut one = RedisCuckoo::reserve(40, bucket_size, 20, expansion).unwrap();
        one.set_limits(CuckooLimits { max_expansions: 1000, ..one.limits() });
        let mut many = one.clone();
        let expected: Vec<Added> = keys.iter().map(|key| {
            match if unique { one.add_unique(key) } else { one.add(key).map(|()| true) } {
                Ok(true) => Added::Added,
                Ok(false) => Added::Present,
                Err(error) => { assert_eq!(error, InsertError::Full); Added::Full }
            }
        }).collect();
        let mut answers = vec![Added::OutOfMemory; keys.len()];
        if unique { many.add_unique_each(&keys, &mut answers).unwrap() } else { many.add_each(&keys, &mut answers).unwrap() }
        prop_assert_eq!(answers, expected);
        prop_assert!(one == many);

        let asked: Vec<u32> = (0..300).collect();
        let mut found = vec![true; asked.len()];
        many.contains_each(&asked, &mut found);
        prop_assert_eq!(&found, &asked.iter().map(|key| one.contains(key)).collect::<Vec<_>>());

        let mut removed = vec![false; keys.len()];
        many.remove_each(&keys, &mut removed);
        prop_assert_eq!(removed, keys.iter().map(|key| one.remove(key)).collect::<Vec<_>>());
        prop_assert!(one == many);
    }
}

#[test]
fn numbers_that_redisbloom_refuses_are_refused() {
    let refused = |capacity, bucket_size, iterations, expansion| match RedisCuckoo::reserve(
        capacity,
        bucket_size,
        iterations,
        expansion,
    ) {
        Err(Error::Sizing(SizingError::OutOfRange { what, got, least, most })) => (what, got, least, most),
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(1024, 0, 20, 1), ("the bucket size", 0, 1, 255));
    assert_eq!(refused(1024, 256, 20, 1), ("the bucket size", 256, 1, 255));
    assert_eq!(refused(1024, 2, 0, 1), ("the number of iterations", 0, 1, 65_535));
    assert_eq!(refused(1024, 2, 65_536, 1), ("the number of iterations", 65_536, 1, 65_535));
    assert_eq!(refused(1024, 2, 20, 32_769), ("the expansion", 32_769, 0, 32_768));
    assert_eq!(refused(7, 4, 20, 1), ("the capacity", 7, 8, 1 << 30));
    assert_eq!(refused((1 << 30) + 1, 2, 20, 1), ("the capacity", (1 << 30) + 1, 2 * 2, 1 << 30));
    assert!(RedisCuckoo::reserve(8, 4, 65_535, 32_768).is_ok());
    assert_eq!(
        RedisCuckoo::memory_for(1024, 0).unwrap_err().to_string(),
        "the bucket size can't be 0; give 1 to 255"
    );
    let filter = RedisCuckoo::with_capacity(1000).unwrap();
    assert_eq!(RedisCuckoo::memory_for(1000, 2), Ok(filter.memory_bytes()));
}

#[test]
fn at_the_limit_of_expansions_nothing_is_added_even_if_there_is_room() {
    let mut filter = RedisCuckoo::with_capacity(64).unwrap();
    filter.set_limits(CuckooLimits { max_expansions: 2, ..filter.limits() });
    let added = (0..5).map(|_| filter.add("same")).filter(Result::is_ok).count();
    assert_eq!((added, filter.sub_filters()), (5, 2), "4 fit into two buckets");
    assert_eq!(filter.add("other"), Err(InsertError::TooManyLayers { limit: 2 }));
    assert_eq!(filter.add_unique("same"), Err(InsertError::TooManyLayers { limit: 2 }));
    let mut answers = [Added::Full; 2];
    assert!(filter.add_each(&["a", "b"], &mut answers).is_err());
    assert_eq!((answers, filter.len()), ([Added::Full; 2], 5));
    filter.set_limits(CuckooLimits { max_expansions: 3, ..filter.limits() });
    assert_eq!(filter.add("other"), Ok(()));

    // One command looks once.
    let mut answers = [Added::Full; 40];
    filter.add_each(&["same"; 40], &mut answers).unwrap();
    assert_eq!((answers, filter.sub_filters()), ([Added::Added; 40], 12));
}

#[test]
fn memory_is_limited_before_it_is_taken() {
    let mut filter = RedisCuckoo::with_capacity(1024).unwrap();
    filter.set_limits(CuckooLimits { max_bytes: filter.memory_bytes() + 1000, ..filter.limits() });
    for _ in 0..4 {
        filter.add("same").unwrap();
    }
    let before = bytes(&filter);
    assert!(matches!(filter.add("same"), Err(InsertError::Alloc(_))));
    let mut answers = [Added::Full; 2];
    filter.add_each(&["same", "other"], &mut answers).unwrap();
    assert_eq!(answers, [Added::OutOfMemory, Added::Added]);
    assert!(filter.remove("other"));
    assert_eq!(bytes(&filter)[24..], before[24..]);
    filter.set_limits(CuckooLimits { max_bytes: filter.memory_bytes() + 2000, ..filter.limits() });
    filter.add("same").unwrap();
    assert_eq!(filter.sub_filters(), 2);
}

#[test]
fn what_is_in_one_bucket_twice_over_counts_twice() {
    // With two buckets both are the same for every second fingerprint.
    let mut filter = RedisCuckoo::with_capacity(4).unwrap();
    filter.add_hash(255).unwrap();
    assert_eq!(filter.count_hash(255), 1, "fingerprint 1, which has another bucket");
    filter.clear();
    filter.add_hash(1).unwrap();
    assert_eq!(filter.count_hash(1), 2, "fingerprint 2, which has not");
    assert_eq!(filter.len(), 1);
    assert!(filter.remove_hash(1) && !filter.remove_hash(1));
    assert_eq!(filter.count_hash(1), 0);
}

#[test]
fn compaction_lets_go_of_what_it_empties_and_the_automatic_one_stops_early() {
    let mut filter = filled(64, 2, 1, 500);
    assert!(filter.sub_filters() > 6);
    (0..430u32).for_each(|key| assert!(filter.remove(&key)));
    assert!((430..500u32).all(|key| filter.contains(&key)));
    let automatic = filter.sub_filters();
    filter.compact();
    assert!(filter.sub_filters() <= automatic && automatic < 7, "{automatic}");
    assert!((430..500u32).all(|key| filter.contains(&key)));
    assert_eq!((filter.len(), filter.info().deletes), (70, 0));
    filter.clear();
    assert_eq!((filter.sub_filters(), filter.len(), filter.slots()), (1, 0, 64));
    assert!(filter.scan_dump(0).is_none() && filter.chunks().count() == 2, "an empty filter has no dump");
    assert_eq!(filter.expected_rate(), 0.0);
}

#[test]
fn the_expected_rate_is_the_measured_one() {
    for (bucket_size, expansion, keys) in [(1, 1, 300), (2, 1, 900), (2, 2, 6000), (4, 1, 4000), (8, 4, 5000)]
    {
        let filter = filled(1024, bucket_size, expansion, keys);
        let expected = filter.expected_rate();
        let asked = 200_000u32;
        let found =
            (0..asked).filter(|key| filter.contains(&(key + 1_000_000))).count() as f64 / f64::from(asked);
        // Five standard deviations of the count, for the mean over keys of a filter that is given.
        let tolerance = 5.0 * (expected / f64::from(asked)).sqrt() + expected * 0.02;
        assert!((found - expected).abs() < tolerance, "{bucket_size} {expansion}: {found} {expected}");
    }
}
