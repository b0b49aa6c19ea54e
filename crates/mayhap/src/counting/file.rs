//! The counting filter as a file of kind 4.

use alloc::{vec, vec::Vec};

use super::{CounterLayout, CountingBloom};
#[cfg(feature = "std")]
use crate::bits::Mapped;
use crate::bits::{Blocks, Owned, View};
use crate::bloom::kernel::Kernel;
use crate::codec::{FormatError, Header, Kind, Section};
use crate::file::{self, Stored, file_methods, must_be_zero};
use crate::hash::KeyHasher;
use crate::plan::Plan;

/// Recipe number: that of the layout. Parameters: the number of lines, and three zeros. Inserted count: adds, less
/// removes.
impl Stored for CountingBloom {
    type Recipe = (CounterLayout, Plan, u64);
    const KIND: Kind = Kind::COUNTING_BLOOM;

    fn recipe(header: &Header) -> Result<(Self::Recipe, Vec<Section>), FormatError> {
        let number = u64::from(header.recipe);
        let layout = CounterLayout::from_id(header.recipe)
            .ok_or(FormatError::Unknown { what: "layout of counters", number })?;
        let [blocks, rest @ ..] = header.parameters;
        for value in rest {
            must_be_zero("recipe parameters", value)?;
        }
        if blocks == 0 || !blocks.is_multiple_of(layout.shape.lines()) {
            let must_be = "above 0, and even for a shape of two lines";
            return Err(FormatError::BadField { field: "blocks", value: blocks, must_be });
        }
        let len = header.inserted.ok_or(FormatError::BadField {
            field: "inserted count",
            value: u64::MAX,
            must_be: "known for this kind",
        })?;
        let plan = Plan { keys: header.planned_keys, rate: header.planned_rate };
        Ok(((layout, plan, len), vec![file::section(blocks)?]))
    }

    fn after_reading(&mut self) -> Result<(), FormatError> {
        self.check_count()
    }
}

impl<S: Blocks> CountingBloom<S> {
    /// Every add raised k counters and every remove lowered k, so the count follows from the counters, unless some are
    /// stuck and have lost it.
    pub(super) fn check_count(&self) -> Result<(), FormatError> {
        let hashes = u64::from(self.layout.shape.hashes());
        if self.stuck_counters() == 0 && self.len.checked_mul(hashes) != Some(self.sum_of_counters()) {
            let must_be = "the sum of the counters, divided by the counters of a key";
            return Err(FormatError::BadField { field: "inserted count", value: self.len, must_be });
        }
        Ok(())
    }

    fn file_header(&self) -> Result<Header, FormatError> {
        let (keys, rate) = (self.plan.keys, self.plan.rate);
        Ok(Header {
            recipe: self.layout.id(),
            parameters: [self.block_count(), 0, 0, 0],
            // The highest number means "not counted" in a file; no filter lives to see it.
            inserted: Some(self.len.min(u64::MAX - 1)),
            sections: vec![file::section(self.block_count())?],
            ..file::header(Kind::COUNTING_BLOOM, &self.hasher, keys, rate)?
        })
    }

    fn bodies(&self) -> impl Iterator<Item = &S> {
        core::iter::once(&self.blocks)
    }

    fn from_file(
        (layout, plan, len): (CounterLayout, Plan, u64),
        hasher: KeyHasher,
        bodies: Vec<S>,
    ) -> Result<Self, FormatError> {
        Ok(Self::from_parts(file::only(bodies)?, hasher, layout, Kernel::detect(), plan, len))
    }
}

file_methods!(CountingBloom<Owned>, CountingBloom<S>, CountingBloom<View<'a>>, CountingBloom<Mapped>);
