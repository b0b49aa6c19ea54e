//! Files of filters whose kind only the file tells.

use std::fs;
use std::io;
use std::path::Path;

use super::{AnyFilter, MappedAnyFilter, each, open_as};
use crate::bits::Blocks;
use crate::bloom::{BloomFilter, ClassicBloom, DualBloom, ScalableBloom, WindowBloom};
use crate::codec::{Existing, FormatError, Kind, Reader};
use crate::counting::CountingBloom;
use crate::cuckoo::{CuckooFilter, ScalableCuckoo};
use crate::d_left::DLeftCounting;
use crate::error::Error;
use crate::file::{ReadOptions, open_to_map};

impl AnyFilter {
    /// Reads a file into memory. Every checksum is checked.
    ///
    /// # Errors
    /// When reading fails, or the file is damaged, not a filter, or needs a secret key.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path, &ReadOptions::new())
    }

    /// [`open`](Self::open), with a secret key, hash function or limit.
    ///
    /// # Errors
    /// As [`open`](Self::open), or when the key is another.
    pub fn open_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, Error> {
        let path = path.as_ref();
        let reader = Reader::open(path, options.limit())?;
        Self::read_rest(reader, options).map_err(|error| error.at(path, "reading"))
    }

    /// Reads what follows a header. The file isn't opened again by its name, which may be that of a pipe, or of another
    /// file by now.
    fn read_rest(reader: Reader<fs::File>, options: &ReadOptions) -> Result<Self, Error> {
        let kind = reader.header().kind;
        Ok(open_as!(kind, read_rest(reader, options)))
    }
}

impl MappedAnyFilter {
    /// Maps a file: questions are answered from it without reading it first. The header is checked; the checksums of
    /// the body are not ([`codec::verify`](crate::codec::verify) does).
    ///
    /// # Errors
    /// When mapping fails, or the header is damaged, not of a filter, or names a secret key.
    pub fn map(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::map_with(path, &ReadOptions::new())
    }

    /// [`map`](Self::map), with a secret key, hash function or limit.
    ///
    /// # Errors
    /// As [`map`](Self::map), or when the key is another.
    pub fn map_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, Error> {
        let path = path.as_ref();
        let reader = open_to_map(path, options)?;
        Self::map_rest(reader, options).map_err(|error| error.at(path, "mapping"))
    }

    /// Maps what follows a header.
    fn map_rest(reader: Reader<fs::File>, options: &ReadOptions) -> Result<Self, Error> {
        let kind = reader.header().kind;
        Ok(open_as!(kind, map_rest(reader, options)))
    }
}

impl<S: Blocks> AnyFilter<S> {
    /// Writes the filter, as the bytes of a file, to a stream.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_to(&self, stream: impl io::Write) -> Result<(), Error> {
        each!(self, filter => filter.write_to(stream))
    }

    /// Saves the filter: beside the target first, synced, then renamed.
    ///
    /// # Errors
    /// When writing fails, or there is such a file already and it is not to be replaced.
    pub fn save(&self, path: impl AsRef<Path>, existing: Existing) -> Result<(), Error> {
        each!(self, filter => filter.save(path, existing))
    }
}
