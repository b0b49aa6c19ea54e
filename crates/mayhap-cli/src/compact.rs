//! `mayhap compact`: memory that removed keys leave behind.

use std::path::{Path, PathBuf};

use clap::Args;
use mayhap::codec::{Existing, Kind};
use mayhap::{AnyFilter, ScalableCuckoo};

use crate::change::Change;
use crate::columns::table;
use crate::failure::{Answer, Failure, print_of};
use crate::filter_file::{FilterFile, Unlock};
use crate::flags::{DryRun, SummaryFlags};
use crate::numbers::{counted, format_rate, format_size, group_digits};
use crate::output::{Claim, claim};
use crate::progress::Progress;

/// Give back what removed keys leave empty
///
/// A scalable-cuckoo filter grows by layers, and keeps them when keys are removed. This moves what the newest layer
/// holds into the room that older ones have, and drops the layer when it is empty; then the next. The file gets smaller,
/// and a question asks fewer layers. Every key that was found is found; the keys themselves aren't needed.
///
/// Without -o the file is replaced by a new one when that is complete. Another `add` or `remove` on the same file waits
/// for this one.
#[derive(Args, Debug)]
// Quiet and nothing written would be nothing at all.
#[command(mut_arg("dry_run", |flag| flag.conflicts_with("quiet")))]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The filter file: a scalable-cuckoo filter
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    /// File to write instead of the one that is read; it appears when it is complete, and not before
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Replace the file of -o if there is one
    #[arg(long, requires = "output")]
    force: bool,

    #[command(flatten)]
    rehearsal: DryRun,

    #[command(flatten)]
    unlock: Unlock,

    #[command(flatten)]
    summary: SummaryFlags,
}

const EXAMPLES: &str = "\
Examples:
  mayhap compact sessions.mayhap                        after many were removed
  mayhap compact --dry-run sessions.mayhap              is it worth it?
  mayhap compact sessions.mayhap -o smaller.mayhap      into another file

Layers are given back from the newest to the second. The first stays, as large as it was made (`build -n`); layers stay, \
too, if the older ones have no room for what they hold.

Exit codes: 0 done (also if there was nothing to give back: the file is then as it was), 2 error, and the file is as it was unless the message says so.";

/// Buckets or fingerprints that are looked at before the progress is drawn anew.
const STEP: u64 = 1 << 16;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let quiet = arguments.summary.quiet();
    let _claim = match &arguments.output {
        Some(output) if !arguments.rehearsal.dry_run => claim(output, arguments.force, quiet)?,
        _ => Claim::default(),
    };
    // Only a file that is to be replaced is locked: this one, or by the claim that of -o, which may be the same.
    let mut change = if arguments.rehearsal.dry_run || arguments.output.is_some() {
        Change::rehearse(&arguments.filter, &arguments.unlock)?
    } else {
        Change::open(&arguments.filter, &arguments.unlock, quiet)?
    };
    let FilterFile::Filter(AnyFilter::ScalableCuckoo(filter)) = &mut change.filter else {
        return Err(nothing_to_gain(&arguments.filter, change.filter.kind()));
    };
    let before = Figures::of(filter);
    compact(filter, !quiet);
    let after = Figures::of(filter);
    let written = match &arguments.output {
        _ if arguments.rehearsal.dry_run => None,
        Some(output) => {
            let existing = if arguments.force { Existing::Replace } else { Existing::Refuse };
            change.filter.save(output, existing)?;
            Some(output)
        }
        // Fingerprints may have changed places, which is worth no new file.
        None if after.layers == before.layers => None,
        None => {
            change.save()?;
            Some(&arguments.filter)
        }
    };
    if !quiet {
        report(arguments, written.map(PathBuf::as_path), &before, &after)?;
    }
    Ok(Answer::Yes)
}

