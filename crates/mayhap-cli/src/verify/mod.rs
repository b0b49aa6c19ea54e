//! `mayhap verify`: does a filter keep what it promises?

mod absent;
mod interval;
mod source;
mod spread;
mod verdict;

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use clap::Args;
use mayhap::AnyFilter;
use mayhap::bits::Mapped;
use mayhap::codec;

use crate::failure::{Answer, Failure, print};
use crate::filter_file::{FilterFile, Unlock};
use crate::foreign::ForeignOptions;
use crate::keys::{Inputs, KeyOptions, KeyReader};
use crate::numbers::{parse_count, parse_rate};
use crate::over_plan::{HidesTooMuch, HoldsTooMuch};
use crate::progress::Progress;
use source::Source;
use verdict::{Promise, Rate, Verdict};

/// Prove a filter against its keys
///
/// First every checksum of the file is checked. Then every key of the source is asked for: each must be found, because
/// a filter has no false negatives. Last, fresh keys that are certainly not in it are asked for, and the rate of wrong
/// answers is compared with what was promised when the filter was made.
///
/// The promise is the mean over all seeds, and the rate of one filter is a little above it or below. So it fails only if
/// its rate is certainly (but for one in 10 000 samples) more than four standard deviations above the promise, which is
/// more than the seed explains. That is a few percent of the rate for thousands of keys, and next to nothing for millions. A
/// filter that holds more keys than it was made for gets no such allowance, and -p asks about this filter alone.
///
/// Without a source, checksums and rate are checked. A damaged filter is an error.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The filter to verify
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    /// Its source, the keys it was built from; `-` is standard input, which is also read when no file is named, unless
    /// it is a terminal
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Read no source: check the checksums and the rate alone
    #[arg(long, conflicts_with = "files")]
    no_keys: bool,

    /// Compare with this rate instead of the one in the file: 1%, 1e-6, 1/1000
    #[arg(short = 'p', long, value_name = "RATE", value_parser = parse_rate)]
    rate: Option<f64>,

    /// Absent keys to ask for [default: enough to expect 400 wrong answers, between 1M and 200M, and no more than 20
    /// seconds of them]
    #[arg(long, value_name = "COUNT", value_parser = parse_count)]
    samples: Option<u64>,

    /// Which absent keys these are: the same seed gives the same keys
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// Write the result as one JSON object
    #[arg(long, conflicts_with = "quiet")]
    json: bool,

    /// Print nothing: the exit code is the answer
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    unlock: Unlock,

    #[command(flatten)]
    keys: KeyOptions,

    #[command(flatten)]
    foreign: ForeignOptions,
}

const EXAMPLES: &str = "\
Examples:
  mayhap verify seen.mayhap urls.txt         every URL found? the rate as promised?
  mayhap verify seen.mayhap --no-keys        checksums and rate alone
  mayhap verify -p 0.1% seen.mayhap urls.txt   is it good enough for 0.1%?
  mayhap verify -q seen.mayhap urls.txt || mayhap build --force -o seen.mayhap urls.txt

Two kinds may miss keys by design: a dual Bloom filter hides a few, at a rate it states, and a window forgets those that \
are older than the window.

Exit codes: 0 the filter keeps its promise, 1 it doesn't, 2 error.";

