//! The filter against a map of counts, when full, and against its promise.

use super::*;
use crate::bits::Block;
use crate::filter::InsertError;
use proptest::prelude::*;
use std::collections::HashMap;
use std::vec::Vec;

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn bytes(filter: &DLeftCounting) -> Vec<Block> {
    filter.blocks.to_vec()
}

/// Cells and copies counted again from the body.
fn assert_counts_are_right(filter: &DLeftCounting) {
    let (mut cells, mut len) = (0, 0);
    for line in filter.blocks.iter() {
        let (used, copies) = table::used(filter.cell(), line);
        cells += used;
        len += copies;
        assert!(filter.cell().is_clean(line));
    }
    assert_eq!((filter.used_cells, filter.len), (cells, len));
}

proptest! {
    /// Any sequence of adds and removes of keys that were added: no false negative, no count too low, exact length, and
    /// an error changes nothing. Small filters, so that full buckets, moves and companion cells are common.
    #[test]
    fn never_forgets_what_is_there(
        seed in any::<u64>(),
        planned in 1u64..200,
        counter_bits in 1u32..4,
        rate in prop::sample::select(std::vec![0.5, 0.1, 0.01, 1e-6]),
        keys in 1u64..400,
        steps in 1usize..3_000,
    ) {
        let mut filter = DLeftCounting::builder()
            .keys(planned).rate(rate).counter_bits(counter_bits).seed(seed).build().unwrap();
        let mut model: HashMap<u64, u64> = HashMap::new();
        let mut state = seed;
        for _ in 0..steps {
            let key = splitmix(&mut state) % keys;
            let copies = model.entry(key).or_default();
            if splitmix(&mut state).is_multiple_of(3) && *copies > 0 {
                prop_assert!(filter.remove(&key));
                *copies -= 1;
            } else {
                let (before, counted) = (bytes(&filter), filter.count(&key));
                match filter.insert(&key) {
                    Ok(new) => {
                        prop_assert_eq!(new, counted == 0);
                        prop_assert_eq!(filter.count(&key), counted + 1);
                        *copies += 1;
                    }
                    Err(error) => {
                        prop_assert!(bytes(&filter) == before, "{} changed something", error);
                        prop_assert_eq!(filter.count(&key), counted);
                    }
                }
            }
        }
        assert_counts_are_right(&filter);
        prop_assert_eq!(filter.len(), model.values().sum::<u64>());
        for (key, copies) in &model {
            prop_assert!(filter.count(key) >= *copies, "{}: {} < {}", key, filter.count(key), copies);
            prop_assert_eq!(filter.contains(key), filter.count(key) > 0);
        }
        for (key, copies) in model {
            for _ in 0..copies {
                prop_assert!(filter.remove(&key));
            }
        }
        prop_assert!(filter.is_empty() && bytes(&filter).iter().all(|block| *block == Block::default()));
    }

    #[test]
    fn batches_are_one_by_one(
        seed in any::<u64>(),
        keys in 0usize..2_000,
        planned in 1u64..1_000,
        distinct in 1u64..2_000,
    ) {
        let mut one_by_one = DLeftCounting::builder().keys(planned).rate(0.01).seed(seed).build().unwrap();
        let mut batched = one_by_one.clone();
        let mut hashed = one_by_one.clone();
        let mut state = seed;
        let keys: Vec<u64> = (0..keys).map(|_| splitmix(&mut state) % distinct).collect();
        let digests: Vec<Digest> = keys.iter().map(|key| one_by_one.hash(key)).collect();
        let (mut new, mut new_of_hashes) = (std::vec![true; keys.len()], std::vec![true; keys.len()]);
        let outcome = batched.insert_each(&keys, &mut new);
        prop_assert_eq!(&outcome, &hashed.insert_hashes(&digests, &mut new_of_hashes));
        let mut expected = std::vec![false; keys.len()];
        let mut refused = Ok(());
        for (key, new) in keys.iter().zip(&mut expected) {
            match one_by_one.insert(key) {
                Ok(answer) => *new = answer,
                Err(error) => { refused = Err(error); break }
            }
        }
        prop_assert_eq!(outcome, refused);
        prop_assert_eq!(&new, &expected);
        prop_assert_eq!(&new_of_hashes, &expected);
        prop_assert!(batched == one_by_one && hashed == one_by_one);

        let mut found = std::vec![false; keys.len()];
        let mut found_of_hashes = found.clone();
        let mut counts = std::vec![0; keys.len()];
        let mut counts_of_hashes = counts.clone();
        batched.contains_each(&keys, &mut found);
        batched.contains_hashes(&digests, &mut found_of_hashes);
        batched.count_each(&keys, &mut counts);
        batched.count_hashes(&digests, &mut counts_of_hashes);
        for (index, key) in keys.iter().enumerate() {
            prop_assert_eq!(found[index], one_by_one.contains(key));
            prop_assert_eq!(found_of_hashes[index], found[index]);
            prop_assert_eq!(counts[index], one_by_one.count(key));
            prop_assert_eq!(counts_of_hashes[index], counts[index]);
        }
        let (mut removed, mut removed_of_hashes) = (found.clone(), found);
        batched.remove_each(&keys, &mut removed);
        hashed.remove_hashes(&digests, &mut removed_of_hashes);
        let expected: Vec<bool> = keys.iter().map(|key| one_by_one.remove(key)).collect();
        prop_assert_eq!(&removed, &expected);
        prop_assert_eq!(&removed_of_hashes, &expected);
        prop_assert!(batched == one_by_one && hashed == one_by_one);
        assert_counts_are_right(&batched);
    }
}

