//! The two sides against an exact model.

use std::collections::HashSet;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::InsertError;
use crate::MergeError;
use crate::bloom::Shape;
use crate::codec::{File, FormatError, Header, Writer};
use crate::sizing::SizingError;

/// A fixed sequence of numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 31)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        ((u128::from(mixed ^ (mixed >> 29)) * u128::from(bound)) >> 64) as u64
    }
}

/// Small and overfilled, so that both kinds of wrong answers are frequent.
fn small(seed: u64) -> DualBloom {
    DualBloom::builder().keys(300).rate(0.1).removals(60).hidden_rate(0.2).seed(seed).build().unwrap()
}

#[test]
fn every_answer_follows_from_the_two_sides_and_the_truth() {
    let (mut hidden, mut false_yes, mut refused_new, mut refused_again) = (0, 0, 0, 0);
    for seed in 0..30 {
        let mut numbers = Numbers(seed);
        let mut filter = small(seed);
        // The truth, and plain filters that get the same keys.
        let (mut added, mut removed) = (HashSet::new(), HashSet::new());
        let mut plain_added = filter.added().empty_like().unwrap();
        let mut plain_removed = filter.removed().empty_like().unwrap();
        for step in 0..3_000 {
            let key = numbers.below(600);
            let (in_added, in_removed) = (plain_added.contains(&key), plain_removed.contains(&key));
            let visible = in_added && !in_removed;
            assert_eq!(filter.contains(&key), visible, "seed {seed}, step {step}");
            assert_eq!(filter.is_removed(&key), in_removed);
            assert_eq!(filter.is_removed_hash(filter.hash(&key)), in_removed);
            let present = added.contains(&key) && !removed.contains(&key);
            if present && !visible {
                hidden += 1;
                assert!(
                    in_removed && !removed.contains(&key),
                    "only a false positive of the removed side hides"
                );
            }
            if visible && !present {
                false_yes += 1;
                assert!(!added.contains(&key), "a removed key is never seen again");
            }
            match numbers.below(10) {
                0 => {
                    let before = filter.clone();
                    assert_eq!(filter.remove(&key), visible);
                    if visible {
                        plain_removed.insert(&key);
                        removed.insert(key);
                        assert!(!filter.contains(&key));
                    } else {
                        assert!(filter == before, "nothing is changed");
                    }
                }
                1..5 => {
                    let before = filter.clone();
                    match filter.insert(&key) {
                        Err(InsertError::Removed) => {
                            assert!(in_removed && filter == before, "refused, and nothing is changed");
                            refused_again += usize::from(removed.contains(&key));
                            refused_new += usize::from(!removed.contains(&key));
                        }
                        outcome => {
                            assert_eq!(outcome, Ok(!in_added));
                            assert!(!in_removed && filter.contains(&key), "what is accepted is visible");
                            plain_added.insert(&key);
                            added.insert(key);
                        }
                    }
                }
                _ => {}
            }
            assert!(*filter.added() == plain_added && *filter.removed() == plain_removed);
        }
    }
    assert!(hidden > 100 && false_yes > 100 && refused_new > 100 && refused_again > 100);
}

#[test]
fn a_batch_is_one_by_one() {
    for seed in 0..5 {
        let (mut one, mut many) = (small(seed), small(seed));
        let mut numbers = Numbers(seed + 100);
        for length in [0, 1, 3, 255, 256, 257, 1_000] {
            let mut keys = || (0..length).map(|_| numbers.below(700)).collect::<Vec<u64>>();
            let (adds, removals, questions) = (keys(), keys(), keys());
            let digests = |keys: &[u64]| keys.iter().map(|key| one.hash(key)).collect::<Vec<_>>();
            let (added_digests, removed_digests) = (digests(&adds), digests(&removals));

            let mut outcomes = vec![Ok(false); adds.len()];
            if length % 2 == 0 {
                many.insert_each(&adds, &mut outcomes);
            } else {
                many.insert_hashes(&added_digests, &mut outcomes);
            }
            assert_eq!(outcomes, adds.iter().map(|key| one.insert(key)).collect::<Vec<_>>());

            let few = removals.len() / 10;
            let mut removed = vec![false; few];
            if length % 2 == 0 {
                many.remove_each(&removals[..few], &mut removed);
            } else {
                many.remove_hashes(&removed_digests[..few], &mut removed);
            }
            assert_eq!(removed, removals[..few].iter().map(|key| one.remove(key)).collect::<Vec<_>>());

            let mut found = vec![true; questions.len()];
            many.contains_each(&questions, &mut found);
            assert_eq!(found, questions.iter().map(|key| one.contains(key)).collect::<Vec<_>>());
            many.contains_hashes(&questions.iter().map(|key| many.hash(key)).collect::<Vec<_>>(), &mut found);
            assert_eq!(found, questions.iter().map(|key| one.contains(key)).collect::<Vec<_>>());
            assert!(one == many);
        }
    }
}

