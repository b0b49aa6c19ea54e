//! The filter against a model, against its promise, and against itself.

use std::collections::HashMap;
use std::vec::Vec;

use super::*;
use crate::merge_error::MergeError;
use crate::sizing::counting;

fn key(i: u64) -> Digest {
    KeyHasher::xxh3(99).digest(&i)
}

fn build(layout: CounterLayout, keys: u64, rate: f64) -> CountingBloom {
    CountingBloom::builder().keys(keys).rate(rate).width(layout.width).shape(layout.shape).build().unwrap()
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * u128::from(bound)) >> 64) as u64
    }
}

fn check_against(model: &HashMap<u64, u64>, filter: &CountingBloom) {
    let max = filter.max_count();
    for (i, times) in model.iter().filter(|(_, times)| **times > 0) {
        assert!(filter.contains_hash(key(*i)), "key {i}, added {times} times, was lost");
        let count = filter.count_hash(key(*i));
        assert!(count >= (*times).min(max), "key {i}: {count}, not {times}");
    }
}

/// Adds and removes, of keys that are there only. A few favourites are added so often that 4-bit counters stick.
#[test]
fn no_sequence_of_adds_and_removes_loses_a_key() {
    for layout in CounterLayout::all() {
        for seed in 0..3 {
            let mut random = Random(seed);
            let mut filter = build(layout, 400, 0.02);
            let mut model: HashMap<u64, u64> = HashMap::new();
            let mut held: Vec<u64> = Vec::new();
            for step in 0..12_000 {
                let grows = step < 4_000 || random.below(2) == 0;
                if grows {
                    let i = if random.below(8) == 0 { random.below(20) } else { random.below(800) };
                    let was = model.entry(i).or_default();
                    let new = filter.insert_hash(key(i));
                    assert!(!new || *was == 0, "key {i} was there {was} times, and is called new");
                    *was += 1;
                    held.push(i);
                } else if !held.is_empty() {
                    let i = held.swap_remove(random.below(held.len() as u64) as usize);
                    assert!(filter.remove_hash(key(i)), "key {i} was there");
                    *model.get_mut(&i).unwrap() -= 1;
                }
                assert_eq!(filter.len(), held.len() as u64);
                if step % 1_500 == 0 {
                    check_against(&model, &filter);
                }
            }
            check_against(&model, &filter);
            let stuck = filter.stuck_counters();
            assert_eq!(stuck > 0, layout.width == CounterWidth::Four, "{layout:?}: {stuck} stuck");
            for i in held {
                assert!(filter.remove_hash(key(i)));
            }
            assert!(filter.is_empty());
            assert_eq!(filter.stuck_counters(), stuck, "removes don't free a stuck counter, nor add one");
            if stuck == 0 {
                assert!(filter.blocks.iter().all(|block| block.0 == [0; 8]), "all was removed");
            } else {
                let above_zero = (filter.fill_ratio() * filter.counter_count() as f64).round();
                assert_eq!(above_zero as u64, stuck, "nothing but stuck counters is left");
            }
        }
    }
}

#[test]
fn a_key_added_too_often_stays_for_ever_and_harms_no_other() {
    for shape in CounterShape::ALL {
        let layout = CounterLayout { shape, width: CounterWidth::Four };
        let mut filter = build(layout, 1_000, 0.01);
        let others: Vec<Digest> = (1..500).map(key).collect();
        filter.extend(others.iter().copied());
        for times in 1..=40 {
            filter.insert_hash(key(0));
            let count = filter.count_hash(key(0));
            assert!(count >= times.min(15) && count <= 15);
        }
        assert_eq!(filter.stuck_counters(), u64::from(shape.hashes()));
        for _ in 0..100 {
            assert!(filter.remove_hash(key(0)), "it can't be told that it is gone");
        }
        assert_eq!(filter.count_hash(key(0)), 15);
        assert!(others.iter().all(|other| filter.contains_hash(*other)));
        // One hundred removes of forty adds: the length is a plain difference, and stops at zero.
        assert_eq!(filter.len(), 499 - 60);
        filter.clear();
        assert!(filter.is_empty() && filter.stuck_counters() == 0 && !filter.contains_hash(key(0)));
    }
}

