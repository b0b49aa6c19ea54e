//! Is this key in the set? **No** (certain), or **mayhap** (yes, with an error rate you chose).
//!
//! A membership filter answers that question for very large sets in very little memory: about ten bits a key for one
//! wrong "mayhap" in a hundred absent keys, whatever the keys' length. It never wrongly says no ([`DualBloom`]
//! excepted).
//!
//! ```
//! use mayhap::BloomFilter;
//!
//! let mut seen = BloomFilter::with_rate(100_000_000, 0.01)?; // 126 MB for a hundred million keys
//! for url in ["https://a.example/", "https://b.example/", "https://a.example/"] {
//!     if seen.insert(url) {
//!         println!("fetch {url}");
//!     }
//! }
//! assert!(seen.contains("https://b.example/"));
//! # Ok::<(), mayhap::Error>(())
//! ```
//!
//! # Which filter
//!
//! | you have | choose |
//! |---|---|
//! | keys that come and stay | [`BloomFilter`]: one cache line a question |
//! | many threads adding at once | [`SharedBloomFilter`]: "new" for exactly one of them |
//! | a finished filter in a file | [`MappedBloomFilter`]: asked without being read |
//! | memory dearer than time | [`ClassicBloom`]: the textbook's; below about 0.3 % [`CuckooFilter`] takes less still |
//! | a number of keys that nobody knows | [`ScalableBloom`]: grows by layers, at the promised rate |
//! | keys that are removed again | [`CuckooFilter`]: the least memory; [`ScalableCuckoo`] grows |
//! | the same, and counts | [`DLeftCounting`], or [`CountingBloom`]: one cache line, never full |
//! | few deletes | [`DualBloom`]: the only one whose "no" isn't certain |
//! | "seen in the last T" | [`WindowBloom`]: forgets what is older |
//! | integers from a range | `Bitmap` (feature `bitmap`): exact |
//!
//! # Where things are
//!
//! [`sizing`] has every formula, [`hash`] turns keys into digests, [`bits`] is the storage; [`bloom`], [`counting`],
//! [`d_left`], [`cuckoo`] and `bitmap` are the filters, with a page for each to learn it from; [`codec`] is the file
//! format, [`filter`] has the traits for code that is generic over filters, [`any`] a filter whose kind only the run time
//! tells.
//!
//! # Safety against chosen keys
//!
//! The default hash, XXH3, is fast and public: someone who can choose keys can aim at false positives, whatever the
//! seed. Where keys come from strangers, give the filter a secret key:
//! [`BloomBuilder::secret_key`].
//!
//! # Features
//!
//! `std` (default): run-time choice of AVX2, threads, mapped files, huge pages, streams. Without it the crate is
//! `no_std` and needs `alloc`; filters and files are the same, bit for bit. `bitmap` (default): exact sets of integers,
//! with the crate `roaring`. `hashes`: wyhash and the cryptographic digests among the [named](hash::NamedHash) hash
//! functions. `formats`: the filters of other systems, byte for byte. Either way the target must have 64-bit atomics, for filters that are shared between threads.

#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::cast_possible_truncation))]

extern crate alloc;

#[cfg(not(target_has_atomic = "64"))]
compile_error!("mayhap needs a target with 64-bit atomics, for filters that are shared between threads");

#[cfg(test)]
extern crate std;

pub mod any;
#[cfg(feature = "bitmap")]
pub mod bitmap;
pub mod bits;
pub mod bloom;
mod choices;
pub mod codec;
mod counted;
pub mod counting;
mod cpu;
pub mod cuckoo;
pub mod d_left;
mod error;
mod file;
pub mod filter;
#[cfg(feature = "formats")]
pub mod formats;
mod forward;
pub mod hash;
mod merge_error;
mod newest_first;
mod plan;
pub mod sizing;

pub use any::AnyFilter;
#[cfg(feature = "std")]
pub use any::MappedAnyFilter;
#[cfg(feature = "bitmap")]
pub use bitmap::Bitmap;
#[cfg(all(feature = "bitmap", feature = "std"))]
pub use bitmap::MappedBitmap;
pub use bloom::{BloomBuilder, BloomFilter, ClassicBloom, Shape, SharedBloomFilter, SharedClassicBloom};
pub use bloom::{DualBloom, DualBuilder, DualRates, WindowBloom, WindowBuilder};
pub use bloom::{Growth, LayerInfo, ScalableBloom, ScalableBuilder};
#[cfg(feature = "std")]
pub use bloom::{MappedBloomFilter, MappedClassicBloom};
#[cfg(feature = "std")]
pub use bloom::{MappedDualBloom, MappedWindowBloom};
#[cfg(feature = "std")]
pub use bloom::{MappedScalableBloom, SharedScalableBloom};
#[cfg(feature = "std")]
pub use counting::MappedCountingBloom;
pub use counting::{CountingBloom, CountingBuilder};
pub use cuckoo::{CuckooBuilder, CuckooFilter, ScalableCuckoo, ScalableCuckooBuilder};
#[cfg(feature = "std")]
pub use cuckoo::{MappedCuckooFilter, MappedScalableCuckoo};
pub use d_left::DLeftCounting;
#[cfg(feature = "std")]
pub use d_left::MappedDLeftCounting;
pub use error::Error;
pub use file::ReadOptions;
pub use filter::InsertError;
pub use hash::{Digest, Key};
pub use merge_error::MergeError;

/// The examples of the README and of the documents, compiled and run.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/maths.md")]
    struct Maths;
    #[doc = include_str!("../../../docs/formats.md")]
    struct Formats;
}
