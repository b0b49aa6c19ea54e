//! A block of sorted entries: data, index and metaindex of a table.

use alloc::borrow::Cow;
use core::fmt;

use crate::codec::FormatError;
use crate::formats::input::Input;

/// A block of a table whose entries are sorted by key.
///
/// ```text
/// entry      varint: bytes shared with the key before, varint: further bytes of the key, varint: bytes of the value,
///            the further bytes, the value
/// …          some entries share nothing: there a search can start
/// restarts   u32 each: where those entries are
/// count      u32: how many
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SortedBlock<'a> {
    bytes: Cow<'a, [u8]>,
    entries_end: usize,
    restarts: usize,
}

impl<'a> SortedBlock<'a> {
    /// The block of these bytes, which are not compressed.
    ///
    /// # Errors
    /// When they are too few for the restarts that they tell of.
    pub fn new(bytes: impl Into<Cow<'a, [u8]>>) -> Result<Self, FormatError> {
        let bytes = bytes.into();
        let got = bytes.len() as u64;
        let Some(count) = bytes.last_chunk() else { return Err(FormatError::Truncated { needed: 4, got }) };
        let restarts = u64::from(u32::from_le_bytes(*count));
        let needed = 4 + 4 * restarts;
        match (usize::try_from(restarts), got.checked_sub(needed).map(usize::try_from)) {
            (Ok(restarts), Some(Ok(entries_end))) => Ok(Self { bytes, entries_end, restarts }),
            _ => Err(FormatError::Truncated { needed, got }),
        }
    }

    /// Its bytes, not compressed.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All entries, in order.
    #[must_use]
    pub fn entries(&self) -> Entries<'_> {
        self.entries_from(0)
    }

    /// The value of the first entry whose key `is_before` isn't true for. It is true for the keys up to some place, and
    /// false for all after.
    pub(super) fn first_not(
        &self,
        is_before: impl Fn(&[u8]) -> Result<bool, FormatError>,
    ) -> Result<Option<&[u8]>, FormatError> {
        // The last restart before the place: from there on one by one.
        let (mut before, mut after) = (0, self.restarts);
        while before + 1 < after {
            let middle = before.midpoint(after);
            match self.entries_from(self.restart(middle)?).next_entry()? {
                Some((key, _)) if is_before(key)? => before = middle,
                _ => after = middle,
            }
        }
        let start = if self.restarts > 0 { self.restart(before)? } else { 0 };
        let mut entries = self.entries_from(start);
        while let Some((key, value)) = entries.next_entry()? {
            if !is_before(key)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    fn entries_from(&self, start: usize) -> Entries<'_> {
        let entries = self.bytes.get(start..self.entries_end).unwrap_or(&[]);
        Entries { rest: Input::new(entries), key: Cow::Borrowed(&[]) }
    }

    fn restart(&self, index: usize) -> Result<usize, FormatError> {
        let mut input = Input::new(self.bytes.get(self.entries_end + 4 * index..).unwrap_or(&[]));
        let start = input.u32_le()?;
        usize::try_from(start).ok().filter(|start| *start <= self.entries_end).ok_or(FormatError::BadField {
            field: "restart",
            value: u64::from(start),
            must_be: "an offset among the block's entries",
        })
    }
}

impl fmt::Debug for SortedBlock<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SortedBlock")
            .field("bytes", &self.bytes.len())
            .field("restarts", &self.restarts)
            .finish_non_exhaustive()
    }
}

/// Key and value.
pub type Entry<'k, 'v> = (&'k [u8], &'v [u8]);

/// The entries of a block, one after the other. No iterator, because a key lives only until the next is asked for.
#[derive(Clone)]
pub struct Entries<'a> {
    rest: Input<'a>,
    /// The last key. Copied only if the next shares bytes with it, which those of an index don't.
    key: Cow<'a, [u8]>,
}

