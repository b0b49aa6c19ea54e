//! LZF, the compression that Redis puts on strings of more than 20 bytes.
//!
//! ```text
//! 000LLLLL  then L+1 bytes as they are
//! LLLooooo oooooooo              L+2 bytes (L below 7) from o+1 bytes back
//! 111ooooo LLLLLLLL oooooooo     L+9 bytes from o+1 bytes back
//! ```
//!
//! Reading needs no more than that. Writing makes the choices that Redis makes, so that a value written here has the
//! bytes of Redis's: its table of 2¹⁶ last places, found by three bytes; its way of measuring a repeat, which may stop
//! two bytes early near the end; and its entering of only the last two places of a repeat into the table.

use alloc::vec::Vec;

use crate::codec::FormatError;

/// Bytes in one literal run.
const LONGEST_RUN: usize = 1 << 5;
/// How far back a repeat can lie.
const FARTHEST: usize = 1 << 13;
const LONGEST_REPEAT: usize = (1 << 8) + (1 << 3);
const TABLE_BITS: u32 = 16;
/// The most bytes that one byte can stand for: three say 264.
const MOST_GROWTH: u64 = LONGEST_REPEAT as u64 / 3;

/// The compressed bytes, unless they would take more than `bytes.len() - 4`, or the work memory can't be had.
pub(super) fn compress(bytes: &[u8]) -> Option<Vec<u8>> {
    if u32::try_from(bytes.len()).is_err() {
        return None;
    }
    let limit = bytes.len().checked_sub(4)?;
    let mut last_places = LastPlaces::new()?;
    let mut out = Runs::new(limit)?;
    let mut at = 0;
    while at + 2 < bytes.len() {
        let before = last_places.replace(bytes, at);
        let Some(from) = before.filter(|from| is_repeat(bytes, *from, at)) else {
            if out.length() >= limit {
                return None;
            }
            out.literal(bytes[at]);
            at += 1;
            continue;
        };
        if out.length_without_run() + 4 >= limit {
            return None;
        }
        let length = measure(bytes, from, at);
        out.repeat(at - from - 1, length);
        at += length;
        if at + 2 >= bytes.len() {
            break;
        }
        last_places.replace(bytes, at - 2);
        last_places.replace(bytes, at - 1);
    }
    if out.length() + 3 > limit {
        return None;
    }
    bytes[at..].iter().for_each(|byte| out.literal(*byte));
    Some(out.finish())
}

/// Redis never refers to the very first byte.
fn is_repeat(bytes: &[u8], from: usize, at: usize) -> bool {
    from > 0 && at - from - 1 < FARTHEST && bytes[from..from + 3] == bytes[at..at + 3]
}

/// How long a repeat of at least three bytes is, as Redis measures it.
fn measure(bytes: &[u8], from: usize, at: usize) -> usize {
    let most = (bytes.len() - at - 2).min(LONGEST_REPEAT);
    let same = |length: usize| bytes[from + length] == bytes[at + length];
    let mut length = 2;
    if most > 16 {
        // Sixteen steps without a look at `most`: they may go two bytes beyond it, and never beyond the end.
        for _ in 0..16 {
            length += 1;
            if !same(length) {
                return length;
            }
        }
    }
    loop {
        length += 1;
        if length >= most || !same(length) {
            return length;
        }
    }
}

/// Where the three bytes that fall on a slot were last seen, plus one.
struct LastPlaces(Vec<u32>);

impl LastPlaces {
    fn new() -> Option<Self> {
        let mut slots = Vec::new();
        slots.try_reserve_exact(1 << TABLE_BITS).ok()?;
        slots.resize(1 << TABLE_BITS, 0);
        Some(Self(slots))
    }

    /// Enters a place and returns the one before it. At least three bytes are at `at`.
    #[allow(clippy::cast_possible_truncation, reason = "inputs of 2^32 bytes and more are not compressed")]
    fn replace(&mut self, bytes: &[u8], at: usize) -> Option<usize> {
        let three = u32::from_be_bytes([0, bytes[at], bytes[at + 1], bytes[at + 2]]);
        let slot = (three >> (24 - TABLE_BITS)).wrapping_sub(three.wrapping_mul(5)) & ((1 << TABLE_BITS) - 1);
        let before = core::mem::replace(&mut self.0[slot as usize], at as u32 + 1);
        before.checked_sub(1).map(|before| before as usize)
    }
}

/// The output: a byte for the length of the run is always open at its end.
struct Runs {
    out: Vec<u8>,
    literals: usize,
}

impl Runs {
    fn new(limit: usize) -> Option<Self> {
        let mut out = Vec::new();
        out.try_reserve_exact(limit.checked_add(LONGEST_RUN)?).ok()?;
        out.push(0);
        Some(Self { out, literals: 0 })
    }

    fn length(&self) -> usize {
        self.out.len()
    }

    fn length_without_run(&self) -> usize {
        self.out.len() - usize::from(self.literals == 0)
    }

