//! Filter files that a command is given: of whichever kind.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use mayhap::bits::{Blocks, Mapped, Owned};
use mayhap::codec::{Existing, FileError, FormatError, Header, Kind, Reader};
use mayhap::formats::{ForeignFile, KeyForm};
use mayhap::hash::SecretKey;
use mayhap::{AnyFilter, Bitmap, Digest, MappedAnyFilter, MappedBitmap, ReadOptions};

use crate::failure::Failure;
use crate::keys::{Batch, cannot_read};

/// What opening a filter may need.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct Unlock {
    /// File with the secret key of the filter: 32 hexadecimal digits
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
}

/// A filter file that was opened.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a run has one or two of them, and they are not moved about")]
pub(crate) enum FilterFile<S: Blocks = Owned> {
    /// Of keys.
    Filter(AnyFilter<S>),
    /// Of numbers.
    Bitmap(Bitmap<S>),
    /// Another system's, read into memory.
    Foreign(ForeignFile),
}

impl Unlock {
    /// The secret key, if a file of it was given.
    pub(crate) fn secret_key(&self) -> Result<Option<SecretKey>, Failure> {
        let Some(path) = &self.key_file else { return Ok(None) };
        let bytes = fs::read(path).map_err(|error| cannot_read(path, &error))?;
        match str::from_utf8(&bytes).ok().and_then(|text| parse_key(text.trim())) {
            Some(key) => Ok(Some(SecretKey::new(key))),
            None => Err(Failure::Message(format!(
                "{} holds no secret key; it should be 32 hexadecimal digits, as `openssl rand -hex 16` writes them",
                path.display()
            ))),
        }
    }

    fn options(&self) -> Result<ReadOptions, Failure> {
        Ok(match self.secret_key()? {
            Some(key) => ReadOptions::new().secret_key(key),
            None => ReadOptions::new(),
        })
    }

    /// Reads a filter into memory, and checks every checksum.
    pub(crate) fn open(&self, path: &Path) -> Result<FilterFile, Failure> {
        self.refuse_if_unused(&[path])?;
        let options = self.options()?;
        Ok(match kind_of(path)? {
            Kind::BITMAP => FilterFile::Bitmap(Bitmap::open_with(path, &options).map_err(explain)?),
            Kind::FOREIGN => FilterFile::Foreign(ForeignFile::open_with(path, &options).map_err(explain)?),
            _ => FilterFile::Filter(AnyFilter::open_with(path, &options).map_err(explain)?),
        })
    }

    /// Maps a filter: asked without being read.
    pub(crate) fn map(&self, path: &Path) -> Result<FilterFile<Mapped>, Failure> {
        self.refuse_if_unused(&[path])?;
        map(path, &self.options()?)
    }

    /// Maps several, of which some may have the secret key and some none.
    pub(crate) fn map_all(&self, paths: &[&Path]) -> Result<Vec<FilterFile<Mapped>>, Failure> {
        self.refuse_if_unused(paths)?;
        let options = self.options()?;
        paths.iter().map(|path| map(path, &options)).collect()
    }

    /// Whoever gives a secret key takes the filter for a safe one, and should know if it isn't.
    fn refuse_if_unused(&self, paths: &[&Path]) -> Result<(), Failure> {
        if self.key_file.is_none() {
            return Ok(());
        }
        for path in paths {
            if header_of(path)?.0.hash.key_id.is_some() {
                return Ok(());
            }
        }
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        Err(Failure::Message(format!(
            "--key-file names a secret key, and {} was made without one; leave it out, or make the filter anew with it",
            names.join(" or ")
        )))
    }

    /// The same for a file of another system.
    pub(crate) fn refuse_for_foreign(&self) -> Result<(), Failure> {
        match self.key_file {
            Some(_) => Err(Failure::Message(
                "filters of other systems have no secret key; leave out --key-file".to_owned(),
            )),
            None => Ok(()),
        }
    }
}

/// Maps a filter to look at it, which needs no secret key. What it answers about keys means nothing.
pub(crate) fn inspect(path: &Path) -> Result<FilterFile<Mapped>, Failure> {
    map(path, &ReadOptions::new().for_inspection())
}

