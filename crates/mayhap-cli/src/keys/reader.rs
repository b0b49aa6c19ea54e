//! All inputs in order, batch by batch.

use std::sync::{Mutex, PoisonError};
use std::thread;

use super::batch::{Batch, Ends, Layout, Table};
use super::lines::{LineError, Pieces, last_line_end};
use super::options::{Form, KeyOptions, LineEnds};
use super::parquet::ParquetReader;
use super::source::{Inputs, Opened, Source};
use super::table::TableReader;
use crate::failure::Failure;
use crate::numbers::format_size;

/// What some editors write before a text in UTF-8. Of lines it is no part of the first; of a table the parser leaves it out.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads the keys of all inputs.
#[derive(Debug)]
pub(crate) struct KeyReader<'a> {
    sources: std::slice::Iter<'a, Source>,
    options: &'a KeyOptions,
    current: Option<Current<'a>>,
}

/// The input that is being read.
#[derive(Debug)]
struct Current<'a> {
    source: &'a Source,
    opened: Opened,
    /// Bytes of the file that earlier batches were charged with.
    charged: u64,
    pieces: Pieces,
    records: Records,
}

#[derive(Debug)]
enum Records {
    /// Lines; how they end is known once the first has been read.
    Lines {
        terminator: u8,
        ends: Option<Ends>,
    },
    Table(Box<TableReader>),
    Parquet(Box<ParquetReader>),
}

impl<'a> KeyReader<'a> {
    /// Of these inputs. What can be seen to be wrong is said before anything is read.
    pub(crate) fn new(inputs: &'a Inputs, options: &'a KeyOptions) -> Result<Self, Failure> {
        for source in inputs.sources() {
            records(source, options)?;
        }
        Ok(Self { sources: inputs.sources().iter(), options, current: None })
    }

    /// Reads the next records; false at the end of the last input.
    pub(crate) fn next(&mut self, batch: &mut Batch) -> Result<bool, Failure> {
        loop {
            let current = match &mut self.current {
                Some(current) => current,
                None => match self.sources.next() {
                    Some(source) => self.current.insert(Current::open(source, self.options)?),
                    None => return Ok(false),
                },
            };
            if current.next(batch, self.options)? {
                return Ok(true);
            }
            self.current = None;
        }
    }

    /// Gives every batch to one of several threads, in no certain order: `work` makes what a thread runs, which gets each
    /// batch it has. Returns what the threads return. The first failure of any ends all.
    pub(crate) fn share<T: Send>(
        self,
        threads: usize,
        work: impl Fn(&mut dyn FnMut(&mut Batch) -> Result<bool, Failure>) -> Result<T, Failure> + Sync,
    ) -> Result<Vec<T>, Failure> {
        // Reading is done by whoever has nothing to do, one at a time; the kernel's copying is a small part of the work.
        let reader = Mutex::new((self, false));
        let run = || {
            let mut next = |batch: &mut Batch| {
                let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
                if reader.1 {
                    return Ok(false);
                }
                reader.0.next(batch)
            };
            let outcome = work(&mut next);
            if outcome.is_err() {
                reader.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
            }
            outcome
        };
        on_threads(threads, run)
    }
}

/// Runs the same on several threads, this one among them, and returns what each of them returns.
pub(super) fn on_threads<T: Send>(
    threads: usize,
    run: impl Fn() -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(&run)).collect();
        let mut outcomes = vec![run()];
        for other in others {
            outcomes.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        outcomes.into_iter().collect()
    })
}