/// As many absent keys as to expect so many wrong answers: the interval is then about a tenth of the rate to either
/// side.
const WANTED_HITS: f64 = 400.0;
/// No fewer, for they cost nothing.
const FEWEST_SAMPLES: f64 = 1e6;
/// No more: some seconds on a small machine.
const MOST_SAMPLES: f64 = 2e8;
/// No longer, on a slow one.
const LONGEST: Duration = Duration::from_secs(20);

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    // Unless they are named, keys come from standard input, if that isn't taken.
    let is_stdin_taken = io::stdin().is_terminal() || arguments.filter.as_os_str() == "-";
    let has_source = !arguments.files.is_empty() || !is_stdin_taken;
    let inputs = Inputs::check(&arguments.files)?;
    if has_source {
        inputs.refuse_shared_stdin(&[&arguments.filter])?;
    }
    let reader = KeyReader::new(&inputs, &arguments.keys)?;
    let filter = arguments.foreign.map(&arguments.unlock, &arguments.filter)?;
    let threads = thread::available_parallelism().map_or(1, usize::from);

    let has_checksums = !arguments.foreign.is_given();
    if has_checksums {
        codec::verify(&arguments.filter).map_err(|error| Failure::from(mayhap::Error::from(error)))?;
    }
    let keys = if has_source && !arguments.no_keys {
        let progress = Progress::beside_nothing(inputs.total_bytes(), !arguments.quiet);
        let keys = source::ask(&filter, reader, threads, &progress);
        progress.finish();
        Some(keys?)
    } else {
        None
    };
    let rate = measure(arguments, &filter, threads)?;
    let verdict = judge(&arguments.filter, &filter, has_checksums, keys, rate);
    if arguments.json {
        print(&format!("{}\n", verdict.json()))?;
    } else if !arguments.quiet {
        print(&verdict.text())?;
    }
    Ok(if verdict.is_kept() { Answer::Yes } else { Answer::No })
}

/// Asks for absent keys; nothing for what is never wrong.
fn measure(
    arguments: &Arguments,
    filter: &FilterFile<Mapped>,
    threads: usize,
) -> Result<Option<Rate>, Failure> {
    let promise = match filter {
        FilterFile::Bitmap(_) => return Ok(None),
        FilterFile::Filter(filter) => {
            // More keys than planned are no chance.
            let deviation = if HoldsTooMuch::of(filter).is_some() { 0.0 } else { spread::deviation(filter) };
            Some(Promise { rate: filter.planned_rate(), deviation })
        }
        // Other systems' files don't say what they were made for, or not of the filter as a whole.
        FilterFile::Foreign(_) => None,
    };
    let promise = arguments.rate.map(|rate| Promise { rate, deviation: 0.0 }).or(promise);
    let (keys, time) = match arguments.samples {
        Some(samples) => (samples, None),
        None => (samples_for(promise.map(|promise| promise.rate)), Some(LONGEST)),
    };
    let Some(bits) = absent::usable_bits(filter) else { return Ok(None) };
    let progress = Progress::steps(keys, !arguments.quiet);
    let sample = absent::ask(filter, bits, keys, arguments.seed, time, threads, &progress);
    progress.finish();
    let sample = sample?;
    Ok((sample.keys > 0).then(|| Rate::new(sample, promise)))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
fn samples_for(promised: Option<f64>) -> u64 {
    (WANTED_HITS / promised.unwrap_or(1.0)).clamp(FEWEST_SAMPLES, MOST_SAMPLES) as u64
}

fn judge(
    path: &Path,
    filter: &FilterFile<Mapped>,
    has_checksums: bool,
    keys: Option<Source>,
    rate: Option<Rate>,
) -> Verdict {
    let (hidden, hides_too_much, is_window, holds_too_much) = match filter {
        FilterFile::Filter(any) => {
            let hidden = match any {
                AnyFilter::Dual(dual) => {
                    let removed = dual.removed();
                    let deviation =
                        if removed.is_over_plan() { 0.0 } else { spread::hidden_deviation(removed) };
                    Some(Promise { rate: dual.planned_hidden_rate(), deviation })
                }
                _ => None,
            };
            (hidden, HidesTooMuch::of(any), matches!(any, AnyFilter::Window(_)), HoldsTooMuch::of(any))
        }
        FilterFile::Bitmap(_) | FilterFile::Foreign(_) => (None, None, false, None),
    };
    Verdict {
        file: path.display().to_string(),
        kind: filter.kind(),
        bytes: filter.len_bytes(),
        has_checksums,
        is_exact: matches!(filter, FilterFile::Bitmap(_)),
        hidden,
        hides_too_much,
        is_window,
        holds_too_much,
        keys,
        rate,
    }
}
