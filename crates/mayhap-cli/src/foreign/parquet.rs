//! The filters of a Parquet file.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use mayhap::ReadOptions;
use mayhap::formats::parquet::{ColumnChunk, ParquetFooter, PhysicalType};
use mayhap::formats::{ForeignFile, ForeignFilter, KeyForm};

use super::{Item, Selection, not_one};
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
            Some(filter) => {
                Ok(ForeignFile { filter: ForeignFilter::Parquet(filter), keys: key_form(&column) })
            }
            None => Err(Failure::Message(format!(
                "column {} has no filter in row group {}",
                column.path(),
                column.row_group()
            ))),
        }
    })
}

/// What the values of a column are, which its file tells.
fn key_form(column: &ColumnChunk) -> KeyForm {
    match column.physical_type() {
        Some(PhysicalType::Int32) => KeyForm::Int32,
        Some(PhysicalType::Int64) => KeyForm::Int64,
        Some(PhysicalType::Float) => KeyForm::Float32,
        Some(PhysicalType::Double) => KeyForm::Float64,
        _ => KeyForm::Text,
    }
}
