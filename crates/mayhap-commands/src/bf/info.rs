//! `BF.CARD`, `BF.INFO` and `BF.DEBUG`: what a filter says about itself. Nothing here looks at a filter's bits: fill and
//! rate are what its counts lead one to expect.

use mayhap::formats::redisbloom::bloom::{RedisBloom, RedisLink};
use mayhap::sizing::{BlockedPlan, blocked, classic};
use mayhap::{Growth, SharedScalableBloom};

use super::create::TIGHTENING;
use super::errors;
use super::filter::{Bloom, read, with};
use crate::words::is;
use crate::{Keyspace, Reply};

/// `BF.CARD key`: the items that were new when they were added; 0 if there is no such key.
pub(super) fn card<K: Keyspace>(host: &K, key: &[u8]) -> Reply {
    let Some(held) = host.find(key) else { return Reply::Integer(0) };
    match Bloom::of(&held) {
        Some(Bloom::Native(filter)) => Reply::count(filter.len()),
        Some(Bloom::RedisBloom(filter)) => Reply::count(read(filter).card()),
        None => Reply::error(errors::WRONG_TYPE),
    }
}

/// `BF.INFO key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION | ERROR | TIGHTENING | FULL]`.
///
/// `ERROR` and `TIGHTENING` are valkey-bloom's, `FULL` is ours. What it tells isn't in the plain answer because clients refuse fields they don't know.
pub(super) fn info<K: Keyspace>(host: &K, key: &[u8], field: Option<&[u8]>) -> Reply {
    with(host, key, |filter| {
        let figures = Figures::of(filter);
        let Some(field) = field else { return Reply::Map(figures.known().into()) };
        if is(field, "FULL") {
            return figures.full();
        }
        let names = ["CAPACITY", "SIZE", "FILTERS", "ITEMS", "EXPANSION", "ERROR", "TIGHTENING"];
        let fields = figures.known().into_iter().chain(figures.asked_for());
        let one = names.iter().zip(fields).find(|(name, _)| is(field, name));
        one.map_or(Reply::error(errors::UNKNOWN_FIELD), |(_, (label, value))| {
            Reply::Field(Box::new((label, value)))
        })
    })
    .unwrap_or_else(|error| error)
}

/// `BF.DEBUG key`: a line for the filter, and one for each layer.
pub(super) fn debug<K: Keyspace>(host: &K, key: &[u8]) -> Reply {
    let line = |line: &String| Reply::text(line);
    with(host, key, |filter| match filter {
        Bloom::Native(filter) => Reply::Array(native_lines(filter).iter().map(line).collect()),
        Bloom::RedisBloom(filter) => Reply::Array(read(filter).debug_lines().iter().map(line).collect()),
    })
    .unwrap_or_else(|error| error)
}

fn native_lines(filter: &SharedScalableBloom) -> Vec<String> {
    let layer = |(plan, keys): (BlockedPlan, u64)| {
        format!(
            "bytes:{} bits:{} hashes:{} hashwidth:64 capacity:{} size:{keys} ratio:{:.5e}",
            plan.bytes(),
            plan.bytes() * 8,
            plan.hashes(),
            plan.keys(),
            plan.rate()
        )
    };
    std::iter::once(format!("size:{}", filter.len())).chain(filter.layer_plans().map(layer)).collect()
}

/// What a filter is and holds.
struct Figures {
    layout: &'static str,
    /// The rate that was asked for.
    rate: f64,
    bytes: u64,
    expansion: Option<u32>,
    /// None: the usual shares of a native filter, or one that doesn't scale.
    tightening: Option<f64>,
    /// None: a secret key, or RedisBloom's own.
    seed: Option<u64>,
    /// The oldest first.
    layers: Vec<Layer>,
}

/// A layer of a native filter, or a link of RedisBloom's.
struct Layer {
    capacity: u64,
    items: u64,
    bytes: u64,
    planned_rate: f64,
    expected_rate: f64,
    expected_fill: f64,
}

impl Figures {
    fn of(filter: Bloom<'_>) -> Self {
        match filter {
            Bloom::Native(filter) => Self::of_native(filter),
            Bloom::RedisBloom(filter) => Self::of_redisbloom(&read(filter)),
        }
    }

    fn of_native(filter: &SharedScalableBloom) -> Self {
        let expansion = (filter.growth() != Growth::Refuse).then(|| filter.expansion());
        let layers: Vec<Layer> =
            filter.layer_plans().map(|(plan, items)| Layer::of_native(&plan, items)).collect();
        let hasher = filter.hasher();
        Self {
            layout: "native",
            rate: filter.planned_rate(),
            bytes: filter.len_bytes(),
            expansion,
            tightening: filter.tightening(),
            seed: hasher.key_id().is_none().then(|| hasher.seed()),
            layers,
        }
    }

