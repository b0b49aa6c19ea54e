//! The filters that delete and count, against a map of true counts.

use std::collections::HashMap;
use std::fmt::Debug;

use mayhap::counting::{CounterShape, CounterWidth};
use mayhap::cuckoo::CuckooLayout;
use mayhap::filter::{Count, Filter, Insert, Persist, Remove};
use mayhap::{CountingBloom, CuckooFilter, DLeftCounting, ScalableCuckoo};

use super::model;
use crate::Target;

/// See [`run`].
pub const TARGET: Target = Target {
    name: "multiset",
    about: "adding, removing and counting in every deletable filter against a map: no key lost, errors change nothing",
    run,
    seeds,
    largest_allocation: 8 << 20,
};

/// The first three bytes choose kind, layout and size; the others are the program.
pub fn run(data: &[u8]) {
    let [kind, layout, size, program @ ..] = data else { return };
    let keys = 1 + u64::from(*size);
    match kind % 4 {
        0 => {
            let widths = [CounterWidth::Four, CounterWidth::Eight, CounterWidth::Sixteen];
            let width = widths[usize::from(layout % 3)];
            let shapes = [
                CounterShape::Four,
                CounterShape::Eight,
                CounterShape::EightTwoLines,
                CounterShape::SixteenTwoLines,
            ];
            let shape = shapes[usize::from(layout / 3 % 4)];
            let builder = CountingBloom::builder().keys(keys).rate(0.3).width(width).shape(shape);
            let builder = if layout % 2 == 0 { builder } else { builder.portable() };
            if let Ok(filter) = builder.build() {
                let most = filter.max_count();
                run_program(filter, program, most);
            }
        }
        1 => {
            let builder =
                DLeftCounting::builder().keys(keys).rate(0.1).counter_bits(1 + u32::from(layout % 16));
            if let Ok(filter) = builder.build() {
                run_program(filter, program, u64::MAX);
            }
        }
        2 => {
            let bits = 4 + u32::from(layout % 29);
            let chosen = match layout / 29 % 5 {
                4 => CuckooLayout::semi_sorted(bits),
                power => CuckooLayout::new(1 << power, bits),
            };
            let Some(chosen) = chosen else { return };
            if let Ok(filter) = CuckooFilter::builder().layout(chosen).buckets(keys).build() {
                run_program(filter, program, u64::MAX);
            }
        }
        _ => {
            if let Ok(filter) = ScalableCuckoo::builder().keys(keys.min(8)).rate(0.1).build() {
                run_program(filter, program, u64::MAX);
            }
        }
    }
}

/// Counts above `most` are not promised.
fn run_program<F>(mut filter: F, data: &[u8], most: u64)
where
    F: Insert + Remove + Count + Persist + PartialEq + Debug,
{
    let mut counts: HashMap<u8, u64> = HashMap::new();
    let mut data = data.iter().copied();
    while let Some(operation) = data.next() {
        let key = data.next().unwrap_or(0);
        let hash = filter.hash_bytes(&[key]);
        let count = counts.entry(key).or_default();
        match operation % 11 {
            0..=3 => {
                let was_found = filter.contains_hash(hash);
                let before = model::bits(&filter);
                match filter.insert_hash(hash) {
                    Ok(is_new) => {
                        assert_eq!(is_new, !was_found, "`insert` and `contains` disagree about {key}");
                        *count += 1;
                    }
                    Err(_) => assert!(before == model::bits(&filter), "a refused key changed the filter"),
                }
            }
            // Only what was added is removed: anything else may take another key's place.
            4 | 5 if *count > 0 => {
                assert!(filter.remove_hash(hash), "{key} is there and can't be removed");
                *count -= 1;
            }
            6 => {
                let again = model::copy(&filter);
                assert_eq!(again, filter);
                filter = again;
            }
            7 => {
                let keys = many(key, operation);
                let hashes = hashes(&filter, &keys);
                let added = model::insert_each_way(&mut filter, &hashes);
                for key in &keys[..added] {
                    *counts.entry(*key).or_default() += 1;
                }
            }
            8 => remove_many(&mut filter, &mut counts, &many(key, operation)),
            9 => model::ask_each_way(&filter, &hashes(&filter, &many(key, operation))),
            _ => {
                let found = filter.count_hash(hash);
                assert!(
                    found >= (*count).min(most),
                    "{key} was added {count} times and counted {found} times"
                );
                assert_eq!(found > 0, filter.contains_hash(hash));
            }
        }
    }
    for (key, count) in counts {
        let found = filter.count_hash(filter.hash_bytes(&[key]));
        assert!(found >= count.min(most), "{key} was added {count} times and counted {found} times");
    }
}

/// The keys of a batch: up to 69 of them, the same ones again and again in the longer ones.
fn many(first: u8, operation: u8) -> Vec<u8> {
    let count = operation / 11 * 3;
    (0..count).map(|i| first.wrapping_add(i % 20)).collect()
}

fn hashes<F: Filter>(filter: &F, keys: &[u8]) -> Vec<F::Hash> {
    keys.iter().map(|key| filter.hash_bytes(&[*key])).collect()
}

/// Removes those of a batch that were added, each at most as often as it was, and the same one by one from a copy.
fn remove_many<F: Remove + Persist>(filter: &mut F, counts: &mut HashMap<u8, u64>, keys: &[u8]) {
    let mut hashes = Vec::new();
    for key in keys {
        let count = counts.entry(*key).or_default();
        if *count > 0 {
            *count -= 1;
            hashes.push(filter.hash_bytes(&[*key]));
        }
    }
    let mut copy = model::copy(filter);
    for hash in &hashes {
        assert!(copy.remove_hash(*hash), "a key is there and can't be removed");
    }
    let mut removed = vec![false; hashes.len()];
    filter.remove_hashes(&hashes, &mut removed);
    assert!(removed.iter().all(|removed| *removed), "a key is there and can't be removed in a batch");
    assert!(model::bits(filter) == model::bits(&copy), "a batch of removals and one by one differ");
}

fn seeds() -> Vec<Vec<u8>> {
    let choices: Vec<Vec<u8>> =
        (0..24u8).map(|choice| vec![choice, choice.wrapping_mul(37), choice.wrapping_mul(11)]).collect();
    model::seeds(&choices)
}
