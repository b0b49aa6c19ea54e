//! Sizing of the classic filter: k positions anywhere in m bits.
//!
//! The rate is the exact expectation for independent positions, not the usual (1 - e^(-kn/m))^k, which is always a
//! little low: at 1 % by 0.9 % of itself in a thousand bits and by 0.01 % in a hundred thousand. In a tiny filter it is
//! far off. One key at 1 % gets 11 bits here; with the usual 10 bits and 7 hashes it would be wrong 1.7 % of the time.

mod estimate;
mod occupancy;
mod plan;
mod rate;
mod size;

pub use estimate::{estimated_keys, expected_fill, standard_error};
pub(super) use occupancy::Occupancy;
pub use plan::ClassicPlan;
pub use rate::{rate, rate_deviation, rate_of_fill, rate_of_remainders};
pub use size::{bits, bits_for_hashes, bits_per_key, bits_per_key_with_hashes, capacity, foldable, hashes};
