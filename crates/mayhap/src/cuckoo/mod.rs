//! Cuckoo filters: keys can be removed again, and low rates cost little memory.
//!
//! [`CuckooFilter`] has a fixed size, [`ScalableCuckoo`] grows: the pages [`filter`] and [`scalable`] are there to learn them
//! from. Both are tables of fingerprints; [`CuckooLayout`] says how these are packed.

pub mod filter;
mod layout;
pub mod scalable;
mod table;

pub use filter::{CuckooBuilder, CuckooFilter, MAX_KICKS};
pub use layout::CuckooLayout;
pub use scalable::{CuckooLayer, ScalableCuckoo, ScalableCuckooBuilder};

/// A [`CuckooFilter`] in a mapped file: asked without being read.
#[cfg(feature = "std")]
pub type MappedCuckooFilter = CuckooFilter<crate::bits::Mapped>;
/// A [`ScalableCuckoo`] in a mapped file: asked without being read.
#[cfg(feature = "std")]
pub type MappedScalableCuckoo = ScalableCuckoo<crate::bits::Mapped>;
