//! CRC-32C, and the disguise in which LevelDB stores it.
//!
//! Written here because it is one table and one line; a crate would bring the instructions of the CPU for it, which matter
//! for gigabytes, while a table's filter and index blocks are some kilobytes.

/// Castagnoli's polynomial, its lowest power first.
const POLYNOMIAL: u32 = 0x82f6_3b78;

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        #[allow(clippy::cast_possible_truncation, reason = "below 256")]
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { POLYNOMIAL } else { 0 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// CRC-32C of the bytes, masked: a checksum of bytes that hold their own checksum would be a constant.
pub(super) fn masked(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, byte| crc >> 8 ^ TABLE[usize::from(crc.to_le_bytes()[0] ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of the CRC catalogues, and the vectors of RFC 3720, appendix B.4.
    #[test]
    fn known_answers() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(&core::array::from_fn::<u8, 32, _>(|i| i as u8)), 0x46dd_794e);
        assert_eq!(crc32c(b""), 0);
    }
}
