//! Filters to files and back: what all kinds of one section of blocks share.

use alloc::vec::Vec;

use crate::bits::{BLOCK_BYTES, BLOCK_WORDS, Blocks, Line, Owned, View};
use crate::codec::{File, FormatError, HashRecord, Header, Kind, Section, Sink, Writer};
use crate::error::Error;
use crate::hash::{KeyHasher, SecretKey};

/// What a reader brings to a file: the secret key or foreign hash function it was built with, and a limit.
///
/// ```
/// use mayhap::{BloomFilter, ReadOptions, hash::SecretKey};
///
/// let key = SecretKey::new([7; 16]);
/// let filter = BloomFilter::builder().keys(100).rate(0.01).secret_key(key.clone()).build()?;
/// let bytes = filter.to_bytes()?;
/// assert!(BloomFilter::from_bytes(&bytes).is_err(), "which key?");
/// let again = BloomFilter::from_bytes_with(&bytes, &ReadOptions::new().secret_key(key))?;
/// assert!(again == filter);
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ReadOptions {
    hasher: Option<KeyHasher>,
    max_bytes: u64,
}

impl ReadOptions {
    /// No secret key, no foreign hash function, no limit.
    pub const fn new() -> Self {
        Self { hasher: None, max_bytes: u64::MAX }
    }

    /// The secret key the filter was built with.
    pub fn secret_key(self, key: SecretKey) -> Self {
        self.hasher(KeyHasher::sip13(key))
    }

    /// The hasher the filter was built with, where the file can't say it all: a secret key, or a function from outside.
    pub fn hasher(mut self, hasher: KeyHasher) -> Self {
        self.hasher = Some(hasher);
        self
    }

    /// Refuse files longer than this before anything is allocated.
    pub const fn max_bytes(mut self, limit: u64) -> Self {
        self.max_bytes = limit;
        self
    }

    #[cfg(feature = "std")]
    pub(super) const fn limit(&self) -> u64 {
        self.max_bytes
    }

    /// The hasher that a file names.
    fn resolve(&self, record: &HashRecord) -> Result<KeyHasher, FormatError> {
        let xxh3 = KeyHasher::xxh3(record.seed);
        if HashRecord::from(&xxh3) == *record {
            return Ok(xxh3);
        }
        match &self.hasher {
            Some(hasher) if HashRecord::from(hasher) == *record => Ok(hasher.clone()),
            hasher => Err(match record.key_id {
                Some(expected) => {
                    FormatError::WrongKey { expected, got: hasher.as_ref().and_then(KeyHasher::key_id) }
                }
                None => FormatError::Unknown { what: "hash function", number: u64::from(record.id.get()) },
            }),
        }
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// A kind of filter whose file has one section: its blocks.
pub(super) trait OneSection: Sized {
    /// All of the filter but its blocks and its hasher.
    type Recipe;
    const KIND: Kind;

    /// The recipe that a header describes, and the number of blocks that go with it. Every field is checked.
    fn recipe(header: &Header) -> Result<(Self::Recipe, u64), FormatError>;
}

/// The role of the section.
const BLOCKS: u16 = 1;

/// The header of a filter, but for its recipe.
pub(super) fn header(
    kind: Kind,
    hasher: &KeyHasher,
    keys: u64,
    rate: f64,
    blocks: u64,
) -> Result<Header, FormatError> {
    // A file that names another function than the one its keys were hashed with would lose them all.
    if !hasher.has_own_id() {
        let must_be = "256 or more for a hash function from outside";
        return Err(FormatError::BadField { field: "hash id", value: u64::from(hasher.id().get()), must_be });
    }
    Ok(Header {
        hash: HashRecord::from(hasher),
        planned_keys: keys,
        planned_rate: rate,
        sections: alloc::vec![Section::new(BLOCKS, blocks * BLOCK_BYTES as u64)],
        ..Header::new(kind)
    })
}

/// A field that a recipe has no use for.
pub(super) fn must_be_zero(field: &'static str, value: u64) -> Result<(), FormatError> {
    if value == 0 { Ok(()) } else { Err(FormatError::BadField { field, value, must_be: "0 for this kind" }) }
}

/// Checks a header against the kind, and finds the hasher.
pub(super) fn understand<F: OneSection>(
    header: &Header,
    options: &ReadOptions,
) -> Result<(F::Recipe, KeyHasher, u64), FormatError> {
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
    let (recipe, blocks) = F::recipe(header)?;
    let length = blocks.checked_mul(BLOCK_BYTES as u64);
    let expected = length.map(|length| Section::new(BLOCKS, length));
    match &header.sections[..] {
        [section] if blocks > 0 && Some(section) == expected.as_ref() => {}
        sections => {
            let value = sections.first().map_or(0, |section| section.length);
            let must_be = "one section of role 1, without parameters, of as many blocks as the recipe says";
            return Err(FormatError::BadField { field: "sections", value, must_be });
        }
    }
    Ok((recipe, options.resolve(&header.hash)?, blocks))
}

/// Blocks converted at a time: small beside the second-level cache.
const PIECE: usize = 512;

/// Writes the section.
pub(super) fn write_blocks<S: Sink>(writer: &mut Writer<S>, blocks: &impl Blocks) -> Result<(), S::Error> {
    let mut bytes = [0; PIECE * BLOCK_BYTES];
    for piece in blocks.lines().chunks(PIECE) {
        for (bytes, line) in bytes.chunks_exact_mut(BLOCK_BYTES).zip(piece) {
            for (bytes, word) in bytes.chunks_exact_mut(8).zip(line.words()) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
        }
        writer.write_body(&bytes[..piece.len() * BLOCK_BYTES])?;
    }
    Ok(())
}

/// Fills blocks from the bytes of a section, which may come in pieces of whole blocks.
pub(super) struct BlockFiller<'a>(core::slice::IterMut<'a, crate::bits::Block>);

impl<'a> BlockFiller<'a> {
    pub(super) fn new(blocks: &'a mut Owned) -> Self {
        Self(blocks.iter_mut())
    }

