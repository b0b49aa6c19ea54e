//! Changing a filter file: `add`, `remove` and `compact` have this in common.
//!
//! The file is read, changed in memory and written anew beside itself; then the new one takes its name. So at every
//! moment, also after a crash, there is the old file or the new one. A lock keeps two changes from overtaking each other.

mod insert;
mod named;
mod stuck;

use std::path::{Path, PathBuf};

use clap::Args;

pub(crate) use insert::{Refused, explain as explain_insert, explain_by_name, state};
pub(crate) use named::Named;
pub(crate) use stuck::Stuck;

use crate::digests::{default_threads, parse_threads};
use crate::failure::Failure;
use crate::filter_file::{FilterFile, Unlock};
use crate::flags::{DryRun, SummaryFlags};
use crate::keys::KeyOptions;
use crate::lock::Lock;

/// The flags of those that read keys.
#[derive(Args, Debug)]
pub(crate) struct ChangeOptions {
    #[command(flatten)]
    pub(crate) rehearsal: DryRun,

    #[command(flatten)]
    unlock: Unlock,

    /// Threads to read and hash with [default: as many as there are cores]
    #[arg(long, value_name = "COUNT", value_parser = parse_threads)]
    threads: Option<usize>,

    #[command(flatten)]
    pub(crate) summary: SummaryFlags,

    #[command(flatten)]
    pub(crate) key_options: KeyOptions,
}

impl ChangeOptions {
    /// Reads the file that is to be changed, or only to be looked at.
    pub(crate) fn open(&self, path: &Path) -> Result<Change, Failure> {
        if self.rehearsal.dry_run {
            Change::rehearse(path, &self.unlock)
        } else {
            Change::open(path, &self.unlock, self.summary.quiet())
        }
    }

    /// Makes the filter in memory what the file holds again, after a change that is not to be saved.
    pub(crate) fn undo(&self, change: &mut Change) -> Result<(), Failure> {
        change.filter = self.unlock.open(&change.name)?;
        Ok(())
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads.unwrap_or_else(default_threads)
    }
}

/// A filter file that is ours to change until this is dropped.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) filter: FilterFile,
    /// As it was given.
    name: PathBuf,
    /// Not of what is only tried out.
    lock: Option<Lock>,
}

impl Change {
    /// Reads the file. Waits while another process changes it, and says so unless it is to be quiet.
    pub(crate) fn open(path: &Path, unlock: &Unlock, quiet: bool) -> Result<Self, Failure> {
        // Before a lock is made beside it: is it a filter at all?
        unlock.map(path)?;
        let lock = Lock::take(path, quiet)?;
        Ok(Self { filter: unlock.open(path)?, name: path.to_owned(), lock: Some(lock) })
    }

    /// Reads the file to try out a change that will not be saved.
    pub(crate) fn rehearse(path: &Path, unlock: &Unlock) -> Result<Self, Failure> {
        Ok(Self { filter: unlock.open(path)?, name: path.to_owned(), lock: None })
    }

    /// Puts the changed filter in the place of the old one.
    pub(crate) fn save(&self) -> Result<(), Failure> {
        let Some(lock) = &self.lock else { return Ok(()) };
        self.filter.replace(lock.filter(), &self.name)
    }
}
