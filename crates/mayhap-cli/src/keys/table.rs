//! One field of each record of a table.
//!
//! Quotes, doubled quotes and line ends within quotes are read by `csv-core`. The bytes of each record are kept beside
//! its key, so that a command can print records as they came.

use std::ops::Range;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::batch::{Row, Table};
use super::lines::LineError;
use crate::numbers::counted;

/// Finds the records of one input, and in each its key.
#[derive(Debug)]
pub(super) struct TableReader {
    parser: Reader,
    field: Field,
    time: Option<Field>,
    /// The first record names the fields, and is still to come.
    awaits_header: bool,
    /// Records that were read, the header included: what messages count by.
    records: u64,
    /// How far the piece at hand has been read.
    place: Place,
    ends: Vec<usize>,
}

/// Which field is the key.
#[derive(Debug)]
enum Field {
    /// By its place, from 0.
    At(usize),
    /// By its name, until the header has been seen.
    Named(String),
}

impl Field {
    fn parse(field: &str) -> Result<Self, String> {
        match field.parse::<usize>() {
            Ok(0) => Err("fields are counted from 1: --field 1 is the first".to_owned()),
            Ok(number) => Ok(Self::At(number - 1)),
            Err(_) => Ok(Self::Named(field.to_owned())),
        }
    }

    /// Where it stands in a record, whose fields begin at `begin` and end at `ends` after it.
    fn place(&self, begin: usize, ends: &[usize], record: u64) -> Result<Range<usize>, LineError> {
        let index = if let Self::At(index) = self { *index } else { 0 };
        let Some(&end) = ends.get(index) else {
            return Err(LineError::Field(format!(
                "record {record} has {}, and no field {}; is the delimiter right?",
                counted(ends.len() as u64, "field"),
                index + 1
            )));
        };
        let start = index.checked_sub(1).map_or(0, |before| ends[before]);
        Ok(begin + start..begin + end)
    }
}

/// Within a piece.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Bytes that were read.
    text: usize,
    /// Where the record at hand begins.
    record: usize,
    /// Where its fields begin in the fields of the piece.
    record_fields: usize,
    /// Bytes of fields that were written.
    fields: usize,
    /// Fields of the record that are complete.
    ends: usize,
}

impl TableReader {
    /// For a field given by its number (from 1) or its name.
    pub(super) fn new(
        delimiter: u8,
        has_quotes: bool,
        field: &str,
        has_header: bool,
    ) -> Result<Self, String> {
        let field = Field::parse(field)?;
        let parser = ReaderBuilder::new().delimiter(delimiter).quoting(has_quotes).build();
        let awaits_header = has_header || matches!(field, Field::Named(_));
        let (place, ends) = (Place::default(), vec![0; 32]);
        Ok(Self { parser, field, time: None, awaits_header, records: 0, place, ends })
    }

    /// Reads another field beside the key.
    pub(super) fn with_time(mut self, field: &str) -> Result<Self, String> {
        let field = Field::parse(field)?;
        self.awaits_header |= matches!(field, Field::Named(_));
        self.time = Some(field);
        Ok(self)
    }

    /// Begins a piece, which starts with a record.
    pub(super) fn begin(&mut self, table: &mut Table) {
        table.rows.clear();
        self.place = Place::default();
        self.parser.reset();
    }

    /// Reads what is new of the piece. The length of its whole records, if there is one.
    pub(super) fn read(
        &mut self,
        text: &[u8],
        ended: bool,
        table: &mut Table,
    ) -> Result<Option<usize>, LineError> {
        // A carriage return at the end may be half of a line end, whose other half belongs to the same record.
        let text = if ended { text } else { text.strip_suffix(b"\r").unwrap_or(text) };
        loop {
            if table.fields.len() < self.place.fields + 16 {
                let additional = table.fields.len().max(1 << 16);
                table.fields.try_reserve(additional).map_err(|_| LineError::OutOfMemory)?;
                table.fields.resize(table.fields.len() + additional, 0);
            }
            let input = &text[self.place.text..];
            let is_end = input.is_empty() && ended;
            if input.is_empty() && !ended {
                break;
            }
            if is_end && self.is_within_quotes(text) {
                return Err(LineError::Field(format!(
                    "record {} has a quoted field that doesn't end; a quote is missing, or one too many",
                    self.records + 1
                )));
            }
            let (result, read, written, ends) = self.parser.read_record(
                input,
                &mut table.fields[self.place.fields..],
                &mut self.ends[self.place.ends..],
            );
            self.place.text += read;
            self.place.fields += written;
            self.place.ends += ends;
            match result {
                ReadRecordResult::Record => self.finish_record(text, table)?,
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::OutputFull => {}
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::End => break,
            }
            if is_end {
                break;
            }
        }
        Ok((self.place.record > 0).then_some(self.place.record))
    }

