//! What the values of a column mean, which the schema says.

use super::column::PhysicalType;
use super::compact::{Compact, Kind};
use crate::codec::FormatError;

/// What Parquet's schema says of a column beyond its [`PhysicalType`].
///
/// A filter is asked by the stored bytes, which are rarely what people write: a UUID is 16 bytes and not 36 characters, a
/// decimal of two digits after the point is a hundred times the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LogicalType {
    /// Text in UTF-8.
    String,
    /// One of a few names, in UTF-8.
    Enum,
    /// JSON, as text.
    Json,
    /// BSON, in bytes.
    Bson,
    /// 16 bytes in the order in which a UUID is written.
    Uuid,
    /// A whole number that is divided by 10 to the power of `scale`. In byte arrays it is big-endian.
    Decimal {
        /// Digits in all.
        precision: i32,
        /// Digits after the point.
        scale: i32,
    },
    /// Days since 1970-01-01.
    Date,
    /// Time since midnight.
    Time(TimeUnit),
    /// Time since the beginning of 1970.
    Timestamp(TimeUnit),
    /// A whole number.
    Integer {
        /// Bits that it needs; it is stored in 32 or 64.
        bits: u8,
        /// Whether it may be negative. If not, the stored bits are those of the number without a sign.
        is_signed: bool,
    },
    /// Months, days and milliseconds, in twelve bytes.
    Interval,
    /// A fraction in two bytes.
    Float16,
    /// Nothing but nulls.
    Unknown,
    /// Something that came into Parquet later, with its number in `parquet.thrift`'s union.
    Other(i16),
}

/// What a time is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// Thousandths of a second.
    Millis,
    /// Millionths.
    Micros,
    /// Thousand-millionths.
    Nanos,
}

impl LogicalType {
    /// The name in Parquet's own documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::String => "STRING",
            Self::Enum => "ENUM",
            Self::Json => "JSON",
            Self::Bson => "BSON",
            Self::Uuid => "UUID",
            Self::Decimal { .. } => "DECIMAL",
            Self::Date => "DATE",
            Self::Time(_) => "TIME",
            Self::Timestamp(_) => "TIMESTAMP",
            Self::Integer { is_signed: true, .. } => "INT",
            Self::Integer { is_signed: false, .. } => "UINT",
            Self::Interval => "INTERVAL",
            Self::Float16 => "FLOAT16",
            Self::Unknown => "UNKNOWN",
            Self::Other(16) => "VARIANT",
            Self::Other(17) => "GEOMETRY",
            Self::Other(18) => "GEOGRAPHY",
            Self::Other(_) => "a type that is not known here",
        }
    }
}

/// A column of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    pub(super) physical_type: PhysicalType,
    pub(super) logical_type: Option<LogicalType>,
    /// The length of a [`PhysicalType::FixedLenByteArray`].
    pub(super) length: Option<u32>,
}

/// Reads `SchemaElement`: a column, or nothing if it is a group of them.
pub(super) fn schema_element(compact: &mut Compact<'_>) -> Result<Option<Leaf>, FormatError> {
    let (mut physical_type, mut length, mut children) = (None, None, 0);
    let (mut converted, mut logical) = (None, None);
    let (mut scale, mut precision) = (0, 0);
    let mut id = 0;
    while let Some(kind) = compact.field(&mut id)? {
        match (id, kind) {
            (1, Kind::I32) => physical_type = Some(PhysicalType::new(compact.i32()?)?),
            (2, Kind::I32) => length = u32::try_from(compact.i32()?).ok(),
            (5, Kind::I32) => children = compact.i32()?,
            (6, Kind::I32) => converted = Some(compact.i32()?),
            (7, Kind::I32) => scale = compact.i32()?,
            (8, Kind::I32) => precision = compact.i32()?,
            (10, Kind::Struct) => logical = logical_type(compact)?,
            _ => compact.skip(kind)?,
        }
    }
    let Some(physical_type) = physical_type.filter(|_| children == 0) else { return Ok(None) };
    // Where both are given they agree, unless the newer one came later than this code.
    let converted = converted.and_then(|number| converted_type(number, precision, scale));
    let logical_type = match logical {
        Some(LogicalType::Other(_)) => converted.or(logical),
        logical => logical.or(converted),
    };
    Ok(Some(Leaf { physical_type, logical_type, length }))
}

