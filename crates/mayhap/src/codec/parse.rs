//! The bytes of a header.
//!
//! Everything is little-endian. The names in quotes are those of `docs/formats.md`.

use alloc::vec::Vec;

use super::checksum;
use super::error::{FormatError, Part};
use super::header::{ExtraField, HashRecord, Header, Kind, SECTION_PARAMETERS, Section, Version};
use super::layout::Layout;
use crate::hash::HashId;

/// The first eight bytes of a file.
///
/// The first has its highest bit set and the last is a line feed, so that a transfer that strips the eighth
/// bit, takes the bytes for some text encoding, or rewrites line ends is noticed at once and can be named.
const MAGIC: [u8; 8] = *b"\x8bmayhap\n";

/// A header is at most this long: 1 MiB, enough for 16 382 sections.
pub const MAX_HEADER_LENGTH: u64 = 1 << 20;

/// The fixed fields, from the magic to the end of the reserved bytes.
const FIXED_LENGTH: u64 = 120;
const SECTION_LENGTH: u64 = 64;
const CHECKSUM_LENGTH: u64 = 8;
/// The length of a header without sections and extra fields.
const MIN_HEADER_LENGTH: u64 = FIXED_LENGTH + CHECKSUM_LENGTH;
/// Tag, reserved bytes and length of an extra field; also the multiple to which fields are padded.
const EXTRA_ALIGNMENT: usize = 8;

/// "flags", bit 0: the key id is one.
const FLAG_KEY_ID: u16 = 1;
/// "section flags", bit 0: a reader that doesn't know the role may leave the section out.
const FLAG_SKIPPABLE: u16 = 1;
/// "inserted count" of a filter that doesn't count.
const INSERTED_UNKNOWN: u64 = u64::MAX;

/// The critical extra fields this version understands. None yet.
const KNOWN_CRITICAL: [u16; 0] = [];

/// Names of the fields of a section's entry.
pub(super) mod section_entry {
    pub(in super::super) const FLAGS: &str = "section flags";
    pub(in super::super) const RESERVED: &str = "section reserved";
    pub(in super::super) const OFFSET: &str = "section offset";
    pub(in super::super) const LENGTH: &str = "section length";
}

impl Header {
    /// How many bytes from the start of a file [`Header::parse`] needs, as far as `prefix` tells.
    ///
    /// When the answer is larger than `prefix`, read on up to it and ask again; when it isn't, parse. The
    /// answer is never larger than [`MAX_HEADER_LENGTH`]. Fails when `prefix` already shows that this is no
    /// file for us.
    ///
    /// ```
    /// use mayhap::codec::{FormatError, Header, Kind, Section};
    ///
    /// let mut header = Header::new(Kind::BLOCKED_BLOOM);
    /// header.sections.push(Section::new(1, 64));
    /// let file = header.to_bytes()?;
    /// assert_eq!(Header::needed(&file[..0])?, 128);
    /// assert_eq!(Header::needed(&file[..128])?, 192);
    /// assert_eq!(Header::needed(b"%PDF-1.7"), Err(FormatError::NotAMayhapFile));
    /// # Ok::<(), FormatError>(())
    /// ```
    pub fn needed(prefix: &[u8]) -> Result<usize, FormatError> {
        let known = prefix.len().min(MAGIC.len());
        if prefix[..known] != MAGIC[..known] {
            return Err(if looks_like_text_damage(prefix) {
                FormatError::DamagedAsText
            } else {
                FormatError::NotAMayhapFile
            });
        }
        let mut fields = Fields(&prefix[known..]);
        let Ok(major) = fields.u16() else { return Ok(small(MIN_HEADER_LENGTH)) };
        check_major(major)?;
        let (Ok(_minor), Ok(length)) = (fields.u16(), fields.u32()) else {
            return Ok(small(MIN_HEADER_LENGTH));
        };
        let length = u64::from(length);
        if length > MAX_HEADER_LENGTH {
            return Err(FormatError::TooLarge { bytes: length, limit: MAX_HEADER_LENGTH });
        }
        if length < MIN_HEADER_LENGTH {
            return Err(bad("header length", length, "at least 128"));
        }
        Ok(small(length))
    }

