//! `mayhap bench`: what the kinds cost on this machine.

mod contestant;
mod limit;
mod report;
mod round;

use std::time::{Duration, Instant};

use clap::Args;

use crate::failure::{Answer, Failure, print};
use crate::flags::JsonReport;
use crate::numbers::{counted, format_count, format_size, parse_count, parse_rate, parse_size, whole};
use crate::progress::Progress;
use contestant::Kind;
use limit::random_line_ns;
use report::{Report, Results};
use round::{Figures, Work};

/// Measure every kind of filter on this machine, in about a minute
///
/// Keys are different 8-byte integers, hashed on the way. Kinds take turns in rounds, and medians are shown: in batches
/// of 1024 keys, and one by one. Beside the time stand the memory and the rate that was measured on keys that were never
/// added, because a filter is easily fast if it may be large or wrong; and what the machine itself takes to read one
/// random line of memory, which one question can't go below.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Keys in each filter [default: 1M, then 100M or as many as memory and time allow]
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = parse_count)]
    keys: Option<u64>,

    /// The rate the filters are made for
    #[arg(short = 'p', long, value_name = "RATE", value_parser = parse_rate, default_value = "1%")]
    rate: f64,

    /// Only these kinds, separated by commas
    #[arg(long, value_name = "KIND", value_enum, value_delimiter = ',')]
    kinds: Vec<Kind>,

    /// About how long to measure; a round that has begun is finished
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "60")]
    seconds: f64,

    /// The most memory; there is one large filter at a time
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "512MiB")]
    memory: u64,

    #[command(flatten)]
    report: JsonReport,
}

const EXAMPLES: &str = "\
Examples:
  mayhap bench                                     1 M keys, then as many as 512 MiB hold
  mayhap bench -n 10M -p 0.1%                      your size, your rate
  mayhap bench -n 1M --kinds bloom,cuckoo          two of them
  mayhap bench --seconds 10 --json > bench.json    quickly, for a program

Nothing else should run meanwhile. Where that can't be had, compare numbers of one run only.

Exit codes: 0 success, 2 error.";

/// The sizes that are measured if none is given.
const SMALL: u64 = 1_000_000;
const LARGE: u64 = 100_000_000;

/// The part of the time that is for the small size.
const SMALL_SHARE: f64 = 0.25;

/// A filter of fewer keys is done before a clock can tell.
const LEAST_KEYS: u64 = 10_000;

/// Bits per key are found out on filters of so many keys.
const SAMPLE_KEYS: u64 = 100_000;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let kinds = if arguments.kinds.is_empty() { Kind::ALL.to_vec() } else { arguments.kinds.clone() };
    let Sizes { first, most_of_second } = sizes(arguments, &kinds)?;
    let progress = Progress::steps(whole(arguments.seconds * 1000.0), !arguments.report.json);
    let first_share = if most_of_second.is_some() { SMALL_SHARE } else { 1.0 };
    let results = measure(&kinds, first, arguments.rate, arguments.seconds * first_share, &progress)?;
    let second = most_of_second.and_then(|most| {
        let seconds = arguments.seconds * (1.0 - first_share);
        // A key of a large filter takes longer; but there are fewer questions to each.
        second_size(most.min(first as f64 * seconds / results.round_seconds)).map(|keys| (keys, seconds))
    });
    let mut report = Report { rate: arguments.rate, memory: arguments.memory, results: vec![results] };
    if let Some((keys, seconds)) = second {
        report.results.push(measure(&kinds, keys, arguments.rate, seconds, &progress)?);
    }
    progress.finish();
    print(&if arguments.report.json { report.json() } else { report.text() })?;
    Ok(Answer::Yes)
}

/// How many keys the filters have.
struct Sizes {
    first: u64,
    /// What memory allows for a second size, if there is to be one. Time may allow less.
    most_of_second: Option<f64>,
}

