//! What is printed of the records that were found.

use std::io::{self, Write as _};
use std::ops::Range;

use serde_json::{Value, json};

use super::question::{Question, Questions};
use crate::failure::Failure;
use crate::json_bytes;
use crate::keys::{Batch, Pending};

/// What is to be printed of a batch.
#[derive(Debug)]
pub(super) struct Report {
    form: Form,
    output: Vec<u8>,
    records: u64,
}

/// What to print of each record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Nothing at all.
    Nothing,
    /// Nothing yet: their number at the end.
    Count,
    /// The record.
    Records,
    /// The record after the names of the filters that have it.
    Named,
    /// An object with both.
    Json,
}

impl Report {
    pub(super) fn new(form: Form) -> Self {
        Self { form, output: Vec::new(), records: 0 }
    }

    /// Takes the records that were just asked about, and of these what is wanted.
    pub(super) fn take(
        &mut self,
        batch: &Batch,
        pending: &mut Pending,
        questions: &Questions<'_>,
    ) -> Result<(), Failure> {
        let is_wanted = questions.is_wanted();
        if self.form == Form::Records {
            self.records += pending.write(batch.text(), is_wanted, &mut self.output)?.records;
            return Ok(());
        }
        self.records += is_wanted.iter().map(|wanted| u64::from(*wanted)).sum::<u64>();
        if matches!(self.form, Form::Named | Form::Json) {
            for (number, place) in pending.places().iter().enumerate() {
                if is_wanted.get(number) == Some(&true) {
                    self.write_named(batch, place.clone(), &questions.names(number).collect::<Vec<_>>())?;
                }
            }
        }
        pending.clear();
        Ok(())
    }

    fn write_named(&mut self, batch: &Batch, place: Range<usize>, names: &[&str]) -> Result<(), Failure> {
        let written = if self.form == Form::Json {
            let (name, record) = json_bytes::field("record", batch.bare(place));
            writeln!(self.output, "{}", json!({ (name): record, "found_in": names }))
        } else {
            write!(self.output, "{}\t", names.join(","))
                .and_then(|()| self.output.write_all(&batch.text()[place]))
        };
        written.map_err(|error| Failure::from_output(&error))
    }

    /// Prints it, after a header if there is one and something follows it, and begins anew: the header is empty then.
    /// How many records it was.
    pub(super) fn print(&mut self, header: Option<&mut Vec<u8>>) -> Result<u64, Failure> {
        if !self.output.is_empty() {
            let header = header.map(std::mem::take).unwrap_or_default();
            let mut stdout = io::stdout().lock();
            stdout
                .write_all(&header)
                .and_then(|()| stdout.write_all(&self.output))
                .and_then(|()| stdout.flush())
                .map_err(|error| Failure::from_output(&error))?;
            self.output.clear();
        }
        Ok(std::mem::take(&mut self.records))
    }
}

/// How many records there were, in all or of each filter.
pub(super) fn count(questions: &Questions<'_>, found: u64, for_each: bool, as_json: bool) -> String {
    if as_json {
        let object =
            |question: &Question<'_>| json!({ "file": question.name(), "found": question.matching() });
        let filters: Vec<Value> = questions.each().iter().map(object).collect();
        format!("{}\n", json!({ "lines": questions.asked(), "matching": found, "filters": filters }))
    } else if for_each {
        let line = |question: &Question<'_>| format!("{}\t{}\n", question.matching(), question.name());
        questions.each().iter().map(line).collect()
    } else {
        format!("{found}\n")
    }
}
