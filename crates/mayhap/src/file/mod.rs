//! Filters to files and back: what all kinds of filters share whose bodies are blocks.
//!
//! A kind says what its header means ([`Stored`]), hands over its bodies, and gets both back. Everything else is here:
//! streams, limits, checksums, mapping, and the public methods, which a kind gets by `file_methods!`.

mod blocks;
mod methods;
mod options;
#[cfg(feature = "std")]
mod streams;

pub(crate) use blocks::{BlockFiller, write_blocks};
pub(crate) use methods::file_methods;
pub use options::ReadOptions;
#[cfg(all(feature = "std", feature = "bitmap"))]
pub(crate) use streams::map_sections;
#[cfg(feature = "std")]
pub(crate) use streams::{map_bodies, open_to_map, read_bodies, save, write};

use alloc::vec::Vec;

use crate::bits::{BLOCK_BYTES, Blocks, Owned, View};
use crate::codec::{File, FormatError, HashRecord, Header, Kind, Section, Writer};
use crate::error::Error;
use crate::hash::KeyHasher;

/// A kind of filter whose sections are blocks.
pub(crate) trait Stored: Sized {
    /// All of the filter but its blocks and its hasher.
    type Recipe;
    const KIND: Kind;

    /// The recipe that a header describes, and the sections that go with it: those of the header must equal them.
    /// Every field is checked, but for the kind, the hash, and that the plan is one at all.
    fn recipe(header: &Header) -> Result<(Self::Recipe, Vec<Section>), FormatError>;

    /// Checks, and takes from the bodies, what the header doesn't say. Called for filters that were read into memory,
    /// not for mapped or borrowed ones, whose bodies are not to be read.
    fn after_reading(&mut self) -> Result<(), FormatError> {
        Ok(())
    }
}

/// The role of a section of blocks.
const BLOCKS: u16 = 1;

/// A section of so many blocks, without parameters.
pub(crate) fn section(blocks: u64) -> Result<Section, FormatError> {
    let must_be = "above 0, and of fewer than 2^64 bytes";
    match blocks.checked_mul(BLOCK_BYTES as u64) {
        Some(length) if length > 0 => Ok(Section::new(BLOCKS, length)),
        _ => Err(FormatError::BadField { field: "blocks", value: blocks, must_be }),
    }
}

/// The header of a filter, but for its recipe and its sections.
pub(crate) fn header(kind: Kind, hasher: &KeyHasher, keys: u64, rate: f64) -> Result<Header, FormatError> {
    // A file that names another function than the one its keys were hashed with would lose them all.
    if !hasher.has_own_id() {
        let must_be = "256 or more for a hash function from outside";
        return Err(FormatError::BadField { field: "hash id", value: u64::from(hasher.id().get()), must_be });
    }
    Ok(Header { hash: HashRecord::from(hasher), planned_keys: keys, planned_rate: rate, ..Header::new(kind) })
}

/// A field that a recipe has no use for.
pub(crate) fn must_be_zero(field: &'static str, value: u64) -> Result<(), FormatError> {
    if value == 0 { Ok(()) } else { Err(FormatError::BadField { field, value, must_be: "0 for this kind" }) }
}

/// The body of a kind that has one.
pub(crate) fn only<S>(bodies: Vec<S>) -> Result<S, FormatError> {
    let value = bodies.len() as u64;
    let mut bodies = bodies.into_iter();
    match (bodies.next(), bodies.next()) {
        (Some(body), None) => Ok(body),
        _ => Err(FormatError::BadField { field: "sections", value, must_be: "1 for this kind" }),
    }
}

/// Checks a header against the kind, and finds the hasher.
fn understand<F: Stored>(
    header: &Header,
    options: &ReadOptions,
) -> Result<(F::Recipe, KeyHasher), FormatError> {
    if header.kind != F::KIND {
        return Err(FormatError::WrongKind { expected: F::KIND, got: header.kind });
    }
    let (keys, rate) = (header.planned_keys, header.planned_rate);
    if keys == 0 {
        return Err(FormatError::BadField { field: "planned keys", value: keys, must_be: "above 0" });
    }
    if !(rate > 0.0 && rate < 1.0) {
        let value = rate.to_bits();
        return Err(FormatError::BadField { field: "planned rate", value, must_be: "above 0 and below 1" });
    }
    let (recipe, expected) = F::recipe(header)?;
    let sections = &header.sections;
    let are_blocks = |section: &Section| {
        section.role == BLOCKS && section.length > 0 && section.length.is_multiple_of(BLOCK_BYTES as u64)
    };
    if *sections != expected || sections.is_empty() || !sections.iter().all(are_blocks) {
        let value = sections.first().map_or(0, |section| section.length);
        let must_be = "of role 1, with the parameters and the number of blocks that the recipe says";
        return Err(FormatError::BadField { field: "sections", value, must_be });
    }
    Ok((recipe, options.resolve(&header.hash)?))
}

fn block_count(section: &Section) -> u64 {
    section.length / BLOCK_BYTES as u64
}

fn parse_within<'a>(bytes: &'a [u8], options: &ReadOptions) -> Result<File<'a>, FormatError> {
    let file = File::parse(bytes)?;
    options.check_length(file.layout().file_length())?;
    Ok(file)
}

/// A file in memory: checked, with all its checksums.
pub(crate) fn parse<F: Stored>(
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(F::Recipe, KeyHasher, Vec<Owned>), Error> {
    let file = parse_within(bytes, options)?;
    let (recipe, hasher) = understand::<F>(file.header(), options)?;
    file.verify()?;
    let mut bodies = Vec::new();
    for (index, section) in file.header().sections.iter().enumerate() {
        let mut blocks = Owned::zeroed(block_count(section)).map_err(FormatError::from)?;
        BlockFiller::new(&mut blocks).fill(file.section(index).unwrap_or(&[]));
        bodies.push(blocks);
    }
    Ok((recipe, hasher, bodies))
}

/// A file in memory, borrowed in place; its checksums are not looked at.
pub(crate) fn view<'a, F: Stored>(
    bytes: &'a [u8],
    options: &ReadOptions,
) -> Result<(F::Recipe, KeyHasher, Vec<View<'a>>), Error> {
    let file = parse_within(bytes, options)?;
    let (recipe, hasher) = understand::<F>(file.header(), options)?;
    let mut bodies = Vec::new();
    for index in 0..file.header().sections.len() {
        let place = file.section_range(index).map_or(0, |range| range.start);
        bodies.push(file.section(index).and_then(View::from_bytes).ok_or(FormatError::BadField {
            field: "address of the body",
            value: bytes.as_ptr().addr().wrapping_add(place) as u64,
            must_be: "a multiple of 64, on a little-endian machine; copy the bytes to aligned memory or use from_bytes",
        })?);
    }
    Ok((recipe, hasher, bodies))
}

/// All bytes of a file.
pub(crate) fn to_vec<'a, S: Blocks + 'a>(
    header: &Header,
    bodies: impl Iterator<Item = &'a S>,
) -> Result<Vec<u8>, FormatError> {
    let mut writer = Writer::to_vec(header)?;
    for blocks in bodies {
        write_blocks(&mut writer, blocks)?;
    }
    writer.finish()
}
