//! Sizing of the blocked filter: all bits of a key in one block of 512 bits, or in one block of each half.
//!
//! Keys don't spread evenly over blocks. The load of a block is binomial (Poisson in a large filter), and a crowded
//! block errs more than an empty one makes up for. The rate here is the exact mixture over loads, so a plan pays that
//! price in memory and keeps its promise.

mod deviation;
mod estimate;
mod fold;
mod mixture;
mod plan;
mod size;

pub use deviation::rate_deviation;
pub use estimate::{estimated_keys, expected_fill, standard_error};
pub use fold::foldable;
pub(super) use mixture::Geometry;
pub use mixture::{rate, rate_of_fill, split_block_rate};
pub use plan::BlockedPlan;
pub use size::{bits_per_key, blocks, capacity, shape_for};

pub use crate::bits::BLOCK_BITS;

/// Bytes in a block.
pub const BLOCK_BYTES: u64 = BLOCK_BITS / 8;

/// The most blocks of any filter.
pub(super) const MAX_BLOCKS: u64 = super::limits::MAX_BYTES / BLOCK_BYTES;
