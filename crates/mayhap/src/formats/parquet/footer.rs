//! The way from the end of a file to its filters.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::column::{ColumnChunk, PhysicalType, Place};
use super::compact::{Compact, Kind};
use super::logical::{Leaf, schema_element};
use crate::codec::FormatError;

/// What the footer of a Parquet file says about columns and their filters.
///
/// [The module's page](super) has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParquetFooter {
    columns: Vec<ColumnChunk>,
    row_groups: u32,
}

/// Bytes after the metadata: its length, and the magic number.
pub(super) const TAIL: usize = 8;

impl ParquetFooter {
    /// Finds the columns in the bytes of a whole file, mapped or in memory.
    ///
    /// ```
    /// # fn look(file: &[u8]) -> Result<(), mayhap::codec::FormatError> {
    /// use mayhap::formats::parquet::ParquetFooter;
    ///
    /// for chunk in ParquetFooter::from_file(file)?.columns() {
    ///     if let Some(filter) = chunk.view_filter(file)? {
    ///         println!("{} in row group {}: {} bytes", chunk.path(), chunk.row_group(), filter.len_bytes());
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When it isn't a Parquet file, its footer is encrypted, damaged, or nests too deep, or the memory can't be had.
    pub fn from_file(file: &[u8]) -> Result<Self, FormatError> {
        let got = file.len() as u64;
        let tail = file.last_chunk().ok_or(FormatError::Truncated { needed: TAIL as u64, got })?;
        let place = place(*tail, got)?;
        let metadata = usize::try_from(place.start)
            .ok()
            .zip(usize::try_from(place.end).ok())
            .and_then(|(start, end)| file.get(start..end))
            .ok_or(FormatError::Truncated { needed: place.end, got })?;
        Self::from_metadata(metadata, place.start)
    }

    /// The columns of all row groups, in the order of the file.
    #[must_use]
    pub fn columns(&self) -> &[ColumnChunk] {
        &self.columns
    }

    /// One column, by its [path](ColumnChunk::path), in every row group. Nothing comes if there is no such column.
    pub fn column(&self, path: &str) -> impl Iterator<Item = &ColumnChunk> {
        self.columns.iter().filter(move |chunk| chunk.path() == path)
    }

    /// How many row groups there are.
    #[must_use]
    pub const fn row_groups(&self) -> u32 {
        self.row_groups
    }

    /// Reads `FileMetaData`, which starts at `start` in the file.
    pub(super) fn from_metadata(metadata: &[u8], start: u64) -> Result<Self, FormatError> {
        let mut footer = Self { columns: Vec::new(), row_groups: 0 };
        let mut schema = Vec::new();
        let mut compact = Compact::new(metadata);
        let mut id = 0;
        while let Some(kind) = compact.field(&mut id)? {
            match (id, kind) {
                (2, Kind::List) => structs(&mut compact, "schema", |compact| {
                    let Some(leaf) = schema_element(compact)? else { return Ok(()) };
                    let bytes = size_of::<Leaf>() as u64;
                    schema.try_reserve(1).map_err(|_| FormatError::OutOfMemory { bytes })?;
                    schema.push(leaf);
                    Ok(())
                })?,
                (4, Kind::List) => structs(&mut compact, "row_groups", |compact| {
                    footer.row_group(compact, start)?;
                    footer.row_groups += 1;
                    Ok(())
                })?,
                _ => compact.skip(kind)?,
            }
        }
        footer.apply(&schema)?;
        Ok(footer)
    }

    /// Tells the columns what the schema says of them. Those of every row group stand in its order.
    fn apply(&mut self, schema: &[Leaf]) -> Result<(), FormatError> {
        for group in self.columns.chunk_by_mut(|one, next| one.row_group == next.row_group) {
            for (index, chunk) in group.iter_mut().enumerate() {
                let leaf = schema.get(index);
                // The type isn't known if the column is encrypted.
                match leaf.filter(|leaf| chunk.physical_type.is_none_or(|its| its == leaf.physical_type)) {
                    Some(leaf) => (chunk.logical_type, chunk.length) = (leaf.logical_type, leaf.length),
                    // Guessing what the values mean would give wrong answers.
                    None => {
                        let must_be = "a list of the columns, in the order of the row groups";
                        return Err(FormatError::BadField { field: "schema", value: index as u64, must_be });
                    }
                }
            }
        }
        Ok(())
    }

    fn row_group(&mut self, compact: &mut Compact<'_>, data_end: u64) -> Result<(), FormatError> {
        let mut id = 0;
        while let Some(kind) = compact.field(&mut id)? {
            match (id, kind) {
                (1, Kind::List) => structs(compact, "columns", |compact| {
                    let chunk = column_chunk(compact, self.row_groups, data_end)?;
                    let bytes = size_of::<ColumnChunk>() as u64;
                    self.columns.try_reserve(1).map_err(|_| FormatError::OutOfMemory { bytes })?;
                    self.columns.push(chunk);
                    Ok(())
                })?,
                _ => compact.skip(kind)?,
            }
        }
        Ok(())
    }
}

