//! Little-endian words out of a slice.

/// The four bytes from `at` on. Nobody asks beyond the end; were it to happen, the missing bytes would count as 0.
#[inline(always)]
pub(super) fn word32(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

/// The eight bytes from `at` on, likewise.
#[inline(always)]
pub(super) fn word64(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).map_or(0, |eight| {
        u64::from_le_bytes([eight[0], eight[1], eight[2], eight[3], eight[4], eight[5], eight[6], eight[7]])
    })
}

/// Up to eight bytes as a little-endian number.
///
/// By two or three reads that may overlap, not byte by byte: the last bytes of a key are a good part of hashing it.
#[inline(always)]
pub(super) fn tail64(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    if length >= 8 {
        word64(bytes, 0)
    } else if length >= 4 {
        u64::from(word32(bytes, 0)) | u64::from(word32(bytes, length - 4)) << (8 * (length - 4))
    } else if length > 0 {
        let byte = |at: usize| u64::from(bytes[at]) << (8 * at);
        byte(0) | byte(length / 2) | byte(length - 1)
    } else {
        0
    }
}

/// The bytes after the last whole word of eight as a little-endian number; 0 if there are none.
///
/// Where there is a whole word, they are what is left of the last eight bytes after a shift. How many they are differs from
/// key to key, and a branch on it would be guessed wrong.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "less than eight bytes")]
pub(super) fn rest64(bytes: &[u8]) -> u64 {
    match bytes.last_chunk() {
        Some(last) => {
            let beyond = 8 * (bytes.len() % 8) as u32;
            u64::from_le_bytes(*last).checked_shr(64 - beyond).unwrap_or(0)
        }
        None => tail64(bytes),
    }
}

/// The bytes after the last sixteen, likewise, as two words.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "less than sixteen bytes; the two halves")]
pub(super) fn rest128(bytes: &[u8]) -> [u64; 2] {
    match bytes.last_chunk() {
        Some(last) => {
            let beyond = 8 * (bytes.len() % 16) as u32;
            let rest = u128::from_le_bytes(*last).checked_shr(128 - beyond).unwrap_or(0);
            [rest as u64, (rest >> 64) as u64]
        }
        None => {
            let (first, second) = bytes.split_at(bytes.len().min(8));
            [tail64(first), tail64(second)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{rest64, rest128, tail64};

    #[test]
    fn a_tail_is_its_bytes_in_order() {
        let bytes = [0x81, 0x92, 0xa3, 0xb4, 0xc5, 0xd6, 0xe7, 0xf8];
        for length in 0..=8 {
            let tail = &bytes[..length];
            let plain = tail.iter().rev().fold(0, |number, &byte| (number << 8) | u64::from(byte));
            assert_eq!(tail64(tail), plain, "{length}");
        }
    }

    #[test]
    fn a_rest_is_what_follows_the_last_whole_word() {
        let bytes: [u8; 70] = core::array::from_fn(|at| 200 - at as u8);
        for length in 0..=bytes.len() {
            let bytes = &bytes[..length];
            assert_eq!(rest64(bytes), tail64(bytes.as_chunks::<8>().1), "{length}");
            let rest = bytes.as_chunks::<16>().1;
            let (first, second) = rest.split_at(rest.len().min(8));
            assert_eq!(rest128(bytes), [tail64(first), tail64(second)], "{length}");
        }
    }
}
