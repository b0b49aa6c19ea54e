//! Loads, drawn.

use super::loads::Loads;
use crate::numbers::format_count;

/// Bars of so many rows, in a terminal of this width.
#[derive(Debug)]
pub(super) struct Histogram<'a> {
    loads: &'a Loads,
    /// Loads in one row.
    step: usize,
    /// The first load shown, and the last.
    first: usize,
    last: usize,
    columns: usize,
}

/// Rows that are still taken in at a glance.
const MOST_ROWS: usize = 20;
/// With fewer blocks there is nothing to see.
const FEWEST: u64 = 16;
/// Where nobody can say how wide it is.
const USUAL_COLUMNS: usize = 80;
/// A bar must have room to differ from others.
const SHORTEST_BAR: usize = 10;

impl<'a> Histogram<'a> {
    /// Nothing if there is nothing to see.
    pub(super) fn of(loads: &'a Loads) -> Option<Self> {
        let columns =
            terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
        Self::with_columns(loads, columns.unwrap_or(USUAL_COLUMNS))
    }

    fn with_columns(loads: &'a Loads, columns: usize) -> Option<Self> {
        if loads.counts.iter().sum::<u64>() < FEWEST {
            return None;
        }
        let is_seen = |load: &usize| {
            let expected = loads.expected.as_ref().and_then(|expected| expected.get(*load));
            loads.counts[*load] > 0 || expected.is_some_and(|expected| *expected >= 0.5)
        };
        let first = (0..loads.counts.len()).find(is_seen)?;
        let last = (0..loads.counts.len()).rfind(is_seen)?;
        let needed = (last - first + 1).div_ceil(MOST_ROWS);
        let step = [1, 2, 5, 10, 20, 50].into_iter().find(|step| *step >= needed).unwrap_or(100);
        Some(Self { loads, step, first: first / step * step, last, columns })
    }

    /// The picture, and what it shows.
    pub(super) fn text(&self) -> String {
        let rows: Vec<Row> =
            (self.first..=self.last).step_by(self.step).map(|first| self.row(first)).collect();
        let most =
            rows.iter().map(|row| row.expected.unwrap_or(0.0).max(row.count as f64)).fold(1.0, f64::max);
        let label = rows.iter().map(|row| row.label.len()).max().unwrap_or(0);
        let count = rows.iter().map(|row| format_count(row.count).len()).max().unwrap_or(0);
        let width = self.columns.saturating_sub(label + count + 6).max(SHORTEST_BAR);
        let mut text = format!("\n  {} ({} {})", self.loads.what, format_count(self.total()), self.loads.of);
        if self.loads.expected.is_some() {
            text += "; | marks what chance alone would give";
        }
        text.push('\n');
        for row in rows {
            let bar = bar(row.count as f64 / most, row.expected.map(|expected| expected / most), width);
            let line = format!("  {:>label$}  {:>count$}  {bar}", row.label, format_count(row.count));
            text += line.trim_end();
            text.push('\n');
        }
        text
    }

    fn total(&self) -> u64 {
        self.loads.counts.iter().sum()
    }

    fn row(&self, first: usize) -> Row {
        let end = (first + self.step).min(self.loads.counts.len());
        let label = if end - first > 1 { format!("{first}-{}", end - 1) } else { first.to_string() };
        let expected = self.loads.expected.as_ref();
        Row {
            label,
            count: self.loads.counts[first..end].iter().sum(),
            expected: expected.and_then(|expected| expected.get(first..end)).map(|part| part.iter().sum()),
        }
    }
}

struct Row {
    label: String,
    count: u64,
    expected: Option<f64>,
}

/// A bar of this part of the width, and a mark at that.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "parts of a width")]
fn bar(part: f64, mark: Option<f64>, width: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (part * width as f64 * 8.0).round() as usize;
    let mut cells = vec!['█'; (eighths / 8).min(width)];
    if cells.len() < width {
        // Something is never shown as nothing.
        let rest = if part > 0.0 && eighths == 0 { 1 } else { eighths % 8 };
        cells.push(EIGHTHS.get(rest).copied().unwrap_or(' '));
    }
    if let Some(mark) = mark {
        let place = ((mark * width as f64) as usize).min(width.saturating_sub(1));
        if place >= cells.len() {
            cells.resize(place + 1, ' ');
        }
        if let Some(cell) = cells.get_mut(place) {
            *cell = '|';
        }
    }
    cells.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_eighths_and_marks() {
        assert_eq!(bar(0.0, None, 4), " ");
        assert_eq!(bar(0.001, None, 4), "▏");
        assert_eq!(bar(0.5, None, 4), "██ ");
        assert_eq!(bar(0.625, None, 4), "██▌");
        assert_eq!(bar(1.0, None, 4), "████");
        assert_eq!(bar(0.25, Some(0.75), 4), "█  |");
        assert_eq!(bar(1.0, Some(0.25), 4), "█|██");
        assert_eq!(bar(0.0, Some(1.0), 4), "   |");
    }

    #[test]
    fn rows_are_few_and_lines_fit() {
        let counts: Vec<u64> =
            (0..=512u64).map(|load| 1_000u64.saturating_sub(load.abs_diff(260) * 10)).collect();
        let expected = Some(counts.iter().map(|count| *count as f64).collect());
        let loads = Loads { what: "bits set in a block", of: "blocks", counts, expected };
        for columns in [0, 40, 80, 200] {
            let text = Histogram::with_columns(&loads, columns).unwrap().text();
            assert!(text.lines().count() <= MOST_ROWS + 3, "{text}");
            let rows = text.lines().skip(2);
            assert!(rows.clone().all(|line| line.chars().count() <= columns.max(40)), "{columns}: {text}");
            assert!(text.contains("260-269"), "{text}");
        }
        let few = Loads { counts: vec![15], expected: None, ..loads };
        assert!(Histogram::with_columns(&few, 80).is_none());
    }
}