    /// Reads a header from the first bytes of a file, however many more there are.
    ///
    /// Every field is checked, and the header's checksum; the bodies are not looked at. Fails with
    /// [`FormatError::Truncated`] when `prefix` is shorter than the header, and says how long that is as far
    /// as it is known; see [`Header::needed`].
    pub fn parse(prefix: &[u8]) -> Result<Self, FormatError> {
        Ok(parse(prefix)?.header)
    }

    /// The header's bytes, with its checksum: the first bytes of a file.
    ///
    /// Fails when a field has a value that [`Header::parse`] would refuse.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FormatError> {
        self.check()?;
        let layout = self.layout()?;
        let extra_length =
            layout.header_length() - MIN_HEADER_LENGTH - SECTION_LENGTH * (self.sections.len() as u64);
        let flags = if self.hash.key_id.is_some() { FLAG_KEY_ID } else { 0 };

        let mut out = Bytes(Vec::with_capacity(small(layout.header_length())));
        out.bytes(&MAGIC);
        out.u16(Version::CURRENT.major);
        out.u16(Version::CURRENT.minor);
        out.u32(narrow("header length", layout.header_length())?);
        out.u64(layout.file_length());
        out.u16(self.kind.get());
        out.u16(self.recipe);
        out.u16(self.hash.id.get());
        out.u16(flags);
        self.parameters.into_iter().for_each(|parameter| out.u64(parameter));
        out.u64(self.hash.seed);
        out.u64(self.hash.key_id.unwrap_or(0));
        out.u64(self.planned_keys);
        out.u64(self.planned_rate.to_bits());
        out.u64(self.inserted.unwrap_or(INSERTED_UNKNOWN));
        out.u32(narrow("section count", self.sections.len() as u64)?);
        out.u32(narrow("extra length", extra_length)?);
        out.u64(0);
        for (section, place) in self.sections.iter().zip(layout.sections()) {
            out.u16(section.role);
            out.u16(if section.skippable { FLAG_SKIPPABLE } else { 0 });
            out.u32(0);
            out.u64(place.start);
            out.u64(section.length);
            section.parameters.into_iter().for_each(|parameter| out.u64(parameter));
        }
        for field in &self.extra {
            out.u16(field.tag);
            out.u16(0);
            out.u32(narrow("extra field length", field.bytes.len() as u64)?);
            out.bytes(&field.bytes);
            out.0.resize(out.0.len().next_multiple_of(EXTRA_ALIGNMENT), 0);
        }
        let sum = checksum::of_header(&out.0);
        out.u64(sum);
        Ok(out.0)
    }

    /// What must hold of the fields on both ways, reading and writing.
    fn check(&self) -> Result<(), FormatError> {
        if self.kind.get() == 0 {
            return Err(bad("kind", 0, "the number of a kind, from 1 on"));
        }
        // Compared as bits, because -0.0 == 0.0 and a header must have one spelling.
        let no_rate = self.planned_rate.to_bits() == 0;
        if !(no_rate || (self.planned_rate > 0.0 && self.planned_rate < 1.0)) {
            return Err(bad(
                "planned rate",
                self.planned_rate.to_bits(),
                "between 0 and 1, or 0 for no plan",
            ));
        }
        if self.inserted == Some(INSERTED_UNKNOWN) {
            return Err(bad("inserted count", INSERTED_UNKNOWN, "below 2^64 - 1, which stands for unknown"));
        }
        match self.extra.iter().find(|field| field.is_critical() && !KNOWN_CRITICAL.contains(&field.tag)) {
            Some(field) => Err(FormatError::UnknownCriticalField { tag: field.tag }),
            None => Ok(()),
        }
    }
}

/// A header, where the things it describes are, and its own checksum, which the checksum table builds on.
#[derive(Clone, Debug)]
pub(super) struct Parsed {
    pub(super) header: Header,
    pub(super) layout: Layout,
    pub(super) checksum: u64,
}