#[test]
fn both_rates_keep_their_promises() {
    // Keys 0..n are added, the first r of them removed. Intervals are four standard deviations wide.
    for (keys, rate, removals, hidden_rate) in [
        (100_000u64, 0.01, 10_000u64, 0.01),
        (100_000, 0.001, 50_000, 0.03),
        (20_000, 0.03, 20_000 / 8, 0.002),
    ] {
        let mut filter = DualBloom::builder()
            .keys(keys)
            .rate(rate)
            .removals(removals)
            .hidden_rate(hidden_rate)
            .seed(11)
            .build()
            .unwrap();
        for key in 0..keys {
            filter.insert(&key).unwrap();
        }
        assert_eq!(filter.expected_rates().false_no, 0.0);
        let accepted = (0..removals).filter(|key| filter.remove(key)).count() as u64;
        // A key that an earlier removal hides can't be removed.
        assert!(accepted <= removals && (removals - accepted) as f64 <= removals as f64 * hidden_rate);
        assert!(!filter.is_over_plan());
        assert!((0..removals).all(|key| !filter.contains(&key)), "no removed key is seen");

        let rates = filter.expected_rates();
        assert_eq!(rates.false_no, filter.hidden_rate());
        assert!(rates.false_yes <= filter.added_rate());
        let present = (keys - removals) as f64;
        let hidden = (removals..keys).filter(|key| !filter.contains(key)).count() as f64;
        let deviation = (present * hidden_rate).sqrt();
        assert!(hidden <= present * hidden_rate + 4.0 * deviation, "{hidden} of {present}: {hidden_rate}");
        assert!((hidden - present * rates.false_no).abs() <= 4.0 * deviation, "{hidden}: {rates:?}");

        let absent = 1_000_000;
        let wrong = (keys..keys + absent).filter(|key| filter.contains(key)).count() as f64;
        let absent = absent as f64;
        let deviation = (absent * rate).sqrt();
        assert!(wrong <= absent * rate + 4.0 * deviation, "{wrong} of {absent}: {rate}");
        assert!(wrong <= absent * rates.false_yes + 4.0 * deviation, "{wrong}: {rates:?}");
        std::println!(
            "{keys} {rate} {removals} {hidden_rate}: hidden {}, wrong {}",
            hidden / present,
            wrong / absent
        );
    }
}

#[test]
fn either_side_can_outgrow_the_plan() {
    let mut filter = DualBloom::builder().keys(10_000).rate(0.01).removals(1_000).build().unwrap();
    for key in 0..10_000u64 {
        let _ = filter.insert(&key);
    }
    for key in 0..1_000u64 {
        filter.remove(&key);
    }
    assert!(!filter.is_over_plan());
    let mut removals = filter.clone();
    for key in 1_000..1_500u64 {
        removals.remove(&key);
    }
    assert!(removals.is_over_plan());
    for key in 10_000..12_000u64 {
        let _ = filter.insert(&key);
    }
    assert!(filter.is_over_plan());
    assert!((9_900..12_100).contains(&filter.estimated_added()));
    filter.clear();
    assert!(filter == filter.empty_like().unwrap() && !filter.is_over_plan());
    assert_eq!(filter.insert(&3u64), Ok(true), "forgotten, even that it was removed");
}

#[test]
fn a_merge_is_a_union_of_both_sides_or_nothing() {
    let (mut ours, mut theirs) = (small(1), small(1));
    for key in 0..100u64 {
        let _ = ours.insert(&key);
        let _ = theirs.insert(&(key + 50));
    }
    for key in 0..10u64 {
        ours.remove(&key);
        theirs.remove(&(key + 60));
    }
    let mut both = ours.clone();
    both.merge(&theirs).unwrap();
    let (mut added, mut removed) = (ours.added().clone(), ours.removed().clone());
    added.merge(theirs.added()).unwrap();
    removed.merge(theirs.removed()).unwrap();
    assert!(*both.added() == added && *both.removed() == removed);
    assert!(!both.contains(&0u64) && !both.contains(&60u64));

    let before = ours.clone();
    assert_eq!(ours.merge(&small(2)), Err(MergeError::Hashers));
    // The added sides fit, the removed sides don't, and the other way round.
    let build = |keys, removals, rate, hidden| {
        let builder =
            DualBloom::builder().keys(keys).removals(removals).rate(rate).hidden_rate(hidden).seed(1);
        builder.build().unwrap()
    };
    assert!(matches!(ours.merge(&build(300, 60, 0.1, 0.001)), Err(MergeError::Shapes { .. })));
    assert!(matches!(ours.merge(&build(300, 60, 0.001, 0.2)), Err(MergeError::Shapes { .. })));
    let large = build(100_000, 60, 0.1, 0.2);
    let odd = DualBloom {
        added: large.added.empty_like().unwrap(),
        removed: BloomFilter::builder().bytes(64 * 7).shape(Shape::Four).rate(0.2).seed(1).build().unwrap(),
    };
    let mut five = DualBloom {
        added: large.added.clone(),
        removed: BloomFilter::builder().bytes(64 * 5).shape(Shape::Four).rate(0.2).seed(1).build().unwrap(),
    };
    let five_before = five.clone();
    assert!(matches!(five.merge(&odd), Err(MergeError::Sizes { ours: 5, theirs: 7 })));
    assert!(five == five_before && ours == before, "nothing is changed");
    // Sizes that are multiples are folded.
    let mut ten = DualBloom {
        added: large.added.clone(),
        removed: BloomFilter::builder().bytes(64 * 10).shape(Shape::Four).rate(0.2).seed(1).build().unwrap(),
    };
    ten.insert("apple").unwrap();
    ten.insert("pear").unwrap();
    ten.remove("pear");
    ten.merge(&five).unwrap();
    assert_eq!(ten.removed().block_count(), 5);
    assert!(ten.contains("apple") && !ten.contains("pear"));
}

