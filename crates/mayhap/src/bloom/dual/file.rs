//! The dual filter as a file of kind 5.
//!
//! Recipe 1. The header plans the added side; its parameters are the blocks of the added side, the blocks of the
//! removed side, the planned removals, and the bits of the rate planned for hidden keys. Two sections, added and
//! removed, whose parameters are the side's number (1 added, 2 removed) and that of its shape.

use alloc::vec;
use alloc::vec::Vec;

use super::DualBloom;
#[cfg(feature = "std")]
use crate::bits::Mapped;
use crate::bits::{Blocks, Owned, View};
use crate::bloom::{BloomFilter, Shape};
use crate::codec::{FormatError, Header, Kind, Section};
use crate::file::{self, Stored, file_methods, must_be_zero};
use crate::hash::KeyHasher;
use crate::plan::Plan;

/// Both sides are blocked filters.
const BLOCKED_SIDES: u16 = 1;
/// The numbers of the sides.
const ADDED: u64 = 1;
const REMOVED: u64 = 2;

impl Stored for DualBloom {
    /// Shape and plan of the added side, and of the removed one.
    type Recipe = [(Shape, Plan); 2];
    const KIND: Kind = Kind::DUAL_BLOOM;

    fn recipe(header: &Header) -> Result<(Self::Recipe, Vec<Section>), FormatError> {
        if header.recipe != BLOCKED_SIDES {
            let number = u64::from(header.recipe);
            return Err(FormatError::Unknown { what: "recipe of a dual filter", number });
        }
        must_be_zero("inserted keys", header.inserted.map_or(0, |inserted| inserted.saturating_add(1)))?;
        let [added_blocks, removed_blocks, removals, hidden_rate] = header.parameters;
        if removals == 0 {
            return Err(FormatError::BadField { field: "planned removals", value: 0, must_be: "above 0" });
        }
        let rate = f64::from_bits(hidden_rate);
        if !(rate > 0.0 && rate < 1.0) {
            let must_be = "above 0 and below 1";
            return Err(FormatError::BadField { field: "planned hidden rate", value: hidden_rate, must_be });
        }
        let [added, removed] = &header.sections[..] else {
            let value = header.sections.len() as u64;
            return Err(FormatError::BadField { field: "sections", value, must_be: "2 for this kind" });
        };
        let (added, removed) = (shape_of(added, added_blocks)?, shape_of(removed, removed_blocks)?);
        let recipe = [
            (added, Plan { keys: header.planned_keys, rate: header.planned_rate }),
            (removed, Plan { keys: removals, rate }),
        ];
        Ok((recipe, vec![side(ADDED, added, added_blocks)?, side(REMOVED, removed, removed_blocks)?]))
    }
}

/// The shape that a section names, if so many blocks fit it.
fn shape_of(section: &Section, blocks: u64) -> Result<Shape, FormatError> {
    let number = section.parameters[1];
    let shape = u16::try_from(number).ok().and_then(Shape::from_id);
    let shape = shape.ok_or(FormatError::Unknown { what: "shape of a block", number })?;
    if blocks == 0 || !blocks.is_multiple_of(shape.lines()) {
        let must_be = "above 0, and even for the shape of two lines";
        return Err(FormatError::BadField { field: "blocks", value: blocks, must_be });
    }
    Ok(shape)
}

/// The section of a side.
fn side(number: u64, shape: Shape, blocks: u64) -> Result<Section, FormatError> {
    Ok(Section { parameters: [number, u64::from(shape.id()), 0, 0, 0], ..file::section(blocks)? })
}

impl<S: Blocks> DualBloom<S> {
    fn file_header(&self) -> Result<Header, FormatError> {
        let (added, removed) = (&self.added, &self.removed);
        Ok(Header {
            recipe: BLOCKED_SIDES,
            parameters: [
                added.block_count(),
                removed.block_count(),
                removed.planned_keys(),
                removed.planned_rate().to_bits(),
            ],
            sections: vec![
                side(ADDED, added.shape(), added.block_count())?,
                side(REMOVED, removed.shape(), removed.block_count())?,
            ],
            ..file::header(Kind::DUAL_BLOOM, self.hasher(), added.planned_keys(), added.planned_rate())?
        })
    }

    fn bodies(&self) -> impl Iterator<Item = &S> {
        [self.added.storage(), self.removed.storage()].into_iter()
    }

    fn from_file(
        [added, removed]: [(Shape, Plan); 2],
        hasher: KeyHasher,
        bodies: Vec<S>,
    ) -> Result<Self, FormatError> {
        let side = |blocks, hasher, (shape, plan)| BloomFilter::of_blocks(blocks, hasher, shape, plan);
        let value = bodies.len() as u64;
        let mut bodies = bodies.into_iter();
        let (Some(first), Some(second), None) = (bodies.next(), bodies.next(), bodies.next()) else {
            return Err(FormatError::BadField { field: "sections", value, must_be: "2 for this kind" });
        };
        Ok(Self { added: side(first, hasher.clone(), added), removed: side(second, hasher, removed) })
    }
}

file_methods!(DualBloom<Owned>, DualBloom<S>, DualBloom<View<'a>>, DualBloom<Mapped>);