fn map(path: &Path, options: &ReadOptions) -> Result<FilterFile<Mapped>, Failure> {
    Ok(match kind_of(path)? {
        Kind::BITMAP => FilterFile::Bitmap(MappedBitmap::map_with(path, options).map_err(explain)?),
        Kind::FOREIGN => FilterFile::Foreign(ForeignFile::open_with(path, options).map_err(explain)?),
        _ => FilterFile::Filter(MappedAnyFilter::map_with(path, options).map_err(explain)?),
    })
}

/// The header of a filter file, and the length of the file.
pub(crate) fn header_of(path: &Path) -> Result<(Header, u64), Failure> {
    match path.metadata() {
        Ok(found) if found.is_dir() => {
            Err(Failure::Message(format!("{} is a directory; name a filter file", path.display())))
        }
        // Read for its header and then again, or mapped: of a pipe the second look would see what the first left over.
        Ok(found) if !found.is_file() => Err(Failure::Message(format!(
            "{} is a pipe or a device, and a filter must be a file; save it to one first",
            path.display()
        ))),
        Ok(found) => {
            let reader = Reader::open(path, u64::MAX).map_err(|error| explain(error.into()))?;
            Ok((reader.header().clone(), found.len()))
        }
        Err(error) => Err(cannot_read(path, &error)),
    }
}

/// The kind that a file says it is of.
pub(crate) fn kind_of(path: &Path) -> Result<Kind, Failure> {
    Ok(header_of(path)?.0.kind)
}

/// The error, and what a command line can do about it.
fn explain(error: mayhap::Error) -> Failure {
    use mayhap::Error::{File, Format};
    match &error {
        File(FileError::Format { source: FormatError::WrongKey { .. }, .. })
        | Format(FormatError::WrongKey { .. }) => {
            Failure::Message(format!("{error}; --key-file names the file it is in"))
        }
        _ => Failure::from(error),
    }
}

/// The error, with the file called as the user does.
pub(crate) fn called(mut error: mayhap::Error, name: &Path) -> mayhap::Error {
    use FileError::{AlreadyExists, Format, Io, NotAFile};
    if let mayhap::Error::File(
        Io { path, .. } | Format { path, .. } | AlreadyExists { path } | NotAFile { path },
    ) = &mut error
    {
        name.clone_into(path);
    }
    error
}

/// 16 bytes from 32 hexadecimal digits.
fn parse_key(text: &str) -> Option<[u8; 16]> {
    let mut key = [0; 16];
    if text.len() != 32 || !text.is_ascii() {
        return None;
    }
    for (byte, digits) in key.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(key)
}

