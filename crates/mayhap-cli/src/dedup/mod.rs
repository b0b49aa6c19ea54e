//! `mayhap dedup`: each line once.

mod loss;
mod sieve;
mod summary;

use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use mayhap::BloomFilter;
use mayhap::sizing::BlockedPlan;

use crate::failure::Failure;
use crate::input::{Inputs, Source};
use crate::lines::{LineBuffer, LineError};
use crate::numbers::{format_count, format_rate, format_size, parse_count, parse_rate, parse_size};
use crate::progress::Progress;
use sieve::Sieve;
use summary::Summary;

/// Output is written in pieces of this size, unless the input comes in smaller ones.
const WRITE_SIZE: usize = 1 << 20;

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
    files: Vec<PathBuf>,

    /// Different lines to expect, such as 10M: memory is then made to measure
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = parse_count, allow_negative_numbers = true)]
    lines: Option<u64>,

    /// How often a new line may be taken for a repeat: 1e-6, 0.1%, 1/1000
    #[arg(short = 'p', long, value_name = "RATE", value_parser = parse_rate, default_value = "1e-6",
          allow_negative_numbers = true)]
    rate: f64,

    /// Memory of the filter, if -n isn't given; less is used for files too small to fill it
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "64MiB",
          conflicts_with = "lines")]
    memory: u64,

    /// Lines end in a NUL byte instead of a newline, as from `find -print0`
    #[arg(short = 'z', long)]
    null: bool,

    /// Longest line to accept; it has to fit into memory
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "1GiB")]
    max_line: u64,

    /// Write the summary and the warning as JSON, one object per line
    #[arg(long, conflicts_with = "quiet")]
    json: bool,

    /// No summary, no warning, no progress
    #[arg(short, long)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  mayhap dedup urls.txt > unique.txt       each URL once
  mayhap dedup -n 200M mon.log tue.log     across files, with memory for 200 million lines
  tail -f access.log | mayhap dedup -q     live: new lines are printed as they come
  find . -print0 | mayhap dedup -z         names that may contain newlines

Lines are bytes. Encodings are not looked at, and a carriage return before the newline is part of the line, so the \
same line with and without it is two lines. The last line of a file may lack its newline; it is printed with one.

Whoever writes the lines can make two of them collide on purpose. Don't use this where that would do harm.

Exit codes: 0 success (also when the reader of the output leaves early), 2 error.";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let start = Instant::now();
    let inputs = Inputs::check(&arguments.files)?;
    let filter = make_filter(arguments, inputs.total_bytes())?;
    let terminator = if arguments.null { 0 } else { b'\n' };
    let progress = Progress::new(inputs.total_bytes(), !arguments.quiet && !arguments.json);
    // Standard output is line-buffered underneath, which pieces of this size pass by.
    let output = BufWriter::with_capacity(WRITE_SIZE, io::stdout().lock());
    let mut job = Job {
        arguments,
        buffer: LineBuffer::new(terminator, arguments.max_line),
        sieve: Sieve::new(filter, terminator, arguments.rate, output),
        progress,
        input_bytes: 0,
        has_warned: false,
    };

    for source in inputs.sources() {
        job.read(source)?;
    }
    job.sieve.output_mut().flush().map_err(|error| Failure::from_output(&error))?;
    job.progress.finish();
    if !arguments.quiet {
        let summary = Summary::new(&mut job.sieve, job.input_bytes, start.elapsed());
        job.progress.say(&if arguments.json { summary.json() } else { summary.text() });
    }
    Ok(())
}

/// As large as asked for, or smaller if the input can't fill it: a small file shouldn't wait for 64 MiB to be cleared.
fn make_filter(arguments: &Arguments, input_bytes: Option<u64>) -> Result<BloomFilter, mayhap::Error> {
    if let Some(lines) = arguments.lines {
        return BloomFilter::with_rate(lines, arguments.rate);
    }
    if let Some(bytes) = input_bytes {
        // A line and its end take two bytes, but for one empty line and one at the end.
        let most_lines = bytes / 2 + 2;
        let needed = BlockedPlan::for_rate(most_lines, arguments.rate).map(|plan| plan.bytes());
        if needed.is_ok_and(|needed| needed < arguments.memory) {
            return BloomFilter::with_rate(most_lines, arguments.rate);
        }
    }
    BloomFilter::with_bytes(arguments.memory, arguments.rate)
}

struct Job<'a, W: io::Write> {
    arguments: &'a Arguments,
    buffer: LineBuffer,
    sieve: Sieve<W>,
    progress: Progress,
    input_bytes: u64,
    has_warned: bool,
}

impl<W: io::Write> Job<'_, W> {
    fn read(&mut self, source: &Source) -> Result<(), Failure> {
        let mut chunks = self.buffer.chunks(source.open()?);
        let lines_before = self.sieve.lines();
        loop {
            let chunk = match chunks.next_chunk() {
                Ok(Some(chunk)) => chunk,
                Ok(None) => return Ok(()),
                Err(error) => {
                    let line = self.sieve.lines() - lines_before + 1;
                    return Err(explain(&error, source, line, self.arguments.max_line));
                }
            };
            self.sieve.pass(chunk.lines).map_err(|error| Failure::from_output(&error))?;
            if chunk.is_drained {
                self.sieve.output_mut().flush().map_err(|error| Failure::from_output(&error))?;
            }
            self.input_bytes += chunk.read_bytes;
            let sieve = &self.sieve;
            self.progress.advance(chunk.read_bytes, || {
                format!("{} lines, {} printed", format_count(sieve.lines()), format_count(sieve.printed()))
            });
            if self.sieve.is_over_rate() && !self.has_warned {
                self.has_warned = true;
                warn(self.arguments, &self.sieve, &self.progress);
            }
        }
    }
}

fn explain(error: &LineError, source: &Source, line: u64, max_line: u64) -> Failure {
    let name = source.name();
    Failure::Message(match error {
        LineError::Read(error) if error.kind() == io::ErrorKind::IsADirectory => {
            format!("{name} is a directory; name the files in it instead")
        }
        LineError::Read(error) => format!("cannot read {name}: {error}"),
        LineError::TooLong => format!(
            "line {line} of {name} is longer than {}; allow more with --max-line, or use -z if the lines end in NUL",
            format_size(max_line)
        ),
        LineError::OutOfMemory => {
            format!("line {line} of {name} is too long for this machine's memory")
        }
    })
}

fn warn<W: io::Write>(arguments: &Arguments, sieve: &Sieve<W>, progress: &Progress) {
    if arguments.quiet {
        return;
    }
    let advice = match arguments.lines {
        Some(_) => "a larger -n",
        None => "-n with the number of different lines, or a larger --memory,",
    };
    let message = format!(
        "more different lines than the filter was made for: after {} of them a new line is dropped at a rate above \
         {}, and rising; {advice} keeps it below",
        format_count(sieve.printed()),
        format_rate(arguments.rate),
    );
    if arguments.json {
        progress.say(&serde_json::json!({ "warning": message }).to_string());
    } else {
        progress.say(&format!("mayhap: warning: {message}"));
    }
}
