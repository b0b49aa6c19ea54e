//! `mayhap plan --for SYSTEM`: the call that makes such a filter elsewhere, and what it really costs there.
//!
//! Sizes are those of `mayhap::formats`, which were compared with the real programs. The rate of a row is the one to
//! expect with all keys in it, not the one that was asked for.

mod guava;
mod leveldb;
mod parquet;
mod redis;
mod spark;

use clap::ValueEnum;
use mayhap::sizing::{BlockedPlan, ClassicPlan, SizingError, classic};
use serde_json::{Value, json};

use super::filters::Kind;
use crate::columns::{paragraph, table};
use crate::numbers::{format_count, format_rate, format_size};

/// Another system that makes Bloom filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum System {
    /// RedisBloom: BF.RESERVE
    Redis,
    /// Guava's BloomFilter, by the age of the Guava
    Guava,
    /// LevelDB's policy, and badger's
    Leveldb,
    /// The filters of a Parquet column
    Parquet,
    /// Spark's BloomFilter
    Spark,
}

/// What is asked of it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wish {
    keys: u64,
    rate: f64,
}

/// A filter that it would make.
#[derive(Clone, Debug, PartialEq)]
struct Offer {
    name: String,
    /// What to write to get it; nothing if it only stands there to be compared.
    calls: Vec<String>,
    bytes: u64,
    /// Bits set for each key.
    hashes: u32,
    /// The rate to expect once all keys are in it.
    rate: f64,
}

/// All there is to say about one system.
#[derive(Debug)]
pub(super) struct ForeignReport {
    system: System,
    wish: Wish,
    offers: Vec<Offer>,
    /// Filters of our own, each with what `build --kind` calls it.
    own: Vec<(&'static str, Offer)>,
    remarks: Vec<String>,
}

impl ForeignReport {
    /// What the system makes of so many keys at a rate, beside filters of our own.
    pub(super) fn new(system: System, keys: u64, rate: f64) -> Result<Self, SizingError> {
        let wish = Wish { keys, rate };
        let own = own(wish)?;
        let (offers, remarks) = match system {
            System::Redis => redis::offers(wish)?,
            System::Guava => guava::offers(wish),
            System::Leveldb => leveldb::offers(wish),
            System::Parquet => parquet::offers(wish),
            System::Spark => spark::offers(wish),
        };
        Ok(Self { system, wish, offers, own, remarks })
    }

    /// A table, the calls, and what to know.
    pub(super) fn text(&self) -> String {
        let mut rows = vec![["", "rate", "memory", "bits per key", "bits set"].map(str::to_owned)];
        rows.extend(self.offers.iter().chain(self.own.iter().map(|(_, offer)| offer)).map(|offer| {
            [
                offer.name.clone(),
                format_rate(offer.rate),
                format_size(offer.bytes),
                format!("{:.2}", self.bits_per_key(offer)),
                offer.hashes.to_string(),
            ]
        }));
        let mut text = format!(
            "{} {} at {} in {}\n\n{}\n",
            format_count(self.wish.keys),
            if self.wish.keys == 1 { "key" } else { "keys" },
            format_rate(self.wish.rate),
            self.system.title(),
            table(&rows)
        );
        text += &self.calls();
        for remark in &self.remarks {
            text += &format!("\n{}", paragraph(remark));
        }
        text
    }

    /// The same as JSON.
    pub(super) fn json(&self) -> String {
        let to_json = |(label, name): (&str, &str), offer: &Offer| -> Value {
            json!({
                (label): name,
                "calls": offer.calls,
                "memory_bytes": offer.bytes,
                "bits_per_key": self.bits_per_key(offer),
                "hashes": offer.hashes,
                "rate_at_planned_keys": offer.rate,
            })
        };
        let report = json!({
            "system": self.system.word(),
            "planned_keys": self.wish.keys,
            "planned_rate": self.wish.rate,
            "filters": self.offers.iter().map(|offer| to_json(("name", &offer.name), offer)).collect::<Vec<_>>(),
            "mayhap": self.own.iter().map(|(kind, offer)| to_json(("kind", kind), offer)).collect::<Vec<_>>(),
            "remarks": self.remarks,
        });
        format!("{report:#}\n")
    }

    /// The calls, under the names of their filters if they differ.
    fn calls(&self) -> String {
        let mut different: Vec<&Offer> = Vec::new();
        for offer in &self.offers {
            if !offer.calls.is_empty() && different.iter().all(|other| other.calls != offer.calls) {
                different.push(offer);
            }
        }
        let several = different.len() > 1;
        let each = different.iter().map(|offer| {
            let lines: String = offer.calls.iter().map(|call| format!("  {call}\n")).collect();
            format!("{}:\n{lines}", if several { &offer.name } else { "Call" })
        });
        each.collect()
    }

    fn bits_per_key(&self, offer: &Offer) -> f64 {
        offer.bytes as f64 * 8.0 / self.wish.keys as f64
    }
}

impl System {
    /// What `--for` calls it.
    fn word(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Redis => "Redis (RedisBloom)",
            Self::Guava => "Guava",
            Self::Leveldb => "LevelDB",
            Self::Parquet => "Parquet",
            Self::Spark => "Spark",
        }
    }
}

fn own(Wish { keys, rate }: Wish) -> Result<Vec<(&'static str, Offer)>, SizingError> {
    let blocked = BlockedPlan::for_rate(keys, rate)?;
    let plan = ClassicPlan::for_rate(keys, rate)?;
    let rate_of_classic = classic::rate(keys, classic::foldable(plan.bits()), plan.hashes());
    let offer = |kind: Kind, bytes, hashes, rate| {
        let name = format!("mayhap: {}", kind.name());
        (kind.word(), Offer { name, calls: Vec::new(), bytes, hashes, rate })
    };
    Ok(vec![
        offer(Kind::Blocked(blocked.shape()), blocked.bytes(), blocked.hashes(), blocked.expected_rate()),
        offer(Kind::Classic, plan.bytes(), plan.hashes(), rate_of_classic),
    ])
}

/// A remark for a filter that the system refuses to make.
fn refusal(name: &str, error: &SizingError) -> String {
    format!("No {name}: {error}.")
}
