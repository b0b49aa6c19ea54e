//! What one step reads: records, and the keys in them.

use std::ops::Range;

use super::line_ends::LineEnds;
use super::options;
use crate::failure::Failure;

/// Whole records. Made once and filled again and again.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// As large as ever needed; what holds anything is `text()`.
    pub(super) bytes: Vec<u8>,
    pub(super) len: usize,
    pub(super) layout: Layout,
    /// What to call the input they come from.
    pub(super) source: String,
    /// The source gave less than was asked for, so the next read may wait: a good moment to show what there is.
    pub(super) is_drained: bool,
    /// The last line had no end in the input, or only a part of one.
    pub(super) lacks_end: bool,
    /// Bytes of the input that were read for it, packed as they may be.
    pub(super) read_bytes: u64,
}

/// Where the keys are in the text.
#[derive(Debug)]
pub(super) enum Layout {
    /// Every line is one, but for the bytes of a mark before the first.
    Lines { terminator: u8, ends: Ends, mark: usize },
    /// They were found already.
    Table(Table),
}

/// What ends the lines of an input, once that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// The terminator and nothing before it.
    Plain,
    /// A carriage return and the terminator, always.
    Crlf,
    /// Either; a carriage return is not part of the key.
    Either,
    /// A carriage return is a byte of the key like any other.
    Keep,
}

/// Records of a table.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The fields, without their quotes.
    pub(super) fields: Vec<u8>,
    pub(super) rows: Vec<Row>,
}

/// A record of a table: where its key and its time stand in the fields, and where it stands itself in the text.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) key: Range<usize>,
    /// Empty, if nobody asked for it.
    pub(super) time: Range<usize>,
    pub(super) record: Range<usize>,
}

impl Default for Layout {
    fn default() -> Self {
        Self::Lines { terminator: b'\n', ends: Ends::Keep, mark: 0 }
    }
}

impl Batch {
    /// Keys handed on together: enough that a loop over them runs well, few enough to stay in the innermost cache.
    pub(crate) const GROUP: usize = 64;

    /// Of these lines, each with its newline.
    #[cfg(test)]
    pub(crate) fn of_lines(text: &[u8]) -> Self {
        Self { bytes: text.to_vec(), len: text.len(), ..Self::default() }
    }

    /// The records, one after the other. Each has its terminator, the last one of the input too, which may not have had
    /// one there: it ends as those before it do.
    pub(crate) fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// What to call the input they come from.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Whether the next read may wait.
    pub(crate) fn is_drained(&self) -> bool {
        self.is_drained
    }

