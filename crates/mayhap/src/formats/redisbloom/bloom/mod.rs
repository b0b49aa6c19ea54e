//! RedisBloom's Bloom filter: a chain of classic filters, each larger and stricter than the one before.
//!
//! ```text
//! asked for: 1 %, 100 items, expansion 2
//!   link 0    100 items at 0.5 %      half of what was asked: the rates of all links add up to it
//!   link 1    200 items at 0.25 %
//!   link 2    400 items at 0.125 %    the newest takes new items; all are asked, the newest first
//! ```
//!
//! An item that any link has is not added again, and not counted. A link is full when it has taken as many new items as
//! it was sized for; then the next new item makes a link, larger by the expansion and at half the rate. A filter that
//! doesn't scale has one link, at the rate that was asked for, and refuses new items when it is full.
//!
//! # Sizes and positions
//!
//! A link for n items at rate p:
//!
//! ```text
//! bits per entry = |ln p / 0.480453013918201|          k = ⌈0.693147180559945 · bits per entry⌉
//! m = ⌊n · bits per entry⌋, at least 1, rounded up to a multiple of 64
//! start = MurmurHash64A(item, 0xc6a4a7935bd1e995)        step = MurmurHash64A(item, start)
//! position i = (start + i · step mod 2⁶⁴) mod m           i = 0 … k − 1; bit x is bit x mod 8 of byte x div 8
//! ```
//!
//! The bits per entry are stored, so the logarithm must be right to its last bit.
//!
//! # The header
//!
//! `BF.SCANDUMP key 0` gives it. All numbers are little-endian, without gaps.
//!
//! ```text
//!  0  u64  size        items in all links           link i, from 20 + 53 · i on:
//!  8  u32  nfilters    links                         0  u64  bytes         32  f64  bits per entry
//! 12  u32  options     5, or 13: doesn't scale       8  u64  bits          40  u32  hashes: k
//! 16  u32  growth      the expansion                16  u64  size          44  u64  entries: n
//! 20                   the links, 53 bytes each     24  f64  error: p      52  u8   n2: 0
//! ```
//!
//! The other chunks are the links' bits, in pieces of at most 16 MiB, never of two links. A piece goes with an *iterator*
//! that counts the bytes of all links, from 1 on, and names the byte after the piece: a piece of n bytes with the iterator
//! i belongs at i − n − 1. `BF.LOADCHUNK` takes the iterator that came *with* the piece, not the one that was asked with.
//!
//! A header is refused when its length isn't right, it has no links, an option isn't known, the sizes don't add up, a rate
//! isn't between 0 and 1, the bits aren't eight times the bytes, or k isn't what the bits per entry give. Besides, more
//! than 1100 hashes are refused, which no rate asks for, and more memory than the reader's limit.
//!
//! # The value in RDB
//!
//! The type is `MBbloom--`, the version 4; all fields are unsigned integers but for those marked.
//!
//! ```text
//! size, nfilters, options (from version 2 on), growth (from version 4 on; before, it is 2)
//! for each link:
//!   entries, error (double), hashes, bits per entry (double), bits and n2 (from version 1 on), bytes (string), size
//! ```
//!
//! # Old filters
//!
//! They are recognised by their options and load as they are; what they grow by has the same options.
//!
//! ```text
//! 1  not set: m is the next power of two above n · bits per entry, n2 its logarithm, and n grows to what fits
//! 2  set: the capacity that was asked for was n2 itself
//! 4  not set: the hashes are MurmurHash2 of 32 bits, seeds 0x9747b28c and the first hash
//! 8  set: the filter doesn't scale
//! ```
//!
//! # Traps
//!
//! * **It takes more memory than was asked for.** A filter that scales starts at half the rate: 11.03 bits an item at 1 %
//!   where 9.59 would do. If the number of items is known, don't let it scale.
//! * **Growth costs time and memory.** Every link is asked for an absent item, and each link that is added has one more
//!   bit for each item. With expansion 1 a filter of 100 that took 100 000 items has a thousand links.
//! * **It is never overfilled.** One that scales grows; one that doesn't refuses. The rate stays what was asked for. What
//!   is lost are the items that looked present when they were added: they are in the filter, but not in
//!   [`card`](RedisBloom::card).
//! * **Rates above 25 % are lowered to 25 %**, silently.
//! * **A lost chunk is not noticed** by Redis: the filter then answers no for items that it had.
//!   [`RedisBloomLoader`] notices.
//! * **Old filters of 32-bit hashes** don't keep their rate above some ten million items, whatever their size.
//! * **Anyone can compute the hashes**, which have no secret: see the [page above](super).

