//! The filter that forgets and grows.
//!
//! # The idea
//!
//! A [`CuckooFilter`](super::CuckooFilter) has a hard limit. Here, when the filter is full, another table is put on top
//! of it, larger by the *expansion*, and new keys go there. A key is in the set if any *layer* has its fingerprint.
//!
//! ```text
//!             digest of a key, hashed once: bucket and fingerprint in one layer follow from those in the next
//!
//!                  bucket of "apple"                              buckets   fingerprint of "apple"
//!   newest   ┌──────────────────────▼──────────────────────────┐      4 N   1 0110001011010   14 bits   takes new keys
//!            └─────────────────────────────────────────────────┘
//!   older    ┌───────────▼────────────┐                               2 N     0110001011010   13 bits   full
//!            └────────────────────────┘
//!   first    ┌─────▼──────┐                                             N     0110001011010   13 bits   full
//!            └────────────┘
//! ```
//!
//! An absent key is wrongly found if any layer errs, so the rates of the layers add up. Each layer gets a share of the
//! promised rate, the shares of all layers there could ever be add up to 1, and later layers have longer fingerprints
//! to keep theirs: [`sizing::layers`](crate::sizing::layers) has the shares.
//!
//! Layers are refinements of each other. Bucket and fingerprint of a key in an older layer follow from those in a newer
//! one: some bits less of both. Two things follow. Two keys that look the same in one layer look the same in every older
//! one, so [`remove`](ScalableCuckoo::remove), which takes a fingerprint out of the newest layer that has it, never takes
//! one that another key still needs. And a fingerprint can move to an older layer without its key:
//! [`compact`](ScalableCuckoo::compact) empties the newest layer into the older ones when enough was removed, all at
//! once or in [small steps](ScalableCuckoo::compact_step).
//!
//! # The maths
//!
//! Layer i has N·2^(ei) buckets and gets pᵢ of the rate p, Σ pᵢ < p: fingerprints of log₂(2b/pᵢ) bits, which grow by a
//! bit in five layers. [docs/maths.md] has the derivation.
//!
//! # When to choose it, and how it fails
//!
//! Choose it when keys are removed and their number can't be known within a factor of two or so. Where it can be known, a
//! [`CuckooFilter`](super::CuckooFilter) needs less memory and two cache lines a question instead of two for each layer.
//! Reserve as many keys as are certain to come.
//!
//! Growing ends at [`max_layers`](ScalableCuckooBuilder::max_layers) or [`max_bytes`](ScalableCuckooBuilder::max_bytes), if
//! that was set, with an error that says so and an unchanged filter. And it ends where fingerprints of 32 bits, or the
//! digests they are made of, don't keep the share of the next layer, with
//! [`InsertError::RateSpent`](crate::InsertError::RateSpent). That is far away at everyday rates: at 10⁻⁶ a filter that was
//! made for 1 000 keys has grown 10⁷-fold before. Below 10⁻⁷ it is near, and a filter that couldn't grow a hundredfold
//! isn't made: the lowest rate is about 3.2 · 10⁻⁸ (for 10⁸ keys 3.8 · 10⁻⁸). For lower ones there is
//! [`ScalableBloom`](crate::ScalableBloom), which can't remove. As in a cuckoo filter the copies of a key are limited, and
//! **only what was added may be removed**.
//!
//! [docs/maths.md]: https://github.com/mayhap/mayhap/blob/main/docs/maths.md#20-layers-of-a-growing-cuckoo-filter

mod builder;
mod change;
mod compact;
mod file;
mod layer;
#[cfg(test)]
mod tests;

pub use builder::ScalableCuckooBuilder;
pub use layer::CuckooLayer;

use alloc::vec::Vec;
use core::fmt;

use super::layout::CuckooLayout;
use super::table::Search;
use crate::bits::{Blocks, Line as _, Owned};
use crate::error::Error;
use crate::hash::{Digest, Key, KeyHasher, in_chunks};
use crate::newest_first::{TOGETHER, look_in};
use compact::Pass;
use layer::{Layer, Settings};

