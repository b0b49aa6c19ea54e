//! The flags by which commands are told of another system's file.

use std::path::Path;

use clap::{Args, ValueEnum};
use mayhap::bits::Mapped;
use mayhap::formats::{ForeignFile, Format, KeyForm};

use super::items::selectors;
use super::loaded::Loaded;
use crate::failure::Failure;
use crate::filter_file::{FilterFile, Unlock};
use crate::numbers::parse_count;

/// The systems whose filters are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// LevelDB: one filter, or a whole table file (.ldb); badger's too
    Leveldb,
    /// LevelDB: the filter block of a table, taken out of it
    LeveldbBlock,
    /// Guava: what BloomFilter.writeTo writes
    Guava,
    /// Spark: what BloomFilter.writeTo writes, of version 1 or 2
    Spark,
    /// Parquet: a whole file (.parquet), or one filter with its header
    Parquet,
    /// RedisBloom: a DUMP payload, a file of SCANDUMP chunks, or an .rdb file
    #[value(alias = "redis-dump", alias = "redis-chunks", alias = "redis-rdb", alias = "rdb")]
    Redis,
    /// The Go filter over FNV-1 that crawlers copy: its bits, with --hashes and --bits
    Crawler,
}

/// What a crawler's bits don't say.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Filters of other systems")]
pub(crate) struct Details {
    /// Bits for each key (k), which a crawler's bits don't tell
    #[arg(long, value_name = "COUNT", requires = "format")]
    pub(super) hashes: Option<u32>,

    /// Bits of the filter (m), which a crawler's bits don't tell
    #[arg(long, value_name = "COUNT", value_parser = parse_count, requires = "format")]
    pub(super) bits: Option<u64>,
}

/// The [names](KeyForm::name) of the forms there are.
const KEY_TYPES: [&str; 10] = ["text", "i32", "i64", "u32", "u64", "f32", "f64", "utf16", "uuid", "hex"];

/// What no other system's filter says.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Filters of other systems")]
pub(crate) struct KeyType {
    /// What the keys in it are: text, numbers as Java and Parquet hash them, Java's UTF-16 strings, UUIDs, or any bytes
    /// in hex [default: what a Parquet file says, else text]
    #[arg(long, value_name = "TYPE", value_parser = KEY_TYPES, requires = "format")]
    key_type: Option<String>,
}

/// Lets a command take the file of another system in the place of a mayhap file.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Filters of other systems")]
pub(crate) struct ForeignOptions {
    /// The filter is another system's file; a mayhap file needs no such word
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<FormatName>,

    #[command(flatten)]
    key_type: KeyType,

    #[command(flatten)]
    details: Details,
}

/// Which of the filters in a file.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Which filter of a file that has several")]
pub(crate) struct Selection {
    /// The key of an .rdb file
    #[arg(long, value_name = "NAME")]
    pub(super) key: Option<String>,

    /// The database of an .rdb file that the key is in
    #[arg(long, value_name = "NUMBER")]
    pub(super) database: Option<u64>,

    /// The column of a Parquet file, with dots between the names on its way
    #[arg(long, value_name = "NAME")]
    pub(super) column: Option<String>,

    /// The row group of a Parquet file, counted from 0
    #[arg(long, value_name = "NUMBER")]
    pub(super) row_group: Option<u32>,

    /// The filter of a LevelDB table or filter block, counted from 0
    #[arg(long, value_name = "NUMBER")]
    pub(super) block: Option<usize>,
}

impl FormatName {
    /// Whether filters of the format are this system's.
    pub(crate) fn is_of(self, format: Format) -> bool {
        match self {
            Self::Leveldb | Self::LeveldbBlock => format == Format::LevelDb,
            Self::Guava => format == Format::Guava,
            Self::Spark => format == Format::Spark,
            Self::Parquet => format == Format::Parquet,
            Self::Redis => format == Format::RedisDump,
            Self::Crawler => matches!(format, Format::Crawler { .. }),
        }
    }

    /// As it is written on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

impl ForeignOptions {
    /// Whether the file is another system's.
    pub(crate) fn is_given(&self) -> bool {
        self.format.is_some()
    }

    /// Reads a filter into memory: another system's if a format was given, a mayhap file otherwise.
    pub(crate) fn open(&self, unlock: &Unlock, path: &Path) -> Result<FilterFile, Failure> {
        match self.format {
            Some(format) => self.read(format, path).map(FilterFile::Foreign),
            None => unlock.open(path),
        }
    }

    /// Maps filters, if they are mayhap files.
    pub(crate) fn map_all(
        &self,
        unlock: &Unlock,
        paths: &[&Path],
    ) -> Result<Vec<FilterFile<Mapped>>, Failure> {
        let Some(format) = self.format else { return unlock.map_all(paths) };
        unlock.refuse_for_foreign()?;
        paths.iter().map(|path| self.read(format, path).map(FilterFile::Foreign)).collect()
    }

    /// Maps a filter, if it is a mayhap file.
    pub(crate) fn map(&self, unlock: &Unlock, path: &Path) -> Result<FilterFile<Mapped>, Failure> {
        let Some(format) = self.format else { return unlock.map(path) };
        unlock.refuse_for_foreign()?;
        self.read(format, path).map(FilterFile::Foreign)
    }

    fn read(&self, format: FormatName, path: &Path) -> Result<ForeignFile, Failure> {
        let file = self.details.with_items(format, path, &Selection::default(), |items| match items {
            [only] => only.load(),
            several => Err(Failure::Message(format!(
                "{} has several filters; take one into a mayhap file first, by `mayhap import` and one of:\n{}",
                path.display(),
                selectors(several)
            ))),
        })?;
        self.key_type.apply(file)
    }
}

impl KeyType {
    /// The filter with keys of the type that was given, or else of the one that its file tells.
    ///
    /// # Errors
    /// When none was given, and what people write for the keys isn't what was hashed; or when one was given of which the
    /// file says that it can't be.
    pub(crate) fn apply(&self, loaded: Loaded) -> Result<ForeignFile, Failure> {
        let keys = match self.given() {
            Some(given) => {
                loaded.keys.refuse_contradiction(given)?;
                given
            }
            None => loaded.keys.form.map_err(Failure::Message)?,
        };
        Ok(ForeignFile { filter: loaded.filter, keys })
    }

    pub(super) fn given(&self) -> Option<KeyForm> {
        self.key_type.as_deref().and_then(KeyForm::from_name)
    }
}

impl Selection {
    /// Refuses a choice that the format doesn't have.
    pub(super) fn check(&self, format: FormatName) -> Result<(), Failure> {
        let wrong = [
            ("--key", self.key.is_some(), format != FormatName::Redis, "an .rdb file of Redis"),
            ("--database", self.database.is_some(), format != FormatName::Redis, "an .rdb file of Redis"),
            ("--column", self.column.is_some(), format != FormatName::Parquet, "a Parquet file"),
            ("--row-group", self.row_group.is_some(), format != FormatName::Parquet, "a Parquet file"),
            (
                "--block",
                self.block.is_some(),
                !matches!(format, FormatName::Leveldb | FormatName::LeveldbBlock),
                "a table or filter block of LevelDB",
            ),
        ];
        match wrong.into_iter().find(|(_, is_given, is_wrong, _)| *is_given && *is_wrong) {
            Some((flag, .., what)) => Err(Failure::Message(format!("{flag} is for {what}; leave it out"))),
            None => Ok(()),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.key.is_none()
            && self.database.is_none()
            && self.column.is_none()
            && self.row_group.is_none()
            && self.block.is_none()
    }
}
