//! `mayhap merge`: several filters as one.

use std::path::{Path, PathBuf};

use clap::Args;
use mayhap::any::Unsupported;
use mayhap::codec::Kind;
use mayhap::{AnyFilter, MergeError};

use crate::columns::pairs;
use crate::failure::{Answer, Failure, print_of, say};
use crate::filter_file::{FilterFile, Unlock};
use crate::flags::SummaryFlags;
use crate::kind_word::kind_word;
use crate::numbers::{format_rate, format_size, group_digits, parse_rate};
use crate::output::Output;
use crate::over_plan::{HidesTooMuch, HoldsTooMuch};

/// Unite filters into one
///
/// The result is the filter that all keys together would have given, bit for bit. For that the filters must be of one
/// kind and must hash alike: the same hash function, seed and secret key, and the same rate; for small
/// filters also the same -n. Sizes may differ by whole factors; the larger ones are folded to the smallest. Bitmaps can always be united.
///
/// A filter that holds the keys of several is fuller, and answers "mayhap" more often than each of them. What to expect
/// is printed, and a warning if that is more often than it was made for.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A filter file
    #[arg(value_name = "FILTER")]
    first: PathBuf,

    /// And another, or several
    #[arg(value_name = "FILTER", required = true)]
    others: Vec<PathBuf>,

    #[command(flatten)]
    output: Output,

    /// Keep what may be in all of them, instead of what may be in any; of Bloom filters and bitmaps
    #[arg(long)]
    intersect: bool,

    /// Write nothing if the result would answer "mayhap" for absent keys more often than this
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    max_rate: Option<f64>,

    #[command(flatten)]
    unlock: Unlock,

    #[command(flatten)]
    summary: SummaryFlags,
}

