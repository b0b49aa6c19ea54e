//! Filters that grow, against a set: layers that fill up in the middle of a batch.

use std::collections::HashSet;

use mayhap::filter::Filter as _;
use mayhap::formats::redisbloom::{RedisBloom, RedisHash};
use mayhap::{Growth, ScalableBloom};

use super::model;
use crate::Target;

/// See [`run`].
pub const TARGET: Target = Target {
    name: "growing",
    about: "adding to growing Bloom filters, one by one and in batches, against a set: no key lost, the same bytes",
    run,
    seeds,
    largest_allocation: 8 << 20,
};

/// The first three bytes choose kind, size and policy; the others are the program.
pub fn run(data: &[u8]) {
    let [kind, keys, policy, program @ ..] = data else { return };
    let (keys, expansion) = (1 + u64::from(*keys), u32::from(policy / 4 % 4));
    if kind % 2 == 0 {
        let growth = [Growth::Grow, Growth::Grow, Growth::Refuse, Growth::Saturate][usize::from(policy % 4)];
        let builder = ScalableBloom::builder().keys(keys).rate(0.1).expansion(1 + expansion).growth(growth);
        // So that some of them come to an end.
        let builder = if policy / 16 % 2 == 0 { builder } else { builder.max_bytes(1 << 12) };
        if let Ok(filter) = builder.build() {
            run_scalable(filter, program);
        }
    } else if let Ok(filter) = RedisBloom::reserve(0.1, keys, expansion, policy % 4 != 0) {
        run_redis(filter, program);
    }
}

fn run_scalable(mut filter: ScalableBloom, data: &[u8]) {
    let mut known = HashSet::<u16>::new();
    for [operation, argument] in data.as_chunks::<2>().0 {
        let keys: Vec<u16> = model::keys(u16::from(*argument), operation / 2).collect();
        let hashes: Vec<_> = keys.iter().map(|key| filter.hash_bytes(&key.to_le_bytes())).collect();
        match operation % 8 {
            0..=4 => {
                let added = model::insert_each_way(&mut filter, &hashes);
                known.extend(&keys[..added]);
            }
            5 | 6 => model::ask_each_way(&filter, &hashes),
            _ if *argument == 0 => {
                filter.clear();
                known.clear();
            }
            _ => filter = model::copy(&filter),
        }
    }
    assert!(filter.len() <= known.len() as u64, "a key was counted twice");
    for key in known {
        assert!(filter.contains_hash(filter.hash_bytes(&key.to_le_bytes())), "{key} is lost");
    }
}

/// The commands answer for as many items as were dealt with, so the outcome of a batch is compared by hand.
fn run_redis(mut filter: RedisBloom, data: &[u8]) {
    let mut known = HashSet::<u16>::new();
    for [operation, argument] in data.as_chunks::<2>().0 {
        let items: Vec<u16> = model::keys(u16::from(*argument), operation / 2).collect();
        let hashes: Vec<RedisHash> = items.iter().map(|item| filter.hash(&item.to_le_bytes())).collect();
        let mut answers = vec![true; hashes.len()];
        if operation % 4 == 3 {
            filter.contains_hashes(&hashes, &mut answers);
            for (hash, found) in hashes.iter().zip(answers) {
                assert_eq!(found, filter.contains_hash(*hash));
            }
            continue;
        }
        let mut copy = filter.clone();
        let one_by_one: Vec<bool> = hashes.iter().map_while(|hash| copy.add_hash(*hash).ok()).collect();
        let (answered, outcome) = filter.add_hashes(&hashes, &mut answers);
        assert_eq!(outcome.is_ok(), one_by_one.len() == hashes.len());
        assert_eq!(&answers[..answered], one_by_one);
        assert!(!answers[answered..].contains(&true), "an answer after the error");
        assert!(filter == copy, "a batch of adds and one by one differ");
        known.extend(&items[..answered]);
    }
    for item in known {
        assert!(filter.contains(&item.to_le_bytes()), "{item} is lost");
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let choices: Vec<Vec<u8>> =
        (0..32u8).map(|choice| vec![choice, choice.wrapping_mul(13), choice.wrapping_mul(29)]).collect();
    model::seeds(&choices)
}
