//! Snappy, taken apart: for the index blocks of compressed tables.
//!
//! Written here because the crate for it needs `std`, and taking apart is the smaller half.
//!
//! ```text
//! varint: length of what comes out, then elements by the low 2 bits of their first byte
//!   0  literal    length − 1 in the high 6 bits, or (60 to 63) in the next 1 to 4 bytes; then the bytes
//!   1  copy       length − 4 in 3 bits, distance in 3 + 8 bits
//!   2  copy       length − 1 in 6 bits, distance in the next 2 bytes
//!   3  copy       length − 1 in 6 bits, distance in the next 4 bytes
//! ```

use alloc::vec::Vec;

use crate::codec::FormatError;
use crate::file::ReadOptions;
use crate::formats::input::Input;

/// The element that makes most of its bytes is a copy of 64 bytes by 3. So nothing that is true becomes so many times
/// longer, and what claims to is refused before memory is asked for.
const MOST_GROWTH: u64 = 32;

/// What the bytes were before they were compressed.
pub(super) fn decompress(bytes: &[u8], options: &ReadOptions) -> Result<Vec<u8>, FormatError> {
    let mut input = Input::new(bytes);
    let length = input.varint()?;
    if length > MOST_GROWTH * bytes.len() as u64 {
        let must_be = "at most 32 times the compressed length";
        return Err(FormatError::BadField { field: "snappy length", value: length, must_be });
    }
    options.check_length(length)?;
    let memory = FormatError::OutOfMemory { bytes: length };
    let mut out = Vec::new();
    usize::try_from(length).ok().and_then(|length| out.try_reserve_exact(length).ok()).ok_or(memory)?;
    while !input.rest().is_empty() {
        element(&mut input, &mut out, length)?;
    }
    if out.len() as u64 == length {
        Ok(out)
    } else {
        Err(FormatError::Truncated { needed: length, got: out.len() as u64 })
    }
}

fn element(input: &mut Input<'_>, out: &mut Vec<u8>, length: u64) -> Result<(), FormatError> {
    let tag = input.u8()?;
    let high = u64::from(tag >> 2);
    let room = length - out.len() as u64;
    let fits = |count: u64| {
        let must_be = "within the length that the block gave";
        if count <= room { Ok(count) } else { Err(bad("snappy element length", count, must_be)) }
    };
    let (count, distance) = match tag & 3 {
        0 => {
            let count = if high < 60 { high } else { little_endian(input.take(high - 59)?) };
            out.extend_from_slice(input.take(fits(count + 1)?)?);
            return Ok(());
        }
        1 => (4 + (high & 7), u64::from(tag >> 5) << 8 | u64::from(input.u8()?)),
        2 => (1 + high, u64::from(input.u16_le()?)),
        _ => (1 + high, u64::from(input.u32_le()?)),
    };
    let start = (out.len() as u64).checked_sub(distance).filter(|_| distance > 0);
    let start = start.and_then(|start| usize::try_from(start).ok());
    let must_be = "from 1 to the bytes that came out so far";
    let start = start.ok_or(bad("snappy distance", distance, must_be))?;
    // A copy may run into what it writes: then it repeats.
    for at in (start..).take(usize::try_from(fits(count)?).unwrap_or(0)) {
        let byte = out.get(at).copied().unwrap_or(0);
        out.push(byte);
    }
    Ok(())
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

const fn bad(field: &'static str, value: u64, must_be: &'static str) -> FormatError {
    FormatError::BadField { field, value, must_be }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    fn decompressed(bytes: &[u8]) -> Result<Vec<u8>, FormatError> {
        decompress(bytes, &ReadOptions::new())
    }

    #[test]
    fn each_kind_of_element() {
        assert_eq!(decompressed(&[0]), Ok(vec![]));
        // "abcd", then 5 from 4 back in one byte, 3 from 2 back in two, 2 from 9 back in four.
        let bytes =
            [&[14, 3 << 2][..], b"abcd", &[1 << 2 | 1, 4, 2 << 2 | 2, 2, 0, 1 << 2 | 3, 9, 0, 0, 0]].concat();
        assert_eq!(decompressed(&bytes), Ok(b"abcdabcdadadda".to_vec()));
        // A run: a copy that overlaps itself.
        assert_eq!(decompressed(&[9, 0, b'x', 4 << 2 | 1, 1]), Ok(b"xxxxxxxxx".to_vec()));
        // A literal whose length takes two bytes.
        let long: Vec<u8> = (0..300u16).map(|i| i as u8).collect();
        let bytes = [&[0xac, 0x02, 61 << 2, 0x2b, 0x01][..], &long].concat();
        assert_eq!(decompressed(&bytes), Ok(long));
        let limited = decompress(&bytes, &ReadOptions::new().max_bytes(299));
        assert_eq!(limited, Err(FormatError::TooLarge { bytes: 300, limit: 299 }));
    }

    #[test]
    fn what_no_compressor_writes_is_refused() {
        for bytes in [
            &[][..],
            &[0xff, 0xff, 0xff, 0xff, 0x0f], // 4 GiB from five bytes
            &[5, 3 << 2, 1, 2, 3, 4],        // one byte is missing
            &[3, 3 << 2, 1, 2, 3, 4],        // one too many
            &[8, 0, 1, 1, 0],                // a distance of 0
            &[8, 0, 1, 1, 2],                // from before the start
            &[9, 0, 1, 1],                   // an element without its end
            &[4, 63 << 2, 0xff, 0xff, 0xff, 0xff],
        ] {
            assert!(decompressed(bytes).is_err(), "{bytes:?}");
        }
    }
}
