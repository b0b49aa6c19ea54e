//! `mayhap fold`: a smaller filter from a larger one.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use mayhap::{AnyFilter, MergeError};

use crate::columns::table;
use crate::failure::{Answer, Failure, print_of, say};
use crate::filter_file::{FilterFile, Unlock};
use crate::flags::{DryRun, SummaryFlags};
use crate::numbers::{format_rate, format_size, group_digits, parse_count, parse_rate, parse_size};
use crate::output::{Claim, claim};

/// Make a filter smaller, at a worse rate
///
/// Folding lays parts of the filter over each other. The result is, bit for bit, the filter that the same keys would
/// have given had it been built that small; the keys aren't needed. It is how to send a large filter to where less
/// memory is, and how to size one after the fact: build too large, then fold to the rate.
///
/// Blocked, classic and counting Bloom filters can be folded, by any factor that divides their size. The way back needs
/// the keys.
#[derive(Args, Debug)]
// Quiet and nothing written would be nothing at all.
#[command(mut_arg("dry_run", |flag| flag.conflicts_with("quiet")))]
#[command(after_help = EXAMPLES, group = ArgGroup::new("how").required(true).args(["by", "rate", "to_size"]))]
pub(crate) struct Arguments {
    /// The filter file
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    /// File to write; it appears when it is complete, and not before
    #[arg(short = 'o', long, value_name = "FILE", required_unless_present = "dry_run")]
    output: Option<PathBuf>,

    /// Replace the file if there is one
    #[arg(long)]
    force: bool,

    /// How many times smaller
    #[arg(long, value_name = "FACTOR", value_parser = parse_count)]
    by: Option<u64>,

    /// As small as this rate allows with the keys that are in the filter: 1%, 1e-6, 1/1000
    #[arg(short = 'p', long, value_name = "RATE", value_parser = parse_rate)]
    rate: Option<f64>,

    /// As little as it takes to need no more memory than this: 64MiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    to_size: Option<u64>,

    #[command(flatten)]
    rehearsal: DryRun,

    #[command(flatten)]
    unlock: Unlock,

    #[command(flatten)]
    summary: SummaryFlags,
}

const EXAMPLES: &str = "\
Examples:
  mayhap fold big.mayhap -o small.mayhap --rate 1%       as small as 1 % allows
  mayhap fold big.mayhap -o small.mayhap --to-size 64M   what fits into 64 MiB
  mayhap fold big.mayhap --by 4 --dry-run                what would a quarter of the size mean?

Exit codes: 0 done (also if nothing could be folded away: the copy is then as large as before), 2 error.";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let _claim = match &arguments.output {
        Some(output) if !arguments.rehearsal.dry_run => {
            claim(output, arguments.force, arguments.summary.quiet())?
        }
        _ => Claim::default(),
    };
    let shown = arguments.filter.display();
    let mut filter = match arguments.unlock.open(&arguments.filter)? {
        FilterFile::Filter(filter) => filter,
        other => {
            return Err(Failure::Message(format!(
                "{shown} is a {}, which can't be folded; Bloom filters can",
                other.kind()
            )));
        }
    };
    let before = Figures::of(&filter);
    let size = size_of(&mut filter).map_err(|error| Failure::Message(format!("{shown}: {error}")))?;
    let factor = match (arguments.by, arguments.rate, arguments.to_size) {
        (_, Some(rate), _) => filter.fold_to_rate(rate).map_err(mayhap::Error::from)?,
        (by, _, to_size) => {
            let factor = match by {
                Some(factor) => factor,
                None => factor_for(size, before.bytes, to_size.unwrap_or(u64::MAX))?,
            };
            filter.fold(factor).map_err(|error| explain(&error, factor))?;
            factor
        }
    };
    if let (Some(output), false) = (&arguments.output, arguments.rehearsal.dry_run) {
        let existing =
            if arguments.force { mayhap::codec::Existing::Replace } else { mayhap::codec::Existing::Refuse };
        filter.save(output, existing)?;
    }
    if !arguments.summary.quiet() {
        report(arguments, factor, &before, &Figures::of(&filter))?;
    }
    Ok(Answer::Yes)
}

/// What factors must divide. Of a filter that can't be folded, why.
fn size_of(filter: &mut AnyFilter) -> Result<u64, MergeError> {
    // No filter folds by 0, and each says what size it is that 0 doesn't divide.
    match filter.fold(0) {
        Err(MergeError::Factor { size, .. }) => Ok(size),
        Err(error) => Err(error),
        Ok(()) => Ok(1),
    }
}

/// The smallest factor by which the filter gets into `room` bytes.
fn factor_for(size: u64, bytes: u64, room: u64) -> Result<u64, Failure> {
    let fits = |factor: &u64| bytes / factor <= room;
    divisors(size).into_iter().find(fits).ok_or_else(|| {
        Failure::Message(format!(
            "the filter can't be folded into {}; the least it can take are {}",
            format_size(room),
            format_size(bytes / size.max(1))
        ))
    })
}

