//! What is said when all lines have passed.

use std::io::Write;
use std::time::Duration;

use super::sieve::{Sieve, Wanted};
use crate::numbers::{counted, format_duration, format_rate, format_size, group_digits, whole};

/// The figures of one run.
#[derive(Debug)]
pub(super) struct Summary {
    wanted: Wanted,
    lines: u64,
    new: u64,
    printed: u64,
    late: u64,
    expected_mistaken: f64,
    /// Between what and what it is, if that is all that is certain.
    mistaken_bounds: Option<(f64, f64)>,
    rate_now: f64,
    promised_rate: f64,
    is_over_rate: bool,
    window: Option<u64>,
    filter_bytes: u64,
    input_bytes: u64,
    output_bytes: u64,
    seconds: f64,
    warning: Option<String>,
    state: Option<StateSummary>,
}

/// The figures of the state that goes on.
#[derive(Debug)]
struct StateSummary {
    path: String,
    lines: u64,
    planned_lines: u64,
}

impl Summary {
    pub(super) fn new<W: Write>(
        sieve: &mut Sieve<W>,
        input_bytes: u64,
        elapsed: Duration,
        warning: Option<String>,
    ) -> Self {
        let loss = sieve.loss();
        let (expected_mistaken, mistaken_bounds) = (loss.expected(), loss.bounds());
        let (rate_now, promised_rate) = (loss.rate_now(), loss.promised_rate());
        // What was not taken for a repeat was not mistaken either, whatever was to be expected.
        let repeats = (sieve.lines() - sieve.new_lines()) as f64;
        Self {
            wanted: sieve.wanted(),
            lines: sieve.lines(),
            new: sieve.new_lines(),
            printed: sieve.written().records,
            late: sieve.late_lines(),
            expected_mistaken: expected_mistaken.min(repeats),
            mistaken_bounds: mistaken_bounds.map(|(least, most)| (least.min(repeats), most.min(repeats))),
            rate_now,
            promised_rate,
            is_over_rate: sieve.is_over_rate(),
            window: sieve.seen().window(),
            filter_bytes: sieve.seen().len_bytes(),
            input_bytes,
            output_bytes: sieve.written().bytes,
            seconds: elapsed.as_secs_f64(),
            warning,
            state: None,
        }
    }

    /// With the state that was saved.
    pub(super) fn with_state<W: Write>(mut self, path: String, sieve: &Sieve<W>) -> Self {
        let (lines, planned_lines) = (sieve.seen().estimated_lines(), sieve.seen().planned_lines());
        self.state = Some(StateSummary { path, lines, planned_lines });
        self
    }

    /// Lines that were taken for repeats.
    pub(super) fn repeats(&self) -> u64 {
        self.lines - self.new
    }

    /// A few lines for a person.
    pub(super) fn text(&self) -> String {
        let (new, repeats) = (group_digits(self.new), group_digits(self.repeats()));
        let as_repeats = if self.repeats() == 1 { "as a repeat" } else { "as repeats" };
        let what = match self.wanted {
            Wanted::New => format!("{new} printed, {repeats} dropped {as_repeats}"),
            Wanted::Repeats => format!("{repeats} printed {as_repeats}, {new} new"),
            Wanted::Count => format!("{}, {new} new", counted(self.repeats(), "repeat")),
        };
        let window = self
            .window
            .map_or_else(String::new, |window| format!(" that remembers for {}", format_duration(window)));
        let over = if self.is_over_rate {
            format!(", above the {} asked for", format_rate(self.promised_rate))
        } else {
            String::new()
        };
        let bounds = self.mistaken_bounds.map_or_else(String::new, |(least, most)| {
            format!(
                ", between about {} and {}, for a full filter can't tell",
                format_expected(least),
                format_expected(most)
            )
        });
        let mut text = format!(
            "mayhap: {} read, {what}, in {:.2} s with a filter of {}{window}\n\
             mayhap: expected number of new lines {} by mistake: {}{bounds} (rate now {}{over})",
            counted(self.lines, "line"),
            self.seconds,
            format_size(self.filter_bytes),
            self.done(),
            format_expected(self.expected_mistaken),
            format_rate(self.rate_now),
        );
        if self.late > 0 {
            text += &format!(
                "\nmayhap: {} had a time before that of an earlier line, and counted as of the newest time",
                counted(self.late, "line")
            );
        }
        if let Some(state) = &self.state {
            text += &format!(
                "\nmayhap: {} now holds about {} of the {} it was made for",
                state.path,
                group_digits(state.lines),
                counted(state.planned_lines, "line")
            );
        }
        text
    }

    /// What happens to a line that is taken for a repeat.
    fn done(&self) -> &'static str {
        match self.wanted {
            Wanted::New => "dropped",
            Wanted::Repeats => "printed",
            Wanted::Count => "counted",
        }
    }

    /// One JSON object on one line.
    pub(super) fn json(&self) -> String {
        let mut json = serde_json::json!({
            "lines": self.lines,
            "new": self.new,
            "repeats": self.repeats(),
            "printed": self.printed,
            "dropped": self.lines - self.printed,
            "rate_now": self.rate_now,
            "planned_rate": self.promised_rate,
            "over_rate": self.is_over_rate,
            "memory_bytes": self.filter_bytes,
            "input_bytes": self.input_bytes,
            "output_bytes": self.output_bytes,
            "seconds": self.seconds,
            "warnings": self.warning.as_slice(),
            "expected_mistaken": self.expected_mistaken,
        });
        if let Some((least, most)) = self.mistaken_bounds {
            json["least_mistaken"] = least.into();
            json["most_mistaken"] = most.into();
        }
        if let Some(window) = self.window {
            json["window_ms"] = window.into();
            json["late_lines"] = self.late.into();
        }
        if let Some(state) = &self.state {
            json["state"] = serde_json::json!({
                "file": state.path,
                "keys_now": state.lines,
                "planned_keys": state.planned_lines,
            });
        }
        json.to_string()
    }
}

/// An expected count: 0.0012 lines, 3.1 lines, 45 020 lines.
fn format_expected(count: f64) -> String {
    if count <= 0.0 {
        "0".to_owned()
    } else if count >= 100.0 {
        group_digits(whole(count))
    } else if count >= 1.0 {
        format!("{count:.1}")
    } else if count >= 0.001 {
        format!("{count:.3}")
    } else {
        "less than 0.001".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_counts_keep_their_size() {
        for (count, text) in [
            (0.0, "0"),
            (1e-9, "less than 0.001"),
            (0.0012, "0.001"),
            (0.25, "0.250"),
            (3.12, "3.1"),
            (45_020.4, "45 020"),
        ] {
            assert_eq!(format_expected(count), text);
        }
    }
}
