//! `mayhap check`: which lines are in a filter.

mod question;
mod report;

use std::path::{Path, PathBuf};
use std::thread;

use clap::Args;

use crate::failure::{Answer, Failure, print};
use crate::filter_file::Unlock;
use crate::foreign::ForeignOptions;
use crate::keys::{Batch, Inputs, KeyOptions, KeyReader, OneTable, Pending};
use crate::numbers::format_count;
use crate::progress::Progress;
use question::Questions;
use report::{Form, Report};

/// Print the lines that are in a filter
///
/// Every line that is in the set is printed, and now and then one that isn't: mayhap. How often, `mayhap info` tells.
/// With -v the others are printed, and of those it is certain that they are not in the set.
///
/// The filter is mapped, not read, so that the first answer comes at once, however large it is. Its checksums are not
/// looked at for the same reason: `mayhap verify` does that.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The filter to ask
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    /// Files to read; `-` is standard input, which is also read when no file is named
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Ask this filter, too; may be given several times. A line matches when any of the filters has it
    #[arg(short = 'F', long = "filter", value_name = "FILTER")]
    more: Vec<PathBuf>,

    /// A line matches only when all of the filters have it
    #[arg(long)]
    all: bool,

    /// Print the names of the filters that have a line before it, with commas between them and a tab after them
    #[arg(long, conflicts_with = "invert")]
    which: bool,

    /// The lines that don't match: these are certainly not in the set
    #[arg(short = 'v', long)]
    invert: bool,

    /// Print how many lines there are instead of the lines; with --which, how many for each filter
    #[arg(short, long)]
    count: bool,

    /// Print nothing, and stop at the first line found: the exit code is the answer
    #[arg(short, long, conflicts_with_all = ["count", "json", "which"])]
    quiet: bool,

    /// Write one JSON object for each line, or one for the count; a line that is no text stands in `record_bytes`, in
    /// hexadecimal digits
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    unlock: Unlock,

    #[command(flatten)]
    keys: KeyOptions,

    #[command(flatten)]
    foreign: ForeignOptions,
}

const EXAMPLES: &str = "\
Examples:
  mayhap check seen.mayhap urls.txt              the URLs that were seen before
  mayhap check -v seen.mayhap urls.txt           those that certainly weren't
  tail -f access.log | mayhap check bots.mayhap  live: lines are printed as they come
  mayhap check -c -f email leaked.mayhap users.csv   how many addresses of a table?
  mayhap check mon.mayhap -F tue.mayhap --which urls.txt   which of the two has it?
  mayhap check --format guava users.bloom names.txt   a filter that Guava wrote

Of a table the whole record is printed, and the header before the first; several tables must have the same. A bitmap is asked for numbers, one a line.

Exit codes: 0 some line was found, 1 none, 2 error.";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let inputs = Inputs::check(&arguments.files)?;
    if !matches!(arguments.form(), Form::Nothing | Form::Count) {
        inputs.refuse_own_output()?;
    }
    let reader = KeyReader::new(&inputs, &arguments.keys)?;
    let paths: Vec<&Path> =
        [&arguments.filter].into_iter().chain(&arguments.more).map(PathBuf::as_path).collect();
    inputs.refuse_shared_stdin(&paths)?;
    let filters = arguments.foreign.map_all(&arguments.unlock, &paths)?;
    let filters: Vec<_> = paths.iter().map(|path| path.display().to_string()).zip(filters).collect();
    let progress = if arguments.count {
        Progress::beside_nothing(inputs.total_bytes(), !arguments.quiet)
    } else {
        Progress::new(inputs.total_bytes(), !arguments.quiet)
    };
    let mut found = 0;
    let (mut table, mut header) = (OneTable::default(), None);
    let desks = reader.share_in_order(
        threads(arguments, &inputs),
        || Desk {
            questions: Questions::new(&filters, arguments.all, arguments.invert),
            pending: Pending::new(),
            report: Report::new(arguments.form()),
        },
        Desk::work,
        |desk, batch| {
            if arguments.form() == Form::Records
                && let Some(first) = table.header(batch)?
            {
                header = Some(first.to_vec());
            }
            found += desk.report.print(header.as_mut())?;
            progress.advance(batch.read_bytes(), || format!("{} found", format_count(found)));
            Ok(!arguments.quiet || found == 0)
        },
    );
    progress.finish();
    if arguments.count {
        let mut all = Questions::new(&filters, arguments.all, arguments.invert);
        desks?.iter().for_each(|desk| all.add_counts(&desk.questions));
        print(&report::count(&all, found, arguments.which, arguments.json))?;
    } else {
        desks?;
    }
    Ok(if found > 0 { Answer::Yes } else { Answer::No })
}

/// All cores for files. What comes through a pipe is answered at once and by one: another would be waiting for more of it
/// when the command should end.
fn threads(arguments: &Arguments, inputs: &Inputs) -> usize {
    if arguments.quiet || inputs.total_bytes().is_none() {
        return 1;
    }
    thread::available_parallelism().map_or(1, usize::from)
}

/// What one thread has at hand.
struct Desk<'a> {
    questions: Questions<'a>,
    pending: Pending,
    report: Report,
}

impl Desk<'_> {
    /// Asks for all records of a batch, and keeps what is to be printed.
    fn work(&mut self, batch: &Batch) -> Result<(), Failure> {
        batch.in_groups(|keys, places| {
            self.questions.push(keys)?;
            if self.pending.push_all(places) { self.answer(batch) } else { Ok(()) }
        })?;
        self.answer(batch)
    }

    fn answer(&mut self, batch: &Batch) -> Result<(), Failure> {
        self.questions.ask(self.pending.len());
        self.report.take(batch, &mut self.pending, &self.questions)
    }
}

impl Arguments {
    fn form(&self) -> Form {
        match self {
            Self { quiet: true, .. } => Form::Nothing,
            Self { count: true, .. } => Form::Count,
            Self { json: true, .. } => Form::Json,
            Self { which: true, .. } => Form::Named,
            _ => Form::Records,
        }
    }
}
