//! Files that commands write.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use clap::Args;
use mayhap::codec::Existing;

use crate::failure::Failure;
use crate::lock::Lock;

/// Where a filter goes.
#[derive(Args, Debug, Clone)]
pub(crate) struct Output {
    /// File to write; it appears when it is complete, and not before
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Replace the file if there is one
    #[arg(long)]
    pub(crate) force: bool,
}

impl Output {
    /// [`claim`] of this file.
    pub(crate) fn claim(&self, quiet: bool) -> Result<Claim, Failure> {
        claim(&self.output, self.force, quiet)
    }

    /// What to do with a file that is there.
    pub(crate) fn existing(&self) -> Existing {
        if self.force { Existing::Replace } else { Existing::Refuse }
    }
}

/// The right to write a file, until this is dropped.
#[derive(Debug, Default)]
#[must_use = "it is given back when this is dropped"]
pub(crate) struct Claim {
    _lock: Option<Lock>,
}

/// [`check`], before anything is read, and if a file may be replaced, its lock: an `add` to it comes before all that is
/// done here, or after it. Else the one that ends first would be lost, or an input that is to be replaced would lack what
/// is added while it is read. Waits for whoever changes the file, and says so unless it is to be quiet.
pub(crate) fn claim(path: &Path, force: bool, quiet: bool) -> Result<Claim, Failure> {
    check(path, force)?;
    Ok(Claim { _lock: if force { Some(Lock::take(path, quiet)?) } else { None } })
}

/// Looks before hours of work: is there a file already, and a directory for it that lets us write?
pub(crate) fn check(path: &Path, force: bool) -> Result<(), Failure> {
    let shown = path.display();
    if path.as_os_str() == "-" {
        return Err(Failure::Message(
            "a mayhap file isn't written to standard output, which has the summary; name a file (`./-` is one called `-`)"
                .to_owned(),
        ));
    }
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => {
            Err(Failure::Message(format!("{shown} is a directory; name a file in it")))
        }
        Ok(_) if !force => Err(Failure::is_there(path)),
        Ok(_) => try_directory(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let directory = directory_of(path);
            match directory.metadata() {
                Ok(found) if found.is_dir() => try_directory(path),
                _ => Err(Failure::Message(format!(
                    "there is no directory {} to write {shown} into",
                    directory.display()
                ))),
            }
        }
        Err(error) => Err(Failure::Message(format!("cannot write {shown}: {error}"))),
    }
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    }
}

/// Makes a file beside the one to write, which is what writing it will begin with, and takes it away again. Its name is one
/// of a temporary file: should it stay, a later save in this directory removes it.
fn try_directory(path: &Path) -> Result<(), Failure> {
    let probe = directory_of(path).join(format!(".mayhap-{}-{}.tmp", process::id(), u64::MAX));
    match OpenOptions::new().write(true).create_new(true).open(&probe) {
        Ok(_) => {
            let _ = fs::remove_file(&probe);
            Ok(())
        }
        Err(error) => Err(Failure::Message(format!(
            "cannot write {}: no file can be made in its directory: {error}",
            path.display()
        ))),
    }
}
