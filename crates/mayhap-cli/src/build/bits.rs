//! Bloom filters, filled by many threads.

use mayhap::bloom::{BulkFill, BulkInserter};
use mayhap::{AnyFilter, BloomFilter, Digest, SharedBloomFilter, SharedClassicBloom};

use crate::failure::Failure;
use crate::filter_file::FilterFile;

/// Blocks of a filter, times threads, up to which digests wait until there are many for one part of it (128 MiB of them
/// in all): then there are two for each block at a time, and it pays.
const MOST_WITH_LISTS: u64 = 8 << 20;
/// Bits are set in pieces of so many digests.
const TOGETHER: usize = 1024;

/// A filter whose bits are set from all threads.
#[derive(Debug)]
pub(super) struct BitFilter {
    filter: Kind,
    threads: usize,
}

#[derive(Debug)]
enum Kind {
    /// Part by part: no bit is set atomically, which would take half of all the time.
    Owned(BloomFilter),
    /// By each thread for itself: too large for the other way.
    Shared(SharedBloomFilter),
    Classic(SharedClassicBloom),
}

/// A filter while it is being filled.
pub(super) enum Filling<'filter> {
    Parts(BulkFill<'filter>),
    Shared(&'filter SharedBloomFilter),
    Classic(&'filter SharedClassicBloom),
}

/// What one thread sets bits with.
pub(super) enum Setter<'fill, 'filter> {
    Parts(BulkInserter<'fill, 'filter>),
    Shared(&'fill SharedBloomFilter),
    Classic(&'fill SharedClassicBloom),
}

impl BitFilter {
    pub(super) fn new(filter: AnyFilter, threads: usize) -> Result<Self, Failure> {
        let filter = match filter {
            AnyFilter::Bloom(filter) => {
                if filter.block_count().saturating_mul(threads as u64) <= MOST_WITH_LISTS {
                    Kind::Owned(filter)
                } else {
                    Kind::Shared(filter.into_shared())
                }
            }
            AnyFilter::Classic(filter) => Kind::Classic(filter.into_shared()),
            other => {
                return Err(Failure::Message(format!(
                    "a {} can't be filled by several threads",
                    other.kind()
                )));
            }
        };
        Ok(Self { filter, threads })
    }

    pub(super) fn filling(&mut self) -> Filling<'_> {
        match &mut self.filter {
            Kind::Owned(filter) => Filling::Parts(filter.bulk_fill(self.threads)),
            Kind::Shared(filter) => Filling::Shared(filter),
            Kind::Classic(filter) => Filling::Classic(filter),
        }
    }

    /// Adds very many digests, on all threads.
    pub(super) fn set_many(&mut self, digests: &[Digest]) {
        if let Kind::Owned(filter) = &mut self.filter {
            return filter.insert_bulk(digests, self.threads);
        }
        let share = digests.len().div_ceil(self.threads).max(TOGETHER);
        let filling = self.filling();
        std::thread::scope(|scope| {
            for part in digests.chunks(share) {
                let mut setter = filling.setter();
                scope.spawn(move || part.chunks(TOGETHER).for_each(|digests| setter.set(digests)));
            }
        });
    }

    pub(super) fn into_file(self) -> FilterFile {
        FilterFile::Filter(match self.filter {
            Kind::Owned(filter) => filter.into(),
            Kind::Shared(filter) => filter.into_owned().into(),
            Kind::Classic(filter) => filter.into_owned().into(),
        })
    }
}

impl<'filter> Filling<'filter> {
    /// For one thread.
    pub(super) fn setter(&self) -> Setter<'_, 'filter> {
        match self {
            Self::Parts(fill) => Setter::Parts(fill.inserter()),
            Self::Shared(filter) => Setter::Shared(filter),
            Self::Classic(filter) => Setter::Classic(filter),
        }
    }

    /// Sets what the threads have put aside.
    pub(super) fn finish<'fill>(&'fill self, setters: impl IntoIterator<Item = Setter<'fill, 'filter>>) {
        if let Self::Parts(fill) = self {
            fill.finish(setters.into_iter().filter_map(|setter| match setter {
                Setter::Parts(inserter) => Some(inserter),
                Setter::Shared(_) | Setter::Classic(_) => None,
            }));
        }
    }
}

impl Setter<'_, '_> {
    /// Adds some digests.
    pub(super) fn set(&mut self, digests: &[Digest]) {
        match self {
            Self::Parts(inserter) => inserter.insert(digests),
            Self::Shared(filter) => filter.set_hashes(digests),
            Self::Classic(filter) => filter.set_hashes(digests),
        }
    }
}
