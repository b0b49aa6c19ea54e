//! The targets, one file each.

pub mod blocked;
pub mod classic;
pub mod file;
mod model;
pub mod multiset;
