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
#[inline(always)]
pub(super) fn tail64(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| (number << 8) | u64::from(byte))
}
