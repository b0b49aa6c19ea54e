//! Why a filter can't be sized as asked.

use core::fmt;

use super::limits::MAX_HASHES;
use crate::counted::Counted;

/// Why a filter can't be sized as asked. The message says what to change.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SizingError {
    /// A filter was planned for no keys.
    ZeroKeys,
    /// A dual filter was planned for no removals.
    ZeroRemovals,
    /// A growing filter whose layers would have no keys.
    ZeroExpansion,
    /// The ratio between the rates of layers is not a number strictly between 0 and 1.
    TighteningOutOfRange {
        /// The ratio asked for.
        got: f64,
    },
    /// The rate is not a number strictly between 0 and 1.
    RateOutOfRange {
        /// The rate asked for.
        got: f64,
    },
    /// So many keys share their 64-bit digests with absent ones that no amount of memory gives the rate.
    RateTooLow {
        /// The rate asked for; of a filter of several, over all of them.
        asked: f64,
        /// The lowest rate that can be promised for so many keys; 1 or more if there is none.
        lowest: f64,
        /// The number of keys.
        keys: u64,
    },
    /// A rate below what a kind of filter, or the table that was chosen for it, can give.
    RateOutOfReach {
        /// The rate asked for.
        asked: f64,
        /// The lowest rate that can be promised; 1 or more if there is none.
        lowest: f64,
        /// The number of keys.
        keys: u64,
        /// In what they are.
        of: &'static str,
        /// What else there is to do.
        instead: &'static str,
    },
    /// The choices leave open how large the filter is to be.
    Incomplete {
        /// What is missing.
        missing: &'static str,
        /// What would complete them.
        give: &'static str,
    },
    /// A bitmap with no number that it could hold.
    EmptyUniverse,
    /// A bit for each number of the universe would be more than can be counted.
    UniverseTooLarge {
        /// The universe asked for.
        universe: u64,
        /// The largest there can be.
        most: u64,
    },
    /// The number of bits per key is 0 or above [`MAX_HASHES`].
    HashesOutOfRange {
        /// The number asked for.
        got: u32,
    },
    /// The filter would be larger than a limit.
    TooLarge {
        /// The bytes needed; `u64::MAX` when they are beyond counting.
        bytes: u64,
        /// The most bytes allowed.
        limit: u64,
    },
    /// The memory holds no block, or not one key at the rate, or so many keys that every answer would be yes.
    TooSmall {
        /// The bytes given.
        bytes: u64,
        /// The bytes that would do.
        needed: u64,
    },
    /// A number of blocks that doesn't fit the shape: zero, or an odd number for a shape of two lines.
    BlocksOutOfRange {
        /// The number of blocks asked for.
        got: u64,
        /// The number must be a positive multiple of this.
        multiple_of: u64,
    },
    /// A counter of 0 bits, or of more than a cell can have.
    CounterBitsOutOfRange {
        /// The bits asked for.
        got: u32,
        /// The most there can be.
        most: u32,
    },
    /// A window of no slots, of too many, or of more than it has instants.
    GenerationsOutOfRange {
        /// The number of slots asked for.
        got: u32,
        /// The most there can be.
        most: u64,
    },
    /// A filter of another system that this system itself doesn't make.
    ForeignPlan {
        /// The bits asked for, or that its rule gives for the keys and the rate.
        bits: u64,
        /// The hashes per key, likewise.
        hashes: u32,
        /// What the system takes.
        takes: &'static str,
    },
    /// A burst that is less than the even share.
    BurstOutOfRange {
        /// The burst asked for.
        got: f64,
    },
    /// A setting is outside what there can be, or what another system takes.
    OutOfRange {
        /// Which setting.
        what: &'static str,
        /// The number asked for.
        got: u64,
        /// The least there can be.
        least: u64,
        /// The most there can be.
        most: u64,
    },
}

impl SizingError {
    /// The error of a filter that has a share of what is promised to somebody: a rate that is too low is told as that of
    /// the promise, because that is what can be changed.
    pub(super) fn of_promise(self, rate: f64, keys: u64, share: f64) -> Self {
        match self {
            Self::RateTooLow { lowest, .. } => {
                // A little more, so that rounding doesn't make the share too low.
                let lowest = lowest * (1.0 + 4.0 * f64::EPSILON) / share;
                Self::RateTooLow { asked: rate, lowest, keys }
            }
            error => error,
        }
    }
}

