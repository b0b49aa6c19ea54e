//! How much the rate differs between sound filters of one layout and number of keys.
//!
//! A plan promises the mean over hash functions. A filter has one of them, with a seed, and its own rate is a little
//! above the mean or below it, by how the keys fell. For small filters that is more than what a million questions can
//! tell apart, so that it has to be known before a filter is called wrong.

use mayhap::bits::Blocks;
use mayhap::sizing::{blocked, classic, counting, cuckoo, d_left, layers};
use mayhap::{AnyFilter, BloomFilter};

/// The standard deviation of the rate among filters such as this, each with another seed and the keys that it was made
/// for.
pub(super) fn deviation<S: Blocks>(filter: &AnyFilter<S>) -> f64 {
    match filter {
        AnyFilter::Bloom(filter) => of_bloom(filter),
        // What the removed side hides makes the rate lower, and is small.
        AnyFilter::Dual(filter) => of_bloom(filter.added()),
        AnyFilter::Scalable(filter) => layers::rate_deviation(filter.layer_filters().map(of_bloom)),
        AnyFilter::Window(filter) => layers::rate_deviation(filter.generation_filters().map(of_bloom)),
        AnyFilter::Classic(filter) => {
            classic::rate_deviation(filter.planned_keys(), filter.bits(), filter.hashes())
        }
        AnyFilter::Counting(filter) => {
            counting::rate_deviation(filter.layout(), filter.planned_keys(), filter.block_count())
        }
        AnyFilter::DLeft(filter) => {
            d_left::rate_deviation(filter.cell(), filter.bucket_count(), filter.planned_keys())
        }
        AnyFilter::Cuckoo(filter) => {
            cuckoo::rate_deviation(filter.layout(), filter.planned_keys(), filter.buckets())
        }
        AnyFilter::ScalableCuckoo(filter) => cuckoo::rate_deviation_of_layers(
            filter.layers().iter().map(|layer| (layer.layout, layer.capacity, layer.buckets)),
        ),
        _ => 0.0,
    }
}

/// The same of the keys that a dual filter hides.
pub(super) fn hidden_deviation<S: Blocks>(removed: &BloomFilter<S>) -> f64 {
    of_bloom(removed)
}

fn of_bloom<S: Blocks>(filter: &BloomFilter<S>) -> f64 {
    blocked::rate_deviation(filter.shape(), filter.planned_keys(), filter.block_count())
}
