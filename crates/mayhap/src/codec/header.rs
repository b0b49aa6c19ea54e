//! What a file says about itself.

use alloc::vec::Vec;
use core::fmt;

use super::error::FormatError;
use super::layout::Layout;
use crate::hash::{HashId, KeyHasher};

/// Everything about a filter but its bits.
///
/// Where things are in the file is not part of it: that follows from the lengths, and [`Header::layout`]
/// computes it.
///
/// ```
/// use mayhap::codec::{HashRecord, Header, Kind, Section};
/// use mayhap::hash::HashId;
///
/// let mut header = Header::new(Kind::BLOCKED_BLOOM);
/// header.hash = HashRecord { id: HashId::XXH3, seed: 42, key_id: None };
/// header.planned_keys = 1_000;
/// header.planned_rate = 0.01;
/// header.sections.push(Section::new(1, 64 * 20));
///
/// let bytes = header.to_bytes()?;
/// assert_eq!(Header::parse(&bytes)?, header);
/// assert_eq!(header.layout()?.section(0), Some(192..192 + 64 * 20));
/// # Ok::<(), mayhap::codec::FormatError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The version of the format the header was read in. Writing always uses [`Version::CURRENT`].
    pub version: Version,
    /// The kind of filter.
    pub kind: Kind,
    /// The frozen recipe by which this kind turns digests into positions. Numbered within the kind.
    pub recipe: u16,
    /// The recipe's parameters, as the kind defines them.
    pub parameters: [u64; 4],
    /// The function that turned keys into digests.
    pub hash: HashRecord,
    /// The number of keys the filter was planned for; 0 when there was no plan.
    pub planned_keys: u64,
    /// The error rate it was planned for; 0 when there was no plan.
    pub planned_rate: f64,
    /// How many keys were added, where the filter counts them. [`u64::MAX`] can't be written.
    pub inserted: Option<u64>,
    /// The bodies, in the order in which they stand in the file.
    pub sections: Vec<Section>,
    /// Further fields, in order. Those this version doesn't know are here, too, so that rewriting a file
    /// keeps them.
    pub extra: Vec<ExtraField>,
}

impl Header {
    /// A header without recipe, plan or sections, for a filter that uses no hash function.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self {
            version: Version::CURRENT,
            kind,
            recipe: 0,
            parameters: [0; 4],
            hash: HashRecord::NONE,
            planned_keys: 0,
            planned_rate: 0.0,
            inserted: None,
            sections: Vec::new(),
            extra: Vec::new(),
        }
    }

    /// Where header, bodies and checksums stand in the file.
    ///
    /// Fails when the header would be longer than [`MAX_HEADER_LENGTH`](super::MAX_HEADER_LENGTH) or the file
    /// than 2^63 - 1 bytes.
    pub fn layout(&self) -> Result<Layout, FormatError> {
        Layout::of(self)
    }

    /// The first extra field with this tag.
    #[must_use]
    pub fn extra_field(&self, tag: u16) -> Option<&ExtraField> {
        self.extra.iter().find(|field| field.tag == tag)
    }

    /// Drops the extra fields that describe the bodies. To be called when a body was changed and the header
    /// is kept.
    pub fn forget_body_fields(&mut self) {
        self.extra.retain(|field| !field.describes_bodies());
    }
}

/// A version of the format.
///
/// A higher major version is refused; a higher minor version is one whose additions can be skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Raised when older programs can't read the file.
    pub major: u16,
    /// Raised when older programs can read the file and miss nothing they need.
    pub minor: u16,
}

impl Version {
    /// The version that is written.
    pub const CURRENT: Self = Self { major: 1, minor: 0 };
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The number of a kind of filter.
///
/// An open set: the container carries kinds it doesn't know. Numbers from 0x8000 on are free for private use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(u16);

impl Kind {
    /// Blocked Bloom filter.
    pub const BLOCKED_BLOOM: Self = Self(1);
    /// Classic Bloom filter.
    pub const CLASSIC_BLOOM: Self = Self(2);
    /// Scalable Bloom filter.
    pub const SCALABLE_BLOOM: Self = Self(3);
    /// Counting Bloom filter.
    pub const COUNTING_BLOOM: Self = Self(4);
    /// Dual Bloom filter.
    pub const DUAL_BLOOM: Self = Self(5);
    /// d-left counting filter.
    pub const D_LEFT_COUNTING: Self = Self(6);
    /// Cuckoo filter.
    pub const CUCKOO: Self = Self(7);
    /// Scalable cuckoo filter.
    pub const SCALABLE_CUCKOO: Self = Self(8);
    /// Window Bloom filter.
    pub const WINDOW_BLOOM: Self = Self(9);
    /// Bitmap.
    pub const BITMAP: Self = Self(10);
    /// Binary fuse filter (reserved).
    pub const BINARY_FUSE: Self = Self(11);
    /// Ribbon filter (reserved).
    pub const RIBBON: Self = Self(12);
    /// A filter of another system, in that system's own bytes.
    pub const FOREIGN: Self = Self(13);

