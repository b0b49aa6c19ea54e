//! `mayhap add`: more keys into a filter file.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use clap::Args;
use mayhap::codec::Kind;
use mayhap::formats::ForeignFile;
use mayhap::{AnyFilter, Digest, DualBloom, InsertError};

use crate::change::{ChangeOptions, Named, Refused, Stuck, explain_by_name, explain_insert, state};
use crate::digests::{Beyond, Spool, Tally, one_by_one, stream};
use crate::failure::{Answer, Failure, print_of, say};
use crate::filter_file::{FilterFile, insert_foreign};
use crate::keys::{Batch, Inputs, KeyReader, Pending};
use crate::kind_word::kind_word;
use crate::numbers::{counted, format_rate, group_digits};
use crate::over_plan::{HidesTooMuch, HoldsTooMuch};
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

A filter that gets more keys than it was made for still finds all of them, and errs more often; this is warned of. So is \
a counter of a counting filter that came to its maximum: a key that was added so often can't be forgotten any more.

A dual filter can't add what was removed from it, nor what looks like it. Such keys are named and left out.

Exit codes: 0 the keys are in the filter, 1 a dual filter refused some (the others are in it), 2 error, and the file is as \
it was unless the message says so.";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let start = Instant::now();
    let inputs = Inputs::check(&arguments.files)?;
    let reader = KeyReader::new(&inputs, &arguments.how.key_options)?;
    let mut change = arguments.how.open(&arguments.filter)?;
    let progress = Progress::beside_nothing(inputs.total_bytes(), !arguments.how.summary.quiet());
    let stuck_before = Stuck::of(&change.filter).map_or(0, |stuck| stuck.counters);
    let added = add_all(arguments, &inputs, reader, &progress, &mut change.filter)?;
    progress.finish();
    if !arguments.how.rehearsal.dry_run && added.has_changed {
        change.save()?;
    }
    let answer = if added.refused.count() == 0 { Answer::Yes } else { Answer::No };
    let seconds = start.elapsed().as_secs_f64();
    let summary = Summary { arguments, added, filter: &change.filter, stuck_before, seconds };
    if arguments.how.summary.json {
        print_of(summary.written(), &format!("{}\n", summary.json()))?;
    } else if !arguments.how.summary.quiet() {
        say(&summary.text());
    }
    Ok(answer)
}

/// What was done.
#[derive(Debug, Default)]
struct Added {
    tally: Tally,
    /// Keys that were certainly not there before.
    new: u64,
    /// Keys that were given to the filter, or found to be there.
    keys: u64,
    /// Keys that a dual filter can't add again.
    refused: Named,
    has_changed: bool,
}

fn add_all(
    arguments: &Arguments,
    inputs: &Inputs,
    reader: KeyReader<'_>,
    progress: &Progress,
    filter: &mut FilterFile,
) -> Result<Added, Failure> {
    if let FilterFile::Foreign(file) = filter {
        return add_to_foreign(reader, progress, file);
    }
    if let FilterFile::Filter(AnyFilter::Dual(dual)) = filter {
        return add_to_dual(reader, arguments.how.threads(), progress, dual);
    }
    let kind = filter.kind();
    let hash = one_by_one(filter.key_hash());
    let threads = arguments.how.threads();
    if matches!(kind, Kind::BLOCKED_BLOOM | Kind::CLASSIC_BLOOM | Kind::BITMAP | Kind::WINDOW_BLOOM) {
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
            refused: Named::default(),
            has_changed: new > 0 || kind == Kind::WINDOW_BLOOM,
        });
    }

    let spool = Mutex::new(Spool::new(Beyond::beside(&arguments.filter)));
    let threads = if arguments.copies { 1 } else { threads };
    let push =
        |(): &mut (), digests: &[Digest]| spool.lock().unwrap_or_else(PoisonError::into_inner).push(digests);
    let (tally, _) = stream(reader, threads, progress, hash, || (), push)?;
    let mut added = Added { tally, ..Added::default() };
    let mut absent = Vec::new();
    let (grower, name_hash) = (growing_kind(filter), filter.key_hash());
    let explain = |refused: Refused| match &refused {
        Refused::Key { error: error @ InsertError::Full, .. } => {
            Failure::Message(format!("{error} (--kind {grower}); nothing was written"))
        }
        _ => explain_by_name(&refused, inputs, &arguments.how.key_options, &name_hash),
    };
    let insert = |digests: &[Digest]| {
        added.keys += digests.len() as u64;
        let digests = if arguments.skip_present {
            absent_of(filter, digests, &mut absent);
            &absent
        } else {
            digests
        };
        added.has_changed |= !digests.is_empty();
        added.new += filter.insert_hashes(digests).map_err(explain)?;
        Ok::<(), Failure>(())
    };
    let mut spool = spool.into_inner().unwrap_or_else(PoisonError::into_inner);
    progress.finish();
    spool.give(arguments.copies, arguments.how.summary.quiet(), insert)?;
    Ok(added)
}

