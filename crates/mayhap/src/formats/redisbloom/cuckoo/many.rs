//! Many keys at once: the lines of later ones are on their way while earlier ones are looked at.

use super::{Places, RedisCuckoo, Table};
use crate::bits::is_worth_prefetching;
use crate::filter::InsertError;
use crate::hash::Key;

/// What became of one key among many: the answers of `CF.INSERT` and `CF.INSERTNX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Added {
    /// It was added: 1.
    #[default]
    Added,
    /// It was there, or looks so, and was to be added only if not: 0.
    Present,
    /// There was no room for it, and the filter doesn't grow: −1.
    Full,
    /// The filter had to grow, and the memory couldn't be had, or no more is allowed.
    OutOfMemory,
}

/// Keys looked at together, two lines each in one sub-filter.
const GROUP: usize = 16;

impl RedisCuckoo {
    /// Asks for many keys at once: `found[i]` for `keys[i]`, as `CF.MEXISTS` does. The same as one by one, and faster
    /// when the filter is larger than the cache.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
        assert_eq!(keys.len(), found.len(), "one answer for each key");
        self.contains_many(keys.iter().map(Self::hash), found);
    }

    /// [`contains_each`](Self::contains_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hashes(&self, hashes: &[u64], found: &mut [bool]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        self.contains_many(hashes.iter().copied(), found);
    }

    /// Adds many keys: `answers[i]` for `keys[i]`, as `CF.INSERT` does.
    ///
    /// The limit of expansions is looked at once, before the first key, as RedisBloom does in a command of many keys: so
    /// a batch may end with more sub-filters than the limit. Otherwise it is the same as one by one. A key that is
    /// refused doesn't end the batch.
    ///
    /// # Errors
    /// [`InsertError::TooManyLayers`] when the limit is reached already; nothing has been added then, and the answers
    /// are as they were.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn add_each<K: Key>(&mut self, keys: &[K], answers: &mut [Added]) -> Result<(), InsertError> {
        assert_eq!(keys.len(), answers.len(), "one answer for each key");
        self.add_many(keys.iter().map(Self::hash), answers, false)
    }

    /// [`add_each`](Self::add_each) for keys that were hashed already.
    ///
    /// # Errors
    /// As [`add_each`](Self::add_each).
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn add_hashes(&mut self, hashes: &[u64], answers: &mut [Added]) -> Result<(), InsertError> {
        assert_eq!(hashes.len(), answers.len(), "one answer for each hash");
        self.add_many(hashes.iter().copied(), answers, false)
    }

    /// Adds those of many keys that aren't there: `answers[i]` for `keys[i]`, as `CF.INSERTNX` does.
    ///
    /// # Errors
    /// As [`add_each`](Self::add_each).
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn add_unique_each<K: Key>(&mut self, keys: &[K], answers: &mut [Added]) -> Result<(), InsertError> {
        assert_eq!(keys.len(), answers.len(), "one answer for each key");
        self.add_many(keys.iter().map(Self::hash), answers, true)
    }

    /// [`add_unique_each`](Self::add_unique_each) for keys that were hashed already.
    ///
    /// # Errors
    /// As [`add_each`](Self::add_each).
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn add_unique_hashes(&mut self, hashes: &[u64], answers: &mut [Added]) -> Result<(), InsertError> {
        assert_eq!(hashes.len(), answers.len(), "one answer for each hash");
        self.add_many(hashes.iter().copied(), answers, true)
    }

    /// Removes many keys, each once: `removed[i]` for `keys[i]`. The same as one by one.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn remove_each<K: Key>(&mut self, keys: &[K], removed: &mut [bool]) {
        assert_eq!(keys.len(), removed.len(), "one answer for each key");
        self.change_many(keys.iter().map(Self::hash), removed, Self::take);
    }

    /// [`remove_each`](Self::remove_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn remove_hashes(&mut self, hashes: &[u64], removed: &mut [bool]) {
        assert_eq!(hashes.len(), removed.len(), "one answer for each hash");
        self.change_many(hashes.iter().copied(), removed, Self::take);
    }

    /// Sub-filter by sub-filter for a group of keys, so that the lines under way are two for each key however many
    /// sub-filters there are, and a key that is found is asked for no further.
    fn contains_many(&self, mut hashes: impl Iterator<Item = u64>, found: &mut [bool]) {
        let mut places = [Places::default(); GROUP];
        for answers in found.chunks_mut(GROUP) {
            for (places, hash) in places[..answers.len()].iter_mut().zip(&mut hashes) {
                *places = Places::of(hash);
            }
            answers.fill(false);
            let ask = |table: &Table| ask(table, &places[..answers.len()], answers);
            if self.newest_first() {
                self.tables.iter().rev().for_each(ask);
            } else {
                self.tables.iter().for_each(ask);
            }
        }
    }

    fn add_many(
        &mut self,
        hashes: impl Iterator<Item = u64>,
        answers: &mut [Added],
        unique: bool,
    ) -> Result<(), InsertError> {
        self.check_expansions()?;
        self.change_many(hashes, answers, |filter, places| {
            let new = if unique { filter.place_unique(places) } else { filter.place(places).map(|()| true) };
            match new {
                Ok(true) => Added::Added,
                Ok(false) => Added::Present,
                Err(InsertError::Alloc(_)) => Added::OutOfMemory,
                Err(_) => Added::Full,
            }
        });
        Ok(())
    }

    /// Changes the filter by one key after the other. A change may need any sub-filter, so the lines of all are asked
    /// for, of fewer keys at a time where there are many.
    fn change_many<A>(
        &mut self,
        mut hashes: impl Iterator<Item = u64>,
        answers: &mut [A],
        change: impl Fn(&mut Self, &Places) -> A,
    ) {
        let mut places = [Places::default(); GROUP];
        let mut rest = answers;
        while !rest.is_empty() {
            let group = (GROUP / self.tables.len().max(1)).clamp(1, rest.len());
            let (answers, later) = rest.split_at_mut(group);
            for (places, hash) in places[..group].iter_mut().zip(&mut hashes) {
                *places = Places::of(hash);
                self.tables
                    .iter()
                    .rev()
                    .filter(|table| is_large(table))
                    .for_each(|table| table.prefetch(places));
            }
            for (places, answer) in places.iter().zip(answers) {
                *answer = change(self, places);
            }
            rest = later;
        }
    }
}

/// Asks one sub-filter for the keys that were not found so far.
#[inline(always)]
fn ask(table: &Table, places: &[Places], found: &mut [bool]) {
    if is_large(table) {
        let absent = places.iter().zip(&*found).filter(|(_, found)| !**found);
        absent.for_each(|(places, _)| table.prefetch(places));
    }
    for (places, found) in places.iter().zip(found) {
        *found = *found || table.holds(places);
    }
}

fn is_large(table: &Table) -> bool {
    is_worth_prefetching(table.len() as u64)
}
