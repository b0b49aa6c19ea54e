//! What was found, in words.

use mayhap::codec::Kind;
use serde_json::{Value, json};

use super::absent::Sample;
use super::interval::{certainly_above, clopper_pearson};
use super::source::Source;
use crate::kind_word::kind_word;
use crate::numbers::{counted, format_rate, format_size, group_digits};
use crate::over_plan::{HidesTooMuch, HoldsTooMuch};

/// So many standard deviations above the promise may a sound filter be: of ten thousand, one is not.
const DEVIATIONS: f64 = 4.0;

/// All that was found out about a filter.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) file: String,
    pub(super) kind: Kind,
    pub(super) bytes: u64,
    /// Those of the file are right, or the command would have ended. Other systems' files have none of ours.
    pub(super) has_checksums: bool,
    /// A bitmap, which is never wrong.
    pub(super) is_exact: bool,
    /// Of a dual filter: the part of its keys that it may hide.
    pub(super) hidden: Option<Promise>,
    /// It hides more than that, by its bits.
    pub(super) hides_too_much: Option<HidesTooMuch>,
    pub(super) is_window: bool,
    pub(super) holds_too_much: Option<HoldsTooMuch>,
    /// Nothing when no source was given.
    pub(super) keys: Option<Source>,
    /// Nothing where there is no rate to measure.
    pub(super) rate: Option<Rate>,
}

/// What was promised, on the mean over all seeds, and how much filters differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Promise {
    pub(super) rate: f64,
    /// The standard deviation of the rates of sound filters; 0 where it is this filter's own rate that is asked about.
    pub(super) deviation: f64,
}

impl Promise {
    /// The highest rate that doesn't speak against the filter.
    fn allowed(self) -> f64 {
        (self.rate + DEVIATIONS * self.deviation).min(1.0)
    }

    /// Whether so many of so many are in keeping with it.
    fn is_kept_by(self, hits: u64, samples: u64) -> bool {
        certainly_above(hits, samples) <= self.allowed()
    }
}

/// The rate of wrong answers.
#[derive(Debug)]
pub(super) struct Rate {
    sample: Sample,
    low: f64,
    high: f64,
    promise: Option<Promise>,
}

impl Rate {
    pub(super) fn new(sample: Sample, promise: Option<Promise>) -> Self {
        let (low, high) = clopper_pearson(sample.hits, sample.keys);
        Self { sample, low, high, promise }
    }

    fn measured(&self) -> f64 {
        self.sample.hits as f64 / self.sample.keys as f64
    }

    fn is_kept(&self) -> bool {
        self.promise.is_none_or(|promise| promise.is_kept_by(self.sample.hits, self.sample.keys))
    }

    fn text(&self) -> String {
        format!(
            "rate: {} of {} {} answered \"mayhap\", {}: the real rate is between {} and {} (95 % Clopper-Pearson \
             interval){}",
            group_digits(self.sample.hits),
            counted(self.sample.keys, "absent key"),
            was(if self.sample.keys == 1 { 1 } else { self.sample.hits }),
            format_rate(self.measured()),
            format_rate(self.low),
            format_rate(self.high),
            self.comparison()
        )
    }

    fn comparison(&self) -> String {
        let Some(promise) = self.promise else {
            return "; the file promises none to compare with (-p does)".to_owned();
        };
        let promised = format_rate(promise.rate);
        let has_spread = promise.deviation > 0.0;
        match self.is_kept() {
            false if has_spread => format!(
                ", ABOVE the {promised} promised, and above {}, as far as the seed alone explains",
                format_rate(promise.allowed())
            ),
            false => format!(", ABOVE the {promised} promised"),
            true if self.high <= promise.rate => format!(", below the {promised} promised"),
            true if self.low <= promise.rate => format!(", in keeping with the {promised} promised"),
            true if has_spread => format!(
                ", in keeping with the {promised} promised: filters of this size differ by their seeds, and up to {} is \
                 chance",
                format_rate(promise.allowed())
            ),
            true => format!(", but not for certain above the {promised} promised: ask for more --samples"),
        }
    }

    fn json(&self) -> Value {
        json!({
            "absent_asked": self.sample.keys,
            "wrong": self.sample.hits,
            "measured_rate": self.measured(),
            "lowest_rate": self.low,
            "highest_rate": self.high,
            "confidence": 0.95,
            "interval": "Clopper-Pearson",
            "promised_rate": self.promise.map(|promise| promise.rate),
            "rate_deviation": self.promise.map(|promise| promise.deviation),
            "allowed_rate": self.promise.map(Promise::allowed),
            "kept": self.promise.map(|_| self.is_kept()),
        })
    }
}

