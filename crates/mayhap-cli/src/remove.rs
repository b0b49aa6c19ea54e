//! `mayhap remove`: keys out of a filter file.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use clap::Args;
use mayhap::Digest;

use crate::change::{ChangeOptions, Named, Stuck, state};
use crate::digests::{Beyond, Spool};
use crate::failure::{Answer, Failure, print_of, say};
use crate::filter_file::FilterFile;
use crate::keys::{Batch, Inputs, KeyReader, Pending};
use crate::kind_word::kind_word;
use crate::numbers::{counted, group_digits};
use crate::over_plan::HidesTooMuch;
use crate::progress::Progress;

/// Remove keys from a filter file
///
/// Remove only keys that were added. A key that was not, but is answered "mayhap" by mistake, takes another key away,
/// which is then not found any more; the filter can't tell the two apart. So let whoever knows decide (the database, the
/// list of keys), never the filter's own "mayhap".
///
/// All keys are asked for first. Those that are certainly not there are named and left alone. The file is replaced by a
/// new one when that is complete: whatever happens, there is the old file or the new one.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The filter file: a counting, dual, d-left or cuckoo filter, or a bitmap
    filter: PathBuf,

    /// Files to read; `-` is standard input, which is also read when no file is named
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Change nothing if a key is not there, or not as often as it is to be removed
    #[arg(long)]
    strict: bool,

    /// Remove a copy for each time a key comes in the input
    #[arg(long)]
    copies: bool,

    #[command(flatten)]
    how: ChangeOptions,
}

const EXAMPLES: &str = "\
Examples:
  mayhap remove coupons.mayhap redeemed.txt              every line of a file
  mayhap remove --dry-run coupons.mayhap redeemed.txt    which of them are not there?
  mayhap remove --strict coupons.mayhap redeemed.txt     all of them, or none

Kinds that remove: cuckoo, scalable-cuckoo, counting, d-left, dual, bitmap; `mayhap build --kind cuckoo` makes one. A key \
that was added twice is there until it is removed twice. A counter of a counting filter that came to its maximum (15, of \
4 bits) has lost count and stays, and so do keys on such counters; this is warned of. A dual filter can't add again what was removed, \
and hides more of its other keys with each removal: beyond those it was made for this is warned of, too.

Exit codes: 0 all keys were there and are removed, 1 some were not there (the others are removed, but with --strict), \
2 error, and the file is as it was unless the message says so.";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let start = Instant::now();
    let inputs = Inputs::check(&arguments.files)?;
    let reader = KeyReader::new(&inputs, &arguments.how.key_options)?;
    let mut change = arguments.how.open(&arguments.filter)?;
    refuse_what_cannot_remove(arguments, &change.filter)?;
    let progress = Progress::beside_nothing(inputs.total_bytes(), !arguments.how.summary.quiet());
    let (mut spool, mut found) = ask(arguments, reader, &progress, &change.filter)?;
    progress.finish();
    let mut is_held_back = arguments.strict && found.absent.count() > 0;
    if !is_held_back {
        let remove = |digests: &[Digest]| {
            let removed = change.filter.remove_hashes(digests)?;
            found.removed += removed;
            found.taken += digests.len() as u64 - removed;
            Ok::<(), Failure>(())
        };
        spool.give(arguments.copies, arguments.how.summary.quiet(), remove)?;
        // Only now is it known of keys that come more often than they are there, or that looked like others.
        is_held_back = arguments.strict && found.taken > 0;
        if is_held_back {
            found.removed = 0;
            arguments.how.undo(&mut change)?;
        }
    }
    let is_written = found.removed > 0 && !arguments.how.rehearsal.dry_run;
    if is_written {
        change.save()?;
    }
    let summary =
        Summary { arguments, found: &found, filter: &change.filter, is_held_back, is_written, start };
    if arguments.how.summary.json {
        print_of(summary.written(), &format!("{}\n", summary.json()))?;
    } else if !arguments.how.summary.quiet() {
        say(&summary.text());
    }
    Ok(if found.absent.count() == 0 && found.taken == 0 { Answer::Yes } else { Answer::No })
}

fn refuse_what_cannot_remove(arguments: &Arguments, filter: &FilterFile) -> Result<(), Failure> {
    let cannot = match filter {
        FilterFile::Filter(filter) => !filter.can_remove(),
        FilterFile::Bitmap(_) => false,
        FilterFile::Foreign(_) => true,
    };
    if cannot {
        return Err(Failure::Message(format!(
            "{} is a {}, which can't remove keys; cuckoo, scalable-cuckoo, counting, d-left and dual filters can: \
             build one from the keys with `mayhap build --kind cuckoo`",
            arguments.filter.display(),
            filter.kind()
        )));
    }
    Ok(())
}

/// What became of the keys.
#[derive(Debug, Default)]
struct Found {
    /// Keys that were read.
    keys: u64,
    /// Those that are certainly not in the filter.
    absent: Named,
    removed: u64,
    /// Those that seemed to be there until another was removed.
    taken: u64,
}

