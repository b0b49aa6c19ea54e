//! One growing filter, many threads.
//!
//! Asking takes no lock: layers are only ever added, and a full one never changes again. Adding a key that no layer has
//! takes the short spin locks of its blocks in the newest layer. Growing takes all of them, after the new
//! layer has been made: so whoever holds one knows that the newest layer is still the newest, and that all others are
//! as they will be for ever. That is why "new" is answered to exactly one of the threads that add a key at the same
//! time, even while the filter grows.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::builder::{Coming, Settings};
use super::file::header;
use super::layer::Layer;
use super::{Growth, LayerInfo, ScalableBloom};
use crate::bits::Shared;
use crate::bloom::BloomFilter;
use crate::codec::FormatError;
use crate::filter::InsertError;
use crate::hash::{Digest, Key, KeyHasher};
use crate::newest_first::{TOGETHER, look_in};
use crate::sizing::layers::MAX_LAYERS;
use crate::sizing::{BlockedPlan, SizingError, lowest_rate};

/// A [`ScalableBloom`] that many threads add to.
///
/// ```
/// use mayhap::ScalableBloom;
///
/// let taken = ScalableBloom::with_rate(100, 0.001)?.into_shared();
/// std::thread::scope(|scope| {
///     let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| {
///         (0..1_000u32).filter(|nickname| taken.insert(nickname) == Ok(true)).count()
///     })).collect();
///     let given: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
///     assert_eq!(given as u64, taken.len(), "each nickname went to one of them");
/// });
/// assert!(taken.layer_count() > 1 && taken.contains(&999u32));
/// # Ok::<(), mayhap::Error>(())
/// ```
pub struct SharedScalableBloom {
    layers: Layers,
    /// All but the most bytes, which are beside it.
    settings: Settings,
    max_bytes: AtomicU64,
    hasher: KeyHasher,
    /// Held by whoever makes a layer, or keeps others from making one: what the layer to come will be, if it is known.
    growing: Mutex<Option<Box<Coming>>>,
}

struct SharedLayer {
    filter: BloomFilter<Shared>,
    planned: u64,
    /// Raised before the bits are set, so never above `planned` in a filter that grows.
    inserted: AtomicU64,
}

impl ScalableBloom {
    /// Lets many threads add to this filter. Nothing is copied.
    #[must_use]
    pub fn into_shared(self) -> SharedScalableBloom {
        let layers = Layers::default();
        for layer in self.older.into_iter().chain([self.newest]) {
            let Layer { filter, planned, inserted } = layer;
            layers.push(SharedLayer {
                filter: filter.into_shared(),
                planned,
                inserted: AtomicU64::new(inserted),
            });
        }
        SharedScalableBloom {
            layers,
            settings: self.settings,
            max_bytes: AtomicU64::new(self.settings.max_bytes),
            hasher: self.hasher,
            growing: Mutex::new(self.coming),
        }
    }
}

impl SharedScalableBloom {
    /// Takes the filter back from the threads. Nothing is copied.
    #[must_use]
    pub fn into_owned(self) -> ScalableBloom {
        let settings = self.settings();
        let mut layers: Vec<Layer> = self.layers.into_layers().map(SharedLayer::into_owned).collect();
        let Some(newest) = layers.pop() else { unreachable!("a filter has a layer") };
        ScalableBloom { older: layers, newest, settings, hasher: self.hasher, coming: None }
    }

    /// The digest of a key, for the `*_hash` methods of this filter and of others with an equal hasher.
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> Digest {
        self.hasher.digest(key)
    }

    /// Whether the key may be in the set. `false` is certain. Takes no lock.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// [`contains`](Self::contains) for a key that was hashed already.
    #[inline]
    pub fn contains_hash(&self, digest: Digest) -> bool {
        self.layers.newest_first(self.layers.count()).any(|layer| layer.filter.contains_hash(digest))
    }

    /// Starts loading the lines of the newest layer that a question about this key will read:
    /// [`BloomFilter::prefetch_hash`].
    #[inline]
    pub fn prefetch_hash(&self, digest: Digest) {
        if let Some(newest) = self.layers.newest_first(self.layers.count()).next() {
            newest.filter.prefetch_hash(digest);
        }
    }