#[test]
fn wide_counters_count_to_their_end() {
    for (width, end) in
        [(CounterWidth::Four, 15), (CounterWidth::Eight, 255), (CounterWidth::Sixteen, 65_535)]
    {
        let mut filter = CountingBloom::builder().keys(100).rate(0.01).width(width).build().unwrap();
        assert_eq!(filter.max_count(), end);
        for times in 1..=end + 10 {
            filter.insert("apple");
            if times % 97 < 3 || times >= end - 1 {
                assert_eq!(filter.count("apple"), times.min(end));
            }
            if times == end - 1 {
                assert_eq!(filter.stuck_counters(), 0);
            }
        }
        assert_eq!(filter.stuck_counters(), u64::from(filter.layout().shape.hashes()));
        assert!(filter.contains("apple"));
    }
}

/// Where a remove is refused nothing changes, byte for byte.
#[test]
fn removing_what_is_certainly_absent_changes_nothing() {
    for layout in CounterLayout::all() {
        let mut filter = build(layout, 300, 0.05);
        filter.extend((0..300).map(key));
        let before = filter.clone();
        for i in 1_000..3_000 {
            if !filter.contains_hash(key(i)) {
                assert!(!filter.remove_hash(key(i)));
            }
        }
        assert!(filter == before && filter.len() == before.len());
    }
}

#[test]
fn batches_are_what_single_keys_are() {
    // Small and large, so that both with and without prefetch.
    for keys in [50, 60_000] {
        for layout in CounterLayout::all() {
            let mut one = build(layout, keys, 0.01);
            let mut many = one.empty_like().unwrap();
            // Every fifth key comes again at once, within one group of the batch.
            let digests: Vec<Digest> = (0..keys).map(|i| key(i - i % 5 / 4)).collect();
            let mut answers = std::vec![false; digests.len()];
            many.insert_hashes(&digests, &mut answers);
            assert!(digests.iter().map(|digest| one.insert_hash(*digest)).eq(answers.iter().copied()));
            assert!(one == many && one.len() == many.len());

            let mixed: Vec<Digest> = (keys / 2..keys * 3 / 2).map(key).collect();
            many.contains_hashes(&mixed, &mut answers);
            assert!(mixed.iter().map(|digest| one.contains_hash(*digest)).eq(answers.iter().copied()));
            let mut counts = std::vec![0; mixed.len()];
            many.count_hashes(&mixed, &mut counts);
            assert!(mixed.iter().map(|digest| one.count_hash(*digest)).eq(counts.iter().copied()));

            many.remove_hashes(&mixed, &mut answers);
            assert!(mixed.iter().map(|digest| one.remove_hash(*digest)).eq(answers.iter().copied()));
            assert!(one == many && one.len() == many.len());
        }
    }
}

#[test]
fn keys_are_what_their_digests_are() {
    let keys: Vec<std::string::String> = (0..500).map(|i| std::format!("key {i}")).collect();
    for hasher in [KeyHasher::xxh3(3), KeyHasher::sip13(crate::hash::SecretKey::new([5; 16]))] {
        let mut by_key = CountingBloom::builder().keys(500).rate(0.01).hasher(hasher).build().unwrap();
        let mut by_hash = by_key.empty_like().unwrap();
        let digests: Vec<Digest> = keys.iter().map(|key| by_key.hash(key)).collect();
        let (mut answers, mut expected) = (std::vec![false; 500], std::vec![false; 500]);
        by_key.insert_each(&keys, &mut answers);
        by_hash.insert_hashes(&digests, &mut expected);
        assert!(answers == expected && by_key == by_hash);
        by_key.contains_each(&keys, &mut answers);
        assert!(answers.iter().all(|found| *found));
        let mut counts = std::vec![0; 500];
        by_key.count_each(&keys, &mut counts);
        assert!(counts.iter().all(|count| *count > 0));
        by_key.remove_each(&keys[..200], &mut answers[..200]);
        by_hash.remove_hashes(&digests[..200], &mut expected[..200]);
        assert!(answers[..200] == expected[..200] && by_key == by_hash && by_key.len() == 300);
        assert!(by_key.contains(&keys[300]) && by_key.count(&keys[300]) > 0 && by_key.remove(&keys[300]));
        assert!(by_key.insert("something else"));
    }
}

