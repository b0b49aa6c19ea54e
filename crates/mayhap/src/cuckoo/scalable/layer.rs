//! One layer, and what the next one will be.

use crate::bits::{AllocError, Blocks, Owned};
use crate::cuckoo::layout::CuckooLayout;
use crate::cuckoo::table::{Places, Table, lines_of};
use crate::filter::InsertError;
use crate::sizing::cuckoo::{MAX_BUCKETS, capacity, fingerprints, rate_of_values};
use crate::sizing::layers::layer_rate;

/// A table of a growing filter.
#[derive(Debug)]
pub(super) struct Layer<S> {
    pub(super) table: Table<S>,
    /// The fingerprints it is for.
    pub(super) capacity: u64,
}

/// What a layer of a [`ScalableCuckoo`](super::ScalableCuckoo) is and holds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CuckooLayer {
    /// Its fingerprints and buckets.
    pub layout: CuckooLayout,
    /// How many buckets it has.
    pub buckets: u64,
    /// The keys it is made for.
    pub capacity: u64,
    /// The fingerprints it holds.
    pub len: u64,
    /// Its bytes of memory.
    pub bytes: u64,
    /// Its own rate, as full as it is now.
    pub expected_rate: f64,
}

impl<S: Blocks> Layer<S> {
    /// Whether it may take another fingerprint.
    pub(super) fn has_room(&self) -> bool {
        self.table.len() < self.capacity
    }

    pub(super) fn room(&self) -> u64 {
        self.capacity.saturating_sub(self.table.len())
    }

    /// An empty one of the same size.
    pub(super) fn empty_like(&self) -> Result<Layer<Owned>, AllocError> {
        let table = Table::new(self.table.layout(), *self.table.places())?;
        Ok(Layer { table, capacity: self.capacity })
    }

    pub(super) fn rate(&self) -> f64 {
        let places = self.table.places();
        let values = fingerprints(places.short_bits(), self.table.layout().fingerprint_bits());
        rate_of_values(values, self.table.len(), self.table.buckets())
    }

    pub(super) fn info(&self) -> CuckooLayer {
        CuckooLayer {
            layout: self.table.layout(),
            buckets: self.table.buckets(),
            capacity: self.capacity,
            len: self.table.len(),
            bytes: self.table.len_bytes(),
            expected_rate: self.rate(),
        }
    }
}

impl Layer<Owned> {
    pub(super) fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(Self { table: self.table.try_clone()?, capacity: self.capacity })
    }
}

/// All that a filter needs to know to grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settings {
    /// For the first layer.
    pub(super) keys: u64,
    /// For all layers together.
    pub(super) rate: f64,
    /// Of the first layer.
    pub(super) layout: CuckooLayout,
    pub(super) first_buckets: u64,
    /// The binary logarithm of the expansion.
    pub(super) expansion_bits: u32,
    pub(super) max_layers: u32,
    pub(super) max_bytes: Option<u64>,
}

/// A layer on paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Design {
    pub(super) layout: CuckooLayout,
    pub(super) places: Places,
    pub(super) capacity: u64,
}

impl Design {
    pub(super) fn lines(&self) -> u64 {
        lines_of(self.layout, self.places.buckets())
    }

    /// An empty layer.
    pub(super) fn new_layer(self) -> Result<Layer<Owned>, InsertError> {
        let table = Table::new(self.layout, self.places).map_err(InsertError::Alloc)?;
        Ok(Layer { table, capacity: self.capacity })
    }
}

impl Settings {
    /// The rate of a layer. A filter that may not grow has nothing to save for later layers.
    pub(super) fn layer_rate(&self, number: u32) -> f64 {
        if self.max_layers == 1 { self.rate } else { layer_rate(self.rate, number) }
    }

    /// The places of a layer with fingerprints of so many bits; nothing if it has too many buckets to count.
    pub(super) fn places(&self, number: u32, bits: u32) -> Option<Places> {
        let growth = number.checked_mul(self.expansion_bits).filter(|growth| *growth < 56)?;
        let buckets =
            self.first_buckets.checked_mul(1 << growth).filter(|buckets| *buckets <= MAX_BUCKETS)?;
        debug_assert!(buckets > 0);
        Some(Places::new(self.first_buckets, growth, self.layout.fingerprint_bits(), bits))
    }

    /// The layer with this number, the first being 0: as many keys as fit, and the shortest fingerprints that keep its
    /// rate, but no shorter than `shortest`, those of the layer before it. (Buckets of one or two places take ever less of
    /// their keys as tables grow, so that a later layer could do with less than an earlier one. It would be no refinement of
    /// it then, and keys would be lost.)
    ///
    /// # Errors
    /// [`InsertError::RateSpent`] when the longest fingerprints don't keep it, [`InsertError::Full`] when there are too many
    /// buckets to count.
    pub(super) fn design(&self, number: u32, shortest: u32) -> Result<Design, InsertError> {
        let short_bits = self.layout.fingerprint_bits();
        let buckets = self.places(number, short_bits).ok_or(InsertError::Full)?.buckets();
        // The first layer is for the keys that were asked for; in the others the hash that finds the other bucket is one
        // of the first layer's shorter fingerprints, so that is what the load depends on.
        let capacity = if number == 0 { self.keys } else { capacity(self.layout, buckets) };
        let rate = self.layer_rate(number);
        let keeps = |bits: &u32| rate_of_values(fingerprints(short_bits, *bits), capacity, buckets) <= rate;
        let bits = (shortest..=CuckooLayout::MAX_BITS).find(keeps).ok_or(InsertError::RateSpent)?;
        let layout = self.layout.with_bits(bits).ok_or(InsertError::RateSpent)?;
        let places = self.places(number, bits).ok_or(InsertError::Full)?;
        Ok(Design { layout, places, capacity })
    }

    /// Whether its layers keep their rates until there are [`LEAST_GROWTH`] times the buckets of the first one, or as many
    /// layers as it may have.
    pub(super) fn can_grow(&self) -> bool {
        let (mut size, mut bits) = (0u64, self.layout.fingerprint_bits());
        for number in 0..self.max_layers {
            match self.design(number, bits) {
                Err(InsertError::RateSpent) => return false,
                Err(_) => return true,
                Ok(design) => {
                    size = size.saturating_add(design.places.buckets() / self.first_buckets);
                    bits = design.layout.fingerprint_bits();
                }
            }
            if size >= LEAST_GROWTH {
                return true;
            }
        }
        true
    }

    /// The first layer, empty.
    pub(super) fn first_layer(&self) -> Result<Layer<Owned>, InsertError> {
        self.design(0, self.layout.fingerprint_bits())?.new_layer()
    }
}

/// How many times as large as its first layer a filter can become at least, as far as its rate goes. Less is no growth
/// that anybody would choose a growing filter for.
pub(super) const LEAST_GROWTH: u64 = 100;