    pub(super) fn fill(&mut self, bytes: &[u8]) {
        for (bytes, block) in bytes.chunks_exact(BLOCK_BYTES).zip(&mut self.0) {
            let mut words = [0; BLOCK_WORDS];
            for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
                let mut array = [0; 8];
                array.copy_from_slice(bytes);
                *word = u64::from_le_bytes(array);
            }
            block.0 = words;
        }
    }
}

fn parse_within<'a>(bytes: &'a [u8], options: &ReadOptions) -> Result<File<'a>, FormatError> {
    let file = File::parse(bytes)?;
    let length = file.layout().file_length();
    if length > options.max_bytes {
        return Err(FormatError::TooLarge { bytes: length, limit: options.max_bytes });
    }
    Ok(file)
}

/// A file in memory: checked, with all its checksums.
pub(super) fn parse<F: OneSection>(
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(F::Recipe, KeyHasher, Owned), Error> {
    let file = parse_within(bytes, options)?;
    let (recipe, hasher, count) = understand::<F>(file.header(), options)?;
    file.verify()?;
    let mut blocks = Owned::zeroed(count)?;
    BlockFiller::new(&mut blocks).fill(file.section(0).unwrap_or(&[]));
    Ok((recipe, hasher, blocks))
}

/// A file in memory, borrowed in place; its checksums are not looked at.
pub(super) fn view<'a, F: OneSection>(
    bytes: &'a [u8],
    options: &ReadOptions,
) -> Result<(F::Recipe, KeyHasher, View<'a>), Error> {
    let file = parse_within(bytes, options)?;
    let (recipe, hasher, _) = understand::<F>(file.header(), options)?;
    let place = file.section_range(0).map_or(0, |range| range.start);
    let blocks = file.section(0).and_then(View::from_bytes).ok_or(FormatError::BadField {
        field: "address of the body",
        value: bytes.as_ptr().addr().wrapping_add(place) as u64,
        must_be: "a multiple of 64, on a little-endian machine; copy the bytes to aligned memory or use from_bytes",
    })?;
    Ok((recipe, hasher, blocks))
}

/// All bytes of a file.
pub(super) fn to_vec(header: &Header, blocks: &impl Blocks) -> Result<Vec<u8>, FormatError> {
    let mut writer = Writer::to_vec(header)?;
    write_blocks(&mut writer, blocks)?;
    writer.finish()
}

#[cfg(feature = "std")]
pub(super) use streams::{map, open, read, save, write};

#[cfg(feature = "std")]
mod streams {
    use std::fs;
    use std::io::{Read, Write};
    use std::path::Path;

    use super::{BlockFiller, KeyHasher, OneSection, Owned, ReadOptions, understand, write_blocks};
    use crate::bits::{Blocks, Mapped};
    use crate::codec::{self, Existing, FormatError, Header, Reader, StreamError, Writer};
    use crate::error::Error;

