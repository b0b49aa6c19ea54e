//! RedisBloom's cuckoo filter: sub-filters of buckets of one-byte fingerprints.

#![allow(clippy::cast_possible_truncation, reason = "the filters of this test are small")]

use super::murmur;

/// The sub-filters, the oldest first.
#[derive(Clone, Debug)]
pub(crate) struct Cuckoo {
    /// Each is all slots of all buckets, one after the other; 0 is an empty slot.
    filters: Vec<Vec<u8>>,
    buckets: u64,
    bucket_size: u16,
    max_iterations: u16,
    expansion: u16,
    items: u64,
    deletes: u64,
}

/// There is no room, and the filter doesn't grow.
#[derive(Debug)]
pub(crate) struct Full;

/// Where an item may be: in two buckets, as this fingerprint.
#[derive(Clone, Copy)]
struct Place {
    fingerprint: u8,
    first: u64,
    second: u64,
}

impl Place {
    fn of(item: &[u8]) -> Self {
        let hash = murmur::hash(item, 0);
        Self::at((hash % 255 + 1) as u8, hash)
    }

    /// Of a fingerprint in this bucket.
    fn at(fingerprint: u8, bucket: u64) -> Self {
        Self { fingerprint, first: bucket, second: bucket ^ (u64::from(fingerprint) * 0x5bd1_e995) }
    }
}

impl Cuckoo {
    pub(crate) fn new(capacity: u64, bucket_size: u16, max_iterations: u16, expansion: u16) -> Self {
        let buckets = (capacity / u64::from(bucket_size)).next_power_of_two();
        let expansion = if expansion == 0 { 0 } else { expansion.next_power_of_two() };
        let filters = Vec::new();
        let mut cuckoo =
            Self { filters, buckets, bucket_size, max_iterations, expansion, items: 0, deletes: 0 };
        cuckoo.grow();
        cuckoo
    }

    pub(crate) fn has(&self, item: &[u8]) -> bool {
        self.count(item) > 0
    }

    /// Both buckets are counted, even if they are the same one.
    pub(crate) fn count(&self, item: &[u8]) -> u64 {
        let place = Place::of(item);
        let mut count = 0;
        for filter in &self.filters {
            for bucket in [place.first, place.second] {
                count += self.slots(filter, bucket).filter(|slot| filter[*slot] == place.fingerprint).count();
            }
        }
        count as u64
    }

    pub(crate) fn add(&mut self, item: &[u8]) -> Result<(), Full> {
        let place = Place::of(item);
        for index in (0..self.filters.len()).rev() {
            if let Some(slot) = self.free_slot(&self.filters[index], place) {
                self.filters[index][slot] = place.fingerprint;
                self.items += 1;
                return Ok(());
            }
        }
        if let Some(newest) = self.with_others_moved(place) {
            *self.filters.last_mut().unwrap() = newest;
            self.items += 1;
            return Ok(());
        }
        if self.expansion == 0 {
            return Err(Full);
        }
        self.grow();
        self.add(item)
    }

    pub(crate) fn delete(&mut self, item: &[u8]) -> bool {
        let place = Place::of(item);
        for index in (0..self.filters.len()).rev() {
            let filter = &self.filters[index];
            let mut slots = self.slots(filter, place.first).chain(self.slots(filter, place.second));
            let Some(slot) = slots.find(|slot| filter[*slot] == place.fingerprint) else { continue };
            self.filters[index][slot] = 0;
            self.items -= 1;
            self.deletes += 1;
            if self.filters.len() > 1 && self.deletes as f64 > self.items as f64 * 0.1 {
                self.compact(false);
            }
            return true;
        }
        false
    }

    /// Moves items out of the newest sub-filters. Unless `all`, one that can't be emptied ends it.
    pub(crate) fn compact(&mut self, all: bool) {
        for index in (1..self.filters.len()).rev() {
            let is_empty = self.empty(index);
            if is_empty && index == self.filters.len() - 1 {
                self.filters.pop();
            }
            if !is_empty && !all {
                break;
            }
        }
        self.deletes = 0;
    }