/// Step by step, for whoever watches.
fn compact(filter: &mut ScalableCuckoo, is_watched: bool) {
    let newer = filter.layers().into_iter().skip(1);
    let progress = Progress::steps(newer.map(|layer| layer.buckets.max(layer.len)).sum(), is_watched);
    while filter.compact_step(STEP) {
        progress.advance(STEP, || counted(filter.layer_count() as u64, "layer"));
    }
    progress.finish();
}

/// Why other kinds aren't compacted, and what makes them smaller.
fn nothing_to_gain(path: &Path, kind: Kind) -> Failure {
    let reason = match kind {
        Kind::CUCKOO | Kind::D_LEFT_COUNTING => {
            "a table of one size, and what removed keys leave empty is room for others; build it again from fewer keys \
             to make it smaller, or as --kind scalable-cuckoo"
        }
        Kind::BLOCKED_BLOOM | Kind::CLASSIC_BLOOM | Kind::COUNTING_BLOOM => {
            "of one size however many keys it holds; `mayhap fold` makes it smaller, as far as the rate allows"
        }
        Kind::SCALABLE_BLOOM => {
            "made of layers from which no key can be removed, so that none gets empty; build it again from the keys with \
             -n for all of them, and it has one layer"
        }
        Kind::DUAL_BLOOM => {
            "two Bloom filters of one size, and removing a key fills the second; build it again from the keys that are left"
        }
        Kind::WINDOW_BLOOM => "of one size: what it forgets is room for new keys",
        Kind::BITMAP => "as small as its form allows; `mayhap convert` changes between dense and sparse",
        _ => "another system's, and stays as that system has it",
    };
    Failure::Message(format!(
        "{} is a {kind}, and compacting it would gain nothing: it is {reason}",
        path.display()
    ))
}

/// What is compared.
#[derive(Clone, Copy, Debug)]
struct Figures {
    layers: usize,
    bytes: u64,
    keys: u64,
    capacity: u64,
    rate: f64,
}

impl Figures {
    fn of(filter: &ScalableCuckoo) -> Self {
        Self {
            layers: filter.layer_count(),
            bytes: filter.len_bytes(),
            keys: filter.len(),
            capacity: filter.capacity(),
            rate: filter.expected_rate(),
        }
    }

    fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "layer_count": self.layers,
            "memory_bytes": self.bytes,
            "keys_now": self.keys,
            "capacity": self.capacity,
            "rate_now": self.rate,
        })
    }
}

fn report(
    arguments: &Arguments,
    written: Option<&Path>,
    before: &Figures,
    after: &Figures,
) -> Result<(), Failure> {
    if arguments.summary.json {
        let json = serde_json::json!({
            "file": arguments.filter.to_string_lossy(),
            "output": written.map(|path| path.to_string_lossy()),
            "before": before.json(),
            "after": after.json(),
        });
        return print_of(written, &format!("{json}\n"));
    }
    let dropped = counted((before.layers - after.layers) as u64, "layer");
    let shown = arguments.filter.display();
    let mut text = match (before.layers - after.layers, written) {
        (0, None) => format!("{shown}: nothing to give back; the file is as it was\n"),
        (0, Some(path)) => format!("{shown}: nothing to give back, and copied to {}\n", path.display()),
        (_, None) => format!("{shown}: {dropped} would be given back\n"),
        (_, Some(path)) => format!("{}: {dropped} given back\n", path.display()),
    };
    let row =
        |label: &str, value: &dyn Fn(&Figures) -> String| [label.to_owned(), value(before), value(after)];
    text += &table(&[
        ["".to_owned(), "before".to_owned(), "after".to_owned()],
        row("layers", &|figures| figures.layers.to_string()),
        row("size", &|figures| format_size(figures.bytes)),
        row("keys", &|figures| group_digits(figures.keys)),
        row("room for", &|figures| group_digits(figures.capacity)),
        row("expected rate now", &|figures| format_rate(figures.rate)),
    ]);
    print_of(written, &text)
}
