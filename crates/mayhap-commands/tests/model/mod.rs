//! RedisBloom, as a model: written from its behaviour and formats alone, with plain bytes, and without any care for
//! speed. It shares no line with what it is compared with.
#![allow(clippy::unwrap_used, reason = "a check that panics has failed")]

pub(crate) mod answer;
pub(crate) mod bloom;
pub(crate) mod cuckoo;
mod murmur;

use std::collections::BTreeMap;

use answer::Answer;
use bloom::Chain;
use cuckoo::Cuckoo;

/// All keys, and the defaults of filters that are made without being asked for.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) keys: BTreeMap<Vec<u8>, Filter>,
    pub(crate) bf_error_rate: f64,
    pub(crate) bf_initial_size: u64,
    pub(crate) bf_expansion_factor: u32,
    pub(crate) cf_bucket_size: u16,
    pub(crate) cf_initial_size: u64,
    pub(crate) cf_max_iterations: u16,
    pub(crate) cf_expansion_factor: u16,
    pub(crate) cf_max_expansions: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum Filter {
    Bloom(Chain),
    Cuckoo(Cuckoo),
}

impl Filter {
    /// What it takes, as the `Size` of its `INFO`.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Bloom(chain) => chain.memory(),
            Self::Cuckoo(cuckoo) => cuckoo.info()[0].1,
        }
    }
}

const WRONG_TYPE: Answer = Answer::Error("WRONGTYPE Operation against a key holding the wrong kind of value");
const NOT_FOUND: Answer = Answer::Error("ERR not found");

impl Model {
    pub(crate) fn new() -> Self {
        Self {
            keys: BTreeMap::new(),
            bf_error_rate: 0.01,
            bf_initial_size: 100,
            bf_expansion_factor: 2,
            cf_bucket_size: 2,
            cf_initial_size: 1024,
            cf_max_iterations: 20,
            cf_expansion_factor: 1,
            cf_max_expansions: 32,
        }
    }

    /// Whether a filter has grown further than one that is loaded may have.
    pub(crate) fn has_too_many_filters(&self, filter: &Filter) -> bool {
        matches!(filter, Filter::Cuckoo(cuckoo) if cuckoo.filters() > self.cf_max_expansions)
    }

    /// The answer to a command. Its words must be right: what is wrong with words is for transcripts to say.
    pub(crate) fn answer(&mut self, words: &[Vec<u8>]) -> Answer {
        let name = String::from_utf8(words[0].clone()).unwrap();
        let (key, rest) = (&words[1], &words[2..]);
        if name.starts_with("BF.") { self.bf(&name, key, rest) } else { self.cf(&name, key, rest) }
    }

    fn bf(&mut self, name: &str, key: &[u8], rest: &[Vec<u8>]) -> Answer {
        let asks = matches!(name, "BF.EXISTS" | "BF.MEXISTS");
        match (self.keys.get(key), name) {
            (Some(Filter::Cuckoo(_)), _) if !asks => return WRONG_TYPE,
            (Some(Filter::Bloom(_)), "BF.RESERVE") => return Answer::Error("ERR item exists"),
            (None, "BF.CARD") => return Answer::Number(0),
            (None, "BF.INFO" | "BF.DEBUG" | "BF.SCANDUMP") => return NOT_FOUND,
            (None, "BF.INSERT") if option(rest, "NOCREATE").is_some() => return NOT_FOUND,
            _ => {}
        }
        if asks {
            let found = |item: &Vec<u8>| {
                Answer::Flag(matches!(self.keys.get(key), Some(Filter::Bloom(chain)) if chain.has(item)))
            };
            return one_or_many(name == "BF.MEXISTS", rest.iter().map(found).collect());
        }
        if !self.keys.contains_key(key) {
            let chain = self.new_chain(name, rest);
            self.keys.insert(key.to_vec(), Filter::Bloom(chain));
        }
        let Some(Filter::Bloom(chain)) = self.keys.get_mut(key) else { unreachable!() };
        match name {
            "BF.RESERVE" => Answer::Ok,
            "BF.ADD" => one_or_many(false, add_to_chain(chain, rest)),
            "BF.MADD" => one_or_many(true, add_to_chain(chain, rest)),
            "BF.INSERT" => one_or_many(true, add_to_chain(chain, items_of(rest))),
            "BF.CARD" => Answer::Number(chain.items()),
            "BF.INFO" => Answer::Map(vec![
                ("Capacity", Answer::Number(chain.capacity())),
                ("Size", Answer::Number(chain.memory())),
                ("Number of filters", Answer::Number(chain.links())),
                ("Number of items inserted", Answer::Number(chain.items())),
                (
                    "Expansion rate",
                    chain.expansion().map_or(Answer::Null, |rate| Answer::Number(rate.into())),
                ),
            ]),
            "BF.DEBUG" => Answer::Array(chain.debug().into_iter().map(Answer::Text).collect()),
            "BF.SCANDUMP" => {
                let (next, bytes) = chain.scan_dump(parsed(&rest[0]));
                Answer::Array(vec![Answer::Number(next.unsigned_abs()), Answer::Bytes(bytes)])
            }
            _ => panic!("{name} is not in the model"),
        }
    }

