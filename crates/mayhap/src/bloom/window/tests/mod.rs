//! What a window remembers, what it forgets, and how often it errs.

mod file;
mod memory;
mod rate;

use super::*;
use crate::MergeError;
use crate::sizing::SizingError;
use std::vec;

/// A fixed sequence of numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 31)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        mixed ^ (mixed >> 29)
    }

    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

/// So large for the few keys of a test that it never errs.
fn roomy(window: u64, generations: u32) -> WindowBloom {
    WindowBloom::by_time(window, generations, 1_000, 1e-6).unwrap()
}

#[test]
fn a_merge_is_the_window_that_saw_it_all() {
    let mut numbers = Numbers(5);
    for round in 0..200 {
        let (window, slots) = [(12, 4), (10, 3), (7, 7), (9, 1)][round % 4];
        let (mut ours, mut theirs, mut all) =
            (roomy(window, slots), roomy(window, slots), roomy(window, slots));
        let mut clocks = [0, 0];
        let mut seen = vec![];
        for key in 0..40u64 {
            let side = usize::from(numbers.below(2) == 0);
            let longest = if numbers.below(20) == 0 { 2 * window } else { 3 };
            clocks[side] += numbers.below(longest);
            seen.push((key, clocks[side], side == 0));
        }
        for (key, now, is_ours) in &seen {
            if *is_ours {
                ours.insert_at(key, *now)
            } else {
                theirs.insert_at(key, *now)
            };
        }
        // Both see every key at the instant at which it came, so the one that sees all gets them in that order.
        seen.sort_by_key(|(_, now, _)| *now);
        for (key, now, _) in &seen {
            all.insert_at(key, *now);
        }
        ours.merge(&theirs).unwrap();
        assert!(ours == all, "round {round}");
    }
}

#[test]
fn what_does_not_fit_is_not_merged() {
    let build = |window, slots, keys, rate, seed| {
        let builder = WindowBloom::builder().window(window).generations(slots).keys(keys);
        builder.rate(rate).seed(seed).build().unwrap()
    };
    let mut ours = build(100, 4, 1_000, 0.01, 1);
    ours.insert_at("apple", 17);
    let before = ours.clone();
    let different = |what| Err(MergeError::Different { what });
    assert_eq!(ours.merge(&build(100, 4, 1_000, 0.01, 2)), Err(MergeError::Hashers));
    assert!(matches!(ours.merge(&build(100, 4, 1_000, 0.4, 1)), Err(MergeError::Shapes { .. })));
    assert_eq!(ours.merge(&build(101, 4, 1_000, 0.01, 1)), different("windows or numbers of slots"));
    assert_eq!(ours.merge(&build(100, 5, 1_000, 0.01, 1)), different("windows or numbers of slots"));
    assert_eq!(ours.merge(&build(100, 4, 9_000, 0.01, 1)), different("plans"));
    assert_eq!(ours.merge(&build(100, 4, 1_000, 0.010_000_1, 1)), different("plans"));
    let by_count = WindowBloom::builder().keys(1_000).rate(0.01).seed(1).build().unwrap();
    for mut ours in [ours.clone(), by_count.clone()] {
        let message = std::format!("{}", ours.merge(&by_count).unwrap_err());
        assert!(message.starts_with("windows by count can't be merged"), "{message}");
        assert!(!message.contains("settings"), "no setting helps: {message}");
    }
    assert!(ours == before, "nothing is changed");
}

#[test]
fn an_empty_copy_fits_and_clear_forgets_the_time() {
    let mut filter = roomy(100, 4);
    filter.insert_at("apple", 1_234);
    let mut empty = filter.empty_like().unwrap();
    assert!(!empty.contains("apple") && empty.estimated_len() == 0 && empty != filter);
    empty.merge(&filter).unwrap();
    assert!(empty == filter);
    filter.clear();
    assert!(filter == roomy(100, 4) && filter.slot_end() == 24);
    assert!(filter.insert_at("apple", 0), "new");
    assert!(filter.contains_at("apple", 100) && !filter.contains_at("apple", 125));
    // One instant in another unit stops all forgetting, until the filter is cleared.
    filter.insert_at("pear", 1_234_000);
    filter.insert_at("plum", 1_235);
    assert!(filter.contains_at("plum", 100_000));
    filter.clear();
    filter.insert_at("plum", 1_235);
    assert!(filter.contains_at("plum", 1_335) && !filter.contains_at("plum", 1_375));
    let read = WindowBloom::from_bytes(&filter.to_bytes().unwrap()).unwrap();
    assert!(read == filter);
    // By count no insertion has been.
    let made = WindowBloom::by_count(100, 4, 0.01).unwrap();
    let mut filter = made.clone();
    filter.extend(0..1_000u32);
    filter.clear();
    assert!(filter == made && filter.inserted() == Some(0));
    assert!(WindowBloom::from_bytes(&filter.to_bytes().unwrap()).unwrap() == made);
}

