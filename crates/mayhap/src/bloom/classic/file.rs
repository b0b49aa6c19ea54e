//! The classic filter as a file of kind 2.

use alloc::{vec, vec::Vec};

use super::ClassicBloom;
#[cfg(feature = "std")]
use crate::bits::Mapped;
use crate::bits::{BLOCK_BITS, Blocks, Owned, View};
use crate::bloom::scheme::Native;
use crate::codec::{FormatError, Header, Kind, Section};
use crate::file::{self, Stored, file_methods, must_be_zero};
use crate::hash::KeyHasher;
use crate::plan::Plan;
use crate::sizing::MAX_HASHES;

/// The number of [`Native`], the one recipe of this kind so far.
const NATIVE: u16 = 1;

/// Recipe number 1. Parameters: the number of bits, the bits per key, and two zeros.
impl Stored for ClassicBloom {
    type Recipe = (u64, u32, Plan);
    const KIND: Kind = Kind::CLASSIC_BLOOM;

    fn recipe(header: &Header) -> Result<(Self::Recipe, Vec<Section>), FormatError> {
        if header.recipe != NATIVE {
            let number = u64::from(header.recipe);
            return Err(FormatError::Unknown { what: "recipe of a classic Bloom filter", number });
        }
        let [bits, hashes, rest @ ..] = header.parameters;
        for value in rest {
            must_be_zero("recipe parameters", value)?;
        }
        if bits == 0 {
            return Err(FormatError::BadField { field: "bits", value: bits, must_be: "above 0" });
        }
        let hashes = u32::try_from(hashes)
            .ok()
            .filter(|hashes| (1..=MAX_HASHES).contains(hashes))
            .ok_or(FormatError::BadField { field: "hashes", value: hashes, must_be: "1 to 64" })?;
        let plan = Plan { keys: header.planned_keys, rate: header.planned_rate };
        Ok(((bits, hashes, plan), vec![file::section(bits.div_ceil(BLOCK_BITS))?]))
    }
}

impl<S: Blocks> ClassicBloom<Native, S> {
    fn file_header(&self) -> Result<Header, FormatError> {
        let (keys, rate) = (self.plan.keys, self.plan.rate);
        Ok(Header {
            recipe: NATIVE,
            parameters: [self.bits, u64::from(self.hashes), 0, 0],
            sections: vec![file::section(self.words.block_count())?],
            ..file::header(Kind::CLASSIC_BLOOM, self.hasher(), keys, rate)?
        })
    }

    fn bodies(&self) -> impl Iterator<Item = &S> {
        core::iter::once(&self.words)
    }

    fn from_file(
        (bits, hashes, plan): (u64, u32, Plan),
        hasher: KeyHasher,
        bodies: Vec<S>,
    ) -> Result<Self, FormatError> {
        let words = file::only(bodies)?;
        let too_small =
            FormatError::BadField { field: "bits", value: bits, must_be: "as many as the body holds" };
        let filter =
            Self::from_parts(words, Native::new(hasher), bits, hashes, plan).map_err(|_| too_small)?;
        filter.check_tail()?;
        Ok(filter)
    }

    /// Bits behind the last one are counted by nobody, so they must not be set.
    fn check_tail(&self) -> Result<(), FormatError> {
        use crate::bits::Words as _;
        let words = self.words.word_count();
        let first = self.bits / 64;
        let tail = |index: u64| {
            let word = self.words.word(index);
            if index == first { word >> (self.bits % 64) } else { word }
        };
        if (first..words).any(|index| tail(index) != 0) {
            let must_be = "the last that is set in the body";
            return Err(FormatError::BadField { field: "bits", value: self.bits, must_be });
        }
        Ok(())
    }
}

file_methods!(
    ClassicBloom<Native, Owned>,
    ClassicBloom<Native, S>,
    ClassicBloom<Native, View<'a>>,
    ClassicBloom<Native, Mapped>
);
