//! What can be wrong with the bytes of a file.

use core::fmt;

use super::header::{Kind, Version};
use crate::bits::AllocError;
use crate::counted::Counted;

/// Why bytes are not a file this version can use, or can't be made into one.
///
/// The first group of variants comes from the container. The group from [`WrongKind`](Self::WrongKind) to
/// [`WrongKey`](Self::WrongKey) is for the filters, which know what a sound container must hold to be theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// The bytes don't start with the magic number.
    NotAMayhapFile,
    /// They start with what a magic number becomes when a transfer takes the file for text.
    DamagedAsText,
    /// The file follows a later major version of the format.
    NewerMajor {
        /// The file's major version.
        got: u16,
    },
    /// The input ends too early.
    Truncated {
        /// The bytes that should be there.
        needed: u64,
        /// The bytes that are.
        got: u64,
    },
    /// The input goes on after the file's end.
    TrailingBytes {
        /// Where the file ends, by its header.
        file_length: u64,
    },
    /// Some bytes changed after they were written.
    BadChecksum {
        /// Which bytes.
        what: Part,
    },
    /// A byte between the bodies, which must be zero, isn't.
    BadPadding {
        /// Where the byte is in the file.
        offset: u64,
    },
    /// A field has a value it can't have. The checksum may be right: then a faulty or hostile program wrote
    /// the file.
    BadField {
        /// The field's name in `docs/formats.md`.
        field: &'static str,
        /// Its value; of a fraction, the bits.
        value: u64,
        /// What the field must be.
        must_be: &'static str,
    },
    /// An extra field that must be understood is not known to this version.
    UnknownCriticalField {
        /// The field's tag.
        tag: u16,
    },
    /// The file, or its header, is larger than the limit.
    TooLarge {
        /// The length the file claims.
        bytes: u64,
        /// The limit it was compared with.
        limit: u64,
    },
    /// Memory for the bytes could not be had.
    OutOfMemory {
        /// The bytes asked for.
        bytes: u64,
    },
    /// The bodies don't have the lengths that the header gave.
    WrongBody {
        /// The section, counted from 0.
        section: usize,
        /// Its length by the header; 0 for a section that the header hasn't.
        expected: u64,
        /// The length that was handed over.
        got: u64,
    },
    /// A read or write after one that had failed.
    AfterFailure,
    /// The file holds another kind of filter.
    WrongKind {
        /// The kind that was asked for.
        expected: Kind,
        /// The kind in the file.
        got: Kind,
    },
    /// A number, such as that of a kind, a recipe or a hash function, stands for something this version
    /// doesn't know.
    Unknown {
        /// What the number numbers.
        what: &'static str,
        /// The number.
        number: u64,
    },
    /// A part of another system's file is encrypted.
    Encrypted {
        /// Which part.
        what: &'static str,
    },
    /// The filter was built with a secret key, and this isn't it.
    WrongKey {
        /// The id of the key in the file.
        expected: u64,
        /// The id of the key that was given, if one was.
        got: Option<u64>,
    },
}

/// A stretch of a file that has a checksum of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The header.
    Header,
    /// One MiB (or the shorter rest) of a section's body.
    Chunk {
        /// The section, counted from 0.
        section: usize,
        /// The chunk in it, counted from 0.
        chunk: u64,
    },
    /// A block of another system's file.
    Block {
        /// Where the block begins in the file.
        offset: u64,
    },
    /// The table of checksums, or its tie to the header: the header of one file before the bodies of another.
    Checksums,
    /// All of a value or file of another system, which ends with its checksum.
    Payload,
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAMayhapFile => write!(
                f,
                "not a mayhap file: it does not start with the format's magic number; \
                 check that this is the right file"
            ),
            Self::DamagedAsText => write!(
                f,
                "a mayhap file that was damaged by a transfer in text mode; copy it again in binary mode"
            ),
            Self::NewerMajor { got } => write!(
                f,
                "the file is in version {got} of the format and this program reads version {}; \
                 use a newer mayhap",
                Version::CURRENT.major
            ),
            Self::Truncated { needed, got } => {
                let got = Counted(*got, "byte");
                write!(f, "the file is cut off: {got} of {needed}; copy it again, or build it again")
            }
            Self::TrailingBytes { file_length } => write!(
                f,
                "there are bytes after the end of the file, which by its header is {file_length} bytes long; \
                 it was appended to, or badly copied"
            ),
            Self::BadChecksum { what } => {
                write!(
                    f,
                    "the checksum of {what} does not match: the file is damaged; \
                     restore it from a copy, or build it again"
                )
            }
            Self::BadPadding { offset } => write!(
                f,
                "byte {offset} must be zero and is not: the file is damaged; \
                 restore it from a copy, or build it again"
            ),
            Self::BadField { field, value, must_be } => {
                write!(
                    f,
                    "the field \"{field}\" is {value} ({value:#x}) and must be {must_be}: \
                     the file is damaged, or a faulty program wrote it"
                )
            }
            Self::UnknownCriticalField { tag } => write!(
                f,
                "the file has a field ({tag:#06x}) that must be understood and is not known here; \
                 use a newer mayhap"
            ),
            Self::TooLarge { bytes, limit } => {
                write!(
                    f,
                    "the file needs {} and the limit is {limit}; \
                     raise the limit if the file is to be trusted",
                    Counted(*bytes, "byte")
                )
            }
            Self::OutOfMemory { bytes } => {
                write!(
                    f,
                    "{bytes} bytes of memory could not be had; free some memory, or do it in a file: \
                     write to one instead, or map the one that is read"
                )
            }
            Self::WrongBody { section, expected, got } => write!(
                f,
                "section {section} is {} long by its header, and {got} were handed over",
                Counted(*expected, "byte")
            ),
            Self::AfterFailure => {
                write!(f, "an earlier read or write of this file failed; start it from the beginning")
            }
            Self::WrongKind { expected, got } => {
                write!(f, "the file holds a {got} and a {expected} was asked for; open it as what it is")
            }
            Self::Unknown { what, number } => {
                write!(
                    f,
                    "{what} {number} is not known to this program; \
                     use a newer mayhap, or give it what the file needs"
                )
            }
            Self::Encrypted { what } => {
                write!(
                    f,
                    "{what} is encrypted, and is not read here; decrypt it with the program that wrote it"
                )
            }
            Self::WrongKey { expected, got: None } => {
                write!(f, "the filter was built with a secret key (id {expected:#018x}); give that key")
            }
            Self::WrongKey { expected, got: Some(got) } => write!(
                f,
                "the filter was built with another secret key: \
                 its id is {expected:#018x}, the given key's {got:#018x}"
            ),
        }
    }
}

impl core::error::Error for FormatError {}

impl From<AllocError> for FormatError {
    fn from(error: AllocError) -> Self {
        Self::OutOfMemory { bytes: error.bytes }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => write!(f, "the header"),
            Self::Chunk { section, chunk } => write!(f, "MiB {chunk} of section {section}"),
            Self::Block { offset } => write!(f, "the block at byte {offset}"),
            Self::Checksums => write!(f, "the checksum table"),
            Self::Payload => write!(f, "the value"),
        }
    }
}