/// At the plan: measured over several seeds, within four deviations of the model and no worse than promised.
#[test]
fn the_measured_rate_is_the_models_and_keeps_the_promise() {
    for width in CounterWidth::ALL {
        for rate in [0.03, 0.01, 0.001] {
            let (keys, asked, seeds) = (60_000_u64, 400_000_u64, 3);
            let mut wrong = 0;
            let mut model = 0.0;
            let mut by_counters = 0.0;
            for seed in 0..seeds {
                let hasher = KeyHasher::xxh3(seed);
                let builder = CountingBloom::builder().keys(keys).rate(rate).width(width).hasher(hasher);
                let mut filter = builder.build().unwrap();
                filter.extend(0..keys);
                assert!((0..keys).all(|i| filter.contains(&i)));
                let digests: Vec<Digest> = (keys..keys + asked).map(|i| filter.hash(&i)).collect();
                let mut found = std::vec![false; digests.len()];
                filter.contains_hashes(&digests, &mut found);
                wrong += found.iter().filter(|found| **found).count() as u64;
                model = counting::rate(filter.layout(), keys, filter.block_count());
                by_counters += filter.expected_rate() / seeds as f64;
                assert!(!filter.is_over_plan());
                let error = counting::standard_error(filter.layout(), keys, filter.block_count());
                assert!(
                    (filter.estimated_len() as f64 - keys as f64).abs() < 4.0 * error,
                    "{width:?} {rate}"
                );
                assert_eq!(filter.len(), keys);
            }
            let measured = wrong as f64 / (asked * seeds) as f64;
            let deviation = (model / (asked * seeds) as f64).sqrt();
            // The filters' own spread about the model's mean comes on top of that of the questions: a percent here.
            let allowed = 4.0 * deviation + 0.01 * model;
            assert!(
                (measured - model).abs() < allowed,
                "{width:?} {rate}: {measured}, model {model} ± {allowed}"
            );
            assert!(
                (measured - by_counters).abs() < 4.0 * deviation,
                "{width:?} {rate}: {measured} {by_counters}"
            );
            assert!(measured < rate + 4.0 * deviation, "{width:?} {rate}: {measured}");
        }
    }
}

#[test]
fn a_filter_past_its_plan_says_so() {
    for layout in CounterLayout::all() {
        let mut filter = build(layout, 5_000, 0.01);
        filter.extend((0..5_000).chain(0..5_000).map(key));
        assert!(!filter.is_over_plan(), "copies don't count");
        filter.extend((5_000..7_000).map(key));
        assert!(filter.is_over_plan() && filter.expected_rate() > 0.01);
        let mut removed = std::vec![false; 2_000];
        filter.remove_hashes(&(5_000..7_000).map(key).collect::<Vec<_>>(), &mut removed);
        assert!(!filter.is_over_plan() && filter.expected_rate() <= 0.0105, "{}", filter.expected_rate());
        // Full to the brim there is no estimate, but no doubt either.
        let mut tiny = build(layout, 1, 0.5);
        tiny.extend((0..5_000).map(key));
        assert!(tiny.is_over_plan() && tiny.fill_ratio() == 1.0);
    }
}

