#![cfg_attr(not(feature = "std"), no_std)]
//! mayhap

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod bloom;
pub mod hash;

pub use hash::{Digest, Key};
