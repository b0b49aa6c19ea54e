//! The filters in a file, which may be several, and the one among them that is meant.

use std::path::Path;

use mayhap::formats::{ForeignFilter, Format};

use super::{Details, FormatName, Loaded, OURS, Selection, leveldb, not_one, parquet, read, redis, title};
use crate::failure::Failure;

/// A filter in a file that may have several.
pub(crate) struct Item<'a> {
    /// How it is selected: "--key urls". Empty in a file that has but this one.
    pub(crate) selector: String,
    is_selected: bool,
    load: Box<dyn Fn() -> Result<Loaded, Failure> + 'a>,
}

impl Details {
    /// Reads the filter that was selected.
    ///
    /// # Errors
    /// When there isn't exactly one such; the message lists those there are.
    pub(crate) fn open(
        &self,
        format: FormatName,
        path: &Path,
        selection: &Selection,
    ) -> Result<Loaded, Failure> {
        self.with_items(format, path, selection, |items| load_only(path, items))
    }

    /// The same of bytes that were read already.
    pub(crate) fn open_bytes(
        &self,
        format: FormatName,
        path: &Path,
        bytes: &[u8],
        selection: &Selection,
    ) -> Result<Loaded, Failure> {
        selection.check(format)?;
        load_only(path, &self.items(format, path, bytes, selection)?)
    }

    /// Every filter in the file, to be loaded one by one.
    pub(crate) fn with_items<T>(
        &self,
        format: FormatName,
        path: &Path,
        selection: &Selection,
        work: impl FnOnce(&[Item<'_>]) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        selection.check(format)?;
        if format == FormatName::Parquet && path.as_os_str() != "-" && parquet::is_whole_file(path)? {
            // A Parquet file may be much larger than its filters; only those are read.
            return work(&parquet::items(path, selection)?);
        }
        let bytes = read(path)?;
        work(&self.items(format, path, &bytes, selection)?)
    }

    fn items<'a>(
        &self,
        format: FormatName,
        path: &'a Path,
        bytes: &'a [u8],
        selection: &Selection,
    ) -> Result<Vec<Item<'a>>, Failure> {
        if bytes.starts_with(OURS) {
            return Err(Failure::Message(format!(
                "{} is a mayhap file, which says itself what it holds; leave out --format",
                path.display()
            )));
        }
        match format {
            FormatName::Leveldb if leveldb::is_table(bytes) => leveldb::table_items(path, bytes, selection),
            FormatName::LeveldbBlock => leveldb::block_items(path, bytes, selection),
            FormatName::Redis => redis::items(path, bytes, selection),
            FormatName::Parquet if bytes.starts_with(b"PAR1") => Err(Failure::Message(
                "a whole Parquet file must be named; from a pipe or standard input one filter is read"
                    .to_owned(),
            )),
            _ => Ok(vec![self.only_item(format, path, bytes)?]),
        }
    }

    fn only_item<'a>(
        &self,
        format: FormatName,
        path: &'a Path,
        bytes: &'a [u8],
    ) -> Result<Item<'a>, Failure> {
        let format = match (format, self.hashes, self.bits) {
            (FormatName::Crawler, Some(hashes), Some(bits)) => Format::Crawler { hashes, bits },
            (FormatName::Crawler, ..) => {
                return Err(Failure::Message(
                    "a crawler's bits tell neither their number nor how many a key has; give --hashes and --bits"
                        .to_owned(),
                ));
            }
            (_, None, None) => match format {
                FormatName::Guava => Format::Guava,
                FormatName::Spark => Format::Spark,
                FormatName::Parquet => Format::Parquet,
                _ => Format::LevelDb,
            },
            _ => {
                return Err(Failure::Message(
                    "--hashes and --bits are for --format crawler; the other formats tell them".to_owned(),
                ));
            }
        };
        Ok(Item::new(String::new(), true, move || {
            let filter = ForeignFilter::from_bytes(format, bytes);
            filter.map(Loaded::from).map_err(|error| not_one(path, title(format), &error))
        }))
    }
}

impl<'a> Item<'a> {
    pub(super) fn new(
        selector: String,
        is_selected: bool,
        load: impl Fn() -> Result<Loaded, Failure> + 'a,
    ) -> Self {
        Self { selector, is_selected, load: Box::new(load) }
    }

    /// Reads the filter.
    pub(crate) fn load(&self) -> Result<Loaded, Failure> {
        (self.load)()
    }

    /// Whether the selection means it, or may mean it.
    pub(crate) fn is_selected(&self) -> bool {
        self.is_selected
    }
}

/// The filter that is selected, if it is one.
fn load_only(path: &Path, items: &[Item<'_>]) -> Result<Loaded, Failure> {
    let mut selected = items.iter().filter(|item| item.is_selected);
    let problem = match (selected.next(), selected.next()) {
        (Some(item), None) => return item.load(),
        (Some(_), Some(_)) => "has several filters that could be meant; say which with one of",
        (None, _) => "has no such filter; it has",
    };
    Err(Failure::Message(format!("{} {problem}:\n{}", path.display(), selectors(items))))
}

/// At most this many filters are listed in a message.
const MOST_LISTED: usize = 20;

pub(super) fn selectors(items: &[Item<'_>]) -> String {
    let listed: Vec<String> =
        items.iter().take(MOST_LISTED).map(|item| format!("  {}", item.selector)).collect();
    let more = items.len().saturating_sub(MOST_LISTED);
    let rest = if more > 0 {
        format!("\n  and {more} more: `mayhap import --list` shows all")
    } else {
        String::new()
    };
    listed.join("\n") + &rest
}