    /// Moves each fingerprint to the oldest sub-filter that has room for it. Whether none stayed.
    fn empty(&mut self, index: usize) -> bool {
        let mut is_empty = true;
        for slot in 0..self.filters[index].len() {
            let fingerprint = self.filters[index][slot];
            if fingerprint == 0 {
                continue;
            }
            let place = Place::at(fingerprint, slot as u64 / u64::from(self.bucket_size));
            let to = (0..index).find_map(|older| Some((older, self.free_slot(&self.filters[older], place)?)));
            match to {
                Some((older, free)) => {
                    self.filters[older][free] = fingerprint;
                    self.filters[index][slot] = 0;
                }
                None => is_empty = false,
            }
        }
        is_empty
    }

    pub(crate) fn filters(&self) -> u64 {
        self.filters.len() as u64
    }

    /// The values of `CF.INFO`, in its order.
    pub(crate) fn info(&self) -> [(&'static str, u64); 8] {
        let slots: usize = self.filters.iter().map(Vec::len).sum();
        [
            ("Size", 40 + 16 * self.filters() + slots as u64),
            ("Number of buckets", self.buckets),
            ("Number of filters", self.filters()),
            ("Number of items inserted", self.items),
            ("Number of items deleted", self.deletes),
            ("Bucket size", self.bucket_size.into()),
            ("Expansion rate", self.expansion.into()),
            ("Max iterations", self.max_iterations.into()),
        ]
    }

    pub(crate) fn debug(&self) -> String {
        let Self { filters, buckets, bucket_size, max_iterations, expansion, items, deletes } = self;
        let filters = filters.len();
        format!(
            "bktsize:{bucket_size} buckets:{buckets} items:{items} deletes:{deletes} filters:{filters} \
             max_iterations:{max_iterations} expansion:{expansion}"
        )
    }

    /// One step of `CF.SCANDUMP`: the next position, and the bytes; nothing at the end.
    pub(crate) fn scan_dump(&self, position: i64) -> Option<(i64, Vec<u8>)> {
        if position == 0 {
            return (self.items > 0).then(|| (1, self.header()));
        }
        let mut start = 1;
        for filter in &self.filters {
            let end = start + filter.len() as i64;
            if (start..end).contains(&position) {
                return Some((position + filter.len() as i64, filter.clone()));
            }
            start = end;
        }
        None
    }

    fn header(&self) -> Vec<u8> {
        let numbers = [self.items, self.buckets, self.deletes, self.filters.len() as u64];
        let mut header: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        for number in [self.bucket_size, self.max_iterations, self.expansion] {
            header.extend(number.to_le_bytes());
        }
        header
    }

    fn grow(&mut self) {
        let mut slots = self.buckets * u64::from(self.bucket_size);
        for _ in &self.filters {
            slots *= u64::from(self.expansion);
        }
        self.filters.push(vec![0; slots as usize]);
    }

    /// The newest sub-filter with the item in it, after others have made room; nothing if that takes too many moves.
    fn with_others_moved(&self, place: Place) -> Option<Vec<u8>> {
        let mut filter = self.filters.last().unwrap().clone();
        let (mut fingerprint, mut bucket) = (place.fingerprint, place.first);
        for turn in 0..usize::from(self.max_iterations) {
            let slots = self.slots(&filter, bucket);
            let victim = slots.start + turn % usize::from(self.bucket_size);
            std::mem::swap(&mut filter[victim], &mut fingerprint);
            bucket = Place::at(fingerprint, bucket).second;
            if let Some(free) = self.slots(&filter, bucket).find(|slot| filter[*slot] == 0) {
                filter[free] = fingerprint;
                return Some(filter);
            }
        }
        None
    }

    fn free_slot(&self, filter: &[u8], place: Place) -> Option<usize> {
        let mut slots = self.slots(filter, place.first).chain(self.slots(filter, place.second));
        slots.find(|slot| filter[*slot] == 0)
    }

    /// The slots of a bucket, whose number is taken modulo the buckets of this sub-filter.
    fn slots(&self, filter: &[u8], bucket: u64) -> std::ops::Range<usize> {
        let size = usize::from(self.bucket_size);
        let buckets = (filter.len() / size) as u64;
        let start = (bucket % buckets) as usize * size;
        start..start + size
    }
}
