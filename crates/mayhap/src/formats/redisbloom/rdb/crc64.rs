//! The CRC-64 that ends every RDB file and every `DUMP` payload: Jones's polynomial, bits reflected, from 0.

const POLYNOMIAL: u64 = 0x95ac_9329_ac4b_c9b5;

/// `TABLES[z][byte]`: the remainder of a byte that is followed by z zero bytes, so that eight bytes are one step.
static TABLES: [[u64; 256]; 8] = tables();

/// The checksum of the bytes.
pub(super) fn crc64(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let crc = words.iter().fold(0, |crc, word| {
        let mixed = (crc ^ u64::from_le_bytes(*word)).to_le_bytes();
        mixed.iter().zip(TABLES.iter().rev()).fold(0, |crc, (byte, table)| crc ^ table[usize::from(*byte)])
    });
    rest.iter().fold(crc, |crc, byte| TABLES[0][usize::from(crc.to_le_bytes()[0] ^ byte)] ^ (crc >> 8))
}

#[allow(clippy::large_stack_arrays, reason = "at compile time")]
const fn tables() -> [[u64; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut zeros = 1;
    while zeros < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before: u64 = tables[zeros - 1][byte];
            tables[zeros][byte] = tables[0][(before & 0xff) as usize] ^ (before >> 8);
            byte += 1;
        }
        zeros += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        assert_eq!(crc64(b""), 0);
        assert_eq!(crc64(b"123456789"), 0xe9c6_d914_c4b8_d9ca);
    }

    #[test]
    fn eight_at_a_time_is_one_by_one() {
        let bytes: std::vec::Vec<u8> = (0..100u8).map(|byte| byte.wrapping_mul(91)).collect();
        for end in 0..bytes.len() {
            let plain = bytes[..end]
                .iter()
                .fold(0u64, |crc, byte| TABLES[0][usize::from(crc as u8 ^ byte)] ^ (crc >> 8));
            assert_eq!(crc64(&bytes[..end]), plain);
        }
    }
}
