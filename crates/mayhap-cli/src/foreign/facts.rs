//! What there is to say about another system's filter.

use mayhap::formats::redisbloom::RdbVersion;
use mayhap::formats::{ForeignFile, ForeignFilter};
use serde_json::{Map, Value};

use super::{KeyType, Loaded, title};
use crate::numbers::{format_rate, format_size, group_digits};

/// The parameters of a filter and how full it is, for people and for programs.
#[derive(Debug)]
pub(crate) struct Facts {
    /// What people call it: "a Guava filter".
    pub(crate) title: &'static str,
    figures: Vec<(&'static str, &'static str, Figure)>,
}

#[derive(Debug)]
enum Figure {
    Text(String),
    Count(u64),
    /// Nothing if it has none.
    CountOrNone(Option<u64>),
    Size(u64),
    Rate(f64),
}

impl Facts {
    /// Of a filter. Looks at every bit.
    pub(crate) fn of(file: &ForeignFile) -> Self {
        Self::new(&file.filter, file.keys.name(), None)
    }

    /// The same of one in another system's file, with what that says of the keys if nobody says otherwise.
    pub(crate) fn of_loaded(loaded: &Loaded, key_type: &KeyType) -> Self {
        let (name, meaning) = match (key_type.given(), &loaded.keys.form) {
            (Some(given), _) => (given.name(), None),
            (None, Ok(form)) => (form.name(), loaded.keys.meaning.as_deref()),
            (None, Err(why)) => ("unclear", Some(why.as_str())),
        };
        Self::new(&loaded.filter, name, meaning)
    }

    fn new(filter: &ForeignFilter, keys: &str, meaning: Option<&str>) -> Self {
        let mut facts = Self { title: title(filter.format()), figures: Vec::new() };
        facts.add("format", "format", Figure::Text(filter.format().name().to_owned()));
        facts.add_recipe(filter);
        facts.add("keys are", "key_type", Figure::Text(keys.to_owned()));
        if let Some(meaning) = meaning {
            facts.text("that is", "key_meaning", meaning);
        }
        facts.add("size", "memory_bytes", Figure::Size(filter.len_bytes()));
        facts.add_fill(filter);
        facts.add("expected rate now", "rate_now", Figure::Rate(filter.expected_rate()));
        facts
    }

    /// A line for each: its name, and what it is.
    pub(crate) fn rows(&self) -> Vec<[String; 2]> {
        let row = |(label, _, figure): &(&str, _, Figure)| [(*label).to_owned(), figure.text()];
        self.figures.iter().map(row).collect()
    }

    /// The same for a program.
    pub(crate) fn json(&self) -> Map<String, Value> {
        self.figures.iter().map(|(_, name, figure)| ((*name).to_owned(), figure.json())).collect()
    }

    fn add(&mut self, label: &'static str, name: &'static str, figure: Figure) {
        self.figures.push((label, name, figure));
    }

    fn count(&mut self, label: &'static str, name: &'static str, count: u64) {
        self.add(label, name, Figure::Count(count));
    }

    fn text(&mut self, label: &'static str, name: &'static str, text: &(impl ToString + ?Sized)) {
        self.add(label, name, Figure::Text(text.to_string()));
    }

    /// By what its keys are hashed, and what it was made as.
    fn add_recipe(&mut self, filter: &ForeignFilter) {
        match filter {
            ForeignFilter::Guava(filter) => self.text("strategy", "strategy", filter.strategy().name()),
            ForeignFilter::Spark(filter) => self.text("version", "spark_version", &filter.recipe().version()),
            ForeignFilter::RedisBloom(filter, version) => {
                self.text("type", "type", "MBbloom-- (BF.*)");
                self.rdb_version(*version);
                let info = filter.info();
                self.count("layers", "layer_count", info.filters);
                self.count("capacity", "capacity", info.capacity);
                self.add("expansion", "expansion", Figure::CountOrNone(info.expansion.map(u64::from)));
            }
            ForeignFilter::RedisCuckoo(filter, version) => {
                self.text("type", "type", "MBbloomCF (CF.*)");
                self.rdb_version(*version);
                let info = filter.info();
                self.count("layers", "layer_count", info.filters);
                self.count("buckets of the first", "buckets", info.buckets);
                self.count("slots of a bucket", "entries_per_bucket", info.bucket_size);
                self.count("expansion", "expansion", info.expansion);
                self.count("most moves", "max_iterations", info.max_iterations);
            }
            _ => {}
        }
    }

    fn rdb_version(&mut self, version: RdbVersion) {
        self.count("RDB version", "rdb_version", u64::from(version.get()));
    }

    /// What is in it.
    fn add_fill(&mut self, filter: &ForeignFilter) {
        let mut bits = |hashes: String, bits: u64, set: u64| {
            self.text("hashes (k)", "hashes", &hashes);
            self.count("bits (m)", "bits", bits);
            self.count("bits set", "bits_set", set);
        };
        match filter {
            ForeignFilter::LevelDb(filter) => {
                bits(filter.hashes().to_string(), filter.bits(), filter.bits_set());
                self.count("keys, about", "keys_now", filter.estimated_len());
            }
            ForeignFilter::Guava(filter) => {
                bits(filter.hashes().to_string(), filter.bits(), filter.bits_set());
                if let Some(count) = filter.approximate_element_count() {
                    self.count("keys, about", "keys_now", count);
                }
            }
            ForeignFilter::Spark(filter) => {
                bits(filter.hashes().to_string(), filter.bits(), filter.cardinality());
            }
            ForeignFilter::Parquet(filter) => {
                bits(filter.hashes().to_string(), filter.bits(), filter.bits_set());
            }
            ForeignFilter::Crawler(filter) => {
                bits(filter.hashes().to_string(), filter.bits(), filter.bits_set());
            }
            ForeignFilter::RedisBloom(filter, _) => self.count("keys", "keys_now", filter.card()),
            ForeignFilter::RedisCuckoo(filter, _) => {
                self.count("keys", "keys_now", filter.len());
                self.count("slots", "slots", filter.slots());
                self.count(
                    "removed since the last compaction",
                    "removed_since_compaction",
                    filter.info().deletes,
                );
            }
            _ => {}
        }
    }
}

impl Figure {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) | Self::CountOrNone(Some(count)) => group_digits(*count),
            Self::CountOrNone(None) => "none".to_owned(),
            Self::Size(bytes) => format_size(*bytes),
            Self::Rate(rate) => format_rate(*rate),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Text(text) => text.parse::<i64>().map_or_else(|_| text.as_str().into(), Value::from),
            Self::Count(count) | Self::Size(count) => (*count).into(),
            Self::CountOrNone(count) => (*count).into(),
            Self::Rate(rate) => (*rate).into(),
        }
    }
}
