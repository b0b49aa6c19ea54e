//! Two filters: what was added, and what was removed.
//!
//! **This is the only filter here whose "no" isn't certain.** A key that is in the set is answered "no" if the filter
//! of removed keys takes it for one of its own. That happens at the rate of the removed side, which you choose, and
//! which [`expected_rates`](DualBloom::expected_rates) reports beside the rate of wrong "mayhaps".
//!
//! # The idea
//!
//! A Bloom filter can't forget a key: its bits belong to others, too. But it can be told which keys to disbelieve. A
//! second Bloom filter holds the removed keys, and a key is in the set if it was added and not removed.
//!
//! ```text
//!             digest of "apple"
//!             ┌───────┴───────┐
//!   added    ····▮▮·▮····    removed  ··▮···          each a BloomFilter of its own size; one hash for both
//!              in it?            in it?
//!
//!        contains = in added, and not in removed
//!
//!        added   removed   the key             contains   insert                remove
//!        no      no        absent              no         adds it: Ok(true)     false
//!        yes     no        present             mayhap     Ok(false)             removes it: true
//!        –       yes       removed, or hidden  no         Err(Removed)          false
//! ```
//!
//! # The maths
//!
//! With a the rate of the added side and r that of the removed one, a key in the set is answered "no" with probability r, and
//! one that isn't "mayhap" with at most a · (1 − r): see [docs/maths.md].
//!
//! # How it fails
//!
//! - A key in the set is *hidden*: with the rate of the removed side, r.
//! - A key that isn't in the set is answered "mayhap": with the rate of the added side, a, unless the removed side
//!   happens to hide it; at most a · (1 − r).
//! - A removed key is gone for good. Adding it again can't be seen, so [`insert`](DualBloom::insert) refuses it with
//!   [`InsertError::Removed`](crate::InsertError::Removed) and changes nothing. A new key that the removed side hides
//!   is refused in the same way: so a key that was accepted is visible at that moment, and only later removals can
//!   hide it.
//! - Removing a key that was never added, but is answered "mayhap", takes no other key away. It fills the removed side.
//! - Both sides fill and never empty: [`is_over_plan`](DualBloom::is_over_plan) tells when either has outgrown its plan.
//!
//! # When to choose it
//!
//! When few keys are removed, none comes back, and a rare wrong "no" does no harm. It costs a Bloom filter of all keys
//! and one of the removed keys: 11.1 bits a key at 1 % with one removal for ten keys. It merges, unlike a cuckoo
//! filter, and an insertion never finds it full. If a "no" must be certain, or keys come back, take `CuckooFilter` or
//! `CountingBloom`. Because its "no" isn't certain it doesn't implement [`Filter`](crate::filter::Filter), which
//! promises that: code that skips a disk read on "no" can't be given a `DualBloom` by mistake.
//!
//! [docs/maths.md]: https://github.com/mayhap/mayhap/blob/main/docs/maths.md#17-two-filters-added-and-removed

mod builder;
mod change;
mod combine;
mod file;
mod rates;
#[cfg(test)]
mod tests;

pub use builder::{DualBuilder, DualPlan};
pub use rates::DualRates;

use core::fmt;

use super::BloomFilter;
use super::chunks::{CHUNK, Hashed, contains_wanted};
use crate::bits::{Blocks, Owned};
use crate::error::Error;
use crate::hash::{Digest, Key, KeyHasher};

/// A Bloom filter of added keys and one of removed keys: for few deletes. **Its "no" isn't certain**: see
/// [`contains`](Self::contains), and [its page](self) for how it works.
///
/// ```
/// use mayhap::{DualBloom, InsertError};
///
/// let mut coupons = DualBloom::with_rate(1_000_000, 0.001)?;
/// assert_eq!(coupons.insert("SPRING-7731"), Ok(true), "new");
/// assert!(coupons.contains("SPRING-7731"));
///
/// assert!(coupons.remove("SPRING-7731"), "was there");
/// assert!(!coupons.contains("SPRING-7731"));
/// assert!(!coupons.remove("SPRING-7731"), "not twice");
/// assert_eq!(coupons.insert("SPRING-7731"), Err(InsertError::Removed), "nor added again");
/// # Ok::<(), mayhap::Error>(())
/// ```
pub struct DualBloom<S = Owned> {
    added: BloomFilter<S>,
    /// Has the hasher of `added`.
    removed: BloomFilter<S>,
}

/// A [`DualBloom`] in a mapped file: asked without being read.
#[cfg(feature = "std")]
pub type MappedDualBloom = DualBloom<crate::bits::Mapped>;