/// Into a dual filter. What it can't add again is counted and named, and the rest goes in: of many new keys, some always
/// look like removed ones.
fn add_to_dual(
    reader: KeyReader<'_>,
    threads: usize,
    progress: &Progress,
    filter: &mut DualBloom,
) -> Result<Added, Failure> {
    let hasher = filter.hasher().clone();
    let filter = Mutex::new(filter);
    let parts = reader.share(threads, |next| {
        let mut part = Added::default();
        let (mut batch, mut pending) = (Batch::default(), Pending::new());
        let (mut digests, mut outcomes) = (Vec::new(), Vec::new());
        while next(&mut batch)? {
            let text = batch.text();
            let mut insert = |digests: &mut Vec<Digest>, pending: &mut Pending| {
                outcomes.clear();
                outcomes.resize(digests.len(), Ok(false));
                filter.lock().unwrap_or_else(PoisonError::into_inner).insert_hashes(digests, &mut outcomes);
                for (place, outcome) in pending.places().iter().zip(&outcomes) {
                    match outcome {
                        Ok(is_new) => part.new += u64::from(*is_new),
                        Err(_) => part.refused.add(text.get(place.clone()).unwrap_or_default()),
                    }
                }
                part.keys += digests.len() as u64;
                digests.clear();
                pending.clear();
            };
            batch.for_each(|key, place| {
                digests.push(hasher.digest(key));
                if pending.push(place) {
                    insert(&mut digests, &mut pending);
                }
                Ok(())
            })?;
            insert(&mut digests, &mut pending);
            part.tally.bytes += batch.read_bytes();
            progress.advance(batch.read_bytes(), String::new);
        }
        Ok(part)
    })?;
    let mut all = Added::default();
    for part in parts {
        all.keys += part.keys;
        all.new += part.new;
        all.tally.bytes += part.tally.bytes;
        all.refused.append(part.refused);
    }
    all.tally.lines = all.keys;
    all.has_changed = all.new > 0;
    Ok(all)
}

/// The kind that takes any number of keys, and can do what this one can.
fn growing_kind(filter: &FilterFile) -> &'static str {
    match filter {
        FilterFile::Filter(filter) if filter.can_remove() => "scalable-cuckoo",
        _ => "scalable",
    }
}

/// Of what a filter over its plan has too much, and how to build a larger one. Where copies take room, it needn't be keys.
fn too_much(filter: &FilterFile) -> (String, &'static str) {
    match filter {
        FilterFile::Filter(AnyFilter::DLeft(filter)) if filter.len() > filter.estimated_len() => (
            format!(
                "its keys take more cells than it was made for, one for each key and another for every {} copies of it",
                group_digits(filter.cell().most())
            ),
            ", with more --counter-bits for keys that come so often",
        ),
        FilterFile::Filter(AnyFilter::Cuckoo(_)) => {
            ("these are more keys than it was made for, each counted with its copies".to_owned(), "")
        }
        _ => ("these are more keys than it was made for".to_owned(), ""),
    }
}

