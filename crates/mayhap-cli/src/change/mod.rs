//! Changing a filter file: `add` and `remove` have this in common.
//!
//! The file is read, changed in memory and written anew beside itself; then the new one takes its name. So at every
//! moment, also after a crash, there is the old file or the new one. A lock keeps two changes from overtaking each other.

mod insert;
mod lock;

use std::fs;
use std::path::{Path, PathBuf};

use mayhap::codec::Existing;

pub(crate) use insert::{Refused, explain as explain_insert, state};
pub(crate) use lock::Lock;

use crate::failure::Failure;
use crate::filter_file::{FilterFile, Unlock};
use crate::keys::cannot_read;

/// A filter file that is ours to change until this is dropped.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) filter: FilterFile,
    /// Where links lead to, so that it has one name for all who want to change it.
    path: PathBuf,
    _lock: Option<Lock>,
}

impl Change {
    /// Reads the file. Waits while another process changes it, and says so unless it is to be quiet.
    pub(crate) fn open(path: &Path, unlock: &Unlock, quiet: bool) -> Result<Self, Failure> {
        let path = fs::canonicalize(path).map_err(|error| cannot_read(path, &error))?;
        // Before a lock is made beside it: is it a filter at all?
        unlock.map(&path)?;
        let lock = Lock::take(&path, quiet)?;
        Ok(Self { filter: unlock.open(&path)?, path, _lock: Some(lock) })
    }

    /// Reads the file to try out a change that will not be saved.
    pub(crate) fn rehearse(path: &Path, unlock: &Unlock) -> Result<Self, Failure> {
        Ok(Self { filter: unlock.open(path)?, path: path.to_path_buf(), _lock: None })
    }

    /// Puts the changed filter in the place of the old one.
    pub(crate) fn save(&self) -> Result<(), Failure> {
        self.filter.save(&self.path, Existing::Replace)
    }
}