#[test]
fn plans_add_up_and_the_impossible_is_refused() {
    let plan = DualBloom::builder().keys(100_000).rate(0.01).plan().unwrap();
    assert_eq!((plan.removed().keys(), plan.removed().rate()), (10_000, 0.01));
    assert_eq!(plan.bytes(), plan.added().bytes() + plan.removed().bytes());
    let filter = DualBloom::with_rate(100_000, 0.01).unwrap();
    assert_eq!(filter.len_bytes(), plan.bytes());
    assert_eq!((filter.planned_keys(), filter.planned_removals()), (100_000, 10_000));
    let limited = |limit| DualBloom::builder().keys(100_000).rate(0.01).max_bytes(limit).plan();
    assert_eq!(limited(plan.bytes()), Ok(plan));
    let refused = SizingError::TooLarge { bytes: plan.bytes(), limit: plan.bytes() - 1 };
    assert_eq!(limited(plan.bytes() - 1), Err(refused));
    assert_eq!(DualBloom::builder().keys(5).removals(0).plan(), Err(SizingError::ZeroRemovals));
    assert_eq!(DualBloom::builder().keys(0).removals(0).plan(), Err(SizingError::ZeroKeys));
    for rate in [0.0, 1.0, f64::NAN] {
        assert!(DualBloom::builder().keys(5).rate(rate).plan().is_err());
        assert!(DualBloom::builder().keys(5).hidden_rate(rate).plan().is_err());
    }
}

#[test]
fn files_round_trip_and_contradictions_are_refused() {
    let mut filter =
        DualBloom::builder().keys(2_000).rate(1e-5).removals(500).hidden_rate(0.05).seed(9).build().unwrap();
    for key in 0..2_000u64 {
        let _ = filter.insert(&key);
    }
    for key in 0..500u64 {
        filter.remove(&key);
    }
    let bytes = filter.to_bytes().unwrap();
    let again = DualBloom::from_bytes(&bytes).unwrap();
    assert!(again == filter && again.to_bytes().unwrap() == bytes);
    assert_eq!((again.planned_keys(), again.planned_rate()), (2_000, 1e-5));
    assert_eq!((again.planned_removals(), again.planned_hidden_rate()), (500, 0.05));

    let file = File::parse(&bytes).unwrap();
    let rewritten = |change: &dyn Fn(&mut Header)| {
        let mut header = file.header().clone();
        change(&mut header);
        let mut writer = Writer::to_vec(&header)?;
        for section in &header.sections {
            writer.write_body(&vec![0; section.length as usize])?;
        }
        writer.finish()
    };
    assert!(DualBloom::from_bytes(&rewritten(&|_| ()).unwrap()).is_ok());
    let changes: &[&dyn Fn(&mut Header)] = &[
        &|header| header.recipe = 2,
        &|header| header.inserted = Some(3),
        &|header| header.inserted = Some(0),
        &|header| header.parameters[0] += 2,
        &|header| header.parameters[0] = 0,
        &|header| header.parameters[1] += 1,
        &|header| header.parameters[1] = u64::MAX,
        &|header| header.parameters[2] = 0,
        &|header| header.parameters[3] = f64::NAN.to_bits(),
        &|header| header.parameters[3] = 0,
        &|header| header.parameters[3] = 1f64.to_bits(),
        &|header| header.planned_keys = 0,
        &|header| header.planned_rate = 0.0,
        &|header| header.sections.truncate(1),
        &|header| header.sections.clear(),
        &|header| header.sections.push(header.sections[0].clone()),
        &|header| header.sections.swap(0, 1),
        &|header| header.sections[0].parameters[0] = 2,
        &|header| header.sections[0].parameters[1] = 9,
        &|header| header.sections[0].parameters[1] += 1 << 32,
        &|header| header.sections[1].parameters[2] = 1,
        &|header| header.sections[1].role = 2,
        &|header| header.sections[1].length += 64,
        // Two lines need an even number of blocks.
        &|header| {
            header.parameters[0] += 1;
            header.sections[0].length += 64;
        },
    ];
    for (number, change) in changes.iter().enumerate() {
        if let Ok(bytes) = rewritten(change) {
            let refused = DualBloom::from_bytes(&bytes);
            assert!(matches!(refused, Err(Error::Format(_))), "change {number}: {refused:?}");
        }
    }
    let blocked = filter.added().to_bytes().unwrap();
    assert!(matches!(DualBloom::from_bytes(&blocked), Err(Error::Format(FormatError::WrongKind { .. }))));
}
