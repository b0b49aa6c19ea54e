//! Building a large filter from very many keys at once.
//!
//! Keys arrive in random order, so each one touches another part of the filter; when the filter is larger than the
//! cache, that is a trip to memory for each. Here digests first wait in lists, one for each part of the filter that fits
//! the cache; when a list is full, its part is filled while it is there.
//!
//! ```text
//!   digests of thread 1 ─▶ ▤ ▤ ▥ ▤ … ▤   a list for each part, its own   ─┐  a full one locks
//!   digests of thread 2 ─▶ ▤ ▥ ▤ ▤ … ▤                                   ─┤  its part and is emptied
//!                          ▼ ▼ ▼ ▼   ▼                                    │
//!                         [part 0][part 1][part 2] … [part 511]  ◀────────┘
//! ```

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

use alloc::vec;
use alloc::vec::Vec;

use super::BloomFilter;
use crate::bits::Block;
use crate::bloom::kernel::{FillPart, Kernel, Unasked, fast_range, second_digest};
use crate::bloom::shape::Shape;
use crate::hash::Digest;

/// Blocks in a part: 256 KiB, which leaves room for the list in the second-level cache of any server core.
const PART_BLOCKS: usize = 4 << 10;
/// More parts than this cost more in scattered writes than they save; parts of larger filters grow instead.
const MOST_PARTS: usize = 512;
/// Digests that wait, of all threads together, at least: 128 MiB of them.
const WAITING: usize = 16 << 20;
/// Digests that wait for each block of the filter, of all threads together, at least. A part is read into the cache and
/// written back for every full list, which takes longer than going to memory for each key when there is less than one key
/// to a block.
const LEAST_PER_BLOCK: usize = 2;
/// More for each block in one list are not worth their memory.
const MOST_PER_BLOCK: usize = 16;
/// Fewer digests than this are not worth a thread.
const WORTH_A_THREAD: usize = 1 << 16;

impl BloomFilter {
    /// Adds many digests on up to `threads` threads; the result is the same as adding them one by one.
    ///
    /// Worth it for filters larger than the cache and millions of keys; small ones are added directly. Besides the
    /// filter it takes up to 128 MiB of memory, or a quarter of the filter if that is more.
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
        if !self.pays_in_parts(digests.len()) {
            return self.insert_batch(digests, Unasked::default());
        }
        let threads = threads.clamp(1, digests.len().div_ceil(WORTH_A_THREAD));
        let fill = self.bulk_fill(threads);
        let mut inserters: Vec<_> = (0..threads).map(|_| fill.inserter()).collect();
        insert_shares(&mut inserters, digests);
        fill.finish(inserters);
    }

    /// [`insert_bulk`](Self::insert_bulk) from an iterator, with as much memory again.
    pub fn extend_bulk(&mut self, digests: impl IntoIterator<Item = Digest>, threads: usize) {
        let mut digests = digests.into_iter();
        let most = waiting(self.blocks.len());
        let mut slab: Vec<Digest> = digests.by_ref().take(most).collect();
        if slab.len() < most || !self.pays_in_parts(most) {
            while !slab.is_empty() {
                self.insert_bulk(&slab, threads);
                slab.clear();
                slab.extend(digests.by_ref().take(most));
            }
            return;
        }
        let fill = self.bulk_fill(threads);
        // Kept from slab to slab: fresh memory would cost as much, in page faults, as all the rest.
        let mut inserters: Vec<_> = (0..threads.max(1)).map(|_| fill.inserter()).collect();
        while !slab.is_empty() {
            insert_shares(&mut inserters, &slab);
            slab.clear();
            slab.extend(digests.by_ref().take(most));
        }
        fill.finish(inserters);
    }

    /// Parts only pay when each line of the filter is written several times while its part is in the cache.
    fn pays_in_parts(&self, digests: usize) -> bool {
        self.blocks.len() >= 2 * PART_BLOCKS && digests >= self.blocks.len()
    }

    /// Lets so many threads add digests of their own, piece by piece, each through a [`BulkInserter`].
    ///
    /// ```
    /// use mayhap::BloomFilter;
    ///
    /// let mut filter = BloomFilter::with_rate(1_000_000, 0.01)?;
    /// let hasher = filter.hasher().clone();
    /// let fill = filter.bulk_fill(2);
    /// std::thread::scope(|scope| {
    ///     for keys in [0..500_000u64, 500_000..1_000_000] {
    ///         let mut inserter = fill.inserter();
    ///         let hasher = &hasher;
    ///         scope.spawn(move || keys.for_each(|key| inserter.insert(&[hasher.digest(&key)])));
    ///     }
    /// });
    /// drop(fill);
    /// assert!(filter.contains(&999_999u64));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    pub fn bulk_fill(&mut self, threads: usize) -> BulkFill<'_> {
        let (shape, kernel, threads) = (self.shape, self.kernel, threads.max(1));
        let blocks: &mut [Block] = &mut self.blocks;
        let most_waiting = waiting(blocks.len());
        let region_blocks = if shape.lines() == 2 { blocks.len() / 2 } else { blocks.len() };
        let part_blocks = PART_BLOCKS.max(blocks.len().div_ceil(MOST_PARTS)).next_power_of_two();
        let mut parts = Vec::new();
        for region in blocks.chunks_mut(region_blocks) {
            let of_region = region.chunks_mut(part_blocks).enumerate();
            parts.extend(of_region.map(|(n, blocks)| Mutex::new(Part { blocks, from: n * part_blocks })));
        }
        let share = (most_waiting / threads / parts.len()).min(part_blocks * MOST_PER_BLOCK);
        BulkFill {
            list_len: list_len(share),
            parts,
            region_blocks,
            part_bits: part_blocks.trailing_zeros(),
            shape,
            kernel,
            threads,
            inserters: AtomicUsize::new(0),
        }
    }
}

