//! What a build without the feature `parquet` says of Parquet files.

use std::path::Path;

use super::batch::Batch;
use super::options::KeyOptions;
use crate::failure::Failure;

/// There is none.
#[derive(Debug)]
pub(super) enum ParquetReader {}

impl ParquetReader {
    pub(super) fn open(path: &Path, _options: &KeyOptions) -> Result<Self, Failure> {
        Err(Failure::Message(format!(
            "{} is a Parquet file, which this build of mayhap doesn't read; one from `cargo install mayhap-cli \
             --features parquet` does",
            path.display()
        )))
    }

    pub(super) fn next(&mut self, _batch: &mut Batch) -> Result<bool, Failure> {
        match *self {}
    }
}