impl fmt::Display for SizingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ZeroKeys => f.write_str("a filter for 0 keys has no size; plan for at least 1 key"),
            Self::ZeroRemovals => f.write_str(
                "a dual filter for 0 removals has no use; plan for at least 1 removal, or take a Bloom filter",
            ),
            Self::ZeroExpansion => {
                f.write_str("an expansion of 0 leaves nothing to grow into; give 1 or more, such as 2")
            }
            Self::TighteningOutOfRange { got } => write!(
                f,
                "a tightening ratio of {got} is impossible; give one between 0 and 1, both excluded, such as 0.5"
            ),
            Self::RateOutOfRange { got } => {
                write!(
                    f,
                    "a rate of {got} is impossible; give one between 0 and 1, both excluded, such as 0.01"
                )
            }
            Self::RateTooLow { asked, lowest, keys } if lowest < 1.0 => write!(
                f,
                "a rate of {asked:e} is too low for {} with 64-bit digests; ask for {:.3e} or more{}",
                Counted(keys, "key"),
                rounded_up(lowest),
                if keys > 1 { ", or plan for fewer keys" } else { "" }
            ),
            Self::RateTooLow { keys, .. } => {
                write!(f, "{keys} keys are too many for 64-bit digests; plan for fewer keys")
            }
            Self::RateOutOfReach { asked, lowest, keys, of, instead } if lowest < 1.0 => write!(
                f,
                "a rate of {asked:e} is too low for {} {of}; ask for {lowest:.2e} or more, or {instead}",
                Counted(keys, "key")
            ),
            Self::RateOutOfReach { asked, keys, of, instead, .. } => {
                write!(f, "a rate of {asked:e} is too low for {} {of}; {instead}", Counted(keys, "key"))
            }
            Self::Incomplete { missing, give } => write!(f, "{missing}; give {give}"),
            Self::EmptyUniverse => f.write_str(
                "a bitmap of the numbers below 0 holds none; give a universe of at least 1, the largest number and 1",
            ),
            Self::UniverseTooLarge { universe, most } => write!(
                f,
                "a bit for each number below {universe} is too much to count; give a universe of at most {most}, or \
                 make a sparse bitmap"
            ),
            Self::HashesOutOfRange { got } => {
                write!(f, "{got} hashes per key are out of range; give 1 to {MAX_HASHES}")
            }
            Self::TooLarge { bytes: u64::MAX, limit } => write!(
                f,
                "the filter is too large to count its bytes (the limit is {limit}); plan for fewer keys or a higher rate"
            ),
            Self::TooLarge { bytes, limit } => write!(
                f,
                "the filter needs {} and the limit is {limit}; plan for fewer keys or a higher rate, or raise the limit",
                Counted(bytes, "byte")
            ),
            Self::TooSmall { bytes, needed } => write!(
                f,
                "{} {} too few; give at least {}, or plan for fewer keys or a higher rate",
                Counted(bytes, "byte"),
                if bytes == 1 { "is" } else { "are" },
                Counted(needed, "byte")
            ),
            Self::BlocksOutOfRange { got, multiple_of } => {
                let blocks = Counted(got, "block");
                let verb = if got == 1 { "doesn't" } else { "don't" };
                write!(f, "{blocks} {verb} fit this shape; give a positive multiple of {multiple_of}")
            }
            Self::CounterBitsOutOfRange { got, most } => {
                write!(f, "a counter of {} is impossible; give 1 to {most}", Counted(got.into(), "bit"))
            }
            Self::GenerationsOutOfRange { got, most: 0 } => {
                write!(f, "a window of length 0 has no generations; give it a length of at least {got}")
            }
            Self::GenerationsOutOfRange { got, most } => {
                write!(f, "{got} generations don't fit this window; give 1 to {most}")
            }
            Self::ForeignPlan { bits, hashes, takes } => write!(
                f,
                "the other system makes no filter of {} and {} per key, only of {takes}; choose another size or rate",
                Counted(bits, "bit"),
                Counted(hashes.into(), "hash")
            ),
            Self::BurstOutOfRange { got } => {
                write!(f, "a burst of {got} is less than the even share; give 1 or more")
            }
            Self::OutOfRange { what, got, least, most } => {
                write!(f, "{what} can't be {got}; give {least} to {most}")
            }
        }
    }
}

/// At least so much, in the four digits that are printed: who asks for what the message says must get it.
fn rounded_up(rate: f64) -> f64 {
    let unit = libm::pow(10.0, libm::floor(libm::log10(rate)) - 3.0);
    // What is in whole units already isn't one more for a rounding error.
    libm::ceil(rate / unit * (1.0 - 1e-12)) * unit
}

impl core::error::Error for SizingError {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn the_rate_to_ask_for_is_never_rounded_down() {
        for keys in [1, 10, 999, 1_000_000, 1 << 50] {
            let lowest = super::super::limits::lowest_rate(keys);
            let message = SizingError::RateTooLow { asked: 0.0, lowest, keys }.to_string();
            let named = message.split("ask for ").nth(1).unwrap().split(' ').next().unwrap();
            let named: f64 = named.parse().unwrap();
            assert!(named >= lowest && named < lowest * 1.002, "{message}");
        }
    }

