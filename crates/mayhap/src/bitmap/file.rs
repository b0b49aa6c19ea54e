//! The bitmap as a file of kind 10.

use alloc::{vec, vec::Vec};

use super::dense::Dense;
use super::{Bitmap, Form, portable};
use crate::bits::{BLOCK_BITS, Blocks, Owned};
#[cfg(feature = "std")]
use crate::codec::{self, Existing, Reader};
use crate::codec::{File, FormatError, Header, Kind, Section, Sink, Writer};
use crate::error::Error;
use crate::file::{self, BlockFiller, ReadOptions, must_be_zero, write_blocks};

/// Recipe number of the dense form. One section of blocks.
const DENSE: u16 = 1;
/// Recipe number of the sparse form. One section of role 2: see [`portable`].
const SPARSE: u16 = 2;
/// The role of that section.
const ROARING: u16 = 2;

impl<S: Blocks> Bitmap<S> {
    /// The bitmap as the bytes of a file.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FormatError> {
        let mut writer = Writer::to_vec(&self.file_header()?)?;
        self.write_body(&mut writer)?;
        writer.finish()
    }

    /// Writes the bitmap, as the bytes of a file, to a stream.
    ///
    /// # Errors
    /// When writing fails.
    #[cfg(feature = "std")]
    pub fn write_to(&self, stream: impl std::io::Write) -> Result<(), Error> {
        let mut writer = Writer::to_stream(stream, &self.file_header()?)?;
        self.write_body(&mut writer)?;
        writer.finish()?;
        Ok(())
    }

    /// Saves the bitmap: beside the target first, synced, then renamed, so that there is the old file or the new one
    /// and never half of one.
    ///
    /// # Errors
    /// When writing fails, or there is such a file already and it is not to be replaced.
    #[cfg(feature = "std")]
    pub fn save(&self, path: impl AsRef<std::path::Path>, existing: Existing) -> Result<(), Error> {
        Ok(codec::save(path, existing, &self.file_header()?, |writer| self.write_body(writer))?)
    }

    fn file_header(&self) -> Result<Header, FormatError> {
        let (recipe, section) = match &self.form {
            Form::Dense(dense) => (DENSE, file::section(dense.blocks().block_count())?),
            Form::Sparse(map) => (SPARSE, Section::new(ROARING, portable::length(map))),
        };
        Ok(Header {
            recipe,
            parameters: [self.largest, 0, 0, 0],
            inserted: Some(self.len),
            sections: vec![section],
            ..Header::new(Kind::BITMAP)
        })
    }

    fn write_body<K: Sink>(&self, writer: &mut Writer<K>) -> Result<(), K::Error> {
        match &self.form {
            Form::Dense(dense) => write_blocks(writer, dense.blocks()),
            Form::Sparse(map) => portable::write(map, |bytes| writer.write_body(bytes)),
        }
    }

    /// A dense bitmap around the blocks of a file. Its length is what the header says.
    fn from_blocks(blocks: S, found: &Found) -> Result<Self, FormatError> {
        let largest = found.largest;
        let must_be = "the last that has a bit in the body";
        let wrong = FormatError::BadField { field: "largest number", value: largest, must_be };
        match Dense::from_blocks(blocks, largest).filter(|dense| !dense.has_stray_bits()) {
            Some(dense) => Ok(Self { form: Form::Dense(dense), largest, len: found.len }),
            None => Err(wrong),
        }
    }

    /// A sparse bitmap from the body of a file, of which everything is checked.
    fn from_portable(bytes: &[u8], found: &Found) -> Result<Self, FormatError> {
        let (map, len) = portable::read(bytes)?;
        if let Some(value) = map.max().filter(|number| *number > found.largest) {
            let must_be = "no larger than the largest number of the header";
            return Err(FormatError::BadField { field: "sparse body: number", value, must_be });
        }
        found.check_len(len)?;
        Ok(Self { form: Form::Sparse(map), largest: found.largest, len })
    }

    #[cfg(feature = "std")]
    fn read_sparse(mut reader: Reader<impl std::io::Read>, found: &Found) -> Result<Self, Error> {
        let body = reader.read_section_to_vec()?;
        reader.finish()?;
        Ok(Self::from_portable(&body, found)?)
    }
}

