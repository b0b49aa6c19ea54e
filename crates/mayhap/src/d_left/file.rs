//! The d-left counting filter as a file of kind 6.

use alloc::{vec, vec::Vec};

use super::DLeftCounting;
use super::cell::Cell;
use super::place::Geometry;
use super::table;
#[cfg(feature = "std")]
use crate::bits::Mapped;
use crate::bits::{Blocks, Owned, View};
use crate::codec::{FormatError, Header, Kind, Section};
use crate::file::{self, Stored, file_methods};
use crate::hash::KeyHasher;
use crate::plan::Plan;

/// The number of the one recipe of this kind so far.
const ROTATIONS: u16 = 1;

/// All of a filter but its buckets and its hasher.
#[derive(Clone, Copy)]
pub(crate) struct Recipe {
    geometry: Geometry,
    plan: Plan,
    len: u64,
    used_cells: u64,
}

/// Recipe number 1. Parameters: the buckets of a subtable, the bits of a fingerprint, those of a counter, and the cells
/// in use. The inserted count is that of all copies held.
impl Stored for DLeftCounting {
    type Recipe = Recipe;
    const KIND: Kind = Kind::D_LEFT_COUNTING;

    fn recipe(header: &Header) -> Result<(Recipe, Vec<Section>), FormatError> {
        if header.recipe != ROTATIONS {
            let number = u64::from(header.recipe);
            return Err(FormatError::Unknown { what: "recipe of a d-left counting filter", number });
        }
        let [buckets, fingerprint_bits, counter_bits, used_cells] = header.parameters;
        let bits = |bits: u64| u32::try_from(bits).unwrap_or(u32::MAX);
        let cell = Cell::new(bits(fingerprint_bits), bits(counter_bits)).ok_or(FormatError::BadField {
            field: "bits of a cell",
            value: if (8..=48).contains(&fingerprint_bits) { counter_bits } else { fingerprint_bits },
            must_be: "8 to 48 for the fingerprint, and 1 to 16 for the counter",
        })?;
        let too_many = FormatError::BadField {
            field: "buckets",
            value: buckets,
            must_be: "above 0, and no more than memory can hold",
        };
        let blocks = buckets.checked_mul(2).ok_or(too_many.clone())?;
        let section = file::section(blocks)?;
        let geometry = Geometry { cell, buckets: usize::try_from(buckets).map_err(|_| too_many)? };
        // No overflow: `section` has refused what doesn't fit 64 bits in bytes, and a line has fewer cells than bytes.
        if used_cells > blocks * cell.per_bucket() {
            let must_be = "no more than there are";
            return Err(FormatError::BadField { field: "cells in use", value: used_cells, must_be });
        }
        let len = header.inserted.unwrap_or(u64::MAX);
        if len < used_cells || len > used_cells.saturating_mul(cell.most()) {
            let must_be = "known, and what so many cells can count";
            return Err(FormatError::BadField { field: "inserted count", value: len, must_be });
        }
        let plan = Plan { keys: header.planned_keys, rate: header.planned_rate };
        Ok((Recipe { geometry, plan, len, used_cells }, vec![section]))
    }

    /// Every cell is what inserts and removals could have made, and the header's counts are theirs. A counter without a
    /// key would be no harm to answers, but filters with the same cells would not be equal.
    fn after_reading(&mut self) -> Result<(), FormatError> {
        let cell = self.geometry.cell;
        let (mut used_cells, mut len) = (0, 0);
        for line in self.blocks.lines() {
            if !cell.is_clean(line) {
                let must_be = "zero in cells that hold no key, and behind the last cell";
                return Err(FormatError::BadField { field: "bits of a bucket", value: line.0[7], must_be });
            }
            let (cells, copies) = table::used(cell, line);
            used_cells += cells;
            len += copies;
        }
        for (field, said, counted) in
            [("cells in use", self.used_cells, used_cells), ("inserted count", self.len, len)]
        {
            if said != counted {
                return Err(FormatError::BadField { field, value: said, must_be: "what the body holds" });
            }
        }
        Ok(())
    }
}

impl<S: Blocks> DLeftCounting<S> {
    fn file_header(&self) -> Result<Header, FormatError> {
        let cell = self.geometry.cell;
        let bits = [cell.fingerprint_bits(), cell.counter_bits()].map(u64::from);
        Ok(Header {
            recipe: ROTATIONS,
            parameters: [self.bucket_count(), bits[0], bits[1], self.used_cells],
            inserted: Some(self.len),
            sections: vec![file::section(self.blocks.block_count())?],
            ..file::header(Kind::D_LEFT_COUNTING, &self.hasher, self.plan.keys, self.plan.rate)?
        })
    }

    fn bodies(&self) -> impl Iterator<Item = &S> {
        core::iter::once(&self.blocks)
    }

