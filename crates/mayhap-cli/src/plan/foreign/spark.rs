//! Spark: Guava's sizes, and two ways to place the bits.

use mayhap::formats::guava::{GuavaPlan, Sizing};
use mayhap::formats::spark::SparkBloom;
use mayhap::sizing::{SizingError, classic};

use super::{Offer, Wish, refusal};

/// Version 1 takes its positions from numbers below this.
const V1_NUMBERS: u64 = 1 << 31;

pub(super) fn offers(Wish { keys, rate }: Wish) -> (Vec<Offer>, Vec<String>) {
    let bits = SparkBloom::optimal_num_of_bits(keys, rate);
    let hashes = SparkBloom::optimal_num_of_hash_functions(keys, bits);
    // Its limit is that of Guava, whose arithmetic it has: the words of a Java array.
    if let Err(error @ SizingError::ForeignPlan { .. }) = GuavaPlan::for_rate(keys, rate, Sizing::Guava31) {
        return (Vec::new(), vec![refusal("filter of Spark's", &error)]);
    }
    let bits = bits.next_multiple_of(64);
    let offer =
        |name: &str, calls, rate| Offer { name: name.to_owned(), calls, bytes: bits / 8, hashes, rate };
    let calls = vec![
        format!("BloomFilter.create({keys}L, {rate})"),
        format!("df.stat.bloomFilter(\"column\", {keys}L, {rate})"),
    ];
    let offers = vec![
        offer("version 1 (Spark 3)", Vec::new(), classic::rate_of_remainders(keys, bits, hashes, V1_NUMBERS)),
        offer("version 2 (Spark 4)", calls, classic::rate(keys, bits, hashes)),
    ];
    let mut remarks = vec![
        "The sizes of both are those of Guava 31.1, in whole words of 64 bits; 3% if no rate is given."
            .to_owned(),
    ];
    if bits > V1_NUMBERS / 16 {
        remarks.push(
            "Version 1 reaches no more than 2^31 bits, unevenly long before that, and its steps in 32 bits cost more than \
             the table says (SPARK-47547). Write large filters with version 2."
                .to_owned(),
        );
    }
    (offers, remarks)
}
