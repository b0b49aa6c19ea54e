//! Building a large filter from very many keys at once.
//!
//! Keys arrive in random order, so each one touches another part of the filter; when the filter is larger than the
//! cache, that is a trip to memory for each. Here the digests are first sorted roughly, into parts of the filter that
//! fit the cache; then each part is filled while it is there. Both steps run on several threads, and a part belongs to
//! one thread, so plain writes do.

use alloc::vec::Vec;
use core::fmt;
use core::ops::DerefMut;
use std::sync::{Mutex, PoisonError};

use super::BloomFilter;
use crate::bits::{BLOCK_WORDS, prefetch_address};
use crate::bloom::kernel::{FillPart, Unasked, fast_range, second_digest};
use crate::bloom::shape::Shape;
use crate::hash::Digest;

/// Blocks in a part: 256 KiB, which fits the second-level cache of any server core.
const PART_BLOCKS: usize = 4 << 10;
/// More parts than this cost more in scattered writes than they save; parts of larger filters grow instead.
const MOST_PARTS: usize = 512;
/// Lines sorted at a time, at least: 128 MiB of digests.
const SLAB: usize = 16 << 20;
/// Lines sorted at a time for each block of the filter, at least. A part is read into the cache and written back for
/// every slab, which takes longer than going to memory for each key when there is less than one key to a block.
const SLAB_PER_BLOCK: usize = 2;
/// Fewer digests than this are not worth a thread.
const WORTH_A_THREAD: usize = 1 << 16;

impl BloomFilter {
    /// Adds many digests on up to `threads` threads; the result is the same as adding them one by one.
    ///
    /// Worth it for filters larger than the cache and millions of keys; small ones are added directly. Besides the
    /// filter it takes about 128 MiB of memory, or a quarter of the filter if that is more.
    ///
    /// ```
    /// use mayhap::{BloomFilter, Digest};
    ///
    /// let mut filter = BloomFilter::with_rate(1_000_000, 0.01)?;
    /// let digests: Vec<Digest> = (0..1_000_000u64).map(|key| filter.hash(&key)).collect();
    /// filter.insert_bulk(&digests, 2);
    /// assert!(filter.contains(&999_999u64));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    pub fn insert_bulk(&mut self, digests: &[Digest], threads: usize) {
        let mut sorters = Vec::new();
        for slab in digests.chunks(self.slab()) {
            self.insert_slab(slab, threads, &mut sorters);
        }
    }

    /// [`insert_bulk`](Self::insert_bulk) from an iterator, with twice its memory.
    pub fn extend_bulk(&mut self, digests: impl IntoIterator<Item = Digest>, threads: usize) {
        let mut digests = digests.into_iter();
        let mut sorters = Vec::new();
        let mut slab = Vec::new();
        loop {
            slab.extend(digests.by_ref().take(self.slab()));
            if slab.is_empty() {
                return;
            }
            self.insert_slab(&slab, threads, &mut sorters);
            slab.clear();
        }
    }

    /// What one thread sorts its digests in before [`insert_sorted`](Self::insert_sorted): for callers who have them piece
    /// by piece, on several threads. It has room for so many; more are taken too.
    #[must_use]
    pub fn bulk_sorter(&self, room: usize) -> BulkSorter {
        BulkSorter::new(Cut::new(self.blocks.len(), self.shape), room)
    }

    /// Adds the digests that were sorted, on up to `threads` threads, and leaves the sorters empty.
    ///
    /// It pays from about twice as many digests on as the filter has blocks, because all of the filter passes through the
    /// cache.
    ///
    /// ```
    /// use mayhap::BloomFilter;
    ///
    /// let mut filter = BloomFilter::with_rate(1_000_000, 0.01)?;
    /// let mut sorters = [filter.bulk_sorter(500_000), filter.bulk_sorter(500_000)];
    /// std::thread::scope(|scope| {
    ///     for (from, sorter) in (0u64..).step_by(500_000).zip(&mut sorters) {
    ///         let filter = &filter;
    ///         scope.spawn(move || (from..from + 500_000).for_each(|key| sorter.push(&[filter.hash(&key)])));
    ///     }
    /// });
    /// filter.insert_sorted(&mut sorters.each_mut(), 2);
    /// assert!(filter.contains(&999_999u64) && sorters[0].is_empty());
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    pub fn insert_sorted<S>(&mut self, sorters: &mut [S], threads: usize)
    where
        S: DerefMut<Target = BulkSorter> + Sync,
    {
        let cut = Cut::new(self.blocks.len(), self.shape);
        // Sorted for another filter, they are just digests.
        for sorter in sorters.iter_mut().filter(|sorter| sorter.cut != cut) {
            let parts = sorter.cut.parts;
            sorter.lists.iter().take(parts).for_each(|list| self.insert_batch(list, Unasked::default()));
            sorter.clear();
        }
        self.fill(cut, sorters, threads);
        sorters.iter_mut().for_each(|sorter| sorter.clear());
    }

    fn slab(&self) -> usize {
        let lines = SLAB.max(SLAB_PER_BLOCK * self.blocks.len());
        if self.shape.lines() == 2 { lines / 2 } else { lines }
    }

    fn insert_slab(&mut self, digests: &[Digest], threads: usize, sorters: &mut Vec<BulkSorter>) {
        // Parts only pay when each line of the filter is written several times while its part is in the cache.
        if self.blocks.len() < 2 * PART_BLOCKS || digests.len() < self.blocks.len() {
            return self.insert_batch(digests, Unasked::default());
        }
        let threads = threads.clamp(1, digests.len().div_ceil(WORTH_A_THREAD));
        let share = digests.len().div_ceil(threads);
        sorters.resize_with(threads, || self.bulk_sorter(share));
        std::thread::scope(|scope| {
            let mut work = sorters.iter_mut().zip(digests.chunks(share));
            let here = work.next();
            for (sorter, share) in work {
                scope.spawn(|| sorter.push(share));
            }
            if let Some((sorter, share)) = here {
                sorter.push(share);
            }
        });
        let mut sorters: Vec<&mut BulkSorter> = sorters.iter_mut().collect();
        self.insert_sorted(&mut sorters, threads);
    }

    /// Fills part after part, each by one thread.
    fn fill<S>(&mut self, cut: Cut, sorters: &[S], threads: usize)
    where
        S: DerefMut<Target = BulkSorter> + Sync,
    {
        let (shape, kernel) = (self.shape, self.kernel);
        let regions = self.blocks.chunks_mut(cut.region_blocks);
        let parts = regions.flat_map(|region| region.chunks_mut(1 << cut.part_bits).enumerate());
        let work = Mutex::new(parts.enumerate());
        let fill = || {
            // Only `next` runs under the lock, and it can't panic, so a poisoned lock holds no broken state.
            let take = || work.lock().unwrap_or_else(PoisonError::into_inner).next();
            let mut next = take();
            while let Some((list, (number, part))) = next {
                next = take();
                // Each sorter's digests fetch their share of the part after this one.
                let coming = next.as_ref().map_or(&[][..], |(_, (_, part))| part);
                let mut shares = coming.chunks(coming.len().div_ceil(sorters.len().max(1)).max(1));
                for sorter in sorters {
                    let digests = sorter.lists.get(list).map_or(&[][..], Vec::as_slice);
                    let (from, region_blocks) = (number << cut.part_bits, cut.region_blocks);
                    let coming = shares.next().unwrap_or_default();
                    kernel.batch(shape, FillPart { part: &mut *part, from, region_blocks, digests, coming });
                }
            }
        };
        let digests: usize = sorters.iter().map(|sorter| sorter.len()).sum();
        std::thread::scope(|scope| {
            for _ in 1..threads.clamp(1, digests.div_ceil(WORTH_A_THREAD).max(1)) {
                scope.spawn(fill);
            }
            fill();
        });
    }
}

