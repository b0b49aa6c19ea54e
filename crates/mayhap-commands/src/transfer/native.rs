//! A native filter on its way in: the bytes of its file, in order.

use mayhap::codec::{FormatError, Header, Kind};
use mayhap::hash::KeyHasher;
use mayhap::{Error, ReadOptions};

use super::{Arriving, place_of};
use crate::reply::Reply;
use crate::value::Value;

/// What makes a value of all the bytes of a file.
pub(crate) type Finish = fn(&[u8], &ReadOptions) -> Result<Value, Error>;

/// A file that arrives. It is checked by the filter's own reader when it is whole; until then only its header is.
pub(crate) struct NativeLoad {
    bytes: Vec<u8>,
    needed: u64,
    options: ReadOptions,
    finish: Finish,
}

impl NativeLoad {
    /// Whether a piece with this iterator begins a native dump.
    pub(crate) fn begins(iterator: u64, piece: &[u8]) -> bool {
        place_of(iterator, piece) == Some(0)
            && Header::needed(piece).is_ok_and(|needed| needed <= piece.len())
    }

    /// Begins with the first piece, which has the whole header; the piece itself is still to be taken. The file may be
    /// of `max_bytes` bytes.
    ///
    /// # Errors
    /// When it is another kind of filter, too large, or made with another secret key than the hasher's.
    pub(crate) fn new(
        first: &[u8],
        kind: Kind,
        hasher: &KeyHasher,
        max_bytes: u64,
        finish: Finish,
    ) -> Result<Self, FormatError> {
        let header = Header::parse(first)?;
        if header.kind != kind {
            return Err(FormatError::WrongKind { expected: kind, got: header.kind });
        }
        // Said now, and not after gigabytes have come.
        if let Some(expected) = header.hash.key_id.filter(|id| hasher.key_id() != Some(*id)) {
            return Err(FormatError::WrongKey { expected, got: hasher.key_id() });
        }
        let needed = header.layout()?.file_length();
        if needed > max_bytes {
            return Err(FormatError::TooLarge { bytes: needed, limit: max_bytes });
        }
        let options = ReadOptions::new().hasher(hasher.clone()).max_bytes(max_bytes);
        Ok(Self { bytes: Vec::new(), needed, options, finish })
    }

    /// Makes room for a piece: twice what there is, as vectors do, and never more than the file is long.
    fn reserve(&mut self, more: usize) -> Result<(), Reply> {
        let needed = usize::try_from(self.needed).unwrap_or(usize::MAX);
        let length = self.bytes.len();
        let wanted = length.saturating_mul(2).max(length.saturating_add(more)).min(needed);
        if wanted <= self.bytes.capacity() {
            return Ok(());
        }
        self.bytes.try_reserve_exact(wanted - length).map_err(|_| {
            let bytes = wanted as u64;
            Reply::error_of(format!("ERR {}", FormatError::OutOfMemory { bytes }))
        })
    }
}

impl Arriving for NativeLoad {
    fn bytes(&self) -> u64 {
        self.needed
    }

    fn take(&mut self, iterator: u64, piece: &[u8]) -> Result<bool, Reply> {
        let place = place_of(iterator, piece).and_then(|place| usize::try_from(place).ok());
        let end = place.and_then(|place| place.checked_add(piece.len()));
        let (Some(place), Some(end)) = (place, end) else { return Err(MISPLACED) };
        if let Some(before) = self.bytes.get(place..end) {
            // A client that has lost our answer sends a piece again.
            return if before == piece { Ok(false) } else { Err(MISPLACED) };
        }
        if place != self.bytes.len() || end as u64 > self.needed {
            return Err(MISPLACED);
        }
        self.reserve(piece.len())?;
        self.bytes.extend_from_slice(piece);
        Ok(self.bytes.len() as u64 == self.needed)
    }

    fn finish(self: Box<Self>) -> Result<Value, Reply> {
        (self.finish)(&self.bytes, &self.options).map_err(|error| Reply::error_of(format!("ERR {error}")))
    }
}

/// What is said of a first piece that is refused. What the commands of its kind say of a filter that is `too_large` is
/// said of it, too.
pub(crate) fn native_refusal(error: &FormatError, too_large: fn(u64, u64) -> Reply) -> Reply {
    match error {
        FormatError::TooLarge { bytes, limit } => too_large(*bytes, *limit),
        error => Reply::error_of(format!("ERR {error}")),
    }
}

const MISPLACED: Reply =
    Reply::error("ERR this piece is not the next of the dump: load its pieces in their order");

impl std::fmt::Debug for NativeLoad {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NativeLoad")
            .field("arrived", &self.bytes.len())
            .field("needed", &self.needed)
            .finish_non_exhaustive()
    }
}
