//! LevelDB: a whole number of bits per key, and no rate at all.

use mayhap::formats::leveldb::BloomPolicy;
use mayhap::formats::leveldb::badger::badger_bits_per_key;
use mayhap::sizing::classic;

use super::{Offer, Wish};
use crate::numbers::{counted, format_rate};

/// More bits per key than any rate that a 32-bit hash can give asks for.
const MOST_BITS: u32 = 64;

/// From so many keys in one filter on, the rate is no longer that of the formula.
const MANY_KEYS: u64 = 50_000;

pub(super) fn offers(Wish { keys, rate }: Wish) -> (Vec<Offer>, Vec<String>) {
    let mut offers = Vec::new();
    let mut remarks = Vec::new();
    let enough = (1..=MOST_BITS).find(|bits| expected_rate(BloomPolicy::new(*bits), keys) <= rate);
    if let Some(bits) = enough {
        let call = format!("options.filter_policy = leveldb::NewBloomFilterPolicy({bits});");
        offers.push(offer(
            format!("{} per key", counted(u64::from(bits), "bit")),
            vec![call],
            BloomPolicy::new(bits),
            keys,
        ));
        if bits > 1 {
            offers.push(offer(
                format!("{} would be too few", bits - 1),
                Vec::new(),
                BloomPolicy::new(bits - 1),
                keys,
            ));
        }
    } else {
        remarks.push(format!(
            "No number of bits per key up to {MOST_BITS} gives {}: k is at most 30.",
            format_rate(rate)
        ));
    }
    let badgers = badger_bits_per_key(keys, rate);
    let name = format!("badger, {badgers} {} per key", if badgers == 1 { "bit" } else { "bits" });
    offers.push(offer(name, Vec::new(), BloomPolicy::badger(badgers), keys));
    remarks.push(
        "Bits per key are a whole number, and k is that times 0.69, cut. LevelDB makes one filter for each block of data \
         (some forty keys), at least 9 bytes long, and the block of filters takes 4 bytes more for each 2 KiB of data."
            .to_owned(),
    );
    remarks.push(format!(
        "badger is given the rate, but takes the best number of hashes, {badgers}, for the bits per key: it is smaller, and \
         errs more."
    ));
    if keys >= MANY_KEYS {
        remarks.push(format!(
            "One filter for all of these keys, as badger has it, errs more than the table says: the hash has 32 bits. {} of \
             absent keys have the hash of a key, whatever the bits; measured on a million keys of 10 bits: 1.3%, not 0.84%.",
            format_rate(keys as f64 / 2f64.powi(32))
        ));
    }
    (offers, remarks)
}

fn offer(name: String, calls: Vec<String>, policy: BloomPolicy, keys: u64) -> Offer {
    Offer {
        name,
        calls,
        bytes: policy.filter_bytes(keys),
        hashes: policy.hashes().into(),
        rate: expected_rate(policy, keys),
    }
}

fn expected_rate(policy: BloomPolicy, keys: u64) -> f64 {
    // The last byte is the number of hashes.
    let bits = (policy.filter_bytes(keys) - 1).saturating_mul(8);
    classic::rate(keys, bits, policy.hashes().into())
}
