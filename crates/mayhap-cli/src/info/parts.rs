//! Layers, generations and sides, each with its own figures.

use mayhap::bits::Blocks;
use mayhap::{AnyFilter, BloomFilter};
use serde_json::{Value, json};

use super::kinds::percent;
use crate::columns::table;
use crate::numbers::{counted, format_count, format_rate, format_size};

/// The filters that a filter is made of.
#[derive(Debug)]
pub(super) struct Parts {
    /// What they are called together.
    name: &'static str,
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    name: String,
    bytes: u64,
    planned_keys: u64,
    keys: u64,
    fill: f64,
    rate: f64,
}

/// More than anybody wants to read; programs get all of them.
const MOST_SHOWN: usize = 40;

impl Parts {
    /// Nothing for a filter in one piece.
    pub(super) fn of<S: Blocks>(filter: &AnyFilter<S>) -> Option<Self> {
        let (name, parts) = match filter {
            AnyFilter::Scalable(filter) => {
                let layers = filter.layers().into_iter().zip(filter.layer_filters()).enumerate();
                let layer = |(number, (layer, filter)): (usize, (mayhap::LayerInfo, &BloomFilter<S>))| Part {
                    keys: layer.keys,
                    planned_keys: layer.planned_keys,
                    ..Part::of(numbered("layer", number), filter)
                };
                ("layers", layers.map(layer).collect())
            }
            AnyFilter::Window(filter) => {
                let name = |number| match number {
                    0 => "newest".to_owned(),
                    _ => format!("{} ago", counted(number as u64, "slot")),
                };
                let generations = filter.generation_filters().enumerate();
                ("generations", generations.map(|(number, filter)| Part::of(name(number), filter)).collect())
            }
            AnyFilter::Dual(filter) => {
                let sides = [("added", filter.added()), ("removed", filter.removed())];
                ("sides", sides.map(|(name, side)| Part::of(name.to_owned(), side)).into())
            }
            AnyFilter::ScalableCuckoo(filter) => {
                let part = |(number, layer): (usize, mayhap::cuckoo::CuckooLayer)| Part {
                    name: numbered("layer", number),
                    bytes: layer.bytes,
                    planned_keys: layer.capacity,
                    keys: layer.len,
                    fill: layer.len as f64
                        / (layer.buckets * u64::from(layer.layout.entries_per_bucket())) as f64,
                    rate: layer.expected_rate,
                };
                ("layers", filter.layers().into_iter().enumerate().map(part).collect())
            }
            _ => return None,
        };
        Some(Self { name, parts })
    }

    /// What to call them.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// A table.
    pub(super) fn text(&self) -> String {
        let head = [self.name, "keys", "made for", "fill", "rate now", "size"].map(str::to_owned);
        let rows: Vec<_> =
            [head].into_iter().chain(self.parts.iter().take(MOST_SHOWN).map(Part::row)).collect();
        let lines: String = table(&rows).lines().map(|line| format!("  {line}\n")).collect();
        match self.parts.len().saturating_sub(MOST_SHOWN) {
            0 => format!("\n{lines}"),
            more => format!("\n{lines}  and {more} more\n"),
        }
    }

    /// All of them.
    pub(super) fn json(&self) -> Value {
        self.parts.iter().map(Part::json).collect()
    }
}

fn numbered(what: &str, number: usize) -> String {
    format!("{what} {}", number + 1)
}

impl Part {
    fn of<S: Blocks>(name: String, filter: &BloomFilter<S>) -> Self {
        Self {
            name,
            bytes: filter.len_bytes(),
            planned_keys: filter.planned_keys(),
            keys: filter.estimated_len(),
            fill: filter.fill_ratio(),
            rate: filter.expected_rate(),
        }
    }

    fn row(&self) -> [String; 6] {
        [
            self.name.clone(),
            format_count(self.keys),
            format_count(self.planned_keys),
            percent(self.fill),
            format_rate(self.rate),
            format_size(self.bytes),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "memory_bytes": self.bytes,
            "keys_now": self.keys,
            "planned_keys": self.planned_keys,
            "fill": self.fill,
            "rate_now": self.rate,
        })
    }
}