#[test]
fn a_full_filter_refuses_and_loses_nothing() {
    for (planned, rate, counter_bits) in [(1, 0.5, 1), (60, 0.01, 2), (1_000, 0.03, 2), (20_000, 1e-3, 4)] {
        let mut filter = DLeftCounting::builder()
            .keys(planned)
            .rate(rate)
            .counter_bits(counter_bits)
            .seed(3)
            .build()
            .unwrap();
        let mut added = Vec::new();
        let mut refused = 0;
        for key in 0u64.. {
            let before = bytes(&filter);
            match filter.insert(&key) {
                Ok(_) => added.push(key),
                Err(error) => {
                    assert_eq!(error, InsertError::Full);
                    assert!(bytes(&filter) == before, "{planned}");
                    refused += 1;
                    if refused == 20 {
                        break;
                    }
                }
            }
        }
        assert!(filter.fill_ratio() > 0.97, "{planned}: {}", filter.fill_ratio());
        assert!(filter.is_over_plan());
        assert_eq!(filter.len(), added.len() as u64);
        assert_counts_are_right(&filter);
        assert!(added.iter().all(|key| filter.contains(key)));
        assert!(added.iter().all(|key| filter.remove(key)));
        assert!(bytes(&filter).iter().all(|block| *block == Block::default()));
        assert_counts_are_right(&filter);
    }
}

#[test]
fn copies_of_one_key_go_on_in_other_cells_up_to_the_limit() {
    for counter_bits in [1, 2, 5, 16] {
        let mut filter =
            DLeftCounting::builder().keys(1_000).rate(0.01).counter_bits(counter_bits).build().unwrap();
        let limit = filter.most_copies();
        assert_eq!(limit, (2 * filter.cell().per_bucket()) << counter_bits);
        for copy in 0..limit {
            assert_eq!(filter.insert("apple"), Ok(copy == 0));
        }
        let before = bytes(&filter);
        assert_eq!(filter.insert("apple"), Err(InsertError::TooManyCopies { limit }));
        assert!(bytes(&filter) == before);
        assert_eq!((filter.count("apple"), filter.len()), (limit, limit));
        for copy in (0..limit).rev() {
            assert!(filter.remove("apple"));
            let cells = copy.div_ceil(filter.cell().most());
            assert_eq!(filter.used_cells, cells, "no more cells than the copies need");
        }
        assert!(!filter.remove("apple") && filter.is_empty());
        assert!(bytes(&filter).iter().all(|block| *block == Block::default()));
    }
}

