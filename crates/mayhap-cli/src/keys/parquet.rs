//! One column of a Parquet file.
//!
//! Byte arrays are keys as they are, whole numbers as their digits; a null is no key. The record that belongs to a key is
//! the key and a newline, because the rest of the row isn't read.

use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};

use super::batch::{Batch, Layout, Row, Table};
use super::source::cannot_read;
use crate::failure::Failure;

/// Rows that make a batch.
const TOGETHER: usize = 16 << 10;

/// Reads one column, row group by row group.
pub(super) struct ParquetReader {
    path: PathBuf,
    file: SerializedFileReader<File>,
    file_bytes: u64,
    column: usize,
    is_unsigned: bool,
    /// The row group to open next.
    next_group: usize,
    open: Option<ColumnReader>,
    rows_read: u64,
    charged: u64,
    levels: Levels,
}

/// Where nulls and lists are; the values are all that is asked for, but they must be read.
#[derive(Default)]
struct Levels {
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

impl ParquetReader {
    pub(super) fn open(path: &Path, field: Option<&str>) -> Result<Self, Failure> {
        let file = File::open(path).map_err(|error| cannot_read(path, &error))?;
        let file_bytes = file.metadata().map_err(|error| cannot_read(path, &error))?.len();
        let file = SerializedFileReader::new(file).map_err(|error| broken(path, &error))?;
        let schema = file.metadata().file_metadata().schema_descr();
        let column = find(schema, field).map_err(|message| says(path, &message))?;
        let description = schema.column(column);
        check_type(&description).map_err(|message| says(path, &message))?;
        let is_unsigned = is_unsigned(&description);
        Ok(Self {
            path: path.to_path_buf(),
            file,
            file_bytes,
            column,
            is_unsigned,
            next_group: 0,
            open: None,
            rows_read: 0,
            charged: 0,
            levels: Levels::default(),
        })
    }

    /// Reads the next keys; false at the end.
    pub(super) fn next(&mut self, batch: &mut Batch) -> Result<bool, Failure> {
        loop {
            let column = match &mut self.open {
                Some(column) => column,
                None if self.next_group == self.file.num_row_groups() => return Ok(false),
                None => {
                    let group = self.file.get_row_group(self.next_group);
                    let column = group.and_then(|group| group.get_column_reader(self.column));
                    self.next_group += 1;
                    self.open.insert(column.map_err(|error| broken(&self.path, &error))?)
                }
            };
            let mut keys = Keys::new(batch);
            let rows = read(column, self.is_unsigned, &mut self.levels, &mut keys)
                .map_err(|error| broken(&self.path, &error))?;
            keys.finish(batch);
            if rows == 0 {
                self.open = None;
                continue;
            }
            self.rows_read += rows as u64;
            batch.is_drained = false;
            batch.read_bytes = self.charge();
            let source = self.path.display().to_string();
            if batch.source != source {
                batch.source = source;
            }
            return Ok(true);
        }
    }