    fn of_redisbloom(filter: &RedisBloom) -> Self {
        let info = filter.info();
        let first = filter.links().next().map_or(1.0, |link| link.error);
        // The first link of one that grows has half of the rate that was asked for.
        let rate = if filter.is_scaling() { first * 2.0 } else { first };
        let layers = filter.links().map(Layer::of_redisbloom).collect();
        Self {
            layout: "redisbloom",
            rate,
            bytes: info.size,
            expansion: info.expansion,
            tightening: filter.is_scaling().then_some(TIGHTENING),
            seed: None,
            layers,
        }
    }

    /// The five fields that every client knows.
    fn known(&self) -> [(Reply, Reply); 5] {
        let sum =
            |of: fn(&Layer) -> u64| Reply::count(self.layers.iter().map(of).fold(0, u64::saturating_add));
        [
            (Reply::Simple("Capacity"), sum(|layer| layer.capacity)),
            (Reply::Simple("Size"), Reply::count(self.bytes)),
            (Reply::Simple("Number of filters"), Reply::count(self.layers.len() as u64)),
            (Reply::Simple("Number of items inserted"), sum(|layer| layer.items)),
            (
                Reply::Simple("Expansion rate"),
                self.expansion.map_or(Reply::Null, |expansion| Reply::Integer(expansion.into())),
            ),
        ]
    }

    /// What was asked for beyond those.
    fn asked_for(&self) -> [(Reply, Reply); 2] {
        [
            (Reply::Simple("Error rate"), Reply::Double(self.rate)),
            (Reply::Simple("Tightening ratio"), self.tightening.map_or(Reply::Null, Reply::Double)),
        ]
    }

    fn full(&self) -> Reply {
        let bytes: f64 = self.layers.iter().map(|layer| layer.bytes as f64).sum();
        let set: f64 = self.layers.iter().map(|layer| layer.expected_fill * layer.bytes as f64).sum();
        // By logarithms: 1 minus the product of 1 - r knows no rate below 10⁻¹⁶, and low ones to few digits.
        let right: f64 = self.layers.iter().map(|layer| (-layer.expected_rate).ln_1p()).sum();
        let planned: f64 = self.layers.iter().map(|layer| layer.planned_rate).sum();
        // Sums of fractions: a rounding error isn't a broken promise.
        let is_over_plan = planned > self.rate * (1.0 + f64::EPSILON * 1024.0)
            || self.layers.iter().any(|layer| layer.items > layer.capacity);
        let seed = self.seed.map_or(Reply::Null, |seed| Reply::text(&format!("{seed:016x}")));
        let more = [
            (Reply::Simple("Seed"), seed),
            (Reply::Simple("Expected error rate now"), Reply::Double(-right.exp_m1())),
            (Reply::Simple("Fill"), Reply::Double(if bytes > 0.0 { set / bytes } else { 0.0 })),
            (Reply::Simple("Over plan"), Reply::Flag(is_over_plan)),
            (Reply::Simple("Layers"), Reply::Array(self.layers.iter().map(Layer::reply).collect())),
        ];
        let layout = [(Reply::Simple("Layout"), Reply::text(self.layout))];
        Reply::Map(self.known().into_iter().chain(layout).chain(self.asked_for()).chain(more).collect())
    }
}

impl Layer {
    fn of_native(plan: &BlockedPlan, items: u64) -> Self {
        Self {
            capacity: plan.keys(),
            items,
            bytes: plan.bytes(),
            planned_rate: plan.rate(),
            expected_rate: blocked::rate(plan.shape(), items, plan.blocks()),
            expected_fill: blocked::expected_fill(plan.shape(), items, plan.blocks()),
        }
    }

    fn of_redisbloom(link: &RedisLink) -> Self {
        Self {
            capacity: link.entries,
            items: link.size,
            bytes: link.bytes,
            planned_rate: link.error,
            expected_rate: classic::rate(link.size, link.bits, link.hashes),
            expected_fill: classic::expected_fill(link.size, link.bits, link.hashes),
        }
    }

    fn reply(&self) -> Reply {
        Reply::Map(vec![
            (Reply::Simple("Capacity"), Reply::count(self.capacity)),
            (Reply::Simple("Items"), Reply::count(self.items)),
            (Reply::Simple("Bytes"), Reply::count(self.bytes)),
            (Reply::Simple("Error rate"), Reply::Double(self.planned_rate)),
            (Reply::Simple("Expected error rate now"), Reply::Double(self.expected_rate)),
            (Reply::Simple("Fill"), Reply::Double(self.expected_fill)),
        ])
    }
}