fn explain(error: &MergeError, factor: u64) -> Failure {
    let MergeError::Factor { size, .. } = error else { return Failure::Message(error.to_string()) };
    /// So many are listed on either side of the factor that was asked for.
    const NEIGHBOURS: usize = 6;
    let divisors = divisors(*size);
    let place = divisors.partition_point(|divisor| *divisor < factor);
    let listed: Vec<String> = divisors
        .iter()
        .skip(place.saturating_sub(NEIGHBOURS).max(1))
        .take(2 * NEIGHBOURS)
        .map(ToString::to_string)
        .collect();
    Failure::Message(if listed.is_empty() {
        format!("the filter can't be folded by {factor}: its size, {size}, has no divisors")
    } else {
        format!(
            "the filter can't be folded by {factor}, which doesn't divide its size ({size}); factors near it that do: {}",
            listed.join(", ")
        )
    })
}

/// All divisors, in order.
fn divisors(size: u64) -> Vec<u64> {
    let mut small: Vec<u64> = (1..=size.isqrt()).filter(|divisor| size.is_multiple_of(*divisor)).collect();
    let large: Vec<u64> =
        small.iter().rev().map(|divisor| size / divisor).filter(|large| *large > size.isqrt()).collect();
    small.extend(large);
    small
}

/// What is compared.
struct Figures {
    bytes: u64,
    rate: f64,
    keys: u64,
    planned_keys: u64,
    fill: f64,
}

impl Figures {
    fn of(filter: &AnyFilter) -> Self {
        Self {
            bytes: filter.len_bytes(),
            rate: filter.expected_rate(),
            keys: filter.estimated_len(),
            planned_keys: filter.planned_keys(),
            fill: filter.fill_ratio(),
        }
    }

    fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "memory_bytes": self.bytes,
            "rate_now": self.rate,
            "keys_now": self.keys,
            "planned_keys": self.planned_keys,
            "fill": self.fill,
        })
    }
}

fn report(arguments: &Arguments, factor: u64, before: &Figures, after: &Figures) -> Result<(), Failure> {
    let written = arguments.output.as_ref().filter(|_| !arguments.rehearsal.dry_run);
    // Folding never makes a rate better.
    let warning = arguments.rate.filter(|rate| after.rate > *rate).map(|rate| {
        format!(
            "the rate was {} before, above the {} asked for, and folding can't make it better; build a larger filter from \
             the keys",
            format_rate(before.rate),
            format_rate(rate)
        )
    });
    if arguments.summary.json {
        let json = serde_json::json!({
            "output": written.map(|path| path.to_string_lossy()),
            "factor": factor,
            "before": before.json(),
            "after": after.json(),
            "warnings": warning.as_slice(),
        });
        return print_of(written.map(PathBuf::as_path), &format!("{json}\n"));
    }
    if let Some(warning) = warning {
        say(&format!("mayhap: warning: {warning}"));
    }
    let row =
        |label: &str, value: &dyn Fn(&Figures) -> String| [label.to_owned(), value(before), value(after)];
    let mut text = match (factor, written) {
        (1, Some(path)) => format!("not folded, and copied to {}\n", path.display()),
        (1, None) => "would not be folded\n".to_owned(),
        (_, Some(path)) => format!("folded by {factor} into {}\n", path.display()),
        (_, None) => format!("would be folded by {factor}\n"),
    };
    text += &table(&[
        ["".to_owned(), "before".to_owned(), "after".to_owned()],
        row("size", &|figures| format_size(figures.bytes)),
        row("bits or counters in use", &|figures| format!("{:.1} %", figures.fill * 100.0)),
        row("keys, about", &|figures| group_digits(figures.keys)),
        row("made for", &|figures| group_digits(figures.planned_keys)),
        row("expected rate now", &|figures| format_rate(figures.rate)),
    ]);
    print_of(written.map(PathBuf::as_path), &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_are_all_and_in_order() {
        for size in 1..2_000u64 {
            let plain: Vec<u64> = (1..=size).filter(|divisor| size.is_multiple_of(*divisor)).collect();
            assert_eq!(divisors(size), plain);
        }
    }

    #[test]
    fn the_factor_for_a_size_is_the_smallest_that_fits() {
        assert_eq!(factor_for(12, 1200, 1200).unwrap(), 1);
        assert_eq!(factor_for(12, 1200, 1199).unwrap(), 2);
        assert_eq!(factor_for(12, 1200, 250).unwrap(), 6);
        assert_eq!(factor_for(12, 1200, 100).unwrap(), 12);
        assert!(factor_for(12, 1200, 99).is_err());
    }
}
