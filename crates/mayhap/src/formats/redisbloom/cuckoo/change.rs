//! Adding and removing keys.

use super::shape::MAX_TABLES;
use super::{Places, RedisCuckoo, Table};
use crate::bits::AllocError;
use crate::filter::InsertError;
use crate::hash::Key;

impl RedisCuckoo {
    /// Adds a key, once more if it is there already: `CF.ADD`.
    ///
    /// # Errors
    /// [`InsertError::TooManyLayers`] ("Maximum expansions reached") when the filter has as many sub-filters as
    /// [`limits`](Self::limits) allow, even if there is room in them; [`InsertError::Full`] ("Filter is full") when there
    /// is no room and the expansion is 0; [`InsertError::Alloc`] when there is no memory to grow into, or no more is
    /// allowed. The filter is as it was then, byte for byte.
    #[inline]
    pub fn add<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), InsertError> {
        self.add_hash(Self::hash(key))
    }

    /// [`add`](Self::add) for a key that was hashed already.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    #[inline]
    pub fn add_hash(&mut self, hash: u64) -> Result<(), InsertError> {
        self.check_expansions()?;
        self.place(&Places::of(hash))
    }

    /// Adds a key if it isn't there: `CF.ADDNX`. True if it was new, and has been added.
    ///
    /// Don't follow a false with [`remove`](Self::remove): a new key that looks like an old one is not added, and
    /// removing it would remove the other.
    ///
    /// # Errors
    /// As [`add`](Self::add); with too many sub-filters also for a key that is there.
    #[inline]
    pub fn add_unique<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, InsertError> {
        self.add_unique_hash(Self::hash(key))
    }

    /// [`add_unique`](Self::add_unique) for a key that was hashed already.
    ///
    /// # Errors
    /// As [`add_unique`](Self::add_unique).
    #[inline]
    pub fn add_unique_hash(&mut self, hash: u64) -> Result<bool, InsertError> {
        self.check_expansions()?;
        self.place_unique(&Places::of(hash))
    }

    /// Removes a key, once: `CF.DEL`. False if it was not there.
    ///
    /// Only remove what was added: another key that looks the same would go instead. This may
    /// [compact](Self::compact) the filter, which looks at every slot.
    #[inline]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.remove_hash(Self::hash(key))
    }

    /// [`remove`](Self::remove) for a key that was hashed already.
    #[inline]
    pub fn remove_hash(&mut self, hash: u64) -> bool {
        self.take(&Places::of(hash))
    }

    /// Empties the filter: one sub-filter, no keys, the same settings.
    pub fn clear(&mut self) {
        self.tables.truncate(1);
        self.tables.iter_mut().for_each(|table| table.slots_mut().fill(0));
        (self.items, self.deletes) = (0, 0);
    }

    /// Refuses to add anything at the limit. RedisBloom looks at it once in a command, before the first key.
    pub(super) fn check_expansions(&self) -> Result<(), InsertError> {
        let limit = u64::from(self.limits.max_expansions);
        if self.sub_filters() >= limit { Err(InsertError::TooManyLayers { limit }) } else { Ok(()) }
    }

    pub(super) fn place(&mut self, places: &Places) -> Result<(), InsertError> {
        let placed = self.tables.iter_mut().rev().any(|table| table.insert(places))
            || self.tables.last_mut().is_some_and(|newest| newest.evict(places, self.shape.max_iterations));
        if !placed {
            // Nothing has changed so far, and nothing changes if it can't grow.
            let mut table = self.next_table()?;
            table.insert(places);
            self.tables.push(table);
        }
        self.items = self.items.saturating_add(1);
        Ok(())
    }

    pub(super) fn place_unique(&mut self, places: &Places) -> Result<bool, InsertError> {
        let new = !self.holds(places);
        if new {
            self.place(places)?;
        }
        Ok(new)
    }

    pub(super) fn take(&mut self, places: &Places) -> bool {
        let taken = self.tables.iter_mut().rev().any(|table| table.remove(places));
        if taken {
            self.items = self.items.saturating_sub(1);
            self.deletes = self.deletes.saturating_add(1);
            self.compact_if_due();
        }
        taken
    }

    /// The next sub-filter, empty. There is room for it in the list.
    fn next_table(&mut self) -> Result<Table, InsertError> {
        let number = self.sub_filters();
        if self.shape.expansion == 0 || number >= MAX_TABLES {
            return Err(InsertError::Full);
        }
        let bytes = self.shape.memory_of(number).unwrap_or(u64::MAX);
        let refused = AllocError { bytes };
        if self.memory_bytes().checked_add(bytes).is_none_or(|bytes| bytes > self.limits.max_bytes) {
            return Err(refused.into());
        }
        self.tables.try_reserve(1).map_err(|_| refused)?;
        let buckets = self.shape.buckets_of(number).ok_or(refused)?;
        Ok(Table::new(buckets, self.shape.bucket_size)?)
    }
}
