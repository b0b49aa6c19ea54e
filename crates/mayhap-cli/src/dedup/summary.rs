//! What is said when all lines have passed.

use std::io::Write;
use std::time::Duration;

use super::sieve::Sieve;
use crate::numbers::{format_rate, format_size, group_digits, whole};

/// The figures of one run.
#[derive(Debug)]
pub(super) struct Summary {
    lines: u64,
    printed: u64,
    expected_lost: f64,
    rate_now: f64,
    promised_rate: f64,
    is_over_rate: bool,
    filter_bytes: u64,
    input_bytes: u64,
    output_bytes: u64,
    seconds: f64,
}

impl Summary {
    pub(super) fn new<W: Write>(sieve: &mut Sieve<W>, input_bytes: u64, elapsed: Duration) -> Self {
        let loss = sieve.loss();
        let (expected_lost, rate_now, promised_rate) =
            (loss.expected(), loss.rate_now(), loss.promised_rate());
        Self {
            lines: sieve.lines(),
            printed: sieve.printed(),
            // What was not dropped was not lost either, whatever was to be expected.
            expected_lost: expected_lost.min((sieve.lines() - sieve.printed()) as f64),
            rate_now,
            promised_rate,
            is_over_rate: sieve.is_over_rate(),
            filter_bytes: sieve.filter().len_bytes(),
            input_bytes,
            output_bytes: sieve.output_bytes(),
            seconds: elapsed.as_secs_f64(),
        }
    }

    /// Two lines for a person.
    pub(super) fn text(&self) -> String {
        let over = if self.is_over_rate {
            format!(", above the {} asked for", format_rate(self.promised_rate))
        } else {
            String::new()
        };
        format!(
            "mayhap: {} lines read, {} printed, {} dropped as repeats, in {:.2} s with a filter of {}\n\
             mayhap: expected number of new lines dropped by mistake: {} (rate now {}{over})",
            group_digits(self.lines),
            group_digits(self.printed),
            group_digits(self.lines - self.printed),
            self.seconds,
            format_size(self.filter_bytes),
            format_expected(self.expected_lost),
            format_rate(self.rate_now),
        )
    }

    /// One JSON object on one line.
    pub(super) fn json(&self) -> String {
        serde_json::json!({
            "lines": self.lines,
            "printed": self.printed,
            "dropped": self.lines - self.printed,
            "expected_dropped_by_mistake": self.expected_lost,
            "rate_now": self.rate_now,
            "rate_asked": self.promised_rate,
            "over_rate": self.is_over_rate,
            "filter_bytes": self.filter_bytes,
            "input_bytes": self.input_bytes,
            "output_bytes": self.output_bytes,
            "seconds": self.seconds,
        })
        .to_string()
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