/// How a filter is cut into parts that fit the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    /// Blocks of which every digest has one line: all of them, or half.
    region_blocks: usize,
    /// A part has two to this many of them.
    part_bits: u32,
    /// Parts in a region.
    parts: usize,
    /// Whether a digest has a line in each of two regions.
    is_twice: bool,
}

impl Cut {
    fn new(blocks: usize, shape: Shape) -> Self {
        let is_twice = shape.lines() == 2;
        let region_blocks = if is_twice { blocks / 2 } else { blocks };
        let part_blocks = PART_BLOCKS.max(region_blocks.div_ceil(MOST_PARTS)).next_power_of_two();
        Self {
            region_blocks,
            part_bits: part_blocks.trailing_zeros(),
            parts: region_blocks.div_ceil(part_blocks),
            is_twice,
        }
    }

    fn part_of(&self, line_digest: u64) -> usize {
        fast_range(line_digest, self.region_blocks) >> self.part_bits
    }
}

/// Digests of one thread on their way into a [`BloomFilter`], sorted by the part of it they belong to. From
/// [`BloomFilter::bulk_sorter`].
///
/// Its memory is kept when it is emptied: fresh memory each time would cost as much, in page faults, as all the rest.
pub struct BulkSorter {
    cut: Cut,
    /// One for each part of the first region, then of the second.
    lists: Vec<Vec<Digest>>,
    len: usize,
}

impl BulkSorter {
    fn new(cut: Cut, room: usize) -> Self {
        // Room to spare above the mean, so that a list hardly ever has to move.
        let mean = room / cut.parts;
        let room = mean + 6 * mean.isqrt() + 16;
        let lists = if cut.is_twice { 2 * cut.parts } else { cut.parts };
        Self { cut, lists: (0..lists).map(|_| Vec::with_capacity(room)).collect(), len: 0 }
    }

    /// Takes more digests.
    pub fn push(&mut self, digests: &[Digest]) {
        let Self { cut, lists, len } = self;
        let (first, second) = lists.split_at_mut(cut.parts);
        for digest in digests {
            put(&mut first[cut.part_of(digest.get())], *digest);
        }
        if cut.is_twice {
            for digest in digests {
                let digest = second_digest(digest.get());
                put(&mut second[cut.part_of(digest)], Digest::new(digest));
            }
        }
        *len += digests.len();
    }

    /// How many digests there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn clear(&mut self) {
        self.lists.iter_mut().for_each(Vec::clear);
        self.len = 0;
    }
}

/// Appends a digest, and asks for the list's next line: it will be written some thousand digests later, and a CPU doesn't
/// see hundreds of lists grow.
#[inline(always)]
fn put(list: &mut Vec<Digest>, digest: Digest) {
    list.push(digest);
    prefetch_address(list.as_ptr().wrapping_add(list.len() + BLOCK_WORDS));
}

impl fmt::Debug for BulkSorter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BulkSorter").field("len", &self.len).field("cut", &self.cut).finish_non_exhaustive()
    }
}
