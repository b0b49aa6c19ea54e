//! Guava: one call, and a filter that depends on how old the Guava is.

use mayhap::formats::guava::{GuavaPlan, Sizing};
use mayhap::sizing::classic;

use super::{Offer, Wish, refusal};

/// The oldest strategy takes its positions from numbers below this.
const MITZ_32_NUMBERS: u64 = 1 << 31;

/// What its first versions take for a number of keys: Java's `int`.
const MOST_KEYS_OF_OLD: u64 = i32::MAX as u64;

const GENERATIONS: [(Sizing, &str); 4] = [
    (Sizing::RateAlone, "since pull request 7494 (2024)"),
    (Sizing::Guava31, "before that, 31.1 among them"),
    (Sizing::WholeBitsPerKey, "before issue 1781 (2014), from 14"),
    (Sizing::Int32, "the first, in 32 bits"),
];

pub(super) fn offers(Wish { keys, rate }: Wish) -> (Vec<Offer>, Vec<String>) {
    let mut offers = Vec::new();
    let mut remarks = Vec::new();
    let suffix = if keys > MOST_KEYS_OF_OLD { "L" } else { "" };
    let call = format!("BloomFilter.create(funnel, {keys}{suffix}, {rate})");
    for (sizing, name) in GENERATIONS {
        if sizing == Sizing::Int32 && keys > MOST_KEYS_OF_OLD {
            remarks.push(format!("{name}: no more than {MOST_KEYS_OF_OLD} keys can be asked for."));
            continue;
        }
        match GuavaPlan::for_rate(keys, rate, sizing) {
            Ok(plan) => {
                let hashes = u32::from(plan.hashes());
                let rate = match sizing {
                    Sizing::Int32 => classic::rate_of_remainders(keys, plan.bits(), hashes, MITZ_32_NUMBERS),
                    _ => classic::rate(keys, plan.bits(), hashes),
                };
                offers.push(Offer {
                    name: name.to_owned(),
                    calls: vec![call.clone()],
                    bytes: u64::from(plan.words()) * 8,
                    hashes,
                    rate,
                });
            }
            Err(error) => remarks.push(refusal(name, &error)),
        }
    }
    remarks.push(
        "The bits are the same in all, cut to a whole number and rounded up to words of 64. The number of hashes isn't: \
         until 2014 the bits per key were cut to a whole number first."
            .to_owned(),
    );
    remarks.push(
        "The first versions stop at 2^31 - 1 bits without a word, and place them with MURMUR128_MITZ_32, which meets some \
         bits more often than others. Streams of all of them are six bytes longer than the bits."
            .to_owned(),
    );
    (offers, remarks)
}