    /// The kind with this number. 0 is none and can't be written.
    #[must_use]
    pub const fn new(number: u16) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }

    /// The kind's name, if this version knows it.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::BLOCKED_BLOOM => "blocked Bloom filter",
            Self::CLASSIC_BLOOM => "classic Bloom filter",
            Self::SCALABLE_BLOOM => "scalable Bloom filter",
            Self::COUNTING_BLOOM => "counting Bloom filter",
            Self::DUAL_BLOOM => "dual Bloom filter",
            Self::D_LEFT_COUNTING => "d-left counting filter",
            Self::CUCKOO => "cuckoo filter",
            Self::SCALABLE_CUCKOO => "scalable cuckoo filter",
            Self::WINDOW_BLOOM => "window Bloom filter",
            Self::BITMAP => "bitmap",
            Self::BINARY_FUSE => "binary fuse filter",
            Self::RIBBON => "ribbon filter",
            Self::FOREIGN => "filter of another system",
            _ => return None,
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "filter of kind {}", self.0),
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kind({}: {self})", self.0)
    }
}

/// The hash function of a filter, as its file names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HashRecord {
    /// The function; number 0 for a filter that uses none.
    pub id: HashId,
    /// Its public seed; 0 for a function that has none.
    pub seed: u64,
    /// The id of its secret key, for a function that has one.
    pub key_id: Option<u64>,
}

impl HashRecord {
    /// No hash function: for filters of plain integers.
    pub const NONE: Self = Self { id: HashId::new(0), seed: 0, key_id: None };
}

impl From<&KeyHasher> for HashRecord {
    fn from(hasher: &KeyHasher) -> Self {
        Self { id: hasher.id(), seed: hasher.seed(), key_id: hasher.key_id() }
    }
}

/// How many parameters a section has.
pub const SECTION_PARAMETERS: usize = 5;

/// One body: the bits of a filter, of one of its layers or generations, of one side of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What the body is, as the kind defines it.
    pub role: u16,
    /// Whether a reader that doesn't know the role may leave the section out.
    pub skippable: bool,
    /// The body's length in bytes.
    pub length: u64,
    /// What the kind needs to know about this body, beyond the header's parameters.
    pub parameters: [u64; SECTION_PARAMETERS],
}

impl Section {
    /// A section that must be understood, without parameters.
    #[must_use]
    pub const fn new(role: u16, length: u64) -> Self {
        Self { role, skippable: false, length, parameters: [0; SECTION_PARAMETERS] }
    }
}

/// A tagged field: how later minor versions, and other programs, add to a header.
///
/// Tags may repeat; their order is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct ExtraField {
    /// What the field is, and in its two highest bits what to do with it when that is unknown.
    pub tag: u16,
    /// Its value.
    pub bytes: Vec<u8>,
}

impl ExtraField {
    /// The bit of a tag that says: whoever doesn't know this field can't use the file.
    pub const CRITICAL: u16 = 0x8000;
    /// The bit of a tag that says: whoever changes a body and doesn't know this field must drop it.
    pub const DESCRIBES_BODIES: u16 = 0x4000;

    /// A field.
    #[must_use]
    pub fn new(tag: u16, bytes: impl Into<Vec<u8>>) -> Self {
        Self { tag, bytes: bytes.into() }
    }

    /// Whether a reader must know the field to use the file.
    #[must_use]
    pub const fn is_critical(&self) -> bool {
        self.tag & Self::CRITICAL != 0
    }

    /// Whether the field becomes wrong when a body changes.
    #[must_use]
    pub const fn describes_bodies(&self) -> bool {
        self.tag & Self::DESCRIBES_BODIES != 0
    }
}

/// Tag and length only: a field may hold a secret key.
impl fmt::Debug for ExtraField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExtraField({:#06x}, {} bytes)", self.tag, self.bytes.len())
    }
}