    fn new_chain(&self, name: &str, rest: &[Vec<u8>]) -> Chain {
        let (mut error, mut capacity) = (self.bf_error_rate, self.bf_initial_size);
        let mut growth = self.bf_expansion_factor;
        let mut scales = true;
        if name == "BF.RESERVE" {
            (error, capacity) = (parsed(&rest[0]), parsed(&rest[1]));
        }
        if matches!(name, "BF.RESERVE" | "BF.INSERT") {
            capacity = option(rest, "CAPACITY").map_or(capacity, |at| parsed(&rest[at + 1]));
            error = option(rest, "ERROR").map_or(error, |at| parsed(&rest[at + 1]));
            growth = option(rest, "EXPANSION").map_or(growth, |at| parsed(&rest[at + 1]));
            scales = option(rest, "NONSCALING").is_none();
        }
        Chain::new(error, capacity, growth, scales)
    }

    fn cf(&mut self, name: &str, key: &[u8], rest: &[Vec<u8>]) -> Answer {
        let asks = matches!(name, "CF.EXISTS" | "CF.MEXISTS" | "CF.COUNT");
        match (self.keys.get(key), name) {
            (None | Some(Filter::Bloom(_)), "CF.DEL") => return Answer::Error("Not found"),
            (None | Some(Filter::Bloom(_)), "CF.COMPACT") => {
                return Answer::Error("Cuckoo filter was not found");
            }
            (Some(Filter::Bloom(_)), _) if !asks => return WRONG_TYPE,
            (Some(Filter::Cuckoo(_)), "CF.RESERVE") => return Answer::Error("ERR item exists"),
            (None, "CF.INFO" | "CF.DEBUG" | "CF.SCANDUMP") => return NOT_FOUND,
            (None, "CF.INSERT" | "CF.INSERTNX") if option(rest, "NOCREATE").is_some() => return NOT_FOUND,
            _ => {}
        }
        if asks {
            let count = |item: &Vec<u8>| match self.keys.get(key) {
                Some(Filter::Cuckoo(cuckoo)) => cuckoo.count(item),
                _ => 0,
            };
            if name == "CF.COUNT" {
                return Answer::Number(count(&rest[0]));
            }
            let answers = rest.iter().map(|item| Answer::Flag(count(item) > 0)).collect();
            return one_or_many(name == "CF.MEXISTS", answers);
        }
        if !self.keys.contains_key(key) {
            let cuckoo = self.new_cuckoo(name, rest);
            self.keys.insert(key.to_vec(), Filter::Cuckoo(cuckoo));
        }
        let Some(Filter::Cuckoo(cuckoo)) = self.keys.get_mut(key) else { unreachable!() };
        let adds = matches!(name, "CF.ADD" | "CF.ADDNX" | "CF.INSERT" | "CF.INSERTNX");
        // Asked once for a command, whatever happens in it.
        if adds && cuckoo.filters() >= self.cf_max_expansions {
            return Answer::Error("Maximum expansions reached");
        }
        match name {
            "CF.RESERVE" => Answer::Ok,
            "CF.ADD" | "CF.ADDNX" => {
                let item = &rest[0];
                if name == "CF.ADDNX" && cuckoo.has(item) {
                    return Answer::Flag(false);
                }
                cuckoo.add(item).map_or(Answer::Error("Filter is full"), |()| Answer::Flag(true))
            }
            "CF.INSERT" => {
                let mut add =
                    |item: &Vec<u8>| cuckoo.add(item).map_or(Answer::Refused, |()| Answer::Flag(true));
                Answer::Array(items_of(rest).iter().map(&mut add).collect())
            }
            "CF.INSERTNX" => {
                let mut add = |item: &Vec<u8>| match cuckoo.has(item) {
                    true => Answer::Number(0),
                    false => cuckoo.add(item).map_or(Answer::Minus(1), |()| Answer::Number(1)),
                };
                Answer::Array(items_of(rest).iter().map(&mut add).collect())
            }
            "CF.DEL" => Answer::Flag(cuckoo.delete(&rest[0])),
            "CF.COMPACT" => {
                cuckoo.compact(true);
                Answer::Ok
            }
            "CF.INFO" => {
                Answer::Map(cuckoo.info().map(|(name, value)| (name, Answer::Number(value))).to_vec())
            }
            "CF.DEBUG" => Answer::Text(cuckoo.debug()),
            "CF.SCANDUMP" => {
                let piece = cuckoo.scan_dump(parsed(&rest[0]));
                let piece = piece.map(|(next, bytes)| (next.unsigned_abs(), Answer::Bytes(bytes)));
                let (next, bytes) = piece.unwrap_or((0, Answer::Null));
                Answer::Array(vec![Answer::Number(next), bytes])
            }
            _ => panic!("{name} is not in the model"),
        }
    }

