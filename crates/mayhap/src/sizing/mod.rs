//! Every formula: how large a filter must be, and how often it will be wrong.
//!
//! Four numbers describe a Bloom filter: the keys it holds (n), its memory (m bits), the bits it sets for each key (k)
//! and the rate of false positives (p). Two of them determine the rest, once the best k is wished for:
//!
//! | known | [`classic`] | [`blocked`] |
//! |---|---|---|
//! | keys and rate | [`ClassicPlan::for_rate`] | [`BlockedPlan::for_rate`] |
//! | keys and memory | [`ClassicPlan::for_bits`] | [`BlockedPlan::for_bytes`] |
//! | memory and rate | [`ClassicPlan::for_capacity`] | [`BlockedPlan::for_capacity`] |
//! | keys and k: the memory in which that k is the best one | [`ClassicPlan::for_hashes`] | |
//! | memory and k: the keys for which that k is the best one | [`ClassicPlan::for_half_full`] | |
//! | rate and k: only their ratio is determined | [`classic::bits_per_key_with_hashes`] | [`blocked::bits_per_key`] |
//! | any three | the `_with_hashes` constructors | the `_with_shape` constructors |
//!
//! The other kinds have a plan each: [`GrowthPlan`] (module [`layers`]: what a growing filter comes to), [`CountingPlan`],
//! [`DLeftPlan`], [`CuckooPlan`], [`WindowPlan`]. [`bitmap`] tells what an exact set of integers takes.
//!
//! A plan keeps its promise: the rate of its last planned key is at or below the promised one by the exact model, not
//! by an approximation that is a little low. What a 64-bit digest can't give is refused, and so is what can't be
//! counted; nothing wraps. The derivations are in `docs/maths.md`.
//!
//! ```
//! use mayhap::sizing::{BlockedPlan, ClassicPlan};
//!
//! let classic = ClassicPlan::for_rate(100_000_000, 0.01)?;
//! assert_eq!(classic.hashes(), 7);
//! assert!((classic.bits_per_key() - 9.59).abs() < 0.01);
//!
//! // All bits of a key in one cache line: a little more memory, and one cache miss instead of seven.
//! let blocked = BlockedPlan::for_rate(100_000_000, 0.01)?;
//! assert_eq!(blocked.lines(), 1);
//! assert!((blocked.bits_per_key() - 10.1).abs() < 0.05);
//! assert!(blocked.expected_rate() <= 0.01);
//! # Ok::<(), mayhap::sizing::SizingError>(())
//! ```

pub mod bitmap;
pub mod blocked;
pub mod classic;
pub mod counting;
pub mod cuckoo;
pub mod d_left;
mod divisible;
mod error;
pub mod layers;
mod limits;
mod search;
pub mod window;

pub use blocked::BlockedPlan;
pub use classic::ClassicPlan;
pub use counting::CountingPlan;
pub use cuckoo::CuckooPlan;
pub use d_left::DLeftPlan;
pub use error::SizingError;
pub use layers::GrowthPlan;
pub use limits::{MAX_BYTES, MAX_HASHES, lowest_rate};
pub(crate) use limits::{advised_rate, check_rate};
pub use window::WindowPlan;
