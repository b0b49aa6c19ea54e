//! Adding items, and growing when there is no room for a new one.

use super::{Link, RedisBloom, RedisHash, RedisLink};
use crate::bloom::kernel::count_true;
use crate::filter::InsertError;
use crate::hash::Key;
use crate::newest_first::{Growing, TOGETHER, add_to, look_in};

impl RedisBloom {
    /// `BF.ADD`: adds an item. True if it was new, as the command answers 1.
    ///
    /// False means that it was there already, or looks so; then nothing is counted.
    ///
    /// # Errors
    /// [`InsertError::Full`] when the item is new, the newest link is full, and the filter doesn't
    /// [scale](Self::is_scaling) ("non scaling filter is full") or can't be larger ("problem inserting into filter").
    /// [`InsertError::Alloc`] when the memory for the next link can't be had. The filter is unchanged then.
    #[inline]
    pub fn add<K: Key + ?Sized>(&mut self, item: &K) -> Result<bool, InsertError> {
        let hash = self.hash(item);
        self.add_hash(hash)
    }

    /// [`add`](Self::add) for an item that was hashed already.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    #[inline]
    pub fn add_hash(&mut self, hash: RedisHash) -> Result<bool, InsertError> {
        if self.contains_hash(hash) {
            return Ok(false);
        }
        if self.room() == 0 {
            self.grow()?;
        }
        if let Some(newest) = self.links.last_mut() {
            newest.filter.insert_hash(hash);
            newest.figures.size += 1;
        }
        Ok(true)
    }

    /// `BF.MADD`: adds many items, with the same outcome as one by one in order. `new[i]` tells whether `items[i]` was
    /// new.
    ///
    /// Returns how many were answered, and why not all: in RedisBloom's reply the error stands in the place of the
    /// next, and what comes after it is neither added nor answered. (`new` is false there.)
    ///
    /// ```
    /// use mayhap::{filter::InsertError, formats::redisbloom::RedisBloom};
    ///
    /// let mut filter = RedisBloom::reserve(0.01, 2, 2, false)?;
    /// let mut new = [false; 5];
    /// let (answered, outcome) = filter.add_each(&["a", "b", "a", "c", "b"], &mut new);
    /// assert_eq!((answered, outcome), (3, Err(InsertError::Full)));
    /// assert_eq!(new, [true, true, false, false, false]);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn add_each<K: Key>(&mut self, items: &[K], new: &mut [bool]) -> (usize, Result<(), InsertError>) {
        assert_eq!(items.len(), new.len(), "one answer for each item");
        new.fill(false);
        let mut hashes = [RedisHash::default(); TOGETHER];
        let mut answered = 0;
        for (items, new) in items.chunks(TOGETHER).zip(new.chunks_mut(TOGETHER)) {
            let hashes = self.hash_each(items, &mut hashes);
            if let Err((place, error)) = add_to(self, hashes, new) {
                return (answered + place, Err(error));
            }
            answered += items.len();
        }
        (answered, Ok(()))
    }

    /// [`add_each`](Self::add_each) for items that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn add_hashes(&mut self, hashes: &[RedisHash], new: &mut [bool]) -> (usize, Result<(), InsertError>) {
        assert_eq!(hashes.len(), new.len(), "one answer for each hash");
        new.fill(false);
        let mut answered = 0;
        for (hashes, new) in hashes.chunks(TOGETHER).zip(new.chunks_mut(TOGETHER)) {
            if let Err((place, error)) = add_to(self, hashes, new) {
                return (answered + place, Err(error));
            }
            answered += hashes.len();
        }
        (answered, Ok(()))
    }

    /// New items that can be added before the filter grows, or refuses them.
    #[must_use]
    #[inline]
    pub fn room(&self) -> u64 {
        self.links.last().map_or(0, Link::room)
    }

    /// The bytes by which the filter grows when it has no more room; nothing if it never does.
    ///
    /// ```
    /// use mayhap::formats::redisbloom::RedisBloom;
    ///
    /// let filter = RedisBloom::reserve(0.01, 100, 2, true)?;
    /// assert_eq!(filter.next_link_bytes(), Some(312));
    /// assert_eq!(RedisBloom::reserve(0.01, 100, 2, false)?.next_link_bytes(), None);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[must_use]
    pub fn next_link_bytes(&self) -> Option<u64> {
        self.next_link().map(|figures| figures.bytes)
    }

    fn next_link(&self) -> Option<RedisLink> {
        let newest = &self.links.last()?.figures;
        newest.next(self.growth, self.options).filter(|_| self.options.scales())
    }
}

impl Growing for RedisBloom {
    type Digest = RedisHash;

    fn ask_older(&self, hashes: &[RedisHash], found: &mut [bool]) {
        let older = self.links.split_last().map_or(&[][..], |(_, older)| older);
        look_in(older.iter().rev(), hashes, found, |link, hashes, found| {
            link.filter.contains_hashes(hashes, found);
        });
    }

    fn ask_newest(&self, hashes: &[RedisHash], found: &mut [bool]) {
        if let Some(newest) = self.links.last() {
            newest.filter.contains_hashes(hashes, found);
        }
    }

    fn room_in_newest(&self) -> u64 {
        self.room()
    }

    fn add_to_newest(&mut self, hashes: &[RedisHash], new: &mut [bool]) {
        if let Some(newest) = self.links.last_mut() {
            newest.filter.insert_hashes(hashes, new);
            newest.figures.size += count_true(new) as u64;
        }
    }

    #[cold]
    fn grow(&mut self) -> Result<(), InsertError> {
        let figures = self.next_link().ok_or(InsertError::Full)?;
        let link = Link::empty(figures, self.recipe()).map_err(InsertError::Alloc)?;
        self.push(link).map_err(InsertError::Alloc)
    }
}