    /// Asks for many keys that were hashed already: `found[i]` tells whether that of `digests[i]` may be in the set.
    /// Takes no lock.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hashes(&self, digests: &[Digest], found: &mut [bool]) {
        assert_eq!(digests.len(), found.len(), "one answer for each digest");
        let count = self.layers.count();
        for (digests, found) in digests.chunks(TOGETHER).zip(found.chunks_mut(TOGETHER)) {
            let mut layers = self.layers.newest_first(count);
            if let Some(newest) = layers.next() {
                newest.filter.contains_hashes(digests, found);
            }
            look_in(layers, digests, found, |layer, digests, found| {
                layer.filter.contains_hashes(digests, found);
            });
        }
    }

    /// Adds a key; true for exactly one of the threads that add it at the same time.
    ///
    /// # Errors
    /// As [`ScalableBloom::insert`]: when the key is new and there is no room for it. The filter is unchanged then.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> Result<bool, InsertError> {
        self.insert_hash(self.hash(key))
    }

    /// [`insert`](Self::insert) for a key that was hashed already.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_hash(&self, digest: Digest) -> Result<bool, InsertError> {
        loop {
            let count = self.layers.count();
            if self.layers.newest_first(count).any(|layer| layer.filter.contains_hash(digest)) {
                return Ok(false);
            }
            if let Some(new) = self.insert_newest(count, digest) {
                return Ok(new);
            }
            self.grow(count)?;
        }
    }

    /// Adds many keys that were hashed already: `new[i]` tells whether that of `digests[i]` was new. The same as adding
    /// them one by one in order.
    ///
    /// # Errors
    /// When a key found no room. The keys before it are in the filter, and `new` tells of them; those after it are not,
    /// and `new` is false for it and for them. Also tells how many were dealt with: the place of the one that failed.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_hashes(&self, digests: &[Digest], new: &mut [bool]) -> Result<(), (usize, InsertError)> {
        assert_eq!(digests.len(), new.len(), "one answer for each digest");
        new.fill(false);
        let mut found = [false; TOGETHER];
        for (chunk, (digests, new)) in digests.chunks(TOGETHER).zip(new.chunks_mut(TOGETHER)).enumerate() {
            let found = &mut found[..digests.len()];
            // Answers most of them, and brings the lines of the rest into the cache.
            self.contains_hashes(digests, found);
            for (place, digest) in digests.iter().enumerate().filter(|(place, _)| !found[*place]) {
                new[place] = self.insert_hash(*digest).map_err(|error| (chunk * TOGETHER + place, error))?;
            }
        }
        Ok(())
    }

    /// Adds a key that no older layer has to the newest, unless it has been there since: whether it was new. Nothing
    /// when the filter has grown since there were `count` layers, or must grow first.
    #[inline]
    fn insert_newest(&self, count: usize, digest: Digest) -> Option<bool> {
        let newest = self.layers.get(count - 1)?;
        let _held = newest.filter.lock_hash(digest);
        if self.layers.count() != count {
            return None;
        }
        if newest.filter.contains_hash(digest) {
            return Some(false);
        }
        if !newest.take_room(self.settings.growth) {
            return None;
        }
        newest.filter.set_locked_hash(digest);
        Some(true)
    }

    /// Puts a layer on top, if there are still only `count`, or says why not.
    #[cold]
    fn grow(&self, count: usize) -> Result<(), InsertError> {
        let mut coming = self.lock_growth();
        let newest = match self.layers.get(count - 1) {
            Some(newest) if self.layers.count() == count && newest.is_full() => newest,
            _ => return Ok(()),
        };
        let layer = self.settings().next_layer(count, self.len_bytes(), &self.hasher, &mut coming)?;
        let layer = SharedLayer {
            filter: layer.filter.into_shared(),
            planned: layer.planned,
            inserted: AtomicU64::new(0),
        };
        let _held = newest.filter.storage().stripes.hold_all();
        self.layers.push(layer);
        Ok(())
    }

    /// The filter as the bytes of a file, as it is at one moment: threads that add wait until they are copied.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FormatError> {
        self.file(|| self.settings())
    }

    /// [`to_bytes`](Self::to_bytes), without the [limit](super::ScalableBuilder::max_bytes) to its growth: for a host
    /// whose limit is its own affair, and none of whoever reads the file.
    ///
    /// # Errors
    /// As [`to_bytes`](Self::to_bytes).
    pub fn to_bytes_without_limit(&self) -> Result<Vec<u8>, FormatError> {
        self.file(|| Settings { max_bytes: u64::MAX, ..self.settings })
    }

    fn file(&self, settings: impl FnOnce() -> Settings) -> Result<Vec<u8>, FormatError> {
        let _growing = self.lock_growth();
        // Only now: the limit of a moment before may be less than what the layers have grown to since.
        let settings = settings();
        let count = self.layers.count();
        let newest = self.layers.get(count - 1);
        let _held = newest.map(|newest| newest.filter.storage().stripes.hold_all());
        let layers = self.oldest_first().map(|layer| (&layer.filter, layer.planned, layer.inserted()));
        let header = header(&settings, &self.hasher, layers)?;
        crate::file::to_vec(&header, self.oldest_first().map(|layer| layer.filter.storage()))
    }

    fn lock_growth(&self) -> MutexGuard<'_, Option<Box<Coming>>> {
        // What it guards is whole or not there, so a thread that panicked with it left nothing half done.
        self.growing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many adds were new.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.oldest_first().map(SharedLayer::inserted).sum()
    }

    /// Whether no key has been added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many new keys its layers are made for, as they are now.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.oldest_first().fold(0, |sum, layer| sum.saturating_add(layer.planned))
    }

    /// The number of layers.
    #[must_use]
    pub fn layer_count(&self) -> usize {
        self.layers.count()
    }

    /// What each layer is and holds, the first and smallest first. Counts every bit of every layer.
    #[must_use]
    pub fn layers(&self) -> Vec<LayerInfo> {
        self.oldest_first().map(SharedLayer::info).collect()
    }

    /// The plan of each layer, and the new keys it has taken, the first and smallest first. Looks at no bits: it costs
    /// the same however large the filter is.
    pub fn layer_plans(&self) -> impl Iterator<Item = (BlockedPlan, u64)> {
        self.oldest_first().filter_map(|layer| {
            let (filter, keys) = (&layer.filter, layer.planned);
            let rate = filter.planned_rate().max(lowest_rate(keys));
            let plan = BlockedPlan::from_parts(filter.shape(), filter.block_count(), keys, rate).ok()?;
            Some((plan, layer.inserted()))
        })
    }

    /// Bytes of memory its blocks take.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.oldest_first().map(|layer| layer.filter.len_bytes()).sum()
    }

    /// Bytes of memory that all of it takes, beside this value itself: blocks, locks, and what is known of each layer.
    /// In a small filter most of them are not blocks.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let of_layer =
            |layer: &SharedLayer| layer.filter.len_bytes() + layer.filter.storage().stripes.len_bytes();
        let places = (self.layers.places() * size_of::<OnceLock<SharedLayer>>()) as u64;
        places + self.oldest_first().map(of_layer).sum::<u64>()
    }

    /// How many times larger each layer is than the one before it.
    #[must_use]
    pub fn expansion(&self) -> u32 {
        self.settings.expansion
    }

    /// The ratio between the rates of a layer and the one before it, if one was
    /// [chosen](super::ScalableBuilder::tightening).
    #[must_use]
    pub fn tightening(&self) -> Option<f64> {
        self.settings.tightening
    }

    /// Why it couldn't grow now, if its sizes alone stand in the way: a layer too large to count, one too many, or one
    /// whose share of the rate is below what 64-bit digests give.
    #[must_use]
    pub fn end_of_growth(&self) -> Option<SizingError> {
        self.settings.layer(u32::try_from(self.layer_count()).unwrap_or(u32::MAX)).err()
    }

    /// The most bytes it may grow to; `u64::MAX` when there is no limit.
    #[must_use]
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes.load(Ordering::Relaxed)
    }

    /// Lets it grow to at least so many bytes.
    ///
    /// For a host whose limit is one for all its filters, and moves: it makes a filter with no room to grow
    /// ([`ScalableBloom::with_max_bytes`]), and when an insert is refused with [`InsertError::TooLarge`], decides, and lets
    /// it grow to the bytes that the error names.
    pub fn raise_max_bytes(&self, limit: u64) {
        self.max_bytes.fetch_max(limit, Ordering::Relaxed);
    }

    fn settings(&self) -> Settings {
        Settings { max_bytes: self.max_bytes(), ..self.settings }
    }

    /// What happens when it is full.
    #[must_use]
    pub fn growth(&self) -> Growth {
        self.settings.growth
    }

    /// What turns keys into digests.
    #[must_use]
    pub fn hasher(&self) -> &KeyHasher {
        &self.hasher
    }

    /// The number of keys its first layer was made for.
    #[must_use]
    pub fn planned_keys(&self) -> u64 {
        self.settings.keys
    }

    /// The rate it keeps however far it grows.
    #[must_use]
    pub fn planned_rate(&self) -> f64 {
        self.settings.rate
    }

    fn oldest_first(&self) -> impl Iterator<Item = &SharedLayer> {
        let count = self.layers.count();
        (0..count).filter_map(|index| self.layers.get(index))
    }
}

