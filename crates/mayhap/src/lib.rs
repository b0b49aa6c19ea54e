#![cfg_attr(not(feature = "std"), no_std)]
//! mayhap

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod bits;
pub mod bloom;
pub mod codec;
mod error;
pub mod hash;
pub mod sizing;

#[cfg(feature = "std")]
pub use bloom::MappedBloomFilter;
pub use bloom::{BloomBuilder, BloomFilter, MergeError, Shape, SharedBloomFilter};
pub use error::Error;
pub use hash::{Digest, Key};
