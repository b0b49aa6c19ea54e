//! `mayhap add`: more keys into a filter file.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use clap::Args;
use mayhap::Digest;
use mayhap::codec::Kind;
use mayhap::formats::ForeignFile;

use crate::change::{ChangeOptions, explain_insert, state};
use crate::digests::{Beyond, Spool, Tally, one_by_one, stream};
use crate::failure::{Answer, Failure, print, say};
use crate::filter_file::{FilterFile, insert_foreign};
use crate::keys::{Batch, Inputs, KeyReader};
use crate::numbers::{format_rate, group_digits};
use crate::progress::Progress;

/// Add keys to a filter file
///
/// The file is replaced by a new one when that is complete: whatever happens, there is the old file or the new one. Who
/// asks meanwhile has answers from the old one. Another `add` or `remove` on the same file waits for this one.
///
/// A key that comes twice in the input is added once.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The filter file
    filter: PathBuf,

    /// Files to read; `-` is standard input, which is also read when no file is named
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Add no copy of a key that seems to be there, in the kinds that hold copies
    #[arg(long)]
    skip_present: bool,

    /// Add a key as often as it comes, in the kinds that hold copies
    #[arg(long, conflicts_with = "skip_present")]
    copies: bool,

    #[command(flatten)]
    how: ChangeOptions,
}

const EXAMPLES: &str = "\
Examples:
  mayhap add seen.mayhap today.txt                every line of a file
  tail -n 1000 access.log | mayhap add seen.mayhap
  mayhap add --dry-run seen.mayhap today.txt      how many would be new?
  mayhap add users.mayhap --field id users.csv    one field of a table

Counting, d-left and cuckoo filters hold copies: a key that is there already is added once more, and has to be removed \
as often. --skip-present leaves such keys alone; but with the filter's error rate it also leaves out a new key that looks \
like another, and `remove` of that key would then take the other away.

A filter that gets more keys than it was made for still finds all of them, and errs more often; this is warned of.

Exit codes: 0 the keys are in the filter, 2 error, and the file is as it was.";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let start = Instant::now();
    let inputs = Inputs::check(&arguments.files)?;
    let reader = KeyReader::new(&inputs, &arguments.how.key_options)?;
    let mut change = arguments.how.open(&arguments.filter)?;
    let progress = Progress::beside_nothing(inputs.total_bytes(), !arguments.how.quiet);
    let added = add_all(arguments, reader, &progress, &mut change.filter)?;
    progress.finish();
    if !arguments.how.dry_run && added.has_changed {
        change.save()?;
    }
    let summary =
        Summary { arguments, added, filter: &change.filter, seconds: start.elapsed().as_secs_f64() };
    if arguments.how.json {
        print(&format!("{}\n", summary.json()))?;
    } else if !arguments.how.quiet {
        say(&summary.text());
    }
    Ok(Answer::Yes)
}

/// What was done.
#[derive(Clone, Copy, Debug)]
struct Added {
    tally: Tally,
    /// Keys that were certainly not there before.
    new: u64,
    /// Keys that were given to the filter, or found to be there.
    keys: u64,
    has_changed: bool,
}

fn add_all(
    arguments: &Arguments,
    reader: KeyReader<'_>,
    progress: &Progress,
    filter: &mut FilterFile,
) -> Result<Added, Failure> {
    if let FilterFile::Foreign(file) = filter {
        return add_to_foreign(reader, progress, file);
    }
    let kind = filter.kind();
    let hash = one_by_one(filter.key_hash());
    let threads = arguments.how.threads();
    if matches!(
        kind,
        Kind::BLOCKED_BLOOM | Kind::CLASSIC_BLOOM | Kind::DUAL_BLOOM | Kind::BITMAP | Kind::WINDOW_BLOOM
    ) {
        // In any order, but for the window, which remembers it.
        let threads = if kind == Kind::WINDOW_BLOOM { 1 } else { threads };
        let state = Mutex::new((filter, 0));
        let insert = |(): &mut (), digests: &[Digest]| {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.1 += state.0.insert_hashes(digests).map_err(|error| explain_insert(&error))?;
            Ok(())
        };
        let (tally, _) = stream(reader, threads, progress, hash, || (), insert)?;
        let (_, new) = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        return Ok(Added {
            tally,
            new,
            keys: tally.lines,
            has_changed: new > 0 || kind == Kind::WINDOW_BLOOM,
        });
    }

    let spool = Mutex::new(Spool::new(Beyond::beside(&arguments.filter)));
    let threads = if arguments.copies { 1 } else { threads };
    let push =
        |(): &mut (), digests: &[Digest]| spool.lock().unwrap_or_else(PoisonError::into_inner).push(digests);
    let (tally, _) = stream(reader, threads, progress, hash, || (), push)?;
    let mut added = Added { tally, new: 0, keys: 0, has_changed: false };
    let mut absent = Vec::new();
    let insert = |digests: &[Digest]| {
        added.keys += digests.len() as u64;
        let digests = if arguments.skip_present {
            absent_of(filter, digests, &mut absent);
            &absent
        } else {
            digests
        };
        added.has_changed |= !digests.is_empty();
        added.new += filter.insert_hashes(digests).map_err(|error| explain_insert(&error))?;
        Ok(())
    };
    let spool = spool.into_inner().unwrap_or_else(PoisonError::into_inner);
    if arguments.copies {
        spool.for_each(insert)?;
    } else {
        spool.for_each_distinct(insert)?;
    }
    Ok(added)
}

