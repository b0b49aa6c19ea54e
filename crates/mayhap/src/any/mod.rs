//! A filter of any kind, where only the run time tells which.
//!
//! [`AnyFilter`] is for programs that open whatever file they are given: a command line, a server. It has what the kinds
//! have in common; for the rest, match on it. Whoever knows the kind uses its own type, which is simpler and has more.
//!
//! A [`Bitmap`](crate::bitmap) is not among them: it holds numbers, not keys, and hashes nothing. Nor are the filters of
//! other systems, whose hashes are not this crate's digests.

#[cfg(feature = "std")]
mod files;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::fmt;

use crate::bits::{Blocks, Owned};
use crate::bloom::{BloomFilter, ClassicBloom, DualBloom, Native, ScalableBloom, WindowBloom};
use crate::codec::{File, FormatError, Kind};
use crate::counting::CountingBloom;
use crate::cuckoo::{CuckooFilter, ScalableCuckoo};
use crate::d_left::DLeftCounting;
use crate::error::Error;
use crate::file::ReadOptions;
use crate::filter::{Census, InsertError};
use crate::hash::{Digest, Key, KeyHasher};
use crate::merge_error::MergeError;

/// A filter of this crate's own, of whichever kind.
///
/// ```
/// use mayhap::{AnyFilter, CuckooFilter};
///
/// let mut coupons = CuckooFilter::with_rate(1_000, 0.01)?;
/// coupons.insert("SPRING-10")?;
/// let bytes = coupons.to_bytes()?;
///
/// // Elsewhere, where nobody knows what kind of filter it is:
/// let mut filter = AnyFilter::from_bytes(&bytes)?;
/// assert!(filter.contains("SPRING-10"));
/// assert_eq!(filter.kind().to_string(), "cuckoo filter");
/// assert!(filter.can_remove() && filter.remove("SPRING-10")?);
/// # Ok::<(), mayhap::Error>(())
/// ```
#[non_exhaustive]
pub enum AnyFilter<S: Blocks = Owned> {
    /// The default kind.
    Bloom(BloomFilter<S>),
    /// The textbook's.
    Classic(ClassicBloom<Native, S>),
    /// One that grows.
    Scalable(ScalableBloom<S>),
    /// One that counts and deletes.
    Counting(CountingBloom<S>),
    /// Two filters, one of them for what was removed.
    Dual(DualBloom<S>),
    /// One that counts and deletes, in less memory.
    DLeft(DLeftCounting<S>),
    /// One that deletes.
    Cuckoo(CuckooFilter<S>),
    /// One that deletes and grows.
    ScalableCuckoo(ScalableCuckoo<S>),
    /// One that forgets.
    Window(WindowBloom<S>),
}

/// A filter of any kind in a mapped file: asked without being read.
#[cfg(feature = "std")]
pub type MappedAnyFilter = AnyFilter<crate::bits::Mapped>;

/// Something that filters of a kind can't do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The kind.
    pub kind: Kind,
    /// What it can't do: "remove keys", say.
    pub operation: &'static str,
}

/// The same expression for whichever filter it is.
macro_rules! each {
    ($any:expr, $filter:ident => $answer:expr) => {
        match $any {
            AnyFilter::Bloom($filter) => $answer,
            AnyFilter::Classic($filter) => $answer,
            AnyFilter::Scalable($filter) => $answer,
            AnyFilter::Counting($filter) => $answer,
            AnyFilter::Dual($filter) => $answer,
            AnyFilter::DLeft($filter) => $answer,
            AnyFilter::Cuckoo($filter) => $answer,
            AnyFilter::ScalableCuckoo($filter) => $answer,
            AnyFilter::Window($filter) => $answer,
        }
    };
}