    /// Whether a quoted field has begun and not ended: then it has taken in all that follows, and other keys with it.
    fn is_within_quotes(&self, text: &[u8]) -> bool {
        // A line end ends every record, but not within quotes.
        text.ends_with(b"\n") && text[self.place.record..].contains(&b'"')
    }

    fn finish_record(&mut self, text: &[u8], table: &mut Table) -> Result<(), LineError> {
        // The second half of a line end belongs to the record it ends.
        if text.get(self.place.text.wrapping_sub(1)) == Some(&b'\r')
            && text.get(self.place.text) == Some(&b'\n')
        {
            self.place.text += 1;
        }
        self.records += 1;
        let begin = self.place.record_fields;
        let ends = &self.ends[..self.place.ends];
        if self.awaits_header {
            self.awaits_header = false;
            let header = &table.fields[begin..self.place.fields];
            self.field = Field::At(find(&self.field, header, ends)?);
            if let Some(time) = &mut self.time {
                *time = Field::At(find(time, header, ends)?);
            }
        } else {
            let key = self.field.place(begin, ends, self.records)?;
            let time = match &self.time {
                Some(time) => time.place(begin, ends, self.records)?,
                None => 0..0,
            };
            table.rows.push(Row { key, time, record: self.place.record..self.place.text });
        }
        let end = self.place.text;
        self.place = Place { record: end, record_fields: self.place.fields, ends: 0, ..self.place };
        Ok(())
    }
}

