//! `mayhap plan`: what a set of keys costs.

mod catalogue;
mod comparison;
mod exact;
mod filters;
mod foreign;
mod report;

use clap::Args;

use crate::failure::{Answer, Failure, print};
use crate::flags::JsonReport;
use crate::numbers::{parse_count, parse_rate, parse_size};
use catalogue::catalogue;
use exact::{ExactBitmap, HashSet};
use filters::{Question, candidates};
use foreign::{ForeignReport, System};
use report::Report;

/// Say what a filter costs, before you build one
///
/// Four numbers belong together: the keys (-n), the rate of false positives (-p), the memory (--memory) and the bits set
/// for each key (-k). Give two and the rest is worked out, with the best -k unless you choose one. An exact hash set
/// stands beside the filters, so that you see what the inexactness buys; and a bitmap, if the keys are integers and
/// you say from which range (--range).
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Number of keys: 5000, 100M, 1B, 1e8
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = parse_count)]
    keys: Option<u64>,

    /// Rate of false positives: 1%, 0.01, 1e-6, 1/1000
    #[arg(short = 'p', long, value_name = "RATE", value_parser = parse_rate)]
    rate: Option<f64>,

    /// Memory to use at most: 64MiB, 1.5GB
    #[arg(short = 'm', long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,

    /// Bits to set for each key, often called hash functions
    #[arg(short = 'k', long, value_name = "COUNT",
          value_parser = clap::value_parser!(u32).range(1..=64))]
    hashes: Option<u32>,

    /// Average length of the keys in bytes, for the exact set; without it, 8-byte integers are assumed
    #[arg(long, value_name = "BYTES", value_parser = parse_count)]
    key_bytes: Option<u64>,

    /// The keys are integers from a range of so many numbers: 10B for ten digits
    #[arg(long, value_name = "COUNT", value_parser = parse_count)]
    range: Option<u64>,

    /// What another system makes of -n keys at the rate -p: its call, and what that really costs there
    #[arg(long = "for", value_name = "SYSTEM", value_enum,
          conflicts_with_all = ["memory", "hashes", "key_bytes", "range", "exact_sets"])]
    system: Option<System>,

    /// Compare with exact sets of 10 thousand to a billion keys instead, at the rate -p (1% if not given)
    #[arg(long, conflicts_with_all = ["keys", "memory", "hashes", "key_bytes", "range"])]
    exact_sets: bool,

    #[command(flatten)]
    report: JsonReport,

    /// Only to say what to write instead
    #[arg(hide = true, value_name = "NUMBER", value_parser = refuse_bare_number)]
    bare_numbers: Vec<String>,
}

/// `mayhap plan 1M 1%` is a natural first try.
fn refuse_bare_number(_: &str) -> Result<String, &'static str> {
    Err(
        "say what each number is: -n for the keys, -p for the rate, --memory for a size (mayhap plan -n 1M -p 1%)",
    )
}

const EXAMPLES: &str = "\
Examples:
  mayhap plan -n 100M -p 1%                  memory for 100 million keys at 1 %
  mayhap plan -n 1B --memory 2GiB            the best rate for a billion keys in 2 GiB
  mayhap plan --memory 64MiB -p 1e-6         how many keys fit?
  mayhap plan -n 10M -p 0.1% -k 8            setting 8 bits for each key, not the best number
  mayhap plan -n 50M -p 1% --key-bytes 30    beside a hash set of 30-byte keys
  mayhap plan -n 1B -p 0.1% --range 10B      a billion phone numbers of ten free digits
  mayhap plan -n 1M -p 1% --for redis        the BF.RESERVE for that, and what Redis takes
  mayhap plan --exact-sets -p 1%             what exact sets take

Counts may end in k, M, B or T; sizes in kB, MB, GB, TB (powers of 1000) or in KiB, MiB, GiB, TiB, K, M, G, T (powers \
of 1024).

Exit codes: 0 success, 2 error.";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    if arguments.exact_sets {
        comparison::run(arguments.rate.unwrap_or(0.01), arguments.report.json)?;
        return Ok(Answer::Yes);
    }
    if let Some(system) = arguments.system {
        let report = foreign_report(system, arguments)?;
        print(&if arguments.report.json { report.json() } else { report.text() })?;
        return Ok(Answer::Yes);
    }
    let question = Question {
        keys: arguments.keys,
        rate: arguments.rate,
        bytes: arguments.memory,
        hashes: arguments.hashes,
    };
    let (mut candidates, mut remarks) = candidates(&question).map_err(Failure::Message)?;
    let (others, other_remarks) = catalogue(&question);
    candidates.extend(others);
    remarks.extend(other_remarks);
    let hash_set =
        candidates.iter().find_map(|candidate| candidate.keys).map(|keys| match arguments.key_bytes {
            None => HashSet::of_integers(keys),
            Some(length) => HashSet::of_strings(keys, length),
        });
    let bitmap = arguments.range.map(|range| ExactBitmap::new(range, arguments.keys)).transpose()?;
    let report = Report { candidates, hash_set, bitmap, remarks };
    print(&if arguments.report.json { report.json() } else { report.text() })?;
    Ok(Answer::Yes)
}

fn foreign_report(system: System, arguments: &Arguments) -> Result<ForeignReport, Failure> {
    let (Some(keys), Some(rate)) = (arguments.keys, arguments.rate) else {
        return Err(Failure::Message(
            "--for needs the number of keys and the rate, for example: mayhap plan -n 1M -p 1% --for redis"
                .to_owned(),
        ));
    };
    ForeignReport::new(system, keys, rate).map_err(|error| Failure::Message(error.to_string()))
}
