//! Bytes in JSON, which knows text alone.

use serde_json::Value;

/// A field with this name that holds the bytes as text. Those that are none have `_hex` after the name, and are
/// written in hexadecimal digits.
pub(crate) fn field(name: &str, bytes: &[u8]) -> (String, Value) {
    match str::from_utf8(bytes) {
        Ok(text) => (name.to_owned(), text.into()),
        Err(_) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            (format!("{name}_hex"), digits.into())
        }
    }
}
