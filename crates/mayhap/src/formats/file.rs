//! Filters of other systems in files of this crate's own.

use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::path::Path;

use super::any::{ForeignFilter, Format};
use super::key_form::KeyForm;
#[cfg(feature = "std")]
use crate::codec::{Existing, Reader, save};
use crate::codec::{File, FormatError, HashRecord, Header, Kind, Section, Writer};
use crate::error::Error;
use crate::file::{ReadOptions, must_be_zero};
use crate::filter::InsertError;

/// The role of the section that has the other system's bytes.
const BYTES: u16 = 1;

/// A filter of another system, and what its own bytes don't say: which system it is of, and what its keys are.
///
/// Its file has a magic number and checksums, which the other systems' bytes lack, and can be opened without being told
/// what it is. What is in it are the other system's bytes, and [`ForeignFilter::to_bytes`] gives them back.
///
/// ```
/// use mayhap::formats::guava::{GuavaBloom, Sizing};
/// use mayhap::formats::{ForeignFile, ForeignFilter};
///
/// let mut theirs = GuavaBloom::with_rate(1_000, 0.01, Sizing::Guava31)?;
/// theirs.insert("apple");
/// let bytes = ForeignFile::from(ForeignFilter::Guava(theirs)).to_bytes()?;
///
/// let file = ForeignFile::from_bytes(&bytes)?;
/// assert_eq!(file.contains(b"apple"), Some(true));
/// assert_eq!(file.filter.format().name(), "guava");
/// # Ok::<(), mayhap::Error>(())
/// ```
#[derive(Debug)]
pub struct ForeignFile {
    /// The filter.
    pub filter: ForeignFilter,
    /// What its keys are.
    pub keys: KeyForm,
}

impl From<ForeignFilter> for ForeignFile {
    /// A filter of texts.
    fn from(filter: ForeignFilter) -> Self {
        Self { filter, keys: KeyForm::Text }
    }
}

impl ForeignFile {
    /// Whether a key that is written as text may be in the set; nothing if the text is no key of this filter.
    #[must_use]
    pub fn contains(&self, text: &[u8]) -> Option<bool> {
        let mut room = Vec::new();
        self.keys.encode(text, &mut room).map(|key| self.filter.contains(key))
    }

    /// Adds a key that is written as text, and tells whether it was new; nothing if the text is no key of this filter.
    ///
    /// # Errors
    /// When a filter of RedisBloom's is full and doesn't grow.
    pub fn insert(&mut self, text: &[u8]) -> Result<Option<bool>, InsertError> {
        let mut room = Vec::new();
        self.keys.encode(text, &mut room).map(|key| self.filter.insert(key)).transpose()
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FormatError> {
        let body = self.filter.to_bytes()?;
        let mut writer = Writer::to_vec(&self.header(body.len() as u64))?;
        writer.write_body(&body)?;
        writer.finish()
    }

    /// The filter in the bytes of a file. Every field and every checksum is checked.
    ///
    /// # Errors
    /// When the bytes are damaged, or not such a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes_with(bytes, &ReadOptions::new())
    }

    /// [`from_bytes`](Self::from_bytes), with a limit.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and when the file is longer than the limit.
    pub fn from_bytes_with(bytes: &[u8], options: &ReadOptions) -> Result<Self, Error> {
        let file = File::parse(bytes)?;
        options.check_length(file.layout().file_length())?;
        let (format, keys) = understand(file.header())?;
        file.verify()?;
        let body = file.section(0).unwrap_or(&[]);
        Ok(Self { filter: ForeignFilter::from_bytes_with(format, body, options)?, keys })
    }

    /// Saves it: beside the target first, synced, then renamed.
    ///
    /// # Errors
    /// When writing fails, or there is such a file already and it is not to be replaced.
    #[cfg(feature = "std")]
    pub fn save(&self, path: impl AsRef<Path>, existing: Existing) -> Result<(), Error> {
        let body = self.filter.to_bytes()?;
        Ok(save(path, existing, &self.header(body.len() as u64), |writer| writer.write_body(&body))?)
    }

    /// Reads a file into memory. Every checksum is checked.
    ///
    /// # Errors
    /// When reading fails, or the file is damaged, or not such a file.
    #[cfg(feature = "std")]
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path, &ReadOptions::new())
    }

    /// [`open`](Self::open), with a limit.
    ///
    /// # Errors
    /// As [`open`](Self::open), and when the file is longer than the limit.
    #[cfg(feature = "std")]
    pub fn open_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, Error> {
        let path = path.as_ref();
        let reader = Reader::open(path, options.limit())?;
        read(reader, options).map_err(|error| error.at(path, "reading"))
    }

    fn header(&self, length: u64) -> Header {
        let format = self.filter.format();
        let mut header = Header::new(Kind::FOREIGN);
        header.recipe = format.id();
        header.parameters[0] = self.keys.id();
        if let Format::Crawler { hashes, bits } = format {
            header.parameters[1] = u64::from(hashes);
            header.parameters[2] = bits;
        }
        header.sections.push(Section::new(BYTES, length));
        header
    }
}