#[test]
fn windows_shorter_than_the_usual_slots_have_one_for_each_instant() {
    for keys in 1..=6 {
        let mut filter = WindowBloom::with_rate(keys, 0.001).unwrap();
        assert_eq!(u64::from(filter.generations()), keys.min(4));
        filter.insert("apple");
        filter.extend(0..keys);
        assert!(filter.contains("apple"), "{keys} came after it");
        filter.extend(keys..2 * keys + 1);
        assert!(!filter.contains("apple"), "{keys}");
        let by_time = WindowBloom::builder().window(keys).keys(10).build().unwrap();
        assert_eq!(u64::from(by_time.generations()), keys.min(4));
        // Those that are asked for must fit.
        assert!(keys > 3 || WindowBloom::by_count(keys, 4, 0.001).is_err());
    }
    assert!(WindowBloom::with_rate(0, 0.001).is_err());
    assert!(WindowBloom::builder().window(0).keys(10).build().is_err());
}

#[test]
fn plans_are_kept_and_the_impossible_is_refused() {
    use SizingError::{BurstOutOfRange, GenerationsOutOfRange, TooLarge, ZeroKeys};
    let filter = WindowBloom::builder().window(60).keys(10_000).rate(0.01).burst(2.0).build().unwrap();
    assert_eq!((filter.window(), filter.generations(), filter.is_by_count()), (60, 4, false));
    assert_eq!((filter.planned_keys(), filter.planned_slot_keys()), (10_000, 5_000));
    assert_eq!((filter.planned_rate(), filter.inserted()), (0.01, None));
    let filter = WindowBloom::with_rate(10_000, 0.001).unwrap();
    assert_eq!((filter.window(), filter.generations(), filter.is_by_count()), (10_000, 4, true));
    assert_eq!((filter.planned_keys(), filter.planned_slot_keys()), (10_000, 2_500));
    assert_eq!(filter.inserted(), Some(0));
    let plan = WindowBloom::builder().keys(10_000).rate(0.001).burst(3.0).plan().unwrap();
    assert_eq!((filter.len_bytes(), 2_500), (plan.bytes(), plan.slot_keys()), "no bursts by count");

    let builder = WindowBloom::builder;
    assert_eq!(builder().keys(0).plan(), Err(ZeroKeys));
    assert_eq!(builder().keys(0).window(60).plan(), Err(ZeroKeys));
    let four = || builder().generations(4);
    assert_eq!(four().keys(3).plan(), Err(GenerationsOutOfRange { got: 4, most: 3 }));
    assert_eq!(four().keys(9).window(3).plan(), Err(GenerationsOutOfRange { got: 4, most: 3 }));
    assert_eq!(builder().keys(9).window(0).plan(), Err(GenerationsOutOfRange { got: 1, most: 0 }));
    assert_eq!(builder().keys(99).generations(0).plan(), Err(GenerationsOutOfRange { got: 0, most: 64 }));
    assert_eq!(builder().keys(99).generations(65).plan(), Err(GenerationsOutOfRange { got: 65, most: 64 }));
    assert_eq!(builder().window(60).keys(99).burst(0.5).plan(), Err(BurstOutOfRange { got: 0.5 }));
    assert!(builder().keys(99).rate(0.0).plan().is_err());
    let limit = plan.bytes() - 1;
    let refused = builder().keys(10_000).rate(0.001).max_bytes(limit).plan();
    assert_eq!(refused, Err(TooLarge { bytes: plan.bytes(), limit }));
}
