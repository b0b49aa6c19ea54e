//! The four switches of a chain.

use super::RedisRecipe;
use crate::codec::FormatError;

/// What a chain's `options` field says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Options(u32);

/// Sizes are not rounded up to powers of two.
const NO_ROUND: u32 = 1;
/// The capacity that was asked for is the logarithm of a number of bits.
const ENTRIES_ARE_BITS: u32 = 2;
/// Items are hashed to 64 bits, not 32.
const FORCE_64: u32 = 4;
/// The chain doesn't grow.
const NO_SCALING: u32 = 8;

impl Options {
    /// Those of every filter that is made today.
    pub(super) const fn new(scaling: bool) -> Self {
        Self(NO_ROUND | FORCE_64 | if scaling { 0 } else { NO_SCALING })
    }

    pub(super) fn from_bits(bits: u64) -> Result<Self, FormatError> {
        match u32::try_from(bits) {
            Ok(options @ 0..=0xf) => Ok(Self(options)),
            _ => Err(FormatError::BadField { field: "options", value: bits, must_be: "at most 15" }),
        }
    }

    pub(super) const fn bits(self) -> u32 {
        self.0
    }

    pub(super) const fn recipe(self) -> RedisRecipe {
        if self.0 & FORCE_64 == 0 { RedisRecipe::Murmur32 } else { RedisRecipe::Murmur64 }
    }

    pub(super) const fn scales(self) -> bool {
        self.0 & NO_SCALING == 0
    }

    pub(super) const fn entries_are_bits(self) -> bool {
        self.0 & ENTRIES_ARE_BITS != 0
    }

    pub(super) const fn rounds(self) -> bool {
        self.0 & NO_ROUND == 0
    }
}