/// Into another system's filter, which hashes in its own way.
fn add_to_foreign(
    mut reader: KeyReader<'_>,
    progress: &Progress,
    file: &mut ForeignFile,
) -> Result<Added, Failure> {
    let mut added = Added { tally: Tally::default(), new: 0, keys: 0, has_changed: false };
    let mut batch = Batch::default();
    while reader.next(&mut batch)? {
        batch.for_each(|key, _| {
            added.tally.lines += 1;
            added.new += u64::from(insert_foreign(file, key)?);
            Ok(())
        })?;
        added.tally.bytes += batch.read_bytes();
        progress.advance(batch.read_bytes(), String::new);
    }
    // A cuckoo filter of RedisBloom's takes copies.
    Ok(Added { keys: added.tally.lines, has_changed: added.tally.lines > 0, ..added })
}

/// Those of the digests that are not in the filter.
fn absent_of(filter: &FilterFile, digests: &[Digest], absent: &mut Vec<Digest>) {
    let mut found = vec![false; digests.len()];
    filter.contains_hashes(digests, &mut found);
    absent.clear();
    absent.extend(digests.iter().zip(found).filter(|(_, found)| !found).map(|(digest, _)| *digest));
}

/// What is said at the end.
struct Summary<'a> {
    arguments: &'a Arguments,
    added: Added,
    filter: &'a FilterFile,
    seconds: f64,
}

impl Summary<'_> {
    fn text(&self) -> String {
        let Added { new, keys, has_changed, .. } = self.added;
        let path = self.arguments.filter.display();
        let outcome = match (self.arguments.how.dry_run, has_changed) {
            (true, _) => "; nothing was changed, as asked",
            (false, true) => "",
            (false, false) => "; the file is as it was",
        };
        let mut text = format!(
            "mayhap: {path}: {} keys read, {} of them new{outcome}\nmayhap: {}",
            group_digits(keys),
            group_digits(new),
            state(self.filter, self.arguments.how.dry_run),
        );
        if let FilterFile::Filter(filter) = self.filter {
            text += &format!(
                " (made for {} at {})",
                group_digits(filter.planned_keys()),
                format_rate(filter.planned_rate())
            );
            if filter.is_over_plan() {
                text += "\nmayhap: warning: these are more keys than it was made for, and more of them make it err \
                         more often: build a larger one from all keys, or one of --kind scalable, which grows";
            }
        }
        text
    }

    fn json(&self) -> String {
        let planned = match self.filter {
            FilterFile::Filter(filter) => Some(filter),
            FilterFile::Bitmap(_) | FilterFile::Foreign(_) => None,
        };
        serde_json::json!({
            "file": self.arguments.filter.display().to_string(),
            "kind": self.filter.kind().to_string(),
            "lines": self.added.tally.lines,
            "keys": self.added.keys,
            "new": self.added.new,
            "written": self.added.has_changed && !self.arguments.how.dry_run,
            "keys_now": self.filter.estimated_len(),
            "rate_now": self.filter.expected_rate(),
            "planned_keys": planned.map(mayhap::AnyFilter::planned_keys),
            "planned_rate": planned.map(mayhap::AnyFilter::planned_rate),
            "over_plan": planned.is_some_and(mayhap::AnyFilter::is_over_plan),
            "input_bytes": self.added.tally.bytes,
            "seconds": self.seconds,
        })
        .to_string()
    }
}
