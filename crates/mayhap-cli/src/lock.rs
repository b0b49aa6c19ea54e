//! One change at a time.
//!
//! The lock is a file beside the filter, held by the operating system for as long as the process lives: one that is
//! killed leaves at most an empty name. It is not the filter file itself, which is replaced by every change, and which
//! nobody could read on systems where locks bind.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process;

use crate::failure::{Failure, say};

/// The right to change a filter file.
#[derive(Debug)]
#[must_use = "it is given back when this is dropped"]
pub(crate) struct Lock {
    /// Where links lead to, so that the file has one lock for all who want to change it.
    filter: PathBuf,
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Takes the lock of a filter file, when its holder is done.
    pub(crate) fn take(filter: &Path, quiet: bool) -> Result<Self, Failure> {
        let mut has_told = quiet;
        Self::acquire(filter, |holder| {
            if !has_told {
                has_told = true;
                say(&format!("mayhap: {holder} is changing {}; waiting for it", filter.display()));
            }
            Ok(())
        })
    }

    /// Takes the lock of a filter file, or fails if it has a holder: one that may never be done.
    pub(crate) fn try_take(filter: &Path) -> Result<Self, Failure> {
        Self::acquire(filter, |holder| {
            Err(Failure::Message(format!(
                "{holder} is using {}; wait until it has ended, or use another file",
                filter.display()
            )))
        })
    }

    /// The file that is locked: what its name led to when the lock was taken, whatever becomes of links meanwhile.
    pub(crate) fn filter(&self) -> &Path {
        &self.filter
    }

    /// Takes the lock, and waits for its holder if `wait` says so.
    fn acquire(name: &Path, mut wait: impl FnMut(&str) -> Result<(), Failure>) -> Result<Self, Failure> {
        loop {
            let filter = end_of(name);
            let path = path_of(&filter);
            let failed = |error: io::Error| {
                Failure::Message(format!("cannot lock {} by {}: {error}", name.display(), path.display()))
            };
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    wait(&holder(&mut file))?;
                    file.lock().map_err(failed)?;
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            // Whoever held it has taken its name away meanwhile, and somebody else may have made another; or the link
            // leads to another file now.
            if is_still_at(&file, &path) && end_of(name) == filter {
                // Who we are, for those who wait. They do without if it can't be written.
                let _ = file
                    .set_len(0)
                    .and_then(|()| file.rewind())
                    .and_then(|()| write!(file, "{}", process::id()));
                return Ok(Self { filter, path, _file: file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While it is held, so that nobody can have taken it who would lose it by this.
        #[cfg(unix)]
        let _ = fs::remove_file(&self.path);
        #[cfg(not(unix))]
        let _ = &self.path;
    }
}

/// Where links lead to; the name itself if no file has it yet.
fn end_of(name: &Path) -> PathBuf {
    fs::canonicalize(name).unwrap_or_else(|_| name.to_owned())
}

fn path_of(filter: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(filter.file_name().unwrap_or_default());
    name.push(".lock");
    filter.with_file_name(name)
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    match file.read_to_string(&mut text) {
        Ok(_) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("process {text}")
        }
        _ => "another process".to_owned(),
    }
}

/// Whether the path still names this file.
#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// Elsewhere the name is never taken away.
#[cfg(not(unix))]
fn is_still_at(_file: &File, _path: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    #[test]
    fn one_at_a_time_and_nothing_stays() {
        let directory = std::env::temp_dir().join(format!("mayhap-lock-{}", process::id()));
        fs::create_dir_all(&directory).unwrap();
        let filter = directory.join("filter");
        let inside = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let lock = Lock::take(&filter, true).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn the_holder_is_named() {
        let directory = std::env::temp_dir().join(format!("mayhap-holder-{}", process::id()));
        fs::create_dir_all(&directory).unwrap();
        let filter = directory.join("filter");
        let _lock = Lock::take(&filter, true).unwrap();
        let mut file = File::open(path_of(&filter)).unwrap();
        assert_eq!(holder(&mut file), format!("process {}", process::id()));
        fs::remove_dir_all(&directory).unwrap();
    }
}
