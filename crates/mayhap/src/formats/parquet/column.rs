//! What a footer says of one column in one row group.

use alloc::string::String;

use super::filter::SplitBlockBloom;
use super::logical::LogicalType;
use crate::codec::FormatError;
use crate::formats::LittleEndian;

/// A column of one row group, and where its filter is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnChunk {
    pub(super) row_group: u32,
    pub(super) path: String,
    pub(super) physical_type: Option<PhysicalType>,
    pub(super) logical_type: Option<LogicalType>,
    /// That of a byte array that is as long in all rows.
    pub(super) length: Option<u32>,
    pub(super) place: Place,
    /// `bloom_filter_offset` and, if it is there, `bloom_filter_length`.
    pub(super) filter: Option<(u64, Option<u64>)>,
    /// Where the footer starts, which no filter reaches into.
    pub(super) data_end: u64,
}

/// Whether a column's bytes can be read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Here,
    Encrypted,
    /// The metadata names another file.
    Elsewhere,
}

/// How Parquet stores a column's values, whatever they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PhysicalType {
    /// One bit; such columns have no filters.
    Boolean,
    /// A signed number of 32 bits.
    Int32,
    /// A signed number of 64 bits.
    Int64,
    /// Twelve bytes: an old form of timestamps.
    Int96,
    /// A fraction of 32 bits.
    Float,
    /// A fraction of 64 bits.
    Double,
    /// Bytes; text among them.
    ByteArray,
    /// Bytes, of one length in all rows.
    FixedLenByteArray,
}

impl PhysicalType {
    pub(super) fn new(number: i32) -> Result<Self, FormatError> {
        Ok(match number {
            0 => Self::Boolean,
            1 => Self::Int32,
            2 => Self::Int64,
            3 => Self::Int96,
            4 => Self::Float,
            5 => Self::Double,
            6 => Self::ByteArray,
            7 => Self::FixedLenByteArray,
            unknown => {
                let number = i64::from(unknown).cast_unsigned();
                return Err(FormatError::Unknown { what: "physical type of Parquet", number });
            }
        })
    }

    /// The name in Parquet's own documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Boolean => "BOOLEAN",
            Self::Int32 => "INT32",
            Self::Int64 => "INT64",
            Self::Int96 => "INT96",
            Self::Float => "FLOAT",
            Self::Double => "DOUBLE",
            Self::ByteArray => "BYTE_ARRAY",
            Self::FixedLenByteArray => "FIXED_LEN_BYTE_ARRAY",
        }
    }

    /// How many bytes a key must have to be asked for, or nothing if they may be any number.
    #[must_use]
    pub const fn key_bytes(self) -> Option<usize> {
        match self {
            Self::Boolean => Some(1),
            Self::Int32 | Self::Float => Some(4),
            Self::Int64 | Self::Double => Some(8),
            Self::Int96 => Some(12),
            Self::ByteArray | Self::FixedLenByteArray => None,
        }
    }
}

impl ColumnChunk {
    /// The row group, counted from 0.
    #[must_use]
    pub const fn row_group(&self) -> u32 {
        self.row_group
    }

    /// The column's name: the names on its way from the schema's root, with a dot between them.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// How its values are stored. Not known if the column's metadata is encrypted.
    #[must_use]
    pub const fn physical_type(&self) -> Option<PhysicalType> {
        self.physical_type
    }

    /// What its values mean, if the schema says more than how they are stored.
    #[must_use]
    pub const fn logical_type(&self) -> Option<LogicalType> {
        self.logical_type
    }

    /// How many bytes each value has, if the schema says so and not the physical type: of a FIXED_LEN_BYTE_ARRAY.
    #[must_use]
    pub const fn fixed_length(&self) -> Option<u32> {
        self.length
    }

    /// Whether the column is encrypted. Then its filter can't be read, and [whether it has
    /// one](Self::has_filter) may be hidden.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.place == Place::Encrypted
    }

    /// Whether the metadata tells of a filter.
    #[must_use]
    pub const fn has_filter(&self) -> bool {
        self.filter.is_some()
    }

    /// Where its filter starts in the file, if it has one.
    #[must_use]
    pub fn filter_offset(&self) -> Option<u64> {
        self.filter.map(|(offset, _)| offset)
    }

    /// Asks the filter where it lies in `file`, the bytes of the whole file, without copying its bits. Nothing if the
    /// column has no filter in this row group, which then may hold anything.
    ///
    /// # Errors
    /// When the column is encrypted or lies in another file, or what the metadata points to isn't a filter.
    pub fn view_filter<'a>(
        &self,
        file: &'a [u8],
    ) -> Result<Option<SplitBlockBloom<LittleEndian<'a>>>, FormatError> {
        let Some(range) = self.filter_range()? else { return Ok(None) };
        let got = file.len() as u64;
        let bytes = usize::try_from(range.start)
            .ok()
            .zip(usize::try_from(range.end).ok())
            .and_then(|(start, end)| file.get(start..end))
            .ok_or(FormatError::Truncated { needed: range.end, got })?;
        Ok(Some(SplitBlockBloom::view_prefix(bytes)?.0))
    }

    /// Where the filter lies: exactly, if the metadata has its length, and otherwise from where on.
    pub(super) fn filter_range(&self) -> Result<Option<core::ops::Range<u64>>, FormatError> {
        match self.place {
            Place::Here => {}
            Place::Encrypted => return Err(FormatError::Encrypted { what: "the column" }),
            Place::Elsewhere => {
                let must_be = "empty: the column lies in another file";
                return Err(FormatError::BadField { field: "file_path", value: 1, must_be });
            }
        }
        let Some((start, length)) = self.filter else { return Ok(None) };
        let end = length.map_or(Some(self.data_end), |length| start.checked_add(length));
        match end {
            Some(end) if start < end && end <= self.data_end => Ok(Some(start..end)),
            _ => {
                let must_be = "a place before the footer, with the filter's length";
                Err(FormatError::BadField { field: "bloom_filter_offset", value: start, must_be })
            }
        }
    }
}