pub(super) fn parse(prefix: &[u8]) -> Result<Parsed, FormatError> {
    let needed = Header::needed(prefix)?;
    let Some(bytes) = prefix.get(..needed) else {
        return Err(FormatError::Truncated { needed: needed as u64, got: prefix.len() as u64 });
    };
    // `needed` has checked the magic, the major version and the header length.
    let (summed, checksum) = bytes.split_at(needed - small(CHECKSUM_LENGTH));
    let checksum = Fields(checksum).u64()?;
    if checksum::of_header(summed) != checksum {
        return Err(FormatError::BadChecksum { what: Part::Header });
    }

    let mut fields = Fields(&summed[MAGIC.len()..]);
    let version = Version { major: fields.u16()?, minor: fields.u16()? };
    let header_length = u64::from(fields.u32()?);
    let file_length = fields.u64()?;
    let kind = Kind::new(fields.u16()?);
    let recipe = fields.u16()?;
    let hash_id = HashId::new(fields.u16()?);
    let flags = fields.u16()?;
    let parameters = fields.u64s()?;
    let seed = fields.u64()?;
    let key_id = fields.u64()?;
    let planned_keys = fields.u64()?;
    let planned_rate = f64::from_bits(fields.u64()?);
    let inserted = fields.u64()?;
    let section_count = u64::from(fields.u32()?);
    let extra_length = u64::from(fields.u32()?);
    let reserved = fields.u64()?;

    if flags & !FLAG_KEY_ID != 0 {
        return Err(bad("flags", flags.into(), "0 or 1"));
    }
    let has_key_id = flags & FLAG_KEY_ID != 0;
    if !has_key_id && key_id != 0 {
        return Err(bad("key id", key_id, "0 when its flag is not set"));
    }
    if reserved != 0 {
        return Err(bad("reserved", reserved, "0"));
    }
    // No overflow: both counts come from 32 bits. Once they fit the header, which is here in full, so does
    // all below.
    if MIN_HEADER_LENGTH + section_count * SECTION_LENGTH + extra_length != header_length {
        return Err(bad("header length", header_length, "128 + 64 x section count + extra length"));
    }

    let mut sections = Vec::with_capacity(small(section_count));
    let mut offsets = Vec::with_capacity(small(section_count));
    for _ in 0..section_count {
        let (section, offset) = parse_section(&mut fields)?;
        sections.push(section);
        offsets.push(offset);
    }
    let header = Header {
        version,
        kind,
        recipe,
        parameters,
        hash: HashRecord { id: hash_id, seed, key_id: has_key_id.then_some(key_id) },
        planned_keys,
        planned_rate,
        inserted: (inserted != INSERTED_UNKNOWN).then_some(inserted),
        sections,
        extra: parse_extra(fields)?,
    };
    header.check()?;

    let layout = header.layout()?;
    if let Some((offset, _)) =
        offsets.iter().zip(layout.sections()).find(|(offset, place)| **offset != place.start)
    {
        return Err(bad(section_entry::OFFSET, *offset, "the first aligned offset after what stands before"));
    }
    if file_length != layout.file_length() {
        return Err(bad("file length", file_length, "the end of the bodies and their checksums"));
    }
    Ok(Parsed { header, layout, checksum })
}

/// One entry of the section table, and the offset in it.
fn parse_section(fields: &mut Fields<'_>) -> Result<(Section, u64), FormatError> {
    let role = fields.u16()?;
    let flags = fields.u16()?;
    let reserved = fields.u32()?;
    let offset = fields.u64()?;
    let length = fields.u64()?;
    let parameters: [u64; SECTION_PARAMETERS] = fields.u64s()?;
    if flags & !FLAG_SKIPPABLE != 0 {
        return Err(bad(section_entry::FLAGS, flags.into(), "0 or 1"));
    }
    if reserved != 0 {
        return Err(bad(section_entry::RESERVED, reserved.into(), "0"));
    }
    Ok((Section { role, skippable: flags & FLAG_SKIPPABLE != 0, length, parameters }, offset))
}

