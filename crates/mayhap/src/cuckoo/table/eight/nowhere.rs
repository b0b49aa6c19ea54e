//! What there is in place of batches of eight on other machines: none.

use super::buckets::Format;
use super::places::Places;
use crate::bits::{Block, Line};
use crate::cuckoo::layout::CuckooLayout;
use crate::hash::Digest;

/// Nobody has one.
pub(super) enum InEights {}

impl InEights {
    pub(super) fn of(_: CuckooLayout, _: &Format, _: &Places, _: usize) -> Option<Self> {
        None
    }

    pub(super) fn contains<L: Line>(self, _: &[L], _: &[Digest], _: &mut [bool]) -> usize {
        match self {}
    }

    pub(super) fn remove(self, _: &mut [Block], _: &[Digest], _: &mut [bool]) -> usize {
        match self {}
    }
}
