//! What is done with one key: questions and changes.

#![allow(unsafe_code)]

use super::{Layout, Simd};
use crate::bits::{Block, Blocks, Line};
use crate::bloom::kernel::Regions;
use crate::counting::CountingBloom;

/// A question about a key.
pub(in crate::counting) trait Question {
    /// Zero, or `false`, is that the key isn't there; of two lines the lower answer is right.
    type Answer: Copy + Default + Ord;
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

    /// The length of a filter after the change, by what [`apply`](Self::apply) said.
    fn len_after(len: u64, answer: bool) -> u64;

    fn apply<V: Simd, C: Layout>(simd: V, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool;

    /// The same, and keeps the length.
    #[inline(always)]
    fn apply_to<V: Simd, C: Layout>(simd: V, filter: &mut CountingBloom, digest: u64) -> bool {
        let answer = Self::apply::<V, C>(simd, &mut Regions::new_mut(&mut filter.blocks, C::TWO), digest);
        filter.len = Self::len_after(filter.len, answer);
        answer
    }
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
    fn len_after(len: u64, _: bool) -> u64 {
        len.saturating_add(1)
    }

    #[inline(always)]
    fn apply<V: Simd, C: Layout>(simd: V, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool {
        simd.insert::<C>(regions, digest)
    }
}

impl Change for Remove {
    const USUAL: Option<bool> = Some(true);

    #[inline(always)]
    fn len_after(len: u64, was_there: bool) -> u64 {
        if was_there { len.saturating_sub(1) } else { len }
    }

    #[inline(always)]
    fn apply<V: Simd, C: Layout>(simd: V, regions: &mut Regions<&mut [Block]>, digest: u64) -> bool {
        simd.remove::<C>(regions, digest)
    }

    /// What isn't usual comes last, so that a call needs no stack for what it does after it.
    #[inline(always)]
    fn apply_to<V: Simd, C: Layout>(simd: V, filter: &mut CountingBloom, digest: u64) -> bool {
        let regions = &mut Regions::new_mut(&mut filter.blocks, C::TWO);
        if simd.remove_usual::<C>(regions, digest) {
            filter.len = Self::len_after(filter.len, true);
            return true;
        }
        remove_otherwise::<V, C>(simd, filter, digest)
    }
}

#[cold]
#[inline(never)]
fn remove_otherwise<V: Simd, C: Layout>(simd: V, filter: &mut CountingBloom, digest: u64) -> bool {
    let removed = simd.remove_otherwise::<C>(&mut filter.blocks, digest);
    filter.len = Remove::len_after(filter.len, removed);
    removed
}

/// What is done with one key, compiled for a CPU and a layout.
///
/// Chosen when the filter is made, so that a call has nothing to choose. How many calls a core has under way, waiting for
/// their lines, depends on how few instructions each of them has.
pub(in crate::counting) struct OneKey<S: Blocks> {
    pub(super) contains: unsafe fn(&[S::Line], u64) -> bool,
    pub(super) count: unsafe fn(&[S::Line], u64) -> u64,
    pub(super) insert: unsafe fn(&mut [Block], u64) -> bool,
    pub(super) remove: unsafe fn(&mut [Block], u64) -> bool,
    // Keys of eight bytes are hashed behind the call, where a CPU has more instructions to choose from. All it needs hangs
    // on one pointer, so that a caller has little to pass.
    pub(super) contains_eight: unsafe fn(&CountingBloom<S>, u64) -> bool,
    pub(super) count_eight: unsafe fn(&CountingBloom<S>, u64) -> u64,
    pub(super) insert_eight: unsafe fn(&mut CountingBloom, u64) -> bool,
    pub(super) remove_eight: unsafe fn(&mut CountingBloom, u64) -> bool,
}

impl<S: Blocks> OneKey<S> {
    /// The same for a filter whose hash isn't XXH3.
    pub(super) fn by_another_hash(self) -> Self {
        Self {
            contains_eight: |filter, key| filter.contains_hash(filter.hash(&key)),
            count_eight: |filter, key| filter.count_hash(filter.hash(&key)),
            insert_eight: |filter, key| filter.insert_hash(filter.hash(&key)),
            remove_eight: |filter, key| filter.remove_hash(filter.hash(&key)),
            ..self
        }
    }

    #[inline(always)]
    pub(in crate::counting) fn contains(&self, lines: &[S::Line], digest: u64) -> bool {
        // SAFETY: these functions ask for nothing but a CPU they were compiled for, and whoever chose them had the proof.
        unsafe { (self.contains)(lines, digest) }
    }

    #[inline(always)]
    pub(in crate::counting) fn count(&self, lines: &[S::Line], digest: u64) -> u64 {
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

/// What is done with a key of eight bytes, as a number.
impl<S: Blocks> CountingBloom<S> {
    #[inline(always)]
    pub(in crate::counting) fn contains_eight(&self, key: u64) -> bool {
        // SAFETY: as in `OneKey::contains`.
        unsafe { (self.one_key.contains_eight)(self, key) }
    }

    #[inline(always)]
    pub(in crate::counting) fn count_eight(&self, key: u64) -> u64 {
        // SAFETY: as in `OneKey::contains`.
        unsafe { (self.one_key.count_eight)(self, key) }
    }
}

impl CountingBloom {
    #[inline(always)]
    pub(in crate::counting) fn insert_eight(&mut self, key: u64) -> bool {
        // SAFETY: as in `OneKey::contains`.
        unsafe { (self.one_key.insert_eight)(self, key) }
    }

    #[inline(always)]
    pub(in crate::counting) fn remove_eight(&mut self, key: u64) -> bool {
        // SAFETY: as in `OneKey::contains`.
        unsafe { (self.one_key.remove_eight)(self, key) }
    }
}

/// Makes the `one_key` of a kernel, whose caller must hold a `$proof`: the functions that are called from code for any CPU, each
/// compiled with the features that are named. Everything they run is inlined into them.
macro_rules! one_key {
    ($proof:ty => $kernel:expr $(, $features:literal)?) => {
        /// What is done with one key. Who holds the argument has the proof that the CPU can do it.
        pub(super) fn one_key<C: Layout, S: Blocks>(_: $proof) -> OneKey<S> {
            OneKey {
                contains: ask::<C, S::Line, Contains>,
                count: ask::<C, S::Line, Count>,
                insert: change::<C, Insert>,
                remove: change::<C, Remove>,
                contains_eight: ask_eight::<C, S, Contains>,
                count_eight: ask_eight::<C, S, Count>,
                insert_eight: change_eight::<C, Insert>,
                remove_eight: change_eight::<C, Remove>,
            }
        }

        $(#[target_feature(enable = $features)])?
        fn ask<C: Layout, L: Line, Q: Question>(lines: &[L], digest: u64) -> Q::Answer {
            Q::ask::<_, C, L>($kernel, Regions::new(lines, C::TWO), digest)
        }

        $(#[target_feature(enable = $features)])?
        fn change<C: Layout, H: Change>(blocks: &mut [Block], digest: u64) -> bool {
            H::apply::<_, C>($kernel, &mut Regions::new_mut(blocks, C::TWO), digest)
        }

        $(#[target_feature(enable = $features)])?
        fn ask_eight<C: Layout, S: Blocks, Q: Question>(filter: &CountingBloom<S>, key: u64) -> Q::Answer {
            let digest = filter.hasher.known_xxh3().eight(key);
            Q::ask::<_, C, S::Line>($kernel, Regions::new(filter.blocks.lines(), C::TWO), digest)
        }

        $(#[target_feature(enable = $features)])?
        fn change_eight<C: Layout, H: Change>(filter: &mut CountingBloom, key: u64) -> bool {
            let digest = filter.hasher.known_xxh3().eight(key);
            H::apply_to::<_, C>($kernel, filter, digest)
        }
    };
}
pub(super) use one_key;
