//! Capabilities: what code that is generic over filters can ask of one.
//!
//! They are small because filters differ: a static filter can't insert, a Bloom filter can't remove. The types' own
//! methods are the documented ones and need no import; these forward to them. Keys are out of the picture: whoever is
//! generic over filters hashes once, with [`Filter::hash_bytes`], and passes hashes on.

use core::fmt;

use crate::bits::AllocError;
use crate::counted::Counted;
use crate::merge_error::MergeError;

/// Answers "no" or "mayhap".
pub trait Filter {
    /// What a key is reduced to.
    type Hash: Copy;

    /// The hash of a key's bytes.
    fn hash_bytes(&self, key: &[u8]) -> Self::Hash;
    /// Whether the key may be in the set; `false` is certain.
    fn contains_hash(&self, hash: Self::Hash) -> bool;
    /// The same for many: `found[i]` for `hashes[i]`.
    fn contains_hashes(&self, hashes: &[Self::Hash], found: &mut [bool]);
    /// Bytes of memory.
    fn len_bytes(&self) -> u64;
}

/// Takes keys one by one.
pub trait Insert: Filter {
    /// Adds a key; true when it was new.
    ///
    /// # Errors
    /// When the filter is full, or has another reason to refuse the key; it is unchanged then. A Bloom filter never has.
    fn insert_hash(&mut self, hash: Self::Hash) -> Result<bool, InsertError>;

    /// The same for many: `new[i]` for `hashes[i]`.
    ///
    /// # Errors
    /// When a key was refused on the way; the keys before it are in the filter, those after it are not, and `new` is
    /// false for it and for them.
    fn insert_hashes(&mut self, hashes: &[Self::Hash], new: &mut [bool]) -> Result<(), InsertError>;
}

/// Forgets keys that were added.
///
/// Removing a key that was never added, but is answered "mayhap", takes the place of another key, which may then be
/// answered "no". Remove only what was added.
pub trait Remove: Insert {
    /// Removes a key, once. False when it certainly wasn't there; nothing is changed then.
    fn remove_hash(&mut self, hash: Self::Hash) -> bool;

    /// The same for many: `removed[i]` for `hashes[i]`.
    fn remove_hashes(&mut self, hashes: &[Self::Hash], removed: &mut [bool]);
}

/// Tells how often a key was added.
pub trait Count: Filter {
    /// At least the number of times the key was added and not removed, up to what the filter can count; more when
    /// other keys look like it.
    fn count_hash(&self, hash: Self::Hash) -> u64;

    /// The same for many: `counts[i]` for `hashes[i]`.
    fn count_hashes(&self, hashes: &[Self::Hash], counts: &mut [u64]);
}

/// Can become the union of itself and another.
pub trait Merge: Sized {
    /// Adds every key of `other`.
    ///
    /// # Errors
    /// When the two don't fit together; nothing is changed then.
    fn merge(&mut self, other: &Self) -> Result<(), MergeError>;
    /// An empty filter that can be merged with this.
    ///
    /// # Errors
    /// When the memory can't be had.
    fn empty_like(&self) -> Result<Self, crate::Error>;
    /// Empties the filter.
    fn clear(&mut self);
}

/// Can be made smaller without its keys.
pub trait Fold {
    /// Makes the filter `factor` times smaller: what it would be had it been built that small.
    ///
    /// # Errors
    /// When `factor` doesn't divide its size.
    fn fold(&mut self, factor: u64) -> Result<(), MergeError>;
}

/// Knows its own state.
pub trait Estimate: Filter {
    /// Distinct keys added, about.
    fn estimated_len(&self) -> u64;
    /// The rate as the filter is now.
    fn expected_rate(&self) -> f64;
    /// The part of the bits that is set.
    fn fill_ratio(&self) -> f64;
    /// Whether it holds more than it was made for.
    fn is_over_plan(&self) -> bool;
}

/// What the bits of a filter say, all from one look at them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Census {
    /// Distinct keys added, about.
    pub estimated_len: u64,
    /// The rate as the filter is now.
    pub expected_rate: f64,
    /// The part of the bits that is set.
    pub fill_ratio: f64,
    /// Whether it holds more than it was made for.
    pub is_over_plan: bool,
}

/// Can be written to bytes and read back.
pub trait Persist: Sized {
    /// The bytes of a file.
    ///
    /// # Errors
    /// When the memory can't be had.
    fn to_bytes(&self) -> Result<alloc::vec::Vec<u8>, crate::Error>;
    /// The filter in the bytes of a file.
    ///
    /// # Errors
    /// When the bytes are damaged or not of this kind.
    fn from_bytes(bytes: &[u8]) -> Result<Self, crate::Error>;
}

/// A key could not be added. The filter is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InsertError {
    /// There is no room for another key.
    Full,
    /// The filter holds as many copies of this key as there is room for where its copies can be.
    TooManyCopies {
        /// The copies it holds: the most there can be, beside the other keys that are there.
        limit: u64,
    },
    /// The key counts as removed, and a filter that remembers removals can't add it again.
    Removed,
    /// There is no memory to grow into.
    Alloc(AllocError),
    /// To grow the filter would need more bytes than it may take.
    TooLarge {
        /// The bytes it would have.
        bytes: u64,
        /// The most it may have.
        limit: u64,
    },
    /// The filter has grown as often as it may.
    TooManyLayers {
        /// The most layers it may have.
        limit: u64,
    },
    /// The filter can't grow further at the rate it promises: digests or fingerprints are too short for so many keys.
    RateSpent,
    /// A number that a bitmap has no place for.
    OutOfUniverse {
        /// The number.
        number: u64,
        /// The largest that it can hold.
        largest: u64,
    },
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => {
                f.write_str("the filter is full: make a larger one and add the keys to it, or use one that grows")
            }
            Self::TooManyCopies { limit } => write!(
                f,
                "the filter holds {} of this key, or of some that look like it, the most it can: add a key only if it is absent, or take wider counters (CountingBloom, or counter_bits of DLeftCounting)",
                Counted(*limit, "copy")
            ),
            Self::Removed => f.write_str(
                "the key was removed, or looks like one that was, and a dual filter can't add it again: use a counting or a cuckoo filter",
            ),
            Self::Alloc(error) => error.fmt(f),
            Self::TooLarge { bytes, limit } => write!(
                f,
                "the filter would grow to {bytes} bytes and its limit is {limit}: raise the limit, or make one for more keys from the start"
            ),
            Self::TooManyLayers { limit } => write!(
                f,
                "the filter may have no more than {}: make one for more keys, or with a larger expansion or limit",
                Counted(*limit, "layer")
            ),
            Self::RateSpent => f.write_str(
                "the filter can't grow further at the rate it promises: make one for more keys from the start, or with a higher rate",
            ),
            Self::OutOfUniverse { number, largest } => write!(
                f,
                "the number {number} is outside the bitmap, which holds 0 to {largest}: make one with a larger universe, or a sparse one"
            ),
        }
    }
}

impl core::error::Error for InsertError {}

impl From<AllocError> for InsertError {
    fn from(error: AllocError) -> Self {
        Self::Alloc(error)
    }
}