/// Into another system's filter, which hashes in its own way.
fn add_to_foreign(
    mut reader: KeyReader<'_>,
    progress: &Progress,
    file: &mut ForeignFile,
) -> Result<Added, Failure> {
    let mut added = Added::default();
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
    stuck_before: u64,
    seconds: f64,
}

impl Summary<'_> {
    /// The file, if it was changed.
    fn written(&self) -> Option<&Path> {
        let is_written = self.added.has_changed && !self.arguments.how.rehearsal.dry_run;
        is_written.then_some(self.arguments.filter.as_path())
    }

    fn text(&self) -> String {
        let Added { new, keys, has_changed, ref refused, .. } = self.added;
        let path = self.arguments.filter.display();
        let outcome = match (self.arguments.how.rehearsal.dry_run, has_changed) {
            (true, _) => "; nothing was changed, as asked",
            (false, true) => "",
            (false, false) => "; the file is as it was",
        };
        let left_out = match refused.count() {
            0 => String::new(),
            count => format!(
                ", {} refused: removed before, or like keys that were, and a dual filter can't add those again",
                group_digits(count)
            ),
        };
        let mut text = refused.lines("refused");
        text += &format!(
            "mayhap: {path}: {} read, {} of them new{left_out}{outcome}\nmayhap: {}",
            counted(keys, "key"),
            group_digits(new),
            state(self.filter, self.arguments.how.rehearsal.dry_run),
        );
        if let FilterFile::Filter(filter) = self.filter {
            text += &format!(
                " (made for {} at {})",
                group_digits(filter.planned_keys()),
                format_rate(filter.planned_rate())
            );
        }
        for warning in self.warnings() {
            text += &format!("\nmayhap: warning: {warning}");
        }
        text
    }

    fn warnings(&self) -> Vec<String> {
        let (hidden, held) = match self.filter {
            FilterFile::Filter(filter) => (HidesTooMuch::of(filter), HoldsTooMuch::of(filter)),
            FilterFile::Bitmap(_) | FilterFile::Foreign(_) => (None, None),
        };
        let held = held.map(|_| {
            let (more, larger) = too_much(self.filter);
            format!(
                "{more}, and more of them make it err more often: build a larger one from all keys{larger}, or one of \
                 --kind {}, which grows",
                growing_kind(self.filter)
            )
        });
        let stuck = Stuck::of(self.filter).and_then(|stuck| stuck.warn_of_more_than(self.stuck_before));
        [hidden.map(|hidden| hidden.text()), held, stuck].into_iter().flatten().collect()
    }

    fn json(&self) -> String {
        let planned = match self.filter {
            FilterFile::Filter(filter) => Some(filter),
            FilterFile::Bitmap(_) | FilterFile::Foreign(_) => None,
        };
        serde_json::json!({
            "file": self.arguments.filter.display().to_string(),
            "output": self.written().map(|path| path.display().to_string()),
            "kind": kind_word(self.filter.kind()),
            "lines": self.added.tally.lines,
            "keys": self.added.keys,
            "new": self.added.new,
            "refused": self.added.refused.count(),
            "refused_first": self.added.refused.first(),
            "keys_now": self.filter.estimated_len(),
            "rate_now": self.filter.expected_rate(),
            "planned_keys": planned.map(mayhap::AnyFilter::planned_keys),
            "planned_rate": planned.map(mayhap::AnyFilter::planned_rate),
            "over_plan": planned.is_some_and(mayhap::AnyFilter::is_over_plan),
            "stuck_counters": Stuck::of(self.filter).map(|stuck| stuck.counters),
            "warnings": self.warnings(),
            "input_bytes": self.added.tally.bytes,
            "seconds": self.seconds,
        })
        .to_string()
    }
}
