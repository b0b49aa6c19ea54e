//! Tables and paragraphs for people to read.

/// Columns as wide as their widest cell; the first to the left, the others to the right.
pub(crate) fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let mut widths = [0; COLUMNS];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            line += &if column == 0 { format!("{cell:<width$}") } else { format!("  {cell:>width$}") };
        }
        text += line.trim_end();
        text += "\n";
    }
    text
}

/// Names and what they are, both to the left.
pub(crate) fn pairs(rows: &[[String; 2]]) -> String {
    let width = rows.iter().map(|[name, _]| name.chars().count()).max().unwrap_or(0);
    rows.iter().map(|[name, value]| format!("{name:<width$}  {value}\n")).collect()
}

/// The widest line of a paragraph.
const LINE: usize = 100;

/// A text in lines that fit a terminal, the last one ended too.
pub(crate) fn paragraph(text: &str) -> String {
    let mut lines = String::new();
    let mut width = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > LINE {
            lines.push('\n');
            width = 0;
        } else if width > 0 {
            lines.push(' ');
            width += 1;
        }
        lines += word;
        width += length;
    }
    lines + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_keep_their_words() {
        let text = "word ".repeat(50);
        let wrapped = paragraph(&text);
        assert!(wrapped.lines().all(|line| line.len() <= LINE));
        assert!(wrapped.lines().next().unwrap().len() > LINE - 6);
        assert!(wrapped.split_whitespace().eq(text.split_whitespace()));
        let long = "x".repeat(LINE + 5);
        assert_eq!(paragraph(&format!("a {long} b")), format!("a\n{long}\nb\n"));
    }
}