impl<'a> Entries<'a> {
    /// The next entry's key and value; `None` after the last.
    ///
    /// # Errors
    /// When the entry goes beyond the block, or shares more bytes than the key before has.
    pub fn next_entry(&mut self) -> Result<Option<Entry<'_, 'a>>, FormatError> {
        if self.rest.rest().is_empty() {
            return Ok(None);
        }
        let shared = self.rest.varint()?;
        let further = self.rest.varint()?;
        let value = self.rest.varint()?;
        let further = self.rest.take(further)?;
        let value = self.rest.take(value)?;
        match usize::try_from(shared) {
            Ok(0) => self.key = Cow::Borrowed(further),
            Ok(shared) if shared <= self.key.len() => {
                let key = self.key.to_mut();
                key.truncate(shared);
                // At most as long as the block: all of it came from there.
                key.extend_from_slice(further);
            }
            _ => {
                let must_be = "at most the length of the key before";
                return Err(FormatError::BadField { field: "shared", value: shared, must_be });
            }
        }
        Ok(Some((&self.key, value)))
    }
}

impl fmt::Debug for Entries<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries").field("at", &self.rest.position()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Entries with a restart at every `interval`-th.
    fn block(keys: &[&str], interval: usize) -> Vec<u8> {
        let (mut bytes, mut restarts) = (Vec::new(), Vec::new());
        for (i, key) in keys.iter().enumerate() {
            let shared = if i.is_multiple_of(interval) {
                restarts.extend((bytes.len() as u32).to_le_bytes());
                0
            } else {
                key.bytes().zip(keys[i - 1].bytes()).take_while(|(a, b)| a == b).count()
            };
            bytes.extend([shared as u8, (key.len() - shared) as u8, 1]);
            bytes.extend(&key.as_bytes()[shared..]);
            bytes.push(i as u8);
        }
        let count = restarts.len() as u32 / 4;
        [bytes, restarts, count.to_le_bytes().to_vec()].concat()
    }

    const KEYS: &[&str] = &["", "a", "ab", "abba", "abc", "b", "bcd", "bce", "zebra"];

    #[test]
    fn keys_come_back_whole_and_are_found() {
        for interval in 1..12 {
            let block = SortedBlock::new(block(KEYS, interval)).unwrap();
            let mut entries = block.entries();
            for (i, key) in KEYS.iter().enumerate() {
                assert_eq!(entries.next_entry(), Ok(Some((key.as_bytes(), &[i as u8][..]))));
            }
            assert_eq!(entries.next_entry(), Ok(None));
            for wanted in KEYS.iter().chain(&["aa", "abb", "c", "zz"]) {
                let found = block.first_not(|key| Ok(key < wanted.as_bytes())).unwrap();
                let expected = KEYS.iter().position(|key| key >= wanted).map(|i| i as u8);
                assert_eq!(found.map(|value| value[0]), expected, "{wanted} with restarts each {interval}");
            }
        }
        assert_eq!(SortedBlock::new(block(&[], 1)).unwrap().first_not(|_| Ok(true)), Ok(None));
    }

    #[test]
    fn broken_blocks_end_with_an_error_or_early() {
        let sound = block(KEYS, 3);
        assert!(SortedBlock::new(&sound[..3]).is_err());
        assert!(SortedBlock::new(&[0xff; 8][..]).is_err());
        for (at, value) in (0..sound.len()).flat_map(|at| [0, 1, 0x7f, 0x80, 0xff].map(|value| (at, value))) {
            let mut changed = sound.clone();
            changed[at] = value;
            let Ok(block) = SortedBlock::new(&changed) else { continue };
            let mut entries = block.entries();
            let count = core::iter::from_fn(|| entries.next_entry().ok().flatten().map(|_| ())).count();
            assert!(count <= sound.len() / 3);
            let _ = block.first_not(|key| Ok(key < b"abc".as_slice()));
        }
    }
}