#[test]
fn a_merge_is_what_inserting_all_would_have_given() {
    for layout in CounterLayout::all() {
        let mut all = build(layout, 2_000, 0.01);
        let (mut left, mut right) = (all.empty_like().unwrap(), all.empty_like().unwrap());
        // A key of its own each, a common one, and one so often that it sticks only in the union.
        let digests = |from: u64, to: u64| (from..to).map(key).chain(core::iter::repeat_n(key(0), 9));
        left.extend(digests(0, 1_200));
        right.extend(digests(800, 2_000));
        all.extend(digests(0, 1_200).chain(digests(800, 2_000)));
        left.merge(&right).unwrap();
        assert!(left == all && left.len() == all.len());
        assert_eq!(left.count_hash(key(0)), 19.min(layout.width.max()));
    }
}

#[test]
fn a_folded_filter_is_the_smaller_one_of_the_same_keys() {
    for layout in CounterLayout::all() {
        let mut large = build(layout, 40_000, 0.001);
        let factor = 4;
        assert!((large.block_count() / layout.shape.lines()).is_multiple_of(factor));
        let plan = Plan { keys: 1, rate: 0.5 };
        let lines = Owned::zeroed(large.block_count() / factor).unwrap();
        let mut small =
            CountingBloom::from_parts(lines, large.hasher.clone(), layout, Kernel::detect(), plan, 0);
        large.extend((0..9_000).map(key));
        small.extend((0..9_000).map(key));
        let mut folded = large.clone();
        folded.fold(factor).unwrap();
        assert!(folded == small && folded.len() == 9_000);
        assert!(folded.planned_keys() < 40_000 && folded.planned_rate() == 0.001);

        // Different sizes meet at the smaller, whichever side it is on.
        let mut more = small.empty_like().unwrap();
        more.extend((9_000..10_000).map(key));
        let mut expected = small.clone();
        expected.merge(&more).unwrap();
        large.merge(&more).unwrap();
        assert!(large == expected && large.len() == 10_000);

        let mut roomy = build(layout, 40_000, 0.001);
        roomy.extend((0..2_000).map(key));
        assert!(roomy.fold_to_rate(0.01).unwrap() > 8);
        assert!(roomy.expected_rate() <= 0.0105 && (0..2_000).all(|i| roomy.contains_hash(key(i))));
    }
}

#[test]
fn filters_that_do_not_fit_are_refused_unchanged() {
    let base = || CountingBloom::builder().keys(1_000).rate(0.01);
    let mut filter = base().build().unwrap();
    filter.insert("apple");
    let before = filter.clone();
    let other = base().seed(1).build().unwrap();
    assert_eq!(filter.merge(&other), Err(MergeError::Hashers));
    let other = base().width(CounterWidth::Eight).build().unwrap();
    assert_eq!(filter.merge(&other), Err(MergeError::Different { what: "counter widths" }));
    let other = base().shape(CounterShape::EightTwoLines).build().unwrap();
    assert_eq!(filter.merge(&other), Err(MergeError::Different { what: "counter shapes" }));
    let other = base().keys(1_300).build().unwrap();
    assert!(matches!(filter.merge(&other), Err(MergeError::Sizes { .. })));
    assert!(matches!(filter.fold(0), Err(MergeError::Factor { .. })));
    assert!(matches!(filter.fold(u64::MAX), Err(MergeError::Factor { .. })));
    assert!(matches!(filter.fold_to_rate(1.5), Err(MergeError::Rate { .. })));
    assert!(filter == before && filter.len() == 1);
}

