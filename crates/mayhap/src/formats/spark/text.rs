//! Text as Java has it.

use alloc::vec::Vec;

use crate::formats::guava::CodeUnits;
use crate::hash::Key;

/// UTF-16 that Spark's `putString` hashed: as UTF-8, where a lone surrogate becomes one `?`.
///
/// Rust's own text has no lone surrogates and needs no wrapper: a `str` is this already, and isn't copied.
///
/// ```
/// use mayhap::Key;
/// use mayhap::formats::spark::JavaText;
///
/// assert_eq!(JavaText(&[0xd83d, 0x0061][..]).key_bytes(), b"?a");
/// assert_eq!(JavaText("漢").key_bytes(), "漢".as_bytes());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct JavaText<T>(pub T);

impl<T: CodeUnits> Key for JavaText<T> {
    type Bytes<'a>
        = Vec<u8>
    where
        Self: 'a;

    fn key_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for character in char::decode_utf16(self.0.code_units()) {
            bytes.extend_from_slice(character.unwrap_or('?').encode_utf8(&mut [0; 4]).as_bytes());
        }
        bytes
    }
}
