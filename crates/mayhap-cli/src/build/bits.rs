//! Bloom filters, filled by many threads.

use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};
use std::thread;

use mayhap::bloom::BulkMemory;
use mayhap::{AnyFilter, BloomFilter, Digest, SharedBloomFilter, SharedClassicBloom};

use crate::failure::Failure;
use crate::filter_file::FilterFile;

/// Digests collected before they are sorted by the part of the filter they belong to: 8 MiB to 64 MiB, and as much for
/// sorting.
const SLABS: RangeInclusive<u64> = 1 << 20..=8 << 20;
/// Sorting pays when there are so many digests for a block.
const PER_BLOCK: u64 = 2;
/// It pays more when there are more, because every slab brings all of the filter into the cache once.
const BEST_PER_BLOCK: u64 = 8;
/// Bits are set in pieces of so many digests.
const TOGETHER: usize = 1024;

/// A filter whose bits are set from all threads.
pub(super) enum BitFilter {
    /// By all of them together, a slab at a time: no bit is set atomically, which would take half of all the time.
    Sorted(Mutex<Slab>),
    /// By each for itself: too large for the other way.
    Shared(SharedBloomFilter, usize),
    Classic(SharedClassicBloom, usize),
}

/// A filter, and digests on their way into it.
pub(super) struct Slab {
    filter: BloomFilter,
    digests: Vec<Digest>,
    memory: BulkMemory,
    most: usize,
    threads: usize,
}

impl BitFilter {
    pub(super) fn new(filter: AnyFilter, threads: usize) -> Result<Self, Failure> {
        match filter {
            AnyFilter::Bloom(filter) if filter.block_count() * PER_BLOCK <= *SLABS.end() => {
                let most = (filter.block_count() * BEST_PER_BLOCK).clamp(*SLABS.start(), *SLABS.end());
                let most = usize::try_from(most).unwrap_or(usize::MAX);
                Ok(Self::Sorted(Mutex::new(Slab {
                    filter,
                    digests: Vec::new(),
                    memory: BulkMemory::new(),
                    most,
                    threads,
                })))
            }
            AnyFilter::Bloom(filter) => Ok(Self::Shared(filter.into_shared(), threads)),
            AnyFilter::Classic(filter) => Ok(Self::Classic(filter.into_shared(), threads)),
            other => Err(Failure::Message(format!("a {} can't be filled by several threads", other.kind()))),
        }
    }

    /// Adds some digests.
    pub(super) fn set(&self, digests: &[Digest]) {
        match self {
            Self::Sorted(slab) => slab.lock().unwrap_or_else(PoisonError::into_inner).push(digests),
            Self::Shared(filter, _) => filter.set_hashes(digests),
            Self::Classic(filter, _) => filter.set_hashes(digests),
        }
    }

    /// Adds very many digests, on all threads.
    pub(super) fn set_many(&self, digests: &[Digest]) {
        match self {
            Self::Sorted(slab) => {
                let mut slab = slab.lock().unwrap_or_else(PoisonError::into_inner);
                let Slab { filter, memory, threads, .. } = &mut *slab;
                filter.insert_bulk_with(memory, digests, *threads);
            }
            Self::Shared(_, threads) | Self::Classic(_, threads) => {
                let share = digests.len().div_ceil(*threads).max(TOGETHER);
                thread::scope(|scope| {
                    for part in digests.chunks(share) {
                        scope.spawn(|| part.chunks(TOGETHER).for_each(|digests| self.set(digests)));
                    }
                });
            }
        }
    }

    pub(super) fn into_file(self) -> FilterFile {
        FilterFile::Filter(match self {
            Self::Sorted(slab) => {
                let mut slab = slab.into_inner().unwrap_or_else(PoisonError::into_inner);
                slab.flush();
                slab.filter.into()
            }
            Self::Shared(filter, _) => filter.into_owned().into(),
            Self::Classic(filter, _) => filter.into_owned().into(),
        })
    }
}

impl Slab {
    fn push(&mut self, digests: &[Digest]) {
        if self.digests.len() + digests.len() > self.most {
            self.flush();
        }
        self.digests.extend_from_slice(digests);
    }

    fn flush(&mut self) {
        self.filter.insert_bulk_with(&mut self.memory, &self.digests, self.threads);
        self.digests.clear();
    }
}
