//! What only some kinds are made by: wide counters, removals, growth.

use clap::{Args, ValueEnum};
use mayhap::Growth;
use mayhap::counting::CounterWidth;

use super::recipe::KindName;
use crate::failure::Failure;
use crate::numbers::{parse_count, parse_rate};

/// The flags that are for some kinds.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Bits of a counter: 4, 8 or 16 of a counting filter [default: 4], 1 to 16 of a d-left filter [default: 2]
    #[arg(long, value_name = "BITS", value_parser = parse_counter_bits)]
    counter_bits: Option<u32>,

    /// Removals that a dual filter is made for [default: one for ten keys]
    #[arg(long, value_name = "COUNT", value_parser = parse_count)]
    removals: Option<u64>,

    /// How many of its keys a dual filter may hide when all these removals are made: 1%, 1e-4 [default: as -p]
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    hidden_rate: Option<f64>,

    /// How many times as large as the last a layer of a growing filter is [default: 2]
    #[arg(long, value_name = "FACTOR", value_parser = parse_expansion)]
    expansion: Option<u32>,

    /// What a scalable filter does when it is full [default: grow]
    #[arg(long, value_enum)]
    when_full: Option<WhenFull>,
}

/// What a scalable filter does with keys that it wasn't made for, as it is called on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum WhenFull {
    /// Put another layer on top
    Grow,
    /// Take no new key
    Refuse,
    /// Take it at a worse rate
    Saturate,
}

impl Settings {
    /// Whether the kind has these settings, and such values of them.
    pub(super) fn check(&self, kind: KindName) -> Result<(), Failure> {
        let refuse = |sentence: String| Err(Failure::Message(sentence));
        let name = kind.name();
        match (self.counter_bits, kind) {
            (None, _) | (Some(_), KindName::DLeft) => {}
            (Some(bits), KindName::Counting) => {
                if width_of(bits).is_none() {
                    return refuse(format!(
                        "counters of a counting filter have 4, 8 or 16 bits, not {bits}; those of a d-left filter may \
                         have any number from 1 to 16"
                    ));
                }
            }
            (Some(_), _) => {
                return refuse(format!(
                    "--counter-bits is for --kind counting and --kind d-left; a {name} filter has no counters"
                ));
            }
        }
        if kind != KindName::Dual {
            for (flag, is_given) in
                [("--removals", self.removals.is_some()), ("--hidden-rate", self.hidden_rate.is_some())]
            {
                if is_given {
                    return refuse(format!(
                        "{flag} is for --kind dual, which remembers what was removed; a {name} filter doesn't"
                    ));
                }
            }
        }
        if self.removals == Some(0) {
            return refuse(
                "--removals is 0, and a dual filter that removes nothing is a Bloom filter with one more to ask: take \
                 --kind bloom"
                    .to_owned(),
            );
        }
        if self.when_full.is_some() && kind != KindName::Scalable {
            return refuse(format!("--when-full is for --kind scalable; a {name} filter has no such choice"));
        }
        match (self.expansion, kind) {
            (None, _) => Ok(()),
            (Some(_), KindName::Scalable) if self.growth() != Growth::Grow => refuse(
                "--expansion is for filters that grow; this one has one layer, as --when-full asks"
                    .to_owned(),
            ),
            (Some(factor), KindName::ScalableCuckoo) if !factor.is_power_of_two() => refuse(format!(
                "layers of a scalable-cuckoo filter grow by powers of two: --expansion {} or {}, not {factor}",
                factor.next_power_of_two() / 2,
                factor.next_power_of_two()
            )),
            (Some(_), KindName::Scalable | KindName::ScalableCuckoo) => Ok(()),
            (Some(_), _) => refuse(format!(
                "--expansion is for --kind scalable and --kind scalable-cuckoo; a {name} filter doesn't grow"
            )),
        }
    }

    /// Of a counting filter.
    pub(super) fn width(&self) -> CounterWidth {
        self.counter_bits.and_then(width_of).unwrap_or_default()
    }

    /// Of a scalable filter.
    pub(super) fn growth(&self) -> Growth {
        match self.when_full {
            None | Some(WhenFull::Grow) => Growth::Grow,
            Some(WhenFull::Refuse) => Growth::Refuse,
            Some(WhenFull::Saturate) => Growth::Saturate,
        }
    }

    pub(super) fn counter_bits(&self) -> Option<u32> {
        self.counter_bits
    }

    pub(super) fn removals(&self) -> Option<u64> {
        self.removals
    }

    pub(super) fn hidden_rate(&self) -> Option<f64> {
        self.hidden_rate
    }

    pub(super) fn expansion(&self) -> Option<u32> {
        self.expansion
    }
}

fn width_of(bits: u32) -> Option<CounterWidth> {
    CounterWidth::ALL.into_iter().find(|width| width.bits() == bits)
}

/// Reads the width of a counter.
fn parse_counter_bits(text: &str) -> Result<u32, String> {
    let bits = text.parse().ok().filter(|bits| (1..=16).contains(bits));
    bits.ok_or_else(|| {
        "counters have 4, 8 or 16 bits in a counting filter, and 1 to 16 in a d-left filter".to_owned()
    })
}

/// The largest factor: what RedisBloom takes, too.
const MOST_EXPANSION: u32 = 32_768;

/// Reads a factor of growth.
fn parse_expansion(text: &str) -> Result<u32, String> {
    let factor = text.parse().ok().filter(|factor| (1..=MOST_EXPANSION).contains(factor));
    factor.ok_or_else(|| format!("give a whole number from 1 to {MOST_EXPANSION}, such as 4"))
}
