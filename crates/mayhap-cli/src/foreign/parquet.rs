//! The filters of a Parquet file.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use mayhap::ReadOptions;
use mayhap::formats::parquet::{ColumnChunk, LogicalType, ParquetFooter, PhysicalType, TimeUnit};
use mayhap::formats::{ForeignFilter, KeyForm};

use super::loaded::{Keys, Stored};
use super::{Item, Loaded, Selection, not_one};
use crate::failure::Failure;
use crate::keys::cannot_read;

const MAGIC: &[u8; 4] = b"PAR1";

/// Whether it is a file that begins as one of Parquet does. A single filter doesn't.
pub(super) fn is_whole_file(path: &Path) -> Result<bool, Failure> {
    // Of a pipe the first bytes would be gone. What else can't be read is said when it is.
    if !path.is_file() {
        return Ok(false);
    }
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(4).read_to_end(&mut start));
    read.map_err(|error| cannot_read(path, &error))?;
    Ok(start == MAGIC)
}

pub(super) fn items<'a>(path: &'a Path, selection: &Selection) -> Result<Vec<Item<'a>>, Failure> {
    let mut file = fs::File::open(path).map_err(|error| cannot_read(path, &error))?;
    let footer = ParquetFooter::read(&mut file, &ReadOptions::new())
        .map_err(|error| not_one(path, "a Parquet file", &error))?;
    let items: Vec<Item<'a>> = footer
        .columns()
        .iter()
        .filter(|column| column.has_filter())
        .map(|column| item(path, column, selection))
        .collect();
    if items.is_empty() {
        return Err(Failure::Message(format!(
            "{} is a Parquet file without Bloom filters; its writer makes them for the columns it is told to",
            path.display()
        )));
    }
    Ok(items)
}

fn item<'a>(path: &'a Path, column: &ColumnChunk, selection: &Selection) -> Item<'a> {
    let column = column.clone();
    let is_selected = selection.column.as_deref().is_none_or(|wanted| wanted == column.path())
        && selection.row_group.is_none_or(|wanted| wanted == column.row_group());
    let selector = format!("--column {} --row-group {}", column.path(), column.row_group());
    Item::new(selector, is_selected, move || {
        let mut file = fs::File::open(path).map_err(|error| cannot_read(path, &error))?;
        let filter = column
            .read_filter(&mut file, &ReadOptions::new())
            .map_err(|error| not_one(path, "a Parquet file", &error))?;
        match filter {
            Some(filter) => Ok(Loaded {
                filter: ForeignFilter::Parquet(filter),
                keys: keys(&column).stored_as(stored(&column)),
            }),
            None => Err(Failure::Message(format!(
                "column {} has no filter in row group {}",
                column.path(),
                column.row_group()
            ))),
        }
    })
}

/// What the values of a column are, which its schema tells.
///
/// A filter has the hashes of what is stored. Where people write something else, and no [`KeyForm`] makes the one of the
/// other, every answer would be a "no", so that somebody has to say what will be asked.
fn keys(column: &ColumnChunk) -> Keys {
    use LogicalType as Logical;
    use PhysicalType as Physical;
    let Some(physical) = column.physical_type() else { return Keys::unclear(unclear(column)) };
    match (physical, column.logical_type()) {
        (Physical::Int32, Some(Logical::Integer { is_signed: false, .. })) => KeyForm::UInt32.into(),
        (Physical::Int64, Some(Logical::Integer { is_signed: false, .. })) => KeyForm::UInt64.into(),
        (Physical::Int32, None | Some(Logical::Integer { .. } | Logical::Unknown)) => KeyForm::Int32.into(),
        (Physical::Int64, None | Some(Logical::Integer { .. } | Logical::Unknown)) => KeyForm::Int64.into(),
        (Physical::Int32, Some(logical @ (Logical::Date | Logical::Time(_)))) => {
            Keys::meaning(KeyForm::Int32, time(logical))
        }
        (Physical::Int64, Some(logical @ (Logical::Time(_) | Logical::Timestamp(_)))) => {
            Keys::meaning(KeyForm::Int64, time(logical))
        }
        (Physical::Float, None | Some(Logical::Unknown)) => KeyForm::Float32.into(),
        (Physical::Double, None | Some(Logical::Unknown)) => KeyForm::Float64.into(),
        (Physical::ByteArray, Some(Logical::String | Logical::Enum | Logical::Json | Logical::Unknown)) => {
            KeyForm::Text.into()
        }
        // Many writers leave it at that for text.
        (Physical::ByteArray, None) => {
            let meaning = "bytes as they are stored; if people write them in hex, --key-type hex takes that";
            Keys::meaning(KeyForm::Text, meaning.to_owned())
        }
        (Physical::FixedLenByteArray, Some(Logical::Uuid)) => KeyForm::Uuid.into(),
        _ => Keys::unclear(unclear(column)),
    }
}