    fn from_file(recipe: Recipe, hasher: KeyHasher, bodies: Vec<S>) -> Result<Self, FormatError> {
        let Recipe { geometry, plan, len, used_cells } = recipe;
        Ok(Self { len, used_cells, ..Self::from_parts(file::only(bodies)?, hasher, geometry, plan) })
    }
}

file_methods!(DLeftCounting<Owned>, DLeftCounting<S>, DLeftCounting<View<'a>>, DLeftCounting<Mapped>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{File, Writer};
    use crate::error::Error;

    fn sample() -> DLeftCounting {
        let mut filter = DLeftCounting::builder().keys(500).rate(0.01).seed(7).build().unwrap();
        for key in 0..400u64 {
            for _ in 0..=key % 6 {
                filter.insert(&key).unwrap();
            }
        }
        filter
    }

    /// The sample's file with another header or body, and right checksums.
    fn forged(change: impl FnOnce(&mut Header, &mut Vec<u8>)) -> Result<DLeftCounting, Error> {
        let bytes = sample().to_bytes().unwrap();
        let file = File::parse(&bytes).unwrap();
        let (mut header, mut body) = (file.header().clone(), file.section(0).unwrap().to_vec());
        change(&mut header, &mut body);
        let mut writer = Writer::to_vec(&header).unwrap();
        writer.write_body(&body).unwrap();
        DLeftCounting::from_bytes(&writer.finish().unwrap())
    }

    #[test]
    fn comes_back_with_its_counts() {
        let filter = sample();
        let again = DLeftCounting::from_bytes(&filter.to_bytes().unwrap()).unwrap();
        assert!(again == filter && again.cell() == filter.cell());
        assert_eq!((again.len(), again.used_cells), (filter.len(), filter.used_cells));
        assert_eq!((again.planned_keys(), again.planned_rate()), (500, 0.01));
        assert!(forged(|_, _| ()).unwrap() == filter, "forging without a change changes nothing");
    }

    #[test]
    fn lies_in_the_header_are_refused() {
        let changes: [fn(&mut Header); 14] = [
            |header| header.recipe = 2,
            |header| header.parameters[0] = 0,
            |header| header.parameters[0] += 1,
            |header| header.parameters[0] = u64::MAX,
            |header| header.parameters[0] = 1 << 63,
            |header| header.parameters[1] = 7,
            |header| header.parameters[1] = 49,
            |header| header.parameters[1] = (1 << 32) + 13,
            |header| header.parameters[2] = 0,
            |header| header.parameters[2] = u64::MAX,
            |header| header.parameters[3] += 1,
            |header| header.parameters[3] = u64::MAX,
            |header| header.inserted = None,
            |header| header.inserted = header.inserted.map(|len| len - 1),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            assert!(forged(|header, _| change(header)).is_err(), "change {number}");
        }
        // Other cells than the body was written with: whatever it then seems to hold, the counts don't fit.
        for bits in [8, 12, 14, 48] {
            assert!(forged(|header, _| header.parameters[1] = bits).is_err(), "{bits}");
        }
    }

    #[test]
    fn bodies_that_no_inserts_make_are_refused() {
        // The byte of a free tag, in a bucket with a free cell: its rest is zero, and must be.
        let filter = sample();
        let (line, index) = (0..filter.blocks.len())
            .find_map(|line| {
                (0..34)
                    .find(|index| filter.cell().tag(&filter.blocks[line], *index) == 0)
                    .map(|index| (line, index))
            })
            .unwrap();
        assert!(
            forged(|_, body| body[64 * line + index as usize] = 1).is_err(),
            "a cell more than was counted"
        );
        assert!(forged(|_, body| body[64 * line + 63] |= 0x80).is_err(), "a bit behind the last cell");
        let with_a_lone_counter = forged(|_, body| {
            let bit = 8 * 34 + 7 * index as usize;
            body[64 * line + bit / 8] |= 1 << (bit % 8);
        });
        assert!(with_a_lone_counter.is_err(), "a rest without a tag");
    }

    /// A view's body isn't read when it is opened; whatever is in it, asking is safe.
    #[test]
    fn any_body_can_be_asked() {
        let filter = sample();
        for fill in [0u64, 1, u64::MAX, 0x0101_0101_0101_0101, 0x0123_4567_89ab_cdef] {
            let mut blocks = Owned::zeroed(filter.blocks.block_count()).unwrap();
            blocks.fill(crate::bits::Block([fill; 8]));
            let view = DLeftCounting {
                blocks: View::new(&blocks).unwrap(),
                hasher: filter.hasher.clone(),
                geometry: filter.geometry,
                plan: filter.plan,
                len: u64::MAX,
                used_cells: u64::MAX,
            };
            for key in 0..1_000u64 {
                let count = view.count(&key);
                assert!(count <= view.most_copies() && (count > 0) == view.contains(&key));
            }
            let _ = (view.expected_rate(), view.estimated_len(), view.is_over_plan());
        }
    }
}