    /// Bytes of the input that were read for it, packed as they may be: what a progress bar advances by.
    pub(crate) fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// Calls `each` with the key of every record, and the record's place in the text.
    ///
    /// # Errors
    /// When a line ends otherwise than those before it, and that isn't allowed; or when `each` fails.
    #[inline]
    pub(crate) fn for_each<'a>(
        &'a self,
        mut each: impl FnMut(&'a [u8], Range<usize>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.in_groups(|keys, places| {
            keys.iter().zip(places).try_for_each(|(key, place)| each(key, place.clone()))
        })
    }

    /// As [`for_each`](Self::for_each), with up to [`GROUP`](Self::GROUP) keys and their places at a time: for those who
    /// hash them, which is faster in a loop that does nothing else.
    #[inline]
    pub(crate) fn in_groups<'a>(
        &'a self,
        mut each: impl FnMut(&[&'a [u8]], &[Range<usize>]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut keys: [&[u8]; Self::GROUP] = [&[]; Self::GROUP];
        let mut places: [Range<usize>; Self::GROUP] = [const { 0..0 }; Self::GROUP];
        let mut count = 0;
        let mut push = |key: &'a [u8], place: Range<usize>| {
            keys[count] = key;
            places[count] = place;
            count += 1;
            if count == Self::GROUP {
                count = 0;
                each(&keys, &places)?;
            }
            Ok::<(), Failure>(())
        };
        match &self.layout {
            Layout::Table(table) => {
                for row in &table.rows {
                    push(&table.fields[row.key.clone()], row.record.clone())?;
                }
            }
            &Layout::Lines { terminator, ends, mark } => {
                let text = self.text();
                let (mut start, mut key_start) = (0, mark);
                let mut line_ends = LineEnds::new(text, terminator);
                while let Some(some) = line_ends.next() {
                    for &end in some {
                        let Some(key) = ends.key_of(&text[key_start..end]) else {
                            return Err(self.mixed(start..end));
                        };
                        push(key, start..end + 1)?;
                        start = end + 1;
                        key_start = start;
                    }
                }
            }
        }
        each(&keys[..count], &places[..count])
    }

    /// As [`for_each`](Self::for_each), with the time beside the key: of tables whose field of it was named.
    pub(crate) fn for_each_timed(
        &self,
        mut each: impl FnMut(&[u8], &[u8], Range<usize>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Layout::Table(table) = &self.layout else { return Ok(()) };
        table.rows.iter().try_for_each(|row| {
            each(&table.fields[row.key.clone()], &table.fields[row.time.clone()], row.record.clone())
        })
    }

    /// The record that names the fields of a table, if the batch begins with one.
    pub(crate) fn header(&self) -> &[u8] {
        match &self.layout {
            Layout::Lines { .. } => &[],
            Layout::Table(table) => {
                let end = table.rows.first().map_or(self.len, |row| row.record.start);
                &self.bytes[..end]
            }
        }
    }

    /// A record without what ends it: of a line that is the key; of a table a line end is no part of any field.
    pub(crate) fn bare(&self, place: Range<usize>) -> &[u8] {
        let is_first = place.start == 0;
        let record = &self.text()[place];
        match &self.layout {
            Layout::Lines { ends, mark, .. } => {
                let record = if is_first { &record[*mark..] } else { record };
                // The terminator is always there, and what is wrong with a line was said when its key was looked for.
                let line = record.split_last().map_or(record, |(_, line)| line);
                ends.key_of(line).unwrap_or(line)
            }
            Layout::Table(_) => {
                let record = record.strip_suffix(b"\n").unwrap_or(record);
                record.strip_suffix(b"\r").unwrap_or(record)
            }
        }
    }

    /// What to say of the line at a place, given without its terminator, that ends otherwise than those before it.
    #[cold]
    fn mixed(&self, place: Range<usize>) -> Failure {
        let is_open = self.lacks_end && place.end + 1 == self.len;
        let line = &self.text()[place];
        let (this, others) = match line.ends_with(b"\r") {
            // The LF after it is ours.
            true if is_open => ("a CR alone", "LF alone"),
            true => ("CR LF", "LF alone"),
            false => ("LF alone", "CR LF"),
        };
        let shown: String = String::from_utf8_lossy(line).trim_end().chars().take(40).collect();
        Failure::Message(format!(
            "{}: the line {shown:?} ends in {this}, those before it in {others}; the same key would be two: use \
             --line-ends strip to ignore the difference, or --line-ends keep if it matters",
            self.source
        ))
    }
}

impl Ends {
    /// The key of a line, given without its terminator; nothing if it ends otherwise than it must.
    #[inline]
    fn key_of(self, line: &[u8]) -> Option<&[u8]> {
        match (self, line.strip_suffix(b"\r")) {
            (Self::Keep, _) | (Self::Plain | Self::Either, None) => Some(line),
            (Self::Crlf | Self::Either, Some(stripped)) => Some(stripped),
            (Self::Plain, Some(_)) | (Self::Crlf, None) => None,
        }
    }
}

impl options::LineEnds {
    /// What the first line of an input, given without its terminator, says of all.
    pub(super) fn after(self, first_line: &[u8], terminator: u8) -> Ends {
        match self {
            _ if terminator != b'\n' => Ends::Keep,
            Self::Keep => Ends::Keep,
            Self::Strip => Ends::Either,
            Self::Same if first_line.ends_with(b"\r") => Ends::Crlf,
            Self::Same => Ends::Plain,
        }
    }
}
