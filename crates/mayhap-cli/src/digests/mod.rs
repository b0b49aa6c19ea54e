//! Keys as digests, on all cores: what `build`, `add` and `remove` do before they touch a filter.
//!
//! ```text
//! stream        the digests of all keys, from several threads
//! distinct      how many different ones there are: exactly while few, then by
//! hyperloglog   an estimate in 64 KiB
//! spool         digests put aside, to be read again or each once
//! ```

mod distinct;
mod hyperloglog;
mod spool;
mod stream;

pub(crate) use distinct::{Count, Distinct};
pub(crate) use spool::{Beyond, Spool};
pub(crate) use stream::{Tally, default_threads, one_by_one, parse_threads, stream};
