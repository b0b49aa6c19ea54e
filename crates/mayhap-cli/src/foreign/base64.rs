//! Base64, in which bytes pass through text.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends the text of the bytes, with padding.
pub(super) fn encode(bytes: &[u8], text: &mut Vec<u8>) {
    for group in bytes.chunks(3) {
        let number =
            group.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = DIGITS[number >> (18 - 6 * place) & 63];
            text.push(if place <= group.len() { digit } else { b'=' });
        }
    }
}

/// The bytes of a text; nothing if it is no Base64, or was cut off.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let digits = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for group in digits.chunks(4) {
        let mut number = 0u32;
        for digit in group {
            number = number << 6 | value(*digit)?;
        }
        number <<= 6 * (4 - group.len());
        let [_, whole @ ..] = number.to_be_bytes();
        let (kept, cut) = whole.split_at(group.len().checked_sub(1)?);
        // Bits that no byte has must be zero: a text that has other ones was changed.
        if group.len() == 1 || cut.iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend_from_slice(kept);
    }
    Some(bytes)
}

fn value(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard_hold() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut encoded = Vec::new();
            encode(bytes.as_bytes(), &mut encoded);
            assert_eq!(encoded, text.as_bytes());
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(bytes.as_bytes()));
        }
    }

    #[test]
    fn all_bytes_come_back() {
        let bytes: Vec<u8> = (0..=255).cycle().take(1000).map(|byte: u8| byte.wrapping_mul(37)).collect();
        for end in 0..=bytes.len() {
            let mut text = Vec::new();
            encode(&bytes[..end], &mut text);
            assert_eq!(decode(&text).as_deref(), Some(&bytes[..end]));
        }
    }

    #[test]
    fn what_is_no_base64_is_refused() {
        for text in ["Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zh==", "Zm9=", "Zm9v!", "Zm 9v", "=Zm9"] {
            assert_eq!(decode(text.as_bytes()), None, "{text}");
        }
    }
}