    /// Bytes of the file that these rows stand for, in the eyes of somebody who watches the progress.
    fn charge(&mut self) -> u64 {
        let all = u64::try_from(self.file.metadata().file_metadata().num_rows()).unwrap_or(0).max(1);
        let share = u128::from(self.file_bytes) * u128::from(self.rows_read.min(all)) / u128::from(all);
        let read = u64::try_from(share).unwrap_or(self.file_bytes);
        let new = read.saturating_sub(self.charged);
        self.charged = read;
        new
    }
}

/// The column with this name, or number from 1.
fn find(schema: &SchemaDescriptor, field: Option<&str>) -> Result<usize, String> {
    let names = || {
        let names: Vec<_> = schema.columns().iter().take(20).map(|column| column.path().string()).collect();
        names.join(", ")
    };
    let Some(field) = field else {
        return Err(format!("which column is the key? say so with --field; there are: {}", names()));
    };
    let by_name = schema.columns().iter().position(|column| column.path().string() == field);
    let by_number =
        || field.parse::<usize>().ok()?.checked_sub(1).filter(|index| *index < schema.num_columns());
    by_name.or_else(by_number).ok_or_else(|| format!("no column is named {field:?}; there are: {}", names()))
}

fn check_type(column: &ColumnDescPtr) -> Result<(), String> {
    match column.physical_type() {
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY | Type::INT32 | Type::INT64 => Ok(()),
        other => Err(format!(
            "the column {} is of type {other}, and keys are byte arrays (strings) or whole numbers",
            column.path().string()
        )),
    }
}

fn is_unsigned(column: &ColumnDescPtr) -> bool {
    matches!(column.logical_type_ref(), Some(LogicalType::Integer(int)) if !int.is_signed)
        || matches!(
            column.converted_type(),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
        )
}

/// Reads some rows. How many; none at the end of the row group.
#[allow(clippy::cast_sign_loss)] // What it is, for unsigned numbers.
fn read(
    column: &mut ColumnReader,
    is_unsigned: bool,
    levels: &mut Levels,
    keys: &mut Keys,
) -> Result<usize, ParquetError> {
    match column {
        ColumnReader::ByteArrayColumnReader(column) => {
            let (rows, values) = values(column, levels)?;
            values.iter().for_each(|value: &ByteArray| keys.push(value.data()));
            Ok(rows)
        }
        ColumnReader::FixedLenByteArrayColumnReader(column) => {
            let (rows, values) = values(column, levels)?;
            values.iter().for_each(|value: &FixedLenByteArray| keys.push(value.data()));
            Ok(rows)
        }
        ColumnReader::Int32ColumnReader(column) => {
            let (rows, values) = values(column, levels)?;
            for value in values {
                if is_unsigned { keys.push_number(value as u32) } else { keys.push_number(value) }
            }
            Ok(rows)
        }
        ColumnReader::Int64ColumnReader(column) => {
            let (rows, values) = values(column, levels)?;
            for value in values {
                if is_unsigned { keys.push_number(value as u64) } else { keys.push_number(value) }
            }
            Ok(rows)
        }
        // Refused when the file was opened.
        _ => Ok(0),
    }
}

fn values<T: DataType>(
    column: &mut ColumnReaderImpl<T>,
    levels: &mut Levels,
) -> Result<(usize, Vec<T::T>), ParquetError> {
    levels.definition.clear();
    levels.repetition.clear();
    let mut values = Vec::with_capacity(TOGETHER);
    let (rows, _, _) = column.read_records(
        TOGETHER,
        Some(&mut levels.definition),
        Some(&mut levels.repetition),
        &mut values,
    )?;
    Ok((rows, values))
}

/// Keys on their way into a batch, in the memory of what it held before.
struct Keys {
    text: Vec<u8>,
    table: Table,
}

impl Keys {
    fn new(batch: &mut Batch) -> Self {
        let mut table = match std::mem::take(&mut batch.layout) {
            Layout::Table(table) => table,
            Layout::Lines { .. } => Table::default(),
        };
        table.rows.clear();
        table.fields.clear();
        let mut text = std::mem::take(&mut batch.bytes);
        text.clear();
        Self { text, table }
    }

    fn push(&mut self, key: &[u8]) {
        let start = self.table.fields.len();
        self.table.fields.extend_from_slice(key);
        self.end(start);
    }

    fn push_number(&mut self, number: impl fmt::Display) {
        let start = self.table.fields.len();
        // Memory takes it.
        let _ = write!(self.table.fields, "{number}");
        self.end(start);
    }

    fn end(&mut self, start: usize) {
        let (key, record) = (start..self.table.fields.len(), self.text.len());
        self.text.extend_from_slice(self.table.fields.get(key.clone()).unwrap_or_default());
        self.text.push(b'\n');
        self.table.rows.push(Row { key, time: 0..0, record: record..self.text.len() });
    }

    fn finish(self, batch: &mut Batch) {
        batch.len = self.text.len();
        batch.bytes = self.text;
        batch.layout = Layout::Table(self.table);
    }
}

fn broken(path: &Path, error: &ParquetError) -> Failure {
    says(path, &format!("this Parquet file can't be read: {error}"))
}

fn says(path: &Path, message: &str) -> Failure {
    Failure::Message(format!("{}: {message}", path.display()))
}

impl fmt::Debug for ParquetReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetReader")
            .field("path", &self.path)
            .field("column", &self.column)
            .finish_non_exhaustive()
    }
}