    pub(in crate::bloom) fn write(
        stream: impl Write,
        header: &Header,
        blocks: &impl Blocks,
    ) -> Result<(), Error> {
        let mut writer = Writer::to_stream(stream, header)?;
        write_blocks(&mut writer, blocks)?;
        writer.finish()?;
        Ok(())
    }

    pub(in crate::bloom) fn save(
        path: &Path,
        existing: Existing,
        header: &Header,
        blocks: &impl Blocks,
    ) -> Result<(), Error> {
        Ok(codec::save(path, existing, header, |writer| write_blocks(writer, blocks))?)
    }

    pub(in crate::bloom) fn read<F: OneSection>(
        stream: impl Read,
        options: &ReadOptions,
    ) -> Result<(F::Recipe, KeyHasher, Owned), Error> {
        read_body::<F>(Reader::new(stream, options.limit())?, options)
    }

    pub(in crate::bloom) fn open<F: OneSection>(
        path: &Path,
        options: &ReadOptions,
    ) -> Result<(F::Recipe, KeyHasher, Owned), Error> {
        read_body::<F>(Reader::open(path, options.limit())?, options)
            .map_err(|error| error.at(path, "reading"))
    }

    fn read_body<F: OneSection>(
        mut reader: Reader<impl Read>,
        options: &ReadOptions,
    ) -> Result<(F::Recipe, KeyHasher, Owned), Error> {
        let (recipe, hasher, count) = understand::<F>(reader.header(), options)?;
        let mut blocks = Owned::zeroed(count)?;
        let mut filler = BlockFiller::new(&mut blocks);
        reader.read_section_in_pieces(|bytes| filler.fill(bytes))?;
        reader.finish()?;
        Ok((recipe, hasher, blocks))
    }

    pub(in crate::bloom) fn map<F: OneSection>(
        path: &Path,
        options: &ReadOptions,
    ) -> Result<(F::Recipe, KeyHasher, Mapped), Error> {
        let at = |error: StreamError| Error::from(error.at(path, "mapping"));
        // The header is read, not mapped: what is mapped is looked at by atomic loads only.
        let file = fs::File::open(path).map_err(|error| at(error.into()))?;
        let reader = Reader::new(&file, options.limit()).map_err(at)?;
        let (recipe, hasher, _) =
            understand::<F>(reader.header(), options).map_err(|error| at(error.into()))?;
        let (needed, got) =
            (reader.layout().file_length(), file.metadata().map_err(|error| at(error.into()))?.len());
        if got < needed {
            return Err(at(FormatError::Truncated { needed, got }.into()));
        }
        if got > needed {
            return Err(at(FormatError::TrailingBytes { file_length: needed }.into()));
        }
        let map = Mapped::map(&file).map_err(|error| at(error.into()))?;
        let blocks = reader
            .layout()
            .section(0)
            .and_then(|place| Some(usize::try_from(place.start).ok()?..usize::try_from(place.end).ok()?))
            .and_then(|range| Mapped::new(&map, range))
            .ok_or_else(|| {
                let what = "mapping on a big-endian machine; read the file instead";
                at(FormatError::Unknown { what, number: 0 }.into())
            })?;
        Ok((recipe, hasher, blocks))
    }
}