impl SharedLayer {
    fn inserted(&self) -> u64 {
        self.inserted.load(Ordering::Relaxed)
    }

    fn is_full(&self) -> bool {
        self.inserted() >= self.planned
    }

    /// Counts one more key, if there is room for it.
    #[inline]
    fn take_room(&self, growth: Growth) -> bool {
        if growth == Growth::Saturate {
            self.inserted.fetch_add(1, Ordering::Relaxed);
            return true;
        }
        let more = |inserted: u64| (inserted < self.planned).then(|| inserted + 1);
        self.inserted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    fn into_owned(self) -> Layer {
        Layer {
            filter: self.filter.into_owned(),
            planned: self.planned,
            inserted: self.inserted.into_inner(),
        }
    }

    fn info(&self) -> LayerInfo {
        LayerInfo {
            keys: self.inserted(),
            planned_keys: self.planned,
            planned_rate: self.filter.planned_rate(),
            bytes: self.filter.len_bytes(),
            fill_ratio: self.filter.fill_ratio(),
        }
    }
}

impl fmt::Debug for SharedScalableBloom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedScalableBloom")
            .field("layers", &self.layer_count())
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .field("settings", &self.settings())
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}

/// A row that only grows, and whose places never move: segment s has 2^s places, made when the first is needed. Most
/// filters have one layer and take one segment of one place.
#[derive(Default)]
struct Layers {
    segments: [OnceLock<Box<[OnceLock<SharedLayer>]>>; SEGMENTS],
    count: AtomicUsize,
}