    #[test]
    fn every_message_names_the_value_and_the_way_out() {
        let messages = [
            (SizingError::ZeroKeys, "a filter for 0 keys has no size; plan for at least 1 key"),
            (
                SizingError::ZeroRemovals,
                "a dual filter for 0 removals has no use; plan for at least 1 removal, or take a Bloom filter",
            ),
            (
                SizingError::TighteningOutOfRange { got: 2.0 },
                "a tightening ratio of 2 is impossible; give one between 0 and 1, both excluded, such as 0.5",
            ),
            (
                SizingError::RateOutOfRange { got: 1.5 },
                "a rate of 1.5 is impossible; give one between 0 and 1, both excluded, such as 0.01",
            ),
            (
                SizingError::RateTooLow { asked: 1e-18, lowest: 2.168e-10, keys: 1_000_000_000 },
                "a rate of 1e-18 is too low for 1000000000 keys with 64-bit digests; ask for 2.168e-10 or more, or \
                 plan for fewer keys",
            ),
            (
                SizingError::RateTooLow { asked: 0.5, lowest: 2.0, keys: 1 << 63 },
                "9223372036854775808 keys are too many for 64-bit digests; plan for fewer keys",
            ),
            (
                SizingError::RateOutOfReach {
                    asked: 1e-15,
                    lowest: 3.14e-11,
                    keys: 1_000,
                    of: "in a cuckoo filter",
                    instead: "use a Bloom filter",
                },
                "a rate of 1e-15 is too low for 1000 keys in a cuckoo filter; ask for 3.14e-11 or more, or use a Bloom \
                 filter",
            ),
            (
                SizingError::RateOutOfReach {
                    asked: 0.5,
                    lowest: 1.0,
                    keys: 1_000,
                    of: "in this table",
                    instead: "make it larger",
                },
                "a rate of 5e-1 is too low for 1000 keys in this table; make it larger",
            ),
            (
                SizingError::Incomplete { missing: "the number of keys is missing", give: "one" },
                "the number of keys is missing; give one",
            ),
            (
                SizingError::EmptyUniverse,
                "a bitmap of the numbers below 0 holds none; give a universe of at least 1, the largest number and 1",
            ),
            (
                SizingError::UniverseTooLarge { universe: 1 << 63, most: 1 << 62 },
                "a bit for each number below 9223372036854775808 is too much to count; give a universe of at most \
                 4611686018427387904, or make a sparse bitmap",
            ),
            (
                SizingError::CounterBitsOutOfRange { got: 0, most: 16 },
                "a counter of 0 bits is impossible; give 1 to 16",
            ),
            (SizingError::HashesOutOfRange { got: 0 }, "0 hashes per key are out of range; give 1 to 64"),
            (
                SizingError::TooLarge { bytes: 2048, limit: 1024 },
                "the filter needs 2048 bytes and the limit is 1024; plan for fewer keys or a higher rate, or raise \
                 the limit",
            ),
            (
                SizingError::TooLarge { bytes: u64::MAX, limit: 1024 },
                "the filter is too large to count its bytes (the limit is 1024); plan for fewer keys or a higher rate",
            ),
            (
                SizingError::TooSmall { bytes: 10, needed: 64 },
                "10 bytes are too few; give at least 64 bytes, or plan for fewer keys or a higher rate",
            ),
            (
                SizingError::BlocksOutOfRange { got: 7, multiple_of: 2 },
                "7 blocks don't fit this shape; give a positive multiple of 2",
            ),
            (
                SizingError::GenerationsOutOfRange { got: 65, most: 64 },
                "65 generations don't fit this window; give 1 to 64",
            ),
            (
                SizingError::GenerationsOutOfRange { got: 4, most: 0 },
                "a window of length 0 has no generations; give it a length of at least 4",
            ),
            (
                SizingError::ForeignPlan { bits: 0, hashes: 1, takes: "64 or more bits" },
                "the other system makes no filter of 0 bits and 1 hash per key, only of 64 or more bits; choose \
                 another size or rate",
            ),
            (
                SizingError::BurstOutOfRange { got: 0.5 },
                "a burst of 0.5 is less than the even share; give 1 or more",
            ),
            (
                SizingError::OutOfRange { what: "the bucket size", got: 256, least: 1, most: 255 },
                "the bucket size can't be 256; give 1 to 255",
            ),
        ];
        for (error, message) in messages {
            assert_eq!(error.to_string(), message);
        }
    }
}
