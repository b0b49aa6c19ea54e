//! Building a large filter from very many keys at once.
//!
//! Keys arrive in random order, so each one touches another part of the filter; when the filter is larger than the
//! cache, that is a trip to memory for each. Here the digests are first sorted roughly, into parts of the filter that
//! fit the cache; then each part is filled while it is there. Both steps run on several threads, and a part belongs to
//! one thread, so plain writes do.

use alloc::vec::Vec;

use super::BloomFilter;
use crate::bits::Block;
use crate::bloom::kernel::{FillPart, Kernel, Unasked, fast_range, second_digest};
use crate::bloom::shape::Shape;
use crate::hash::Digest;

/// Blocks in a part: 256 KiB, which fits the second-level cache of any server core.
const PART_BLOCKS: usize = 4 << 10;
/// More parts than this cost more in scattered writes than they save; parts of larger filters grow instead.
const MOST_PARTS: usize = 512;
/// Digests sorted at a time, at least: 128 MiB of them.
const SLAB: usize = 16 << 20;
/// Digests sorted at a time for each block of the filter, at least. A part is read into the cache and written back for
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
        self.insert_bulk_with(&mut BulkMemory::new(), digests, threads);
    }

    /// [`insert_bulk`](Self::insert_bulk) with memory that is kept from call to call: for callers who have their digests
    /// piece by piece. A piece should be at least twice as many digests as the filter has blocks.
    pub fn insert_bulk_with(&mut self, memory: &mut BulkMemory, digests: &[Digest], threads: usize) {
        for slab in digests.chunks(self.slab()) {
            self.insert_slab(slab, threads, &mut memory.sorters);
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

    fn slab(&self) -> usize {
        SLAB.max(SLAB_PER_BLOCK * self.blocks.len())
    }

    fn insert_slab(&mut self, digests: &[Digest], threads: usize, sorters: &mut Vec<Sorter>) {
        let blocks: &mut [Block] = &mut self.blocks;
        // Parts only pay when each line of the filter is written several times while its part is in the cache.
        if blocks.len() < 2 * PART_BLOCKS || digests.len() < blocks.len() {
            return self.insert_batch(digests, Unasked::default());
        }
        sorters.resize_with(threads.clamp(1, digests.len().div_ceil(WORTH_A_THREAD)), Sorter::default);
        let (shape, kernel) = (self.shape, self.kernel);
        if shape.lines() == 2 {
            let (first, second) = blocks.split_at_mut(blocks.len() / 2);
            Region::new(first, shape, kernel).fill(digests, |digest| digest, sorters);
            Region::new(second, shape, kernel).fill(digests, second_digest, sorters);
        } else {
            Region::new(blocks, shape, kernel).fill(digests, |digest| digest, sorters);
        }
    }
}

/// What [`BloomFilter::insert_bulk_with`] sorts in. Fresh memory for each call would cost as much, in page faults, as all
/// the rest.
#[derive(Default)]
pub struct BulkMemory {
    sorters: Vec<Sorter>,
}

impl BulkMemory {
    /// None yet; it grows with its first use.
    #[must_use]
    pub const fn new() -> Self {
        Self { sorters: Vec::new() }
    }
}

impl core::fmt::Debug for BulkMemory {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BulkMemory").field("threads", &self.sorters.len()).finish_non_exhaustive()
    }
}

/// Blocks of which every digest has one line, in parts that fit the cache.
struct Region<'a> {
    blocks: &'a mut [Block],
    /// A part has two to this many blocks.
    part_bits: u32,
    shape: Shape,
    kernel: Kernel,
}

impl<'a> Region<'a> {
    fn new(blocks: &'a mut [Block], shape: Shape, kernel: Kernel) -> Self {
        let part_blocks = PART_BLOCKS.max(blocks.len().div_ceil(MOST_PARTS)).next_power_of_two();
        Self { blocks, part_bits: part_blocks.trailing_zeros(), shape, kernel }
    }

    fn fill(self, digests: &[Digest], line_digest: impl Fn(u64) -> u64 + Sync, sorters: &mut [Sorter]) {
        let Self { blocks, part_bits, shape, kernel } = self;
        let region_blocks = blocks.len();
        let parts = region_blocks.div_ceil(1 << part_bits);
        let part_of = |digest| fast_range(digest, region_blocks) >> part_bits;

        let share = digests.len().div_ceil(sorters.len());
        // Nothing of the last slab or region may be left with a thread that gets no share of this one.
        sorters.iter_mut().for_each(Sorter::clear);
        std::thread::scope(|scope| {
            let mut work = sorters.iter_mut().zip(digests.chunks(share));
            let here = work.next();
            for (sorter, share) in work {
                scope.spawn(|| sorter.sort(share, parts, &line_digest, part_of));
            }
            if let Some((sorter, share)) = here {
                sorter.sort(share, parts, &line_digest, part_of);
            }
        });

        let sorters = &*sorters;
        let work = std::sync::Mutex::new(blocks.chunks_mut(1 << part_bits).enumerate());
        let fill = || {
            loop {
                // Only `next` runs under the lock, and it can't panic, so a poisoned lock holds no broken state.
                let next = work.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
                let Some((number, part)) = next else { return };
                for sorter in sorters {
                    let (from, digests) = (number << part_bits, sorter.part(number));
                    kernel.batch(shape, FillPart { part: &mut *part, from, region_blocks, digests });
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..sorters.len() {
                scope.spawn(fill);
            }
            fill();
        });
    }
}

/// One thread's digests, sorted by the part they belong to. Kept from slab to slab.
#[derive(Default)]
struct Sorter {
    lists: Vec<Vec<u64>>,
}

impl Sorter {
    fn clear(&mut self) {
        self.lists.iter_mut().for_each(Vec::clear);
    }

    fn sort(
        &mut self,
        digests: &[Digest],
        parts: usize,
        line_digest: impl Fn(u64) -> u64,
        part_of: impl Fn(u64) -> usize,
    ) {
        // Room to spare above the mean, so that a list hardly ever has to move.
        let mean = digests.len() / parts;
        let room = mean + 6 * mean.isqrt() + 16;
        self.lists.resize_with(parts, Vec::new);
        self.lists.iter_mut().for_each(|list| list.reserve(room));
        for digest in digests {
            let digest = line_digest(digest.get());
            self.lists[part_of(digest)].push(digest);
        }
    }

    /// The digests of a part; none if this thread had nothing to sort.
    fn part(&self, number: usize) -> &[u64] {
        self.lists.get(number).map_or(&[], Vec::as_slice)
    }
}