/// Segments for [`MAX_LAYERS`] layers.
const SEGMENTS: usize = MAX_LAYERS.ilog2() as usize + 1;

impl Layers {
    /// How many there are: all of them can be seen by whoever has asked.
    #[inline]
    fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// How many there is room for.
    fn places(&self) -> usize {
        self.count().checked_ilog2().map_or(0, |segments| (2 << segments) - 1)
    }

    #[inline]
    fn get(&self, index: usize) -> Option<&SharedLayer> {
        let (segment, place) = place(index);
        self.segments.get(segment)?.get()?.get(place)?.get()
    }

    #[inline]
    fn newest_first(&self, count: usize) -> impl Iterator<Item = &SharedLayer> {
        (0..count).rev().filter_map(|index| self.get(index))
    }

    /// Callers see to it that there is one of them at a time.
    fn push(&self, layer: SharedLayer) {
        let count = self.count();
        let (segment, place) = place(count);
        let Some(segment_lock) = self.segments.get(segment) else { return };
        let places = segment_lock.get_or_init(|| (0..1_usize << segment).map(|_| OnceLock::new()).collect());
        if places.get(place).is_some_and(|place| place.set(layer).is_ok()) {
            self.count.store(count + 1, Ordering::Release);
        }
    }

    fn into_layers(self) -> impl Iterator<Item = SharedLayer> {
        let places = self.segments.into_iter().filter_map(OnceLock::into_inner).flatten();
        places.filter_map(OnceLock::into_inner)
    }
}