impl<S: Blocks> FilterFile<S> {
    /// Its kind.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Filter(filter) => filter.kind(),
            Self::Bitmap(_) => Kind::BITMAP,
            Self::Foreign(_) => Kind::FOREIGN,
        }
    }

    /// What a key is asked by: its digest, or the number it is. Other systems have hashes of up to 128 bits; of their
    /// filters it is the answer itself.
    ///
    /// # Errors
    /// When it should be a number and isn't.
    #[inline]
    pub(crate) fn hash(&self, key: &[u8]) -> Result<Digest, Failure> {
        match self {
            Self::Filter(filter) => Ok(filter.hash(key)),
            Self::Bitmap(_) => number(key).map(Digest::new),
            Self::Foreign(file) => match file.contains(key) {
                Some(found) => Ok(Digest::new(u64::from(found))),
                None => Err(no_key_of(file, key)),
            },
        }
    }

    /// [`hash`](Self::hash) of many keys, which takes less time for each.
    ///
    /// # Errors
    /// As [`hash`](Self::hash).
    pub(crate) fn hash_each(&self, keys: &[&[u8]], digests: &mut Vec<Digest>) -> Result<(), Failure> {
        let before = digests.len();
        match self {
            Self::Filter(filter) => {
                digests.resize(before + keys.len(), Digest::new(0));
                filter.hasher().digest_each(keys, &mut digests[before..]);
            }
            Self::Foreign(file) if file.keys == KeyForm::Text => {
                let mut found = [false; Batch::GROUP];
                for keys in keys.chunks(found.len()) {
                    let found = &mut found[..keys.len()];
                    file.filter.contains_each(keys, found);
                    digests.extend(found.iter().map(|&found| Digest::new(u64::from(found))));
                }
            }
            Self::Bitmap(_) | Self::Foreign(_) => {
                for key in keys {
                    digests.push(self.hash(key)?);
                }
            }
        }
        Ok(())
    }

    /// Asks for many: `found[i]` for `digests[i]`, each from [`hash`](Self::hash).
    pub(crate) fn contains_hashes(&self, digests: &[Digest], found: &mut [bool]) {
        match self {
            Self::Filter(filter) => filter.contains_hashes(digests, found),
            Self::Bitmap(bitmap) => {
                for (digest, found) in digests.iter().zip(found) {
                    *found = bitmap.contains(digest.get());
                }
            }
            Self::Foreign(_) => {
                for (digest, found) in digests.iter().zip(found) {
                    *found = digest.get() != 0;
                }
            }
        }
    }

    /// Bytes of memory.
    pub(crate) fn len_bytes(&self) -> u64 {
        match self {
            Self::Filter(filter) => filter.len_bytes(),
            Self::Bitmap(bitmap) => bitmap.len_bytes(),
            Self::Foreign(file) => file.filter.len_bytes(),
        }
    }

    /// Saves it: beside the target first, synced, then renamed.
    pub(crate) fn save(&self, path: &Path, existing: Existing) -> Result<(), Failure> {
        self.write(path, existing).map_err(explain)
    }

    /// Saves it in the place of a file; `name` is what the user calls that.
    pub(crate) fn replace(&self, path: &Path, name: &Path) -> Result<(), Failure> {
        self.write(path, Existing::Replace).map_err(|error| explain(called(error, name)))
    }

    fn write(&self, path: &Path, existing: Existing) -> Result<(), mayhap::Error> {
        match self {
            Self::Filter(filter) => filter.save(path, existing),
            Self::Bitmap(bitmap) => bitmap.save(path, existing),
            Self::Foreign(file) => file.save(path, existing),
        }
    }
}

/// Adds a key to another system's filter, and tells whether it was new.
pub(crate) fn insert_foreign(file: &mut ForeignFile, key: &[u8]) -> Result<bool, Failure> {
    let refused = |error| Failure::Message(format!("{:?}: {error}; nothing was written", shown(key)));
    match file.insert(key).map_err(refused)? {
        Some(is_new) => Ok(is_new),
        None => Err(no_key_of(file, key)),
    }
}

fn no_key_of(file: &ForeignFile, key: &[u8]) -> Failure {
    Failure::Message(format!(
        "{:?} can't be a key of this filter, whose keys are of type {}; if they aren't, --key-type says so when the \
         filter is imported",
        shown(key),
        file.keys.name()
    ))
}

/// A key for a message, cut if it is long.
pub(crate) fn shown(key: &[u8]) -> String {
    String::from_utf8_lossy(key).chars().take(40).collect()
}

/// The number that a key is, for a bitmap.
pub(crate) fn number(key: &[u8]) -> Result<u64, Failure> {
    let text = std::str::from_utf8(key).ok();
    text.and_then(|text| text.trim().parse().ok()).ok_or_else(|| {
        Failure::Message(format!(
            "{:?} is no whole number from 0 to 2^64 - 1, and a bitmap holds nothing else",
            shown(key)
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_is_called_as_it_was_named() {
        let filter = FilterFile::Filter(mayhap::BloomFilter::with_rate(10, 0.1).unwrap().into());
        let Err(Failure::Message(message)) = filter.replace(Path::new("no/such/place"), Path::new("a link"))
        else {
            panic!("it was written");
        };
        assert!(message.starts_with("a link: ") && !message.contains("no/such/place"), "{message}");
    }
}
