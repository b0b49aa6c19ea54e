//! One column of a Parquet file.
//!
//! Byte arrays are keys as they are, whole numbers as their digits, UUIDs and decimals as people write them; a null is no
//! key. The record that belongs to a key is the key and what ends a line, because the rest of the row isn't read.

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
use super::options::KeyOptions;
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
    form: Form,
    terminator: u8,
    /// The row group to open next.
    next_group: usize,
    open: Option<ColumnReader>,
    rows_read: u64,
    charged: u64,
    levels: Levels,
}

/// How a value becomes the key that people write for it.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// Bytes, or a number with its sign.
    Plain,
    Unsigned,
    Uuid,
    /// With so many digits after the point.
    Decimal(usize),
}

/// Where nulls and lists are; the values are all that is asked for, but they must be read.
#[derive(Default)]
struct Levels {
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

impl ParquetReader {
    pub(super) fn open(path: &Path, options: &KeyOptions) -> Result<Self, Failure> {
        let file = File::open(path).map_err(|error| cannot_read(path, &error))?;
        let file_bytes = file.metadata().map_err(|error| cannot_read(path, &error))?.len();
        let file = SerializedFileReader::new(file).map_err(|error| broken(path, &error))?;
        let schema = file.metadata().file_metadata().schema_descr();
        let column = find(schema, options.field.as_deref()).map_err(|message| says(path, &message))?;
        let form = form(&schema.column(column)).map_err(|message| says(path, &message))?;
        Ok(Self {
            path: path.to_path_buf(),
            file,
            file_bytes,
            column,
            form,
            terminator: options.terminator(),
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
            let mut keys = Keys::new(batch, self.terminator);
            let rows = read(column, self.form, &mut self.levels, &mut keys)
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

/// How the values of a column are written.
fn form(column: &ColumnDescPtr) -> Result<Form, String> {
    let (logical, converted) = (column.logical_type_ref(), column.converted_type());
    let refused = |name: &dyn fmt::Display| {
        Err(format!(
            "the column {} is of type {name}, and keys are byte arrays (strings), whole numbers, decimals or UUIDs",
            column.path().string()
        ))
    };
    let is_decimal = matches!(logical, Some(LogicalType::Decimal(_))) || converted == ConvertedType::DECIMAL;
    match (column.physical_type(), logical) {
        (Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY | Type::INT32 | Type::INT64, _) if is_decimal => {
            match usize::try_from(column.type_scale()) {
                // More than this doesn't fit into 16 bytes.
                Ok(scale) if column.type_precision() <= 38 && scale <= 38 && column.type_length() <= 16 => {
                    Ok(Form::Decimal(scale))
                }
                _ => refused(&format_args!("DECIMAL({}, {})", column.type_precision(), column.type_scale())),
            }
        }
        (Type::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid)) if column.type_length() == 16 => Ok(Form::Uuid),
        (Type::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16)) => refused(&"FLOAT16"),
        (Type::FIXED_LEN_BYTE_ARRAY, _) if converted == ConvertedType::INTERVAL => refused(&"INTERVAL"),
        (Type::INT32 | Type::INT64, _) if is_unsigned(column) => Ok(Form::Unsigned),
        (Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY | Type::INT32 | Type::INT64, _) => Ok(Form::Plain),
        (other, _) => refused(&other),
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
    form: Form,
    levels: &mut Levels,
    keys: &mut Keys,
) -> Result<usize, ParquetError> {
    match column {
        ColumnReader::ByteArrayColumnReader(column) => {
            let (rows, values) = values(column, levels)?;
            values.iter().try_for_each(|value: &ByteArray| keys.push_bytes(value.data(), form))?;
            Ok(rows)
        }
        ColumnReader::FixedLenByteArrayColumnReader(column) => {
            let (rows, values) = values(column, levels)?;
            values.iter().try_for_each(|value: &FixedLenByteArray| keys.push_bytes(value.data(), form))?;
            Ok(rows)
        }
        ColumnReader::Int32ColumnReader(column) => {
            let (rows, values) = values(column, levels)?;
            for value in values {
                match form {
                    Form::Unsigned => keys.push(value as u32),
                    Form::Decimal(scale) => keys.push(Decimal { unscaled: value.into(), scale }),
                    _ => keys.push(value),
                }
            }
            Ok(rows)
        }
        ColumnReader::Int64ColumnReader(column) => {
            let (rows, values) = values(column, levels)?;
            for value in values {
                match form {
                    Form::Unsigned => keys.push(value as u64),
                    Form::Decimal(scale) => keys.push(Decimal { unscaled: value.into(), scale }),
                    _ => keys.push(value),
                }
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
    /// What ends a record.
    terminator: u8,
}

impl Keys {
    fn new(batch: &mut Batch, terminator: u8) -> Self {
        let mut table = match std::mem::take(&mut batch.layout) {
            Layout::Table(table) => table,
            Layout::Lines { .. } => Table::default(),
        };
        table.rows.clear();
        table.fields.clear();
        let mut text = std::mem::take(&mut batch.bytes);
        text.clear();
        Self { text, table, terminator }
    }

    fn push_bytes(&mut self, value: &[u8], form: Form) -> Result<(), ParquetError> {
        match form {
            Form::Decimal(scale) => self.push(Decimal { unscaled: big_endian(value)?, scale }),
            Form::Uuid => self.push(Uuid(value)),
            Form::Plain | Form::Unsigned => {
                let start = self.table.fields.len();
                self.table.fields.extend_from_slice(value);
                self.end(start);
            }
        }
        Ok(())
    }

    fn push(&mut self, value: impl fmt::Display) {
        let start = self.table.fields.len();
        // Memory takes it.
        let _ = write!(self.table.fields, "{value}");
        self.end(start);
    }

    fn end(&mut self, start: usize) {
        let (key, record) = (start..self.table.fields.len(), self.text.len());
        self.text.extend_from_slice(self.table.fields.get(key.clone()).unwrap_or_default());
        self.text.push(self.terminator);
        self.table.rows.push(Row { key, time: 0..0, record: record..self.text.len() });
    }

    fn finish(self, batch: &mut Batch) {
        batch.len = self.text.len();
        batch.bytes = self.text;
        batch.layout = Layout::Table(self.table);
    }
}

/// A signed number in as many bytes as it came with.
fn big_endian(value: &[u8]) -> Result<i128, ParquetError> {
    let sign = if value.first().is_some_and(|first| *first >= 0x80) { 0xff } else { 0 };
    let mut bytes = [sign; 16];
    let room = bytes.len().checked_sub(value.len()).and_then(|start| bytes.get_mut(start..));
    let room = room
        .ok_or_else(|| ParquetError::General(format!("a decimal has {} bytes, more than 16", value.len())))?;
    room.copy_from_slice(value);
    Ok(i128::from_be_bytes(bytes))
}

/// A decimal with all its digits after the point, also those that are 0.
struct Decimal {
    unscaled: i128,
    scale: usize,
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.unscaled < 0 { "-" } else { "" };
        let digits = format!("{:01$}", self.unscaled.unsigned_abs(), self.scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - self.scale);
        let point = if self.scale == 0 { "" } else { "." };
        write!(f, "{sign}{whole}{point}{fraction}")
    }
}

/// A UUID in the form with hyphens.
struct Uuid<'a>(&'a [u8]);

impl fmt::Display for Uuid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            let hyphen = if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(f, "{hyphen}{byte:02x}")?;
        }
        Ok(())
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
