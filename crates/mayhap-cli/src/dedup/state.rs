//! The file in which what was seen today is kept for tomorrow.

use std::path::{Path, PathBuf};

use mayhap::AnyFilter;

use super::seen::Seen;
use crate::failure::Failure;
use crate::filter_file::{FilterFile, Unlock, called};
use crate::lock::Lock;
use crate::output::check;

/// A state file that is ours for the time being.
#[derive(Debug)]
pub(super) struct State {
    /// As it was given.
    name: PathBuf,
    lock: Lock,
}

impl State {
    /// Takes the file, so that nobody else does meanwhile, and reads what is in it, if it is there.
    pub(super) fn open(path: &Path, unlock: &Unlock) -> Result<(Self, Option<Seen>), Failure> {
        // Looks for a directory to write it into, before hours of work.
        check(path, true)?;
        let lock = Lock::try_take(path)?;
        let seen = if path.exists() { Some(read(path, unlock)?) } else { None };
        Ok((Self { name: path.to_owned(), lock }, seen))
    }

    /// Saves what was seen: beside the file, synced, then renamed.
    pub(super) fn save(&self, seen: &Seen) -> Result<(), Failure> {
        seen.save(self.lock.filter()).map_err(|error| {
            let error = called(error, &self.name);
            Failure::Message(format!("{error}; the state is as it was, and what was printed will come again"))
        })
    }

    /// What to call it.
    pub(super) fn name(&self) -> String {
        self.name.display().to_string()
    }
}

fn read(path: &Path, unlock: &Unlock) -> Result<Seen, Failure> {
    let shown = path.display();
    let file = unlock.open(path)?;
    let kind = file.kind();
    match file {
        FilterFile::Filter(AnyFilter::Bloom(filter)) => Ok(Seen::Ever(filter)),
        FilterFile::Filter(AnyFilter::Window(filter)) if !filter.is_by_count() => Ok(Seen::Lately(filter)),
        _ => Err(Failure::Message(format!(
            "{shown} is a {kind}, which dedup can't go on with; name a state that dedup made, or one that isn't there yet"
        ))),
    }
}