const EXAMPLES: &str = "\
Examples:
  mayhap merge -o week.mayhap mon.mayhap tue.mayhap wed.mayhap   the keys of all three
  mayhap merge -o both.mayhap --intersect a.mayhap b.mayhap      what may be in both
  mayhap merge -o all.mayhap --max-rate 1% parts/*.mayhap        only if it stays good enough

To fill filters in parallel and unite them, build each with the same -n (of all keys together) and -p.

Scalable filters can't be united, because their rates would add up; nor can cuckoo and d-left ones, in which the keys of \
both might not find room. Build one filter of all the keys instead. Of dual filters, what was removed from one is removed \
from the result, whatever the others have.

Exit codes: 0 done, 2 error; nothing is written then, unless the message says so.";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let _claim = arguments.output.claim(arguments.summary.quiet())?;
    let paths = [&arguments.first].into_iter().chain(&arguments.others);
    let mut inputs = paths.map(|path| Input::look(arguments, path)).collect::<Result<Vec<_>, _>>()?;
    // The smallest first: the others fold to fit it, where two of the others might not fit each other.
    inputs.sort_by_key(|input| input.bytes);
    let largest = inputs.iter().map(|input| input.bytes).max().unwrap_or(0);

    let mut merged: Option<(&Path, FilterFile)> = None;
    for input in &inputs {
        let next = arguments.unlock.open(input.path)?;
        merged = Some(match merged {
            None => (input.path, next),
            Some((first, so_far)) => (
                first,
                combine(so_far, next, arguments.intersect).map_err(|reason| {
                    let (first, path) = (first.display(), input.path.display());
                    // In the order in which the reason speaks of them.
                    Failure::Message(format!("{first} can't be merged with {path}: {reason}"))
                })?,
            ),
        });
    }
    let Some((_, merged)) = merged else {
        return Err(Failure::Message("there is nothing to merge".to_owned()));
    };

    let summary = Summary::new(&merged, inputs.len(), largest);
    if let (Some(most), Some(rate)) = (arguments.max_rate, summary.expected_rate)
        && rate > most
    {
        return Err(Failure::Message(format!(
            "the result would have a rate of {}, above the {} of --max-rate, so nothing is written; build one filter \
             of all the keys, for as many as there are",
            format_rate(rate),
            format_rate(most)
        )));
    }
    merged.save(&arguments.output.output, arguments.output.existing())?;
    if !arguments.summary.quiet() {
        summary.print(arguments)?;
    }
    Ok(Answer::Yes)
}

/// A filter that is to be merged, and not in memory yet.
struct Input<'a> {
    path: &'a Path,
    bytes: u64,
}

impl<'a> Input<'a> {
    /// Looks at its header, so that a wrong name is noticed before gigabytes are read.
    fn look(arguments: &Arguments, path: &'a Path) -> Result<Self, Failure> {
        let bytes = arguments.unlock.map(path)?.len_bytes();
        Ok(Self { path, bytes })
    }
}

/// The two as one, or why not.
fn combine(ours: FilterFile, theirs: FilterFile, intersect: bool) -> Result<FilterFile, String> {
    let (our_kind, their_kind) = (ours.kind(), theirs.kind());
    match (ours, theirs) {
        (FilterFile::Filter(mut ours), FilterFile::Filter(theirs)) => {
            let done = if intersect { intersect_filters(&mut ours, &theirs) } else { ours.merge(&theirs) };
            done.map_err(|error| error.to_string())?;
            Ok(FilterFile::Filter(ours))
        }
        (FilterFile::Bitmap(ours), FilterFile::Bitmap(theirs)) => {
            // One without a universe has room for all numbers.
            let is_larger = theirs.universe().unwrap_or(u64::MAX) > ours.universe().unwrap_or(u64::MAX);
            let (mut ours, theirs) = if is_larger && !intersect { (theirs, ours) } else { (ours, theirs) };
            if intersect {
                ours.intersect(&theirs);
            } else {
                ours.merge(&theirs).map_err(|error| error.to_string())?;
            }
            Ok(FilterFile::Bitmap(ours))
        }
        (FilterFile::Foreign(_), FilterFile::Foreign(_)) if intersect => {
            Err("filters of other systems are not intersected here".to_owned())
        }
        (FilterFile::Foreign(mut ours), FilterFile::Foreign(theirs)) => {
            if ours.keys != theirs.keys {
                return Err("their keys are of different types".to_owned());
            }
            ours.filter.merge(&theirs.filter).map_err(|error| error.to_string())?;
            Ok(FilterFile::Foreign(ours))
        }
        _ => Err(MergeError::Kinds { ours: our_kind, theirs: their_kind }.to_string()),
    }
}

fn intersect_filters(ours: &mut AnyFilter, theirs: &AnyFilter) -> Result<(), MergeError> {
    match (&mut *ours, theirs) {
        (AnyFilter::Bloom(ours), AnyFilter::Bloom(theirs)) => ours.intersect(theirs),
        (AnyFilter::Classic(ours), AnyFilter::Classic(theirs)) => ours.intersect(theirs),
        (ours, theirs) if ours.kind() == theirs.kind() => {
            Err(MergeError::Unsupported(Unsupported { kind: ours.kind(), operation: "be intersected" }))
        }
        (ours, theirs) => Err(MergeError::Kinds { ours: ours.kind(), theirs: theirs.kind() }),
    }
}

/// What came out.
struct Summary {
    kind: Kind,
    inputs: usize,
    bytes: u64,
    is_folded: bool,
    /// About, unless it is a bitmap.
    keys: Option<u64>,
    planned_keys: Option<u64>,
    planned_rate: Option<f64>,
    expected_rate: Option<f64>,
    is_over_plan: bool,
    holds_too_much: Option<HoldsTooMuch>,
    /// Keys that were removed from dual filters, about.
    removed: u64,
    hides_too_much: Option<HidesTooMuch>,
}

impl Summary {
    fn new(merged: &FilterFile, inputs: usize, largest: u64) -> Self {
        let bytes = merged.len_bytes();
        let plain = Self {
            kind: merged.kind(),
            inputs,
            bytes,
            is_folded: false,
            keys: None,
            planned_keys: None,
            planned_rate: None,
            expected_rate: None,
            is_over_plan: false,
            holds_too_much: None,
            removed: 0,
            hides_too_much: None,
        };
        match merged {
            FilterFile::Filter(filter) => Self {
                is_folded: bytes < largest,
                keys: Some(filter.estimated_len()),
                planned_keys: Some(filter.planned_keys()),
                planned_rate: Some(filter.planned_rate()),
                expected_rate: Some(filter.expected_rate()),
                is_over_plan: filter.is_over_plan(),
                holds_too_much: HoldsTooMuch::of(filter),
                removed: if let AnyFilter::Dual(dual) = filter { dual.estimated_removed() } else { 0 },
                hides_too_much: HidesTooMuch::of(filter),
                ..plain
            },
            FilterFile::Bitmap(bitmap) => Self { keys: Some(bitmap.len()), ..plain },
            FilterFile::Foreign(file) => Self { expected_rate: Some(file.filter.expected_rate()), ..plain },
        }
    }

    fn print(&self, arguments: &Arguments) -> Result<(), Failure> {
        let warnings = self.warnings(arguments.intersect);
        if arguments.summary.json {
            let json = serde_json::json!({
                "output": arguments.output.output.to_string_lossy(),
                "kind": kind_word(self.kind),
                "inputs": self.inputs,
                "memory_bytes": self.bytes,
                "folded": self.is_folded,
                "keys_now": self.keys,
                "planned_keys": self.planned_keys,
                "planned_rate": self.planned_rate,
                "rate_now": self.expected_rate,
                "over_plan": self.is_over_plan,
                "warnings": warnings,
            });
            return print_of(Some(&arguments.output.output), &format!("{json}\n"));
        }
        for warning in warnings {
            say(&format!("mayhap: warning: {warning}"));
        }
        print_of(Some(&arguments.output.output), &pairs(&self.rows(arguments)))
    }

    fn rows(&self, arguments: &Arguments) -> Vec<[String; 2]> {
        let mut rows = vec![
            ["written".to_owned(), arguments.output.output.display().to_string()],
            ["kind".to_owned(), self.kind.to_string()],
            ["made of".to_owned(), format!("{} filters", self.inputs)],
            [
                "size".to_owned(),
                format_size(self.bytes) + if self.is_folded { ", folded to the smallest" } else { "" },
            ],
        ];
        if let Some(keys) = self.keys {
            let is_exact = self.kind == Kind::BITMAP;
            rows.push([if is_exact { "keys" } else { "keys, about" }.to_owned(), group_digits(keys)]);
        }
        if let Some(planned) = self.planned_keys {
            rows.push(["made for".to_owned(), group_digits(planned)]);
        }
        if let Some(rate) = self.expected_rate {
            rows.push(["expected rate now".to_owned(), format_rate(rate)]);
        }
        rows
    }

    fn warnings(&self, intersect: bool) -> Vec<String> {
        let removed = (self.removed > 0).then(|| {
            "a key that was removed from one of the filters is removed from the result, though another had it".to_owned()
        });
        let hidden = self.hides_too_much.map(|hidden| hidden.text());
        // What different keys set in both stays, so that an intersection is fuller than its keys would make it.
        let above_plan = if intersect { None } else { self.above_plan() };
        [removed, hidden, above_plan].into_iter().flatten().collect()
    }

    fn above_plan(&self) -> Option<String> {
        let held = self.holds_too_much.filter(HoldsTooMuch::errs_more)?;
        Some(format!(
            "the result holds about {} keys and was made for {}: it says mayhap for {} of absent keys instead of {}; \
             build one filter of all the keys if that is too often",
            group_digits(held.keys),
            group_digits(held.planned),
            format_rate(held.rate),
            format_rate(held.planned_rate),
        ))
    }
}