fn records(source: &Source, options: &KeyOptions) -> Result<Records, Failure> {
    if let Some(path) = source.parquet() {
        if options.time.is_some() {
            return Err(Failure::Message(format!(
                "--time is for tables in text, and {} is a Parquet file, of which one column is read; leave it out, or \
                 write the two columns as CSV first",
                path.display()
            )));
        }
        return Ok(Records::Parquet(Box::new(ParquetReader::open(path, options)?)));
    }
    let form = options.form(&source.name()).map_err(|failure| match failure {
        // What comes through a pipe isn't looked at before it is read.
        Failure::Message(message) if options.field.is_some() && source.is_stream() => Failure::Message(
            format!("{message}; a Parquet file can't come through a pipe, and must be named"),
        ),
        failure => failure,
    });
    Ok(match form? {
        Form::Lines(terminator) => Records::Lines { terminator, ends: None },
        Form::Table { delimiter, has_quotes } => {
            let field = options.field.as_deref().unwrap_or("1");
            let table = TableReader::new(delimiter, has_quotes, field, options.header);
            let table = match &options.time {
                Some(time) => table.and_then(|table| table.with_time(time)),
                None => table,
            };
            Records::Table(Box::new(table.map_err(Failure::Message)?))
        }
    })
}

impl<'a> Current<'a> {
    fn open(source: &'a Source, options: &KeyOptions) -> Result<Self, Failure> {
        let pieces = Pieces::new(options.max_line);
        Ok(Self { source, opened: source.open()?, charged: 0, pieces, records: records(source, options)? })
    }

    fn next(&mut self, batch: &mut Batch, options: &KeyOptions) -> Result<bool, Failure> {
        let (source, bytes) = (&mut self.opened.reader, &mut batch.bytes);
        let piece = match &mut self.records {
            Records::Lines { terminator, ends } => {
                let terminator = *terminator;
                let cut = |text: &[u8], new, _| Ok(last_line_end(text, new, terminator));
                // The first line has been read before the last, unless it is the only one.
                let end = if *ends == Some(Ends::Crlf) { &b"\r\n"[..] } else { &[terminator] };
                let piece = self.pieces.next(source, bytes, end, cut);
                if let Ok(Some(piece)) = &piece {
                    let first_line = || {
                        let end = memchr::memchr(terminator, &bytes[..piece.len]).unwrap_or(piece.len);
                        options.line_ends.unwrap_or(LineEnds::Same).after(&bytes[..end], terminator)
                    };
                    let is_marked =
                        ends.is_none() && terminator == b'\n' && bytes.starts_with(BYTE_ORDER_MARK);
                    let mark = if is_marked { BYTE_ORDER_MARK.len() } else { 0 };
                    let ends = *ends.get_or_insert_with(first_line);
                    batch.layout = Layout::Lines { terminator, ends, mark };
                }
                piece
            }
            Records::Table(reader) => {
                let mut table = match std::mem::take(&mut batch.layout) {
                    Layout::Table(table) => table,
                    Layout::Lines { .. } => Table::default(),
                };
                reader.begin(&mut table);
                let cut = |text: &[u8], _, ended| reader.read(text, ended, &mut table);
                let piece = self.pieces.next(source, bytes, b"\n", cut);
                batch.layout = Layout::Table(table);
                piece
            }
            Records::Parquet(reader) => return reader.next(batch),
        };
        let Some(piece) = piece.map_err(|error| explain(&error, self.source, options.max_line))? else {
            return Ok(false);
        };
        batch.len = piece.len;
        batch.is_drained = piece.is_drained;
        batch.lacks_end = piece.lacks_end;
        let read = self.opened.bytes();
        batch.read_bytes = read - self.charged;
        self.charged = read;
        if batch.source != self.source.name() {
            batch.source = self.source.name();
        }
        Ok(true)
    }
}

fn explain(error: &LineError, source: &Source, max_line: u64) -> Failure {
    let name = source.name();
    Failure::Message(match error {
        LineError::Read(error) => return source.cannot_read(error),
        LineError::TooLong(beginning) => format!(
            "{name}: the line that begins with {beginning:?} is longer than {}; allow more with --max-line, or use -z \
             if the lines end in NUL",
            format_size(max_line)
        ),
        LineError::OutOfMemory => format!("a line of {name} is too long for this machine's memory"),
        LineError::Field(message) => format!("{name}: {message}"),
    })
}
