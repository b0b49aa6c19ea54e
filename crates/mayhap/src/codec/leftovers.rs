//! Temporary files of processes that were killed while they saved.

use std::ffi::OsStr;
use std::format;
use std::fs::{self, DirEntry, File, OpenOptions};
use std::path::Path;
use std::string::String;
use std::time::Duration;

/// Nobody leaves a file alone for so long that he is still writing. Locks tell more, but some network file systems have
/// none that other machines see, and a file that was made a moment ago isn't locked yet.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// Names of a directory that are looked at: a save should not take long because others live in the same place.
const MOST_NAMES: usize = 10_000;

/// The name of a temporary file.
pub(super) fn name(process: u32, number: u64) -> String {
    format!(".mayhap-{process}-{number}.tmp")
}

/// Removes those that nobody will finish. What can't be removed stays: it is in nobody's way but the disk's.
pub(super) fn remove(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.take(MOST_NAMES).flatten() {
        if is_name(&entry.file_name())
            && let Some(_lock) = abandoned(&entry)
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_name(name: &OsStr) -> bool {
    let numbers = name.to_str().and_then(|name| name.strip_prefix(".mayhap-")?.strip_suffix(".tmp"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.and_then(|numbers| numbers.split_once('-')).is_some_and(|(a, b)| is_number(a) && is_number(b))
}

/// The file, locked, if no living process writes it: one that does holds the lock.
fn abandoned(entry: &DirEntry) -> Option<File> {
    let found = entry.metadata().ok().filter(fs::Metadata::is_file)?;
    let age = found.modified().ok()?.elapsed().ok()?;
    if age < ABANDONED_AFTER {
        return None;
    }
    let file = OpenOptions::new().write(true).open(entry.path()).ok()?;
    file.try_lock().is_ok().then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_temporary_files_are_known() {
        assert!(is_name(OsStr::new(&name(17, 0))));
        for other in [
            ".mayhap-1-.tmp",
            ".mayhap--1.tmp",
            ".mayhap-1.tmp",
            ".mayhap-1-2-3.tmp",
            "mayhap-1-2.tmp",
            ".mayhap-1-2.tmp~",
            ".mayhap-x-2.tmp",
        ] {
            assert!(!is_name(OsStr::new(other)), "{other}");
        }
    }
}
