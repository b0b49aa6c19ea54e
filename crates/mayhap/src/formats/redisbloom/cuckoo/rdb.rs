//! The value in RDB: `MBbloomCF`.

use alloc::vec::Vec;

use super::chunks::{check_items, check_tables};
use super::shape::MAX_TABLES;
use super::{CuckooLimits, RedisCuckoo, Shape, Table};
use crate::codec::FormatError;
use crate::file::ReadOptions;
use crate::formats::redisbloom::rdb::{Dump, ModuleReader, ModuleValue, ModuleWriter, RdbVersion, to_dump};

/// Since this version the settings are in the value.
const WITH_SETTINGS: u16 = 4;

impl RedisCuckoo {
    /// Reads the payload of a `DUMP`, from any version of RDB.
    ///
    /// The filter may have more sub-filters than [`CuckooLimits`] let it grow to by default; adding to it is refused
    /// then, until [`set_limits`](Self::set_limits) allows more.
    ///
    /// # Errors
    /// When it isn't one, its checksum is wrong, it holds something else, or a filter that can't be.
    pub fn from_dump(payload: &[u8]) -> Result<Self, FormatError> {
        Self::from_dump_with(payload, &ReadOptions::new())
    }

    /// [`from_dump`](Self::from_dump) with a limit to the memory of the filter.
    ///
    /// # Errors
    /// As [`from_dump`](Self::from_dump), and [`FormatError::TooLarge`] before anything is allocated.
    pub fn from_dump_with(payload: &[u8], options: &ReadOptions) -> Result<Self, FormatError> {
        Dump::parse(payload)?.read(options)
    }

    /// The payload that `DUMP` would give, which `RESTORE` takes.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn to_dump(&self, version: RdbVersion) -> Result<Vec<u8>, FormatError> {
        to_dump(self, version)
    }
}

impl ModuleValue for RedisCuckoo {
    const NAME: &'static [u8; 9] = b"MBbloomCF";
    const VERSION: u16 = 4;

    fn read_value(
        reader: &mut ModuleReader<'_>,
        version: u16,
        options: &ReadOptions,
    ) -> Result<Self, FormatError> {
        let (tables, buckets, items) = (reader.unsigned()?, reader.unsigned()?, reader.unsigned()?);
        let (mut deletes, mut bucket_size) = (0, Self::DEFAULT_BUCKET_SIZE);
        let (mut max_iterations, mut expansion) = (Self::DEFAULT_MAX_ITERATIONS, Self::DEFAULT_EXPANSION);
        if version >= WITH_SETTINGS {
            (deletes, bucket_size) = (reader.unsigned()?, reader.unsigned()?);
            (max_iterations, expansion) = (reader.unsigned()?, reader.unsigned()?);
        }
        let shape = Shape::read(buckets, bucket_size, max_iterations, expansion)?;
        check_tables(shape, tables, MAX_TABLES)?;
        check_items(shape, tables, items)?;
        let memory = shape.memory(tables).and_then(|bytes| bytes.checked_add(Self::overhead()));
        options.check_length(memory.unwrap_or(u64::MAX))?;

        // Room for each sub-filter is made when its string has been seen, so the input justifies it.
        let mut filter = Self { items, deletes, ..Self::with_room(shape, 1, CuckooLimits::default())? };
        for number in 0..tables {
            let (buckets, slots) =
                (shape.buckets_of(number).unwrap_or(0), shape.slots_of(number).unwrap_or(0));
            if version >= WITH_SETTINGS {
                let got = reader.unsigned()?;
                if got != buckets {
                    let must_be = "the first one's, times the expansion for each sub-filter before it";
                    return Err(FormatError::BadField { field: "numBuckets", value: got, must_be });
                }
            }
            let bytes = reader.string_of("sub-filter", slots)?;
            let room = filter.tables.try_reserve(1);
            room.map_err(|_| FormatError::OutOfMemory { bytes: size_of::<Table>() as u64 })?;
            filter.push(Table::new(buckets, shape.bucket_size))?.copy_from_slice(&bytes);
        }
        Ok(filter)
    }

    fn write_value(&self, writer: &mut ModuleWriter<'_>) -> Result<(), FormatError> {
        let Shape { buckets, bucket_size, max_iterations, expansion } = self.shape;
        for number in [self.sub_filters(), buckets, self.items, self.deletes] {
            writer.unsigned(number);
        }
        for number in [u16::from(bucket_size), max_iterations, expansion] {
            writer.unsigned(u64::from(number));
        }
        for table in &self.tables {
            writer.unsigned(table.buckets());
            writer.string(table.slots())?;
        }
        Ok(())
    }
}