/// The constructor of the same name for whichever kind it is: `open_as!(kind, from_bytes_with(bytes, options))`.
macro_rules! open_as {
    ($kind:expr, $method:ident($($argument:expr),*)) => {
        match $kind {
            Kind::BLOCKED_BLOOM => AnyFilter::Bloom(BloomFilter::$method($($argument),*)?),
            Kind::CLASSIC_BLOOM => AnyFilter::Classic(ClassicBloom::$method($($argument),*)?),
            Kind::SCALABLE_BLOOM => AnyFilter::Scalable(ScalableBloom::$method($($argument),*)?),
            Kind::COUNTING_BLOOM => AnyFilter::Counting(CountingBloom::$method($($argument),*)?),
            Kind::DUAL_BLOOM => AnyFilter::Dual(DualBloom::$method($($argument),*)?),
            Kind::D_LEFT_COUNTING => AnyFilter::DLeft(DLeftCounting::$method($($argument),*)?),
            Kind::CUCKOO => AnyFilter::Cuckoo(CuckooFilter::$method($($argument),*)?),
            Kind::SCALABLE_CUCKOO => AnyFilter::ScalableCuckoo(ScalableCuckoo::$method($($argument),*)?),
            Kind::WINDOW_BLOOM => AnyFilter::Window(WindowBloom::$method($($argument),*)?),
            got @ (Kind::BITMAP | Kind::FOREIGN) => {
                return Err(FormatError::WrongKind { expected: Kind::BLOCKED_BLOOM, got }.into());
            }
            other => {
                return Err(FormatError::Unknown { what: "kind of filter", number: u64::from(other.get()) }.into());
            }
        }
    };
}
#[cfg(feature = "std")]
use {each, open_as};