/// Asks for every key. The digests of those that may be there, and what is known of the others.
fn ask(
    arguments: &Arguments,
    reader: KeyReader<'_>,
    progress: &Progress,
    filter: &FilterFile,
) -> Result<(Spool, Found), Failure> {
    let spool = Mutex::new(Spool::new(Beyond::beside(&arguments.filter)));
    let hash = filter.key_hash();
    let threads = arguments.how.threads();
    let parts = reader.share(threads, |next| {
        let mut found = Found::default();
        let (mut batch, mut pending, mut digests) = (Batch::default(), Pending::new(), Vec::new());
        while next(&mut batch)? {
            let text = batch.text();
            let mut answer = |digests: &mut Vec<Digest>, pending: &mut Pending| {
                found.answer(filter, digests, pending, text);
                let mut spool = spool.lock().unwrap_or_else(PoisonError::into_inner);
                spool.push(digests)?;
                digests.clear();
                pending.clear();
                Ok(())
            };
            batch.for_each(|key, place| {
                digests.push(hash(key)?);
                if pending.push(place) { answer(&mut digests, &mut pending) } else { Ok(()) }
            })?;
            answer(&mut digests, &mut pending)?;
            progress.advance(batch.read_bytes(), String::new);
        }
        Ok(found)
    })?;
    let mut all = Found::default();
    for part in parts {
        all.keys += part.keys;
        all.absent.append(part.absent);
    }
    Ok((spool.into_inner().unwrap_or_else(PoisonError::into_inner), all))
}

impl Found {
    /// Leaves those of the digests that may be in the filter.
    fn answer(&mut self, filter: &FilterFile, digests: &mut Vec<Digest>, pending: &Pending, text: &[u8]) {
        let mut is_there = vec![false; digests.len()];
        filter.contains_hashes(digests, &mut is_there);
        self.keys += digests.len() as u64;
        for (place, _) in pending.places().iter().zip(&is_there).filter(|(_, is_there)| !**is_there) {
            self.absent.add(text.get(place.clone()).unwrap_or_default());
        }
        let mut answers = is_there.iter();
        digests.retain(|_| answers.next().copied().unwrap_or(false));
    }
}

/// What is said at the end.
struct Summary<'a> {
    arguments: &'a Arguments,
    found: &'a Found,
    filter: &'a FilterFile,
    is_held_back: bool,
    is_written: bool,
    start: Instant,
}

impl Summary<'_> {
    /// The file, if it was changed.
    fn written(&self) -> Option<&Path> {
        self.is_written.then_some(self.arguments.filter.as_path())
    }

    fn text(&self) -> String {
        let Found { keys, absent, removed, taken } = self.found;
        let path = self.arguments.filter.display();
        let mut text = absent.lines("not there");
        if self.is_held_back {
            let (count, what) = match absent.count() {
                0 => (*taken, " would not be there any more when the others are removed"),
                1 => (1, " is not there"),
                many => (many, " are not there"),
            };
            return text
                + &format!(
                    "mayhap: {path}: {} of {}{what}; nothing was changed, as --strict asks",
                    group_digits(count),
                    counted(*keys, "key")
                );
        }
        let verb = if self.arguments.how.rehearsal.dry_run { "would be removed" } else { "removed" };
        text +=
            &format!("mayhap: {path}: {} {verb}, of {} read", counted(*removed, "key"), group_digits(*keys));
        match absent.count() {
            0 => {}
            1 => text += ", 1 was not there",
            many => text += &format!(", {} were not there", group_digits(many)),
        }
        if *taken > 0 {
            text += &format!(", {} seemed to be there until others were removed", group_digits(*taken));
        }
        if !self.is_written {
            text += "; nothing was changed";
        }
        text += &format!("\nmayhap: {}", state(self.filter, self.arguments.how.rehearsal.dry_run));
        for warning in self.warnings() {
            text += &format!("\nmayhap: warning: {warning}");
        }
        text
    }

    fn warnings(&self) -> Vec<String> {
        let stuck = Stuck::of(self.filter).and_then(|stuck| stuck.warn_of_any());
        let hidden = match self.filter {
            FilterFile::Filter(filter) => HidesTooMuch::of(filter).map(|hidden| hidden.text()),
            FilterFile::Bitmap(_) | FilterFile::Foreign(_) => None,
        };
        [stuck, hidden].into_iter().flatten().collect()
    }

    fn json(&self) -> String {
        serde_json::json!({
            "file": self.arguments.filter.display().to_string(),
            "output": self.written().map(|path| path.display().to_string()),
            "kind": kind_word(self.filter.kind()),
            "lines": self.found.keys,
            "missing": self.found.absent.count(),
            "missing_first": self.found.absent.first(),
            "removed": self.found.removed,
            "taken": self.found.taken,
            "keys_now": self.filter.estimated_len(),
            "rate_now": self.filter.expected_rate(),
            "stuck_counters": Stuck::of(self.filter).map(|stuck| stuck.counters),
            "warnings": self.warnings(),
            "seconds": self.start.elapsed().as_secs_f64(),
        })
        .to_string()
    }
}