    fn literal(&mut self, byte: u8) {
        self.out.push(byte);
        self.literals += 1;
        if self.literals == LONGEST_RUN {
            self.close();
            self.out.push(0);
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "an offset of 13 bits and a length of 9")]
    fn repeat(&mut self, offset: usize, length: usize) {
        self.close();
        let (length, high) = (length - 2, (offset >> 8) as u8);
        if length < 7 {
            self.out.push(high | (length as u8) << 5);
        } else {
            self.out.extend([high | 7 << 5, (length - 7) as u8]);
        }
        self.out.extend([offset as u8, 0]);
    }

    /// Ends the run; an empty one was never there.
    #[allow(clippy::cast_possible_truncation, reason = "at most 32 bytes in a run")]
    fn close(&mut self) {
        if self.literals == 0 {
            self.out.pop();
        } else {
            let start = self.out.len() - self.literals - 1;
            self.out[start] = (self.literals - 1) as u8;
            self.literals = 0;
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.close();
        self.out
    }
}

/// The `length` bytes that were compressed.
///
/// A length that no input of this size could give is refused before memory is taken for it.
pub(super) fn decompress(input: &[u8], length: u64) -> Result<Vec<u8>, FormatError> {
    let wrong = |must_be| FormatError::BadField { field: "compressed string", value: length, must_be };
    let cut = wrong("a length that its compressed bytes give");
    if length > (input.len() as u64).saturating_mul(MOST_GROWTH) {
        return Err(cut);
    }
    let mut out = Vec::new();
    let length = usize::try_from(length).map_err(|_| cut.clone())?;
    out.try_reserve_exact(length).map_err(|_| FormatError::OutOfMemory { bytes: length as u64 })?;
    let mut rest = input;
    while let Some((control, after)) = rest.split_first() {
        let control = usize::from(*control);
        if control < LONGEST_RUN {
            let (run, after) = after.split_at_checked(control + 1).ok_or_else(|| cut.clone())?;
            if run.len() > length - out.len() {
                return Err(cut);
            }
            out.extend_from_slice(run);
            rest = after;
            continue;
        }
        let (long, after) = if control >> 5 == 7 { split(after, &cut)? } else { (0, after) };
        let (low, after) = split(after, &cut)?;
        let repeat = (control >> 5) + long + 2;
        let back = ((control & 0x1f) << 8 | low) + 1;
        let from = out.len().checked_sub(back).ok_or_else(|| wrong("made of repeats of what was before"))?;
        if repeat > length - out.len() {
            return Err(cut);
        }
        // One by one: a repeat may run into itself.
        for index in from..from + repeat {
            out.push(out[index]);
        }
        rest = after;
    }
    if out.len() == length { Ok(out) } else { Err(cut) }
}

fn split<'a>(bytes: &'a [u8], cut: &FormatError) -> Result<(usize, &'a [u8]), FormatError> {
    let (byte, rest) = bytes.split_first().ok_or_else(|| cut.clone())?;
    Ok((usize::from(*byte), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec;

    #[test]
    fn a_run_of_zeros_is_what_redis_makes_of_it() {
        // Recorded from Redis 8.0: the 144 zero bytes of an empty filter.
        let expected = [0x01, 0x00, 0x00, 0xe0, 0x83, 0x00, 0x01, 0x00, 0x00];
        assert_eq!(compress(&[0; 144]).unwrap(), expected);
        assert_eq!(decompress(&expected, 144).unwrap(), [0; 144]);
    }

    #[test]
    fn a_length_that_the_input_can_not_give_takes_no_memory() {
        assert!(decompress(&[0xff, 0xff, 0xff], 1 << 50).is_err());
        assert!(decompress(&[0x00, 1], 2).is_err());
        assert!(decompress(&[0x01, 1, 2], 1).is_err());
        assert!(decompress(&[0x20, 0], 3).is_err(), "from before the start");
        assert_eq!(decompress(&[0x00, 7, 0x20, 0], 4).unwrap(), vec![7; 4]);
    }

    proptest! {
        #[test]
        fn what_was_compressed_comes_back(
            pieces in proptest::collection::vec((any::<u8>(), 1usize..400, any::<bool>()), 0..60),
        ) {
            let mut bytes = Vec::new();
            for (byte, length, same) in pieces {
                bytes.extend((0..length).map(|i| if same { byte } else { byte.wrapping_mul(i as u8 | 1) }));
            }
            if let Some(compressed) = compress(&bytes) {
                prop_assert!(compressed.len() <= bytes.len() - 4);
                prop_assert_eq!(decompress(&compressed, bytes.len() as u64).unwrap(), bytes);
            }
        }

        #[test]
        fn any_input_is_bytes_or_an_error(input: Vec<u8>, length in 0u64..100_000) {
            if let Ok(bytes) = decompress(&input, length) {
                prop_assert_eq!(bytes.len() as u64, length);
            }
        }
    }
}
