//! Files that commands write.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use mayhap::codec::Existing;

use crate::failure::Failure;

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
    /// Looks before hours of work: is there a file already, and a directory for it?
    pub(crate) fn check(&self) -> Result<(), Failure> {
        check(&self.output, self.force)
    }

    /// What to do with a file that is there.
    pub(crate) fn existing(&self) -> Existing {
        if self.force { Existing::Replace } else { Existing::Refuse }
    }
}

/// Looks before hours of work: is there a file already, and a directory for it?
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
        Ok(_) if !force => Err(Failure::Message(format!(
            "{shown} is there already; --force replaces it, or choose another name"
        ))),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let directory = match path.parent() {
                Some(directory) if !directory.as_os_str().is_empty() => directory,
                _ => Path::new("."),
            };
            match directory.metadata() {
                Ok(found) if found.is_dir() => Ok(()),
                _ => Err(Failure::Message(format!(
                    "there is no directory {} to write {shown} into",
                    directory.display()
                ))),
            }
        }
        Err(error) => Err(Failure::Message(format!("cannot write {shown}: {error}"))),
    }
}
