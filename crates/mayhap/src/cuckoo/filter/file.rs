//! The cuckoo filter as a file of kind 7.

use alloc::{vec, vec::Vec};

use super::{CuckooFilter, MAX_KICKS};
#[cfg(feature = "std")]
use crate::bits::Mapped;
use crate::bits::{Blocks, Owned, View};
use crate::codec::{FormatError, Header, Kind, Section};
use crate::cuckoo::layout::CuckooLayout;
use crate::cuckoo::table::{Places, Search, Table, lines_of};
use crate::file::{self, Stored, file_methods, must_be_zero};
use crate::hash::KeyHasher;
use crate::plan::Plan;
use crate::sizing::cuckoo::MAX_BUCKETS;

/// All of a filter but its lines and its hasher.
#[derive(Clone, Copy)]
pub(crate) struct Recipe {
    layout: CuckooLayout,
    places: Places,
    plan: Plan,
    max_kicks: u32,
    len: u64,
}

/// The only recipe so far.
const RECIPE: u16 = 1;

/// Recipe 1. Parameters: the layout, the number of buckets, the most kicks, and a zero.
impl Stored for CuckooFilter {
    type Recipe = Recipe;
    const KIND: Kind = Kind::CUCKOO;

    fn recipe(header: &Header) -> Result<(Recipe, Vec<Section>), FormatError> {
        if header.recipe != RECIPE {
            let number = u64::from(header.recipe);
            return Err(FormatError::Unknown { what: "recipe of a cuckoo filter", number });
        }
        let [layout, buckets, max_kicks, zero] = header.parameters;
        must_be_zero("recipe parameters", zero)?;
        let layout = read_layout(layout)?;
        check_buckets(buckets)?;
        let max_kicks = read_kicks(max_kicks)?;
        let len = read_len(header.inserted, buckets * u64::from(layout.entries_per_bucket()))?;
        let places = Places::new(buckets, 0, layout.fingerprint_bits(), layout.fingerprint_bits());
        let plan = Plan { keys: header.planned_keys, rate: header.planned_rate };
        Ok((Recipe { layout, places, plan, max_kicks, len }, vec![file::section(lines_of(layout, buckets))?]))
    }

    fn after_reading(&mut self) -> Result<(), FormatError> {
        self.table.check()
    }
}

pub(in crate::cuckoo) fn read_layout(id: u64) -> Result<CuckooLayout, FormatError> {
    let must_be =
        "places (1, 2, 4, 8) + 256 · bits (4 to 32), or 65540 + 256 · bits (5 to 32) if semi-sorted";
    CuckooLayout::from_id(id).ok_or(FormatError::BadField { field: "layout", value: id, must_be })
}

pub(in crate::cuckoo) fn check_buckets(buckets: u64) -> Result<(), FormatError> {
    if (1..=MAX_BUCKETS).contains(&buckets) {
        return Ok(());
    }
    Err(FormatError::BadField { field: "buckets", value: buckets, must_be: "1 to 2^56" })
}

pub(in crate::cuckoo) fn read_kicks(kicks: u64) -> Result<u32, FormatError> {
    let error = FormatError::BadField { field: "most kicks", value: kicks, must_be: "at most 2^20" };
    u32::try_from(kicks).ok().filter(|kicks| *kicks <= MAX_KICKS).ok_or(error)
}

/// The number of fingerprints, which a file must say: a mapped one isn't counted.
pub(in crate::cuckoo) fn read_len(len: Option<u64>, slots: u64) -> Result<u64, FormatError> {
    let value = len.unwrap_or(u64::MAX);
    let must_be = "known, and at most the number of places";
    len.filter(|len| *len <= slots).ok_or(FormatError::BadField { field: "inserted count", value, must_be })
}

impl<S: Blocks> CuckooFilter<S> {
    fn file_header(&self) -> Result<Header, FormatError> {
        let (keys, rate) = (self.plan.keys, self.plan.rate);
        Ok(Header {
            recipe: RECIPE,
            parameters: [self.layout().id(), self.buckets(), u64::from(self.max_kicks()), 0],
            inserted: Some(self.len()),
            sections: vec![file::section(self.table.lines().block_count())?],
            ..file::header(Kind::CUCKOO, &self.hasher, keys, rate)?
        })
    }

    fn bodies(&self) -> impl Iterator<Item = &S> {
        core::iter::once(self.table.lines())
    }

    fn from_file(recipe: Recipe, hasher: KeyHasher, bodies: Vec<S>) -> Result<Self, FormatError> {
        let Recipe { layout, places, plan, max_kicks, len } = recipe;
        let table = Table::from_parts(file::only(bodies)?, layout, places, len);
        Ok(Self::from_parts(table, hasher, plan, Search::new(max_kicks)))
    }
}

file_methods!(CuckooFilter<Owned>, CuckooFilter<S>, CuckooFilter<View<'a>>, CuckooFilter<Mapped>);
