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

/// Blocks in a part: 512 KiB, which fits the second-level cache of any server core.
const PART_BLOCKS: usize = 8 << 10;
/// More parts than this cost more in scattered writes than they save; parts of larger filters grow instead.
const MOST_PARTS: usize = 512;
/// Digests sorted at a time: bounds the memory beside the filter to twice this many digests (256 MiB).
const SLAB: usize = 16 << 20;
/// Fewer digests than this are not worth a thread.
const WORTH_A_THREAD: usize = 1 << 16;

impl BloomFilter {
    /// Adds many digests on up to `threads` threads; the result is the same as adding them one by one.
    ///
    /// Worth it for filters larger than the cache and millions of keys; small ones are added directly. Besides the
    /// filter it takes up to 256 MiB of memory.
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
        for slab in digests.chunks(SLAB) {
            self.insert_slab(slab, threads);
        }
    }

    /// [`insert_bulk`](Self::insert_bulk) from an iterator.
    pub fn extend_bulk(&mut self, digests: impl IntoIterator<Item = Digest>, threads: usize) {
        let mut digests = digests.into_iter();
        let mut slab = Vec::new();
        loop {
            slab.extend(digests.by_ref().take(SLAB));
            if slab.is_empty() {
                return;
            }
            self.insert_slab(&slab, threads);
            slab.clear();
        }
    }

    fn insert_slab(&mut self, digests: &[Digest], threads: usize) {
        let blocks: &mut [Block] = &mut self.blocks;
        // Parts only pay when each line of the filter is written several times while its part is in the cache.
        if blocks.len() < 2 * PART_BLOCKS || digests.len() < blocks.len() {
            return self.insert_batch(digests, Unasked::default());
        }
        let threads = threads.clamp(1, digests.len().div_ceil(WORTH_A_THREAD));
        let (shape, kernel) = (self.shape, self.kernel);
        if shape.lines() == 2 {
            let half = blocks.len() / 2;
            let (first, second) = blocks.split_at_mut(half);
            fill_region(first, digests, |digest| digest, shape, kernel, threads);
            fill_region(second, digests, second_digest, shape, kernel, threads);
        } else {
            fill_region(blocks, digests, |digest| digest, shape, kernel, threads);
        }
    }
}

fn fill_region(
    region: &mut [Block],
    digests: &[Digest],
    line_digest: impl Fn(u64) -> u64 + Sync,
    shape: Shape,
    kernel: Kernel,
    threads: usize,
) {
    let region_blocks = region.len();
    let part_blocks = PART_BLOCKS.max(region_blocks.div_ceil(MOST_PARTS)).next_power_of_two();
    let part_bits = part_blocks.trailing_zeros();
    let parts = region_blocks.div_ceil(part_blocks);
    let share = digests.len().div_ceil(threads);
    // With room to spare above the mean (five standard deviations and more), a part's list hardly ever moves.
    let room = share / parts + 6 * (share / parts).isqrt() + 16;

    let sort = |share: &[Digest]| {
        let mut lists: Vec<Vec<u64>> = (0..parts).map(|_| Vec::with_capacity(room)).collect();
        for digest in share {
            let digest = line_digest(digest.get());
            lists[fast_range(digest, region_blocks) >> part_bits].push(digest);
        }
        lists
    };
    let sorted: Vec<Vec<Vec<u64>>> = std::thread::scope(|scope| {
        let workers: Vec<_> = digests.chunks(share).map(|share| scope.spawn(|| sort(share))).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });

    let work = std::sync::Mutex::new(region.chunks_mut(part_blocks).enumerate());
    let fill = || {
        loop {
            // Only `next` runs under the lock, and it can't panic, so a poisoned lock holds no broken state.
            let next = work.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
            let Some((number, part)) = next else { return };
            for lists in &sorted {
                let from = number << part_bits;
                kernel.batch(
                    shape,
                    FillPart { part: &mut *part, from, region_blocks, digests: &lists[number] },
                );
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(fill);
        }
        fill();
    });
}
