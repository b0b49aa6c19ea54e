//! What can go wrong with streams and files, beyond their bytes.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::error::FormatError;

/// A stream failed, or what it carried was wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum StreamError {
    /// Reading or writing failed.
    Io(io::Error),
    /// The bytes are not a file this version can use, or can't be made into one.
    Format(FormatError),
}

impl StreamError {
    /// The same error, of the file at `path`.
    #[must_use]
    pub fn at(self, path: impl AsRef<Path>, doing: &'static str) -> FileError {
        let path = path.as_ref().to_path_buf();
        match self {
            Self::Io(source) => FileError::Io { path, doing, source },
            Self::Format(source) => FileError::Format { path, source },
        }
    }
}

/// Something went wrong with the file at a path.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// The operating system refused.
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done, such as "reading".
        doing: &'static str,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The file's bytes are wrong.
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with them.
        source: FormatError,
    },
    /// There is a file already, and it was not to be replaced.
    AlreadyExists {
        /// The file.
        path: PathBuf,
    },
    /// The path names something that can't be replaced by a file, such as a directory, a pipe or a device.
    NotAFile {
        /// What it names.
        path: PathBuf,
    },
}

impl FileError {
    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Io { path, .. }
            | Self::Format { path, .. }
            | Self::AlreadyExists { path }
            | Self::NotAFile { path } => path,
        }
    }
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(source) => write!(f, "reading or writing failed: {source}"),
            Self::Format(source) => source.fmt(f),
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path().display();
        match self {
            Self::Io { doing, source, .. } => write!(f, "{path}: {doing} failed: {source}"),
            Self::Format { source, .. } => write!(f, "{path}: {source}"),
            Self::AlreadyExists { .. } => {
                write!(
                    f,
                    "{path}: the file exists and is not to be replaced; choose another name, or allow it"
                )
            }
            Self::NotAFile { .. } => {
                write!(
                    f,
                    "{path}: this is not a regular file and can't be replaced by one; choose another name"
                )
            }
        }
    }
}

// The message already holds the cause's, so `source` names what lies below the cause: a chain printed in full
// then says nothing twice.
impl std::error::Error for StreamError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(source) => source.source(),
            Self::Format(_) => None,
        }
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => source.source(),
            _ => None,
        }
    }
}

impl From<io::Error> for StreamError {
    fn from(source: io::Error) -> Self {
        Self::Io(source)
    }
}

impl From<FormatError> for StreamError {
    fn from(source: FormatError) -> Self {
        Self::Format(source)
    }
}