mod chunks;
mod header;
mod info;
mod insert;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod link;
mod lookup;
mod options;
mod recipe;
#[cfg(test)]
mod tests;
mod value;

pub use chunks::RedisBloomLoader;
pub use info::RedisBloomInfo;
pub use link::RedisLink;
pub use recipe::{RedisHash, RedisRecipe};

use alloc::vec::Vec;
use core::fmt;

use crate::bits::{AllocError, Owned, Words};
use crate::bloom::Scheme as _;
use crate::error::Error;
use crate::hash::Key;
use crate::sizing::SizingError;
use link::Link;
use options::Options;

/// A Bloom filter of RedisBloom, bit for bit.
///
/// `S` is where its bits live: memory of our own, or bytes that were [borrowed](RedisBloom::view).
///
/// ```
/// use mayhap::formats::redisbloom::{RdbVersion, RedisBloom};
///
/// // BF.RESERVE seen 0.001 500 EXPANSION 2, then BF.ADD seen apple, BF.EXISTS seen pear
/// let mut seen = RedisBloom::reserve(0.001, 500, 2, true)?;
/// assert!(seen.add("apple")?);
/// assert!(!seen.add("apple")?);
/// assert!(!seen.contains("pear"));
///
/// // What DUMP seen gives; RESTORE takes it.
/// let payload = seen.to_dump(RdbVersion::REDIS_7_0)?;
/// assert!(RedisBloom::from_dump(&payload)? == seen);
/// # Ok::<(), mayhap::Error>(())
/// ```
pub struct RedisBloom<S = Owned> {
    /// At least one; the last is the newest.
    links: Vec<Link<S>>,
    options: Options,
    growth: u32,
}

/// The rate of filters that `BF.ADD` makes, and of a server that was told no other.
pub const DEFAULT_ERROR_RATE: f64 = 0.01;
/// The capacity of filters that `BF.ADD` makes.
pub const DEFAULT_CAPACITY: u64 = 100;
/// How much larger each link is than the one before, unless it was said.
pub const DEFAULT_EXPANSION: u32 = 2;
/// Higher rates are lowered to this, silently.
pub const MAX_ERROR_RATE: f64 = 0.25;
/// The largest capacity that `BF.RESERVE` takes. [`RedisBloom::reserve`] takes larger ones, as older versions did.
pub const MAX_CAPACITY: u64 = 1 << 30;
/// The largest expansion that `BF.RESERVE` takes.
pub const MAX_EXPANSION: u32 = 32_768;

/// The rate of each link, as a part of the rate of the one before.
const TIGHTENING: f64 = 0.5;

impl RedisBloom {
    /// What `BF.RESERVE key error capacity EXPANSION expansion` makes, or with `NONSCALING` if not `scaling`.
    ///
    /// An error rate above [`MAX_ERROR_RATE`] is lowered to that. An expansion of 0 means not to scale. Where a command
    /// leaves the expansion out, RedisBloom stores [`DEFAULT_EXPANSION`], also in filters that don't scale.
    ///
    /// ```
    /// use mayhap::formats::redisbloom::bloom::{DEFAULT_EXPANSION, RedisBloom};
    ///
    /// let filter = RedisBloom::reserve(0.01, 100, DEFAULT_EXPANSION, true)?;
    /// assert_eq!((filter.info().capacity, filter.info().size), (100, 240));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the error rate isn't between 0 and 1, the capacity is 0 or too large for a filter, or the memory can't be
    /// had.
    pub fn reserve(error: f64, capacity: u64, expansion: u32, scaling: bool) -> Result<Self, Error> {
        let options = Options::new(scaling && expansion > 0);
        let figures = first_link(error, capacity, options)?;
        Ok(Self::with_links([Link::empty(figures, options.recipe())?], options, expansion)?)
    }

