//! Bloom filters, and what is made of them. Each has a page to learn it from:
//!
//! | page | filter | for |
//! |---|---|---|
//! | [`blocked`] | [`BloomFilter`] | the default: one cache line a question |
//! | [`classic`] | [`ClassicBloom`] | the textbook's, with the least memory |
//! | [`scalable`] | [`ScalableBloom`] | sets of unknown size: grows by layers |
//! | [`dual`] | [`DualBloom`] | few deletes; its "no" isn't certain |
//! | [`window`] | [`WindowBloom`] | "seen in the last T" |

pub mod blocked;
mod chunks;
pub mod classic;
pub mod dual;
pub(crate) mod fold;
pub(crate) mod kernel;
mod modulus;
pub mod scalable;
mod scheme;
mod shape;
pub mod window;

#[cfg(feature = "std")]
pub use blocked::BulkSorter;
pub use blocked::{BloomBuilder, BloomFilter};
pub use classic::ClassicBloom;
#[cfg(feature = "std")]
pub use dual::MappedDualBloom;
pub use dual::{DualBloom, DualBuilder, DualPlan, DualRates};
pub use modulus::Modulus;
#[cfg(feature = "std")]
pub use scalable::SharedScalableBloom;
pub use scalable::{Growth, LayerInfo, ScalableBloom, ScalableBuilder};
pub use scheme::{Native, Scheme, Strides};
pub use shape::Shape;
#[cfg(feature = "std")]
pub use window::MappedWindowBloom;
pub use window::{WindowBloom, WindowBuilder};

/// A [`BloomFilter`] that many threads add to.
pub type SharedBloomFilter = BloomFilter<crate::bits::Shared>;
/// A [`BloomFilter`] in a mapped file: asked without being read.
///
/// ```
/// use mayhap::codec::Existing;
/// use mayhap::{BloomFilter, MappedBloomFilter};
///
/// # let directory = std::env::temp_dir().join(format!("mayhap-doc-map-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// let path = directory.join("fruit.mayhap");
/// let mut filter = BloomFilter::with_rate(1_000, 0.01)?;
/// filter.insert("apple");
/// filter.save(&path, Existing::Refuse)?;
///
/// let mapped = MappedBloomFilter::map(&path)?;
/// assert!(mapped.contains("apple") && !mapped.contains("pear"));
/// let read = BloomFilter::open(&path)?;
/// assert!(read == mapped);
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "std")]
pub type MappedBloomFilter = BloomFilter<crate::bits::Mapped>;
/// A [`ClassicBloom`] that many threads add to.
pub type SharedClassicBloom = ClassicBloom<Native, crate::bits::Shared>;
/// A [`ClassicBloom`] in a mapped file: asked without being read.
#[cfg(feature = "std")]
pub type MappedClassicBloom = ClassicBloom<Native, crate::bits::Mapped>;
/// A [`ScalableBloom`] in a mapped file: asked without being read, and as large as it was saved.
#[cfg(feature = "std")]
pub type MappedScalableBloom = ScalableBloom<crate::bits::Mapped>;
