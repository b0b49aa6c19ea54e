//! Filters to streams and files, and back.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::vec::Vec;

use super::blocks::{BlockFiller, write_blocks};
use super::{KeyHasher, Owned, ReadOptions, Stored, block_count, understand};
use crate::bits::{Blocks, Mapped};
use crate::codec::{self, Existing, FormatError, Header, Reader, StreamError, Writer};
use crate::error::Error;

pub(crate) fn write<'a, S: Blocks + 'a>(
    stream: impl Write,
    header: &Header,
    bodies: impl Iterator<Item = &'a S>,
) -> Result<(), Error> {
    let mut writer = Writer::to_stream(stream, header)?;
    for blocks in bodies {
        write_blocks(&mut writer, blocks)?;
    }
    writer.finish()?;
    Ok(())
}

pub(crate) fn save<'a, S: Blocks + 'a>(
    path: &Path,
    existing: Existing,
    header: &Header,
    mut bodies: impl Iterator<Item = &'a S>,
) -> Result<(), Error> {
    Ok(codec::save(path, existing, header, |writer| {
        bodies.try_for_each(|blocks| write_blocks(writer, blocks))
    })?)
}

/// Reads what follows a header.
pub(crate) fn read_bodies<F: Stored>(
    mut reader: Reader<impl Read>,
    options: &ReadOptions,
) -> Result<(F::Recipe, KeyHasher, Vec<Owned>), Error> {
    let (recipe, hasher) = understand::<F>(reader.header(), options)?;
    let counts: Vec<u64> = reader.header().sections.iter().map(block_count).collect();
    let mut bodies = Vec::new();
    for count in counts {
        let mut blocks = Owned::zeroed(count).map_err(FormatError::from)?;
        let mut filler = BlockFiller::new(&mut blocks);
        reader.read_section_in_pieces(|bytes| filler.fill(bytes))?;
        bodies.push(blocks);
    }
    reader.finish()?;
    Ok((recipe, hasher, bodies))
}

/// Opens a file whose bodies are to be mapped. The header is read, not mapped: what is mapped is looked at by atomic
/// loads only.
pub(crate) fn open_to_map(path: &Path, options: &ReadOptions) -> Result<Reader<fs::File>, Error> {
    let at = |error: StreamError| Error::from(error.at(path, "mapping"));
    let file = fs::File::open(path).map_err(|error| at(error.into()))?;
    Reader::new(file, options.limit()).map_err(at)
}

/// Maps what follows a header.
pub(crate) fn map_bodies<F: Stored>(
    reader: &Reader<fs::File>,
    options: &ReadOptions,
) -> Result<(F::Recipe, KeyHasher, Vec<Mapped>), Error> {
    let (recipe, hasher) = understand::<F>(reader.header(), options)?;
    Ok((recipe, hasher, map_sections(reader)?))
}

/// Maps the bodies of a file whose header has been read.
pub(crate) fn map_sections(reader: &Reader<fs::File>) -> Result<Vec<Mapped>, Error> {
    let (file, layout) = (reader.source(), reader.layout());
    let (needed, got) = (layout.file_length(), file.metadata().map_err(StreamError::from)?.len());
    if got < needed {
        return Err(FormatError::Truncated { needed, got }.into());
    }
    if got > needed {
        return Err(FormatError::TrailingBytes { file_length: needed }.into());
    }
    let map = Mapped::map(file).map_err(StreamError::from)?;
    let mut bodies = Vec::new();
    for place in layout.sections() {
        let blocks = Some(place)
            .and_then(|place| Some(usize::try_from(place.start).ok()?..usize::try_from(place.end).ok()?))
            .and_then(|range| Mapped::new(&map, range))
            .ok_or_else(|| {
                let what = "mapping on a big-endian machine; read the file instead";
                FormatError::Unknown { what, number: 0 }
            })?;
        bodies.push(blocks);
    }
    Ok(bodies)
}