fn was(count: u64) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

impl Verdict {
    /// Whether the filter is as it should be, as far as was looked.
    pub(super) fn is_kept(&self) -> bool {
        self.hides_too_much.is_none() && self.finds_its_keys() && self.rate.as_ref().is_none_or(Rate::is_kept)
    }

    /// Whether anything was asked for that could have shown the opposite.
    fn has_compared(&self) -> bool {
        self.keys.as_ref().is_some_and(|keys| keys.keys > 0)
            || self.rate.as_ref().is_some_and(|rate| rate.promise.is_some())
    }

    fn finds_its_keys(&self) -> bool {
        let Some(keys) = &self.keys else { return true };
        match self.hidden {
            // It promises a rate of them, too.
            Some(hidden) => hidden.is_kept_by(keys.missing, keys.keys),
            None => keys.missing == 0,
        }
    }

    /// A few sentences.
    pub(super) fn text(&self) -> String {
        let mut lines = vec![format!("{}: {}, {}", self.file, self.kind, format_size(self.bytes))];
        lines.push(if self.has_checksums {
            "checksums: all are right".to_owned()
        } else {
            "checksums: not ours to check in a file of another system; it reads without fault".to_owned()
        });
        self.say_keys(&mut lines);
        lines.push(match &self.rate {
            Some(rate) => rate.text(),
            None if self.is_exact => "rate: a bitmap is exact, there is no rate to measure".to_owned(),
            None => "rate: not measured".to_owned(),
        });
        if let Some(held) = &self.holds_too_much {
            lines.push(format!(
                "plan: it holds about {} and was made for {}{}; build it larger",
                counted(held.keys, "key"),
                group_digits(held.planned),
                if held.errs_more() {
                    ", so its rate is above the promise"
                } else {
                    ", at a rate that is none above the promise yet"
                }
            ));
        }
        if let Some(hidden) = &self.hides_too_much {
            lines.push(format!("plan: {}", hidden.text()));
        }
        let result = match (self.is_kept(), self.has_compared()) {
            (true, true) if self.rate.as_ref().is_some_and(|rate| rate.promise.is_none()) => {
                "result: every key was found; no rate was promised"
            }
            (true, true) => "result: the filter keeps its promise",
            (true, false) => "result: the file is whole, and that is all that was looked at",
            (false, _) => "result: the filter does NOT keep its promise",
        };
        lines.push(result.to_owned());
        lines.join("\n") + "\n"
    }

    fn say_keys(&self, lines: &mut Vec<String>) {
        let Some(keys) = &self.keys else {
            lines.push("keys: no source was given, so none was asked for".to_owned());
            return;
        };
        lines.push(match (keys.keys, keys.missing) {
            (0, _) => "keys: the source has none".to_owned(),
            (1, 0) => "keys: the only one of the source was found".to_owned(),
            (1, _) => "keys: the only one of the source was NOT found".to_owned(),
            (all, 0) => format!("keys: all {} of the source were found", group_digits(all)),
            (all, missing) => format!(
                "keys: {} of the source's {} {} NOT found",
                group_digits(missing),
                group_digits(all),
                was(missing)
            ),
        });
        lines.extend(keys.examples.iter().map(|example| format!("  missing: {example:?}")));
        if let Some(hidden) = self.hidden {
            lines.push(format!(
                "  a dual Bloom filter may hide {} of its keys: those that look like removed ones; removed keys are \
                 not found, of course",
                format_rate(hidden.rate)
            ));
        }
        if self.is_window {
            lines.push(
                "  a window forgets keys older than it: its source is what came within the last window"
                    .to_owned(),
            );
        }
    }

    /// One object.
    pub(super) fn json(&self) -> Value {
        let source = self.keys.as_ref().map(|keys| {
            json!({
                "lines": keys.keys,
                "missing": keys.missing,
                "missing_first": keys.examples,
                "planned_hidden_rate": self.hidden.map(|hidden| hidden.rate),
                "kept": self.finds_its_keys(),
            })
        });
        json!({
            "file": self.file,
            "kind": kind_word(self.kind),
            "memory_bytes": self.bytes,
            "checksums": if self.has_checksums { "good" } else { "none" },
            "source": source,
            "sample": self.rate.as_ref().map(Rate::json),
            "over_plan": self.holds_too_much.is_some() || self.hides_too_much.is_some(),
            "warnings": self.hides_too_much.map(|hidden| hidden.text()).as_slice(),
            "verified": self.is_kept(),
        })
    }
}
