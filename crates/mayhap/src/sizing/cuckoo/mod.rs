//! Sizing of cuckoo filters: which buckets, which fingerprints, how many.
//!
//! With n keys in N buckets of b places and fingerprints of f bits, an absent key is compared with 2bα fingerprints,
//! α = n / (bN), each of which equals its own with probability 1 / (2^f − 1). So
//!
//! ```text
//! rate          p = 1 − (1 − (2 − 1/N) / (N (2^f − 1)))ⁿ  ≈  2bα / 2^f
//! fingerprint   f = ⌈log₂(2bα / p)⌉
//! bits a key    (unused end of the line included)  512 / (b · ⌊512 / bucket bits⌋) / α
//! ```
//!
//! Large buckets let α rise ([`full_load`]) and cost fingerprint bits: log₂ b + 1 of them. Fan, Andersen, Kaminsky and
//! Mitzenmacher choose b = 2 above 0.2 % and b = 4 below, among plain tables. [`CuckooPlan::for_rate`] computes the memory
//! of every layout there is and takes the least; with semi-sorted buckets among them, which store f bits in f − 1, it is
//! nearly always one of those.
//!
//! A plan is safe: the planned keys fit in all but about one of ten thousand filters, at every size; of small tables of
//! fingerprints below 9 bits, in all but one or two of a thousand ([`capacity`]).

mod load;
mod plan;
mod rate;

pub use load::{capacity, full_load};
pub use plan::CuckooPlan;
pub(crate) use rate::{fingerprints, rate_of_values};
pub use rate::{rate, rate_deviation, rate_deviation_of_layers};

/// The most buckets of a table: their numbers are divided by multiplying, which is exact up to there.
pub(crate) const MAX_BUCKETS: u64 = 1 << 56;
