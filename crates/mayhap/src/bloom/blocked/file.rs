//! The blocked filter as a file of kind 1.

use alloc::{vec, vec::Vec};

use super::BloomFilter;
#[cfg(feature = "std")]
use crate::bits::Mapped;
use crate::bits::{Blocks, Owned, View};
use crate::bloom::kernel::Kernel;
use crate::bloom::shape::Shape;
use crate::codec::{FormatError, Header, Kind, Section};
use crate::file::{self, Stored, file_methods, must_be_zero};
use crate::hash::KeyHasher;
use crate::plan::Plan;

/// Recipe number: that of the shape. Parameters: the number of blocks, and three zeros.
impl Stored for BloomFilter {
    type Recipe = (Shape, Plan);
    const KIND: Kind = Kind::BLOCKED_BLOOM;

    fn recipe(header: &Header) -> Result<(Self::Recipe, Vec<Section>), FormatError> {
        let number = u64::from(header.recipe);
        let shape =
            Shape::from_id(header.recipe).ok_or(FormatError::Unknown { what: "shape of a block", number })?;
        let [blocks, rest @ ..] = header.parameters;
        for value in rest {
            must_be_zero("recipe parameters", value)?;
        }
        if blocks == 0 || !blocks.is_multiple_of(shape.lines()) {
            let must_be = "above 0, and even for the shape of two lines";
            return Err(FormatError::BadField { field: "blocks", value: blocks, must_be });
        }
        let plan = Plan { keys: header.planned_keys, rate: header.planned_rate };
        Ok(((shape, plan), vec![file::section(blocks)?]))
    }
}

impl<S: Blocks> BloomFilter<S> {
    fn file_header(&self) -> Result<Header, FormatError> {
        let (keys, rate) = (self.plan.keys, self.plan.rate);
        Ok(Header {
            recipe: self.shape.id(),
            parameters: [self.block_count(), 0, 0, 0],
            sections: vec![file::section(self.block_count())?],
            ..file::header(Kind::BLOCKED_BLOOM, &self.hasher, keys, rate)?
        })
    }

    fn bodies(&self) -> impl Iterator<Item = &S> {
        core::iter::once(&self.blocks)
    }

    fn from_file(
        (shape, plan): (Shape, Plan),
        hasher: KeyHasher,
        bodies: Vec<S>,
    ) -> Result<Self, FormatError> {
        Ok(Self::from_parts(file::only(bodies)?, hasher, shape, Kernel::detect(), plan))
    }
}

file_methods!(BloomFilter<Owned>, BloomFilter<S>, BloomFilter<View<'a>>, BloomFilter<Mapped>);
