//! The CPU's own code and the portable code: the same bits, the same answers.

use mayhap::bloom::Shape;
use mayhap::{BloomFilter, Digest};

use crate::keys::scattered;

/// Digests that a generator makes, and ones with all bits in one place.
fn digests(seed: u64) -> Vec<Digest> {
    let random = (0..20_000).map(|i| scattered(seed << 32 | i));
    let powers =
        (0..64).flat_map(|bit| [1u64 << bit, (1 << bit) - 1, !(1 << bit), (1u64 << bit).wrapping_neg()]);
    random.chain(powers).chain([0, u64::MAX]).map(Digest::new).collect()
}

#[test]
fn both_set_the_same_bits_and_give_the_same_answers() {
    for shape in Shape::ALL {
        for (keys, rate) in [(1, 0.01), (100, 0.01), (20_000, 0.1), (900_000, 0.01)] {
            let builder = || BloomFilter::builder().shape(shape).keys(keys).rate(rate);
            let (mut ours, mut portable) =
                (builder().build().unwrap(), builder().portable().build().unwrap());
            let (shared, shared_portable) =
                (builder().build_shared().unwrap(), builder().portable().build_shared().unwrap());
            let context = format!("{shape:?}, {keys} keys at {rate}, seed {keys}");
            let inserted = digests(keys);
            for digest in &inserted {
                let new = ours.insert_hash(*digest);
                assert_eq!(new, portable.insert_hash(*digest), "{context}: insert {digest:?}");
                assert_eq!(new, shared.insert_hash(*digest), "{context}: shared insert {digest:?}");
                assert_eq!(
                    new,
                    shared_portable.insert_hash(*digest),
                    "{context}: portable shared insert {digest:?}"
                );
            }
            assert!(ours == portable && ours == shared && ours == shared_portable, "{context}: other bits");

            let asked = digests(keys + 1);
            let answers: Vec<bool> = asked.iter().map(|digest| ours.contains_hash(*digest)).collect();
            let mut found = vec![false; asked.len()];
            portable.contains_hashes(&asked, &mut found);
            assert_eq!(found, answers, "{context}: portable answers, in a batch");
            shared.contains_hashes(&asked, &mut found);
            assert_eq!(found, answers, "{context}: shared answers, in a batch");
            shared_portable.contains_hashes(&asked, &mut found);
            assert_eq!(found, answers, "{context}: portable shared answers, in a batch");
            for (digest, answer) in asked.iter().zip(&answers) {
                assert_eq!(portable.contains_hash(*digest), *answer, "{context}: {digest:?}");
                assert_eq!(shared.contains_hash(*digest), *answer, "{context}: shared, {digest:?}");
                assert_eq!(
                    shared_portable.contains_hash(*digest),
                    *answer,
                    "{context}: portable shared, {digest:?}"
                );
            }
        }
    }
}
