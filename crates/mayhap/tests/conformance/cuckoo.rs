//! [`CuckooFilter`], which can be full, and [`ScalableCuckoo`], which grows instead.

use mayhap::cuckoo::CuckooLayout;
use mayhap::filter::Filter as _;
use mayhap::sizing::{CuckooPlan, SizingError, cuckoo};
use mayhap::{CuckooFilter, ReadOptions, ScalableCuckoo};

use crate::keys::{KeyBytes, Keys};
use crate::subject::{Hashing, Keyed, Readable, Subject};

/// Makes filters for a number of keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cuckoo {
    hashing: Hashing,
    layout: Option<CuckooLayout>,
    /// For how many times the keys asked for: several checks go past the plan and add copies, which this filter may
    /// refuse.
    room: u64,
}

impl Cuckoo {
    pub(crate) const fn planned() -> Self {
        Self { hashing: Hashing::Xxh3, layout: None, room: 1 }
    }

    pub(crate) const fn hashing(self, hashing: Hashing) -> Self {
        Self { hashing, ..self }
    }

    pub(crate) const fn layout(self, layout: Option<CuckooLayout>) -> Self {
        Self { layout, ..self }
    }

    /// With room for five times the keys: twice the plan, each of them twice.
    pub(crate) const fn with_room(self) -> Self {
        Self { room: 5, ..self }
    }
}

impl Subject for Cuckoo {
    type Filter = CuckooFilter;

    fn maker(&self, keys: u64, rate: f64) -> impl Fn(u64) -> CuckooFilter {
        let mut builder = CuckooFilter::builder().keys(self.room * keys).rate(rate);
        if let Some(layout) = self.layout {
            builder = builder.layout(layout);
        }
        let rate = in_reach(rate, builder.plan());
        let builder = builder.rate(rate);
        let hashing = self.hashing;
        move |seed| builder.clone().hasher(hashing.hasher(seed)).build().unwrap()
    }

    fn modelled_rate(&self, filter: &CuckooFilter, keys: u64) -> f64 {
        cuckoo::rate(filter.layout(), keys, filter.buckets())
    }
}

impl Readable for Cuckoo {
    fn read_options(&self, seed: u64) -> ReadOptions {
        self.hashing.read_options(seed)
    }
}

/// A rate, or the lowest that the plan for it says there is.
fn in_reach(rate: f64, plan: Result<CuckooPlan, SizingError>) -> f64 {
    match plan {
        Err(SizingError::RateOutOfReach { lowest, .. }) => lowest,
        _ => rate,
    }
}

/// Layers of which the first is for a tenth of the keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GrowingCuckoo(pub(crate) Hashing);

impl Subject for GrowingCuckoo {
    type Filter = ScalableCuckoo;

    fn maker(&self, keys: u64, rate: f64) -> impl Fn(u64) -> ScalableCuckoo {
        let builder = ScalableCuckoo::builder().keys(keys.div_ceil(10)).rate(rate);
        let rate = in_reach(rate, builder.plan());
        let builder = builder.rate(rate);
        let hashing = self.0;
        move |seed| builder.clone().hasher(hashing.hasher(seed)).build().unwrap()
    }

    /// The rate depends on how many keys are in each layer, and that on nothing but their number.
    fn modelled_rate(&self, filter: &ScalableCuckoo, keys: u64) -> f64 {
        let mut filter = filter.empty_like().unwrap();
        for number in 0..keys {
            let hash = filter.hash_bytes(Keys::of(0).key(number).as_ref());
            filter.insert_hash(hash).unwrap();
        }
        filter.expected_rate()
    }
}

impl Readable for GrowingCuckoo {
    fn read_options(&self, seed: u64) -> ReadOptions {
        self.0.read_options(seed)
    }
}

macro_rules! keyed {
    ($($filter:ty),*) => {$(
        impl Keyed for $filter {
            fn insert(&mut self, key: &KeyBytes) -> bool {
                <$filter>::insert(self, key).unwrap()
            }
            fn insert_each(&mut self, keys: &[KeyBytes], new: &mut [bool]) {
                <$filter>::insert_each(self, keys, new).unwrap();
            }
            fn contains(&self, key: &KeyBytes) -> bool {
                <$filter>::contains(self, key)
            }
            fn contains_each(&self, keys: &[KeyBytes], found: &mut [bool]) {
                <$filter>::contains_each(self, keys, found);
            }
        }
    )*};
}

keyed!(CuckooFilter, ScalableCuckoo);
