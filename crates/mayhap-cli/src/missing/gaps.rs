//! Writing what is missing: by number, by run, as JSON.

use std::io::{self, Write};

use serde_json::json;

use super::seen::Seen;

/// What is missing, up to a limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gaps<'a> {
    pub(super) seen: &'a Seen,
    /// The most numbers, or runs, to write.
    pub(super) limit: u64,
}

impl Gaps<'_> {
    /// A number on each line.
    pub(super) fn write_numbers(self, output: &mut impl Write) -> io::Result<()> {
        let range = self.seen.range();
        let mut left = self.limit;
        for place in self.seen.bitmap().missing(..range.len()) {
            if left == 0 {
                break;
            }
            left -= 1;
            writeln!(output, "{}", range.first() + place)?;
        }
        Ok(())
    }

    /// A run of neighbours on each line: `17..=23`, or `17` for one that stands alone.
    pub(super) fn write_runs(self, output: &mut impl Write) -> io::Result<()> {
        self.for_each_run(|first, last| {
            if first == last { writeln!(output, "{first}") } else { writeln!(output, "{first}..={last}") }
        })
    }

    /// The same as JSON.
    pub(super) fn write_json(self, output: &mut impl Write) -> io::Result<()> {
        self.for_each_run(|first, last| writeln!(output, "{}", json!({"first": first, "last": last})))
    }

    /// Goes through the runs, up to the limit.
    fn for_each_run(self, mut each: impl FnMut(u64, u64) -> io::Result<()>) -> io::Result<()> {
        let (range, bitmap) = (self.seen.range(), self.seen.bitmap());
        let mut left = self.limit;
        let mut write = |first: u64, last: u64| {
            if left == 0 {
                return Ok(false);
            }
            left -= 1;
            each(range.first() + first, range.first() + last).map(|()| true)
        };
        if bitmap.len() < self.seen.missing() {
            // Between the few that are there; a gap of a million million numbers is one step.
            let mut next = 0;
            for present in bitmap.iter() {
                if present > next && !write(next, present - 1)? {
                    return Ok(());
                }
                next = present + 1;
            }
            if next < range.len() {
                write(next, range.len() - 1)?;
            }
            return Ok(());
        }
        let mut run: Option<(u64, u64)> = None;
        for place in bitmap.missing(..range.len()) {
            run = match run {
                Some((first, last)) if place == last + 1 => Some((first, place)),
                Some((first, last)) => {
                    if !write(first, last)? {
                        return Ok(());
                    }
                    Some((place, place))
                }
                None => Some((place, place)),
            };
        }
        if let Some((first, last)) = run {
            write(first, last)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Batch;
    use crate::missing::range::parse_range;

    fn runs(range: &str, lines: &[u8], limit: u64) -> String {
        let mut seen = Seen::new(parse_range(range).unwrap(), None, 1 << 30, false).unwrap();
        seen.read(&Batch::of_lines(lines)).unwrap();
        let mut output = Vec::new();
        Gaps { seen: &seen, limit }.write_runs(&mut output).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn runs_are_the_same_from_what_is_there_and_from_what_is_not() {
        // Most missing, and most present.
        assert_eq!(runs("10..20", b"12\n15\n", 9), "10..=11\n13..=14\n16..=19\n");
        assert_eq!(runs("10..20", b"10\n12\n13\n14\n15\n18\n19\n", 9), "11\n16..=17\n");
        assert_eq!(runs("10..20", b"", 9), "10..=19\n");
        assert_eq!(runs("0..2", b"0\n1\n", 9), "");
        assert_eq!(runs("10..20", b"12\n15\n", 2), "10..=11\n13..=14\n");
        assert_eq!(runs("10..20", b"10\n12\n13\n14\n15\n18\n19\n", 1), "11\n");
        assert_eq!(runs("10..20", b"10\n19\n", 0), "");
    }

    #[test]
    fn a_huge_gap_is_one_step() {
        let end = u64::MAX - 1;
        assert_eq!(runs("1..18446744073709551615", b"5\n", 9), format!("1..=4\n6..={end}\n"));
    }
}