/// All extra fields: what is left between the section table and the checksum.
fn parse_extra(mut fields: Fields<'_>) -> Result<Vec<ExtraField>, FormatError> {
    let mut extra = Vec::new();
    while !fields.0.is_empty() {
        let misfit = |value| bad("extra field length", value, "within the extra fields, padded to 8 bytes");
        let left = fields.0.len() as u64;
        let (Ok(tag), Ok(reserved), Ok(length)) = (fields.u16(), fields.u16(), fields.u32()) else {
            return Err(misfit(left));
        };
        if reserved != 0 {
            return Err(bad("extra field reserved", reserved.into(), "0"));
        }
        let misfit = misfit(length.into());
        let Ok(length) = usize::try_from(length) else { return Err(misfit) };
        // Compared before it is padded, so that the padding can't overflow.
        if length > fields.0.len() || length.next_multiple_of(EXTRA_ALIGNMENT) > fields.0.len() {
            return Err(misfit);
        }
        let (padded, rest) = fields.0.split_at(length.next_multiple_of(EXTRA_ALIGNMENT));
        fields = Fields(rest);
        let (bytes, padding) = padded.split_at(length);
        if let Some(byte) = padding.iter().find(|byte| **byte != 0) {
            return Err(bad("extra field padding", (*byte).into(), "0"));
        }
        extra.push(ExtraField::new(tag, bytes));
    }
    Ok(extra)
}

/// The length of a header, or an error when it is above the limit.
pub(super) fn header_length(header: &Header) -> Result<u64, FormatError> {
    let sections = (header.sections.len() as u64).saturating_mul(SECTION_LENGTH);
    let extra = header.extra.iter().fold(0u64, |sum, field| {
        // A length in memory is far below 2^63, so the padding can't overflow; the sum could, by many empty
        // fields.
        let padded = (field.bytes.len() as u64).next_multiple_of(EXTRA_ALIGNMENT as u64);
        sum.saturating_add(EXTRA_ALIGNMENT as u64 + padded)
    });
    let length = MIN_HEADER_LENGTH.saturating_add(sections).saturating_add(extra);
    if length > MAX_HEADER_LENGTH {
        return Err(FormatError::TooLarge { bytes: length, limit: MAX_HEADER_LENGTH });
    }
    Ok(length)
}

fn check_major(major: u16) -> Result<(), FormatError> {
    match major {
        0 => Err(bad("major", 0, "the format's version, from 1 on")),
        major if major > Version::CURRENT.major => Err(FormatError::NewerMajor { got: major }),
        _ => Ok(()),
    }
}

/// What the magic becomes when line ends are rewritten, the eighth bit is stripped, Latin-1 is taken for
/// UTF-8, or an invalid byte is replaced by U+FFFD.
fn looks_like_text_damage(prefix: &[u8]) -> bool {
    const DAMAGED: [&[u8]; 5] =
        [b"\x8bmayhap\r", b"\x0bmayhap", b"\xc2\x8bmayhap", b"\xef\xbf\xbdmayhap", b"?mayhap\n"];
    DAMAGED.iter().any(|damaged| prefix.starts_with(damaged))
}

fn bad(field: &'static str, value: u64, must_be: &'static str) -> FormatError {
    FormatError::BadField { field, value, must_be }
}

/// A length that was compared with `MAX_HEADER_LENGTH`, as an index.
fn small(length: u64) -> usize {
    usize::try_from(length.min(MAX_HEADER_LENGTH)).unwrap_or(usize::MAX)
}

/// A number for a 32-bit field. The limit on a header keeps all of them small; this only says so to the
/// compiler.
fn narrow(field: &'static str, value: u64) -> Result<u32, FormatError> {
    u32::try_from(value).map_err(|_| bad(field, value, "below 2^32"))
}

/// The fields that are left to read.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], FormatError> {
        let Some((field, rest)) = self.0.split_first_chunk::<N>() else {
            return Err(FormatError::Truncated { needed: N as u64, got: self.0.len() as u64 });
        };
        self.0 = rest;
        Ok(*field)
    }

    fn u16(&mut self) -> Result<u16, FormatError> {
        self.take().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, FormatError> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, FormatError> {
        self.take().map(u64::from_le_bytes)
    }

    fn u64s<const N: usize>(&mut self) -> Result<[u64; N], FormatError> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.u64()?;
        }
        Ok(numbers)
    }
}

/// The fields written so far.
struct Bytes(Vec<u8>);

impl Bytes {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn u16(&mut self, number: u16) {
        self.bytes(&number.to_le_bytes());
    }

    fn u32(&mut self, number: u32) {
        self.bytes(&number.to_le_bytes());
    }

    fn u64(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }
}
