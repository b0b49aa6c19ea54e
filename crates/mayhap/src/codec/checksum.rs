//! Checksums: XXH3-64, for damage by accident. They are no protection against someone who changes a file on
//! purpose.

use alloc::vec::Vec;

use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_64_with_seed};

use super::error::{FormatError, Part};

/// Bodies are summed in pieces of this many bytes.
pub(super) const CHUNK: u64 = 1 << 20;

/// The checksum that ends a header.
pub(super) fn of_header(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// The checksums of the bodies seen so far.
///
/// They are kept until the end, because they stand at the end of a file: 8 bytes for each MiB, so this grows
/// only with bytes that were really there.
#[derive(Clone)]
pub(super) struct BodySums {
    sums: Vec<u64>,
    /// For each ended section, how many chunks there were up to its end.
    ends: Vec<usize>,
    chunk: Xxh3,
    /// Bytes in `chunk`.
    filled: u64,
}

impl BodySums {
    pub(super) fn new() -> Self {
        Self { sums: Vec::new(), ends: Vec::new(), chunk: Xxh3::new(), filled: 0 }
    }

    /// Takes the next bytes of the current section.
    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = usize::try_from(CHUNK - self.filled).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            bytes = later;
            self.filled += now.len() as u64;
            if self.filled < CHUNK {
                self.chunk.update(now);
            } else if now.len() as u64 == CHUNK {
                self.sums.push(xxh3_64(now));
                self.filled = 0;
            } else {
                self.chunk.update(now);
                self.end_chunk();
            }
        }
    }

    /// The current section is complete: its last chunk may be shorter than the others.
    pub(super) fn end_section(&mut self) {
        if self.filled > 0 {
            self.end_chunk();
        }
        self.ends.push(self.sums.len());
    }

    fn end_chunk(&mut self) {
        self.sums.push(self.chunk.digest());
        self.chunk.reset();
        self.filled = 0;
    }

    /// The table that follows the bodies: a checksum for each chunk, then one of those, seeded with the
    /// header's checksum. The seed ties bodies to header: when only half of a file was replaced, no checksum
    /// of the halves would notice.
    pub(super) fn table(&self, header_checksum: u64) -> Vec<u8> {
        let mut table: Vec<u8> = Vec::with_capacity(8 * (self.sums.len() + 1));
        table.extend(self.sums.iter().flat_map(|sum| sum.to_le_bytes()));
        let last = xxh3_64_with_seed(&table, header_checksum);
        table.extend(last.to_le_bytes());
        table
    }

    /// Compares a table read from a file with the bytes that were seen.
    pub(super) fn check(&self, table: &[u8], header_checksum: u64) -> Result<(), FormatError> {
        let expected = self.table(header_checksum);
        if expected == table {
            return Ok(());
        }
        // Which is damaged, the table or a body? A table that agrees with its own checksum is believed.
        let damaged_table = FormatError::BadChecksum { what: Part::Checksums };
        let Some((sums, last)) = table.split_last_chunk::<8>() else { return Err(damaged_table) };
        if xxh3_64_with_seed(sums, header_checksum) != u64::from_le_bytes(*last) {
            return Err(damaged_table);
        }
        let entry = sums.chunks(8).zip(expected.chunks(8)).position(|(stored, seen)| stored != seen);
        match entry.and_then(|entry| self.locate(entry)) {
            Some((section, chunk)) => Err(FormatError::BadChecksum { what: Part::Chunk { section, chunk } }),
            None => Err(damaged_table),
        }
    }

    /// The section, and the chunk in it, of an entry of the table.
    fn locate(&self, entry: usize) -> Option<(usize, u64)> {
        let section = self.ends.iter().position(|end| entry < *end)?;
        let first = section.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some((section, (entry - first) as u64))
    }
}