    /// The links that such a filter has once it holds so many keys, each with what is in it: what it costs, without
    /// making it. A filter that doesn't scale has one, and counts no more keys than it takes.
    ///
    /// ```
    /// use mayhap::formats::redisbloom::RedisBloom;
    ///
    /// // BF.ADD, ten thousand times, to a key that wasn't there: 100, 200, 400 … keys in each link.
    /// let links = RedisBloom::planned_links(0.01, 100, 2, true, 10_000)?;
    /// assert_eq!(links.len(), 7);
    /// assert_eq!(links.iter().map(|link| link.size).sum::<u64>(), 10_000);
    /// # Ok::<(), mayhap::sizing::SizingError>(())
    /// ```
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve), and when a filter can't grow so far.
    pub fn planned_links(
        error: f64,
        capacity: u64,
        expansion: u32,
        scaling: bool,
        keys: u64,
    ) -> Result<Vec<RedisLink>, SizingError> {
        let options = Options::new(scaling && expansion > 0);
        let mut links = Vec::new();
        let mut link = first_link(error, capacity, options)?;
        let mut left = keys;
        loop {
            link.size = left.min(link.entries);
            left -= link.size;
            links.push(link);
            if left == 0 || !options.scales() {
                return Ok(links);
            }
            link = link.next(expansion, options).ok_or(TOO_LARGE)?;
        }
    }

    /// What `BF.ADD` makes of a key that doesn't exist.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn new() -> Result<Self, Error> {
        Self::reserve(DEFAULT_ERROR_RATE, DEFAULT_CAPACITY, DEFAULT_EXPANSION, true)
    }

    /// Empties the filter. Its first link and its settings stay; the memory of the others is given back.
    pub fn clear(&mut self) {
        self.links.truncate(1);
        self.links.iter_mut().for_each(Link::clear);
    }
}

const TOO_LARGE: SizingError = SizingError::TooLarge { bytes: u64::MAX, limit: u64::MAX / 8 };

/// The figures of the first link of a filter that is asked for with this rate.
fn first_link(error: f64, capacity: u64, options: Options) -> Result<RedisLink, SizingError> {
    if !(error > 0.0 && error < 1.0) {
        return Err(SizingError::RateOutOfRange { got: error });
    }
    if capacity == 0 {
        return Err(SizingError::ZeroKeys);
    }
    let error = error.min(MAX_ERROR_RATE);
    let error = if options.scales() { error * TIGHTENING } else { error };
    RedisLink::plan(capacity, error, options).ok_or(TOO_LARGE)
}

impl<S: Words> RedisBloom<S> {
    /// At least one link.
    fn with_links<const N: usize>(
        links: [Link<S>; N],
        options: Options,
        growth: u32,
    ) -> Result<Self, AllocError> {
        let mut filter = Self { links: Vec::new(), options, growth };
        for link in links {
            filter.push(link)?;
        }
        Ok(filter)
    }

    fn push(&mut self, link: Link<S>) -> Result<(), AllocError> {
        // Most filters have one link all their lives, and a list that grows begins with room for four.
        let room =
            if self.links.is_empty() { self.links.try_reserve_exact(1) } else { self.links.try_reserve(1) };
        room.map_err(|_| AllocError { bytes: size_of::<Link<S>>() as u64 })?;
        self.links.push(link);
        Ok(())
    }

    /// The hash of an item, for the `*_hash` methods of this filter and of others with the same
    /// [recipe](Self::recipe).
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, item: &K) -> RedisHash {
        self.recipe().hash(item)
    }

    /// How items are hashed.
    #[must_use]
    pub fn recipe(&self) -> RedisRecipe {
        self.options.recipe()
    }

    /// Whether the filter grows when it is full.
    #[must_use]
    pub fn is_scaling(&self) -> bool {
        self.options.scales()
    }

    /// The filters of the chain, the oldest first.
    pub fn links(&self) -> impl ExactSizeIterator<Item = &RedisLink> {
        self.links.iter().map(|link| &link.figures)
    }
}

impl Clone for RedisBloom {
    /// # Panics
    /// When the memory can't be had, as `Vec` does.
    fn clone(&self) -> Self {
        Self { links: self.links.clone(), options: self.options, growth: self.growth }
    }
}

/// Equal when their dumps are.
impl<S: Words, T: Words> PartialEq<RedisBloom<T>> for RedisBloom<S> {
    fn eq(&self, other: &RedisBloom<T>) -> bool {
        self.options == other.options
            && self.growth == other.growth
            && self.links.len() == other.links.len()
            && self.links.iter().zip(&other.links).all(|(ours, theirs)| ours == theirs)
    }
}

impl<S: Words> fmt::Debug for RedisBloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisBloom")
            .field("options", &self.options.bits())
            .field("growth", &self.growth)
            .field("links", &self.links().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
