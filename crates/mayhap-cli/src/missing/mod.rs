//! `mayhap missing`: the numbers of a range that do not occur.

mod gaps;
mod range;
mod seen;

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::failure::{Answer, Failure, say};
use crate::flags::Quiet;
use crate::keys::{Batch, Inputs, KeyOptions, KeyReader};
use crate::numbers::{counted, format_count, group_digits, parse_count, parse_size};
use crate::progress::Progress;
use gaps::Gaps;
use range::{NumberRange, parse_range};
use seen::{Counts, Seen};

/// Output is written in pieces of this size.
const WRITE_SIZE: usize = 1 << 20;

/// Print the numbers of a range that do not occur in the input
///
/// Every line is a whole number in decimal digits; spaces around it don't matter. What was seen is kept as one bit for
/// each number of the range, so the answer is exact: 0..1B takes 125 MB, whatever the input. Of a huge range with few
/// numbers in it only those are kept.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Files to read; `-` is standard input, which is also read when no file is named
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The numbers to look for: 0..1M (without the last), 1..=1000000 (with it)
    #[arg(short = 'r', long, value_name = "RANGE", value_parser = parse_range, required = true)]
    range: NumberRange,

    /// Print only how many are missing
    #[arg(short, long, conflicts_with_all = ["limit", "ranges"])]
    count: bool,

    /// Print only the first so many, numbers or (with --ranges) runs
    #[arg(short, long, value_name = "COUNT", value_parser = parse_count)]
    limit: Option<u64>,

    /// Print runs of neighbours as one line: 17..=23
    #[arg(long)]
    ranges: bool,

    /// Pass over lines that are no numbers, and count them
    #[arg(long)]
    skip_invalid: bool,

    /// The most memory to take
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "2GiB")]
    memory: u64,

    /// Write JSON lines: each run as its first and last number, then the summary
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    quiet: Quiet,

    // Last, because its heading is that of all options that follow.
    #[command(flatten)]
    keys: KeyOptions,
}

const EXAMPLES: &str = "\
Examples:
  mayhap missing --range 0..1M ids.txt             which numbers below a million are not in the file?
  mayhap missing -r 1..=9999 -c invoices.txt       how many invoices are lost?
  mayhap missing -r 0..10B --ranges phones.zst     gaps as runs
  mayhap missing -r 1..1B --limit 1 ids.txt        the smallest free number
  mayhap missing -r 1..100k --csv -f id users.csv  numbers from a column

Numbers outside the range are counted in the summary, and otherwise ignored.

Exit codes: 0 something is missing, 1 nothing is, 2 error.";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let inputs = Inputs::check(&arguments.files)?;
    let mut reader = KeyReader::new(&inputs, &arguments.keys)?;
    let mut seen =
        Seen::new(arguments.range, inputs.total_bytes(), arguments.memory, arguments.skip_invalid)?;
    let progress = Progress::beside_nothing(inputs.total_bytes(), !arguments.quiet.quiet && !arguments.json);
    let mut batch = Batch::default();
    while reader.next(&mut batch)? {
        seen.read(&batch)?;
        let lines = seen.counts().lines;
        progress.advance(batch.read_bytes(), || format!("{} lines", format_count(lines)));
    }
    progress.finish();

    let missing = seen.missing();
    let mut output = BufWriter::with_capacity(WRITE_SIZE, io::stdout().lock());
    write(arguments, &seen, &mut output)
        .and_then(|()| output.flush())
        .map_err(|error| Failure::from_output(&error))?;
    if !arguments.quiet.quiet && !arguments.json {
        say(&summary(arguments.range, missing, seen.counts()));
    }
    Ok(if missing > 0 { Answer::Yes } else { Answer::No })
}

fn write(arguments: &Arguments, seen: &Seen, output: &mut impl Write) -> io::Result<()> {
    let gaps = Gaps { seen, limit: arguments.limit.unwrap_or(u64::MAX) };
    if arguments.json {
        if !arguments.count {
            gaps.write_json(output)?;
        }
        return writeln!(output, "{}", summary_json(arguments.range, seen));
    }
    if arguments.count {
        writeln!(output, "{}", seen.missing())
    } else if arguments.ranges {
        gaps.write_runs(output)
    } else {
        gaps.write_numbers(output)
    }
}

fn summary(range: NumberRange, missing: u64, counts: Counts) -> String {
    let mut text = format!(
        "mayhap: {} of {} missing; {} read",
        group_digits(missing),
        counted(range.len(), "number") + if missing == 1 || range.len() == 1 { " is" } else { " are" },
        counted(counts.lines, "line")
    );
    let invalid = if counts.invalid == 1 { "no number" } else { "no numbers" };
    for (count, what) in
        [(counts.outside, "outside the range"), (counts.repeated, "repeated"), (counts.invalid, invalid)]
    {
        if count > 0 {
            text += &format!(", {} {what}", group_digits(count));
        }
    }
    text
}

fn summary_json(range: NumberRange, seen: &Seen) -> serde_json::Value {
    let counts = seen.counts();
    json!({
        "range": range.to_string(),
        "numbers": range.len(),
        "missing": seen.missing(),
        "present": range.len() - seen.missing(),
        "lines": counts.lines,
        "repeats": counts.repeated,
        "outside": counts.outside,
        "invalid": counts.invalid,
        "memory_bytes": seen.memory_bytes(),
    })
}