/// What the file says of the values, and which forms can make such bytes. Hex makes any; whether a number has a sign is for
/// people to know, who write the same bytes either way. Of bytes without a logical type the file doesn't say that they
/// are no UTF-16, nor that sixteen of them are no UUID. Nothing if the type is hidden.
fn stored(column: &ColumnChunk) -> Option<Stored> {
    use KeyForm::{Float32, Float64, Hex, Int32, Int64, Text, UInt32, UInt64, Utf16, Uuid};
    let logical = column.logical_type().filter(|logical| *logical != LogicalType::Unknown);
    let forms = match column.physical_type()? {
        PhysicalType::Int32 => vec![Int32, UInt32, Hex],
        PhysicalType::Int64 => vec![Int64, UInt64, Hex],
        PhysicalType::Float => vec![Float32, Hex],
        PhysicalType::Double => vec![Float64, Hex],
        PhysicalType::FixedLenByteArray if logical == Some(LogicalType::Uuid) => vec![Uuid, Hex, Text],
        PhysicalType::FixedLenByteArray if logical.is_none() && column.fixed_length() == Some(16) => {
            vec![Text, Uuid, Utf16, Hex]
        }
        PhysicalType::FixedLenByteArray if logical.is_none() => vec![Text, Utf16, Hex],
        PhysicalType::ByteArray if logical.is_none() => vec![Text, Utf16, Uuid, Hex],
        _ => vec![Text, Hex],
    };
    Some(Stored { says: format!("the column {} is {}", column.path(), described(column)), forms })
}

/// The type of a column, as the file has it.
fn described(column: &ColumnChunk) -> String {
    let stored = column.physical_type().map_or("a type that is hidden", PhysicalType::name);
    let stored = match fixed_length(column) {
        Some(length) => format!("{stored}({length})"),
        None => stored.to_owned(),
    };
    match column.logical_type() {
        Some(LogicalType::Decimal { precision, scale }) => {
            format!("DECIMAL({precision}, {scale}), stored as {stored}")
        }
        Some(logical) => format!("{}, stored as {stored}", logical.name()),
        None => stored,
    }
}

/// The length that all values have.
fn fixed_length(column: &ColumnChunk) -> Option<u32> {
    column.fixed_length().filter(|_| column.physical_type() == Some(PhysicalType::FixedLenByteArray))
}

/// What the numbers of a column of times count.
fn time(logical: LogicalType) -> String {
    let unit = |unit| match unit {
        TimeUnit::Millis => "milliseconds",
        TimeUnit::Micros => "microseconds",
        TimeUnit::Nanos => "nanoseconds",
    };
    let counted = match logical {
        LogicalType::Time(its) => format!("{} since midnight", unit(its)),
        LogicalType::Timestamp(its) => format!("{} since the beginning of 1970", unit(its)),
        _ => "days since 1970-01-01".to_owned(),
    };
    format!("{counted}, as numbers ({} in the file)", logical.name())
}

/// What a column is whose keys can't be asked for as people write them, and what can be done.
fn unclear(column: &ColumnChunk) -> String {
    let (path, physical, logical) = (column.path(), column.physical_type(), column.logical_type());
    let (fixed, is) = (fixed_length(column), described(column));
    if fixed.is_some() && logical.is_none() {
        let uuid = if fixed == Some(16) { ", --key-type uuid if they are UUIDs" } else { "" };
        return format!(
            "the column {path} is {is}, and the file doesn't say what its bytes are: say --key-type text if they are \
             asked for as they are, --key-type hex if in hex{uuid}"
        );
    }
    let instead = match (physical, logical) {
        (Some(PhysicalType::Int32), Some(LogicalType::Decimal { scale, .. })) => {
            format!("--key-type i32 it is asked by the numbers that are stored, 10^{scale} times as large")
        }
        (Some(PhysicalType::Int64), Some(LogicalType::Decimal { scale, .. })) => {
            format!("--key-type i64 it is asked by the numbers that are stored, 10^{scale} times as large")
        }
        _ => {
            let length = fixed.map(u64::from).or_else(|| physical?.key_bytes().map(|length| length as u64));
            let length = length.map_or_else(String::new, |length| format!("{length} "));
            format!("--key-type hex it is asked by the {length}bytes that are stored, in hex")
        }
    };
    format!(
        "the column {path} is {is}, and what people write for it isn't what its filter was made of: every answer would be \
         no; with {instead}"
    )
}