impl AnyFilter {
    /// The filter in the bytes of a file. Every field and every checksum is checked.
    ///
    /// # Errors
    /// When the bytes are damaged, or not a filter, or need a secret key.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes_with(bytes, &ReadOptions::new())
    }

    /// [`from_bytes`](Self::from_bytes), with a secret key, hash function or limit.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), or when the key is another.
    pub fn from_bytes_with(bytes: &[u8], options: &ReadOptions) -> Result<Self, Error> {
        let kind = File::parse(bytes)?.header().kind;
        Ok(open_as!(kind, from_bytes_with(bytes, options)))
    }

    /// Adds a key; true if it was new. Into a window it comes at its newest instant.
    ///
    /// # Errors
    /// When the key was refused; the filter is as it was then.
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, InsertError> {
        self.insert_hash(self.hash(key))
    }

    /// [`insert`](Self::insert) for a key that is hashed already.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_hash(&mut self, digest: Digest) -> Result<bool, InsertError> {
        match self {
            Self::Bloom(filter) => Ok(filter.insert_hash(digest)),
            Self::Classic(filter) => Ok(filter.insert_hash(digest)),
            Self::Counting(filter) => Ok(filter.insert_hash(digest)),
            Self::Window(filter) => Ok(filter.insert_hash(digest)),
            Self::Scalable(filter) => filter.insert_hash(digest),
            Self::DLeft(filter) => filter.insert_hash(digest),
            Self::Cuckoo(filter) => filter.insert_hash(digest),
            Self::ScalableCuckoo(filter) => filter.insert_hash(digest),
            Self::Dual(filter) => Ok(filter.insert_hash(digest)?),
        }
    }

    /// Adds many keys: `new[i]` tells whether `digests[i]` was new. Into a window they come at its newest instant.
    ///
    /// # Errors
    /// When a key was refused on the way; the keys before it are in the filter, those after it are not, and `new` is
    /// false for it and for them.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_hashes(&mut self, digests: &[Digest], new: &mut [bool]) -> Result<(), InsertError> {
        match self {
            Self::Bloom(filter) => filter.insert_hashes(digests, new),
            Self::Classic(filter) => filter.insert_hashes(digests, new),
            Self::Counting(filter) => filter.insert_hashes(digests, new),
            Self::Window(filter) => filter.insert_hashes(digests, new),
            Self::Scalable(filter) => filter.insert_hashes(digests, new)?,
            Self::DLeft(filter) => filter.insert_hashes(digests, new)?,
            Self::Cuckoo(filter) => filter.insert_hashes(digests, new)?,
            Self::ScalableCuckoo(filter) => filter.insert_hashes(digests, new)?,
            Self::Dual(filter) => {
                assert_eq!(digests.len(), new.len(), "one answer for each key");
                new.fill(false);
                for (digest, new) in digests.iter().zip(new) {
                    *new = filter.insert_hash(*digest)?;
                }
            }
        }
        Ok(())
    }

    /// Removes a key once; whether it may have been there. Remove only what was added: see
    /// [`Remove`](crate::filter::Remove).
    ///
    /// # Errors
    /// When the kind can't remove keys.
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, Unsupported> {
        self.remove_hash(self.hash(key))
    }

    /// [`remove`](Self::remove) for a key that is hashed already.
    ///
    /// # Errors
    /// As [`remove`](Self::remove).
    pub fn remove_hash(&mut self, digest: Digest) -> Result<bool, Unsupported> {
        let mut removed = [false];
        self.remove_hashes(&[digest], &mut removed)?;
        Ok(removed[0])
    }

    /// Removes many keys, each once: `removed[i]` tells whether `digests[i]` may have been there. Remove only what was
    /// added: see [`Remove`](crate::filter::Remove).
    ///
    /// # Errors
    /// When the kind can't remove keys.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn remove_hashes(&mut self, digests: &[Digest], removed: &mut [bool]) -> Result<(), Unsupported> {
        match self {
            Self::Counting(filter) => filter.remove_hashes(digests, removed),
            Self::Dual(filter) => filter.remove_hashes(digests, removed),
            Self::DLeft(filter) => filter.remove_hashes(digests, removed),
            Self::Cuckoo(filter) => filter.remove_hashes(digests, removed),
            Self::ScalableCuckoo(filter) => filter.remove_hashes(digests, removed),
            Self::Bloom(_) | Self::Classic(_) | Self::Scalable(_) | Self::Window(_) => {
                return Err(self.unsupported("remove keys"));
            }
        }
        Ok(())
    }

    /// Removes all keys. What it was made for stays.
    pub fn clear(&mut self) {
        each!(self, filter => filter.clear());
    }

    /// Adds every key of another filter of the same kind and recipe.
    ///
    /// # Errors
    /// When the two don't fit together, or their kind can't be merged; nothing is changed then.
    pub fn merge<T: Blocks>(&mut self, other: &AnyFilter<T>) -> Result<(), MergeError> {
        match (&mut *self, other) {
            (Self::Bloom(ours), AnyFilter::Bloom(theirs)) => ours.merge(theirs),
            (Self::Classic(ours), AnyFilter::Classic(theirs)) => ours.merge(theirs),
            (Self::Counting(ours), AnyFilter::Counting(theirs)) => ours.merge(theirs),
            (Self::Dual(ours), AnyFilter::Dual(theirs)) => ours.merge(theirs),
            (Self::Window(ours), AnyFilter::Window(theirs)) => ours.merge(theirs),
            (ours, theirs) if ours.kind() != theirs.kind() => {
                Err(MergeError::Kinds { ours: ours.kind(), theirs: theirs.kind() })
            }
            (ours, _) => Err(MergeError::Unsupported(ours.unsupported("be merged"))),
        }
    }

    /// Makes the filter `factor` times smaller: what it would be had it been built that small.
    ///
    /// # Errors
    /// When `factor` doesn't divide its size, or the kind can't be folded.
    pub fn fold(&mut self, factor: u64) -> Result<(), MergeError> {
        match self {
            Self::Bloom(filter) => filter.fold(factor),
            Self::Classic(filter) => filter.fold(factor),
            Self::Counting(filter) => filter.fold(factor),
            _ => Err(MergeError::Unsupported(self.unsupported("be folded"))),
        }
    }

    /// Folds the filter as far as the rate it is to have allows, and says by which factor; 1 when it stayed as it was.
    ///
    /// # Errors
    /// When the rate is none, or the kind can't be folded.
    pub fn fold_to_rate(&mut self, rate: f64) -> Result<u64, MergeError> {
        match self {
            Self::Bloom(filter) => filter.fold_to_rate(rate),
            Self::Classic(filter) => filter.fold_to_rate(rate),
            Self::Counting(filter) => filter.fold_to_rate(rate),
            _ => Err(MergeError::Unsupported(self.unsupported("be folded"))),
        }
    }
}

