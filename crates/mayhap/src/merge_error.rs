//! Why two filters don't fit together.

use core::fmt;

use crate::any::Unsupported;
use crate::bits::AllocError;
use crate::bloom::Shape;
use crate::codec::{FormatError, Kind};

/// Two filters can't be combined, or one can't be folded. Nothing was changed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MergeError {
    /// The same key has different digests in the two.
    Hashers,
    /// Their keys' bits lie differently.
    Shapes {
        /// Of the filter that was to be changed.
        ours: Shape,
        /// Of the other.
        theirs: Shape,
    },
    /// Different numbers of bits per key.
    Hashes {
        /// Of the filter that was to be changed.
        ours: u32,
        /// Of the other.
        theirs: u32,
    },
    /// Neither size is a multiple of the other, so that neither can be folded to fit.
    Sizes {
        /// Blocks (or bits, of a classic filter) of the filter that was to be changed.
        ours: u64,
        /// Blocks (or bits) of the other.
        theirs: u64,
    },
    /// A fold by a factor that doesn't divide the size.
    Factor {
        /// The factor.
        factor: u64,
        /// The size: blocks in each region of a blocked filter, bits of a classic one.
        size: u64,
    },
    /// A fold to a rate that no filter has.
    Rate {
        /// The rate.
        got: f64,
    },
    /// They differ in something that every filter of their kind must share.
    Different {
        /// In what: "counter widths", say.
        what: &'static str,
    },
    /// They are of different kinds.
    Kinds {
        /// Of the filter that was to be changed.
        ours: Kind,
        /// Of the other.
        theirs: Kind,
    },
    /// At least one is a window by count. The insertions of one have nothing to do with those of another, so that nobody
    /// knows what is older.
    ByCount,
    /// The other filter, a mapped or borrowed one, has a body that its header doesn't describe: it can't be read, and what
    /// it were merged into couldn't either.
    Contradiction(FormatError),
    /// Filters of this kind can't be combined, or folded.
    Unsupported(Unsupported),
    /// The memory for the folded copy can't be had.
    Alloc(AllocError),
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hashers => write!(
                f,
                "the filters hash keys differently: build both with the same hash function, seed and secret key"
            ),
            Self::Shapes { ours, theirs } => write!(
                f,
                "the filters' shapes differ ({ours:?} and {theirs:?}), as they do for different rates, and of small filters also for different numbers of keys: build both for the same number of keys and rate"
            ),
            Self::Hashes { ours, theirs } => {
                write!(f, "the filters set {ours} and {theirs} bits per key: build both with the same number")
            }
            Self::Sizes { ours, theirs } => write!(
                f,
                "the filters' sizes, {ours} and {theirs}, are not multiples of one another: build both for the same number of keys and rate"
            ),
            Self::Factor { factor, size } => {
                write!(
                    f,
                    "a filter of size {size} can't be folded by {factor}: the factor must divide the size"
                )
            }
            Self::Rate { got } => {
                write!(f, "a filter can't be folded to a rate of {got}: give one between 0 and 1")
            }
            Self::Different { what } => {
                write!(f, "the filters have different {what}: build both with the same settings")
            }
            Self::Kinds { ours, theirs } => {
                write!(f, "a {ours} and a {theirs} don't keep keys in the same way: build both as one kind")
            }
            Self::ByCount => write!(
                f,
                "windows by count can't be merged, because it isn't known which of their insertions came first: \
                 ask both, or build windows by time"
            ),
            Self::Contradiction(error) => write!(f, "the other filter contradicts itself: {error}"),
            Self::Unsupported(error) => match (error.operation, error.kind) {
                ("be merged", Kind::SCALABLE_BLOOM | Kind::SCALABLE_CUCKOO) => {
                    write!(
                        f,
                        "{error}: the rates of the two would add up; ask both, or build another filter from the keys"
                    )
                }
                ("be merged", Kind::CUCKOO | Kind::D_LEFT_COUNTING) => write!(
                    f,
                    "{error}: the keys of the other may not fit into it; ask both, or build another filter from the keys"
                ),
                _ => write!(f, "{error}; build another filter from the keys"),
            },
            Self::Alloc(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for MergeError {}

impl From<AllocError> for MergeError {
    fn from(error: AllocError) -> Self {
        Self::Alloc(error)
    }
}
