//! What is done with one key: questions and changes.

#![allow(unsafe_code)]

use super::{Layout, Simd};
use crate::bits::{Block, Line};
use crate::bloom::kernel::Regions;

/// A question about a key.
pub(in crate::counting) trait Question {
    type Answer;
    fn ask<V: Simd, C: Layout, L: Line>(simd: V, regions: Regions<&[L]>, digest: u64) -> Self::Answer;
}

/// Whether the key may be there.
pub(in crate::counting) struct Contains;

/// How often the key is there, at most.
pub(in crate::counting) struct Count;

/// A change to the counters of a key.
pub(in crate::counting) trait Change {
    /// The answer that nearly every call gets, where there is one. A batch writes it for all keys before it begins.
    const USUAL: Option<bool> = None;

    fn apply<V: Simd, C: Layout>(simd: V, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool;
}

/// Adds the key; true if it was new.
pub(in crate::counting) struct Insert;

/// Removes the key; false if it certainly wasn't there.
pub(in crate::counting) struct Remove;

impl Question for Contains {
    type Answer = bool;
    #[inline(always)]
    fn ask<V: Simd, C: Layout, L: Line>(simd: V, regions: Regions<&[L]>, digest: u64) -> bool {
        simd.contains::<C, L>(regions, digest)
    }
}

impl Question for Count {
    type Answer = u64;
    #[inline(always)]
    fn ask<V: Simd, C: Layout, L: Line>(simd: V, regions: Regions<&[L]>, digest: u64) -> u64 {
        simd.count::<C, L>(regions, digest)
    }
}

impl Change for Insert {
    #[inline(always)]
    fn apply<V: Simd, C: Layout>(simd: V, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool {
        simd.insert::<C>(regions, digest)
    }
}

impl Change for Remove {
    const USUAL: Option<bool> = Some(true);

    #[inline(always)]
    fn apply<V: Simd, C: Layout>(simd: V, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool {
        simd.remove::<C>(regions, digest)
    }
}

/// What is done with one key, compiled for a CPU and a layout.
///
/// Chosen when the filter is made, so that a call has nothing to choose. How many calls a core has under way, waiting for
/// their lines, depends on how few instructions each of them has.
pub(in crate::counting) struct OneKey<L> {
    pub(super) contains: unsafe fn(&[L], u64) -> bool,
    pub(super) count: unsafe fn(&[L], u64) -> u64,
    pub(super) insert: unsafe fn(&mut [Block], u64) -> bool,
    pub(super) remove: unsafe fn(&mut [Block], u64) -> bool,
}

impl<L: Line> OneKey<L> {
    #[inline(always)]
    pub(in crate::counting) fn contains(&self, lines: &[L], digest: u64) -> bool {
        // SAFETY: these functions ask for nothing but a CPU they were compiled for, and whoever chose them had the proof.
        unsafe { (self.contains)(lines, digest) }
    }

    #[inline(always)]
    pub(in crate::counting) fn count(&self, lines: &[L], digest: u64) -> u64 {
        // SAFETY: as in `contains`.
        unsafe { (self.count)(lines, digest) }
    }

    #[inline(always)]
    pub(in crate::counting) fn insert(&self, blocks: &mut [Block], digest: u64) -> bool {
        // SAFETY: as in `contains`.
        unsafe { (self.insert)(blocks, digest) }
    }

    #[inline(always)]
    pub(in crate::counting) fn remove(&self, blocks: &mut [Block], digest: u64) -> bool {
        // SAFETY: as in `contains`.
        unsafe { (self.remove)(blocks, digest) }
    }
}