impl DualBloom {
    /// A filter for `keys` distinct keys, one in ten of which may be removed, that answers "mayhap" for at most `rate`
    /// of the absent keys, and hides at most `rate` of the present ones.
    ///
    /// # Errors
    /// When `keys` is 0, `rate` isn't between 0 and 1 or is lower than a 64-bit digest can give for so many keys, or
    /// the memory can't be had.
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, Error> {
        Self::builder().keys(keys).rate(rate).build()
    }

    /// Every choice there is: number of removals, a rate for each side, hash, seed or secret key, limits.
    pub fn builder() -> DualBuilder {
        DualBuilder::default()
    }
}

impl<S: Blocks> DualBloom<S> {
    /// The digest of a key, for the `*_hash` methods of this filter and of others with an equal hasher.
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> Digest {
        self.added.hash(key)
    }

    /// Whether the key may be in the set: added, and not removed.
    ///
    /// **Neither answer is certain.** "Mayhap" is wrong for a part [`false_yes`](DualRates::false_yes) of the keys that
    /// are not in the set; "no" is given to a part [`false_no`](DualRates::false_no) of the keys that are.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// [`contains`](Self::contains) for a key that was hashed already.
    #[inline]
    pub fn contains_hash(&self, digest: Digest) -> bool {
        self.added.contains_hash(digest) && !self.removed.contains_hash(digest)
    }

    /// Asks for many keys at once: `found[i]` is [`contains`](Self::contains) of `keys[i]`.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
        assert_eq!(keys.len(), found.len(), "one answer for each key");
        for (keys, found) in keys.chunks(CHUNK).zip(found.chunks_mut(CHUNK)) {
            self.contains_chunk(Hashed::new(self.hasher(), keys).digests(), found);
        }
    }

    /// [`contains_each`](Self::contains_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hashes(&self, digests: &[Digest], found: &mut [bool]) {
        assert_eq!(digests.len(), found.len(), "one answer for each digest");
        for (digests, found) in digests.chunks(CHUNK).zip(found.chunks_mut(CHUNK)) {
            self.contains_chunk(digests, found);
        }
    }

    fn contains_chunk(&self, digests: &[Digest], found: &mut [bool]) {
        self.added.contains_hashes(digests, found);
        let mut removed = [false; CHUNK];
        contains_wanted(&self.removed, digests, found, &mut removed[..digests.len()]);
        for (found, removed) in found.iter_mut().zip(removed) {
            *found &= !removed;
        }
    }

    /// Whether the key counts as removed: it was, or it looks so and is hidden. Asking before
    /// [`insert`](Self::insert) isn't needed: that refuses such a key.
    #[inline]
    pub fn is_removed<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.is_removed_hash(self.hash(key))
    }

    /// [`is_removed`](Self::is_removed) for a key that was hashed already.
    #[inline]
    pub fn is_removed_hash(&self, digest: Digest) -> bool {
        self.removed.contains_hash(digest)
    }

    /// An empty filter of the same sizes, hash and plan: one that can be merged with this.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn empty_like(&self) -> Result<DualBloom, Error> {
        Ok(DualBloom { added: self.added.empty_like()?, removed: self.removed.empty_like()? })
    }

    /// Bytes of memory that the blocks of both sides take.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.added.len_bytes() + self.removed.len_bytes()
    }

    /// What turns keys into digests.
    #[must_use]
    pub fn hasher(&self) -> &KeyHasher {
        self.added.hasher()
    }

    /// The filter of all keys that were ever added.
    #[must_use]
    pub fn added(&self) -> &BloomFilter<S> {
        &self.added
    }

    /// The filter of the keys that were removed.
    #[must_use]
    pub fn removed(&self) -> &BloomFilter<S> {
        &self.removed
    }
}

impl Clone for DualBloom {
    /// # Panics
    /// When the memory can't be had, as `Vec` does.
    fn clone(&self) -> Self {
        Self { added: self.added.clone(), removed: self.removed.clone() }
    }
}

/// Equal when they give the same answers: same hash, shapes and bits. Their plans may differ.
impl<S: Blocks, T: Blocks> PartialEq<DualBloom<T>> for DualBloom<S> {
    fn eq(&self, other: &DualBloom<T>) -> bool {
        self.added == other.added && self.removed == other.removed
    }
}

impl<S: Blocks> fmt::Debug for DualBloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DualBloom").field("added", &self.added).field("removed", &self.removed).finish()
    }
}
