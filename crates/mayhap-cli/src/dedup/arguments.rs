//! What the command is told.

use std::path::PathBuf;

use clap::Args;

use super::sieve::Wanted;
use crate::filter_file::Unlock;
use crate::flags::Quiet;
use crate::keys::KeyOptions;
use crate::numbers::{parse_count, parse_duration, parse_rate, parse_size};

/// Print each line the first time it is seen, in constant memory
///
/// Lines come from the files in the order given, or from standard input, and the first of equal lines is kept in its
/// place. Nothing is sorted and nothing is stored but a filter, so input of any length passes through the same memory.
///
/// The price: now and then a line that was new looks like a repeat and is dropped. The rate of that is yours to choose
/// (-p, one line in a million unless you say otherwise), and the summary on stderr says how many lines were expected to
/// be lost that way. The same input always loses the same lines.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Files to read; `-` is standard input, which is also read when no file is named
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    /// Different lines to expect, such as 10M (with --window: within it): memory is then made to measure
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = parse_count)]
    pub(super) lines: Option<u64>,

    /// How often a new line may be taken for a repeat: 1e-6, 0.1%, 1/1000 [default: 1e-6]
    #[arg(short = 'p', long, value_name = "RATE", value_parser = parse_rate)]
    pub(super) rate: Option<f64>,

    /// Memory of the filter, if -n isn't given; less is used for files with too few lines to fill it [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, conflicts_with = "lines")]
    pub(super) memory: Option<u64>,

    /// Print the repeats instead: each line every time but the first
    #[arg(short = 'd', long, conflicts_with = "count")]
    repeated: bool,

    /// Print how many lines are repeats, and none of them
    #[arg(short = 'c', long)]
    count: bool,

    /// Forget: a line that wasn't seen for this long (90s, 15m, 1h, 7d) is new again
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(super) window: Option<u64>,

    /// The field with the time of each record, for --window, by number or name; the clock decides without it
    #[arg(long, value_name = "FIELD", requires = "window", requires = "field")]
    pub(super) time: Option<String>,

    /// Go on where the last run stopped: what was seen is read from this file at the start and saved to it at the end
    #[arg(long, value_name = "FILE")]
    pub(super) state: Option<PathBuf>,

    #[command(flatten)]
    pub(super) unlock: Unlock,

    /// Write the summary and the warning as JSON, one object per line; with --count the summary is the result
    #[arg(long, conflicts_with = "quiet")]
    pub(super) json: bool,

    #[command(flatten)]
    pub(super) quiet: Quiet,

    #[command(flatten)]
    pub(super) keys: KeyOptions,
}

const EXAMPLES: &str = "\
Examples:
  mayhap dedup urls.txt > unique.txt           each URL once
  mayhap dedup -n 200M mon.log tue.log         across files, with memory for 200 million lines
  tail -f access.log | mayhap dedup -q         live: new lines are printed as they come
  find . -print0 | mayhap dedup -z             names that may contain newlines
  mayhap dedup -f email users.csv              one record for each address, and the header
  mayhap dedup -c urls.txt                     how many lines are repeats?
  mayhap dedup -n 1B --state seen.mayhap today.txt       only what no day before had
  mayhap dedup -f host --time at --window 1h alerts.csv  each host again after an hour's silence

Lines are bytes. Encodings are not looked at, and a carriage return before the newline is part of the line, so the \
same line with and without it is two lines. The last line of a file may lack its newline; it is printed with one.

With --window a line is a repeat if it came within that time before, and it then counts as seen again. It is forgotten \
after the window and at most a quarter of it more; each quarter a fifth of the memory is wiped, so give -n where lines \
are few. A time column holds seconds or milliseconds since 1970, or times like 2026-11-16T05:40:32Z. Time never goes \
back: a line older than one before it counts as of that one's time.

The state is saved when all has been read and printed, or at a signal (SIGINT, SIGTERM) with what was printed until \
then. After an error, or when the reader of the output left early, it stays as it was: what was printed will come \
again, and nothing is lost. It is a filter file like any other: `mayhap check` and `mayhap info` read it. Give -n for \
all the days to come, because it doesn't grow.

Whoever writes the lines can make two of them collide on purpose, unless --key-file gives a secret key.

Exit codes: 0 success (also when the reader of the output leaves early), 2 error, 130 and 143 after a signal that \
--state was saved at.";

impl Arguments {
    /// What is to be written.
    pub(super) fn wanted(&self) -> Wanted {
        match (self.repeated, self.count) {
            (true, _) => Wanted::Repeats,
            (_, true) => Wanted::Count,
            _ => Wanted::New,
        }
    }
}
