//! Sizing of the classic filter: k positions anywhere in m bits.
//!
//! The rate is the exact expectation for independent positions, not the usual (1 - e^(-kn/m))^k. The two differ by
//! less than 0.01 % for filters above some ten thousand bits; a filter for one key at 1 % needs 11 bits by the exact
//! rate where the usual formula says 10 and would give 1.6 %.

mod estimate;
mod occupancy;
mod plan;
mod rate;
mod size;

pub use estimate::{estimated_keys, standard_error};
pub use plan::ClassicPlan;
pub use rate::{rate, rate_of_fill};
pub use size::{bits, bits_for_hashes, bits_per_key, bits_per_key_with_hashes, capacity, foldable, hashes};