/// A cuckoo filter that grows by layers, keeps its rate, and can shrink again. [Its page](self) tells how it works.
///
/// `S` is where its lines live: [`Owned`] by default, or a mapped file
/// ([`MappedScalableCuckoo`](super::MappedScalableCuckoo)), which can be asked only.
///
/// ```
/// use mayhap::ScalableCuckoo;
///
/// let mut online = ScalableCuckoo::with_rate(1_000, 0.01)?; // a first guess
/// for user in 0..50_000u32 {
///     online.insert(&user)?;
/// }
/// assert!(online.contains(&49_999u32) && online.layers().len() > 4);
/// assert!(online.expected_rate() <= 0.01, "as promised, though fifty times as many keys came");
/// for user in 2_000..50_000u32 {
///     assert!(online.remove(&user));
/// }
/// let before = online.len_bytes();
/// online.compact();
/// assert!(online.len() == 2_000 && online.contains(&7u32) && online.len_bytes() < before / 10);
/// # Ok::<(), mayhap::Error>(())
/// ```
pub struct ScalableCuckoo<S = Owned> {
    /// The first is the oldest and smallest. There is always one.
    layers: Vec<Layer<S>>,
    settings: Settings,
    hasher: KeyHasher,
    search: Search,
    /// How far compaction is in the newest layer.
    pass: Pass,
}

impl ScalableCuckoo {
    /// A filter whose first layer is for `keys` keys, and that answers "mayhap" for at most `rate` of the absent keys
    /// however many it takes. Each layer is twice as large as the one before it.
    ///
    /// It can grow at least a hundredfold, if there is memory, and far more at all but the lowest rates; about 3.2 · 10⁻⁸
    /// is the lowest.
    ///
    /// ```
    /// use mayhap::ScalableCuckoo;
    ///
    /// assert!(ScalableCuckoo::with_rate(1_000, 3.3e-8).is_ok());
    /// let refused = ScalableCuckoo::with_rate(1_000, 1e-8).unwrap_err().to_string();
    /// assert!(refused.contains("or more, or use a ScalableBloom"), "{refused}");
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When `keys` is 0, `rate` isn't between 0 and 1 or is so low that fingerprints of 32 bits wouldn't let the filter
    /// grow a hundredfold, or the memory can't be had.
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, Error> {
        Self::builder().keys(keys).rate(rate).build()
    }

    /// Every choice there is: expansion, layout, kicks, hash, seed or secret key, limits.
    pub fn builder() -> ScalableCuckooBuilder {
        ScalableCuckooBuilder::default()
    }
}

impl<S: Blocks> ScalableCuckoo<S> {
    /// The digest of a key, for the `*_hash` methods of this filter and of others with an equal hasher.
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> Digest {
        self.hasher.digest(key)
    }

    /// Whether the key may be in the set. `false` is certain.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// [`contains`](Self::contains) for a key that was hashed already.
    #[inline]
    pub fn contains_hash(&self, digest: Digest) -> bool {
        self.layers.iter().rev().any(|layer| layer.table.contains(digest.get()))
    }