/// The segment of an index, and its place there.
#[inline]
const fn place(index: usize) -> (usize, usize) {
    let segment = (index + 1).ilog2() as usize;
    (segment, index + 1 - (1 << segment))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn each_index_has_a_place_of_its_own() {
        let places: std::collections::BTreeSet<_> = (0..MAX_LAYERS as usize).map(place).collect();
        assert_eq!(places.len(), MAX_LAYERS as usize);
        assert!(places.iter().all(|(segment, place)| *segment < SEGMENTS && *place < 1 << segment));
    }

    #[test]
    fn places_are_those_of_all_segments() {
        let filter = ScalableBloom::builder().keys(1).rate(0.1).expansion(1).build().unwrap().into_shared();
        for key in 0..40u32 {
            filter.insert(&key).unwrap();
            let segments = filter.layers.segments.iter().filter_map(OnceLock::get);
            assert_eq!(filter.layers.places(), segments.map(|places| places.len()).sum::<usize>());
        }
        assert!(filter.layer_count() > 8);
    }

    #[test]
    fn shared_and_owned_give_the_same_filter() {
        for growth in [Growth::Grow, Growth::Saturate] {
            let mut owned =
                ScalableBloom::builder().keys(10).rate(0.01).expansion(1).growth(growth).build().unwrap();
            let shared = owned.empty_like().unwrap().into_shared();
            for key in 0..1_000u32 {
                let digest = owned.hash(&(key % 700));
                assert_eq!(shared.insert_hash(digest), owned.insert_hash(digest));
                assert!(shared.contains_hash(digest));
            }
            assert_eq!((shared.len(), shared.layer_count()), (owned.len(), owned.layer_count()));
            assert_eq!(shared.to_bytes().unwrap(), owned.to_bytes().unwrap());
            assert_eq!(ScalableBloom::from_bytes(&shared.to_bytes().unwrap()).unwrap(), owned);
            assert_eq!(shared.into_owned(), owned);
        }
    }

    #[test]
    fn a_batch_is_the_same_as_one_by_one() {
        let filter = || ScalableBloom::with_rate(50, 0.01).unwrap().into_shared();
        let (one_by_one, batches) = (filter(), filter());
        let digests: Vec<Digest> = (0..3_000u32).map(|key| one_by_one.hash(&(key / 2))).collect();
        let expected: Vec<bool> =
            digests.iter().map(|digest| one_by_one.insert_hash(*digest).unwrap()).collect();
        let mut new = vec![true; digests.len()];
        batches.insert_hashes(&digests, &mut new).unwrap();
        assert_eq!(new, expected);
        let mut found = vec![false; digests.len()];
        batches.contains_hashes(&digests, &mut found);
        assert!(found.iter().all(|found| *found));
        assert_eq!(batches.into_owned(), one_by_one.into_owned());
    }

    #[test]
    fn a_full_filter_says_at_which_key_it_stopped() {
        let owned = ScalableBloom::builder().keys(100).rate(0.01).growth(Growth::Refuse).build().unwrap();
        let shared = owned.into_shared();
        let digests: Vec<Digest> = (0..900u32).map(|key| shared.hash(&key)).collect();
        let mut new = vec![false; digests.len()];
        let (place, error) = shared.insert_hashes(&digests, &mut new).unwrap_err();
        assert_eq!(error, InsertError::Full);
        assert_eq!((shared.len(), new[..place].iter().filter(|new| **new).count()), (100, 100));
        assert!(!new[place..].iter().any(|new| *new));
        assert_eq!(shared.insert_hash(digests[0]), Ok(false), "what is there needs no room");
    }

    #[test]
    fn one_of_many_threads_is_first_across_growth() {
        for round in 0..200u32 {
            let shared = ScalableBloom::builder().keys(4).rate(0.001).expansion(1 + round % 3).build();
            let shared = shared.unwrap().into_shared();
            let barrier = std::sync::Barrier::new(4);
            let winners: Vec<Vec<bool>> = std::thread::scope(|scope| {
                let thread = || {
                    barrier.wait();
                    (0..100u32).map(|key| shared.insert(&key).unwrap()).collect()
                };
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(thread)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let mut given = 0;
            for key in 0..100 {
                let times = winners.iter().filter(|answers| answers[key]).count();
                assert!(times <= 1, "{key} was new {times} times in round {round}");
                given += times as u64;
                assert!(shared.contains(&(key as u32)));
            }
            assert_eq!(given, shared.len());
        }
    }
}