impl Bitmap {
    /// The bitmap in the bytes of a file. Every field, every checksum and every number is checked.
    ///
    /// # Errors
    /// When the bytes are damaged, or not a bitmap.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes_with(bytes, &ReadOptions::new())
    }

    /// [`from_bytes`](Self::from_bytes), with a limit on the file's length.
    ///
    /// The dense form takes as much memory as its file. The sparse form can take some ten times as much, where most of
    /// its containers hold a single number.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), or when the file is longer.
    pub fn from_bytes_with(bytes: &[u8], options: &ReadOptions) -> Result<Self, Error> {
        let file = File::parse(bytes)?;
        options.check_length(file.layout().file_length())?;
        let found = Found::understand(file.header())?;
        file.verify()?;
        let body = file.section(0).unwrap_or(&[]);
        if found.is_dense {
            let mut blocks = Owned::zeroed(found.blocks()).map_err(FormatError::from)?;
            BlockFiller::new(&mut blocks).fill(body);
            Ok(Self::from_blocks(blocks, &found)?.counted()?)
        } else {
            Ok(Self::from_portable(body, &found)?)
        }
    }

    /// Reads a bitmap from a stream, which must end with it. Nothing is allocated before the header has been checked
    /// against the limit in `options`.
    ///
    /// # Errors
    /// When reading fails, or the bytes are damaged or not a bitmap.
    #[cfg(feature = "std")]
    pub fn read_from(stream: impl std::io::Read, options: &ReadOptions) -> Result<Self, Error> {
        Self::read_body(Reader::new(stream, options.limit())?)
    }

    /// Reads a file into memory. Every checksum and every number is checked.
    ///
    /// # Errors
    /// When reading fails, or the file is damaged or not a bitmap.
    #[cfg(feature = "std")]
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self, Error> {
        Self::open_with(path, &ReadOptions::new())
    }

    /// [`open`](Self::open), with a limit, as [`from_bytes_with`](Self::from_bytes_with).
    ///
    /// # Errors
    /// As [`open`](Self::open), or when the file is longer.
    #[cfg(feature = "std")]
    pub fn open_with(path: impl AsRef<std::path::Path>, options: &ReadOptions) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::read_body(Reader::open(path, options.limit())?).map_err(|error| error.at(path, "reading"))
    }

    #[cfg(feature = "std")]
    fn read_body(mut reader: Reader<impl std::io::Read>) -> Result<Self, Error> {
        let found = Found::understand(reader.header())?;
        if !found.is_dense {
            return Self::read_sparse(reader, &found);
        }
        let mut blocks = Owned::zeroed(found.blocks()).map_err(FormatError::from)?;
        let mut filler = BlockFiller::new(&mut blocks);
        reader.read_section_in_pieces(|bytes| filler.fill(bytes))?;
        reader.finish()?;
        Ok(Self::from_blocks(blocks, &found)?.counted()?)
    }

    /// Counts the numbers that were read, and compares with what the header says.
    fn counted(self) -> Result<Self, FormatError> {
        if let Form::Dense(dense) = &self.form {
            Found { is_dense: true, largest: self.largest, len: self.len }.check_len(dense.count())?;
        }
        Ok(self)
    }
}

#[cfg(feature = "std")]
impl super::MappedBitmap {
    /// Maps a file: questions are answered from it without reading it first, and several processes share one copy in
    /// memory. The header is checked; the checksums of the body are not, because that would read it
    /// ([`codec::verify`] does).
    ///
    /// Only the dense form can be asked in its file. A sparse one is read into memory, as by [`Bitmap::open`].
    ///
    /// # Errors
    /// When mapping fails, or the header is damaged or not that of a bitmap.
    pub fn map(path: impl AsRef<std::path::Path>) -> Result<Self, Error> {
        Self::map_with(path, &ReadOptions::new())
    }

    /// [`map`](Self::map), with a limit.
    ///
    /// # Errors
    /// As [`map`](Self::map), or when the file is longer.
    pub fn map_with(path: impl AsRef<std::path::Path>, options: &ReadOptions) -> Result<Self, Error> {
        let path = path.as_ref();
        let reader = file::open_to_map(path, options)?;
        Self::map_rest(reader).map_err(|error| error.at(path, "mapping"))
    }

    fn map_rest(reader: Reader<std::fs::File>) -> Result<Self, Error> {
        let found = Found::understand(reader.header())?;
        if !found.is_dense {
            return Self::read_sparse(reader, &found);
        }
        let blocks = file::only(file::map_sections(&reader)?)?;
        Ok(Self::from_blocks(blocks, &found)?)
    }
}

/// What a header says of a bitmap.
struct Found {
    is_dense: bool,
    largest: u64,
    len: u64,
}

impl Found {
    /// Checks every field.
    fn understand(header: &Header) -> Result<Self, FormatError> {
        if header.kind != Kind::BITMAP {
            return Err(FormatError::WrongKind { expected: Kind::BITMAP, got: header.kind });
        }
        let is_dense = match header.recipe {
            DENSE => true,
            SPARSE => false,
            other => return Err(FormatError::Unknown { what: "form of a bitmap", number: u64::from(other) }),
        };
        let [largest, rest @ ..] = header.parameters;
        for value in rest {
            must_be_zero("recipe parameters", value)?;
        }
        must_be_zero("hash id", u64::from(header.hash.id.get()))?;
        must_be_zero("hash seed", header.hash.seed)?;
        must_be_zero("flag of a key id", u64::from(header.hash.key_id.is_some()))?;
        must_be_zero("planned keys", header.planned_keys)?;
        must_be_zero("planned rate", header.planned_rate.to_bits())?;
        let must_be = "the count of its numbers";
        let len = header.inserted.filter(|len| len.checked_sub(1).is_none_or(|len| len <= largest));
        let value = header.inserted.unwrap_or(u64::MAX);
        let len = len.ok_or(FormatError::BadField { field: "inserted count", value, must_be })?;
        let found = Self { is_dense, largest, len };
        let expected = match &header.sections[..] {
            [_] if is_dense => file::section(found.blocks())?,
            [section] => Section::new(ROARING, section.length),
            _ => Section::new(0, 0),
        };
        if header.sections != [expected] {
            let value = header.sections.first().map_or(0, |section| section.length);
            let must_be = "one: of role 1 and as many blocks as the largest number says, or of role 2";
            return Err(FormatError::BadField { field: "sections", value, must_be });
        }
        Ok(found)
    }

    fn blocks(&self) -> u64 {
        self.largest / BLOCK_BITS + 1
    }

    fn check_len(&self, len: u64) -> Result<(), FormatError> {
        if len == self.len {
            return Ok(());
        }
        let must_be = "the count of its numbers";
        Err(FormatError::BadField { field: "inserted count", value: self.len, must_be })
    }
}