/// Where the metadata lies in a file of so many bytes, of which these are the last.
pub(super) fn place(tail: [u8; TAIL], file_length: u64) -> Result<Range<u64>, FormatError> {
    let [a, b, c, d, magic @ ..] = tail;
    match &magic {
        b"PAR1" => {}
        b"PARE" => return Err(FormatError::Encrypted { what: "the footer of the Parquet file" }),
        _ => {
            let value = u32::from_be_bytes(magic).into();
            return Err(FormatError::BadField {
                field: "magic",
                value,
                must_be: "PAR1, as in Parquet files",
            });
        }
    }
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    // The magic number stands at the front, too.
    let needed = length + 4 + TAIL as u64;
    if needed > file_length {
        return Err(FormatError::Truncated { needed, got: file_length });
    }
    let end = file_length - TAIL as u64;
    Ok(end - length..end)
}

/// Reads each struct of a list.
fn structs<'a>(
    compact: &mut Compact<'a>,
    field: &'static str,
    mut each: impl FnMut(&mut Compact<'a>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let (count, kind) = compact.list()?;
    if kind != Kind::Struct {
        return Err(FormatError::BadField { field, value: count, must_be: "a list of structs" });
    }
    (0..count).try_for_each(|_| each(compact))
}

/// Reads `ColumnChunk`.
fn column_chunk(
    compact: &mut Compact<'_>,
    row_group: u32,
    data_end: u64,
) -> Result<ColumnChunk, FormatError> {
    let mut chunk = ColumnChunk {
        row_group,
        path: String::new(),
        physical_type: None,
        logical_type: None,
        length: None,
        place: Place::Here,
        filter: None,
        data_end,
    };
    let (mut id, mut has_metadata) = (0, false);
    while let Some(kind) = compact.field(&mut id)? {
        match (id, kind) {
            (1, Kind::Binary) => {
                if !compact.binary()?.is_empty() && chunk.place == Place::Here {
                    chunk.place = Place::Elsewhere;
                }
            }
            (3, Kind::Struct) => {
                column_metadata(compact, &mut chunk)?;
                has_metadata = true;
            }
            (8, Kind::Struct) => {
                chunk.place = Place::Encrypted;
                crypto_metadata(compact, &mut chunk)?;
            }
            _ => compact.skip(kind)?,
        }
    }
    if !has_metadata && chunk.place != Place::Encrypted {
        return Err(FormatError::BadField { field: "meta_data", value: 0, must_be: "there" });
    }
    Ok(chunk)
}

/// Reads `ColumnMetaData`.
fn column_metadata(compact: &mut Compact<'_>, chunk: &mut ColumnChunk) -> Result<(), FormatError> {
    let (mut offset, mut length) = (None, None);
    let (mut id, mut has_path) = (0, false);
    while let Some(kind) = compact.field(&mut id)? {
        match (id, kind) {
            (1, Kind::I32) => chunk.physical_type = Some(PhysicalType::new(compact.i32()?)?),
            (3, Kind::List) => (chunk.path, has_path) = (path(compact)?, true),
            (14, Kind::I64) => offset = Some(not_negative("bloom_filter_offset", compact.i64()?)?),
            (15, Kind::I32) => length = Some(not_negative("bloom_filter_length", compact.i32()?.into())?),
            _ => compact.skip(kind)?,
        }
    }
    // Without the two, which Parquet requires, one column after another could be claimed with three bytes each.
    if chunk.physical_type.is_none() || !has_path {
        return Err(FormatError::BadField {
            field: "meta_data",
            value: 0,
            must_be: "with a type and a path",
        });
    }
    chunk.filter = offset.map(|offset| (offset, length));
    Ok(())
}

/// Reads `ColumnCryptoMetaData`, a union. With a key of its own (field 2) the column's metadata may be missing, and its
/// path stands here.
fn crypto_metadata(compact: &mut Compact<'_>, chunk: &mut ColumnChunk) -> Result<(), FormatError> {
    let mut id = 0;
    while let Some(kind) = compact.field(&mut id)? {
        if (id, kind) != (2, Kind::Struct) {
            compact.skip(kind)?;
            continue;
        }
        let mut id = 0;
        while let Some(kind) = compact.field(&mut id)? {
            match (id, kind) {
                (1, Kind::List) => chunk.path = path(compact)?,
                _ => compact.skip(kind)?,
            }
        }
    }
    Ok(())
}

/// Reads `path_in_schema`, with dots.
fn path(compact: &mut Compact<'_>) -> Result<String, FormatError> {
    let bad =
        |value| FormatError::BadField { field: "path_in_schema", value, must_be: "a list of names in UTF-8" };
    let (count, kind) = compact.list()?;
    if count > 0 && kind != Kind::Binary {
        return Err(bad(count));
    }
    let mut path = String::new();
    for index in 0..count {
        let name = compact.binary()?;
        let name = core::str::from_utf8(name).map_err(|_| bad(index))?;
        let bytes = name.len() as u64;
        path.try_reserve(name.len() + 1).map_err(|_| FormatError::OutOfMemory { bytes })?;
        if index > 0 {
            path.push('.');
        }
        path.push_str(name);
    }
    Ok(path)
}

fn not_negative(field: &'static str, number: i64) -> Result<u64, FormatError> {
    let must_be = "at least 0";
    u64::try_from(number).map_err(|_| FormatError::BadField { field, value: number.cast_unsigned(), must_be })
}

#[cfg(test)]
mod tests;