/// A filter that several threads add digests to.
///
/// Made by [`BloomFilter::bulk_fill`]. All digests are in the filter when every inserter is gone.
pub struct BulkFill<'filter> {
    /// Of the first region, then of the second if there are two.
    parts: Vec<Mutex<Part<'filter>>>,
    region_blocks: usize,
    /// A part has two to this many blocks.
    part_bits: u32,
    /// Digests a list holds.
    list_len: usize,
    shape: Shape,
    kernel: Kernel,
    threads: usize,
    /// How many were made.
    inserters: AtomicUsize,
}

/// Neighbouring blocks of a region.
struct Part<'filter> {
    blocks: &'filter mut [Block],
    /// Blocks of the region before them.
    from: usize,
}

impl<'filter> BulkFill<'filter> {
    /// For one thread.
    pub fn inserter(&self) -> BulkInserter<'_, 'filter> {
        let number = self.inserters.fetch_add(1, Relaxed) % self.threads;
        BulkInserter {
            fill: self,
            lists: vec![0; self.parts.len() * self.list_len],
            counts: vec![0; self.parts.len()],
            first: number * self.parts.len() / self.threads,
        }
    }

    /// Adds what still waits with these inserters, all of them at once. They do it themselves when they are dropped, but
    /// one after the other if it is one thread that drops them.
    pub fn finish<'fill>(&'fill self, inserters: impl IntoIterator<Item = BulkInserter<'fill, 'filter>>) {
        let mut inserters = inserters.into_iter();
        let here = inserters.next();
        std::thread::scope(|scope| {
            for inserter in inserters {
                scope.spawn(move || drop(inserter));
            }
            drop(here);
        });
    }

    /// Sets the bits of digests that all belong to one part.
    fn fill(&self, part: usize, digests: &[u64]) {
        // What runs under the lock sets bits and can't panic, so a poisoned lock holds no broken state.
        let mut part = self.parts[part].lock().unwrap_or_else(PoisonError::into_inner);
        let Part { blocks, from } = &mut *part;
        let (from, region_blocks) = (*from, self.region_blocks);
        self.kernel.batch(self.shape, FillPart { part: blocks, from, region_blocks, digests });
    }
}

impl core::fmt::Debug for BulkFill<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BulkFill")
            .field("parts", &self.parts.len())
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// One thread's way of adding digests to a filter that others add to at the same time.
///
/// What still waits in its lists is added when it is dropped.
pub struct BulkInserter<'fill, 'filter> {
    fill: &'fill BulkFill<'filter>,
    /// One after the other, all of the same length.
    lists: Vec<u64>,
    /// Digests in each list.
    counts: Vec<usize>,
    /// The list to begin with at the end, another for each thread, so that they don't wait for each other.
    first: usize,
}

impl BulkInserter<'_, '_> {
    /// Adds digests.
    pub fn insert(&mut self, digests: &[Digest]) {
        if self.fill.shape.lines() == 2 {
            let second_region = self.fill.parts.len() / 2;
            for digest in digests {
                self.wait(0, digest.get());
                self.wait(second_region, second_digest(digest.get()));
            }
        } else {
            digests.iter().for_each(|digest| self.wait(0, digest.get()));
        }
    }

    /// Puts a digest into the list of its part in the region whose first part this is.
    #[inline(always)]
    fn wait(&mut self, first_part: usize, digest: u64) {
        let part = first_part + (fast_range(digest, self.fill.region_blocks) >> self.fill.part_bits);
        let count = &mut self.counts[part];
        self.lists[part * self.fill.list_len + *count] = digest;
        *count += 1;
        if *count == self.fill.list_len {
            self.empty(part);
        }
    }

    /// Adds the digests of a list.
    #[cold]
    fn empty(&mut self, part: usize) {
        let from = part * self.fill.list_len;
        let count = core::mem::take(&mut self.counts[part]);
        self.fill.fill(part, &self.lists[from..from + count]);
    }
}

impl Drop for BulkInserter<'_, '_> {
    fn drop(&mut self) {
        (self.first..self.counts.len()).chain(0..self.first).for_each(|part| self.empty(part));
    }
}

impl core::fmt::Debug for BulkInserter<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let waiting: usize = self.counts.iter().sum();
        f.debug_struct("BulkInserter").field("waiting", &waiting).finish_non_exhaustive()
    }
}

/// Each inserter adds its share, on a thread of its own.
fn insert_shares(inserters: &mut [BulkInserter<'_, '_>], digests: &[Digest]) {
    let share = digests.len().div_ceil(inserters.len());
    std::thread::scope(|scope| {
        let mut work = inserters.iter_mut().zip(digests.chunks(share));
        let here = work.next();
        for (inserter, share) in work {
            scope.spawn(move || inserter.insert(share));
        }
        if let Some((inserter, share)) = here {
            inserter.insert(share);
        }
    });
}

/// Digests that may wait for a filter of so many blocks.
fn waiting(blocks: usize) -> usize {
    WAITING.max(LEAST_PER_BLOCK * blocks)
}

/// About so many digests, in a list that begins one cache line further into its page than the list before it: all lists
/// are written to in turn, and lines at the same place of many pages push each other out of the cache.
fn list_len(digests: usize) -> usize {
    const LINE: usize = 64 / size_of::<u64>();
    const PAGE: usize = 4096 / size_of::<u64>();
    if digests < PAGE { digests.next_multiple_of(LINE).max(LINE) } else { digests / PAGE * PAGE + LINE }
}
