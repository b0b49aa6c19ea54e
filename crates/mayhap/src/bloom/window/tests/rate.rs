//! The rate of the whole window, measured.
//!
//! Intervals are four standard deviations wide: a sound filter fails one of them once in 30 000 tries, and seeds are
//! fixed.

use super::Numbers;
use crate::WindowBloom;
use crate::sizing::WindowPlan;

/// The part of a million unseen keys that is answered "mayhap" at `now`.
fn measured(filter: &WindowBloom, now: u64) -> f64 {
    let wrong = (0..ASKED).filter(|key| filter.contains_at(&(key | 1 << 63), now)).count();
    wrong as f64 / ASKED as f64
}

const ASKED: u64 = 1_000_000;

fn deviation(rate: f64) -> f64 {
    (rate * (1.0 - rate) / ASKED as f64).sqrt()
}

/// At its worst: g + 1 full generations, just before a slot ends.
#[test]
fn by_time_the_rate_holds_for_the_whole_window() {
    for (keys, slots, rate) in
        [(60_000u64, 4u32, 0.01), (60_000, 1, 0.01), (60_000, 12, 0.03), (24_000, 4, 0.3), (60_000, 8, 0.001)]
    {
        let share = keys / u64::from(slots);
        let window = keys;
        let mut filter = WindowBloom::by_time(window, slots, keys, rate).unwrap();
        // One key at each instant, through two windows and up to the end of a slot.
        for instant in 0..2 * window + share {
            filter.insert_at(&instant, instant);
        }
        let now = 2 * window + share - 1;
        assert_eq!(filter.slot_end(), now);
        assert!(!filter.is_over_plan());
        let got = measured(&filter, now);
        let plan = WindowPlan::for_rate(keys, rate, slots).unwrap();
        assert!(got <= rate + 4.0 * deviation(rate), "{keys} in {slots}: {got}, promised {rate}");
        let (expected, modelled) = (filter.expected_rate(), plan.expected_rate());
        assert!((got - expected).abs() <= 4.0 * deviation(expected), "{slots}: {got}, expected {expected}");
        assert!(
            (expected / modelled - 1.0).abs() < 0.1,
            "{slots}: {expected} from the bits, {modelled} planned"
        );
        let estimate = filter.estimated_len() as f64;
        assert!((estimate / (keys + share) as f64 - 1.0).abs() < 0.02, "{estimate}");
        // Just after the slot has ended one generation is empty.
        let after = measured(&filter, now + 1);
        assert!(after < got, "{after} after {got}");
        std::println!(
            "by time {keys} in {slots} at {rate}: {got}, then {after}; {:.2} bits",
            plan.bits_per_key()
        );
    }
}

/// The mean over several seeds, so that one filter with a little more or less luck doesn't decide.
#[test]
fn by_count_the_rate_holds_for_the_whole_window() {
    for (keys, slots, rate) in
        [(60_000u64, 4u32, 0.01), (60_001, 7, 0.01), (60_000, 16, 0.001), (50_000, 2, 0.1), (100, 4, 0.01)]
    {
        const SEEDS: u64 = 12;
        let mut sum = 0.0;
        for seed in 0..SEEDS {
            let builder = WindowBloom::builder().keys(keys).generations(slots).rate(rate).seed(seed);
            let mut filter = builder.build().unwrap();
            // Through two windows, and on to the last insertion of a slot.
            filter.extend(0..2 * keys);
            filter.extend(2 * keys..=filter.slot_end());
            assert_eq!(filter.inserted(), Some(filter.slot_end() + 1));
            assert!(!filter.is_over_plan());
            sum += measured(&filter, 0);
        }
        let got = sum / SEEDS as f64;
        assert!(got <= rate * 1.005, "{keys} in {slots}: {got}, promised {rate}");
        std::println!("by count {keys} in {slots} at {rate}: {got}");
    }
}

/// All keys of a window in as few slots as the burst allows, which the sum of the rates likes least.
#[test]
fn bursts_that_were_planned_keep_the_rate() {
    for (slots, burst) in [(8u32, 4.0), (8, 8.0), (6, 2.0), (12, 5.0)] {
        let (keys, rate) = (60_000u64, 0.01);
        let window = u64::from(slots) * 10;
        let mut filter = WindowBloom::builder()
            .window(window)
            .generations(slots)
            .keys(keys)
            .rate(rate)
            .burst(burst)
            .build()
            .unwrap();
        let most = filter.planned_slot_keys();
        assert!(most > keys / u64::from(slots));
        let mut key = 0u64;
        let mut fill = |filter: &mut WindowBloom, slot: u64, count: u64| {
            (0..count).for_each(|_| {
                filter.insert_at(&key, slot * 10);
                key += 1;
            });
        };
        // Bursts as early as they can come, then nothing, then the next one while the first is just still there.
        let mut left = keys;
        let mut slot = 100;
        while left > 0 {
            fill(&mut filter, slot, most.min(left));
            left -= most.min(left);
            slot += 1;
        }
        fill(&mut filter, 100 + u64::from(slots), most);
        assert!(!filter.is_over_plan());
        let got = measured(&filter, 0);
        assert!(got <= rate + 4.0 * deviation(rate), "{slots} slots, burst {burst}: {got}");
        // The same spread evenly is no worse.
        let mut even = filter.empty_like().unwrap();
        for slot in 200..=200 + u64::from(slots) {
            fill(&mut even, slot, keys / u64::from(slots));
        }
        let spread = measured(&even, 0);
        assert!(spread <= rate + 4.0 * deviation(rate), "{slots} slots, burst {burst}: {spread}");
        std::println!("burst {burst} in {slots}: {got}, evenly {spread}");

        // A slot with more than was planned is told, until it is forgotten; so is a window with more.
        fill(&mut even, 300, most + most / 4);
        assert!(even.is_over_plan());
        even.advance((301 + u64::from(slots)) * 10);
        assert!(!even.is_over_plan());
        if f64::from(slots) / burst > 1.5 {
            for slot in 400..=400 + u64::from(slots) {
                fill(&mut even, slot, most);
            }
            assert!(even.is_over_plan());
        }
    }
}

#[test]
fn repeats_within_a_slot_cost_nothing_and_across_slots_their_room() {
    let mut numbers = Numbers(1);
    let mut filter = WindowBloom::by_time(40, 4, 40_000, 0.01).unwrap();
    let keys: std::vec::Vec<u64> = (0..10_000).map(|_| numbers.next() >> 1).collect();
    for now in 0..50 {
        for key in &keys {
            filter.insert_at(key, now);
        }
    }
    // Ten thousand keys in each of five generations: the plan, though there are only ten thousand.
    assert!(!filter.is_over_plan());
    assert!((filter.estimated_len() as f64 / 50_000.0 - 1.0).abs() < 0.02);
    // The same bits in every generation err together: less often than the promise, about a fifth of it.
    let got = measured(&filter, 49);
    assert!(got < 0.01 / 4.0 && got < filter.expected_rate(), "{got}");
}