/// A key whose copies fill its two buckets moves others out of the way, and is stopped without harm to any.
#[test]
fn copies_among_other_keys_do_no_harm() {
    let mut filter =
        DLeftCounting::builder().keys(2_000).rate(0.001).counter_bits(1).seed(9).build().unwrap();
    for key in 0..2_000u64 {
        filter.insert(&key).unwrap();
    }
    let mut copies = 0;
    let error = loop {
        match filter.insert("apple") {
            Ok(_) => copies += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, InsertError::Full | InsertError::TooManyCopies { .. }), "{error}");
    assert!(copies > 20, "{copies}");
    assert!((0..2_000u64).all(|key| filter.contains(&key)));
    assert!(filter.count("apple") >= copies);
    for _ in 0..copies {
        assert!(filter.remove("apple"));
    }
    assert!((0..2_000u64).all(|key| filter.remove(&key)));
    assert!(bytes(&filter).iter().all(|block| *block == Block::default()));
}

/// A cell of another key that can't move isn't what stops the copies: a larger filter would stop them, too.
#[test]
fn copies_are_named_as_the_reason_where_others_are_among_them() {
    let mut among_others = 0;
    for seed in 0..40 {
        let mut filter = DLeftCounting::builder().keys(600).rate(0.01).seed(seed).build().unwrap();
        let most = filter.most_copies();
        // Full buckets, here and there, by copies of other keys; half of all cells at most.
        let mut key = 0u64;
        while filter.fill_ratio() < 0.45 {
            while filter.insert(&key).is_ok() {}
            key += 1;
        }
        for stray in 1_000..1_100u64 {
            let _ = filter.insert(&stray);
        }
        for copies in 0u64.. {
            let before = bytes(&filter);
            match filter.insert("apple") {
                Ok(_) => {}
                Err(InsertError::TooManyCopies { limit }) => {
                    assert!(limit <= most && limit == filter.count("apple"), "{seed}: {limit}");
                    assert!(bytes(&filter) == before);
                    among_others += u64::from(limit < most);
                    break;
                }
                Err(error) => {
                    assert!(copies <= most / 2, "{seed}: {error} at {copies} copies of {most}");
                    break;
                }
            }
        }
    }
    assert!(among_others > 0);
}

/// Building for n keys and inserting n succeeds. Thousands of small filters, so that a chance of 1 in 1000 would show;
/// `examples/d_left_loads.rs` looks closer.
#[test]
fn planned_keys_fit() {
    for (keys, filters) in
        [(1, 300), (2, 300), (10, 300), (68, 300), (69, 1_000), (100, 3_000), (1_000, 1_000), (30_000, 40)]
    {
        for rate in [0.03, 0.01, 1e-3, 1e-9] {
            for seed in 0..filters / 3 {
                let mut filter = DLeftCounting::builder().keys(keys).rate(rate).seed(seed).build().unwrap();
                for key in 0..keys {
                    assert!(filter.insert(&key).is_ok(), "{keys} keys at {rate}, seed {seed}: key {key}");
                }
                assert!(!filter.is_over_plan());
            }
        }
    }
}

/// Keys that come and go at the planned number, ten times over: none is refused.
#[test]
fn keys_may_come_and_go_for_ever() {
    for (keys, rate) in [(100u64, 0.01), (3_000, 0.03), (50_000, 0.01), (3_000, 1e-6)] {
        let mut filter = DLeftCounting::builder().keys(keys).rate(rate).seed(1).build().unwrap();
        for key in 0..keys {
            filter.insert(&key).unwrap();
        }
        let mut state = 5;
        let mut present: Vec<u64> = (0..keys).collect();
        for key in keys..11 * keys {
            let index = (splitmix(&mut state) % keys) as usize;
            assert!(filter.remove(&present[index]));
            present[index] = key;
            assert!(filter.insert(&key).is_ok(), "{keys} keys at {rate}: key {key}");
        }
        assert!(present.iter().all(|key| filter.contains(key)));
        assert_eq!(filter.len(), keys);
        assert_counts_are_right(&filter);
    }
}

