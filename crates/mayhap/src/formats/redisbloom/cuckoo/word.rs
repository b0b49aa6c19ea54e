//! Eight slots at once: the bytes of a 64-bit word, the first one lowest.

const HIGHEST_BITS: u64 = 0x8080_8080_8080_8080;
const LOWEST_BITS: u64 = 0x0101_0101_0101_0101;

/// The highest bit of each byte of the word that equals `byte`. No borrow or carry runs from one byte into the next, so
/// that all of them can be counted, not only the first be trusted.
#[inline(always)]
pub(super) fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ (LOWEST_BITS * u64::from(byte));
    !(((difference & !HIGHEST_BITS) + !HIGHEST_BITS) | difference) & HIGHEST_BITS
}

/// The highest bits of the first `count` bytes of a word, 1 to 8.
#[inline(always)]
pub(super) fn first_bytes(count: usize) -> u64 {
    HIGHEST_BITS >> (64 - 8 * count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_compared_exactly() {
        let mut state = 2u64;
        let mut random = || {
            state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9_7f4a_7c15);
            state >> 33
        };
        for _ in 0..10_000 {
            let bytes: [u8; 8] = core::array::from_fn(|_| (random() % 3 * 127 + random() % 2) as u8);
            for byte in [0, 1, 127, 128, 254, 255] {
                let expected = (0..8).filter(|i| bytes[*i] == byte).map(|i| 0x80 << (8 * i)).sum::<u64>();
                assert_eq!(equal(u64::from_le_bytes(bytes), byte), expected);
            }
        }
        assert_eq!([1, 2, 8].map(first_bytes), [0x80, 0x8080, HIGHEST_BITS]);
    }
}
