//! The header before the blocks.

use alloc::vec::Vec;

use super::blocks::BLOCK_BYTES;
use super::compact::{Compact, Kind};
use crate::codec::FormatError;
use crate::formats::words::reserve;

/// So many blocks a header can tell of: its number of bytes is a signed number of 32 bits.
pub(super) const MOST_BLOCKS: u64 = i32::MAX as u64 / BLOCK_BYTES;

/// Reads a header from the front: the length of the blocks, and its own.
pub(super) fn read(bytes: &[u8]) -> Result<(u64, u64), FormatError> {
    let mut compact = Compact::new(bytes);
    let (mut length, mut choices) = (None, [None; 3]);
    let mut id = 0;
    while let Some(kind) = compact.field(&mut id)? {
        match (id, kind) {
            (1, Kind::I32) => length = Some(compact.i32()?),
            (2..=4, Kind::Struct) => {
                let choice = choices.get_mut(usize::from(id.unsigned_abs()) - 2);
                let chosen = union(&mut compact)?;
                if let Some(choice) = choice {
                    *choice = chosen;
                }
            }
            _ => compact.skip(kind)?,
        }
    }
    for (what, choice) in ["algorithm", "hash", "compression"].into_iter().zip(choices) {
        match choice {
            // The one choice of each: split blocks, XXH64, none.
            Some(1) => {}
            Some(number) => {
                let number = u64::from(number.unsigned_abs());
                return Err(FormatError::Unknown { what: unknown(what), number });
            }
            None => return Err(FormatError::BadField { field: what, value: 0, must_be: "there" }),
        }
    }
    let length = length.and_then(|length| u64::try_from(length).ok()).unwrap_or(0);
    Ok((check_length(length)?, compact.position()))
}

fn unknown(what: &'static str) -> &'static str {
    match what {
        "algorithm" => "Bloom filter algorithm of Parquet",
        "hash" => "Bloom filter hash of Parquet",
        _ => "Bloom filter compression of Parquet",
    }
}

/// Which field of a union is set: the last, should there be more.
fn union(compact: &mut Compact<'_>) -> Result<Option<i16>, FormatError> {
    let (mut id, mut chosen) = (0, None);
    while let Some(kind) = compact.field(&mut id)? {
        chosen = Some(id);
        compact.skip(kind)?;
    }
    Ok(chosen)
}

/// Refuses a length that isn't a positive whole number of blocks.
pub(super) fn check_length(bytes: u64) -> Result<u64, FormatError> {
    if bytes > 0 && bytes.is_multiple_of(BLOCK_BYTES) && bytes / BLOCK_BYTES <= MOST_BLOCKS {
        Ok(bytes)
    } else {
        let must_be = "a positive multiple of 32, below 2^31";
        Err(FormatError::BadField { field: "numBytes", value: bytes, must_be })
    }
}

/// Appends the header of so many bytes of blocks.
pub(super) fn write(length: u64, out: &mut Vec<u8>) -> Result<(), FormatError> {
    reserve(out, 32)?;
    out.push(0x15);
    // Zigzag of a number that isn't negative is twice the number.
    let mut rest = 2 * length;
    while rest >= 0x80 {
        out.push(rest.to_le_bytes()[0] | 0x80);
        rest >>= 7;
    }
    out.push(rest.to_le_bytes()[0]);
    for _ in 0..3 {
        out.extend_from_slice(&[0x1c, 0x1c, 0, 0]);
    }
    out.push(0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(length: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(length, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn headers_of_all_sizes_come_back() {
        assert_eq!(written(32), [0x15, 0x40, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0]);
        for length in [32, 64, 96, 2048, 8192, 1 << 20, 128 << 20, MOST_BLOCKS * 32] {
            let bytes = written(length);
            assert_eq!(read(&bytes), Ok((length, bytes.len() as u64)));
            for short in 0..bytes.len() {
                assert!(matches!(read(&bytes[..short]), Err(FormatError::Truncated { .. })));
            }
        }
    }

    #[test]
    fn what_this_version_does_not_know_is_refused_or_passed_over() {
        let refused = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = written(32);
            change(&mut bytes);
            read(&bytes).unwrap_err()
        };
        for (at, what) in [(3, "algorithm"), (7, "hash"), (11, "compression")] {
            let unknown = refused(&|bytes| bytes[at] = 0x2c);
            assert!(
                matches!(unknown, FormatError::Unknown { what: named, number: 2 } if named.contains(what))
            );
        }
        assert!(matches!(refused(&|bytes| bytes[1] = 0x42), FormatError::BadField { value: 33, .. }));
        assert!(matches!(refused(&|bytes| bytes[1] = 0x41), FormatError::BadField { .. }), "negative");
        assert!(matches!(refused(&|bytes| bytes[1] = 0x00), FormatError::BadField { .. }));
        assert!(matches!(refused(&|bytes| bytes[2] = 0), FormatError::BadField { field: "algorithm", .. }));

        // A field 5, of a later version: an i64.
        let mut bytes = written(32);
        bytes.pop();
        bytes.extend([0x16, 0x02, 0x00]);
        assert_eq!(read(&bytes), Ok((32, 17)));
    }
}