    fn new_cuckoo(&self, name: &str, rest: &[Vec<u8>]) -> Cuckoo {
        let mut capacity = self.cf_initial_size;
        let (mut bucket_size, mut expansion) = (self.cf_bucket_size, self.cf_expansion_factor);
        let mut max_iterations = self.cf_max_iterations;
        if name == "CF.RESERVE" {
            capacity = parsed(&rest[0]);
            bucket_size = option(rest, "BUCKETSIZE").map_or(bucket_size, |at| parsed(&rest[at + 1]));
            max_iterations = option(rest, "MAXITERATIONS").map_or(max_iterations, |at| parsed(&rest[at + 1]));
            expansion = option(rest, "EXPANSION").map_or(expansion, |at| parsed(&rest[at + 1]));
        }
        if matches!(name, "CF.INSERT" | "CF.INSERTNX") {
            capacity = option(rest, "CAPACITY").map_or(capacity, |at| parsed(&rest[at + 1]));
        }
        Cuckoo::new(capacity, bucket_size, max_iterations, expansion)
    }
}

/// A filter that is full ends the array, with the error as its last element.
fn add_to_chain(chain: &mut Chain, items: &[Vec<u8>]) -> Vec<Answer> {
    let mut answers = Vec::new();
    for item in items {
        match chain.add(item) {
            Ok(is_new) => answers.push(Answer::Flag(is_new)),
            Err(bloom::Full) => {
                answers.push(Answer::Error("ERR non scaling filter is full"));
                break;
            }
        }
    }
    answers
}

fn one_or_many(many: bool, mut answers: Vec<Answer>) -> Answer {
    if many { Answer::Array(answers) } else { answers.remove(0) }
}

/// Where an option stands. The test has no items of these names.
fn option(words: &[Vec<u8>], name: &str) -> Option<usize> {
    words.iter().position(|word| word == name.as_bytes())
}

fn items_of(words: &[Vec<u8>]) -> &[Vec<u8>] {
    &words[option(words, "ITEMS").unwrap() + 1..]
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Debug>>(word: &[u8]) -> T {
    std::str::from_utf8(word).unwrap().parse().unwrap()
}
