//! What is said when the filter has been written.

use std::time::Duration;

use super::Arguments;
use super::fill::Built;
use crate::digests::{Count, Tally};
use crate::filter_file::FilterFile;
use crate::numbers::{counted, format_count, format_rate, format_size, group_digits, whole};

/// The figures of one run.
#[derive(Debug)]
pub(super) struct Summary {
    file: String,
    kind: String,
    keys: Count,
    tally: Tally,
    plan: Option<Plan>,
    rate_now: f64,
    filter_bytes: u64,
    is_default_rate: bool,
    is_over_plan: bool,
    seconds: f64,
    warnings: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct Plan {
    keys: u64,
    rate: f64,
}

impl Summary {
    pub(super) fn new(arguments: &Arguments, built: &Built) -> Self {
        let plan = match &built.filter {
            FilterFile::Filter(filter) => {
                Some(Plan { keys: filter.planned_keys(), rate: filter.planned_rate() })
            }
            FilterFile::Bitmap(_) | FilterFile::Foreign(_) => None,
        };
        Self {
            file: arguments.output.output.display().to_string(),
            kind: arguments.kind.name(),
            keys: closest(built, plan),
            tally: built.tally,
            plan,
            rate_now: built.census.map_or(0.0, |census| census.expected_rate),
            filter_bytes: built.filter.len_bytes(),
            is_default_rate: arguments.rate.is_none(),
            is_over_plan: built.census.is_some_and(|census| census.is_over_plan),
            seconds: 0.0,
            warnings: Vec::new(),
        }
    }

    /// The same, with the time that it took, and what there was to warn of.
    pub(super) fn after(self, elapsed: Duration, warnings: Vec<String>) -> Self {
        Self { seconds: elapsed.as_secs_f64(), warnings, ..self }
    }

    /// Different keys.
    pub(super) fn keys(&self) -> Count {
        self.keys
    }

    /// The rate of wrong "mayhaps" of the filter as it is.
    pub(super) fn rate_now(&self) -> f64 {
        self.rate_now
    }

    fn bits_per_key(&self) -> f64 {
        self.filter_bytes as f64 * 8.0 / self.keys.get().max(1) as f64
    }

    fn lines_per_second(&self) -> f64 {
        self.tally.lines as f64 / self.seconds.max(1e-9)
    }

    /// Two lines for a person.
    pub(super) fn text(&self) -> String {
        let noun = if self.kind == "bitmap" { "different number" } else { "different key" };
        let repeats = if self.keys.is_exact() && self.keys.get() == self.tally.lines {
            String::new()
        } else {
            format!(" of {}", group_digits(self.tally.lines))
        };
        let rate = match self.plan {
            None => "never wrong".to_owned(),
            Some(plan) => {
                let default = if self.is_default_rate { ", the default" } else { "" };
                format!(
                    "rate now {} (planned {}{default}, for {})",
                    format_rate(self.rate_now),
                    format_rate(plan.rate),
                    counted(plan.keys, "key")
                )
            }
        };
        format!(
            "mayhap: {}: {} with {}{repeats}\n\
             mayhap: {}, {:.1} bits a key, {rate}\n\
             mayhap: read {} in {:.2} s, {} keys a second",
            self.file,
            self.kind,
            self.keys.text_of(noun),
            format_size(self.filter_bytes),
            self.bits_per_key(),
            format_size(self.tally.bytes),
            self.seconds,
            format_count(whole(self.lines_per_second())),
        )
    }

    /// One JSON object on one line.
    pub(super) fn json(&self) -> String {
        serde_json::json!({
            "output": self.file,
            "kind": self.kind,
            "lines": self.tally.lines,
            "keys_now": self.keys.get(),
            "keys_now_exact": self.keys.is_exact(),
            "planned_keys": self.plan.map(|plan| plan.keys),
            "planned_rate": self.plan.map(|plan| plan.rate),
            "rate_now": self.rate_now,
            "over_plan": self.is_over_plan,
            "memory_bytes": self.filter_bytes,
            "bits_per_key": self.bits_per_key(),
            "warnings": self.warnings,
            "input_bytes": self.tally.bytes,
            "seconds": self.seconds,
            "lines_per_second": self.lines_per_second(),
        })
        .to_string()
    }
}

/// The best that is known of the number of different keys in the filter. Of many keys the bits of a Bloom filter tell it
/// closer than the count that was made on the way, unless it is so full that they tell nothing; and they alone know how
/// many a window has forgotten.
fn closest(built: &Built, plan: Option<Plan>) -> Count {
    use mayhap::AnyFilter::{Bloom, Classic, Window};
    match (built.count, &built.filter, built.census, plan) {
        (Count::About(about, _), FilterFile::Filter(Bloom(_) | Classic(_)), Some(census), Some(plan))
            if about / 2 < plan.keys =>
        {
            Count::of_bits(census.estimated_len).limited_to(built.tally.lines)
        }
        (count, FilterFile::Filter(Window(_)), Some(census), Some(plan)) if count.get() > plan.keys => {
            Count::of_bits(census.estimated_len).limited_to(built.tally.lines)
        }
        _ => built.count,
    }
}
