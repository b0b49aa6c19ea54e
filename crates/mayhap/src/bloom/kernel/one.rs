//! What is done with one key.

use core::marker::PhantomData;

use super::{Draw, Regions, Simd, second_digest};
use crate::bits::{AtomicBlock, Block, Line, Shared, Stripes, Target};
use crate::hash::KeyHasher;

/// Something done with one key, to be compiled for each [`Simd`] and each shape.
///
/// Not a value but a function: its arguments travel in registers through the one call that can't be inlined, from a
/// baseline caller into AVX2 code.
pub(crate) trait OneKey {
    type Blocks;
    fn run<V: Simd, D: Draw, const TWO: bool>(simd: V, blocks: Self::Blocks, digest: u64) -> bool;
}

/// A borrowed filter, of which one pointer leads to the blocks and to the hash function.
pub(crate) trait Parts<'a>: Sized {
    /// What is done with a key of such a filter.
    type Work: OneKey;
    fn hasher(&self) -> &KeyHasher;
    fn blocks(self) -> <Self::Work as OneKey>::Blocks;
}

/// Whether the key may be there.
pub(crate) struct Contains<'a, L>(PhantomData<&'a L>);

impl<'a, L: Line> OneKey for Contains<'a, L> {
    type Blocks = &'a [L];
    #[inline(always)]
    fn run<V: Simd, D: Draw, const TWO: bool>(simd: V, lines: &'a [L], digest: u64) -> bool {
        contains_one::<V, D, TWO, L>(simd, Regions::new(lines, TWO), digest)
    }
}

/// Adds the key; true if it was new.
pub(crate) struct Insert<'a>(PhantomData<&'a Block>);

impl<'a> OneKey for Insert<'a> {
    type Blocks = &'a mut [Block];
    #[inline(always)]
    fn run<V: Simd, D: Draw, const TWO: bool>(simd: V, blocks: &'a mut [Block], digest: u64) -> bool {
        insert_one::<V, D, TWO>(simd, &mut Regions::new_mut(blocks, TWO), digest)
    }
}

/// Adds the key to shared blocks; true for exactly one caller.
pub(crate) struct SharedInsert<'a>(PhantomData<&'a Shared>);

impl<'a> OneKey for SharedInsert<'a> {
    type Blocks = &'a Shared;
    #[inline(always)]
    fn run<V: Simd, D: Draw, const TWO: bool>(simd: V, shared: &'a Shared, digest: u64) -> bool {
        let target = SharedTarget::<V, D, TWO>::new(simd, Regions::new(shared.blocks(), TWO), digest);
        target.insert(&shared.stripes)
    }
}

/// Adds the key to shared blocks without a lock. The answer is no use: several callers may get it.
pub(crate) struct SharedSet<'a>(PhantomData<&'a Shared>);

impl<'a> OneKey for SharedSet<'a> {
    type Blocks = &'a Shared;
    #[inline(always)]
    fn run<V: Simd, D: Draw, const TWO: bool>(simd: V, shared: &'a Shared, digest: u64) -> bool {
        shared.stripes.open();
        SharedTarget::<V, D, TWO>::new(simd, Regions::new(shared.blocks(), TWO), digest).set()
    }
}

/// Adds the key to shared blocks whose locks the caller holds; true if it was new.
#[cfg(feature = "std")]
pub(crate) struct SharedSetLocked<'a>(PhantomData<&'a Shared>);

#[cfg(feature = "std")]
impl<'a> OneKey for SharedSetLocked<'a> {
    type Blocks = &'a Shared;
    #[inline(always)]
    fn run<V: Simd, D: Draw, const TWO: bool>(simd: V, shared: &'a Shared, digest: u64) -> bool {
        let target = SharedTarget::<V, D, TWO>::new(simd, Regions::new(shared.blocks(), TWO), digest);
        shared.stripes.set_locked(&target)
    }
}

#[inline(always)]
pub(super) fn contains_one<V: Simd, D: Draw, const TWO: bool, L: Line>(
    simd: V,
    regions: Regions<&[L]>,
    digest: u64,
) -> bool {
    let found = simd.contains::<D, L>(regions.first(digest), digest);
    if !TWO {
        return found;
    }
    // Both lines are asked whatever the first says: a branch here is mispredicted for every false positive of one
    // half, and waiting for the first line before asking for the second would take two trips to memory, not one.
    let digest = second_digest(digest);
    found & simd.contains::<D, L>(regions.second(digest), digest)
}

#[inline(always)]
pub(super) fn insert_one<V: Simd, D: Draw, const TWO: bool>(
    simd: V,
    regions: &mut Regions<&mut [Block]>,
    digest: u64,
) -> bool {
    let new = simd.insert::<D>(regions.first_mut(digest), digest);
    if !TWO {
        return new;
    }
    let digest = second_digest(digest);
    simd.insert::<D>(regions.second_mut(digest), digest) | new
}

/// A key's bits in shared blocks.
pub(super) struct SharedTarget<'a, V: Simd, D: Draw, const TWO: bool> {
    simd: V,
    regions: Regions<&'a [AtomicBlock]>,
    digest: u64,
    draw: PhantomData<D>,
}

impl<'a, V: Simd, D: Draw, const TWO: bool> SharedTarget<'a, V, D, TWO> {
    #[inline(always)]
    pub(super) fn new(simd: V, regions: Regions<&'a [AtomicBlock]>, digest: u64) -> Self {
        Self { simd, regions, digest, draw: PhantomData }
    }

    /// Adds the key; true for exactly one caller.
    #[inline(always)]
    pub(super) fn insert(&self, stripes: &Stripes) -> bool {
        let first = self.regions.first_place(self.digest);
        if TWO {
            let second = self.regions.second_place(second_digest(self.digest));
            stripes.insert(self, || stripes.hold_both([first, second]))
        } else {
            stripes.insert(self, || stripes.hold(first))
        }
    }
}

impl<V: Simd, D: Draw, const TWO: bool> Target for SharedTarget<'_, V, D, TWO> {
    #[inline(always)]
    fn is_set(&self) -> bool {
        contains_one::<V, D, TWO, _>(self.simd, self.regions, self.digest)
    }

    #[inline(always)]
    fn set(&self) -> bool {
        let any_unset = self.regions.first(self.digest).or(&self.simd.mask::<D>(self.digest));
        if !TWO {
            return any_unset;
        }
        let digest = second_digest(self.digest);
        self.regions.second(digest).or(&self.simd.mask::<D>(digest)) | any_unset
    }

    #[inline(always)]
    fn set_alone(&self) -> bool {
        let new = self.simd.insert_alone::<D>(self.regions.first(self.digest), self.digest);
        if !TWO {
            return new;
        }
        let digest = second_digest(self.digest);
        self.simd.insert_alone::<D>(self.regions.second(digest), digest) | new
    }
}
