//! What can go wrong, over all of the crate.

use core::fmt;

use crate::any::Unsupported;
use crate::bits::AllocError;
use crate::codec::FormatError;
#[cfg(feature = "std")]
use crate::codec::{FileError, StreamError};
use crate::filter::InsertError;
use crate::merge_error::MergeError;
use crate::sizing::SizingError;

/// Any error of this crate. Each operation has a narrower one, which converts into this.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The plan can't be kept: see [`SizingError`].
    Sizing(SizingError),
    /// The memory can't be had.
    Alloc(AllocError),
    /// Two filters don't fit together.
    Merge(MergeError),
    /// A key could not be added.
    Insert(InsertError),
    /// A filter of this kind can't do that.
    Unsupported(Unsupported),
    /// The bytes are not a filter, or a damaged one.
    Format(FormatError),
    /// Reading or writing a stream failed.
    #[cfg(feature = "std")]
    Stream(StreamError),
    /// Reading or writing a file failed; says which.
    #[cfg(feature = "std")]
    File(FileError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sizing(error) => error.fmt(f),
            Self::Alloc(error) => error.fmt(f),
            Self::Merge(error) => error.fmt(f),
            Self::Insert(error) => error.fmt(f),
            Self::Unsupported(error) => error.fmt(f),
            Self::Format(error) => error.fmt(f),
            #[cfg(feature = "std")]
            Self::Stream(error) => error.fmt(f),
            #[cfg(feature = "std")]
            Self::File(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {}

macro_rules! from {
    ($($error:ty => $variant:ident),*) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        }
    )*};
}

from!(
    SizingError => Sizing, AllocError => Alloc, MergeError => Merge, InsertError => Insert, Unsupported => Unsupported,
    FormatError => Format
);
#[cfg(feature = "std")]
from!(StreamError => Stream, FileError => File);

#[cfg(feature = "std")]
impl Error {
    /// Names the file that an error of its contents was about.
    pub(crate) fn at(self, path: &std::path::Path, doing: &'static str) -> Self {
        match self {
            Self::Format(error) => StreamError::from(error).at(path, doing).into(),
            Self::Stream(error) => error.at(path, doing).into(),
            other => other,
        }
    }
}
