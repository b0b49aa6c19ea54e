//! Tables: aligned Markdown for people, JSON for programs.

use std::fmt::Write;

use serde_json::Value;

/// The outcome of one cell.
pub(crate) struct Report {
    pub(crate) title: String,
    pub(crate) header: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
    /// Sentences under the table.
    pub(crate) notes: Vec<String>,
    /// Every sample, unrounded.
    pub(crate) json: Value,
}

impl Report {
    /// A heading, the table with its columns padded so that it reads as plain text too, and the notes as a
    /// list.
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("### {}\n\n", self.title);
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].chars().count());
            cells.chain([self.header[column].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        let header: Vec<String> = self.header.iter().map(|&name| String::from(name)).collect();
        // The first column holds names, the others numbers, or words throughout.
        let words = |column: usize| self.rows.iter().all(|row| row[column].starts_with(char::is_alphabetic));
        let left: Vec<bool> = (0..widths.len()).map(|column| column == 0 || words(column)).collect();
        push_row(&mut text, &header, &widths, &left);
        let rule = widths.iter().zip(&left).map(|(&width, &left)| {
            let dashes = "-".repeat(width + 1);
            if left { format!("{dashes}-") } else { format!("{dashes}:") }
        });
        let _ = writeln!(text, "|{}|", rule.collect::<Vec<_>>().join("|"));
        for row in &self.rows {
            push_row(&mut text, row, &widths, &left);
        }
        if !self.notes.is_empty() {
            text.push('\n');
        }
        for note in &self.notes {
            let _ = writeln!(text, "- {note}");
        }
        text
    }
}

fn push_row(text: &mut String, cells: &[String], widths: &[usize], left: &[bool]) {
    for ((cell, &width), &left) in cells.iter().zip(widths).zip(left) {
        let _ = if left { write!(text, "| {cell:<width$} ") } else { write!(text, "| {cell:>width$} ") };
    }
    text.push_str("|\n");
}

/// Three significant digits or so: 2.34, 23.4, 234.
pub(crate) fn nanoseconds(value: f64) -> String {
    match value {
        value if value.is_nan() => String::from("–"),
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

/// How many times faster than the yardstick: "3.1x".
pub(crate) fn ratio(ratio: f64) -> String {
    if ratio.is_finite() { format!("{ratio:.2}x") } else { String::from("–") }
}

/// A share in percent, with more digits the rarer it is.
pub(crate) fn percent(share: f64) -> String {
    if share.is_nan() {
        String::from("–")
    } else if share == 0.0 {
        String::from("0")
    } else if share < 0.001 {
        format!("{:.5} %", share * 100.0)
    } else {
        format!("{:.3} %", share * 100.0)
    }
}

/// A rate somebody asked for: 0.01 as "1 %".
pub(crate) fn rate(rate: f64) -> String {
    // Through nine digits, so that 0.001 · 100 isn't 0.10000000000000001.
    format!("{} %", (rate * 1e9).round() / 1e7)
}

/// 10000 as "10 k", 100000000 as "100 M".
pub(crate) fn count(value: usize) -> String {
    match value {
        value if value >= 1_000_000 && value.is_multiple_of(1_000_000) => format!("{} M", value / 1_000_000),
        value if value >= 1_000 && value.is_multiple_of(1_000) => format!("{} k", value / 1_000),
        value => value.to_string(),
    }
}

/// Bytes in MiB or KiB.
pub(crate) fn bytes(value: f64) -> String {
    if value >= 1024.0 * 1024.0 {
        format!("{:.1} MiB", value / (1024.0 * 1024.0))
    } else {
        format!("{:.1} KiB", value / 1024.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let report = Report {
            title: String::from("t"),
            header: vec!["filter", "ns", "full"],
            rows: vec![["a", "10.5", "grows"].map(String::from).to_vec()],
            notes: vec![String::from("note")],
            json: Value::Null,
        };
        let expected = "### t\n\n| filter |   ns | full  |\n|--------|-----:|-------|\n\
                        | a      | 10.5 | grows |\n\n- note\n";
        assert_eq!(report.markdown(), expected);
    }

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(nanoseconds(2.345), "2.35");
        assert_eq!(nanoseconds(23.45), "23.4");
        assert_eq!(nanoseconds(234.5), "234");
        assert_eq!(count(10_000), "10 k");
        assert_eq!(count(1_234), "1234");
        assert_eq!(percent(0.01), "1.000 %");
        assert_eq!([0.01, 0.001, 0.000_001].map(rate), ["1 %", "0.1 %", "0.0001 %"]);
        assert_eq!(ratio(2.5), "2.50x");
        assert_eq!(ratio(f64::NAN), "–");
    }
}