/// What a header says of its body.
fn understand(header: &Header) -> Result<(Format, KeyForm), FormatError> {
    if header.kind != Kind::FOREIGN {
        return Err(FormatError::WrongKind { expected: Kind::FOREIGN, got: header.kind });
    }
    if header.hash != HashRecord::NONE {
        let value = u64::from(header.hash.id.get());
        return Err(FormatError::BadField { field: "hash id", value, must_be: "0 for this kind" });
    }
    must_be_zero("planned keys", header.planned_keys)?;
    must_be_zero("planned rate", header.planned_rate.to_bits())?;
    let [keys, hashes, bits, unused] = header.parameters;
    must_be_zero("parameter 3", unused)?;
    let format = Format::from_id(header.recipe, hashes, bits)?;
    let keys = KeyForm::from_id(keys)
        .ok_or(FormatError::Unknown { what: "type of another system's keys", number: keys })?;
    match header.sections.as_slice() {
        [section] if *section == Section::new(BYTES, section.length) => Ok((format, keys)),
        sections => {
            let value = sections.len() as u64;
            Err(FormatError::BadField {
                field: "sections",
                value,
                must_be: "one, of role 1, without parameters",
            })
        }
    }
}

#[cfg(feature = "std")]
fn read(mut reader: Reader<impl std::io::Read>, options: &ReadOptions) -> Result<ForeignFile, Error> {
    let (format, keys) = understand(reader.header())?;
    let body = reader.read_section_to_vec()?;
    reader.finish()?;
    Ok(ForeignFile { filter: ForeignFilter::from_bytes_with(format, &body, options)?, keys })
}

impl Format {
    /// Its number in a file.
    const fn id(self) -> u16 {
        match self {
            Self::LevelDb => 1,
            Self::Guava => 2,
            Self::Spark => 3,
            Self::Parquet => 4,
            Self::RedisDump => 5,
            Self::Crawler { .. } => 6,
        }
    }

