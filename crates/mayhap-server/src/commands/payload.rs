//! What `DUMP` gives for a native value: its file in a payload.
//!
//! ```text
//! mark           8 bytes, "mayhap" and the number of this layout
//! count          8 bytes, little-endian: a bitmap's length in bytes, a cuckoo filter's removals; else 0
//! file           the value, as mayhap keeps it on disk
//! version        2 bytes, ff ff: larger than every RDB version there is
//! checksum       8 bytes, little-endian: XXH3 of all bytes before it
//! ```
//!
//! Redis looks at the version first, which stands where its own payloads have it, and refuses: "DUMP payload version or
//! checksum are wrong". A native filter's bits mean something only together with the secret key they were made with;
//! the file has the key's public id, and a server with another key refuses it.

use std::sync::{PoisonError, RwLock};

use mayhap::codec::{FormatError, Header, Kind, Part};
use mayhap::hash::KeyHasher;
use mayhap::{Bitmap, Error, ReadOptions, ScalableBloom, ScalableCuckoo};
use mayhap_commands::{Bits, NativeCuckoo, Value};

const MARK: [u8; 8] = *b"mayhap\x00\x01";
const VERSION: [u8; 2] = [0xff; 2];

/// Whether these bytes begin like a payload of ours.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    bytes.starts_with(&MARK)
}

/// The payload of a value.
///
/// # Errors
/// When the memory can't be had, or the value isn't a native one.
pub(super) fn of(value: &Value) -> Result<Vec<u8>, FormatError> {
    let (count, file) = match value {
        Value::Bloom(filter) => (0, filter.to_bytes_without_limit()?),
        Value::Cuckoo(filter) => {
            let held = filter.read().unwrap_or_else(PoisonError::into_inner);
            (held.deleted, held.filter.to_bytes()?)
        }
        Value::Bitmap(bits) => {
            let held = bits.read().unwrap_or_else(PoisonError::into_inner);
            (held.bytes, held.set.to_bytes()?)
        }
        Value::RedisBloom(_) | Value::RedisCuckoo(_) => {
            return Err(FormatError::Unknown { what: "native value", number: 0 });
        }
    };
    let mut payload = Vec::new();
    let bytes = file.len() + MARK.len() + 8 + VERSION.len() + 8;
    payload.try_reserve_exact(bytes).map_err(|_| FormatError::OutOfMemory { bytes: bytes as u64 })?;
    payload.extend_from_slice(&MARK);
    payload.extend_from_slice(&count.to_le_bytes());
    payload.extend_from_slice(&file);
    payload.extend_from_slice(&VERSION);
    payload.extend_from_slice(&checksum(&payload).to_le_bytes());
    Ok(payload)
}

/// The value of a payload.
///
/// # Errors
/// When it is damaged, too large, of another kind, made with another secret key, or a cuckoo filter whose adds may take
/// too long.
pub(super) fn read(payload: &[u8], options: &ReadOptions) -> Result<Value, Error> {
    let wrong = FormatError::BadChecksum { what: Part::Payload };
    let (checked, expected) = payload.split_last_chunk::<8>().ok_or_else(|| wrong.clone())?;
    let (inner, version) = checked.split_last_chunk::<2>().ok_or_else(|| wrong.clone())?;
    if *version != VERSION || checksum(checked) != u64::from_le_bytes(*expected) {
        return Err(wrong.into());
    }
    let inner = inner.strip_prefix(&MARK).ok_or_else(|| wrong.clone())?;
    let (count, file) = inner.split_first_chunk::<8>().ok_or(wrong)?;
    let count = u64::from_le_bytes(*count);
    match Header::parse(file)?.kind {
        Kind::SCALABLE_BLOOM => Ok(Value::native_bloom(ScalableBloom::from_bytes_with(file, options)?)),
        Kind::SCALABLE_CUCKOO => {
            let filter = ScalableCuckoo::from_bytes_with(file, options)?;
            Ok(Value::Cuckoo(RwLock::new(NativeCuckoo::loaded(filter, count)?)))
        }
        Kind::BITMAP => bits(Bitmap::from_bytes_with(file, options)?, count),
        got => Err(FormatError::WrongKind { expected: Kind::SCALABLE_BLOOM, got }.into()),
    }
}

/// The length has to hold every bit, and to be one that a string can have.
fn bits(set: Bitmap, bytes: u64) -> Result<Value, Error> {
    const MAX_BYTES: u64 = 1 << 29;
    let is_inside = bytes <= MAX_BYTES && set.range_len(..bytes * 8) == set.len();
    if !is_inside || set.universe().is_some() {
        return Err(FormatError::BadField {
            field: "length",
            value: bytes,
            must_be: "at least that of its bits, and at most 512 MiB",
        }
        .into());
    }
    Ok(Value::Bitmap(RwLock::new(Bits { set, bytes })))
}

fn checksum(bytes: &[u8]) -> u64 {
    KeyHasher::xxh3(0).digest(bytes).get()
}