/// The place of a field in a header.
fn find(field: &Field, header: &[u8], ends: &[usize]) -> Result<usize, LineError> {
    let wanted = match field {
        Field::At(index) => return Ok(*index),
        Field::Named(name) => name,
    };
    let mut start = 0;
    let names: Vec<&[u8]> = ends
        .iter()
        .map(|&end| {
            let name = &header[start..end];
            start = end;
            name
        })
        .collect();
    let mut matching = names.iter().enumerate().filter(|(_, name)| **name == wanted.as_bytes());
    match (matching.next(), matching.next()) {
        (Some((index, _)), None) => Ok(index),
        (Some(_), Some(_)) => Err(LineError::Field(format!(
            "several fields are named {wanted:?}; give the number of the one you mean"
        ))),
        (None, _) => {
            let names: Vec<_> = names.iter().take(20).map(|name| String::from_utf8_lossy(name)).collect();
            Err(LineError::Field(format!("no field is named {wanted:?}; there are: {}", names.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};

    use super::super::lines::Pieces;
    use super::*;

    /// Gives `step` bytes at a time.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let step = self.1.min(room.len());
            self.0.read(&mut room[..step])
        }
    }

    /// The key and the bytes of every record, however the input comes.
    fn read_all(
        text: &[u8],
        field: &str,
        has_header: bool,
        step: usize,
    ) -> Result<Vec<(String, String)>, String> {
        let mut reader = TableReader::new(b',', true, field, has_header)?;
        let (mut pieces, mut source) = (Pieces::new(1_000), Trickle(text, step));
        let (mut bytes, mut table, mut found) = (Vec::new(), Table::default(), Vec::new());
        loop {
            reader.begin(&mut table);
            let cut = |text: &[u8], _, ended| reader.read(text, ended, &mut table);
            match pieces.next(&mut source, &mut bytes, b"\n", cut) {
                Ok(Some(_)) => found.extend(table.rows.iter().map(|row| {
                    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                    (text(&table.fields[row.key.clone()]), text(&bytes[row.record.clone()]))
                })),
                Ok(None) => return Ok(found),
                Err(LineError::Field(message)) => return Err(message),
                Err(other) => return Err(format!("{other:?}")),
            }
        }
    }

    fn keys(text: &str, field: &str, has_header: bool) -> Result<Vec<String>, String> {
        Ok(read_all(text.as_bytes(), field, has_header, 7)?.into_iter().map(|(key, _)| key).collect())
    }

    #[test]
    fn fields_are_found_by_number_and_by_name() {
        let text = "id,name\n1,ann\n2,\"bob, the \"\"builder\"\"\"\n3,\"two\nlines\"\n";
        assert_eq!(keys(text, "1", false).unwrap(), ["id", "1", "2", "3"]);
        assert_eq!(keys(text, "1", true).unwrap(), ["1", "2", "3"]);
        assert_eq!(keys(text, "name", false).unwrap(), ["ann", "bob, the \"builder\"", "two\nlines"]);
        assert_eq!(keys("\u{feff}id,name\r\n1,a\r\n2,b", "name", false).unwrap(), ["a", "b"]);
    }

    #[test]
    fn what_is_not_there_is_named() {
        assert!(keys("a,b\n1,2\n", "c", false).unwrap_err().contains("there are: a, b"));
        assert!(keys("a,a\n1,2\n", "a", false).unwrap_err().contains("several fields"));
        assert!(keys("1,2\n3\n", "2", false).unwrap_err().contains("record 2 has 1 field, and no field 2"));
        assert!(keys("1,2\n", "0", false).unwrap_err().contains("counted from 1"));
    }

    /// It would be one key with all the others in it, which nobody would ever find.
    #[test]
    fn a_quote_that_does_not_end_is_refused() {
        for text in ["1,a\n2,\"b\n3,c\n", "1,a\n2,\"b", "1,a\n2,\"", "1,a\n2,\"b\"\"", "1,a\n2,\"b\n\n"] {
            let error = keys(text, "1", false).expect_err(text);
            assert!(error.contains("record 2 has a quoted field that doesn't end"), "{text:?}: {error}");
        }
        for text in ["", "\n", "1,a", "1,\"a\"", "1,\"a\"\"\"", "1,a\"", "1,a\n\n\r\n", "1,\"\"", "\u{feff}"]
        {
            assert!(keys(text, "1", false).is_ok(), "{text:?}");
        }
        // Without quotes there is nothing to end.
        let mut reader = TableReader::new(b'\t', false, "1", false).unwrap();
        assert_eq!(reader.read(b"\"a\tb\n", true, &mut Table::default()).unwrap(), Some(5));
    }

    #[test]
    fn records_keep_their_bytes() {
        let text = "x,1\r\n\"y\",2\r\n\r\nz,\"3\n3\"\n";
        let records: Vec<String> =
            read_all(text.as_bytes(), "1", false, 3).unwrap().into_iter().map(|(_, record)| record).collect();
        assert_eq!(records, ["x,1\r\n", "\"y\",2\r\n", "\r\nz,\"3\n3\"\n"]);
    }

    #[test]
    fn how_the_bytes_come_makes_no_difference() {
        let mut state = 7u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let letters = [b'a', b'b', b',', b'\n', b'"', b'\r', b','];
        for _ in 0..3_000 {
            let length = random(40);
            let text: Vec<u8> = (0..length).map(|_| letters[usize::try_from(random(7)).unwrap()]).collect();
            let whole = read_all(&text, "1", false, 1_000);
            for step in [1, 2, 3, 5] {
                let trickled = read_all(&text, "1", false, step);
                assert_eq!(trickled, whole, "{:?} by {step}", String::from_utf8_lossy(&text));
            }
            // Of quotes there are one too few in some.
            let Ok(whole) = whole else { continue };
            let records: String = whole.iter().map(|(_, record)| record.as_str()).collect();
            let text = String::from_utf8_lossy(&text).into_owned();
            let end = text.trim_end_matches(['\r', '\n']);
            assert!(records.starts_with(end), "{text:?}: {records:?}");
        }
    }
}