/// The methods that every kind of one section has. The type provides `file_header(&self)` and
/// `from_file(recipe, hasher, blocks)`.
macro_rules! file_methods {
    ($filter:ident, $owned:ty, $any:ty, $view:ty, $mapped:ty, $blocks:ident) => {
        impl<S: crate::bits::Blocks> $any {
            /// The filter as the bytes of a file.
            ///
            /// # Errors
            /// When the memory can't be had.
            pub fn to_bytes(&self) -> Result<alloc::vec::Vec<u8>, crate::codec::FormatError> {
                crate::bloom::file::to_vec(&self.file_header()?, &self.$blocks)
            }

            /// Writes the filter, as the bytes of a file, to a stream.
            ///
            /// # Errors
            /// When writing fails.
            #[cfg(feature = "std")]
            pub fn write_to(&self, stream: impl std::io::Write) -> Result<(), crate::Error> {
                crate::bloom::file::write(stream, &self.file_header()?, &self.$blocks)
            }

            /// Saves the filter: beside the target first, synced, then renamed, so that there is the old file or the
            /// new one and never half of one.
            ///
            /// # Errors
            /// When writing fails, or there is such a file already and it is not to be replaced.
            #[cfg(feature = "std")]
            pub fn save(
                &self,
                path: impl AsRef<std::path::Path>,
                existing: crate::codec::Existing,
            ) -> Result<(), crate::Error> {
                crate::bloom::file::save(path.as_ref(), existing, &self.file_header()?, &self.$blocks)
            }
        }

        impl $owned {
            /// The filter in the bytes of a file. Every field and every checksum is checked.
            ///
            /// # Errors
            /// When the bytes are damaged, or not such a filter, or need a secret key.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, crate::Error> {
                Self::from_bytes_with(bytes, &crate::bloom::file::ReadOptions::new())
            }

            /// [`from_bytes`](Self::from_bytes), with a secret key, hash function or limit.
            ///
            /// # Errors
            /// When the bytes are damaged, or not such a filter, or the key is another.
            pub fn from_bytes_with(
                bytes: &[u8],
                options: &crate::bloom::file::ReadOptions,
            ) -> Result<Self, crate::Error> {
                let (recipe, hasher, blocks) = crate::bloom::file::parse::<Self>(bytes, options)?;
                Ok(Self::from_file(recipe, hasher, blocks)?)
            }

            /// Reads a filter from a stream, which must end with it. Nothing is allocated before the header has been
            /// checked against the limit in `options`.
            ///
            /// # Errors
            /// When reading fails, or the bytes are damaged or not such a filter.
            #[cfg(feature = "std")]
            pub fn read_from(
                stream: impl std::io::Read,
                options: &crate::bloom::file::ReadOptions,
            ) -> Result<Self, crate::Error> {
                let (recipe, hasher, blocks) = crate::bloom::file::read::<Self>(stream, options)?;
                Ok(Self::from_file(recipe, hasher, blocks)?)
            }

            /// Reads a file into memory. Every checksum is checked.
            ///
            /// # Errors
            /// When reading fails, or the file is damaged, not such a filter, or needs a secret key.
            #[cfg(feature = "std")]
            pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self, crate::Error> {
                Self::open_with(path, &crate::bloom::file::ReadOptions::new())
            }

            /// [`open`](Self::open), with a secret key, hash function or limit.
            ///
            /// # Errors
            /// As [`open`](Self::open), or when the key is another.
            #[cfg(feature = "std")]
            pub fn open_with(
                path: impl AsRef<std::path::Path>,
                options: &crate::bloom::file::ReadOptions,
            ) -> Result<Self, crate::Error> {
                let (recipe, hasher, blocks) = crate::bloom::file::open::<Self>(path.as_ref(), options)?;
                Ok(Self::from_file(recipe, hasher, blocks)?)
            }
        }

        #[cfg(feature = "std")]
        impl $mapped {
            /// Maps a file: questions are answered from it without reading it first, and several processes share one
            /// copy in memory. The header is checked; the checksums of the body are not, because that would read it
            /// ([`codec::verify`](crate::codec::verify) does).
            ///
            /// # Errors
            /// When mapping fails, or the header is damaged, not of such a filter, or names a secret key.
            pub fn map(path: impl AsRef<std::path::Path>) -> Result<Self, crate::Error> {
                Self::map_with(path, &crate::bloom::file::ReadOptions::new())
            }

            /// [`map`](Self::map), with a secret key, hash function or limit.
            ///
            /// # Errors
            /// As [`map`](Self::map), or when the key is another.
            pub fn map_with(
                path: impl AsRef<std::path::Path>,
                options: &crate::bloom::file::ReadOptions,
            ) -> Result<Self, crate::Error> {
                let (recipe, hasher, blocks) = crate::bloom::file::map::<$owned>(path.as_ref(), options)?;
                Ok(Self::from_file(recipe, hasher, blocks)?)
            }
        }

        impl<'a> $view {
            /// Borrows a filter from the bytes of a file, in place. The bytes must be aligned to 64, the machine
            /// little-endian; the checksums of the body are not looked at.
            ///
            /// # Errors
            /// When the bytes are not such a filter, or not aligned.
            pub fn from_aligned_bytes(
                bytes: &'a [u8],
                options: &crate::bloom::file::ReadOptions,
            ) -> Result<Self, crate::Error> {
                let (recipe, hasher, blocks) = crate::bloom::file::view::<$owned>(bytes, options)?;
                Ok(Self::from_file(recipe, hasher, blocks)?)
            }
        }
    };
}
pub(super) use file_methods;
