//! `CF.INFO`, `CF.DEBUG` and `CF.COUNT`: what a filter says about itself, and how often it has an item. Nothing here looks at a filter's slots: fill and rate
//! follow from its counts.

use mayhap::formats::redisbloom::RedisCuckoo;

use super::create::{native_expansion, native_iterations};
use super::filter::{Cuckoo, read, with};
use crate::{Keyspace, NativeCuckoo, Reply};

/// `CF.COUNT key item`. A key that is missing, or holds something else, has no items.
pub(super) fn count<K: Keyspace>(host: &K, key: &[u8], item: &[u8]) -> Reply {
    let held = host.find(key);
    let filter = held.as_deref().and_then(Cuckoo::of);
    Reply::count(filter.map_or(0, |filter| filter.count(item)))
}

/// `CF.INFO key`.
pub(super) fn info<K: Keyspace>(host: &K, key: &[u8]) -> Reply {
    with(host, key, |filter| Reply::Map(Figures::of(filter).known().into())).unwrap_or_else(|error| error)
}

/// `CF.INFO key FULL`. It is ours. What it tells isn't in the plain answer because clients refuse fields they don't know.
pub(super) fn full<K: Keyspace>(host: &K, key: &[u8]) -> Reply {
    with(host, key, |filter| {
        let known = Figures::of(filter).known();
        let more = match filter {
            Cuckoo::Native(filter) => More::of_native(&read(filter)),
            Cuckoo::RedisBloom(filter) => More::of_redisbloom(&read(filter)),
        };
        Reply::Map(known.into_iter().chain(more.fields()).collect())
    })
    .unwrap_or_else(|error| error)
}

/// `CF.DEBUG key`.
pub(super) fn debug<K: Keyspace>(host: &K, key: &[u8]) -> Reply {
    with(host, key, |filter| Reply::text(&Figures::of(filter).line())).unwrap_or_else(|error| error)
}

/// What RedisBloom tells about a filter.
struct Figures {
    bytes: u64,
    /// Of the first layer.
    buckets: u64,
    layers: u64,
    items: u64,
    /// Since the last compaction.
    deleted: u64,
    bucket_size: u64,
    expansion: u64,
    max_iterations: u64,
}

impl Figures {
    fn of(filter: Cuckoo<'_>) -> Self {
        match filter {
            Cuckoo::Native(filter) => Self::of_native(&read(filter)),
            Cuckoo::RedisBloom(filter) => Self::of_redisbloom(&read(filter)),
        }
    }

    fn of_native(native: &NativeCuckoo) -> Self {
        let filter = &native.filter;
        Self {
            bytes: filter.len_bytes().saturating_add(size_of::<NativeCuckoo>() as u64),
            buckets: filter.layers().first().map_or(0, |layer| layer.buckets),
            layers: filter.layer_count() as u64,
            items: filter.len(),
            deleted: native.deleted,
            bucket_size: u64::from(filter.layout().entries_per_bucket()),
            expansion: native_expansion(filter),
            max_iterations: native_iterations(filter),
        }
    }

    fn of_redisbloom(filter: &RedisCuckoo) -> Self {
        let info = filter.info();
        Self {
            bytes: info.size,
            buckets: info.buckets,
            layers: info.filters,
            items: info.items,
            deleted: info.deletes,
            bucket_size: info.bucket_size,
            expansion: info.expansion,
            max_iterations: info.max_iterations,
        }
    }

    /// The eight fields that every client knows.
    fn known(&self) -> [(Reply, Reply); 8] {
        [
            ("Size", self.bytes),
            ("Number of buckets", self.buckets),
            ("Number of filters", self.layers),
            ("Number of items inserted", self.items),
            ("Number of items deleted", self.deleted),
            ("Bucket size", self.bucket_size),
            ("Expansion rate", self.expansion),
            ("Max iterations", self.max_iterations),
        ]
        .map(|(name, number)| (Reply::Simple(name), Reply::count(number)))
    }

    fn line(&self) -> String {
        let Self { buckets, layers, items, deleted, bucket_size, expansion, max_iterations, .. } = self;
        format!(
            "bktsize:{bucket_size} buckets:{buckets} items:{items} deletes:{deleted} filters:{layers} \
             max_iterations:{max_iterations} expansion:{expansion}"
        )
    }
}

/// What it doesn't tell.
struct More {
    layout: &'static str,
    /// The rate that was asked for; RedisBloom's filters promise none.
    rate: Option<f64>,
    expected_rate: f64,
    /// The part of the slots that is taken.
    fill: f64,
    is_over_plan: bool,
    /// The most copies of one item; nothing where copies make the filter grow.
    most_copies: Option<u64>,
    layers: Vec<Reply>,
}

impl More {
    fn of_native(native: &NativeCuckoo) -> Self {
        let filter = &native.filter;
        let layer = |layer: &mayhap::cuckoo::CuckooLayer| {
            let slots = layer.buckets.saturating_mul(u64::from(layer.layout.entries_per_bucket()));
            Reply::Map(vec![
                (Reply::Simple("Capacity"), Reply::count(layer.capacity)),
                (Reply::Simple("Items"), Reply::count(layer.len)),
                (Reply::Simple("Bytes"), Reply::count(layer.bytes)),
                (Reply::Simple("Fingerprint bits"), Reply::count(layer.layout.fingerprint_bits().into())),
                (Reply::Simple("Expected error rate now"), Reply::Double(layer.expected_rate)),
                (Reply::Simple("Fill"), Reply::Double(part(layer.len, slots))),
            ])
        };
        Self {
            layout: "native",
            rate: Some(filter.planned_rate()),
            expected_rate: filter.expected_rate(),
            fill: filter.load_factor(),
            is_over_plan: filter.is_over_plan(),
            most_copies: Some(2 * u64::from(filter.layout().entries_per_bucket())),
            layers: filter.layers().iter().map(layer).collect(),
        }
    }

    /// Sub-filters don't keep count, so only what all of them together hold is told.
    fn of_redisbloom(filter: &RedisCuckoo) -> Self {
        let (info, slots) = (filter.info(), filter.slots());
        // Each entry of a bucket looks like a strange item with chance 1/255, and two buckets of each sub-filter are
        // asked. How the items are spread over the sub-filters isn't known without looking: taken as evenly.
        let fill = part(info.items, slots);
        let entries = fill * info.bucket_size as f64 * info.filters as f64;
        Self {
            layout: "redisbloom",
            rate: None,
            expected_rate: -(2.0 * entries * (254.0_f64 / 255.0).ln()).exp_m1(),
            fill,
            is_over_plan: info.filters > 1,
            most_copies: None,
            layers: Vec::new(),
        }
    }

    fn fields(self) -> Vec<(Reply, Reply)> {
        vec![
            (Reply::Simple("Layout"), Reply::text(self.layout)),
            (Reply::Simple("Error rate"), self.rate.map_or(Reply::Null, Reply::Double)),
            (Reply::Simple("Expected error rate now"), Reply::Double(self.expected_rate)),
            (Reply::Simple("Fill"), Reply::Double(self.fill)),
            (Reply::Simple("Over plan"), Reply::Flag(self.is_over_plan)),
            (Reply::Simple("Most copies of an item"), self.most_copies.map_or(Reply::Null, Reply::count)),
            (Reply::Simple("Layers"), Reply::Array(self.layers)),
        ]
    }
}

fn part(of: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { of as f64 / all as f64 }
}