/// Measured rate against model and promise, before and after all keys were replaced. The number of wrong answers is
/// binomial; 5 standard deviations of it are allowed around the model.
#[test]
fn the_rate_is_the_modelled_one_and_within_the_promise() {
    const KEYS: u64 = 200_000;
    const ASKED: u64 = 4_000_000;
    for rate in [0.03, 0.01, 0.001] {
        let mut filter = DLeftCounting::builder().keys(KEYS).rate(rate).seed(11).build().unwrap();
        for key in 0..KEYS {
            filter.insert(&key).unwrap();
        }
        for round in 0..2 {
            let wrong = (1 << 40..(1 << 40) + ASKED).filter(|key: &u64| filter.contains(key)).count() as f64;
            let expected = ASKED as f64 * filter.expected_rate();
            assert!(
                (wrong - expected).abs() < 5.0 * expected.sqrt(),
                "{rate}, {round}: {wrong} for {expected}"
            );
            assert!(wrong < rate * ASKED as f64, "{rate}: {}", wrong / ASKED as f64);
            let plan = crate::sizing::DLeftPlan::for_rate(KEYS, rate).unwrap();
            assert!((filter.expected_rate() / plan.expected_rate() - 1.0).abs() < 0.01);
            for key in 0..KEYS {
                assert!(filter.remove(&(key + round * KEYS)));
                filter.insert(&(key + (round + 1) * KEYS)).unwrap();
            }
        }
    }
}

/// Keys that share cells are estimated back. With 60 filters the mean may be off by 5 / √60 of a standard error, and by
/// the rounding to whole keys.
#[test]
fn length_is_estimated_from_the_cells() {
    for (keys, rate) in [(2_000u64, 0.3), (2_000, 0.9), (5_000, 0.05)] {
        let mut sum = 0.0;
        let mut standard_error = 0.0;
        for seed in 0..60 {
            let mut filter = DLeftCounting::builder().keys(keys).rate(rate).seed(seed).build().unwrap();
            for key in 0..keys {
                filter.insert(&key).unwrap();
            }
            assert!(filter.used_cells < keys, "some share a cell");
            standard_error =
                crate::sizing::d_left::standard_error(filter.cell(), filter.bucket_count(), keys);
            let off = filter.estimated_len() as f64 - keys as f64;
            assert!(off.abs() < 5.0 * standard_error + 0.5, "{keys} keys at {rate}, seed {seed}: {off}");
            sum += off;
        }
        assert!(
            (sum / 60.0).abs() < 5.0 / 60f64.sqrt() * standard_error + 0.5,
            "{keys} keys at {rate}: {sum}"
        );
    }
}

/// The numbers of the module's page.
#[test]
fn less_than_half_of_a_counting_bloom_filter() {
    let bits_per_key = |bytes: u64| bytes as f64 * 8.0 / 1e6;
    let filter = bits_per_key(DLeftCounting::with_rate(1_000_000, 0.01).unwrap().len_bytes());
    let counting = bits_per_key(crate::CountingBloom::with_rate(1_000_000, 0.01).unwrap().len_bytes());
    assert!(filter < counting / 2.0, "{filter}, {counting}");
    assert!((filter - 15.8).abs() < 0.05 && (counting - 45.9).abs() < 0.05, "{filter}, {counting}");
}

/// The recipe, held still: the bytes of a filter of fixed keys.
#[test]
fn the_recipe_is_frozen() {
    let mut filter = DLeftCounting::builder().keys(2_000).rate(0.01).seed(42).build().unwrap();
    for key in 0..1_000u64 {
        for _ in 0..=key % 7 {
            filter.insert(&key).unwrap();
        }
    }
    let checksum = filter
        .blocks
        .iter()
        .flat_map(|block| block.0)
        .fold(0u64, |sum, word| (sum ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29));
    assert_eq!((filter.bucket_count(), filter.len(), checksum), (31, 3_997, FROZEN), "{checksum:#018x}");
}

const FROZEN: u64 = 0x05a1_7faa_d82e_f167;
