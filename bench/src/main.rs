//! mayhap beside other filters: `cargo run --release -p mayhap-bench -- quick`.
//!
//! Speed here is a ratio in one run: contestants take turns, round after round, and the tables show medians.
//! Beside the time stand the memory really used and the measured error rate, because a filter is fast at
//! being wrong, or at being large, without effort.

mod bulk;
mod child;
mod contestants;
mod counting;
mod cuckoo;
mod dedup;
mod deletable;
mod files;
mod formats;
mod keys;
mod layers;
mod limits;
mod machine;
mod measure;
mod ours;
mod removing;
mod report;
mod server;
mod shared;
mod single;
mod sizes;
mod url_file;
mod verdict;

use std::fs;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use serde_json::json;

use crate::report::Report;
use crate::single::KeyKind;

/// Anything that ends a run; the message is for the person at the terminal.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Compares mayhap with other filters and prints Markdown tables.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// What to run
    #[arg(value_enum, required = true)]
    cells: Vec<CellName>,

    /// Filter sizes instead of each cell's own, e.g. 10k,1M (of lines, for dedup)
    #[arg(long, value_delimiter = ',', value_parser = parse_count)]
    keys: Vec<usize>,

    /// Rates the filters are made for [default: 0.01,0.001; 0.03 as well for deletable; 0.01 for layers]
    #[arg(long, value_delimiter = ',')]
    rates: Vec<f64>,

    /// Rounds of each cell [default: 25; 9 from 5M keys on, 5 from 50M; 3 for dedup]
    #[arg(long)]
    rounds: Option<usize>,

    /// Present, and as many absent, keys asked in a round [default: 500k; 20M from 50M keys on]
    #[arg(long, value_parser = parse_count)]
    questions: Option<usize>,

    /// Only contestants whose name contains one of these
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,

    /// The binary `dedup`, `files` and `server` run [default: `mayhap` beside this one]
    #[arg(long)]
    mayhap: Option<PathBuf>,

    /// Where `sizes` draws its plot
    #[arg(long)]
    svg: Option<PathBuf>,

    /// Also write every sample to this file
    #[arg(long)]
    json: Option<PathBuf>,

    /// Also write the tables to this file
    #[arg(long)]
    markdown: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum CellName {
    /// u64 keys, filters of 10k and 1M
    Quick,
    /// u64 keys, filters of 100M (2 GiB of memory)
    Large,
    /// URLs, filters of 10k, 1M and 10M (100M with --keys 100M: 8 GiB of memory)
    Urls,
    /// Two threads on one filter of 50M u64 keys
    Shared,
    /// Bulk build from 100M digests
    Bulk,
    /// `mayhap dedup` of 10M lines against sort and awk
    Dedup,
    /// Cuckoo filters of 1M and 100M u64 keys: 16-bit fingerprints, 95 % load (2 GiB of memory)
    Cuckoo,
    /// Counting Bloom filters of 1M and 100M u64 keys (3 GiB of memory)
    Counting,
    /// Every kind that can delete, filters of 1M u64 keys
    Deletable,
    /// Chains of 1 to 10 layers, 1M u64 keys
    Layers,
    /// The recipes of LevelDB, Guava and RedisBloom beside plain ones, 1M and 10M URLs
    Formats,
    /// `mayhap serve` beside redis-server (which must be installed)
    Server,
    /// `mayhap build` of 100M lines and `mayhap check` of 10M against `wc -l` (5 GB of files)
    Files,
    /// A filter of 10k to 1B integers, ten sizes and more (2.5 GiB of memory); draws a plot with --svg
    Sizes,
    /// All of the above
    All,
}

/// What every cell is told.
struct Settings {
    rates: Vec<f64>,
    rounds: Option<usize>,
    questions: Option<usize>,
    /// Keys inserted in a round, at least: filters smaller than this are built several times.
    inserts: usize,
    only: Vec<String>,
}

impl Settings {
    fn admits(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
    }

    /// Rounds of a cell whose filters have `n` keys. Many short ones: two contestants are compared within a
    /// round, where the machine's clock has had the least time to wander.
    fn rounds_of(&self, n: usize) -> usize {
        let default = match n {
            50_000_000.. => 5,
            5_000_000.. => 9,
            _ => 25,
        };
        self.rounds.unwrap_or(default)
    }
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let mut settings = Settings {
        rates: Vec::new(),
        rounds: arguments.rounds,
        questions: arguments.questions,
        inserts: 1_000_000,
        only: arguments.only.clone(),
    };
    let mut cells = arguments.cells.clone();
    if cells.contains(&CellName::All) {
        cells = CellName::value_variants().iter().copied().filter(|&cell| cell != CellName::All).collect();
    }