impl<S: Blocks> AnyFilter<S> {
    /// Its kind, as its file names it.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Bloom(_) => Kind::BLOCKED_BLOOM,
            Self::Classic(_) => Kind::CLASSIC_BLOOM,
            Self::Scalable(_) => Kind::SCALABLE_BLOOM,
            Self::Counting(_) => Kind::COUNTING_BLOOM,
            Self::Dual(_) => Kind::DUAL_BLOOM,
            Self::DLeft(_) => Kind::D_LEFT_COUNTING,
            Self::Cuckoo(_) => Kind::CUCKOO,
            Self::ScalableCuckoo(_) => Kind::SCALABLE_CUCKOO,
            Self::Window(_) => Kind::WINDOW_BLOOM,
        }
    }

    /// The digest of a key.
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> Digest {
        self.hasher().digest(key)
    }

    /// What hashes its keys.
    #[must_use]
    pub fn hasher(&self) -> &KeyHasher {
        each!(self, filter => filter.hasher())
    }

    /// Whether the key may be in the set. `false` is certain, but of a [`DualBloom`].
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// [`contains`](Self::contains) for a key that is hashed already.
    #[must_use]
    pub fn contains_hash(&self, digest: Digest) -> bool {
        each!(self, filter => filter.contains_hash(digest))
    }

    /// Asks for many keys at once: `found[i]` tells whether `digests[i]` may be in the set.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hashes(&self, digests: &[Digest], found: &mut [bool]) {
        each!(self, filter => filter.contains_hashes(digests, found));
    }

    /// At least how often the key was added and not removed, if the kind can tell.
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> Option<u64> {
        self.count_hash(self.hash(key))
    }

    /// [`count`](Self::count) for a key that is hashed already.
    #[must_use]
    pub fn count_hash(&self, digest: Digest) -> Option<u64> {
        match self {
            Self::Counting(filter) => Some(filter.count_hash(digest)),
            Self::DLeft(filter) => Some(filter.count_hash(digest)),
            Self::Cuckoo(filter) => Some(filter.count_hash(digest)),
            Self::ScalableCuckoo(filter) => Some(filter.count_hash(digest)),
            Self::Bloom(_) | Self::Classic(_) | Self::Scalable(_) | Self::Dual(_) | Self::Window(_) => None,
        }
    }

    /// Whether keys can be removed.
    #[must_use]
    pub fn can_remove(&self) -> bool {
        matches!(
            self,
            Self::Counting(_) | Self::Dual(_) | Self::DLeft(_) | Self::Cuckoo(_) | Self::ScalableCuckoo(_)
        )
    }

    /// Bytes of memory.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        each!(self, filter => filter.len_bytes())
    }

    /// The number of keys it was made for.
    #[must_use]
    pub fn planned_keys(&self) -> u64 {
        each!(self, filter => filter.planned_keys())
    }

    /// The rate it was made for.
    #[must_use]
    pub fn planned_rate(&self) -> f64 {
        each!(self, filter => filter.planned_rate())
    }

    /// Keys in it, about: exact where the kind counts them.
    #[must_use]
    pub fn estimated_len(&self) -> u64 {
        match self {
            Self::Bloom(filter) => filter.estimated_len(),
            Self::Classic(filter) => filter.estimated_len(),
            Self::Scalable(filter) => filter.estimated_len(),
            Self::Counting(filter) => filter.estimated_len(),
            Self::Dual(filter) => filter.estimated_added().saturating_sub(filter.estimated_removed()),
            Self::DLeft(filter) => filter.estimated_len(),
            Self::Cuckoo(filter) => filter.len(),
            Self::ScalableCuckoo(filter) => filter.len(),
            Self::Window(filter) => filter.estimated_len(),
        }
    }

    /// The rate at which it, as it is now, answers "mayhap" for absent keys.
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        match self {
            Self::Bloom(filter) => filter.expected_rate(),
            Self::Classic(filter) => filter.expected_rate(),
            Self::Scalable(filter) => filter.expected_rate(),
            Self::Counting(filter) => filter.expected_rate(),
            Self::Dual(filter) => filter.added_rate(),
            Self::DLeft(filter) => filter.expected_rate(),
            Self::Cuckoo(filter) => filter.expected_rate(),
            Self::ScalableCuckoo(filter) => filter.expected_rate(),
            Self::Window(filter) => filter.expected_rate(),
        }
    }

    /// The part of its bits, counters or slots that is in use; of a dual filter, of the side that was added to.
    #[must_use]
    pub fn fill_ratio(&self) -> f64 {
        match self {
            Self::Bloom(filter) => filter.fill_ratio(),
            Self::Classic(filter) => filter.fill_ratio(),
            Self::Scalable(filter) => filter.fill_ratio(),
            Self::Counting(filter) => filter.fill_ratio(),
            Self::Dual(filter) => filter.added().fill_ratio(),
            Self::DLeft(filter) => filter.fill_ratio(),
            Self::Cuckoo(filter) => filter.load_factor(),
            Self::ScalableCuckoo(filter) => filter.load_factor(),
            Self::Window(filter) => filter.fill_ratio(),
        }
    }

    /// All four of these; of a Bloom filter, from one look at its bits.
    #[must_use]
    pub fn census(&self) -> Census {
        match self {
            Self::Bloom(filter) => filter.census(),
            other => Census {
                estimated_len: other.estimated_len(),
                expected_rate: other.expected_rate(),
                fill_ratio: other.fill_ratio(),
                is_over_plan: other.is_over_plan(),
            },
        }
    }

    /// Whether it holds more than it was made for.
    #[must_use]
    pub fn is_over_plan(&self) -> bool {
        each!(self, filter => filter.is_over_plan())
    }

    /// The filter as the bytes of a file.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FormatError> {
        each!(self, filter => filter.to_bytes())
    }

    fn unsupported(&self, operation: &'static str) -> Unsupported {
        Unsupported { kind: self.kind(), operation }
    }
}

impl Clone for AnyFilter {
    /// # Panics
    /// When the memory can't be had, as `Vec` does.
    fn clone(&self) -> Self {
        each!(self, filter => filter.clone().into())
    }
}

impl<S: Blocks> fmt::Debug for AnyFilter<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        each!(self, filter => filter.fmt(f))
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} can't {}", self.kind, self.operation)
    }
}

impl core::error::Error for Unsupported {}

macro_rules! from {
    ($($filter:ident: $variant:ident),*) => {$(
        impl<S: Blocks> From<$filter<S>> for AnyFilter<S> {
            fn from(filter: $filter<S>) -> Self {
                Self::$variant(filter)
            }
        }
    )*};
}

from!(
    BloomFilter: Bloom, ScalableBloom: Scalable, CountingBloom: Counting, DualBloom: Dual, DLeftCounting: DLeft,
    CuckooFilter: Cuckoo, ScalableCuckoo: ScalableCuckoo, WindowBloom: Window
);

impl<S: Blocks> From<ClassicBloom<Native, S>> for AnyFilter<S> {
    fn from(filter: ClassicBloom<Native, S>) -> Self {
        Self::Classic(filter)
    }
}
