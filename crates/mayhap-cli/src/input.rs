//! Where lines come from: files in the order given, `-` or nothing for standard input.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Inputs that were all there when the command started.
#[derive(Debug)]
pub(crate) struct Inputs {
    sources: Vec<Source>,
    total_bytes: Option<u64>,
}

/// One input.
#[derive(Debug)]
pub(crate) enum Source {
    Stdin,
    File(PathBuf),
}

impl Inputs {
    /// Looks at every path before anything is read or printed, so that a wrong name doesn't surface hours later.
    ///
    /// Regular files are opened once to see that they can be. Pipes and devices are not: opening and closing one would
    /// take data away or stop its writer.
    pub(crate) fn check(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut sources = Vec::new();
        let mut total_bytes = Some(0u64);
        for path in paths {
            if path == Path::new("-") {
                sources.push(Source::Stdin);
                total_bytes = None;
                continue;
            }
            let metadata = fs::metadata(path).map_err(|error| cannot_read(path, &error))?;
            if metadata.is_dir() {
                return Err(Failure::Message(format!(
                    "{} is a directory; name the files in it instead",
                    path.display()
                )));
            }
            if metadata.is_file() {
                File::open(path).map_err(|error| cannot_read(path, &error))?;
            }
            // Some of the kernel's own files say that they are empty, and aren't.
            let is_known = metadata.is_file() && metadata.len() > 0;
            total_bytes =
                total_bytes.filter(|_| is_known).and_then(|total| total.checked_add(metadata.len()));
            sources.push(Source::File(path.clone()));
        }
        if sources.is_empty() {
            sources.push(Source::Stdin);
            total_bytes = None;
        }
        Ok(Self { sources, total_bytes })
    }

    /// How much there is to read, if all of it is in regular files. They may still grow.
    pub(crate) fn total_bytes(&self) -> Option<u64> {
        self.total_bytes
    }

    pub(crate) fn sources(&self) -> &[Source] {
        &self.sources
    }
}

impl Source {
    /// What to call it in a message.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "standard input".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    pub(crate) fn open(&self) -> Result<Box<dyn Read>, Failure> {
        match self {
            // Unbuffered underneath: reads as large as ours bypass the standard library's buffer.
            Self::Stdin => Ok(Box::new(io::stdin().lock())),
            Self::File(path) => match File::open(path) {
                Ok(file) => Ok(Box::new(file)),
                Err(error) => Err(cannot_read(path, &error)),
            },
        }
    }
}

fn cannot_read(path: &Path, error: &io::Error) -> Failure {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    };
    Failure::Message(format!("cannot read {}: {reason}", path.display()))
}