    println!("{}", machine::markdown());
    let mut reports = Vec::new();
    for cell in cells {
        settings.rates = rates(cell, &arguments.rates).to_vec();
        for &size in sizes(cell, &arguments.keys) {
            for report in run(cell, size, &settings, &arguments)? {
                println!("{}", report.markdown());
                reports.push(report);
            }
        }
    }

    if let Some(path) = &arguments.markdown {
        let tables: Vec<String> = reports.iter().map(Report::markdown).collect();
        fs::write(path, format!("{}\n{}", machine::markdown(), tables.join("\n")))?;
    }
    if let Some(path) = &arguments.json {
        let cells: Vec<_> = reports.into_iter().map(|report| report.json).collect();
        let all = json!({"made": machine::json(), "cells": cells});
        fs::write(path, format!("{all:#}\n"))?;
    }
    Ok(())
}

/// The filter sizes of a cell, unless the user chose others.
fn sizes(cell: CellName, chosen: &[usize]) -> &[usize] {
    match cell {
        _ if !chosen.is_empty() => chosen,
        CellName::Quick => &[10_000, 1_000_000],
        CellName::Large | CellName::Bulk => &[100_000_000],
        CellName::Urls => &[10_000, 1_000_000, 10_000_000],
        CellName::Shared => &[50_000_000],
        CellName::Dedup => &[10_000_000],
        CellName::Files => &[100_000_000],
        // The largest; the others are before it.
        CellName::Sizes => &[1_000_000_000],
        CellName::Cuckoo | CellName::Counting => &[1_000_000, 100_000_000],
        CellName::Formats => &[1_000_000, 10_000_000],
        CellName::Deletable | CellName::Layers | CellName::Server => &[1_000_000],
        CellName::All => &[],
    }
}

/// The rates of a cell, unless the user chose others.
fn rates(cell: CellName, chosen: &[f64]) -> &[f64] {
    match cell {
        _ if !chosen.is_empty() => chosen,
        CellName::Deletable => &[0.03, 0.01, 0.001],
        CellName::Layers => &[0.01],
        CellName::Sizes => &[0.001],
        _ => &[0.01, 0.001],
    }
}

fn run(
    cell: CellName,
    size: usize,
    settings: &Settings,
    arguments: &Arguments,
) -> Result<Vec<Report>, Failure> {
    match cell {
        CellName::Quick | CellName::Large => single::run_size(KeyKind::Integers, size, settings),
        CellName::Urls => single::run_size(KeyKind::Urls, size, settings),
        CellName::Shared => shared::run(size, settings),
        CellName::Bulk => bulk::run(size, settings),
        CellName::Dedup => Ok(vec![dedup::run(size, &binary(arguments)?, settings)?]),
        CellName::Files => Ok(vec![files::run(size, &binary(arguments)?, settings)?]),
        CellName::Sizes => Ok(vec![sizes::run(size, settings, arguments.svg.as_deref())?]),
        CellName::Server => server::run(size, &binary(arguments)?, settings),
        CellName::Cuckoo => cuckoo::run(size, settings),
        CellName::Counting => counting::run(size, settings),
        CellName::Deletable => deletable::run(size, settings),
        CellName::Layers => layers::run(size, settings),
        CellName::Formats => formats::run(size, settings),
        // `main` has replaced it by the others.
        CellName::All => Ok(Vec::new()),
    }
}

/// The program `mayhap`.
fn binary(arguments: &Arguments) -> Result<PathBuf, Failure> {
    match &arguments.mayhap {
        Some(path) => Ok(path.clone()),
        None => Ok(std::env::current_exe()?.with_file_name("mayhap")),
    }
}

/// A whole number with an optional k or M: 10k, 1M, 2500000.
fn parse_count(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => text.strip_suffix('M').map_or((text, 1), |digits| (digits, 1_000_000)),
    };
    let count =
        digits.parse::<usize>().ok().and_then(|count| count.checked_mul(unit)).filter(|&count| count > 0);
    count.ok_or_else(|| format!("{text:?} is not a positive whole number such as 2500, 10k or 100M"))
}

#[cfg(test)]
mod tests {
    use super::parse_count;

    #[test]
    fn counts() {
        assert_eq!(parse_count("10k"), Ok(10_000));
        assert_eq!(parse_count("100M"), Ok(100_000_000));
        assert_eq!(parse_count("7"), Ok(7));
        assert!(parse_count("0").is_err());
        assert!(parse_count("1.5M").is_err());
        assert!(parse_count("99999999999999999M").is_err());
    }
}