fn sizes(arguments: &Arguments, kinds: &[Kind]) -> Result<Sizes, Failure> {
    let sample = arguments.keys.unwrap_or(SAMPLE_KEYS).min(SAMPLE_KEYS);
    let mut widest = (Kind::Bloom, 0.0);
    for kind in kinds {
        let bits = kind.bits_per_key(sample, arguments.rate)?;
        if bits > widest.1 {
            widest = (*kind, bits);
        }
    }
    let first = arguments.keys.unwrap_or(SMALL);
    if first < LEAST_KEYS {
        return Err(Failure::Message(format!(
            "a filter of {} is done before a clock can tell; measure at least {}",
            counted(first, "key"),
            format_count(LEAST_KEYS)
        )));
    }
    let (kind, bits) = widest;
    if first as f64 * bits / 8.0 > arguments.memory as f64 {
        return Err(too_large(kind, first, bits, arguments.memory));
    }
    let most_of_second = match arguments.keys {
        Some(_) => None,
        None => Some((arguments.memory as f64 * 8.0 / bits).min(LARGE as f64)),
    };
    Ok(Sizes { first, most_of_second })
}

/// The second size in two digits: nobody wants to read 93 284 102 keys. None where it is hardly larger than the first,
/// and would tell nothing new.
fn second_size(most: f64) -> Option<u64> {
    let unit = 10f64.powf(most.log10().floor() - 1.0);
    let keys = whole((most / unit).floor() * unit);
    (keys >= 4 * SMALL).then_some(keys)
}

fn too_large(kind: Kind, keys: u64, bits: f64, memory: u64) -> Failure {
    Failure::Message(format!(
        "a {} of {} keys takes {}, and --memory allows {}; allow more, take a smaller -n, or leave it out with --kinds",
        kind.label(),
        format_count(keys),
        format_size(whole(keys as f64 * bits / 8.0)),
        format_size(memory)
    ))
}

/// Rounds of all kinds, until the time is over.
fn measure(
    kinds: &[Kind],
    keys: u64,
    rate: f64,
    seconds: f64,
    progress: &Progress,
) -> Result<Results, Failure> {
    let start = Instant::now();
    let budget = Duration::from_secs_f64(seconds);
    let mut shown = Duration::ZERO;
    let mut samples: Vec<Vec<Figures>> = vec![Vec::new(); kinds.len()];
    let mut limits = Vec::new();
    let mut round = 0;
    let mut limit_bytes = 0;
    let round_seconds = loop {
        let round_start = Instant::now();
        let work = Work { keys, rate, round };
        for (kind, samples) in kinds.iter().zip(&mut samples) {
            let figures = kind.measure(work)?;
            if limit_bytes == 0 {
                limit_bytes = figures.bytes;
            }
            samples.push(figures);
            let elapsed = start.elapsed().min(budget);
            progress.advance(whole((elapsed - shown).as_secs_f64() * 1000.0), || {
                format!("{} keys, round {}, {}", format_count(keys), round + 1, kind.label())
            });
            shown = elapsed;
        }
        limits.push(random_line_ns(limit_bytes)?);
        round += 1;
        // The next round takes as long as this one.
        if start.elapsed() + round_start.elapsed() > budget {
            break round_start.elapsed().as_secs_f64();
        }
    };
    let kinds = kinds.iter().copied().zip(samples).collect();
    Ok(Results { keys, rounds: round, round_seconds, kinds, limit_bytes, limits })
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err(format!("`{text}` is not a time; give seconds, such as 10 or 0.5, up to a day")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_size_is_round_and_worth_it() {
        assert_eq!(second_size(1e8), Some(100_000_000));
        assert_eq!(second_size(93_284_102.0), Some(93_000_000));
        assert_eq!(second_size(4_000_000.5), Some(4_000_000));
        assert_eq!(second_size(3_999_999.0), None);
        assert_eq!(second_size(0.5), None);
    }
}
