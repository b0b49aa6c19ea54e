//! The pieces in which `SCANDUMP` hands a filter out and `LOADCHUNK` takes it in.

use alloc::borrow::Cow;

/// The most bytes of a filter in one piece: 16 MiB.
pub const CHUNK_BYTES: u64 = 16 << 20;

/// One answer of `BF.SCANDUMP` or `CF.SCANDUMP`, and the arguments of one `LOADCHUNK`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// The iterator that is returned with the bytes: `SCANDUMP` is asked for it next, and `LOADCHUNK` takes it together
    /// with these bytes. It is where they *end*, counted from 1; the header ends at 1.
    pub iterator: u64,
    /// The header, or bytes of the filter.
    pub bytes: Cow<'a, [u8]>,
}
