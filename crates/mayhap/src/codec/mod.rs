//! mayhap's own file format: the container.
//!
//! A file is a header, section bodies, and checksums. This module knows those three things and nothing of
//! filters: a filter fills in a [`Header`], hands over its bodies as bytes, and gets both back. The layout,
//! byte by byte, is in `docs/formats.md`.
//!
//! ```text
//! +--------+-----+-----------+-----+-----------+-----+-----------------------------+--------------+
//! | header | pad | section 0 | pad | section 1 | ... | checksum of each MiB of each | checksum of  |
//! |        |     |           |     |           |     | section, in order            | the checksums|
//! +--------+-----+-----------+-----+-----------+-----+-----------------------------+--------------+
//! ```
//!
//! Three properties decide the shape:
//!
//! - *A header can be looked at before anything is allocated.* It stands first, is at most 1 MiB long, has
//!   its own checksum, and says how long the whole file is. Lengths are compared with each other and with a
//!   limit of the caller's choice; nothing is sized by a number that hasn't been checked.
//! - *A file can be mapped and asked without being read.* Bodies start at multiples of 64 bytes, those of 1
//!   MiB and more at multiples of 4096, and are the words a filter uses. The checksums of the bodies are
//!   verified on demand.
//! - *Writing streams.* The header is complete before the first body is written, and the checksums of the
//!   bodies come after them. No seeking back, no second copy of the bodies.
//!
//! | to | use |
//! |---|---|
//! | write into memory | [`Writer::to_vec`] |
//! | write into a stream | `Writer::to_stream` (std) |
//! | write a file, whole or not at all | `save`, or `save_bytes` for any other format (std) |
//! | read from memory, or from a mapped file | [`File::parse`], [`File::section`], [`File::verify`] |
//! | read from a stream or a file | `Reader` (std) |
//! | look at a header | [`Header::parse`] |
//!
//! # Compatibility
//!
//! A file with a higher *major* version is refused. One with a higher *minor* version opens: what it adds
//! stands in [extra fields](ExtraField), where an unknown one is skipped (and kept in [`Header::extra`]),
//! unless it is marked critical, in which case the file is refused. Reserved bytes and flags are zero and
//! checked, so that nothing can be added there unseen.
//!
//! ```
//! use mayhap::codec::{File, Header, Kind, Section, Writer};
//!
//! let mut header = Header::new(Kind::new(0x8000));
//! header.sections.push(Section::new(1, 5));
//!
//! let mut writer = Writer::to_vec(&header)?;
//! writer.write_body(b"he")?;
//! writer.write_body(b"llo")?;
//! let mut bytes = writer.finish()?;
//!
//! let file = File::parse(&bytes)?;
//! file.verify()?;
//! assert_eq!(file.header(), &header);
//! assert_eq!(file.section(0), Some(&b"hello"[..]));
//!
//! // One bit of the body is flipped on the way.
//! bytes[192] ^= 1;
//! assert!(File::parse(&bytes)?.verify().is_err());
//! # Ok::<(), mayhap::codec::FormatError>(())
//! ```

mod checksum;
mod error;
mod file;
mod header;
mod layout;
#[cfg(feature = "std")]
mod leftovers;
mod parse;
#[cfg(feature = "std")]
mod reader;
#[cfg(feature = "std")]
mod save;
#[cfg(feature = "std")]
mod stream_error;
#[cfg(test)]
mod tests;
mod writer;

pub use error::{FormatError, Part};
pub use file::File;
pub use header::{ExtraField, HashRecord, Header, Kind, SECTION_PARAMETERS, Section, Version};
pub use layout::Layout;
pub use parse::MAX_HEADER_LENGTH;
#[cfg(feature = "std")]
pub use reader::{Reader, verify};
#[cfg(feature = "std")]
pub use save::{Existing, FileWriter, save, save_bytes};
#[cfg(feature = "std")]
pub use stream_error::{FileError, StreamError};
#[cfg(feature = "std")]
pub use writer::Stream;
pub use writer::{Sink, Writer};
