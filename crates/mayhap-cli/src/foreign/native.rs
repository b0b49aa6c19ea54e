//! Filters of mayhap's own that come the way of another system's: out of `mayhap serve`, by `DUMP` or `SCANDUMP`.

use std::path::Path;

use mayhap::codec::{File, Header};

use super::{OURS, not_one, redis};
use crate::failure::Failure;

/// What the server's payloads begin with: a mark of 8 bytes, and a count of 8 bytes that no file needs.
const MARK: &[u8] = b"mayhap\x00\x01";
const COUNT: usize = 8;

/// The mayhap file in a dump of `mayhap serve`, with every checksum compared. Nothing if it is another dump.
pub(crate) fn native_file(path: &Path, bytes: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
    let file = if let Some(rest) = bytes.strip_prefix(MARK) {
        // What follows the file guards it on its way; the file has checksums of its own.
        let inner = rest.get(COUNT..).unwrap_or(&[]);
        let length = Header::parse(inner).and_then(|header| Ok(header.layout()?.file_length()));
        let length = length.map_err(|error| not_one(path, "a dump of mayhap serve", &error))?;
        usize::try_from(length).ok().and_then(|length| inner.get(..length)).unwrap_or(inner).to_vec()
    } else if redis::is_chunks(bytes) {
        let chunks = redis::parse_chunks(path, bytes)?;
        if !chunks.first().is_some_and(|chunk| chunk.bytes.starts_with(OURS)) {
            return Ok(None);
        }
        chunks.iter().flat_map(|chunk| &*chunk.bytes).copied().collect()
    } else {
        return Ok(None);
    };
    File::parse(&file)
        .and_then(|file| file.verify())
        .map_err(|error| not_one(path, "a dump of mayhap serve", &error))?;
    Ok(Some(file))
}
