//! `mayhap build`: a filter file from keys.
//!
//! ```text
//! recipe    which filter, and how it hashes
//! settings  what only some kinds are made by
//! bits      Bloom filters, filled by many threads
//! copies    tables with room for them
//! fill      from the keys to the filter, one way for each sort of kind
//! plan      more keys than planned?
//! summary   what came of it
//! ```

mod bits;
mod copies;
mod fill;
mod plan;
mod recipe;
mod settings;
mod summary;

use std::fs;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;

use crate::change::Stuck;
use crate::digests::{default_threads, parse_threads};
use crate::failure::{Answer, Failure, print_of, say};
use crate::filter_file::Unlock;
use crate::flags::SummaryFlags;
use crate::keys::{Inputs, KeyOptions};
use crate::numbers::{parse_count, parse_range, parse_rate};
use crate::output::Output;
use fill::{Built, Job};
use recipe::{HashName, KindName, Recipe, parse_hash, parse_seed};
use settings::Settings;
use summary::Summary;

/// Build a filter file from keys
///
/// Every line of the files, or of standard input, is a key; --field takes one field of a table instead. Files packed
/// with gzip or zstd are unpacked. A key that comes twice counts once.
///
/// The number of keys needn't be known. Without -n the keys are counted first and the filter is made to measure: files
/// that are too long to remember are read twice, from a pipe the digests are put aside. With -n the filter is made at
/// once and everything is read once.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Files to read; `-` is standard input, which is also read when no file is named
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    output: Output,

    /// The kind of filter
    #[arg(long, value_enum, default_value = "bloom")]
    kind: KindName,

    /// Different keys to plan for, such as 10M; of a window, how many keys back it remembers
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = parse_count)]
    keys: Option<u64>,

    /// How often an absent key may be answered "mayhap": 1%, 0.001, 1e-6, 1/1000 [default: 1%]
    #[arg(short = 'p', long, value_name = "RATE", value_parser = parse_rate)]
    rate: Option<f64>,

    /// How many keys more than -n are accepted
    #[arg(long, value_name = "SHARE", value_parser = plan::parse_margin, default_value = "10%")]
    margin: f64,

    /// If there are more keys than -n, make the filter for all of them
    #[arg(long)]
    grow: bool,

    /// If there are more keys than -n, put them in all the same, at a worse rate; cuckoo and d-left take hardly any more
    #[arg(long, conflicts_with = "grow")]
    over_plan: bool,

    #[command(flatten)]
    settings: Settings,

    /// Numbers that a bitmap is for, such as 0..1M (without the end): a bit for each from 0 on
    #[arg(long, value_name = "RANGE", value_parser = parse_range)]
    range: Option<RangeInclusive<u64>>,

    /// Put a key in as often as it comes, in the kinds that hold copies: counting, d-left, cuckoo, scalable-cuckoo
    #[arg(long)]
    copies: bool,

    /// The hash function: xxh3, or another by name; sip13 and sip24 need --key-file
    #[arg(long, value_name = "NAME", value_parser = parse_hash)]
    hash: Option<HashName>,

    /// The seed of the hash function [default: 0]
    #[arg(long, value_name = "NUMBER", value_parser = parse_seed)]
    seed: Option<u64>,

    #[command(flatten)]
    unlock: Unlock,

    /// Threads to read and hash with [default: as many as there are cores]
    #[arg(long, value_name = "COUNT", value_parser = parse_threads)]
    threads: Option<usize>,

    #[command(flatten)]
    summary: SummaryFlags,

    #[command(flatten)]
    key_options: KeyOptions,
}

