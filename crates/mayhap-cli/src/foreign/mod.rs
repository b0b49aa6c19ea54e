//! Filters of other systems, as commands are given them.

mod base64;
mod facts;
mod items;
mod leveldb;
mod loaded;
mod native;
mod options;
mod parquet;
mod redis;
mod write;

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use mayhap::formats::Format;

use crate::failure::Failure;
use crate::keys::cannot_read;

pub(crate) use facts::Facts;
pub(crate) use items::Item;
pub(crate) use loaded::Loaded;
pub(crate) use native::native_file;
pub(crate) use options::{Details, ForeignOptions, FormatName, KeyType, Selection};
pub(crate) use write::{Shape, claim, how_to_load, is_standard_output, save, with_rdb_version};

/// What a mayhap file begins with.
const OURS: &[u8] = b"\x8bmayhap\n";

/// What people call a format.
pub(crate) fn title(format: Format) -> &'static str {
    match format {
        Format::LevelDb => "a LevelDB filter",
        Format::Guava => "a Guava filter",
        Format::Spark => "a Spark filter",
        Format::Parquet => "a Parquet filter",
        Format::RedisDump => "a RedisBloom filter",
        Format::Crawler { .. } => "a crawler's filter",
        _ => "a filter of another system",
    }
}

/// All bytes of a file; `-` is standard input.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        return match io::stdin().lock().read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => Err(Failure::Message(format!("cannot read standard input: {error}"))),
        };
    }
    if path.is_dir() {
        return Err(Failure::Message(format!("{} is a directory; name a file in it", path.display())));
    }
    fs::read(path).map_err(|error| cannot_read(path, &error))
}

/// A file that isn't what it was said to be.
fn not_one(path: &Path, title: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::Message(format!(
        "{} can't be read as {title}: {error} (or the file is of another format than --format says)",
        path.display()
    ))
}