/// Reads the union `LogicalType`. Nothing if it is empty.
fn logical_type(compact: &mut Compact<'_>) -> Result<Option<LogicalType>, FormatError> {
    let mut found = None;
    let mut id = 0;
    while let Some(kind) = compact.field(&mut id)? {
        found = Some(match (id, kind) {
            (5, Kind::Struct) => decimal(compact)?,
            (7, Kind::Struct) => LogicalType::Time(time_unit(compact)?),
            (8, Kind::Struct) => LogicalType::Timestamp(time_unit(compact)?),
            (10, Kind::Struct) => integer(compact)?,
            _ => {
                compact.skip(kind)?;
                match id {
                    1 => LogicalType::String,
                    4 => LogicalType::Enum,
                    6 => LogicalType::Date,
                    11 => LogicalType::Unknown,
                    12 => LogicalType::Json,
                    13 => LogicalType::Bson,
                    14 => LogicalType::Uuid,
                    15 => LogicalType::Float16,
                    other => LogicalType::Other(other),
                }
            }
        });
    }
    Ok(found)
}

/// Reads `DecimalType`.
fn decimal(compact: &mut Compact<'_>) -> Result<LogicalType, FormatError> {
    let (mut scale, mut precision) = (0, 0);
    let mut id = 0;
    while let Some(kind) = compact.field(&mut id)? {
        match (id, kind) {
            (1, Kind::I32) => scale = compact.i32()?,
            (2, Kind::I32) => precision = compact.i32()?,
            _ => compact.skip(kind)?,
        }
    }
    Ok(LogicalType::Decimal { precision, scale })
}

/// Reads `IntType`.
fn integer(compact: &mut Compact<'_>) -> Result<LogicalType, FormatError> {
    let (mut bits, mut is_signed) = (0, true);
    let mut id = 0;
    while let Some(kind) = compact.field(&mut id)? {
        match (id, kind) {
            (1, Kind::Byte) => bits = compact.byte()?,
            (2, Kind::False) => is_signed = false,
            _ => compact.skip(kind)?,
        }
    }
    Ok(LogicalType::Integer { bits, is_signed })
}

/// Reads the unit of `TimeType` or `TimestampType`.
fn time_unit(compact: &mut Compact<'_>) -> Result<TimeUnit, FormatError> {
    let mut unit = None;
    let mut id = 0;
    while let Some(kind) = compact.field(&mut id)? {
        if (id, kind) != (2, Kind::Struct) {
            compact.skip(kind)?;
            continue;
        }
        let mut id = 0;
        while let Some(kind) = compact.field(&mut id)? {
            compact.skip(kind)?;
            unit = Some(match id {
                1 => TimeUnit::Millis,
                2 => TimeUnit::Micros,
                3 => TimeUnit::Nanos,
                unknown => {
                    let number = i64::from(unknown).cast_unsigned();
                    return Err(FormatError::Unknown { what: "unit of time of Parquet", number });
                }
            });
        }
    }
    unit.ok_or(FormatError::BadField { field: "unit", value: 0, must_be: "there" })
}

/// What `ConvertedType` said before there were logical types. Those of groups mean nothing for a column.
fn converted_type(number: i32, precision: i32, scale: i32) -> Option<LogicalType> {
    let integer = |bits, is_signed| LogicalType::Integer { bits, is_signed };
    Some(match number {
        0 => LogicalType::String,
        4 => LogicalType::Enum,
        5 => LogicalType::Decimal { precision, scale },
        6 => LogicalType::Date,
        7 => LogicalType::Time(TimeUnit::Millis),
        8 => LogicalType::Time(TimeUnit::Micros),
        9 => LogicalType::Timestamp(TimeUnit::Millis),
        10 => LogicalType::Timestamp(TimeUnit::Micros),
        11 => integer(8, false),
        12 => integer(16, false),
        13 => integer(32, false),
        14 => integer(64, false),
        15 => integer(8, true),
        16 => integer(16, true),
        17 => integer(32, true),
        18 => integer(64, true),
        19 => LogicalType::Json,
        20 => LogicalType::Bson,
        21 => LogicalType::Interval,
        _ => return None,
    })
}