    fn from_id(id: u16, hashes: u64, bits: u64) -> Result<Self, FormatError> {
        let format = match id {
            1 => Self::LevelDb,
            2 => Self::Guava,
            3 => Self::Spark,
            4 => Self::Parquet,
            5 => Self::RedisDump,
            6 => {
                let must_be = "a number of hashes";
                let hashes = u32::try_from(hashes).map_err(|_| FormatError::BadField {
                    field: "parameter 1",
                    value: hashes,
                    must_be,
                })?;
                return Ok(Self::Crawler { hashes, bits });
            }
            _ => {
                let number = u64::from(id);
                return Err(FormatError::Unknown { what: "format of another system's filter", number });
            }
        };
        must_be_zero("parameter 1", hashes)?;
        must_be_zero("parameter 2", bits)?;
        Ok(format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::StreamError;
    use crate::formats::crawler::CrawlerBloom;
    use crate::formats::guava::{GuavaBloom, Sizing};
    use crate::formats::leveldb::LevelDbFilter;
    use crate::formats::parquet::SplitBlockBloom;
    use crate::formats::redisbloom::{RdbVersion, RedisBloom, RedisCuckoo};
    use crate::formats::spark::{SparkBloom, SparkRecipe};
    use std::vec;

    fn every_kind() -> Vec<ForeignFile> {
        let filters = vec![
            ForeignFilter::LevelDb(LevelDbFilter::new(100, 10).unwrap()),
            ForeignFilter::Guava(GuavaBloom::with_rate(100, 0.01, Sizing::Guava31).unwrap()),
            ForeignFilter::Spark(SparkBloom::with_rate(SparkRecipe::V1, 100, 0.01).unwrap()),
            ForeignFilter::Parquet(SplitBlockBloom::with_rate(100, 0.01).unwrap()),
            ForeignFilter::RedisBloom(RedisBloom::new().unwrap(), RdbVersion::REDIS_7_0),
            ForeignFilter::RedisCuckoo(RedisCuckoo::with_capacity(100).unwrap(), RdbVersion::REDIS_8_0),
            ForeignFilter::Crawler(CrawlerBloom::new(7, 1_001).unwrap()),
        ];
        filters.into_iter().map(|filter| ForeignFile { filter, keys: KeyForm::Int64 }).collect()
    }

    #[test]
    fn each_comes_back_with_its_keys_and_its_bytes() {
        for mut file in every_kind() {
            for key in 0..80 {
                assert!(file.insert(std::format!("{key}").as_bytes()).unwrap().is_some());
            }
            assert_eq!(file.insert(b"apple").unwrap(), None);
            let bytes = file.to_bytes().unwrap();
            let again = ForeignFile::from_bytes(&bytes).unwrap();
            assert_eq!(again.filter.format(), file.filter.format());
            assert_eq!(again.keys, KeyForm::Int64);
            assert_eq!(again.filter.to_bytes().unwrap(), file.filter.to_bytes().unwrap());
            assert_eq!(again.contains(b"79"), Some(true));
            assert!(again.filter.contains(&79i64));
            assert_eq!(again.contains(b"apple"), None);
            let limit = ReadOptions::new().max_bytes(bytes.len() as u64 - 1);
            assert!(ForeignFile::from_bytes_with(&bytes, &limit).is_err());
        }
    }

    #[test]
    fn the_file_on_the_disk_is_the_same() {
        let directory = std::env::temp_dir().join(std::format!("mayhap-foreign-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("filter.mayhap");
        for file in every_kind() {
            file.save(&path, Existing::Replace).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), file.to_bytes().unwrap());
            let again = ForeignFile::open(&path).unwrap();
            assert_eq!(again.to_bytes().unwrap(), file.to_bytes().unwrap());
            assert!(matches!(file.save(&path, Existing::Refuse), Err(Error::File(_))));
            assert!(ForeignFile::open_with(&path, &ReadOptions::new().max_bytes(100)).is_err());
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }

    /// A pipe that was opened by its name has no length to compare with the header's.
    #[test]
    fn a_stream_that_announces_more_than_comes_takes_no_memory_for_it() {
        let file = &every_kind()[1];
        let mut bytes = file.header(1 << 46).to_bytes().unwrap();
        bytes.resize(bytes.len() + (1 << 20), 0);
        let reader = Reader::new(&bytes[..], u64::MAX).unwrap();
        let error = read(reader, &ReadOptions::new()).unwrap_err();
        let cut = matches!(error, Error::Stream(StreamError::Format(FormatError::Truncated { .. })));
        assert!(cut, "{error}");
    }

    /// A file that was written once is read by every later version.
    #[test]
    fn the_layout_is_frozen() {
        for (file, id) in every_kind().iter().zip([1u8, 2, 3, 4, 5, 5, 6]) {
            let (bytes, body) = (file.to_bytes().unwrap(), file.filter.to_bytes().unwrap());
            assert_eq!(bytes[24..32], [13, 0, id, 0, 0, 0, 0, 0], "kind, recipe, no hash function");
            let [hashes, bits] = if id == 6 { [7, 1_001] } else { [0, 0] };
            let parameters = [2u64, hashes, bits, 0].map(u64::to_le_bytes).concat();
            assert_eq!(bytes[32..64], parameters, "keys of 64 bits");
            assert_eq!(bytes[192..192 + body.len()], body);
        }
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let bytes = every_kind()[1].to_bytes().unwrap();
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            assert!(ForeignFile::from_bytes(&changed).is_err(), "byte {place}");
            assert!(ForeignFile::from_bytes(&bytes[..place]).is_err(), "cut at {place}");
        }
    }

    #[test]
    fn headers_of_other_meaning_are_refused() {
        type Change = fn(&mut Header);
        let cases: [(Change, &str); 10] = [
            (|header| header.kind = Kind::BLOCKED_BLOOM, "a filter of another system was asked for"),
            (|header| header.recipe = 0, "format of another system's filter 0 is not known"),
            (|header| header.recipe = 7, "format of another system's filter 7 is not known"),
            (|header| header.parameters[0] = 10, "type of another system's keys 10 is not known"),
            (|header| header.parameters[1] = 1, "\"parameter 1\" is 1"),
            (|header| header.parameters[2] = 1, "\"parameter 2\" is 1"),
            (|header| header.parameters[3] = 1, "\"parameter 3\" is 1"),
            (|header| header.planned_keys = 1, "\"planned keys\" is 1"),
            (|header| header.sections[0].role = 2, "\"sections\" is 1"),
            (|header| header.hash.seed = 1, "\"hash id\" is 0"),
        ];
        let file = &every_kind()[1];
        let body = file.filter.to_bytes().unwrap();
        for (change, expected) in cases {
            let mut header = file.header(body.len() as u64);
            change(&mut header);
            let bytes = Writer::to_vec(&header).and_then(|mut writer| {
                writer.write_body(&body)?;
                writer.finish()
            });
            let error = bytes.map_err(Error::from).and_then(|bytes| ForeignFile::from_bytes(&bytes));
            let message = std::string::ToString::to_string(&error.unwrap_err());
            assert!(message.contains(expected), "{message}");
        }
    }
}
