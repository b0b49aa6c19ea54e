//! What an exact set of the same keys takes.

use mayhap::sizing::bitmap::{dense_bytes, is_dense_smaller, sparse_bytes};

use crate::failure::Failure;
use crate::numbers::{counted, format_count, format_size};

/// Rust's `HashSet` (hashbrown), after it has grown to its keys.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HashSet {
    /// The keys it was sized for.
    pub(super) keys: u64,
    /// All its memory; `None` if that is beyond 2^64.
    pub(super) bytes: Option<u64>,
    /// What the figure rests on.
    pub(super) assumes: String,
    /// Cache lines that a question about a present key touches.
    pub(super) lines_if_present: u32,
    /// The same for an absent key.
    pub(super) lines_if_absent: u32,
}

/// hashbrown keeps one byte of hash beside each bucket, and repeats the first group of them at the end.
const CONTROL_BYTES: u128 = 1;
const CONTROL_GROUP: u128 = 16;
/// A `String` in its bucket: pointer, length and capacity.
const STRING_BYTES: u128 = 24;

impl HashSet {
    /// A set of 8-byte integers, held in the table itself.
    pub(super) fn of_integers(keys: u64) -> Self {
        Self {
            keys,
            bytes: u64::try_from(table(keys, 8)).ok(),
            assumes: "keys are 8-byte integers: 9 bytes in each bucket, a power of two of buckets, at most 7/8 full"
                .to_owned(),
            // The control bytes, and the bucket if one of them fits.
            lines_if_present: 2,
            lines_if_absent: 1,
        }
    }

    /// A set of `String`s, each with its bytes in an allocation of its own.
    pub(super) fn of_strings(keys: u64, length: u64) -> Self {
        let allocation = allocation(length);
        let strings = u128::from(keys).saturating_mul(allocation);
        Self {
            keys,
            bytes: u64::try_from(table(keys, STRING_BYTES).saturating_add(strings)).ok(),
            assumes: format!(
                "keys of {}, each in a heap block of {allocation}: with pointer, length and capacity 25 bytes in each \
                 bucket, a power of two of buckets, at most 7/8 full",
                counted(length, "byte")
            ),
            lines_if_present: 3,
            lines_if_absent: 1,
        }
    }

    /// Bits for each key.
    pub(super) fn bits_per_key(&self) -> Option<f64> {
        self.bytes.map(|bytes| bytes as f64 * 8.0 / self.keys as f64)
    }
}

/// A bitmap of the numbers of a range: one bit for each, or, where there are few keys, the sparse form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ExactBitmap {
    /// How many numbers there are.
    pub(super) range: u64,
    /// How many of them are keys, if that is known.
    pub(super) keys: Option<u64>,
}

impl ExactBitmap {
    /// Fails when the range has fewer numbers than there are keys.
    pub(super) fn new(range: u64, keys: Option<u64>) -> Result<Self, Failure> {
        if range < keys.unwrap_or(1) {
            return Err(Failure::Message(format!(
                "a range of {} has no room for {}; --range is how many numbers there are to choose from",
                counted(range, "number"),
                counted(keys.unwrap_or(1), "different key")
            )));
        }
        Ok(Self { range, keys })
    }

    /// Its memory, in the form that `Bitmap` chooses.
    pub(super) fn bytes(&self) -> u64 {
        self.sparse_bytes().unwrap_or_else(|| self.dense_bytes())
    }

    /// A bit for every number.
    pub(super) fn dense_bytes(&self) -> u64 {
        dense_bytes(self.range)
    }

    /// The sparse form, where it is the smaller one: about the most it can take.
    pub(super) fn sparse_bytes(&self) -> Option<u64> {
        let keys = self.keys.filter(|keys| !is_dense_smaller(self.range, *keys))?;
        Some(sparse_bytes(self.range, keys))
    }

    /// Bits for each key.
    pub(super) fn bits_per_key(&self) -> Option<f64> {
        self.keys.map(|keys| self.bytes() as f64 * 8.0 / keys as f64)
    }

    /// What the row means, whether or not it is the one to take.
    pub(super) fn explained(&self, pays: bool) -> String {
        let range = format_count(self.range);
        let dense = format_size(self.dense_bytes());
        if let Some(sparse) = self.sparse_bytes() {
            return format!(
                "A bitmap with a bit for each of the {range} numbers of the range would take {dense}.\n\
                 The sparse form takes {} if the keys are spread evenly, and less if they are close together",
                format_size(sparse)
            );
        }
        let then = if pays { ", and never errs" } else { "; it pays when the range is smaller" };
        format!("A bitmap of the {range} numbers of the range takes {dense}, whatever is in it{then}")
    }
}

fn table(keys: u64, entry_bytes: u128) -> u128 {
    // The smallest tables keep one bucket free, all others an eighth.
    let buckets = match keys {
        0..=3 => 4,
        4..=7 => 8,
        _ => (u128::from(keys) * 8 / 7).next_power_of_two(),
    };
    buckets * (entry_bytes + CONTROL_BYTES) + CONTROL_GROUP
}

/// What glibc's malloc takes for a block: 8 bytes of its own, in steps of 16, at least 32.
fn allocation(length: u64) -> u128 {
    (u128::from(length) + 8).next_multiple_of(16).max(32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_double() {
        assert_eq!(HashSet::of_integers(1).bytes, Some(4 * 9 + 16));
        assert_eq!(HashSet::of_integers(7).bytes, Some(8 * 9 + 16));
        // As many as each size of table holds, and one more.
        for (keys, buckets) in [(3, 4), (4, 8), (7, 8), (8, 16), (14, 16), (15, 32), (28, 32), (29, 64)] {
            assert_eq!(HashSet::of_integers(keys).bytes, Some(buckets * 9 + 16), "{keys}");
            let mut real = std::collections::HashSet::new();
            real.extend(0..keys);
            assert_eq!(real.capacity() as u64, if buckets < 16 { buckets - 1 } else { buckets / 8 * 7 });
        }
        assert_eq!(HashSet::of_integers(100_000_000).bytes, Some((1 << 27) * 9 + 16));
        // 7/8 of 2^27 is the most that 2^27 buckets hold.
        assert_eq!(HashSet::of_integers(117_440_512).bytes, Some((1 << 27) * 9 + 16));
        assert_eq!(HashSet::of_integers(117_440_513 + 7).bytes, Some((1 << 28) * 9 + 16));
    }

    #[test]
    fn strings_pay_for_their_allocation() {
        assert_eq!(HashSet::of_strings(1, 0).bytes, Some(4 * 25 + 16 + 32));
        assert_eq!(size_of::<String>() as u128, STRING_BYTES);
        assert_eq!(HashSet::of_strings(1, 30).bytes, Some(4 * 25 + 16 + 48));
        assert_eq!(HashSet::of_strings(1, 24).bytes, Some(4 * 25 + 16 + 32));
    }

    #[test]
    fn beyond_counting_is_none() {
        assert_eq!(HashSet::of_integers(u64::MAX).bytes, None);
        assert_eq!(HashSet::of_strings(u64::MAX, u64::MAX).bytes, None);
    }
}
