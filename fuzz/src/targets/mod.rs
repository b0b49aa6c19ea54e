//! The targets, one file each.

pub mod blocked;
pub mod classic;
pub mod file;
pub mod foreign;
pub mod growing;
mod model;
pub mod multiset;
pub mod resp;