    /// Asks for many keys at once: `found[i]` tells whether `keys[i]` may be in the set.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
        assert_eq!(keys.len(), found.len(), "one answer for each key");
        in_chunks(&self.hasher, keys, found, |digests, found| self.contains_hashes(digests, found));
    }

    /// [`contains_each`](Self::contains_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hashes(&self, digests: &[Digest], found: &mut [bool]) {
        assert_eq!(digests.len(), found.len(), "one answer for each digest");
        let Some((newest, older)) = self.layers.split_last() else { return found.fill(false) };
        newest.table.contains_many(digests, found);
        if older.is_empty() {
            return;
        }
        for (digests, found) in digests.chunks(TOGETHER).zip(found.chunks_mut(TOGETHER)) {
            look_in(older.iter().rev(), digests, found, |layer, digests, found| {
                layer.table.contains_many(digests, found);
            });
        }
    }

    /// How often the key is in the filter: at least as often as it was added and not removed, more when other keys
    /// look like it.
    #[inline]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.count_hash(self.hash(key))
    }

    /// [`count`](Self::count) for a key that was hashed already.
    #[inline]
    pub fn count_hash(&self, digest: Digest) -> u64 {
        self.layers.iter().map(|layer| layer.table.count(digest.get())).sum()
    }

    /// Counts many keys at once: `counts[i]` is the [`count`](Self::count) of `keys[i]`.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn count_each<K: Key>(&self, keys: &[K], counts: &mut [u64]) {
        assert_eq!(keys.len(), counts.len(), "one count for each key");
        in_chunks(&self.hasher, keys, counts, |digests, counts| self.count_hashes(digests, counts));
    }

    /// [`count_each`](Self::count_each) for keys that were hashed already.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn count_hashes(&self, digests: &[Digest], counts: &mut [u64]) {
        assert_eq!(digests.len(), counts.len(), "one count for each digest");
        counts.fill(0);
        let mut in_layer = [0; TOGETHER];
        for (digests, counts) in digests.chunks(TOGETHER).zip(counts.chunks_mut(TOGETHER)) {
            for layer in &self.layers {
                let in_layer = &mut in_layer[..digests.len()];
                layer.table.count_many(digests, in_layer);
                for (count, more) in counts.iter_mut().zip(in_layer) {
                    *count += *more;
                }
            }
        }
    }

    /// An empty filter with the same settings, of one layer.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn empty_like(&self) -> Result<ScalableCuckoo, Error> {
        // As the first layer is, and not as the settings say: those of a file need not agree with it.
        let layers = self.layers.iter().take(1).map(Layer::empty_like).collect::<Result<_, _>>()?;
        Ok(ScalableCuckoo::from_parts(layers, self.settings, self.hasher.clone(), self.search))
    }

    fn from_parts(layers: Vec<Layer<S>>, settings: Settings, hasher: KeyHasher, search: Search) -> Self {
        Self { layers, settings, hasher, search, pass: Pass::default() }
    }

    /// Fingerprints in the filter: keys added and not removed, every copy counted.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.layers.iter().map(|layer| layer.table.len()).sum()
    }

    /// Whether there is no key in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many keys its layers are made for, as they are now.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.layers.iter().map(|layer| layer.capacity).sum()
    }

    /// What each layer is and holds, the first and smallest first.
    #[must_use]
    pub fn layers(&self) -> Vec<CuckooLayer> {
        self.layers.iter().map(Layer::info).collect()
    }

    /// How many layers there are. [`layers`](Self::layers) tells about each.
    #[must_use]
    pub fn layer_count(&self) -> usize {
        self.layers.len()
    }

    /// How many times as many buckets a layer has as the one before it: a power of two.
    #[must_use]
    pub fn expansion(&self) -> u64 {
        1 << self.settings.expansion_bits
    }

    /// The most layers it may have.
    #[must_use]
    pub fn max_layers(&self) -> u32 {
        self.settings.max_layers
    }

    /// The most bytes it may grow to. Not kept in files: a filter that was read has no limit.
    #[must_use]
    pub fn max_bytes(&self) -> Option<u64> {
        self.settings.max_bytes
    }

    /// Sets how many bytes it may grow to from now on. What it has already stays. A file doesn't keep the limit: set it again
    /// after reading one.
    pub fn set_max_bytes(&mut self, limit: Option<u64>) {
        self.settings.max_bytes = limit;
    }

    /// Places for fingerprints, free or not.
    #[must_use]
    pub fn capacity_slots(&self) -> u64 {
        self.layers.iter().map(|layer| layer.table.slots()).sum()
    }

    /// The part of the places that is taken.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        self.len() as f64 / self.capacity_slots() as f64
    }

    /// Bytes of memory its lines take.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.layers.iter().map(|layer| layer.table.len_bytes()).sum()
    }

    /// Bytes of memory that all of it takes, beside this value itself: lines, and what is known of each layer.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.len_bytes() + (self.layers.capacity() * size_of::<Layer<S>>()) as u64
    }

    /// How fingerprints lie in the buckets of the first layer.
    #[must_use]
    pub fn layout(&self) -> CuckooLayout {
        self.settings.layout
    }

    /// The most buckets that are looked at, from each of a key's two, to make room for it.
    #[must_use]
    pub fn max_kicks(&self) -> u32 {
        self.search.max_kicks()
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

    /// The rate it keeps, however many keys it takes.
    #[must_use]
    pub fn planned_rate(&self) -> f64 {
        self.settings.rate
    }

    /// The rate at which the filter, as full as it is now, answers "mayhap" for absent keys.
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        // Layers err independently of each other, but for digests they share; the product is a little high.
        1.0 - self.layers.iter().map(|layer| 1.0 - layer.rate()).product::<f64>()
    }

    /// How many buckets hold 0, 1, 2 … fingerprints. Looks at all of them: ask once in a while, not with every key.
    ///
    /// ```
    /// use mayhap::ScalableCuckoo;
    ///
    /// let mut filter = ScalableCuckoo::with_rate(1_000, 0.01)?;
    /// filter.insert("apple")?;
    /// filter.insert("pear")?;
    /// let loads = filter.bucket_loads();
    /// assert_eq!(loads.len(), filter.layout().entries_per_bucket() as usize + 1);
    /// assert_eq!(loads[1] + 2 * loads[2], 2);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[must_use]
    pub fn bucket_loads(&self) -> Vec<u64> {
        let mut sums = [0; 9];
        for layer in &self.layers {
            for (sum, load) in sums.iter_mut().zip(layer.table.bucket_loads()) {
                *sum += load;
            }
        }
        sums[..=self.layout().entries_per_bucket() as usize].to_vec()
    }

    /// Whether the rate has risen above the promise. It never does.
    #[must_use]
    pub fn is_over_plan(&self) -> bool {
        self.expected_rate() > self.planned_rate()
    }
}

