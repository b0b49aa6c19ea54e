//! Bloom filters, filled by many threads.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use mayhap::bloom::BulkSorter;
use mayhap::{AnyFilter, BloomFilter, Digest, SharedBloomFilter, SharedClassicBloom};

use crate::failure::Failure;
use crate::filter_file::FilterFile;

/// Lines of the filter sorted before they are set: 8 MiB to 128 MiB of digests, on all threads together.
const SORTED: RangeInclusive<u64> = 1 << 20..=16 << 20;
/// Sorting pays when there are so many digests for a block.
const PER_BLOCK: u64 = 2;
/// It pays more when there are more, because all of the filter passes through the cache each time.
const BEST_PER_BLOCK: u64 = 8;
/// Bits are set in pieces of so many digests.
const TOGETHER: usize = 1024;

/// A filter whose bits are set from all threads.
pub(super) enum BitFilter {
    /// By all of them together, many at a time: no bit is set atomically, which would take half of all the time.
    Sorted(Sorted),
    /// By each for itself: too large for the other way.
    Shared(SharedBloomFilter),
    Classic(SharedClassicBloom),
}

/// Whether digests are sorted before they go into a filter of so many blocks: part after part.
pub(super) fn is_sorted_for(blocks: u64) -> bool {
    blocks <= *SORTED.end() / PER_BLOCK
}

/// One thread's way into the filter.
pub(super) struct Setter<'a> {
    filter: &'a BitFilter,
    /// Which of the sorters is its own.
    place: usize,
}

/// A filter, and digests on their way into it.
pub(super) struct Sorted {
    filter: Mutex<BloomFilter>,
    /// One for each thread, which holds its lock while it adds to it; so it waits only while all is put into the filter.
    sorters: Vec<Mutex<BulkSorter>>,
    /// Digests of one thread that make it time for that.
    share: usize,
    next: AtomicUsize,
}

impl BitFilter {
    pub(super) fn new(filter: AnyFilter, threads: usize) -> Result<Self, Failure> {
        match filter {
            AnyFilter::Bloom(filter) if is_sorted_for(filter.block_count()) => {
                Ok(Self::Sorted(Sorted::new(filter, threads)))
            }
            AnyFilter::Bloom(filter) => Ok(Self::Shared(filter.into_shared())),
            AnyFilter::Classic(filter) => Ok(Self::Classic(filter.into_shared())),
            other => Err(Failure::Message(format!("a {} can't be filled by several threads", other.kind()))),
        }
    }

    /// For one thread.
    pub(super) fn setter(&self) -> Setter<'_> {
        let place = match self {
            Self::Sorted(sorted) => sorted.next_place(),
            Self::Shared(_) | Self::Classic(_) => 0,
        };
        Setter { filter: self, place }
    }

    /// Adds very many digests, on so many threads.
    pub(super) fn set_many(&self, digests: &[Digest], threads: usize) {
        let share = digests.len().div_ceil(threads).max(TOGETHER);
        thread::scope(|scope| {
            for part in digests.chunks(share) {
                let setter = self.setter();
                scope.spawn(move || part.chunks(TOGETHER).for_each(|digests| setter.set(digests)));
            }
        });
    }

    pub(super) fn into_file(self) -> FilterFile {
        FilterFile::Filter(match self {
            Self::Sorted(sorted) => {
                sorted.flush(0);
                sorted.filter.into_inner().unwrap_or_else(PoisonError::into_inner).into()
            }
            Self::Shared(filter) => filter.into_owned().into(),
            Self::Classic(filter) => filter.into_owned().into(),
        })
    }
}

impl Setter<'_> {
    /// Adds some digests.
    pub(super) fn set(&self, digests: &[Digest]) {
        match self.filter {
            BitFilter::Sorted(sorted) => sorted.push(self.place, digests),
            BitFilter::Shared(filter) => filter.set_hashes(digests),
            BitFilter::Classic(filter) => filter.set_hashes(digests),
        }
    }
}

impl Sorted {
    fn new(filter: BloomFilter, threads: usize) -> Self {
        let lines = (filter.block_count() * BEST_PER_BLOCK).clamp(*SORTED.start(), *SORTED.end());
        let digests = usize::try_from(lines / filter.shape().lines()).unwrap_or(usize::MAX);
        let share = digests.div_ceil(threads);
        let sorters = (0..threads).map(|_| Mutex::new(filter.bulk_sorter(share))).collect();
        Self { filter: Mutex::new(filter), sorters, share, next: AtomicUsize::new(0) }
    }

    fn next_place(&self) -> usize {
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        if place == 0 {
            // Fresh memory is written before it is read, while the other threads begin to read keys: a page that is read
            // first gets its memory only when it is written, and then all threads are stopped for a moment.
            lock(&self.filter).clear();
        }
        place % self.sorters.len()
    }

    fn push(&self, place: usize, digests: &[Digest]) {
        let mut sorter = lock(&self.sorters[place]);
        if sorter.len() + digests.len() > self.share {
            drop(sorter);
            self.flush(self.share / 2);
            sorter = lock(&self.sorters[place]);
        }
        sorter.push(digests);
    }

    /// Puts everything into the filter, unless there is less than this: somebody else did it just now.
    fn flush(&self, least: usize) {
        let mut filter = lock(&self.filter);
        let mut sorters: Vec<_> = self.sorters.iter().map(lock).collect();
        if sorters.iter().map(|sorter| sorter.len()).sum::<usize>() >= least {
            filter.insert_sorted(&mut sorters, self.sorters.len());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
