//! Union, and starting again.

use super::DualBloom;
use crate::bits::Blocks;
use crate::bloom::BloomFilter;
use crate::error::Error;
use crate::merge_error::MergeError;

impl DualBloom {
    /// Adds every key of `other`, and removes every key that was removed there: **a key that either filter removed is
    /// removed**, whatever the other says, as when all had happened to one filter and the removals last.
    ///
    /// Sides of different sizes are folded as [`BloomFilter::merge`] does.
    ///
    /// ```
    /// use mayhap::DualBloom;
    ///
    /// let mut east = DualBloom::with_rate(1_000, 0.001)?;
    /// let mut west = east.empty_like()?;
    /// east.insert("ada")?;
    /// west.insert("ada")?;
    /// west.insert("grace")?;
    /// east.remove("ada");
    /// east.merge(&west)?;
    /// assert!(east.contains("grace") && !east.contains("ada"));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the two hash differently, or their sides have different shapes or sizes that don't fit. Nothing is changed
    /// then.
    pub fn merge<T: Blocks>(&mut self, other: &DualBloom<T>) -> Result<(), MergeError> {
        // The side that could still fail when the other is merged already is merged in a copy. Alike, it can't fail.
        if alike(&self.removed, &other.removed) {
            self.added.merge(&other.added)?;
            return self.removed.merge(&other.removed);
        }
        let mut removed = copy(&self.removed)?;
        removed.merge(&other.removed)?;
        self.added.merge(&other.added)?;
        self.removed = removed;
        Ok(())
    }

    /// Empties both sides: removed keys can be added again. Sizes and plan stay.
    pub fn clear(&mut self) {
        self.added.clear();
        self.removed.clear();
    }
}

/// Whether merging the two takes no memory, and so can't fail.
fn alike<S: Blocks, T: Blocks>(ours: &BloomFilter<S>, theirs: &BloomFilter<T>) -> bool {
    ours.hasher() == theirs.hasher()
        && ours.shape() == theirs.shape()
        && ours.block_count() == theirs.block_count()
}

/// A clone whose memory may not be had.
fn copy(filter: &BloomFilter) -> Result<BloomFilter, MergeError> {
    let mut copy = filter.empty_like().map_err(|error| match error {
        Error::Alloc(error) => MergeError::Alloc(error),
        // There is no other way to fail.
        _ => MergeError::Alloc(crate::bits::AllocError { bytes: filter.len_bytes() }),
    })?;
    copy.merge(filter)?;
    Ok(copy)
}
