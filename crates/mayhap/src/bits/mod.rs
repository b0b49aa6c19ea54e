//! Storage: 512-bit blocks, who owns them, and who may write to them.
//!
//! The seam between a filter and its memory is the block, one cache line, not the word. Four storages lend blocks:
//!
//! | storage | blocks are | written by |
//! |---|---|---|
//! | [`Owned`] | [`Block`] | its one owner, through `&mut` |
//! | [`Shared`] | [`AtomicBlock`] | any thread, through `&` |
//! | [`View`] | [`Block`], borrowed from the caller | nobody |
//! | [`Mapped`] (std) | [`AtomicBlock`], a mapped file | nobody here; another process at worst |
//!
//! This module knows nothing of keys, rates or filters.

mod block;
mod memory;
mod prefetch;
mod row;
mod storage;
mod stripes;
mod words;

pub use block::{AtomicBlock, BLOCK_BITS, BLOCK_BYTES, BLOCK_WORDS, Block, Line};
pub use memory::{AllocError, Pages};
#[cfg(feature = "std")]
pub use storage::Mapped;
pub use storage::{Blocks, Owned, Shared, View};
pub use words::{Words, WordsMut};

#[cfg(all(feature = "std", target_arch = "x86_64"))]
pub(crate) use prefetch::prefetch_once;
pub(crate) use prefetch::{is_worth_prefetching, prefetch_address, prefetch_line, prefetch_row};
pub(crate) use row::{
    clear_quarter, flip_eight_bytes, flip_half, flip_one_of_two, set_byte, set_eight_bytes, words_mut,
};
pub(crate) use stripes::{Stripes, Target};
pub(crate) use words::place;