impl Clone for ScalableCuckoo {
    /// # Panics
    /// When the memory can't be had, as `Vec` does.
    fn clone(&self) -> Self {
        match self.layers.iter().map(Layer::try_clone).collect() {
            Ok(layers) => Self {
                layers,
                settings: self.settings,
                hasher: self.hasher.clone(),
                search: self.search,
                pass: self.pass,
            },
            Err(error) => panic!("{error}"),
        }
    }
}

/// Equal when they are the same, bit by bit: same hash, layers and lines. Their plans may differ.
impl<S: Blocks, T: Blocks> PartialEq<ScalableCuckoo<T>> for ScalableCuckoo<S> {
    fn eq(&self, other: &ScalableCuckoo<T>) -> bool {
        self.hasher == other.hasher
            && self.layers.len() == other.layers.len()
            && self.layers.iter().zip(&other.layers).all(|(ours, theirs)| {
                ours.table.layout() == theirs.table.layout()
                    && ours.table.places() == theirs.table.places()
                    && ours
                        .table
                        .lines()
                        .lines()
                        .iter()
                        .zip(theirs.table.lines().lines())
                        .all(|(a, b)| a.words() == b.words())
            })
    }
}

impl<S: Blocks> fmt::Debug for ScalableCuckoo<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScalableCuckoo")
            .field("layers", &self.layer_count())
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .field("hasher", &self.hasher)
            .field("planned_keys", &self.settings.keys)
            .field("planned_rate", &self.settings.rate)
            .finish_non_exhaustive()
    }
}
