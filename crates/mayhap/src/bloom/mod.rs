//! Bloom filters: blocked (the default) and classic.

mod blocked;
mod kernel;
mod merge_error;
mod plan;
mod shape;

pub use blocked::{BloomBuilder, BloomFilter};
pub use merge_error::MergeError;
pub use shape::Shape;

/// A [`BloomFilter`] that many threads add to.
pub type SharedBloomFilter = BloomFilter<crate::bits::Shared>;
/// A [`BloomFilter`] in a mapped file: asked without being read.
#[cfg(feature = "std")]
pub type MappedBloomFilter = BloomFilter<crate::bits::Mapped>;