#[test]
fn the_builder_takes_any_two_of_keys_rate_and_bytes() {
    use crate::sizing::SizingError::{TooLarge, ZeroKeys};
    let by_bytes = CountingBloom::with_bytes(1 << 20, 0.01).unwrap();
    assert!(by_bytes.len_bytes() <= 1 << 20 && by_bytes.planned_keys() > 180_000);
    let by_both = CountingBloom::builder().keys(1_000).bytes(1 << 14).build().unwrap();
    assert!(by_both.len_bytes() <= 1 << 14 && by_both.planned_rate() < 1e-4);
    let tight = CountingBloom::builder().keys(1_000).bytes(1 << 11).rate(0.01).plan();
    assert!(matches!(tight, Err(TooLarge { bytes: 5_000..7_000, limit: 2_048 })), "{tight:?}");
    assert!(matches!(CountingBloom::builder().keys(1_000).max_bytes(1_000).plan(), Err(TooLarge { .. })));
    assert_eq!(CountingBloom::builder().keys(0).plan(), Err(ZeroKeys));
    assert!(CountingBloom::with_rate(10, f64::NAN).is_err());
    let debug = std::format!("{by_bytes:?}");
    assert!(debug.len() < 400 && debug.contains("width: Four"), "{debug}");
}

#[test]
fn a_file_holds_all_of_it() {
    for layout in CounterLayout::all() {
        let mut filter = build(layout, 500, 0.01);
        filter.extend((0..500).chain(core::iter::repeat_n(7, 30)).map(key));
        let bytes = filter.to_bytes().unwrap();
        let again = CountingBloom::from_bytes(&bytes).unwrap();
        assert!(again == filter && again.len() == 530 && again.layout() == layout);
        assert_eq!((again.planned_keys(), again.planned_rate()), (500, 0.01));
        assert_eq!(again.to_bytes().unwrap(), bytes);
    }
}

/// Checksums are right, but the count is not that of the counters.
#[test]
fn a_file_whose_count_contradicts_its_counters_is_refused() {
    let mut filter =
        build(CounterLayout { shape: CounterShape::Eight, width: CounterWidth::Four }, 500, 0.01);
    filter.extend((0..100).map(key));
    for wrong in [0, 99, 101, u64::MAX / 8, u64::MAX - 1, u64::MAX] {
        filter.len = wrong;
        let bytes = filter.to_bytes().unwrap();
        assert!(CountingBloom::from_bytes(&bytes).is_err(), "{wrong}");
    }
    filter.len = 100;
    assert!(CountingBloom::from_bytes(&filter.to_bytes().unwrap()).is_ok());
    // With stuck counters nobody can tell.
    filter.extend(core::iter::repeat_n(key(0), 30));
    filter.len = 5;
    let mut again = CountingBloom::from_bytes(&filter.to_bytes().unwrap()).unwrap();
    let mut removed = std::vec![false; 100];
    again.remove_hashes(&(0..100).map(key).collect::<Vec<_>>(), &mut removed);
    assert_eq!(again.len(), 0);
}

/// A map isn't counted when it is made, so it is when it is merged.
#[cfg(feature = "std")]
#[test]
fn a_map_whose_count_contradicts_its_counters_is_not_merged() {
    let path = std::env::temp_dir().join(std::format!("mayhap-counting-{}", std::process::id()));
    for layout in CounterLayout::all() {
        let mut filter = build(layout, 500, 0.01);
        filter.extend((0..100).map(key));
        let before = filter.to_bytes().unwrap();
        let mut other = build(layout, 500, 0.01);
        other.extend((100..110).map(key));
        for wrong in [0, 9, 11, u64::MAX - 1] {
            other.len = wrong;
            other.save(&path, crate::codec::Existing::Replace).unwrap();
            let error = filter.merge(&MappedCountingBloom::map(&path).unwrap()).unwrap_err();
            assert!(std::format!("{error}").contains("\"inserted count\""), "{error}");
            assert_eq!(filter.to_bytes().unwrap(), before, "nothing is changed");
        }
        other.len = 10;
        other.save(&path, crate::codec::Existing::Replace).unwrap();
        filter.merge(&MappedCountingBloom::map(&path).unwrap()).unwrap();
        assert_eq!(CountingBloom::from_bytes(&filter.to_bytes().unwrap()).unwrap().len(), 110);
    }
    std::fs::remove_file(&path).unwrap();
}