const EXAMPLES: &str = "\
Examples:
  mayhap build -o seen.mayhap urls.txt                       every line, at a rate of 1%
  mayhap build -n 100M -p 0.1% -o seen.mayhap urls.*.gz      100 million keys, read once
  mayhap build --kind cuckoo -o coupons.mayhap --field code coupons.csv
                                                             one that `mayhap remove` works on
  mayhap build --kind dual --removals 50k --hidden-rate 0.01% -n 1M -o live.mayhap ids.txt
                                                             for 50 000 removals to come
  psql -Atc 'select id from users' | mayhap build -p 1e-4 -o users.mayhap
  openssl rand -hex 16 > key && mayhap build --key-file key -o names.mayhap names.txt
                                                             for keys that strangers choose

Kinds: bloom is the fastest. classic, the textbook's, is smaller by 4 to 19%, and slower. cuckoo is smaller, too, by \
5% at a rate of 1% and 14 to 31% from 0.1% on, and slower to build. scalable grows when keys are added later. cuckoo, counting, d-left and dual can remove keys; scalable-cuckoo removes and grows; window forgets all but \
the last keys. bitmap holds whole numbers, and is never wrong. `mayhap plan` says what each costs.

Some kinds have settings of their own: --counter-bits (counting, d-left) for keys that come often, --removals and \
--hidden-rate (dual), --expansion (scalable, scalable-cuckoo) and --when-full (scalable).

More keys than -n: up to --margin more are accepted, and said. Above that nothing is written, unless --grow makes the \
filter larger or --over-plan accepts the rate that comes of it, as --when-full saturate does; cuckoo and d-left are full a \
few percent above -n all the same. scalable and scalable-cuckoo grow by themselves.

Copies: those of a key have only its two buckets in a cuckoo filter, which is therefore planned for more keys than there are \
lines, unless -n is given without --grow. For keys that come often take d-left or counting.

To remember each digest once, kinds other than bloom, classic and bitmap put digests aside: 8 bytes for each line \
above 64 MiB, in a file without a name beside the output, or in the directory of TMPDIR.

Exit codes: 0 the filter was written, 2 error, and nothing was written unless the message says so.";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let start = Instant::now();
    let recipe = Recipe::new(arguments)?;
    let inputs = Inputs::check(&arguments.files)?;
    let _claim = arguments.output.claim(arguments.summary.quiet())?;
    refuse_to_replace_input(arguments)?;
    let threads = arguments.threads.unwrap_or_else(default_threads);
    let job = Job { arguments, recipe: &recipe, inputs: &inputs, threads };

    let built = job.build()?;
    if built.tally.lines == 0 {
        return Err(Failure::Message(format!("no keys in {}; nothing was written", inputs.names())));
    }
    let summary = Summary::new(arguments, &built);
    let above_plan = plan::check(arguments, &recipe, &built, &summary)?;
    let stuck = Stuck::of(&built.filter).and_then(|stuck| stuck.warn_of_more_than(0));
    let warnings: Vec<String> = [above_plan, stuck].into_iter().flatten().collect();
    if !arguments.summary.json && !arguments.summary.quiet() {
        warnings.iter().for_each(|warning| say(&format!("mayhap: warning: {warning}")));
    }
    save(arguments, &built)?;
    let summary = summary.after(start.elapsed(), warnings);
    if arguments.summary.json {
        print_of(Some(&arguments.output.output), &format!("{}\n", summary.json()))?;
    } else if !arguments.summary.quiet() {
        say(&summary.text());
    }
    Ok(Answer::Yes)
}

fn save(arguments: &Arguments, built: &Built) -> Result<(), Failure> {
    built.filter.save(&arguments.output.output, arguments.output.existing())
}

/// A slip that would cost the keys: their file as the one to write.
fn refuse_to_replace_input(arguments: &Arguments) -> Result<(), Failure> {
    let Ok(output) = fs::canonicalize(&arguments.output.output) else { return Ok(()) };
    match arguments.files.iter().find(|file| fs::canonicalize(file).is_ok_and(|file| file == output)) {
        Some(file) => Err(Failure::Message(format!(
            "{} is to be read, and would be replaced by the filter; choose another name for -o",
            file.display()
        ))),
        None => Ok(()),
    }
}
